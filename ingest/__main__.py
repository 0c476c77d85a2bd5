"""The command `ingest`, which is `python -m ingest`, too."""

from collections.abc import Callable

from warehouse.support.program import run


def main() -> None:
    """Entry point of the console script."""
    run(_command)


def _command() -> Callable[[], None]:
    from ingest.cli import main as command  # which takes a second

    return command


if __name__ == "__main__":
    main()
