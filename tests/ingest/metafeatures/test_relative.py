"""Relative landmarkers: which of two settings does better, where that is known beforehand."""

import numpy as np
import pandas as pd

from tests.ingest.metafeatures.small_tables import computed


def test_relative_landmarkers_point_at_the_better_setting() -> None:
    """The class is the sign of a product: no line, and no single split, tells it; scale hides it."""
    random = np.random.default_rng(0)
    x, y = random.uniform(-1, 1, (2, 400))
    frame = pd.DataFrame({"x": x, "y": y, "noise": 1000 * random.normal(size=400)})
    values = computed(frame.assign(**{"class": np.where(x * y > 0, "same", "other")}), "relative").values
    assert values["SVMLinearAgainstRBF"] < -0.1
    assert values["BoostingDepth1Against6"] < -0.1
    assert values["KNNScaledAgainstUnscaled"] > 0.1
    assert values["ForestLeaf1Against20"] > 0


def test_settings_that_are_always_right_gain_nothing_over_each_other() -> None:
    frame = pd.DataFrame({"tells": list("uv") * 100, "class": list("ab") * 100})
    assert set(computed(frame, "relative").values.values()) == {0.0}


def test_where_labels_are_noisy_what_averages_over_rows_is_better() -> None:
    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, 400)
    label = (x > 0) ^ (random.random(400) < 0.3)
    frame = pd.DataFrame({"x": x, "class": np.where(label, "a", "b")})
    values = computed(frame, "relative").values
    assert values["KNN1Against15"] < -0.05
    assert values["ForestLeaf1Against20"] < -0.05


def test_a_telling_attribute_among_noise_is_found_by_looking_at_many() -> None:
    """Noise in 15 dimensions also puts all rows too far apart for a kernel that is ten times narrower."""
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 16))
    frame = pd.DataFrame(X).add_prefix("x").assign(**{"class": np.where(X[:, 0] > 0, "a", "b")})
    values = computed(frame, "relative").values
    assert values["ForestFewAgainstManyFeatures"] < -0.05
    assert values["SVMGammaLowAgainstHigh"] > 0.05


def test_too_few_rows_of_a_class_leave_nothing_to_compare() -> None:
    """The fold that tests the one row of its class learns from rows of the other class."""
    found = computed(pd.DataFrame({"x": [1.5, 2.5, 3.5, 4.5], "class": list("aaab")}), "relative")
    assert set(found.reasons.values()) == {"a fold has rows of one class only"}
    assert found.reasons.keys() == found.values.keys()
