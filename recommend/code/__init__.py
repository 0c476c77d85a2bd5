"""Configurations as Python scripts that need only pandas, scikit-learn and a booster's library."""

from recommend.code.script import Origin, ensemble_script, model_script, script

__all__ = ["Origin", "ensemble_script", "model_script", "script"]
