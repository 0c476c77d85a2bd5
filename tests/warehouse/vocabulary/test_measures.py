"""Names and directions of measures."""

import pytest

from warehouse import Warehouse
from warehouse.support.errors import BadInput
from warehouse.vocabulary.measures import MEASURES, canonical_measure, known_name, larger_is_better

ALIASES = {
    "predictive_accuracy": (
        "acc",
        "accuracy",
        "Accuracy",
        "predictive-accuracy",
        "Predictive.Accuracy",
        "acc.test.mean",
    ),
    "balanced_accuracy": ("balanced_acc", "bacc", "Balanced Accuracy"),
    "area_under_roc_curve": (
        "auc",
        "AUC",
        "roc_auc",
        "ROC-AUC",
        "roc_auc_ovr",
        "area under ROC curve",
        "rocAuc",
        "classif.auc",
        "test_roc_auc",
    ),
    "f_measure": ("f1", "F1", "f1_weighted", "f-measure"),
    "f1_macro": ("f1_macro", "macro_f1", "Macro F1"),
    "log_loss": ("logloss", "log-loss", "neg_log_loss", "cross_entropy"),
    "brier_score": ("brier", "brier_loss", "Brier score"),
    "kappa": ("cohen_kappa", "Cohen kappa"),
    "matthews_correlation_coefficient": ("mcc", "MCC"),
    "mean_recall": ("mean_recall", "mean recall"),  # a measure of OpenML's, stored under this name
    "wall_clock_time_millis": ("time",),
    "fit_seconds": ("fit_time", " fit_seconds "),
    "root_mean_squared_error": ("RMSE",),
}
SMALLER_IS_BETTER = (
    "log_loss", "brier_score", "fit_seconds", "predict_seconds_per_1000_rows", "ram_hours",
    "mean_class_complexity", "class_complexity", "prior_entropy", "mean_absolute_error",
    "root_relative_squared_error", "average_cost", "unclassified_instance_count",
    "usercpu_time_millis_testing", "wall_clock_time_millis", "build_memory", "run_virtual_memory",
    "webb_bias", "kohavi_wolpert_variance",
)  # fmt: skip
LARGER_IS_BETTER = (
    "predictive_accuracy", "balanced_accuracy", "normalized_accuracy", "area_under_roc_curve", "f_measure",
    "f1_macro", "kappa", "precision", "mean_weighted_recall", "matthews_correlation_coefficient",
    "kb_relative_information_score", "mean_class_complexity_gain", "class_complexity_gain",
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "typed"), [(name, typed) for name, all_ in ALIASES.items() for typed in all_]
)
def test_short_names_are_accepted_in_any_case(name: str, typed: str) -> None:
    assert canonical_measure(typed) == name


@pytest.mark.parametrize("name", SMALLER_IS_BETTER)
def test_smaller_is_better_for_losses_and_costs(name: str) -> None:
    assert not larger_is_better(name)


@pytest.mark.parametrize("name", LARGER_IS_BETTER)
def test_larger_is_better_for_scores(name: str) -> None:
    assert larger_is_better(name)


def test_no_two_measures_share_a_name() -> None:
    named = [(name, own.name) for own in MEASURES.values() for name in (own.name, *own.aliases)]
    assert {name: known_name(name) for name, _ in named} == dict(named)
    assert len(dict(named)) == len(named)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("beauty", r"^unknown measure 'beauty'; known are predictive_accuracy, .*log_loss.*OpenML$"),
        ("acuracy", r"^unknown measure 'acuracy', perhaps predictive_accuracy; known are .*area_under"),
        ("", r"^unknown measure ''; known are"),
    ],
)
def test_an_unknown_name_is_refused_with_the_known_ones_in_one_line(typed: str, message: str) -> None:
    with pytest.raises(BadInput, match=message) as refused:
        canonical_measure(typed)
    assert "\n" not in str(refused.value)


def test_a_stored_name_that_is_an_alias_has_no_direction() -> None:
    with pytest.raises(BadInput, match="unknown measure 'neg_log_loss', perhaps log_loss"):
        larger_is_better("neg_log_loss")


def test_values_of_the_starter_are_in_the_range_of_their_measure() -> None:
    extremes = Warehouse.open(None).sql(
        "SELECT measure, min(value) AS low, max(value) AS high FROM evaluations GROUP BY measure"
    )
    assert len(extremes) >= 10
    for measure, low, high in extremes.itertuples(index=False):
        assert MEASURES[measure].low <= low <= high <= MEASURES[measure].high


def test_the_link_depends_on_the_declared_range_and_direction() -> None:
    links = {
        name: MEASURES[name].link for name in ("predictive_accuracy", "log_loss", "kappa", "brier_score")
    }
    assert links == {
        "predictive_accuracy": "logit",
        "log_loss": "cost",
        "kappa": "identity",
        "brier_score": "cost",
    }
