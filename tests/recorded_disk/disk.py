"""Simulate the content of a disk after a power cut, from the calls before it.

The system may write data in any order until it is told to sync. Only this is certain: the content of a file
when it was synced, and the names in a folder when the folder was synced. A rename changes both of its folders
at once. No change overtakes an earlier change of the same name.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path

from tests.recorded_disk.recording import Call


class Cut(StrEnum):
    """What happens to unsynced changes."""

    none = "none"
    """They are kept, as after a kill."""
    lost = "lost"
    emptied = "emptied"
    """Names are kept, contents are lost."""
    torn = "torn"
    """Each change of names, and a part of each content, may be kept or lost."""


class File:
    """A file's content, and its synced part."""

    def __init__(self, content: bytes = b"") -> None:
        self.content = bytearray(content)
        self.certain = content

    def after(self, cut: Cut, chance: random.Random) -> bytes:
        content = bytes(self.content)
        if cut is Cut.none or content == self.certain:
            return content
        if cut is not Cut.torn:
            return self.certain
        kept = len(self.certain) if content.startswith(self.certain) else 0
        end = chance.randint(kept, len(content))
        zeros = bytes(len(content) - end)
        return chance.choice([self.certain, content, content[:end], content[:end] + zeros])


class Folder:
    """A folder's names, and the synced ones."""

    def __init__(self) -> None:
        self.names: dict[str, Node] = {}
        self.certain: dict[str, Node] = {}


Node = File | Folder
Change = dict[tuple[Folder, str], Node | None]
"""(folder, name) -> its new target; None = nothing."""


class Disk:
    """A folder after some call."""

    def __init__(self, root: Path, begun: Path, calls: Iterable[Call]) -> None:
        """The folder `root`, which began as a copy of `begun`, after these calls."""
        self._root = root
        self._top = _read(begun)
        self._files: dict[int, File] = {}
        self._pending: list[Change] = []
        for call in calls:
            getattr(self, f"_{_CALLS[call.kind]}")(call)

    def write(self, folder: Path, cut: Cut, chance: random.Random) -> None:
        """Write the content after a power cut to a folder."""
        keeps = {Cut.none: 1.0, Cut.emptied: 1.0, Cut.torn: 0.5, Cut.lost: 0.0}[cut]
        undone: set[tuple[Folder, str]] = set()
        names: dict[tuple[Folder, str], Node | None] = {}
        for change in self._pending:
            if undone & change.keys() or chance.random() >= keeps:
                undone |= change.keys()
            else:
                names |= change

        def write(node: Folder, path: Path) -> None:
            path.mkdir()
            changed = {name: to for (of, name), to in names.items() if of is node}
            for name, child in (node.certain | changed).items():
                if isinstance(child, Folder):
                    write(child, path / name)
                elif child is not None:
                    (path / name).write_bytes(child.after(cut, chance))

        write(self._top, folder)

    # ---- calls --------------------------------------------------------------------------------------------

    def _open(self, call: Call) -> None:
        found = self._find(call.path)
        if found is None:
            found = File()
            self._change({self._place(call.path): found})
        assert isinstance(found, File)
        self._files[call.inode] = found

    def _truncate(self, call: Call) -> None:
        self._open(call)
        self._files[call.inode].content.clear()

    def _write(self, call: Call) -> None:
        file = self._file(call)
        file.content.extend(bytes(max(0, call.offset - len(file.content))))
        file.content[call.offset : call.offset + len(call.content)] = call.content

    def _resize(self, call: Call) -> None:
        file = self._file(call)
        file.content[call.offset :] = bytes(max(0, call.offset - len(file.content)))

    def _sync_file(self, call: Call) -> None:
        file = self._file(call)
        file.certain = bytes(file.content)

    def _sync_folder(self, call: Call) -> None:
        folder = self._find(call.path)
        assert isinstance(folder, Folder)
        needed: set[tuple[Folder, str]] = set()
        left: list[Change] = []
        synced: list[Change] = []
        for change in reversed(self._pending):
            is_synced = needed & change.keys() or any(of is folder for of, _ in change)
            needed |= change.keys() if is_synced else set()
            (synced if is_synced else left).append(change)
        for change in reversed(synced):
            for (of, name), node in change.items():
                _name(of.certain, name, node)
        self._pending = left[::-1]

    def _rename(self, call: Call) -> None:
        node = self._find(call.path)
        self._change({self._place(call.path): None, self._place(call.other): node})

    def _link(self, call: Call) -> None:
        self._change({self._place(call.other): self._find(call.path)})

    def _unlink(self, call: Call) -> None:
        self._change({self._place(call.path): None})

    def _make_folder(self, call: Call) -> None:
        self._change({self._place(call.path): Folder()})

    # ---- names --------------------------------------------------------------------------------------------

    def _change(self, change: Change) -> None:
        for (folder, name), node in change.items():
            _name(folder.names, name, node)
        self._pending.append(change)

    def _file(self, call: Call) -> File:
        file = self._files.get(call.inode) or self._find(call.path)
        assert isinstance(file, File)
        return file

    def _place(self, path: Path) -> tuple[Folder, str]:
        folder = self._find(path.parent)
        assert isinstance(folder, Folder), path
        return folder, path.name

    def _find(self, path: Path) -> Node | None:
        node: Node | None = self._top
        for name in path.relative_to(self._root).parts:
            node = node.names.get(name) if isinstance(node, Folder) else None
        return node


_CALLS = {
    "O": "open",
    "T": "truncate",
    "W": "write",
    "S": "resize",
    "F": "sync_file",
    "D": "sync_folder",
    "R": "rename",
    "L": "link",
    "U": "unlink",
    "M": "make_folder",
}


def _name(names: dict[str, Node], name: str, node: Node | None) -> None:
    if node is None:
        names.pop(name, None)
    else:
        names[name] = node


def _read(path: Path) -> Folder:
    folder = Folder()
    for child in path.iterdir():
        folder.names[child.name] = _read(child) if child.is_dir() else File(child.read_bytes())
    folder.certain = dict(folder.names)
    return folder
