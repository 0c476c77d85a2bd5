"""Races: who enters, who goes on, what is kept of it. Runs are real unless a test says what comes of them."""

import json
from collections.abc import Callable
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import recommend
from ingest.reading.datasets import Dataset, load_dataset
from ingest.running.blocks import Split
from ingest.running.evaluation import Evaluation
from ingest.running.limits import Outcome
from recommend.ranking.candidates import find_candidates
from recommend.ranking.fit_cost import FitSeconds
from recommend.ranking.knowledge import gather
from recommend.ranking.task import describe_task
from recommend.recommender import recommend as rank
from recommend.verification import rungs as heats
from recommend.verification.contestants import HEAD, choose_entrants
from recommend.verification.race import Race, race, record
from tests.recommend.conftest import numbers
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput
from warehouse.vocabulary.configuration import Configuration

LONG = 600.0
"""Seconds that no race here needs."""
SCHEMA = json.loads((Path(recommend.__file__).parent / "seeds.schema.json").read_text(encoding="utf-8"))
Told = Callable[[str, int], Evaluation]


def raced(world: Path, dataset: Dataset, seconds: float = LONG) -> Race:
    known = gather(describe_task(dataset, warehouse=Warehouse.open(world), leave_out=False))
    return race(known, choose_entrants(known, find_candidates(known)), seconds, jobs=1)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Callable[[Told], None]:
    """Lets a function of algorithm and rows fitted on say what comes of each run."""

    def use(outcome: Told) -> None:
        def run(
            configuration: Configuration,
            _: Dataset,
            repetitions: list[list[Split]],
            *_rest: object,
            **_options: object,
        ) -> Evaluation:
            return outcome(configuration.algorithm, len(repetitions[0][0][0]))

        monkeypatch.setattr(heats, "evaluate", run)

    return use


def trees_win(flow: str, rows: int) -> Evaluation:
    value = (0.9 if flow == "decision_tree" else 0.6) + rows / 1e6
    return Evaluation(Outcome.success, 0.1, {"predictive_accuracy": value})


def test_fewer_and_fewer_run_on_more_and_more_rows(small_world: Path, told: Callable[[Told], None]) -> None:
    told(trees_win)
    result = raced(small_world, load_dataset(numbers(6000, seed=50)))
    assert [heat.train_rows for heat in result.heats] == [500, 2000, 3000]
    n = len(result.entrants)
    assert n >= HEAD
    assert [len(heat.results) for heat in result.heats] == [n, -(-n // 2), -(-n // 2) // 2 + -(-n // 2) % 2]
    assert len(result.standing) + len(result.decisions) == n
    assert result.order[0] == result.standing[0]


def test_an_interrupted_race_keeps_the_rounds_before(small_world: Path, told: Callable[[Told], None]) -> None:
    def outcome(flow: str, rows: int) -> Evaluation:
        if rows > 500:
            raise KeyboardInterrupt
        return trees_win(flow, rows)

    told(outcome)
    result = rank(
        load_dataset(numbers(6000, seed=50)), warehouse=Warehouse.open(small_world), verify=LONG, jobs=1
    )
    assert result.race is not None
    assert result.race.interrupted
    assert [heat.train_rows for heat in result.race.heats] == [500]
    assert not result.race.decisions
    assert result.configurations[0].flow.name == "decision_tree"
    jsonschema.validate(result.document(), SCHEMA)


def test_small_datasets_have_one_round(small_world: Path) -> None:
    result = raced(small_world, load_dataset(numbers(300, seed=50)))
    assert [(heat.train_rows, heat.folds) for heat in result.heats] == [(270, 10)]
    assert not result.decisions
    best = result.standing[0]
    value = result.value(best, result.heats[0])
    assert value is not None
    assert 0.5 < value <= 1


def test_defaults_of_algorithms_that_the_warehouse_knows_take_part(
    small_world: Path, told: Callable[[Told], None]
) -> None:
    """The small world has logistic regression, of the four."""
    told(trees_win)
    result = raced(small_world, load_dataset(numbers(900, seed=50)))
    defaults = [entrant for entrant in result.entrants if entrant.is_default]
    assert [entrant.flow.name for entrant in defaults] == ["logistic_regression"]
    assert {entrant.recommended for entrant in result.entrants} - {None} == set(range(1, HEAD + 1))


def test_what_the_race_finds_out_decides_against_what_was_expected(
    small_world: Path, told: Callable[[Told], None]
) -> None:
    """Trees win on all large datasets that are known, and not on this one."""
    told(
        lambda flow, _rows: Evaluation(
            Outcome.success,
            0.1,
            {"predictive_accuracy": 0.6 if flow == "decision_tree" else 0.9},
        )
    )
    dataset = load_dataset(numbers(900, seed=50))
    world = Warehouse.open(small_world)
    assert rank(dataset, warehouse=world).configurations[0].flow.name == "decision_tree"
    result = rank(dataset, warehouse=world, verify=LONG, jobs=1)
    assert result.configurations[0].flow.name == "logistic_regression"
    assert result.configurations[0].on_dataset == pytest.approx(0.9)
    assert result.race is not None
    assert result.trials == len(result.race.entrants)


def test_failures_say_why_and_the_others_go_on(small_world: Path, told: Callable[[Told], None]) -> None:
    def outcome(flow: str, rows: int) -> Evaluation:
        if flow == "logistic_regression":
            return Evaluation(Outcome.crash, 0.1, message="ValueError: no")
        return trees_win(flow, rows)

    told(outcome)
    result = raced(small_world, load_dataset(numbers(900, seed=50)))
    failed = [place for place, entrant in enumerate(result.entrants) if entrant.is_default]
    assert [result.decision(place) for place in failed] == ["ValueError: no on 500 rows"]
    assert {result.entrants[place].flow.name for place in result.standing} == {"decision_tree"}


def test_what_failed_in_the_race_is_not_recommended(small_world: Path, told: Callable[[Told], None]) -> None:
    def outcome(flow: str, rows: int) -> Evaluation:
        if flow == "decision_tree":
            return Evaluation(Outcome.crash, 0.1, message="ValueError: no")
        return Evaluation(Outcome.success, 0.1, {"predictive_accuracy": rows / 1e6})

    told(outcome)
    dataset, world = load_dataset(numbers(900, seed=50)), Warehouse.open(small_world)
    result = rank(dataset, warehouse=world, verify=LONG, jobs=1)
    assert result.race is not None
    entered = {entrant.setup for entrant in result.race.entrants if entrant.flow.name == "decision_tree"}
    assert entered
    assert result.failed == {"crash": len(entered)}
    assert result.candidates == 16 - len(entered)
    with pytest.raises(BadInput, match="failed in the race"):
        rank(dataset, warehouse=world, flows=["decision_tree"], verify=LONG, jobs=1)


def test_a_race_in_which_all_fail_leaves_the_recommendation_as_it_was(
    small_world: Path, told: Callable[[Told], None]
) -> None:
    told(lambda _flow, _rows: Evaluation(Outcome.memout, 0.1, message="needed more than 4096 MiB"))
    dataset, world = load_dataset(numbers(900, seed=50)), Warehouse.open(small_world)
    before = rank(dataset, warehouse=world)
    after = rank(dataset, warehouse=world, verify=LONG, jobs=1)
    assert after.race is not None
    assert (after.race.standing, after.trials) == ([], 0)
    assert after.configurations == before.configurations


def test_what_is_expected_to_take_too_long_does_not_enter_beyond_the_first_two(
    small_world: Path, told: Callable[[Told], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    told(trees_win)
    monkeypatch.setattr(
        heats, "fit_seconds", lambda _, table, __: FitSeconds(np.full(len(table), LONG), None)
    )
    result = raced(small_world, load_dataset(numbers(900, seed=50)))
    assert len(result.heats[0].results) == 2
    late = [decision for decision in result.decisions.values() if decision.startswith("no time for about")]
    assert len(late) == len(result.entrants) - 2


def test_a_race_ends_where_the_next_round_would_take_too_long(
    small_world: Path, told: Callable[[Told], None]
) -> None:
    told(lambda _flow, _rows: Evaluation(Outcome.success, LONG, {"predictive_accuracy": 0.8}))
    result = raced(small_world, load_dataset(numbers(6000, seed=50)))
    assert [heat.train_rows for heat in result.heats] == [500]
    assert sorted(result.standing) == list(range(len(result.entrants)))


def test_runs_are_recorded_once_and_not_made_again(
    small_world: Path, tmp_path: Path, told: Callable[[Told], None]
) -> None:
    world = Warehouse.open(small_world).export(tmp_path / "world")
    dataset = load_dataset(numbers(900, seed=50), name="mine")
    told(trees_win)
    first = raced(world.path, dataset)
    record(first, world)
    rows = world.sql("SELECT train_rows, count(*) AS n FROM runs WHERE train_rows IS NOT NULL GROUP BY ALL")
    assert dict(zip(rows["train_rows"], rows["n"], strict=True)) == {
        heat.train_rows: len(heat.results) for heat in first.heats
    }

    again = gather(describe_task(dataset, warehouse=Warehouse.open(world.path), leave_out=False))
    assert again.trials is not None
    assert len(again.trials) == len(first.entrants)
    ran = {run.run for heat in first.heats for run, _ in heat.results.values()}
    made: list[int] = []

    def counted(flow: str, rows: int) -> Evaluation:
        made.append(rows)
        return trees_win(flow, rows)

    told(counted)
    second = race(again, choose_entrants(again, find_candidates(again)), LONG, jobs=1)
    record(second, Warehouse.open(world.path))
    both = {run.run for heat in second.heats for run, _ in heat.results.values()}
    assert ran & both
    assert len(made) == len(both - ran)
    total = Warehouse.open(world.path).sql("SELECT count(*) AS n FROM runs WHERE train_rows IS NOT NULL")
    assert total["n"].item() == len(ran | both)


def test_runs_that_were_stopped_are_not_recorded(
    small_world: Path, tmp_path: Path, told: Callable[[Told], None]
) -> None:
    world = Warehouse.open(small_world).export(tmp_path / "world")
    before = world.version
    told(lambda _flow, _rows: Evaluation(Outcome.timeout, 5.0, message="stopped after 5 s"))
    result = raced(world.path, load_dataset(numbers(900, seed=50), name="mine"))
    assert {result.decision(place) for place in result.order} == {"stopped after 5 s on 500 rows"}
    record(result, world)
    assert Warehouse.open(world.path).version == before


def test_the_document_describes_the_race(small_world: Path, told: Callable[[Told], None]) -> None:
    told(trees_win)
    result = rank(
        load_dataset(numbers(900, seed=50)), warehouse=Warehouse.open(small_world), verify=LONG, jobs=1
    )
    document = json.loads(json.dumps(result.document(), allow_nan=False))
    jsonschema.validate(document, SCHEMA)
    race_of = document["verification"]
    assert [len(entrant["values"]) for entrant in race_of["entrants"]] == [2] * len(race_of["entrants"])
    assert race_of["entrants"][0]["decision"] == "first"
