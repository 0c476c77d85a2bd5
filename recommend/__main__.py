"""The command `recommend`; also `python -m recommend`."""

from functools import partial

from warehouse.support.program import run

main = partial(run, "recommend.cli")

if __name__ == "__main__":
    main()
