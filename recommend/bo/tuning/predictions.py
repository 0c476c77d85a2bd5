"""Predictions of trials, as files beside the history of a search."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from warehouse.support.arrays import Floats
from warehouse.support.files import write_bytes


@dataclass(frozen=True)
class KeptPredictions:
    """(rows, k) arrays of 32-bit numbers as .npy files, in a folder that is made when the first is kept."""

    folder: Path

    def clean(self) -> None:
        """Remove the unfinished files of a process that was killed while it wrote."""
        for unfinished in self.folder.glob(".*"):
            unfinished.unlink()

    def keep(self, name: str, predictions: Floats | None) -> None:
        """Write one, if there is one; it is on disk when this returns.

        Raises:
            Unwritable: it can't be written.
        """
        if predictions is None:
            return
        content = io.BytesIO()
        np.save(content, predictions.astype(np.float32), allow_pickle=False)
        self.folder.mkdir(exist_ok=True)
        write_bytes(self._path(name), content.getvalue())

    def read(self, name: str) -> Floats | None:
        """The predictions stored under this name; None if there are none or they are damaged."""
        try:
            # Mapped, since an array that says it is larger than its file is refused then.
            return np.array(np.load(self._path(name), mmap_mode="r", allow_pickle=False))
        except (OSError, ValueError, EOFError):
            return None

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.npy"
