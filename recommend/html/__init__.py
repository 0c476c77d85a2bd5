"""Reports as pages: one HTML file that needs no network and runs no script.

`axes` says where numbers lie in a chart, `rendering` fills the templates. `recommend.page` says what is shown
of a recommendation, `recommend.bo.tuning.page` what is shown of a search.
"""
