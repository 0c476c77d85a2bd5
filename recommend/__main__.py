"""`python -m recommend` = the command `recommend`."""

from recommend.cli import main

main()
