"""The command `metalearners`, also run by `python -m metalearners`."""

from functools import partial

from warehouse.support.program import run

main = partial(run, "metalearners.cli")

if __name__ == "__main__":
    main()
