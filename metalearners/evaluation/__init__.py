"""Evaluation of learners: accuracy, importance of inputs, and significance of differences.

`kendall_tau`, `normalized_regret`, `interval`: measures of a ranking, and the mean's interval.
`compare_evaluations`: significance of the differences between learners.
`algorithm_summary`, `best_algorithms`: which algorithms win on the datasets of runs.
`setting_effects`, `effects_by`: what a setting of a hyperparameter changes, by groups of datasets.
`importances`: importance of meta-features and hyperparameters to a learner of boosted trees.
`Design`: configurations by which variance is split among hyperparameters (functional analysis of variance).
`LatentSpace`: configurations and datasets in the space of the learner `pmf`.
`PALETTE`: colours that colour-blind readers tell apart.
"""

from typing import TYPE_CHECKING

from warehouse.support.exports import exported

if TYPE_CHECKING:
    from metalearners.evaluation.comparison import compare_evaluations
    from metalearners.evaluation.configurations import (
        algorithm_summary,
        best_algorithms,
        effects_by,
        setting_effects,
    )
    from metalearners.evaluation.figures import PALETTE
    from metalearners.evaluation.functional_anova import Design
    from metalearners.evaluation.importance import importances
    from metalearners.evaluation.latent_space import LatentSpace
    from metalearners.evaluation.protocol import interval, kendall_tau, normalized_regret

__all__ = [
    "PALETTE",
    "Design",
    "LatentSpace",
    "algorithm_summary",
    "best_algorithms",
    "compare_evaluations",
    "effects_by",
    "importances",
    "interval",
    "kendall_tau",
    "normalized_regret",
    "setting_effects",
]

__getattr__, __dir__ = exported(
    __name__,
    {
        "Design": "metalearners.evaluation.functional_anova",
        "LatentSpace": "metalearners.evaluation.latent_space",
        "PALETTE": "metalearners.evaluation.figures",
        "algorithm_summary": "metalearners.evaluation.configurations",
        "best_algorithms": "metalearners.evaluation.configurations",
        "compare_evaluations": "metalearners.evaluation.comparison",
        "effects_by": "metalearners.evaluation.configurations",
        "importances": "metalearners.evaluation.importance",
        "interval": "metalearners.evaluation.protocol",
        "kendall_tau": "metalearners.evaluation.protocol",
        "normalized_regret": "metalearners.evaluation.protocol",
        "setting_effects": "metalearners.evaluation.configurations",
    },
)
