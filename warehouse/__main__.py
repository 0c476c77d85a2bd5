"""The command `warehouse`, which is `python -m warehouse`, too."""

from functools import partial

from warehouse.support.program import run

main = partial(run, "warehouse.cli")

if __name__ == "__main__":
    main()
