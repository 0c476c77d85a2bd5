"""Utilities of all packages: errors, command lines, files, journals, directories.

It imports nothing of ours.
"""
