"""The command `ingest`, which is `python -m ingest`, too."""

from warehouse.support.program import run


def main() -> None:
    """Entry point of the console script."""
    run("ingest.cli")


if __name__ == "__main__":
    main()
