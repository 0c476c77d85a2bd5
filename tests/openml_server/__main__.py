"""`python -m tests.openml_server` = the command of `cli.py`."""

from tests.openml_server.cli import main

main()
