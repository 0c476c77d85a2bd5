"""`python -m ingest` = the command `ingest`."""

from ingest.cli import main

main()
