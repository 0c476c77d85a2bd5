"""Reports as pages: one HTML file that needs no network and runs no script, and parts of it for notebooks.

`axes` places numbers in a chart, `rendering` fills the templates. `recommend.reporting.page` has the content
of a recommendation's page, `recommend.bo.tuning.page` that of a search's.
"""
