"""Seconds of a fit, predicted from the sizes of datasets."""

import numpy as np
import pandas as pd
import pytest

from metalearners.fit_times import FitTimes, learn_fit_times
from metalearners.model_store import trained_fit_times
from warehouse.questions.queries import TimedFits
from warehouse.store import Warehouse
from warehouse.support.errors import TooFewRuns
from warehouse.vocabulary.table import ConfigurationTable

SETUPS = {"forest/10": ("forest", 0.001), "forest/100": ("forest", 0.01), "linear/1": ("linear", 0.0001)}
"""Setup -> algorithm, seconds per row and column."""


def qualities(datasets: int = 40, seed: int = 0) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    features = random.integers(3, 100, datasets)
    return pd.DataFrame(
        {
            "NumberOfInstances": np.exp(random.uniform(5, 9, datasets)).round(),
            "NumberOfFeatures": features,
            "NumberOfNumericFeatures": features - 1,
            "NumberOfClasses": 2,
            "NumberOfMissingValues": 0,
        },
        index=[f"d{number}" for number in range(datasets)],
        dtype=float,
    )


def timed(metafeatures: pd.DataFrame, train_rows: float = np.nan) -> pd.DataFrame:
    """One run of each setup on each dataset; seconds are proportional to rows times columns."""
    runs = pd.MultiIndex.from_product([metafeatures.index, SETUPS], names=["dataset", "setup"]).to_frame(
        index=False
    )
    of_dataset = metafeatures.loc[runs["dataset"]]
    rows = of_dataset["NumberOfInstances"].to_numpy() if np.isnan(train_rows) else train_rows
    rate = runs["setup"].map({setup: rate for setup, (_, rate) in SETUPS.items()})
    return runs.assign(
        algorithm=runs["setup"].map({setup: algorithm for setup, (algorithm, _) in SETUPS.items()}),
        family=runs["dataset"],
        stopped=False,
        train_rows=train_rows,
        seconds=rate * of_dataset["NumberOfFeatures"].to_numpy() * rows,
    )


def table(setups: list[str]) -> ConfigurationTable:
    """Setups, named after algorithm and number of trees."""
    index = pd.Index(setups)
    named = [setup.split("/") for setup in setups]
    trees = [int(number) if algorithm == "forest" else np.nan for algorithm, number in named]
    parameters = pd.DataFrame({"forest:trees": pd.Series(trees, dtype=object).to_numpy()}, index=index)
    return ConfigurationTable(pd.Series([name for name, _ in named], index=index), parameters, joint=True)


KNOWN = table(list(SETUPS))


def fits(metafeatures: pd.DataFrame, runs: pd.DataFrame | None = None) -> TimedFits:
    """These runs, or those of `timed`."""
    return TimedFits(timed(metafeatures) if runs is None else runs, KNOWN, {"forest:trees": "log"})


@pytest.fixture(scope="module")
def times() -> FitTimes:
    known = qualities()
    return learn_fit_times(fits(known), known)


def test_times_grow_like_on_other_datasets(times: FitTimes) -> None:
    new = qualities(5, seed=1)
    for dataset in new.index:
        expected = timed(new.loc[[dataset]])["seconds"].to_numpy()
        np.testing.assert_allclose(times.seconds(KNOWN, new.loc[dataset]), expected, rtol=0.3)


def test_times_grow_beyond_the_largest_known_dataset(times: FitTimes) -> None:
    large = qualities(1).iloc[0].copy()
    large["NumberOfInstances"] = 1e6
    larger = large.copy()
    larger["NumberOfInstances"] = 2e6
    ratio = times.seconds(KNOWN, larger) / times.seconds(KNOWN, large)
    assert (ratio > 1.7).all()
    assert (ratio < 2.4).all()


def test_a_category_of_many_values_takes_time_where_it_did_on_other_datasets() -> None:
    """Here seconds are proportional to the number of values, of which a fit sees one per row at most."""
    known = qualities()
    known["MaxNominalAttDistinctValues"] = np.exp(np.random.default_rng(1).uniform(1, 5, len(known))).round()
    runs = timed(known)
    runs["seconds"] *= known["MaxNominalAttDistinctValues"].loc[runs["dataset"]].to_numpy()
    learned = learn_fit_times(fits(known, runs), known)
    few, many, all_different = (known.iloc[0].copy() for _ in range(3))
    few["MaxNominalAttDistinctValues"], many["MaxNominalAttDistinctValues"] = 10, 100
    all_different["MaxNominalAttDistinctValues"] = 1e6
    ratio = learned.seconds(KNOWN, many, 100) / learned.seconds(KNOWN, few, 100)
    assert (ratio > 6).all()
    assert (ratio < 12).all()
    np.testing.assert_allclose(learned.seconds(KNOWN, all_different, 100), learned.seconds(KNOWN, many, 100))


def test_an_unknown_configuration_takes_as_long_as_similar_ones_of_its_algorithm(times: FitTimes) -> None:
    asked = table([f"forest/{trees}" for trees in (10, 11, 32, 95, 100)])
    seconds = times.seconds(asked, qualities(1).iloc[0])
    assert (np.diff(seconds) > 0).all()
    assert seconds[2] == pytest.approx(np.sqrt(seconds[0] * seconds[-1]), rel=0.1)
    unlike = table(["forest/1000000"])
    assert times.seconds(unlike, qualities(1).iloc[0]) == pytest.approx(seconds[2], rel=0.1)


def test_the_time_of_a_new_configuration_depends_on_its_hyperparameters_not_its_key(
    times: FitTimes,
) -> None:
    renamed = ConfigurationTable(
        KNOWN.algorithms.set_axis([0, 1, 2]), KNOWN.parameters.set_axis([0, 1, 2]), joint=True
    )
    new = qualities(1, seed=1).iloc[0]
    np.testing.assert_allclose(times.seconds(renamed, new), times.seconds(KNOWN, new), rtol=0.1)


def test_there_is_no_time_for_an_unknown_algorithm(times: FitTimes) -> None:
    assert np.isnan(times.seconds(table(["svm/1"]), qualities(1).iloc[0])).all()


def test_runs_on_some_of_the_rows_count_with_their_training_size() -> None:
    """Fits on 500 rows each say nothing about the size of the dataset."""
    known = qualities()
    on_some = learn_fit_times(fits(known, pd.concat([timed(known, 500.0), timed(known, 2000.0)])), known)
    new = qualities(1, seed=2).iloc[0].copy()
    expected = timed(new.to_frame().T, 1000.0)["seconds"].to_numpy()
    np.testing.assert_allclose(on_some.seconds(KNOWN, new, 1000), expected, rtol=0.3)


def test_the_stated_factor_covers_four_of_five_fits() -> None:
    """Each dataset is up to four times as fast or slow as predicted by its size."""
    known = qualities(200)
    runs = timed(known)
    off = np.exp(np.random.default_rng(3).uniform(-np.log(4), np.log(4), len(known)))
    runs["seconds"] *= off[pd.Index(known.index).get_indexer(runs["dataset"])]
    assert learn_fit_times(fits(known, runs), known).factor == pytest.approx(4**0.8, rel=0.15)


def test_fits_stopped_by_a_time_limit_count_as_longer() -> None:
    """If long fits are stopped, the finished ones look as if times did not grow."""
    known = qualities(200)
    runs = timed(known)
    off = np.exp(np.random.default_rng(4).normal(0, 1, len(runs)))
    runs["seconds"] *= off
    limit = 300.0
    runs["stopped"] = runs["seconds"] > limit
    runs["seconds"] = runs["seconds"].clip(upper=limit)
    new = qualities(20, seed=5)
    truth = timed(new)["seconds"].to_numpy().reshape(len(new), -1)

    def shortfall(runs: pd.DataFrame) -> float:
        """The share by which predicted times of long fits are too short."""
        times = learn_fit_times(fits(known, runs), known)
        seconds = np.array([times.seconds(KNOWN, new.loc[dataset]) for dataset in new.index])
        return float(np.log(truth / seconds)[truth > limit].mean())

    assert abs(shortfall(runs)) < 0.2 < 0.6 < shortfall(runs[~runs["stopped"]])


def test_without_timed_runs_there_is_one_clear_line() -> None:
    known = qualities()
    with pytest.raises(TooFewRuns, match="no running times of fits"):
        learn_fit_times(fits(known, timed(known).iloc[:0]), known)


def test_the_starter_knows_that_one_tree_is_quicker_than_many() -> None:
    starter = Warehouse.open(None)
    configurations = starter.run_table(None, "predictive_accuracy").configurations
    new = starter.metafeatures().median()
    seconds = pd.Series(trained_fit_times(starter).seconds(configurations, new))
    by_algorithm = seconds.groupby(configurations.algorithms.to_numpy()).median()
    assert by_algorithm["decision_tree"] < by_algorithm["lightgbm"] < by_algorithm["adaboost"]
