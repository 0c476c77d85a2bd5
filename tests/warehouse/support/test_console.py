"""What all command lines share."""

import sys
from importlib.metadata import version

import pytest

from ingest.cli import main as ingest
from metalearners.cli import main as metalearners
from recommend.bo.cli import main as tune
from recommend.cli import main as recommend
from warehouse.cli import main as warehouse


@pytest.mark.parametrize("main", [ingest, metalearners, recommend, tune, warehouse])
def test_every_command_says_its_version(
    main: object, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["command", "--version"])
    with pytest.raises(SystemExit) as end:
        main()  # type: ignore[operator]
    assert end.value.code == 0
    assert capsys.readouterr().out == f"headstart {version('headstart')}\n"
