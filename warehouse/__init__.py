"""Runs, configurations, datasets and meta-features in versioned tables.

    `Warehouse`: open, query with SQL, write, verify and export a warehouse.
    `STARTER`: directory of the warehouse that comes with Headstart.
    `Configuration`: an algorithm with the values of its hyperparameters.
    `CLASSIFICATION`, `REGRESSION`: the task types.
    `BadInput`, `Failed`: errors that the caller can fix, and those that the caller can't.

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
    from warehouse.store import STARTER as STARTER
    from warehouse.store import Warehouse as Warehouse
    from warehouse.support.errors import BadInput as BadInput
    from warehouse.support.errors import Failed as Failed
    from warehouse.vocabulary.configuration import Configuration as Configuration
    from warehouse.vocabulary.task_types import CLASSIFICATION as CLASSIFICATION
    from warehouse.vocabulary.task_types import REGRESSION as REGRESSION

__getattr__, __dir__, __all__ = exported(
    __name__,
    {
        "warehouse.store": ["STARTER", "Warehouse"],
        "warehouse.support.errors": ["BadInput", "Failed"],
        "warehouse.vocabulary.configuration": ["Configuration"],
        "warehouse.vocabulary.task_types": ["CLASSIFICATION", "REGRESSION"],
    },
)
