"""The command `recommend`, which is `python -m recommend`, too."""

from warehouse.support.program import run


def main() -> None:
    """Entry point of the console script."""
    run("recommend.cli")


if __name__ == "__main__":
    main()
