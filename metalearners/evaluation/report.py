"""An evaluation as JSON and as a table."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from metalearners import new_learner
from metalearners.evaluation.protocol import TOPS, DatasetResult, LearnerEvaluation
from warehouse.questions.queries import RunTable
from warehouse.store import Warehouse
from warehouse.support.text import counted


def document(
    result: LearnerEvaluation,
    runs: RunTable,
    learner: str,
    settings: dict[str, Any],
    warehouse: Warehouse,
) -> dict[str, Any]:
    """The evaluation as JSON; `regret` has mean and limits for the first choice, and by number of choices."""
    by_top = {str(top): result.regret(top).document() for top in TOPS}
    return {
        "learner": learner,
        "settings": dict(new_learner(learner, settings).settings),
        "flow": runs.flow,
        "measure": runs.measure,
        "warehouse": {"version": warehouse.version, "fingerprint": warehouse.fingerprint},
        "protocol": f"leave {_left_out(result.folds)} out; means over datasets with 95 % confidence interval"
        " (Student's t)",
        "folds": result.folds,
        "datasets": len(result.per_dataset),
        "tau": result.tau.document(),
        "regret": by_top["1"] | by_top,
        "error": result.error.document(),
        "error_in": result.per_dataset[0].error_in,
        "coverage": None if result.coverage is None else result.coverage.document(),
        "shots": {
            policy: {str(number): result.tau_after(number, policy).document() for number in taus}
            for policy, taus in result.per_dataset[0].shots.items()
        },
        "per_dataset": [_of_dataset(one) for one in result.per_dataset],
    }


def _of_dataset(result: DatasetResult) -> dict[str, Any]:
    values = asdict(result)
    del values["error_in"]  # the same for all
    return values


def table(result: LearnerEvaluation, document: dict[str, Any]) -> str:
    """The evaluation as text."""
    rows = [
        ("tau", result.tau),
        *((f"regret of top {top}", result.regret(top)) for top in TOPS),
        (f"error, {result.per_dataset[0].error_in}", result.error),
    ]
    if result.coverage is not None:
        rows.append(("within 80 % int.", result.coverage))
    for policy, taus in result.per_dataset[0].shots.items():
        rows += [(f"tau, {number} {policy}", result.tau_after(number, policy)) for number in taus]
    lines = [
        f"{document['learner']}, {document['flow'] or 'all flows'}, {document['measure']}:"
        f" {counted(document['datasets'], 'datasets')}, {_left_out(result.folds)} left out at a time",
        f"{'':<16} {'mean':>7}   95 % interval",
    ]
    lines += [f"{name:<16} {row.mean:>7.3f}   {row.low:.3f} to {row.high:.3f}" for name, row in rows]
    return "\n".join(lines)


def _left_out(folds: int) -> str:
    return f"one of {folds} folds of families" if folds else "one dataset"
