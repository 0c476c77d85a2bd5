"""Users' files are written completely or not changed, and errors are one line."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from warehouse.support.errors import UnreadableInput, Unwritable
from warehouse.support.files import read_json, refuse_unwritable, unfinished_folder, write_bytes, write_text


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "Expecting value"),
        (b'{"a": 1', "line 1 column 8"),
        (b"\xff\xfe", "can't decode byte 0xff"),
        (b"[" * 100_000, "recursion"),
    ],
)
def test_a_file_that_is_not_json_is_refused_with_its_name_and_the_error(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = tmp_path / "broken.json"
    path.write_bytes(content)
    with pytest.raises(UnreadableInput) as caught:
        read_json(path)
    assert str(caught.value).startswith(f"{path}: not a JSON file: ")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unreadable_file_is_distinguished_from_one_that_is_not_json(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match="nowhere: can't be read: No such file"):
        read_json(tmp_path / "nowhere")
    with pytest.raises(UnreadableInput, match="can't be read: Is a directory"):
        read_json(tmp_path)


def test_a_write_that_fails_half_way_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "result.json"
    write_text(path, "old")

    def disk_is_full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(Unwritable) as caught:
        patch.setattr(os, "fsync", disk_is_full)
        write_text(path, "new")
    assert str(caught.value) == f"{path} can't be written: No space left on device"
    assert {entry.name: entry.read_text() for entry in tmp_path.iterdir()} == {"result.json": "old"}


def test_files_that_cannot_be_written_are_refused_in_advance(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse_unwritable(None, tmp_path / "new", Path(os.devnull))
    with pytest.raises(Unwritable, match="it is a folder"):
        refuse_unwritable(tmp_path)
    with pytest.raises(Unwritable, match="there is no folder"):
        refuse_unwritable(tmp_path / "missing" / "new")
    monkeypatch.setattr(os, "access", lambda _, mode: not mode & os.W_OK)
    with pytest.raises(Unwritable, match="is read-only for you"):
        refuse_unwritable(tmp_path / "new")


def test_an_impossible_path_is_a_failure_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(Unwritable, match="can't be written: No such file or directory"):
        write_bytes(tmp_path / "nowhere" / "file", b"content")
    with pytest.raises(Unwritable, match="can't be written: Is a directory"):
        write_bytes(tmp_path, b"content")
    assert not any(tmp_path.iterdir())
    (tmp_path / "file").touch()
    with pytest.raises(Unwritable, match="can't be written: Not a directory"):
        write_bytes(tmp_path / "file" / "below", b"content")


def test_a_link_stays_a_link_and_a_file_keeps_its_permissions(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o600)
    link.symlink_to(real)
    write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o600


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=write_bytes, args=(pipe, b"content"))
    writer.start()
    assert pipe.read_bytes() == b"content"
    writer.join()
    assert pipe.is_fifo()


def test_an_unfinished_folder_is_removed_only_after_its_process_was_killed(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from warehouse.support.files import unfinished_folder
with unfinished_folder(Path(sys.argv[1])) as folder:
    print(folder, flush=True)
    sys.stdin.read()
"""
    other = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
    )
    assert other.stdout is not None
    theirs = Path(other.stdout.readline().strip())
    with unfinished_folder(tmp_path) as ours:
        assert set(tmp_path.iterdir()) == {ours, theirs}
    other.kill()
    other.communicate()
    assert list(tmp_path.iterdir()) == [theirs]
    with unfinished_folder(tmp_path) as ours:
        assert list(tmp_path.iterdir()) == [ours]
    assert list(tmp_path.iterdir()) == []
