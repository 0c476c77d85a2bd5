"""The command `warehouse`, also run by `python -m warehouse`."""

from functools import partial

from warehouse.support.program import run

main = partial(run, "warehouse.cli")

if __name__ == "__main__":
    main()
