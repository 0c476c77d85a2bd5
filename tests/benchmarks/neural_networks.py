"""RealMLP and TabM beside our first recommendations: all are really trained.

    pip install pytabkit
    python -m tests.benchmarks.neural_networks FOLDER [--task regression] --results FILE

FOLDER holds tables and an index.csv, as for `tests.benchmarks.real_tables`, whose training rows and held-out
rows are used here, too. Families are left out. On each split the first three recommendations and pytabkit's
RealMLP and TabM with their tuned defaults (one network each, stopped early on a fifth of the training rows)
are fitted by one thread. Reported are tables on which a network is better than the first recommendation, and
on which the average of three is better if a network joins it or replaces its third member, with p of
Wilcoxon's two-sided test, and the networks' processor time relative to the first's.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from scipy.stats import wilcoxon

from recommend.ranking.averaging import weights_of
from tests.benchmarks.held_out import (
    Table,
    chosen_tables,
    held_out,
    leave_out_family,
    ranked,
    study_of_tables,
    tables_in,
    typed_frame,
)
from tests.benchmarks.real_fits import fit_and_score
from tests.benchmarks.task_kinds import KINDS
from warehouse.store import STARTER, Warehouse
from warehouse.support.arrays import Floats
from warehouse.support.errors import BadInput
from warehouse.support.journal import Journal
from warehouse.support.parallel import one_thread
from warehouse.vocabulary.measures import larger_is_better

NETWORKS = {"RealMLP": "RealMLP_TD", "TabM": "TabM_D"}
MOST_TRAIN, MOST_TESTED = 2_000, 10_000


def main() -> None:
    options = study_of_tables(__doc__, 20).parse_args()
    kind = KINDS[options.task]
    warehouse = Warehouse.open(STARTER)
    files = chosen_tables(tables_in(options.folder, warehouse), options.tables, options.half)
    journal = Journal(options.results)
    finished = {record["table"]: record for record in journal.records() if record["task"] == kind.name}
    for file in files:
        if file.name in finished:
            continue
        record: dict[str, Any] = {"task": kind.name, "table": file.name}
        try:
            table = held_out(file, kind, 0, most_train=MOST_TRAIN, most_test=MOST_TESTED)
            with leave_out_family(table.dataset, file.family, warehouse), one_thread():
                ours = ranked(table, kind.told, warehouse)
        except BadInput as error:
            record["refused"] = str(error)
        else:
            record |= outcome(table, ours)
        finished[file.name] = record
        journal.append(record)
        print(len(finished), {key: record.get(key) for key in ("table", "seconds", "refused")}, flush=True)
    report([record for record in finished.values() if "refused" not in record], kind.judged)


def outcome(table: Table, ours: list[Any]) -> dict[str, Any]:
    """Measures by contender, and processor seconds of the fits."""
    weights = weights_of([item.configuration for item in ours])
    scores, seconds = {}, {}
    for configuration in weights:
        scores[repr(configuration)], seconds[repr(configuration)] = fit_and_score(table, configuration)
    first, *_ = weights
    members = [scores[repr(one)] for one in weights]
    found = {"first": scores[repr(first)], "average": averaged(table, members, [*weights.values()])}
    times = {"first": seconds[repr(first)], "average": sum(seconds.values())}
    for name, estimator in NETWORKS.items():
        try:
            found[name], times[name] = network_scores(table, estimator)
        except Exception as error:  # noqa: BLE001
            print(table.dataset.name, name, repr(error)[:200], flush=True)
            found[name], times[name] = table.without_model(), 0.0
        shares = [*weights.values()]
        found[f"average and {name}"] = averaged(
            table, [*members, found[name]], [*shares, sum(shares) / len(shares)]
        )
        if len(members) > 2:
            found[f"two and {name}"] = averaged(table, [*members[:2], found[name]], shares)
    return {
        "rows": len(table.train),
        "columns": table.dataset.features.shape[1],
        "first": repr(first),
        "measures": {name: table.measured(of_one) for name, of_one in found.items()},
        "seconds": times,
    }


def averaged(table: Table, scores: list[Floats], shares: list[float]) -> Floats:
    return table.scorer.average(scores, [share / sum(shares) for share in shares]).scores


def network_scores(table: Table, name: str) -> tuple[Floats, float]:
    import pytabkit

    estimator = getattr(pytabkit, f"{name}_{table.kind.flaml_suffix}")
    model = estimator(device="cpu", random_state=0, n_threads=1, val_fraction=0.2)
    features = typed_frame(table.dataset)  # the networks take no missing numbers
    features = features.fillna(features.iloc[table.train].median(numeric_only=True)).fillna(
        dict.fromkeys(features.select_dtypes("number"), 0.0)
    )
    began = time.process_time()
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore")
        model.fit(features.iloc[table.train].reset_index(drop=True), table.outcomes[table.train])
        took = time.process_time() - began
        return table.scores(model, features), took


def report(records: list[dict[str, Any]], measures: tuple[str, ...]) -> None:
    pairs = [(name, "first") for name in NETWORKS]
    pairs += [(f"{kind} and {name}", "average") for name in NETWORKS for kind in ("average", "two")]
    print("| | against | measure | better - worse | p | time |\n|---|---|---|---|---|---|")
    for name, other in pairs:
        known = [record for record in records if name in record["measures"]]
        for measure in measures:
            of_both = np.array(
                [[record["measures"][one][measure] for one in (name, other)] for record in known]
            )
            gain = of_both[:, 0] - of_both[:, 1]
            gain *= 1 if larger_is_better(measure) else -1
            p = wilcoxon(gain).pvalue
            ratio = np.median(
                [record["seconds"].get(name.split()[-1], 0) / record["seconds"][other] for record in known]
            )
            print(
                f"| {name} | {other} | {measure} | {(gain > 0).sum()} - {(gain < 0).sum()} | {p:.2g} "
                f"| {ratio:.1f} |"
            )


if __name__ == "__main__":
    main()
