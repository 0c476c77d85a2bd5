"""What every package needs and no package is about: errors, command lines, files, journals, directories.

It imports nothing of ours.
"""
