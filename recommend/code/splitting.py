"""Code of a script's cross-validation: random folds, or folds by the dataset's split column."""

from __future__ import annotations

from dataclasses import dataclass

from ingest.reading.column_types.roles import NOT_LEARNED_FROM, Role
from ingest.reading.datasets import Dataset
from ingest.reading.formats.encoding import quoted
from ingest.reading.split_by import Kind
from ingest.reading.target.strata import strata_of
from recommend.code.targets import target_code
from warehouse.support.errors import UnusableDataset

MOST_FOLDS = 5


@dataclass(frozen=True)
class Splitting:
    """The folds of a script's cross-validation."""

    kind: Kind | None
    folds: int
    fewest: int
    """Rows of the smallest class that is tested; 0 if some fold tests no row of a class."""
    strata: str
    """Source of the strata of the folds."""
    column: str = ""
    """Source of the name of the column to split by."""
    has_single_rows: bool = False
    """Whether classes with one row are left out."""

    def function(self) -> str:
        """Source of the function `cross_validate`."""
        argument = {None: "", "time": ", times: np.ndarray", "group": ", groups: pd.Series"}[self.kind]
        return (
            f"def cross_validate(X: pd.DataFrame, y: np.ndarray{argument}) -> list[float]:\n"
            f'    """The score on each fold of a cross-validation{_SAYS[self.kind]}."""\n'
            "    score = get_scorer(SCORER)\n"
            f"{_WITHOUT_SINGLE_ROWS if self.has_single_rows else ''}"
            f"{_FOLDS[self.kind].replace('STRATA', self.strata)}"
            "    return [score(fit(X.iloc[i], y[i]), X.iloc[j], y[j]) for i, j in folds]\n"
        )

    @property
    def call(self) -> str:
        """Source of its call."""
        more = {None: "", "time": ", X[TIME].to_numpy()", "group": ", table[known][GROUP]"}[self.kind]
        return f"cross_validate(X, y{more})"

    @property
    def constants(self) -> dict[str, str]:
        """Name -> value."""
        return {} if self.kind is None else {self.kind.upper(): self.column}


_SAYS = {None: "", "time": ", on later rows", "group": ", on other groups"}
_WITHOUT_SINGLE_ROWS = """\
    # A class with one row can't be both learned and tested.
    several = pd.Series(y).duplicated(keep=False).to_numpy()
    X, y = X[several], np.unique(y[several], return_inverse=True)[1]
"""
_FOLDS = {  # STRATA is replaced by the strata
    None: "    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(X, STRATA)\n",
    "time": (
        '    order = np.argsort(times, kind="stable")\n'
        "    folds = [(order[i], order[j]) for i, j in TimeSeriesSplit(FOLDS).split(order)]\n"
        "    folds = [(i[times[i] < times[j].min()], j) for i, j in folds]\n"
    ),
    "group": (
        "    folds = StratifiedGroupKFold(FOLDS, shuffle=True, random_state=SEED)\n"
        "    folds = folds.split(X, STRATA, groups)\n"
    ),
}


def find_splitting(dataset: Dataset) -> Splitting:
    """The folds for a dataset: the usual number, or as many as its classes, times and groups allow.

    Raises:
        BadInput: rows can't be split by the dataset's column, or it is an ignored time.
    """
    code = target_code(dataset)
    sizes = code.sizes(dataset)
    fewest = int(sizes[sizes > 1].min(initial=len(dataset.target)))
    if dataset.split is None:
        return Splitting(None, min(fewest, MOST_FOLDS), fewest, code.strata, has_single_rows=1 in sizes)
    # They import modules that some systems lack, and only scripts with a split need them.
    from ingest.running.resampling import Resampling
    from ingest.running.splitting import feasible_folds, splits_of

    column, role = dataset.split.column, dataset.roles[dataset.split.column]
    if dataset.split.kind == "time":
        if role in NOT_LEARNED_FROM:
            raise UnusableDataset(f"no script can split by {quoted(column)}, which is an ignored column")
        column = f"{column}: days" if role is Role.date else column
    resampling = Resampling(MOST_FOLDS, by=dataset.split.kind)
    folds = max(feasible_folds(dataset, resampling), 2)
    strata = strata_of(dataset.target)
    tested = splits_of(dataset, Resampling(folds, by=dataset.split.kind), seed=0)
    lacks = any(len(set(strata[test].tolist())) < strata.max() + 1 for _, test in tested)
    return Splitting(dataset.split.kind, folds, 0 if lacks else min(sizes), code.strata, column)
