"""Relative landmarkers find the better of two settings in tables where it is known."""

import numpy as np
import pandas as pd

from tests.ingest.metafeatures.small_tables import computed


def test_relative_landmarkers_point_at_the_better_setting() -> None:
    """The class is the sign of a product, which no line or single split predicts; scale hides it."""
    random = np.random.default_rng(0)
    x, y = random.uniform(-1, 1, (2, 400))
    frame = pd.DataFrame({"x": x, "y": y, "noise": 1000 * random.normal(size=400)})
    values = computed(frame.assign(**{"class": np.where(x * y > 0, "same", "other")}), "relative").values
    assert values["SVMLinearAgainstRBF"] < -0.1
    assert values["BoostingDepth1Against6"] < -0.1
    assert values["KNNScaledAgainstUnscaled"] > 0.1
    assert values["ForestLeaf1Against20"] > 0


def test_two_perfect_settings_have_no_gain_over_each_other() -> None:
    frame = pd.DataFrame({"tells": list("uv") * 100, "class": list("ab") * 100})
    assert set(computed(frame, "relative").values.values()) == {0.0}


def test_averaging_over_rows_is_better_with_noisy_labels() -> None:
    random = np.random.default_rng(0)
    x = random.uniform(-1, 1, 400)
    label = (x > 0) ^ (random.random(400) < 0.3)
    frame = pd.DataFrame({"x": x, "class": np.where(label, "a", "b")})
    values = computed(frame, "relative").values
    assert values["KNN1Against15"] < -0.05
    assert values["ForestLeaf1Against20"] < -0.05


def test_one_informative_attribute_among_noise_needs_many_features_per_split() -> None:
    """Noise in 15 dimensions also makes all rows too distant for a kernel that is ten times narrower."""
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 16))
    frame = pd.DataFrame(X).add_prefix("x").assign(**{"class": np.where(X[:, 0] > 0, "a", "b")})
    values = computed(frame, "relative").values
    assert values["ForestFewAgainstManyFeatures"] < -0.05
    assert values["SVMGammaLowAgainstHigh"] > 0.05


def test_too_few_rows_of_a_class_give_no_comparison() -> None:
    """The fold that tests the only row of its class trains on the other class alone."""
    found = computed(pd.DataFrame({"x": [1.5, 2.5, 3.5, 4.5], "class": list("aaab")}), "relative")
    assert set(found.reasons.values()) == {"a fold has rows of one class only"}
    assert found.reasons.keys() == found.values.keys()
