"""Headstart's search in Optuna: the study is the sampler's only state, and workers do not communicate."""

import logging
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ingest.flows import FLOWS, get_flow
from ingest.reading.datasets import load_dataset
from recommend.bo import candidates
from recommend.bo.published.surrogates.forest import ForestSurrogate
from recommend.bo.published.surrogates.gaussian_process import GaussianProcessSurrogate
from recommend.bo.surrogates.base import Surrogate
from recommend.export import optuna_distributions, suggest_configuration
from recommend.recommender import recommend
from recommend.space import Space
from tests.recommend.bo.toys import PLANE, SIX, Recorder
from warehouse.store import Warehouse
from warehouse.support.errors import BadInput
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.parameters import Choice, Number

optuna = pytest.importorskip("optuna")
testing = pytest.importorskip("optuna.testing.pytest_samplers")
sampling = pytest.importorskip("recommend.bo.optuna_sampler")

ONE = Space([PLANE], joint=False)
TWO = Space([PLANE, SIX])
MIXED = replace(
    PLANE,
    name="mixed",
    hyperparameters=(
        Number("rate", 1e-4, 1.0, default=0.1, log=True),
        Number("depth", 1, 20, default=5),
        Number("leaves", 1, 1000, default=5, log=True),
        Choice("features", ("sqrt", 0.5, True), default="sqrt"),
    ),
)
STARTS = [Configuration("plane", {"u": 0.1, "v": 0.2}), Configuration("six", {"c": "b", "k": 2})]


@pytest.fixture(autouse=True)
def few_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    """Faster; the quality of the search with all candidates is tested elsewhere."""
    monkeypatch.setattr(candidates, "RANDOM", 1000)


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(before)


def sampler(space: Space = TWO, surrogate: Surrogate[Any] | None = None, **settings: Any) -> Any:
    return sampling.HeadstartSampler(space, surrogate or ForestSurrogate(), **settings)


def value(configuration: Configuration) -> float:
    """Highest, 1, for plane with u = 0.3 and v = 0.7."""
    if configuration.algorithm == "six":
        return 0.1 * float(configuration.values["k"] or 0)
    u, v = (float(configuration.values[name] or 0) for name in ("u", "v"))
    return 1 - (u - 0.3) ** 2 - (v - 0.7) ** 2


def objective(space: Space = TWO) -> Callable[[Any], float]:
    return lambda trial: value(suggest_configuration(trial, space))


def study_of(own: Any, **settings: Any) -> Any:
    return optuna.create_study(**{"direction": "maximize", "sampler": own, **settings})


def searched(own: Any, trials: int, space: Space = TWO) -> Any:
    study = study_of(own)
    study.optimize(objective(space), n_trials=trials)
    return study


def params_of(study: Any) -> list[dict[str, Any]]:
    return [trial.params for trial in study.trials]


def are_different(configurations: list[dict[str, Any]]) -> bool:
    return len({repr(sorted(one.items())) for one in configurations}) == len(configurations)


class TestOptunasContract(testing.BasicSamplerTestCase, testing.SingleOnlySamplerTestCase):  # type: ignore[misc, name-defined]
    """Optuna's tests of its own samplers. Their objectives suggest parameters that the space lacks."""

    @pytest.fixture
    def sampler(self) -> Callable[[], Any]:
        return lambda: sampler(ONE)

    test_trial_relative_params = testing.RelativeSamplerTestCase.test_trial_relative_params


@pytest.mark.parametrize("storage", ["memory", "journal"])
def test_five_trials_and_five_later_equal_ten_at_once(storage: str, tmp_path: Path) -> None:
    def opened() -> Any:
        if storage == "journal":
            backend = optuna.storages.journal.JournalFileBackend(str(tmp_path / "study.log"))
            return optuna.storages.JournalStorage(backend)
        return in_memory

    def new() -> Any:
        return sampler(TWO, GaussianProcessSurrogate(), starts=STARTS)

    in_memory = optuna.storages.InMemoryStorage()
    for _ in range(2):
        study = study_of(new(), storage=opened(), study_name="s", load_if_exists=True)
        study.optimize(objective(), n_trials=5)
    assert params_of(study) == params_of(searched(new(), 10))


def test_the_seed_determines_the_trials_and_reseeding_does_not_matter() -> None:
    reseeded = sampler(seed=3)
    reseeded.reseed_rng()
    same = params_of(searched(sampler(seed=3), 6))
    assert params_of(searched(reseeded, 6)) == same
    other = params_of(searched(sampler(seed=4), 6))
    assert all(one not in same for one in other if one["algorithm"] == "plane")


def test_minimizing_is_maximizing_the_opposite() -> None:
    recorder, opposite = Recorder(), Recorder()
    searched(sampler(ONE, recorder), 5, ONE)
    study = study_of(sampler(ONE, opposite), direction="minimize")
    study.optimize(lambda trial: -objective(ONE)(trial), n_trials=5)
    for (X, y), (same_X, same_y) in zip(recorder.told, opposite.told, strict=True):
        np.testing.assert_array_equal(X, same_X)
        np.testing.assert_array_equal(y, same_y)


@pytest.mark.parametrize("flows", [[MIXED], [MIXED, PLANE], list(FLOWS.values())])
def test_proposals_are_plain_values_of_the_space_and_are_read_back_exactly(flows: list[Any]) -> None:
    space = Space(flows, joint=len(flows) > 1)
    recorder = Recorder()
    study = study_of(sampler(space, recorder))
    ran = []
    for _ in range(8):
        trial = study.ask()
        ran.append(suggest_configuration(trial, space))
        study.tell(trial, float(len(ran)))
    for configuration, trial in zip(ran, study.trials, strict=True):
        assert len(trial.params) == len(configuration.values) + (len(flows) > 1)
        assert {type(one) for one in trial.params.values()} <= {int, float, str, bool, type(None)}
        for name, distribution in trial.distributions.items():
            number = isinstance(distribution, optuna.distributions.IntDistribution)
            assert type(trial.params[name]) is int or not number
        [back] = space.decoded(space.vector(configuration)[None])
        assert back == configuration
    X, _ = recorder.told[-1]
    np.testing.assert_array_equal(X, np.nan_to_num([space.vector(one) for one in ran[:7]], nan=-1.0))


def test_no_configuration_is_tried_twice_until_all_were() -> None:
    assert are_different(params_of(searched(sampler(ONE, Recorder()), 12, ONE)))
    space = Space([SIX], joint=False)
    study = searched(sampler(space), 8, space)
    assert are_different(params_of(study)[:6])
    assert len(study.trials) == 8


def ask_together(own: Callable[[], Any], before: int, together: int) -> list[dict[str, Any]]:
    """What concurrent workers of a study run that begin a trial without knowing of each other's."""
    study = study_of(own())
    study.optimize(objective(ONE), n_trials=before)
    asked = []
    for number in range(together):
        alone = study_of(own())
        alone.add_trials(study.trials)
        others = [alone.ask() for _ in range(number)]
        asked.append(alone.ask(optuna_distributions(ONE)).params)
        assert not any(trial.params for trial in others)
    return asked


@pytest.mark.parametrize("before", [0, 2, 5])
def test_concurrent_workers_run_different_configurations(before: int) -> None:
    starts = [Configuration("plane", {"u": 0.1, "v": 0.2}), Configuration("plane", {"u": 0.2, "v": 0.1})]
    asked = ask_together(lambda: sampler(ONE, Recorder(), starts=starts), before, 4)
    assert are_different(asked)
    if not before:
        assert asked[:2] == [start.values for start in starts]


def test_a_worker_that_died_before_a_suggestion_blocks_no_start() -> None:
    study = study_of(sampler(starts=STARTS))
    dead, later = study.ask(), study.ask()
    assert suggest_configuration(later, TWO) == STARTS[1]
    study.optimize(objective(), n_trials=3)
    assert dead.params == {}
    assert suggest_configuration(study.trials[2], TWO) == STARTS[0]


def test_threads_share_a_sampler() -> None:
    study = study_of(sampler(starts=STARTS))
    study.optimize(objective(), n_trials=12, n_jobs=3)
    ran = [suggest_configuration(trial, TWO) for trial in study.trials]
    assert all(ran.count(start) == 1 for start in STARTS)
    assert are_different(params_of(study))


def test_failed_and_pruned_trials_count_as_the_worst_and_running_ones_as_the_mean() -> None:
    recorder = Recorder()
    study = study_of(sampler(ONE, recorder))
    states = optuna.trial.TrialState
    outcomes = [
        (1.0, None),
        (None, states.FAIL),
        (3.0, None),
        (None, states.PRUNED),
        (float("inf"), None),
        (2.0, None),
    ]
    for number, state in outcomes:
        study.tell(study.ask(optuna_distributions(ONE)), number, state=state)
    study.ask(optuna_distributions(ONE))
    study.ask(optuna_distributions(ONE))
    _, y = recorder.told[-1]
    low, high, middle = y[0], y[2], y[5]
    assert low < middle < high
    np.testing.assert_allclose(y, [low, low, high, low, low, middle, middle])


def finished(params: dict[str, Any], distributions: dict[str, Any]) -> Any:
    return optuna.trial.create_trial(params=params, distributions=distributions, value=0.5)


def test_trials_of_another_space_are_skipped_with_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    of = optuna.distributions
    recorder = Recorder()
    study = study_of(sampler(ONE, recorder))
    study.add_trials(
        [
            finished({"x": 1.0}, {"x": of.FloatDistribution(0, 1)}),
            finished({"u": 0.5}, {"u": of.FloatDistribution(0, 1)}),
            finished({"u": 0.5, "v": 7.0}, {name: of.FloatDistribution(0, 9) for name in "uv"}),
            finished(
                {"u": 0.5, "v": "b"}, {"u": of.FloatDistribution(0, 1), "v": of.CategoricalDistribution("ab")}
            ),
            finished({}, {}),
        ]
    )
    with caplog.at_level(logging.WARNING, logger=sampling.__name__):
        study.optimize(objective(ONE), n_trials=5)
    assert [record.getMessage().split("not", 1)[1] for record in caplog.records] == [
        " learned from, such as trial 0: it has no u"
    ]
    X, _ = recorder.told[-1]
    assert len(X) == 4


def test_parameters_that_an_objective_never_suggests_are_left_out() -> None:
    """`v` is never suggested: no start and no other value of `u` is repeated, and the best is found."""

    def without_v(trial: Any) -> float:
        return 1 - (trial.suggest_float("u", 0, 1) - 0.3) ** 2

    recorder = Recorder()
    starts = [Configuration("plane", {"u": u, "v": 0.9}) for u in (0.1, 0.2)]
    study = study_of(sampler(ONE, recorder, starts=starts))
    study.optimize(without_v, n_trials=8)
    tried = [one["u"] for one in params_of(study)]
    assert tried[:2] == [0.1, 0.2]
    assert len(set(tried)) == 8
    X, _ = recorder.told[-1]
    assert X[:7, 0].tolist() == tried[:7]
    assert len(set(X[:7, 1])) == 1


def test_parameters_that_only_one_trial_lacks_are_not_left_out() -> None:
    recorder = Recorder()
    study = study_of(sampler(ONE, recorder))
    study.add_trial(finished({"u": 0.5}, {"u": optuna.distributions.FloatDistribution(0, 1)}))
    study.optimize(objective(ONE), n_trials=6)
    X, _ = recorder.told[-1]
    assert len(X) == 5
    assert len(set(X[:, 1])) > 1


def test_an_objective_with_other_ranges_gets_no_start_twice(caplog: pytest.LogCaptureFixture) -> None:
    """Its trials can't be used, since the space lacks their values."""

    def beyond(trial: Any) -> float:
        return trial.suggest_float("u", 0, 1) + trial.suggest_float("v", 5, 9)

    study = study_of(sampler(ONE, starts=[Configuration("plane", {"u": 0.1, "v": 0.9})]))
    with caplog.at_level(logging.WARNING, logger=sampling.__name__):
        study.optimize(beyond, n_trials=5)
    assert "v is" in caplog.text
    assert len({one["u"] for one in params_of(study)}) == 5


@pytest.mark.parametrize("flows", [["logistic_regression"], ["svm", "k_nearest_neighbors"]])
def test_a_pickled_sampler_continues_like_the_original(flows: list[str]) -> None:
    space = Space([get_flow(name) for name in flows], joint=len(flows) > 1)

    def ran(own: Any, study: Any) -> list[dict[str, Any]]:
        study.sampler = own
        study.optimize(lambda trial: float(len(suggest_configuration(trial, space).values)), n_trials=2)
        return params_of(study)

    first = sampler(space, starts=[Configuration(flows[0], get_flow(flows[0]).default())])
    study = study_of(first)
    ran(first, study)
    copy = pickle.loads(pickle.dumps(study))
    assert ran(copy.sampler, copy) == ran(first, study)


def test_other_parameters_of_an_objective_are_sampled_independently() -> None:
    def with_another(trial: Any) -> float:
        return objective(ONE)(trial) + 0 * trial.suggest_int("folds", 2, 9)

    study = study_of(sampler(ONE))
    study.optimize(with_another, n_trials=8)
    assert [{name: one[name] for name in "uv"} for one in params_of(study)] == params_of(
        searched(sampler(ONE), 8, ONE)
    )
    assert len({one["folds"] for one in params_of(study)}) > 1


def test_enqueued_trials_are_run_and_learned_from(caplog: pytest.LogCaptureFixture) -> None:
    recorder = Recorder()
    study = study_of(sampler(ONE, recorder))
    study.enqueue_trial({"u": 0.25, "v": 0.75})
    study.enqueue_trial({"u": 0.125})
    study.enqueue_trial({"u": 5.0, "v": 0.75})
    with pytest.warns(UserWarning, match="out of range"), caplog.at_level(logging.WARNING):
        study.optimize(objective(ONE), n_trials=6)
    assert params_of(study)[0] == {"u": 0.25, "v": 0.75}
    assert params_of(study)[1]["u"] == 0.125
    assert "trial 2: u is 5.0, expected a number from 0.0 to 1.0" in caplog.text
    X, _ = recorder.told[-1]
    np.testing.assert_array_equal(X[:2], [[0.25, 0.75], [0.125, params_of(study)[1]["v"]]])
    assert len(X) == 4


@pytest.mark.filterwarnings("ignore:PartialFixedSampler is experimental")
def test_fixed_parameters_stay_fixed_and_the_others_are_proposed() -> None:
    study = study_of(optuna.samplers.PartialFixedSampler({"u": 0.3}, sampler(ONE)))
    study.optimize(objective(ONE), n_trials=12)
    assert {one["u"] for one in params_of(study)} == {0.3}
    assert study.best_value > 0.99


def test_starts_come_first_and_are_not_repeated() -> None:
    study = study_of(sampler(starts=[*STARTS, STARTS[0]]))
    study.enqueue_trial({"algorithm": "six", "six:c": "b", "six:k": 2})
    study.optimize(objective(), n_trials=4)
    ran = [suggest_configuration(trial, TWO) for trial in study.trials]
    assert ran[:2] == [STARTS[1], STARTS[0]]
    assert not {repr(one) for one in ran[2:]} & {repr(one) for one in STARTS}


@pytest.mark.parametrize(
    ("start", "reason"),
    [
        (Configuration("svm", {}), "no svm; it has plane, six"),
        (
            Configuration("plane", {"u": 0.5, "v": 1.5}),
            "a start of plane is not in the space: plane:v is 1.5, expected",
        ),
    ],
)
def test_a_start_that_the_space_does_not_have_is_refused(start: Configuration, reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        sampler(starts=[start])


def test_invalid_settings_are_refused_at_once() -> None:
    with pytest.raises(BadInput, match="known are ei"):
        sampler(acquisition="best")
    with pytest.raises(BadInput, match="needs predicted running times"):
        sampler(acquisition="ei-per-second")
    with pytest.raises(BadInput, match="seed must be 0 or more"):
        sampler(seed=-1)


def test_the_sampler_of_a_dataset_starts_with_its_recommendations(small_world: Path, csv: Path) -> None:
    dataset, warehouse = load_dataset(str(csv)), Warehouse.open(small_world)
    flows = ["decision_tree", "logistic_regression"]
    own = sampling.headstart_sampler(dataset, flows, warehouse=warehouse, starts=2)
    ran: list[Configuration] = []

    def trees_are_good(trial: Any) -> float:
        ran.append(suggest_configuration(trial, own.space))
        return 0.9 if ran[-1].algorithm == "decision_tree" else 0.6

    study_of(own).optimize(trees_are_good, n_trials=5)
    first = recommend(dataset, warehouse=warehouse, top=2, flows=flows).configurations
    assert ran[:2] == [one.configuration for one in first]
    assert {one.algorithm for one in ran} <= set(flows)
    for one in ran:
        get_flow(one.algorithm).pipeline(one.values, dataset.roles)
