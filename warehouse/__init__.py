"""Runs, configurations, datasets and meta-features in versioned tables.

Example:
    >>> from warehouse import Warehouse
    >>> starter = Warehouse.open(None)
    >>> flows = starter.sql("SELECT name FROM flows WHERE algorithm = $algorithm", {"algorithm": "svm"})
    >>> flows["name"].tolist()
    ['RBF support vector machine']
    >>> runs = starter.run_table("svm", "predictive_accuracy")
    >>> sorted(runs.configurations.parameters)[:3]
    ['C', 'coef0', 'gamma']
"""

from typing import TYPE_CHECKING

from warehouse.support.exports import exported

if TYPE_CHECKING:
    from warehouse.store import Warehouse
    from warehouse.support.errors import BadInput, Failed
    from warehouse.vocabulary.configuration import Configuration

__all__ = ["BadInput", "Configuration", "Failed", "Warehouse"]

__getattr__ = exported(
    __name__,
    {
        "BadInput": "warehouse.support.errors",
        "Configuration": "warehouse.vocabulary.configuration",
        "Failed": "warehouse.support.errors",
        "Warehouse": "warehouse.store",
    },
)
