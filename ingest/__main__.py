"""The command `ingest`, also available as `python -m ingest`."""

from functools import partial

from warehouse.support.program import run

main = partial(run, "ingest.cli")

if __name__ == "__main__":
    main()
