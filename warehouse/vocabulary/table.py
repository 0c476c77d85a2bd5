"""Tables of configurations: one column per hyperparameter, for learners."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np
import pandas as pd

from warehouse.support.arrays import Selection
from warehouse.vocabulary.configuration import Configuration

ALGORITHM = "algorithm"
"""Hyperparameter of a joint table or space that selects the algorithm."""
SEPARATOR = ":"
"""Separator of an algorithm and its hyperparameter."""


def joint_name(algorithm: str, parameter: str) -> str:
    """The name of an algorithm's hyperparameter in a joint table or space."""
    return f"{algorithm}{SEPARATOR}{parameter}"


def split_name(name: str) -> tuple[str, str]:
    """Algorithm and hyperparameter of a name; the algorithm is empty if the name is not joint."""
    algorithm, _, parameter = name.rpartition(SEPARATOR)
    return algorithm, parameter


@dataclass(frozen=True, eq=False)
class ConfigurationTable:
    """n configurations, one per row, of one flow or of several."""

    algorithms: pd.Series
    """(n,) canonical names, by setup."""
    parameters: pd.DataFrame
    """(n, any) values by setup and hyperparameter, as Python objects or typed columns; NaN or NA if the
    configuration lacks the hyperparameter."""
    joint: bool
    """Whether hyperparameters have joint names (`joint_name`)."""

    @property
    def setups(self) -> pd.Index:
        """(n,) id of each row: its setup, if it comes from a warehouse."""
        return self.parameters.index

    def __len__(self) -> int:
        return len(self.parameters)

    def take(self, rows: Selection) -> ConfigurationTable:
        """The selected configurations."""
        return ConfigurationTable(self.algorithms.iloc[rows], self.parameters.iloc[rows], self.joint)

    def of_setups(self, setups: Iterable[Any]) -> ConfigurationTable:
        """The configurations of these setups, in this order, possibly repeated.

        Raises:
            KeyError: there is no such setup.
        """
        wanted = pd.Index(setups)
        positions = self.setups.get_indexer(wanted)
        if (positions < 0).any():
            raise KeyError(wanted[positions < 0][0])
        return self.take(positions)

    def followed_by(self, others: ConfigurationTable) -> ConfigurationTable:
        """One table of these configurations followed by the others."""
        return ConfigurationTable(
            pd.concat([self.algorithms, others.algorithms]),
            pd.concat([self.parameters, others.parameters]),
            self.joint,
        )

    @cached_property
    def hyperparameters(self) -> pd.DataFrame:
        """`parameters`; in a joint table also the algorithm.

        A table of one flow omits it, and AdaBoost has a hyperparameter with that name.
        """
        return self.parameters.assign(**{ALGORITHM: self.algorithms}) if self.joint else self.parameters

    def configurations(self) -> list[Configuration]:
        """(n,) the rows, each with its present hyperparameters."""
        found: dict[int, Configuration] = {}
        names = [split_name(name) if self.joint else ("", name) for name in self.parameters.columns]
        objects = self.parameters.to_numpy(dtype=object)
        for algorithm, rows in self.algorithms.groupby(self.algorithms, observed=True).indices.items():
            own = [place for place, (owner, _) in enumerate(names) if not self.joint or owner == algorithm]
            columns = [objects[rows, place].tolist() for place in own]
            values_of_rows = zip(*columns, strict=True) if columns else repeat(())
            for row, values in zip(np.asarray(rows).tolist(), values_of_rows, strict=False):
                named = zip((names[place][1] for place in own), values, strict=True)
                present = {name: value for name, value in named if value is not pd.NA and value == value}
                found[row] = Configuration(str(algorithm), present)
        return [found[row] for row in range(len(self))]
