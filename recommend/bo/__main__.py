"""The command `tune`, which is `python -m recommend.bo`, too."""

from warehouse.support.program import run


def main() -> None:
    """Entry point of the console script."""
    run("recommend.bo.cli")


if __name__ == "__main__":
    main()
