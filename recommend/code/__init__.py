"""Configurations as Python scripts that need only pandas, scikit-learn and a booster's library."""

from recommend.code.script import Origin, script

__all__ = ["Origin", "script"]
