"""Checkpoints of training: the state of a torch optimizer, in a file of arrays."""

from __future__ import annotations

import io
import json
import logging
import time
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from warehouse.support.errors import BadOption, DamagedModel, Unwritable
from warehouse.support.files import write_bytes

logger = logging.getLogger(__name__)

EVERY = 30.0
"""Seconds between two writes."""


class Checkpoint:
    """The state of one training on disk: parameters, Adam's moments, and the losses of finished rounds."""

    def __init__(
        self,
        path: Path | None,
        training: Mapping[str, Any],
        module: torch.nn.Module,
        optimizer: torch.optim.Optimizer,
        schedule: torch.optim.lr_scheduler.LRScheduler,
    ) -> None:
        """Reads and writes nothing yet.

        Args:
            path: the file; None = no checkpoints.
            training: JSON values that identify the training.
        """
        self._path = path
        self._training = json.dumps(training, sort_keys=True)
        self._module, self._optimizer, self._schedule = module, optimizer, schedule
        self._written = time.monotonic()

    def load(self) -> list[float]:
        """Restore the state in the file, and return the losses; [] if there is no file.

        Raises:
            BadInput: the file belongs to another training, or is not a checkpoint.
        """
        if self._path is None or not self._path.exists():
            return []
        try:
            with np.load(self._path, allow_pickle=False) as arrays:
                if str(arrays["training"]) != self._training:
                    raise BadOption(
                        f"{self._path} belongs to another training: remove it, or give another file"
                    )
                values = {name: arrays[name] for name in arrays.files}
            named = list(self._module.named_parameters())
            state = {
                number: {
                    key: torch.tensor(values[f"{key}.{name}"], device=parameter.device)
                    for key in ("exp_avg", "exp_avg_sq")
                }
                | {"step": torch.tensor(float(values["step"]))}
                for number, (name, parameter) in enumerate(named)
            }
            parameters = {name: torch.tensor(values[f"parameter.{name}"]) for name, _ in named}
            self._module.load_state_dict(parameters, strict=False)
            self._optimizer.load_state_dict({**self._optimizer.state_dict(), "state": state})
            self._schedule.load_state_dict(json.loads(str(values["schedule"])))
            for group, rate in zip(
                self._optimizer.param_groups, json.loads(str(values["rates"])), strict=True
            ):
                group |= rate
            return [float(loss) for loss in values["losses"]]
        except (
            *(KeyError, ValueError, AttributeError, RuntimeError),
            *(OSError, EOFError, zipfile.BadZipFile, zlib.error),
        ) as error:
            raise DamagedModel(
                f"{self._path} is damaged ({error}): remove it to train from the start"
            ) from error

    def save(self, losses: list[float]) -> None:
        """Write the state after a round, unless it was written recently."""
        if self._path is None or time.monotonic() - self._written < EVERY:
            return
        rates = [
            {key: group[key] for key in group if key != "params"} for group in self._optimizer.param_groups
        ]
        arrays = {
            "training": np.array(self._training),
            "losses": np.array(losses),
            "schedule": np.array(json.dumps(self._schedule.state_dict())),
            "rates": np.array(json.dumps(rates)),
        }
        for name, parameter in self._module.named_parameters():
            moments = self._optimizer.state[parameter]
            arrays[f"parameter.{name}"] = parameter.detach().cpu().numpy()
            arrays["step"] = np.array(float(moments["step"]))
            for key in ("exp_avg", "exp_avg_sq"):
                arrays[f"{key}.{name}"] = moments[key].cpu().numpy()
        file = io.BytesIO()
        np.savez(file, allow_pickle=False, **arrays)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(self._path, file.getvalue())
        except (OSError, Unwritable) as error:
            logger.warning("an interruption will restart the training: %s", error)
            self._path = None
        self._written = time.monotonic()

    def remove(self) -> None:
        """Remove the file of a finished training."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)
