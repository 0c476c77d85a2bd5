"""Reports as HTML pages, single files without network access or scripts, and their parts for notebooks.

`axes` places numbers in a chart, `rendering` fills the templates. `recommend.reporting.page` has the content
of a recommendation's page, `recommend.bo.tuning.page` that of a search's.
"""
