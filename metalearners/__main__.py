"""The command `metalearners`, which is `python -m metalearners`, too."""

from warehouse.support.program import run


def main() -> None:
    """Entry point of the console script."""
    run("metalearners.cli")


if __name__ == "__main__":
    main()
