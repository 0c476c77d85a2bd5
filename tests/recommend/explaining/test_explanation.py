"""Explanations of a recommendation: parts that add up, and sentences about the data used."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.reading.datasets import load_dataset
from metalearners.learners.contributions import shapley_values
from metalearners.values_for_use import values_for_use
from recommend.explaining.metafeature_names import shown, title, without_target
from recommend.recommendation import Recommendation
from recommend.recommender import recommend
from recommend.reporting.sentences import sentences
from tests.recommend.conftest import numbers
from warehouse.store import STARTER, Warehouse

SCHEMA = Path("recommend/seeds.schema.json")


@pytest.fixture(scope="module")
def explained() -> Recommendation:
    """A recommendation from the starter for a dataset with two numbers."""
    return recommend(
        load_dataset(numbers(800, seed=11)), warehouse=Warehouse.open(STARTER), top=4, explain=True
    )


def test_the_parts_of_datasets_traits_and_hyperparameters_add_up(explained: Recommendation) -> None:
    assert explained.explanation is not None
    for item, reasons in zip(explained.configurations, explained.explanation.configurations, strict=True):
        assert reasons.trials == 0
        for parts in (reasons.datasets, reasons.traits, reasons.hyperparameters):
            if parts is not None:
                assert parts.total == pytest.approx(item.predicted, abs=1e-9)
        assert len(reasons.datasets.parts) == explained.model.datasets


def test_trials_are_a_separate_part(small_world: Path) -> None:
    result = recommend(
        load_dataset(numbers(800, seed=6)), warehouse=Warehouse.open(small_world), explain=True
    )
    assert result.trials == 16
    assert result.explanation is not None
    for item, reasons in zip(result.configurations, result.explanation.configurations, strict=True):
        assert reasons.datasets.total + reasons.trials == pytest.approx(item.predicted, abs=1e-9)
        assert reasons.traits.total + reasons.trials == pytest.approx(item.predicted, abs=1e-9)


def test_the_document_follows_the_schema(explained: Recommendation) -> None:
    jsonschema.validate(explained.document(), json.loads(SCHEMA.read_text()))


def test_similar_datasets_count_most(small_world: Path) -> None:
    """Trees are good on large datasets, which are similar to a large one."""
    result = recommend(
        load_dataset(numbers(900, seed=50)), warehouse=Warehouse.open(small_world), explain=True
    )
    assert result.explanation is not None
    heaviest = result.explanation.known[0]
    assert heaviest.dataset in {"world600", "world700", "world800", "world1000"}
    assert (heaviest.flow, heaviest.value, heaviest.runs) == ("decision_tree", 0.9, 16)
    assert heaviest.openml is None


def test_the_sentences_name_what_counts(explained: Recommendation) -> None:
    assert explained.explanation is not None
    text = "\n".join(sentences(explained))
    assert f"{explained.model.runs:,} runs on {explained.model.datasets:,} other datasets" in text
    assert explained.explanation.known[0].dataset in text
    assert "on any dataset" in text
    assert "nan" not in text


def test_no_trait_makes_datasets_both_similar_and_different(explained: Recommendation) -> None:
    assert explained.explanation is not None
    assert any(known.alike for known in explained.explanation.known)
    for known in explained.explanation.known:
        assert not {trait.name for trait in known.alike} & {trait.name for trait in known.unlike}
        shares = [trait.share for trait in known.alike]
        assert all(share <= min(trait.share for trait in known.unlike) for share in shares)


def test_the_target_is_not_counted_in_the_traits() -> None:
    """9 of 10 columns are features, 6 of them numeric, and there are 1,000 rows."""
    counted = pd.DataFrame(
        {"attributes": [np.log(10)], "numeric": [0.6], "rows per attribute": [np.log(100)], "classes": [0.7]}
    )
    row = without_target(counted).iloc[0]
    assert shown("attributes", row["attributes"]) == "9"
    assert row["numeric"] == pytest.approx(6 / 9)
    assert np.exp(row["rows per attribute"]) == pytest.approx(1000 / 9)
    assert row["classes"] == 0.7


def test_a_learner_without_weights_says_so(small_world: Path, csv: Path) -> None:
    result = recommend(
        load_dataset(str(csv)),
        warehouse=Warehouse.open(small_world),
        metalearner="average-rank",
        explain=True,
    )
    assert result.nearest == []
    assert sentences(result)[1] == "The learner average-rank does not weight datasets."


def test_shapley_values_of_the_glove_game() -> None:
    """One right glove makes a pair with either of two left ones; it completes the pair in 4 of 6 orders."""
    parts = shapley_values(lambda s: np.array([float(2 in s and bool(s & {0, 1}))]), 3)
    assert parts[:, 0] == pytest.approx([1 / 6, 1 / 6, 4 / 6])


@given(st.lists(st.floats(-10, 10), min_size=8, max_size=8))
def test_shapley_values_add_up(values: list[float]) -> None:
    def value(coalition: frozenset[int]) -> np.ndarray:
        return np.array([values[sum(1 << player for player in coalition)]])

    assert shapley_values(value, 3).sum() == pytest.approx(values[7] - values[0], abs=1e-9)


@pytest.mark.parametrize(
    ("name", "value", "words", "text"),
    [
        ("rows", np.log(1000), "rows", "1,000"),
        ("rows of the smallest class", np.log1p(3), "rows of the smallest class", "3"),
        ("largest class", 66.4, "share of the largest class", "66 %"),
        ("NaiveBayesErrRate", 0.42, "errors of naive Bayes", "42 %"),
        (
            "kNN1N less J48.0001.",
            -0.05,
            "errors of the nearest neighbour less those of a pruned tree",
            "-5 %",
        ),
    ],
)
def test_traits_in_words_and_units(name: str, value: float, words: str, text: str) -> None:
    assert (title(name), shown(name, value)) == (words, text)


def test_complements_were_better_than_the_first_where_stated(
    explained: Recommendation,
) -> None:
    runs = values_for_use(Warehouse.open(STARTER).run_table(None, explained.measure))
    names = dict(Warehouse.open(STARTER).sql("SELECT name, dataset FROM datasets").itertuples(index=False))
    table = runs.runs.assign(configuration=pd.Series(dtype=object))
    assert explained.configurations[0].beats_first is None
    for item in explained.configurations[1:]:
        assert item.beats_first is None or item.beats_first <= 0.5
        for place in item.places:
            there = table[table["dataset"] == names[place.dataset]]["value"]
            assert len(there) == place.of
            assert (there > place.value).sum() == place.place - 1
            assert place.place <= place.of / 4
