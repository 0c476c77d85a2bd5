"""Datasets, flows, meta-features, and runs from OpenML, from files and of our own.

    `load_dataset`: read a file, `openml:ID` or a data frame as a `Dataset`.
    `Dataset`: features with their roles, and the target.
    `compute_metafeatures`: describe a dataset by numbers.
    `FLOWS`, `flows_of`, `get_flow`: the algorithms that Headstart builds, with their search spaces.
    `setup_of`: key of a configuration in the warehouse.
    `read_plan`, `run_experiments`: which configurations to run on which datasets, and running them.

Example:
    >>> from ingest import compute_metafeatures, load_dataset
    >>> dataset = load_dataset("recommend/examples/subscribers.csv")
    >>> dataset.target.name, dataset.features.shape
    ('cancelled', (1000, 9))
    >>> compute_metafeatures(dataset, ["NumberOfInstances", "NumberOfClasses"]).values
    {'NumberOfInstances': 1000.0, 'NumberOfClasses': 2.0}
"""

from typing import TYPE_CHECKING

from warehouse.support.exports import exported

if TYPE_CHECKING:
    from ingest.flows import FLOWS, flows_of, get_flow
    from ingest.keys import setup_of
    from ingest.metafeatures import compute_metafeatures
    from ingest.reading.datasets import Dataset, load_dataset
    from ingest.running.experiments import run_experiments
    from ingest.running.plan import read_plan

__all__ = [
    "FLOWS",
    "Dataset",
    "compute_metafeatures",
    "flows_of",
    "get_flow",
    "load_dataset",
    "read_plan",
    "run_experiments",
    "setup_of",
]

__getattr__, __dir__ = exported(
    __name__,
    {
        "Dataset": "ingest.reading.datasets",
        "FLOWS": "ingest.flows",
        "compute_metafeatures": "ingest.metafeatures",
        "flows_of": "ingest.flows",
        "get_flow": "ingest.flows",
        "load_dataset": "ingest.reading.datasets",
        "read_plan": "ingest.running.plan",
        "run_experiments": "ingest.running.experiments",
        "setup_of": "ingest.keys",
    },
)
