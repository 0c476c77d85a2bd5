"""Tables of configurations for tests."""

import pandas as pd

from warehouse.configurations.table import ConfigurationTable


def flow_table(parameters: pd.DataFrame, algorithm: str = "toy") -> ConfigurationTable:
    """Configurations of one flow with these values of hyperparameters."""
    return ConfigurationTable(pd.Series(algorithm, index=parameters.index), parameters, joint=False)


def joint_table(parameters: pd.DataFrame, algorithms: list[str]) -> ConfigurationTable:
    """Configurations of several flows; the columns have joint names."""
    return ConfigurationTable(pd.Series(algorithms, index=parameters.index), parameters, joint=True)
