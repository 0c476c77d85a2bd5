"""The command `warehouse`, which is `python -m warehouse`, too."""

from warehouse.support.program import run


def main() -> None:
    """Entry point of the console script."""
    run("warehouse.cli")


if __name__ == "__main__":
    main()
