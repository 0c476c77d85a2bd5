"""Functions that are copied into scripts.

They use only scikit-learn, its dependencies and the standard library, and lines of 88 characters. Scripts
define the constants, too, with values for their files.
"""

import gzip
import io
import warnings
from collections.abc import Callable, Collection
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Kernel, Matern, WhiteKernel
from sklearn.pipeline import Pipeline, make_pipeline, make_union
from sklearn.preprocessing import FunctionTransformer

MISSING = ["", "?", "na", "n/a", "nan", "null", "<na>", "n.a.", "\\n", "(null)"]
MISSING += ["#n/a", "#na", "#nv", "#null!", "#div/0!", "#value!", "#ref!", "#name?"]
MISSING += ["#num!", "#wert!", "#bezug!"]
NO_NUMBER = [*MISSING, "none", "nat", "-", "--", "---", ".", "..", "...", "\u2013"]
NO_NUMBER += ["\u2014", "*", "nil", "n.d.", "\u221e", "-\u221e"]
POWERS = {"k": "e3", "K": "e3", "M": "e6", "B": "e9"}
POWERS |= {"bn": "e9", "Mio": "e6", "Mrd": "e9", "Lac": "e5", "Cr": "e7"}
POWERS |= {" bn": "e9", " Mio": "e6", " Mrd": "e9", " Lac": "e5", " Cr": "e7"}
FALSE = ["0", "0.0", "false", "f", "no", "n"]
TRUE = ["1", "1.0", "true", "t", "yes", "y"]
PARTS = ["days", "month", "weekday", "hour"]


def words(cells: pd.Series, missing: Collection[str] = MISSING) -> pd.Series:
    """The cells as stripped text; markers in `missing` become NaN."""
    cells = cells.str.strip()
    return cells.mask(cells.str.lower().isin(missing))


def numbers(cells: pd.Series) -> pd.Series:
    """The cells as numbers; anything else, and infinity, is missing."""
    values = pd.to_numeric(words(cells, NO_NUMBER), errors="coerce").astype(float)
    return values.where(np.isfinite(values))


def undecorated(cells: pd.Series) -> pd.Series:
    """Cells such as "$1,234.50", "12 %", "(3 kg)", "2K" or "<5" as plain numbers.

    All have the most frequent currency or unit, or none.
    """
    parts = (
        cells.str.strip()
        .str.extract(
            r"^[<>\u2264\u2265=\s]*(\(?)([-\u2212]?)((?:[A-Za-z]\.|[^\d.(-])*)"
            r"([-\u2212]?)(\d[\d,'\u2019\s]*\.?\d*|\.\d+)"
            r"([eE][-+]?\d+)?(\s?[^\d\s)-]*)(-*)(\)?)$"
        )
        .fillna("")
    )
    even = parts[4].str.endswith(".")  # "12.-" has no cents
    negative = (parts[[0, 1, 3]] != "").any(axis=1) | (parts[7] != "") & ~even
    digits = parts[4].str.replace(r"[,'\u2019\s]", "", regex=True) + parts[5]
    units = parts[6].str.rstrip(".,")
    digits += units.map(POWERS).fillna("")
    marks = parts[2].str.strip(" +.,") + units.mask(units.isin([*POWERS]), "").str.strip()
    usual = marks[marks != ""].mode()[:1]
    return digits.mask(negative, "-" + digits).where(marks.isin(["", *usual]))


def clock(cells: pd.Series) -> pd.Series:
    """Times such as "8:45", "2:30 PM" or "1:02:10.5" in the unit of their last part.

    "2h 50m" is in seconds, 5'11" in inches.
    """
    cells = cells.str.strip()
    units = cells.str.extract(
        r"(?i)^(?:P?(?:(\d+) ?(?:d|days?)\.?)? ?T?(?:(\d+) ?(?:h|hrs?|hours?)\.?)? ?"
        r"(?:(\d+) ?(?:m|mins?|minutes?|(?<=h\d\d))\.?)? ?"
        r"(?:(\d+(?:[.,]\d+)?) ?(?:s|secs?|seconds?)\.?)?|(\d+)(?:['\u2019\u2032]| ?ft\.?) ?"
        r"(?:(\d|1[01]|\d\.\d+|1[01]\.\d+) ?(?:[\"\u201d\u2033]|''|in\.?)?)?)$"
    )
    units = units.replace({",": "."}, regex=True).astype(float)
    lengths = units.mul([86_400, 3600, 60, 1, 12, 1]).sum(axis=1, min_count=1)
    parts = cells.str.extract(
        r"^(?:(?:(-?\d+) days?,? \+?)?(\d+):)?(\d+):([0-5]\d(?:[.,]\d+)?)"
        r"(?: ?([APap])\.?[Mm]\.?)?$"
    )
    numbers = parts[[0, 1, 2, 3]].replace({",": "."}, regex=True).astype(float)
    half, hours = parts[4].str.upper(), numbers[1].fillna(numbers[2])
    noon = 12.0 * (half == "P") - 12.0 * (half.notna() & (hours == 12))
    values: pd.Series = numbers.fillna({0: 0, 1: 0}).mul([86_400, 3600, 60, 1]).sum(axis=1, skipna=False)
    values += noon * np.where(parts[1].isna(), 60, 3600)
    return values.fillna(lengths).astype(str)


def with_points(cells: pd.Series) -> pd.Series:
    """Swap decimal commas and points between thousands."""
    swapped = str.maketrans(",.", ".,")
    return cells.map(lambda cell: cell.translate(swapped), na_action="ignore")


def without_headers(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that do not repeat the names of the columns."""
    return table[(table != table.columns).any(axis=1)].reset_index(drop=True)


def number_words(cells: pd.Series) -> pd.Series:
    """Numeric categories as text, whole numbers without a decimal point."""
    values = numbers(cells)
    whole = values.notna() & (values % 1 == 0) & (values.abs() < 1e15)
    texts = values.astype(object).map(str)
    texts = texts.where(~whole, values.map("{:.0f}".format)).where(values.notna())
    others = words(cells, NO_NUMBER)
    return texts.fillna(others[pd.to_numeric(others, errors="coerce").isna()])


def truths(cells: pd.Series, false: str, true: str) -> pd.Series:
    """The cells as these two words, also if written 0 and 1, or no and yes."""
    lower = cells.str.lower()
    other = ~cells.isin([false, true])
    cells = cells.mask(other & lower.isin(FALSE), false)
    return cells.mask(other & lower.isin(TRUE), true)


def dates(cells: pd.Series, form: str) -> pd.Series:
    """The cells as times, in UTC if they have a zone; anything else is missing."""
    cells = words(cells, NO_NUMBER)
    moments = pd.to_datetime(cells, format=form, utc=True, errors="coerce")
    return moments.dt.tz_localize(None)


def date_parts(name: str, moments: pd.Series) -> dict[str, pd.Series]:
    """Days since 1970, month, weekday and hour."""
    since = moments.astype("datetime64[us]") - np.datetime64(0, "us")
    # Nanoseconds as floats: as whole numbers they end in 2262.
    days = since / np.timedelta64(1, "us") * 1e3 / 86_400e9
    parts = [days, moments.dt.month, moments.dt.day_of_week, moments.dt.hour]
    names = [f"{name}: {part}" for part in PARTS]
    return dict(zip(names, [part.astype(float) for part in parts], strict=True))


def as_text(table: pd.DataFrame) -> pd.DataFrame:
    """Every cell as text, a missing one as empty text."""
    return table.astype(object).where(table.notna(), "").map(str)


def arff_rows(path: str, encoding: str) -> io.StringIO:
    """The lines behind @data, without comments."""
    content = Path(path).read_bytes()
    if content.startswith(b"\x1f\x8b"):
        content = gzip.decompress(content)
    lines = content.decode(encoding).splitlines(keepends=True)
    first = 1 + [line.strip().lower()[:5] for line in lines].index("@data")
    return io.StringIO("".join(line for line in lines[first:] if line[:1] != "%"))


def hold_out(y: np.ndarray, every: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows to fit on, and one in `every` of each class, drawn at random."""
    codes = np.unique(y, return_inverse=True)[1]
    shuffled = np.random.default_rng(seed).permutation(len(codes))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    sizes = np.bincount(codes)
    place = np.arange(len(codes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    held_out = place % every == every - 1
    return np.sort(by_class[~held_out]), np.sort(by_class[held_out])


def oversampled(y: np.ndarray, seed: int) -> np.ndarray:
    """Rows to fit on: those of smaller classes several times, drawn at random."""
    random = np.random.default_rng(seed)
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    chosen = []
    for code, count in enumerate(counts):
        rows = np.flatnonzero(codes == code)
        chosen += [rows, random.choice(rows, counts.max() - count)]
    return np.sort(np.concatenate(chosen))


def undersampled(y: np.ndarray, seed: int) -> np.ndarray:
    """Rows to fit on: as many of larger classes as of the smallest, but at least 20."""
    random = np.random.default_rng(seed)
    _, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    chosen = []
    for code, count in enumerate(counts):
        rows = np.flatnonzero(codes == code)
        size = min(max(counts.min(), 20), count)
        chosen.append(random.choice(rows, size, replace=False))
    return np.sort(np.concatenate(chosen))


def strata(y: np.ndarray) -> np.ndarray:
    """The bin of each number, among up to ten of about equal size."""
    bins = max(min(10, len(y) // 20), 1)
    lowest = pd.Series(y).rank(method="min").to_numpy() - 1
    return np.unique(lowest * bins // len(y), return_inverse=True)[1]


def signed(function: np.ufunc) -> Pipeline:
    """sign(x) * function(|x|), made of parts that can be pickled."""
    size = make_pipeline(FunctionTransformer(np.abs), FunctionTransformer(function))
    parts = make_union(FunctionTransformer(np.sign), size)
    options = {"axis": 1, "keepdims": True}
    return make_pipeline(parts, FunctionTransformer(np.prod, kw_args=options))


def logarithms(y: np.ndarray) -> Pipeline:
    """log(1 + y), or -log(1 - y) below 0; the inverse stays within the range of y."""
    log, exp = signed(np.log1p), signed(np.expm1)
    within = log.transform(np.array([[y.min()], [y.max()]]))
    ends = {"a_min": within.min(), "a_max": within.max()}
    clip = FunctionTransformer(inverse_func=np.clip, inv_kw_args=ends)
    return make_pipeline(FunctionTransformer(log.transform, exp.transform), clip)


def few_steps(
    objective: Callable[..., tuple[float, np.ndarray]],
    start: np.ndarray,
    bounds: np.ndarray,
) -> tuple[np.ndarray, float]:
    """The minimum found by a few steps of L-BFGS-B."""
    few = {"method": "L-BFGS-B", "jac": True, "options": {"maxiter": 20}}
    found = minimize(objective, start, bounds=bounds, **few)
    return found.x, found.fun


def learned_kernel(
    X: np.ndarray,
    y: np.ndarray,
    nu: float,
    separate: bool,
    seed: int,
) -> Kernel:
    """A Matern kernel with noise, by maximum likelihood on some rows."""
    columns = X.shape[1]
    separate = separate and columns <= 50
    length = np.full(columns, columns**0.5) if separate else columns**0.5
    matern = Matern(length, (1e-2, 1e4), nu=nu)
    kernel = ConstantKernel(1.0, (1e-3, 1e3)) * matern + WhiteKernel(0.1, (1e-6, 1e1))
    some = np.random.default_rng(seed).permutation(len(y))[: 300 if separate else 500]
    process = GaussianProcessRegressor(kernel, optimizer=few_steps, normalize_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return process.fit(X[some], y[some]).kernel_
