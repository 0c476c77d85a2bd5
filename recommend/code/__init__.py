"""Configurations as plain Python: scripts that need pandas, scikit-learn and a booster's library alone."""

from recommend.code.script import Origin, ensemble_script, script

__all__ = ["Origin", "ensemble_script", "script"]
