"""Datasets, flows, meta-features, and runs from OpenML, from files and from own experiments.

    `load_dataset`: read a file, `openml:ID` or a data frame as a `Dataset`.
    `Dataset`: features with their roles, and the target.
    `compute_metafeatures`: describe a dataset by numbers.
    `FLOWS`, `flows_of`, `get_flow`: the algorithms that Headstart builds, with their search spaces.
    `setup_of`: key of a configuration in the warehouse.
    `read_plan`, `run_experiments`: choose configurations and datasets, and run them.

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
    from ingest.flows import FLOWS as FLOWS
    from ingest.flows import flows_of as flows_of
    from ingest.flows import get_flow as get_flow
    from ingest.keys import setup_of as setup_of
    from ingest.metafeatures import compute_metafeatures as compute_metafeatures
    from ingest.reading.datasets import Dataset as Dataset
    from ingest.reading.datasets import load_dataset as load_dataset
    from ingest.running.experiments import run_experiments as run_experiments
    from ingest.running.plan import read_plan as read_plan

__getattr__, __dir__, __all__ = exported(
    __name__,
    {
        "ingest.flows": ["FLOWS", "flows_of", "get_flow"],
        "ingest.keys": ["setup_of"],
        "ingest.metafeatures": ["compute_metafeatures"],
        "ingest.reading.datasets": ["Dataset", "load_dataset"],
        "ingest.running.experiments": ["run_experiments"],
        "ingest.running.plan": ["read_plan"],
    },
)
