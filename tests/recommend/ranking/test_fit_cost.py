"""Long fits, and the speed of this machine."""

import numpy as np
import pandas as pd
import pytest

from ingest.reading.datasets import load_dataset
from recommend.ranking.fit_cost import as_fitted, slowness, worthwhile


def test_a_long_fit_needs_a_sufficient_gain() -> None:
    """The limit is ten times the median of 3 s, 30 s; one of the two longer fits has enough gain."""
    seconds = np.array([2.0, 3.0, 3.0, 40.0, 40.0])
    predicted = np.array([0.0, 1.0, 0.5, 1.05, 1.2])
    assert worthwhile(seconds, predicted).tolist() == [0, 1, 2, 4]


def test_a_text_column_counts_as_a_number_for_each_of_its_terms() -> None:
    """The words w0 to w29, in sentences of five, and a gap, which is the word `missing`."""
    sentences = [" ".join(f"w{(7 * row + place) % 30}" for place in range(5)) for row in range(59)]
    frame = pd.DataFrame({"x": np.arange(60.0), "said": [*sentences, None], "class": list("ab") * 30})
    dataset = load_dataset(frame, target="class", roles={"said": "text"})
    sizes = pd.Series({"NumberOfInstances": 60.0, "NumberOfFeatures": 3.0, "NumberOfNumericFeatures": 1.0})
    found = as_fitted(sizes, dataset)
    assert found.to_dict() == {
        "NumberOfInstances": 60,
        "NumberOfFeatures": 3 - 1 + 31,
        "NumberOfNumericFeatures": 1 + 31,
    }
    many = frame.assign(said=[f"v{row} u{row} t{row}" for row in range(60)])
    of_many = as_fitted(sizes, load_dataset(many, target="class", roles={"said": "text"}))
    assert of_many["NumberOfNumericFeatures"] == 101


def test_a_fit_that_takes_twice_as_long_means_half_the_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The speed has steps of sqrt(2), so that two measurements seldom differ."""
    for seconds, slower in [(0.0185, 1.0), (0.0192, 1.0), (0.037, 2.0), (0.0093, 0.5), (0.027, 2**0.5)]:
        ticks = iter(np.arange(100) * seconds)
        monkeypatch.setattr("recommend.ranking.fit_cost.time.process_time", lambda ticks=ticks: next(ticks))
        assert slowness.__wrapped__() == pytest.approx(slower)
