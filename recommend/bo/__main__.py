"""The command `tune`; also `python -m recommend.bo`."""

from functools import partial

from warehouse.support.program import run

main = partial(run, "recommend.bo.cli")

if __name__ == "__main__":
    main()
