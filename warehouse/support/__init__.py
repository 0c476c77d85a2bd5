"""Utilities of all packages: errors, command lines, files, journals, directories.

Imports none of our other packages.
"""
