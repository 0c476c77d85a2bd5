"""Tables of configurations, and of their runs, for tests."""

from collections.abc import Sequence

import pandas as pd

from warehouse.questions.queries import RunTable
from warehouse.vocabulary.configuration import Configuration
from warehouse.vocabulary.table import ConfigurationTable, joint_name


def flow_table(parameters: pd.DataFrame, algorithm: str = "toy") -> ConfigurationTable:
    """Configurations of one flow with these values of hyperparameters."""
    return ConfigurationTable(pd.Series(algorithm, index=parameters.index), parameters, joint=False)


def runs_of_flow(runs: pd.DataFrame, parameters: pd.DataFrame, algorithm: str = "toy") -> RunTable:
    """Runs of one flow by their accuracy.

    Args:
        runs: dataset, setup and value; each dataset is its own family.
        parameters: values of hyperparameters by setup.
    """
    own = {"task": runs["dataset"], "family": runs["dataset"], "run": runs.index.astype(str)}
    unstated = pd.array([pd.NA] * len(runs), dtype="Int64")
    runs = runs.assign(**own, flow=algorithm, algorithm=algorithm, train_rows=unstated)
    table = flow_table(parameters.astype(object), algorithm)
    return RunTable(algorithm, "predictive_accuracy", runs, table, larger=runs.iloc[:0])


def joint_table(parameters: pd.DataFrame, algorithms: list[str]) -> ConfigurationTable:
    """Configurations of several flows; the columns have joint names."""
    return ConfigurationTable(pd.Series(algorithms, index=parameters.index), parameters, joint=True)


def table_of(configurations: Sequence[Configuration], *, joint: bool) -> ConfigurationTable:
    """A table with these rows; a table that is not joint has the hyperparameters of one flow."""
    rows = [
        {joint_name(one.algorithm, name) if joint else name: value for name, value in one.values.items()}
        for one in configurations
    ]
    index = pd.RangeIndex(len(rows))
    return ConfigurationTable(
        pd.Series([one.algorithm for one in configurations], index=index, dtype=str),
        pd.DataFrame(rows, index=index, dtype=object),
        joint,
    )
