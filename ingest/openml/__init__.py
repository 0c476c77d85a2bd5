"""Runs from OpenML, or another server that speaks its API: everything that was run there, typed.

`job` puts the parts together: a `sweep` decides what to ask for, `answers` keeps what came until it is in the
warehouse, `documents` reads it and `tables` makes rows of it.
"""
