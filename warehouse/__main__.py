"""The command `warehouse`, which is `python -m warehouse`, too."""

from warehouse.support.signals import end_at_once


def main() -> None:
    """Entry point of the console script: what takes a second to import comes after `end_at_once`."""
    end_at_once()
    from warehouse.cli import main as command

    command()


if __name__ == "__main__":
    main()
