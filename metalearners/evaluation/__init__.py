"""Evaluation of learners: accuracy, importance of inputs, and significance of differences.

`kendall_tau`, `normalized_regret`, `interval`: measures of a ranking, and a mean's confidence interval.
`compare_evaluations`: significance of the differences between learners.
`algorithm_summary`, `best_algorithms`: which algorithms win on the datasets of runs.
`setting_effects`, `effects_by`: effect of a hyperparameter's value on the error, by groups of datasets.
`importances`: importance of meta-features and hyperparameters to a learner of boosted trees.
`Design`: configurations for a functional analysis of variance of hyperparameters.
`LatentSpace`: configurations and datasets in the latent space of the learner `pmf`.
`PALETTE`: colours that colour-blind readers can tell apart.
"""

from typing import TYPE_CHECKING

from warehouse.support.exports import exported

if TYPE_CHECKING:
    from metalearners.evaluation.comparison import compare_evaluations as compare_evaluations
    from metalearners.evaluation.configurations import algorithm_summary as algorithm_summary
    from metalearners.evaluation.configurations import best_algorithms as best_algorithms
    from metalearners.evaluation.configurations import effects_by as effects_by
    from metalearners.evaluation.configurations import setting_effects as setting_effects
    from metalearners.evaluation.figures import PALETTE as PALETTE
    from metalearners.evaluation.functional_anova import Design as Design
    from metalearners.evaluation.importance import importances as importances
    from metalearners.evaluation.latent_space import LatentSpace as LatentSpace
    from metalearners.evaluation.protocol import interval as interval
    from metalearners.evaluation.protocol import kendall_tau as kendall_tau
    from metalearners.evaluation.protocol import normalized_regret as normalized_regret

__getattr__, __dir__, __all__ = exported(
    __name__,
    {
        "metalearners.evaluation.comparison": ["compare_evaluations"],
        "metalearners.evaluation.configurations": [
            "algorithm_summary",
            "best_algorithms",
            "effects_by",
            "setting_effects",
        ],
        "metalearners.evaluation.figures": ["PALETTE"],
        "metalearners.evaluation.functional_anova": ["Design"],
        "metalearners.evaluation.importance": ["importances"],
        "metalearners.evaluation.latent_space": ["LatentSpace"],
        "metalearners.evaluation.protocol": ["interval", "kendall_tau", "normalized_regret"],
    },
)
