"""Evaluation measures: definition, range, direction and aliases.

Runs may have other measures, too. They are stored and read like these, but not learned from, as their
direction is unknown.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from math import inf, isfinite
from typing import Any, Literal

from warehouse.support.errors import BadInput

ACCURACY = "predictive_accuracy"
AUC = "area_under_roc_curve"
LOG_LOSS = "log_loss"
NORMALIZED = "normalized_accuracy"
RMSE = "root_mean_squared_error"
MAE = "mean_absolute_error"
R2 = "r2"
RRSE = "root_relative_squared_error"
RAE = "relative_absolute_error"
RMSLE = "root_mean_squared_log_error"
QUANTILES = (0.1, 0.9)
"""Quantiles at which predicted numbers are evaluated."""

LinkName = Literal["logit", "cost", "relative_error", "identity"]
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Measure:
    """An evaluation measure: names, direction, range and definition."""

    name: str
    """OpenML's name, if OpenML has the measure."""
    larger_is_better: bool
    definition: str
    aliases: tuple[str, ...] = ()
    """Other names, in lower case with underscores; other spellings of them also count (`known_name`)."""
    low: float = 0.0
    high: float = 1.0
    """Smallest and largest possible value; infinite if unlimited."""

    @property
    def link(self) -> LinkName:
        """Scale on which differences of good values compare (`metalearners.encoding.links`)."""
        if self.low < 0:
            return "identity"
        if self.name in (RRSE, RAE):
            return "relative_error"
        if not self.larger_is_better:
            return "cost"
        return "logit" if self.high <= 1 else "identity"

    def may_be(self, values: Any) -> Any:
        """Whether a value, or each of an array, is possible, up to rounding at the ends."""
        return (values >= self.low - _ROUNDING) & (values <= self.high + _ROUNDING)

    @property
    def range(self) -> str:
        """The possible values, in words."""
        if isfinite(self.low) and isfinite(self.high):
            return f"{self.low:g} to {self.high:g}"
        if isfinite(self.low):
            return f"{self.low:g} and more"
        return f"up to {self.high:g}" if isfinite(self.high) else "any number"


def _costs(**definitions: str) -> Iterator[Measure]:
    """Measures from 0 on, with smaller values better."""
    return (Measure(name, False, definition, high=inf) for name, definition in definitions.items())


def _gains(**definitions: str) -> Iterator[Measure]:
    """Unlimited measures, with larger values better."""
    return (Measure(name, True, definition, low=-inf, high=inf) for name, definition in definitions.items())


COMMON = (
    Measure(
        ACCURACY, True, "share of the rows whose class is predicted", ("acc", "accuracy", "accuracy_score")
    ),
    Measure(
        "balanced_accuracy",
        True,
        "mean of the classes' recalls, each class counting the same",
        ("bac", "bacc", "balanced_acc", "balanced_accuracy_score", "macro_recall", "recall_macro"),
    ),
    Measure(
        AUC,
        True,
        "areas of one class against the rest, averaged by class size",
        ("auc", "auroc", "roc_auc", "roc_auc_ovr", "roc_auc_ovr_weighted", "roc_auc_score"),
    ),
    Measure(
        "f_measure",
        True,
        "F1 of the classes, averaged by class size",
        ("f1", "f1_score", "f1_weighted", "f_score", "weighted_f1"),
    ),
    Measure("f1_macro", True, "F1 of the classes, each class counting the same", ("macro_f1",)),
    Measure(
        LOG_LOSS,
        False,
        "mean negative natural logarithm of the probability predicted for the true class",
        ("cross_entropy", "logloss", "neg_log_loss"),
        high=inf,
    ),
    Measure(
        "brier_score",
        False,
        "squared differences between probabilities and outcomes, summed over classes, mean over rows:"
        " 0 to 2 (Brier 1950)",
        ("brier", "brier_loss", "brier_score_loss", "neg_brier_score"),
        high=2.0,
    ),
    Measure(
        "kappa",
        True,
        "agreement with the classes beyond chance (Cohen 1960)",
        ("cohen_kappa", "cohens_kappa", "cohen_kappa_score"),
        low=-1.0,
    ),
    Measure(
        "matthews_correlation_coefficient",
        True,
        "correlation of predicted and true classes",
        ("matthews_corrcoef", "mcc"),
        low=-1.0,
    ),
    Measure(
        NORMALIZED,
        True,
        "(accuracy - chance) / (1 - chance): 0 = guessing by the class distribution, 1 = perfect",
        low=-inf,
    ),
    Measure("precision", True, "precisions of the classes, averaged by class size", ("precision_weighted",)),
    Measure("recall", True, "recalls of the classes, averaged by class size", ("recall_weighted",)),
    Measure(
        RMSE,
        False,
        "root of the mean squared difference to the truth (of a class: of its probability to 0 or 1)",
        ("neg_root_mean_squared_error", "rmse"),
        high=inf,
    ),
    Measure(
        MAE,
        False,
        "mean absolute difference to the truth (of a class: of its probability to 0 or 1)",
        ("mae", "neg_mean_absolute_error"),
        high=inf,
    ),
    Measure(
        R2,
        True,
        "share of the variance that is explained, 1 - root_relative_squared_error^2; 0 = as good as the"
        " training rows' mean",
        ("coefficient_of_determination", "r2_score", "r_squared", "rsq"),
        low=-inf,
    ),
    Measure(
        "median_absolute_error",
        False,
        "median of the absolute differences to the truth",
        ("medae", "neg_median_absolute_error"),
        high=inf,
    ),
    Measure(
        RMSLE,
        False,
        "root mean squared error of log(1 + y), where neither truth nor predictions are below 0: predictions"
        " below 0 count as 0, and a target below 0 has none",
        ("neg_root_mean_squared_log_error", "rmsle"),
        high=inf,
    ),
    *(
        Measure(
            f"pinball_loss_{quantile:g}",
            False,
            f"mean of {quantile:g} times the difference to a truth above the prediction, or"
            f" {1 - quantile:g} times that to one below (Koenker and Bassett 1978)",
            (f"mean_pinball_loss_{quantile:g}", f"quantile_loss_{quantile:g}"),
            high=inf,
        )
        for quantile in QUANTILES
    ),
    Measure("fit_seconds", False, "mean seconds of a fit", ("fit_time",), high=inf),
    Measure(
        "predict_seconds_per_1000_rows",
        False,
        "seconds of predicting 1,000 rows",
        ("inference_time", "predict_time"),
        high=inf,
    ),
    Measure(
        "wall_clock_time_millis",
        False,
        "milliseconds of training and testing on all folds",
        ("time", "wall_clock_time", "wall_time"),
        high=inf,
    ),
    Measure(
        "usercpu_time_millis",
        False,
        "milliseconds of CPU time for training and testing on all folds",
        ("cpu_time", "usercpu_time"),
        high=inf,
    ),
)
"""Measures that users ask for."""

OTHERS = (
    # Predicted classes
    Measure("mean_f_measure", True, "F1 of the classes, each class counting the same"),
    Measure("mean_precision", True, "precisions of the classes, each class counting the same"),
    Measure("mean_recall", True, "recalls of the classes, each class counting the same"),
    Measure("mean_weighted_f_measure", True, "F1 of the classes, averaged by class size"),
    Measure("mean_weighted_precision", True, "precisions of the classes, averaged by class size"),
    Measure("mean_weighted_recall", True, "recalls of the classes, averaged by class size"),
    Measure("unweighted_recall", True, "recalls of the classes, each class counting the same"),
    Measure("weighted_recall", True, "recalls of the classes, averaged by class size"),
    Measure("unclassified_instance_count", False, "number of rows for which no class is predicted", high=inf),
    Measure("average_cost", False, "mean cost of a prediction by the task's cost matrix", low=-inf, high=inf),
    Measure("total_cost", False, "cost of all predictions by the task's cost matrix", low=-inf, high=inf),
    # Areas and correlations
    Measure("mean_area_under_roc_curve", True, "areas of the classes, each class counting the same"),
    Measure("mean_weighted_area_under_roc_curve", True, "areas of the classes, averaged by class size"),
    Measure("single_point_area_under_roc_curve", True, "area under the curve through the predicted classes"),
    Measure("c_index", True, "share of the pairs that are predicted in the right order"),
    Measure("correlation_coefficient", True, "correlation of predicted and true numbers", low=-1.0),
    # Errors of predicted numbers or probabilities, relative to those of the training rows' mean or class
    # shares
    Measure(
        RAE,
        False,
        "mean absolute error over that of predicting the training rows' mean (or class shares): a ratio",
        ("rae",),
        high=inf,
    ),
    Measure(
        RRSE,
        False,
        "root mean squared error over that of predicting the training rows' mean (or class shares): a ratio",
        ("rrse",),
        high=inf,
    ),
    # Information in predicted probabilities, in bits
    *_gains(
        kononenko_bratko_information_score="information in all predictions",
        mean_kononenko_bratko_information_score="information in a prediction",
        kb_relative_information_score="information in the predictions over that of the classes",
        class_complexity_gain="bits that the predictions save",
        mean_class_complexity_gain="bits that the predictions save in a row",
    ),
    *_costs(
        class_complexity="bits that the true classes still need, given the predictions",
        mean_class_complexity="bits that a row's class still needs, given its prediction",
    ),
    # Results of predicting the class distribution: the same for every configuration
    *_costs(
        mean_prior_absolute_error="mean absolute error of the training rows' mean, or class shares",
        root_mean_prior_squared_error="root mean squared error of the training rows' mean, or class shares",
        prior_entropy="bits of a row's class, given the class distribution",
        prior_class_complexity="bits of all classes, given the class distribution",
        mean_prior_class_complexity="bits of a row's class, given the class distribution",
    ),
    # Parts of the error: Kohavi and Wolpert 1996, Webb 2000
    Measure("kohavi_wolpert_error", False, "expected error"),
    Measure("kohavi_wolpert_bias_squared", False, "the error's squared bias"),
    Measure("kohavi_wolpert_variance", False, "the error's variance"),
    Measure("kohavi_wolpert_sigma_squared", False, "the error's noise, which no learner avoids"),
    Measure("webb_error", False, "expected error"),
    Measure("webb_bias", False, "the error's bias"),
    Measure("webb_variance", False, "the error's variance"),
    # Costs of computing
    *_costs(
        wall_clock_time_millis_training="milliseconds of training on all folds",
        wall_clock_time_millis_testing="milliseconds of testing on all folds",
        usercpu_time_millis_training="milliseconds of CPU time for training on all folds",
        usercpu_time_millis_testing="milliseconds of CPU time for testing on all folds",
        build_cpu_time="seconds of CPU time for a model of all rows",
        build_memory="bytes of a model of all rows",
        run_cpu_time="seconds of CPU time of the run",
        run_memory="bytes that the run took",
        run_virtual_memory="bytes of virtual memory that the run took",
        ram_hours="gigabytes of memory times hours",
    ),
    Measure("scimark_benchmark", True, "speed of the machine", high=inf),
)
"""OpenML's other measures with a direction."""

MEASURES: Mapping[str, Measure] = {measure.name: measure for measure in (*COMMON, *OTHERS)}
"""All known measures, by name."""

_TITLES = {
    ACCURACY: "accuracy",
    AUC: "AUC",
    "f_measure": "F1",
    "f1_macro": "macro F1",
    "brier_score": "Brier score",
    "matthews_correlation_coefficient": "MCC",
    RMSE: "RMSE",
    MAE: "MAE",
    R2: "R2",
    RMSLE: "RMSLE",
    RRSE: "RRSE",
    RAE: "RAE",
}


def measure_title(measure: str) -> str:
    """A measure's name in text.

    >>> measure_title("predictive_accuracy"), measure_title("log_loss")
    ('accuracy', 'log loss')
    """
    return _TITLES.get(measure, measure.replace("_", " "))


_NAMES = {name: measure.name for measure in MEASURES.values() for name in (measure.name, *measure.aliases)}


def known_name(name: str) -> str | None:
    """The name in `MEASURES` of a measure called `name` by a person or a library; None if unknown.

    Case, punctuation and the words that mlr and scikit-learn add for test rows are ignored.

    >>> {known_name(name) for name in ("ROC-AUC", "rocAuc", "classif.auc", "auc.test.mean", "test_auc")}
    {'area_under_roc_curve'}
    """
    words = _words(name)
    inner = words[2:] if words[:2] == ["mean", "test"] else words[words[:1] in _AROUND :]
    inner = inner[:-2] if inner[-2:] == ["test", "mean"] else inner
    return _SPELLINGS.get("".join(words)) or _SPELLINGS.get("".join(inner))


def canonical_measure(name: str) -> str:
    """A measure's name in the warehouse, found by `known_name`.

    Raises:
        BadInput: unknown measure; the message lists the known ones.
    """
    known = known_name(name)
    if known is None:
        raise _unknown(name)
    return known


def larger_is_better(measure: str) -> bool:
    """Whether larger values of a measure are better.

    Args:
        measure: its name in the warehouse. Aliases are refused: "neg_log_loss" may be a negated loss there.

    Raises:
        BadInput: the measure is not in `MEASURES`.
    """
    if measure not in MEASURES:
        raise _unknown(measure)
    return MEASURES[measure].larger_is_better


def _words(name: str) -> list[str]:
    return re.findall("[a-z0-9]+", name.lower())


_AROUND = (["classif"], ["regr"], ["test"])
_SPELLINGS = {"".join(_words(name)): measure for name, measure in _NAMES.items()}


def _unknown(name: str) -> BadInput:
    close = get_close_matches("_".join(_words(name)), _NAMES, n=1)
    hint = f", perhaps {_NAMES[close[0]]}" if close else ""
    common = ", ".join(measure.name for measure in COMMON)
    return BadInput(f"unknown measure {name!r}{hint}; known are {common}, and others of OpenML")
