"""Checkpoints of a training: after a kill, and refused ones."""

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from warehouse.support.errors import BadOption, DamagedModel

torch = pytest.importorskip("torch", reason="training needs the extra `pmf`")
checkpoint = pytest.importorskip("metalearners.published.factorization.checkpoint")


@dataclass
class Training:
    """Adam on the squared errors of a line through four points."""

    module: Any
    optimizer: Any
    schedule: Any

    @classmethod
    def begun(cls, seed: int = 0) -> "Training":
        torch.manual_seed(seed)
        module = torch.nn.Linear(2, 1)
        optimizer = torch.optim.AdamW(module.parameters(), 0.1)
        return cls(module, optimizer, torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=20))

    def go(self, steps: int) -> list[float]:
        """Losses of this many steps."""
        losses = []
        for _ in range(steps):
            self.optimizer.zero_grad()
            x = torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [2.0, 1.0]])
            loss = ((self.module(x) - x.sum(1, keepdim=True)) ** 2).mean()
            loss.backward()
            self.optimizer.step()
            self.schedule.step()
            losses.append(loss.item())
        return losses

    @property
    def parts(self) -> tuple[Any, Any, Any]:
        return self.module, self.optimizer, self.schedule


@pytest.fixture
def _every_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "EVERY", 0)


def saved(file: Path, steps: int = 5) -> tuple[Training, list[float]]:
    """A training after this many steps, with its state in the file."""
    training = Training.begun()
    losses = training.go(steps)
    checkpoint.Checkpoint(file, {"seed": 0}, *training.parts).save(losses)
    return training, losses


@pytest.mark.usefixtures("_every_round")
def test_a_training_resumed_from_a_checkpoint_continues_exactly(tmp_path: Path) -> None:
    """Parameters, moments and learning rate are restored in a training that started elsewhere."""
    training, losses = saved(tmp_path / "state.npz")
    resumed = Training.begun(seed=1)
    assert checkpoint.Checkpoint(tmp_path / "state.npz", {"seed": 0}, *resumed.parts).load() == losses
    assert resumed.go(5) == training.go(5)


@pytest.mark.usefixtures("_every_round")
def test_a_finished_training_leaves_no_file(tmp_path: Path) -> None:
    saved(tmp_path / "deep" / "state.npz")
    assert (tmp_path / "deep" / "state.npz").exists()
    checkpoint.Checkpoint(tmp_path / "deep" / "state.npz", {"seed": 0}, *Training.begun().parts).remove()
    assert not (tmp_path / "deep" / "state.npz").exists()


@pytest.mark.usefixtures("_every_round")
def test_the_state_of_another_training_is_refused_and_kept(tmp_path: Path) -> None:
    file = tmp_path / "state.npz"
    saved(file)
    with pytest.raises(
        BadOption, match=r"state\.npz belongs to another training: remove it, or give another"
    ):
        checkpoint.Checkpoint(file, {"seed": 1}, *Training.begun().parts).load()
    assert file.exists()


@pytest.mark.usefixtures("_every_round")
def test_a_file_that_is_cut_off_anywhere_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "state.npz"
    saved(file)
    whole = file.read_bytes()
    for length in range(0, len(whole), 97):
        file.write_bytes(whole[:length])
        with pytest.raises(DamagedModel, match=r"damaged .* remove it to train from the start") as caught:
            checkpoint.Checkpoint(file, {"seed": 0}, *Training.begun().parts).load()
        assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("_every_round")
def test_a_training_that_cannot_be_saved_continues_with_one_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("no folder")
    training = Training.begun()
    state = checkpoint.Checkpoint(tmp_path / "file" / "state.npz", {}, *training.parts)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            state.save(training.go(1))
    (record,) = caplog.records
    assert "an interruption will restart the training" in record.getMessage()
