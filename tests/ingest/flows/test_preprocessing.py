"""Preprocessing from mixed columns to an estimator's matrix."""

from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer

from ingest.flows import FLOWS
from ingest.flows.preprocessing import FEW_CATEGORIES, MOST_CODES, Encoding, as_floats, preprocessor
from ingest.flows.terms import TEXT_TERMS
from ingest.reading.datasets import Role
from tests.cases import each
from warehouse.vocabulary.task_types import REGRESSION

INDICATORS: Encoding = "indicators"
NATIVE: tuple[Encoding, ...] = ("codes", "codes of 254")
ENCODINGS = sorted({flow.encoding for flow in FLOWS.values()})


def steps(
    frame: pd.DataFrame, encoding: Encoding = INDICATORS, *, scaling: str = "none", **roles: Role
) -> ColumnTransformer:
    """Unfitted steps; columns without a given role are categorical."""
    known = {name: roles.get(name, Role.categorical) for name in frame}
    return preprocessor(
        known, encoding=encoding, imputation="median" if encoding == INDICATORS else None, scaling=scaling
    )


def numbered(levels: int, rows: int) -> pd.DataFrame:
    """One column in which each of this many categories is about equally frequent."""
    return pd.DataFrame({"place": [f"place {row % levels}" for row in range(rows)]}, dtype="str")


def halves(rows: int) -> np.ndarray:
    return np.arange(rows) // 3 % 2


# Many categories


@each("encoding", ENCODINGS)
def test_ten_thousand_categories_make_one_column(encoding: Encoding) -> None:
    frame = numbered(10_000, 12_000)
    matrix = steps(frame, encoding).fit_transform(frame, halves(12_000))
    assert matrix.shape == (12_000, 1)
    assert np.isfinite(matrix).all()


def test_forty_categories_are_indicators() -> None:
    frame = numbered(FEW_CATEGORIES, 200)
    matrix = steps(frame).fit_transform(frame, halves(200))
    assert matrix.shape == (200, FEW_CATEGORIES)
    assert set(np.unique(matrix)) == {0, 1}
    assert (matrix.sum(axis=1) == 1).all()


@each(("classes", "columns"), [(2, 1), (3, 3)])
def test_forty_one_categories_are_the_means_of_the_classes(classes: int, columns: int) -> None:
    """They become the probability of the second class, or of each class if there are more than two."""
    frame = numbered(FEW_CATEGORIES + 1, 41 * 12)
    target = np.arange(len(frame)) // 41 % classes
    fitted = steps(frame).fit(frame, target)
    matrix = fitted.transform(frame)
    assert matrix.shape == (len(frame), columns)
    # Every category has all classes equally often.
    assert matrix == pytest.approx(np.full(matrix.shape, 1 / classes))


def test_forty_one_categories_are_the_means_of_a_numeric_target() -> None:
    """Every category has the same numbers, which are not classes; an unseen category gets their mean."""
    frame = numbered(FEW_CATEGORIES + 1, 41 * 12)
    target = np.arange(len(frame)) // 41 * 1.5
    transformer = preprocessor(
        {"place": Role.categorical}, encoding=INDICATORS, imputation="median", task_type=REGRESSION
    )
    fitted = transformer.fit(frame, target)
    assert fitted.transform(frame) == pytest.approx(np.full((len(frame), 1), target.mean()))
    assert fitted.transform(pd.DataFrame({"place": ["elsewhere"]})).item() == pytest.approx(target.mean())


def test_splines_are_constant_outside_the_training_range() -> None:
    frame = pd.DataFrame({"x": np.linspace(0, 1, 50), "always": 1.0})
    transformer = preprocessor(
        dict.fromkeys(frame, Role.numeric), encoding=INDICATORS, imputation="median", knots=4
    )
    fitted = transformer.fit(frame)
    assert fitted.transform(frame).shape == (50, 2 * 5)  # knots + degree - 1 per column
    beyond = pd.DataFrame({"x": [1.0, 1e9, np.nan], "always": [1.0, -1e9, 1.0]})
    last, far, missing = fitted.transform(beyond)
    assert far == pytest.approx(last)
    assert np.isfinite(missing).all()


def test_columns_with_few_and_with_many_categories_stand_side_by_side() -> None:
    frame = numbered(100, 300).assign(colour=["red", "green", "blue"] * 100)
    assert steps(frame).fit_transform(frame, halves(300)).shape == (300, 3 + 1)


def test_only_categories_of_the_training_rows_are_counted() -> None:
    frame = numbered(50, 200)
    fitted = steps(frame).fit(frame.iloc[:30], halves(30))
    assert fitted.transform(frame).shape == (200, 30)


def test_codes_fit_into_a_byte_and_the_rarest_categories_share_one() -> None:
    common = numbered(MOST_CODES - 1, 1000)["place"].tolist()
    frame = pd.DataFrame({"place": [*common, "rare", "rarer"]})
    codes = steps(frame, "codes of 254").fit_transform(frame)[:, 0]
    assert set(codes) == set(range(MOST_CODES))
    assert codes[-1] == codes[-2]
    assert codes[-1] not in codes[:-2]


def test_target_means_are_cross_fitted_in_training() -> None:
    """Categories are uninformative about the class, so their means in the training matrix must be, too.

    Without cross-fitting, the mean of a category with two rows would reveal the class of each.
    """
    rng = np.random.default_rng(0)
    frame, target = numbered(500, 1000), rng.integers(0, 2, 1000)
    transformer = steps(frame)
    cross_fitted = transformer.fit_transform(frame, target)[:, 0]
    leaking = transformer.transform(frame)[:, 0]
    assert np.corrcoef(leaking, target)[0, 1] > 0.5
    assert np.corrcoef(cross_fitted, target)[0, 1] < 0.1


# Unseen and missing categories


def test_a_missing_value_is_a_category_of_its_own() -> None:
    frame = pd.DataFrame({"colour": ["red", None, "blue", None]})
    matrix = steps(frame).fit_transform(frame)
    assert matrix.tolist() == [[0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 1, 0]]
    for encoding in NATIVE:
        assert steps(frame, encoding).fit_transform(frame)[:, 0].tolist() == [2, 1, 0, 1]


def test_unseen_category_has_no_indicator_and_no_code() -> None:
    frame, unseen = pd.DataFrame({"colour": ["red", "blue"] * 3}), pd.DataFrame({"colour": ["violet", None]})
    assert steps(frame).fit(frame).transform(unseen).tolist() == [[0, 0], [0, 0]]
    for encoding in NATIVE:
        assert np.isnan(steps(frame, encoding).fit(frame).transform(unseen)).all()


def test_unseen_category_among_many_has_the_overall_mean() -> None:
    frame = numbered(50, 400)
    target = (np.arange(400) % 4 == 0).astype(int)
    unseen = pd.DataFrame({"place": ["elsewhere", None]})
    assert steps(frame).fit(frame, target).transform(unseen)[:, 0] == pytest.approx([0.25, 0.25])


def test_booleans_and_numbers_may_be_categories() -> None:
    frame = pd.DataFrame({"member": [True, False, True], "code": [7, 7, 8]}).astype("category")
    assert steps(frame).fit_transform(frame).tolist() == [[0, 1, 1, 0], [1, 0, 1, 0], [0, 1, 0, 1]]


@each("encoding", NATIVE)
def test_category_codes_come_before_numbers(encoding: Encoding) -> None:
    frame = pd.DataFrame({"size": [1.5, None, 3.5], "colour": ["red", "blue", "red"]})
    matrix = steps(frame, encoding, size=Role.numeric).fit_transform(frame)
    np.testing.assert_array_equal(matrix, [[1, 1.5], [0, np.nan], [1, 3.5]])


# Numbers, dates, text


@each(("imputation", "value"), [("median", 2.0), ("mean", 4.0), ("most_frequent", 1.0)])
def test_missing_numbers_are_imputed(imputation: str, value: float) -> None:
    frame = pd.DataFrame({"x": [1.0, 1.0, 3.0, 11.0, np.nan]})
    transformer = preprocessor({"x": Role.numeric}, encoding=INDICATORS, imputation=imputation)
    assert transformer.fit_transform(frame)[-1, 0] == value


def test_column_that_is_empty_in_training_keeps_its_place() -> None:
    frame = pd.DataFrame({"x": [np.nan, np.nan], "z": [1.0, 2.0]})
    fitted = steps(frame, x=Role.numeric, z=Role.numeric).fit(frame)
    assert fitted.transform(frame.assign(x=5.0)).shape == (2, 2)


def test_dates_become_days_month_weekday_and_hour() -> None:
    frame = pd.DataFrame({"at": pd.to_datetime(["1970-01-02 12:00", "2024-02-29 06:00", None])})
    matrix = steps(frame, "codes", at=Role.date).fit_transform(frame)
    thursday, friday = 3, 4
    np.testing.assert_array_equal(
        matrix, [[1.5, 1, friday, 12], [19782.25, 2, thursday, 6], [np.nan, np.nan, np.nan, np.nan]]
    )


def test_dates_with_a_time_zone_are_converted_to_utc() -> None:
    frame = pd.DataFrame({"at": pd.to_datetime(["1970-01-02 01:00+01:00"])})
    assert steps(frame, "codes", at=Role.date).fit_transform(frame).tolist() == [[1, 1, 4, 0]]


def test_text_becomes_weights_of_its_most_frequent_terms() -> None:
    words = [f"word{number}" for number in range(150)]
    frame = pd.DataFrame({"remark": [f"parcel {word}" for word in words] + [None]})
    matrix = steps(frame, remark=Role.text).fit_transform(frame)
    assert matrix.shape == (151, TEXT_TERMS)
    assert (matrix > 0).any(axis=1).all()  # all have `parcel`, and a missing text has `missing`
    assert (matrix[-1] > 0).sum() == 1


def test_text_that_training_lacks_is_no_error() -> None:
    frame = pd.DataFrame({"remark": pd.Series([None, None], dtype="str")})
    assert steps(frame, remark=Role.text).fit_transform(frame).shape == (2, 1)


def test_quantile_scaling_makes_ranks_normal() -> None:
    """Whatever a column's distribution, its median becomes 0, and one in six values falls below -1."""
    skewed = np.exp(3 * np.random.default_rng(0).normal(size=500))
    frame = pd.DataFrame({"x": skewed})
    matrix = steps(frame, scaling="quantile", x=Role.numeric).fit_transform(frame)[:, 0]
    assert np.median(matrix) == pytest.approx(0, abs=0.02)
    assert (matrix < -1).mean() == pytest.approx(0.159, abs=0.02)
    assert (np.argsort(matrix, kind="stable") == np.argsort(skewed, kind="stable")).mean() > 0.95


def test_standard_scaling_takes_numbers_and_means_but_no_indicators() -> None:
    frame = numbered(50, 300).assign(colour=["red", "blue", "blue"] * 100, x=np.arange(300.0))
    matrix = steps(frame, scaling="standard", x=Role.numeric).fit_transform(frame, halves(300))
    means, deviations = matrix.mean(axis=0), matrix.std(axis=0)
    assert means == pytest.approx([2 / 3, 1 / 3, 0, 0], abs=1e-9)
    assert deviations[2:] == pytest.approx([1, 1])


def test_constant_and_identifier_columns_are_left_out() -> None:
    frame = pd.DataFrame({"id": range(6), "same": 1, "x": np.arange(6.0)})
    roles = {"id": Role.identifier, "same": Role.constant, "x": Role.numeric}
    assert steps(frame, **roles).fit_transform(frame).shape == (6, 1)


# Numbers beyond the range of arithmetic


@each(
    ("day", "days", "weekday"),
    [("0001-01-01", -719_162, 0), ("1500-02-28", -171_606, 2), ("9999-12-31", 2_932_896, 4)],
)
def test_dates_of_any_year_are_dates(day: str, days: int, weekday: int) -> None:
    """Days and weekday agree with Python's proleptic Gregorian calendar."""
    at = date.fromisoformat(day)
    assert (days, weekday) == ((at - date(1970, 1, 1)).days, at.weekday())
    frame = pd.DataFrame({"at": pd.Series([day]).astype("datetime64[us]")})
    assert steps(frame, "codes", at=Role.date).fit_transform(frame).tolist() == [[days, at.month, weekday, 0]]


@each("scaling", ["standard", "quantile", "minmax", "robust"])
def test_numbers_that_are_too_large_are_clipped_and_scaled(scaling: str) -> None:
    frame = pd.DataFrame({"x": [1e301, 2e30, -1e308, 0.0, np.nan]})
    matrix = steps(frame, scaling=scaling, x=Role.numeric).fit_transform(frame)
    assert np.isfinite(matrix).all()
    assert matrix[0] == matrix[1]


def test_a_column_of_too_large_numbers_alone_is_scaled_to_zeros() -> None:
    frame = pd.DataFrame({"x": np.linspace(1e300, 2e300, 97)})
    assert not steps(frame, scaling="standard", x=Role.numeric).fit_transform(frame).any()


def test_quantile_scaling_takes_numbers_with_tiny_differences() -> None:
    frame = pd.DataFrame({"x": [5e-324, 1e-310, 1.0, 0.0]})
    assert np.isfinite(steps(frame, scaling="quantile", x=Role.numeric).fit_transform(frame)).all()


@given(st.floats(-1e30, 1e30).filter(lambda x: abs(x) > 1e-130))
def test_other_numbers_stay_as_they_are(x: float) -> None:
    assert as_floats(pd.DataFrame({"x": [x]})).item() == x


def test_texts_without_a_term_are_a_column_of_zeros() -> None:
    frame = pd.DataFrame({"remark": ["a b c", "🙂 🙃 - 1", "x y z 7"]})
    fitted = steps(frame, remark=Role.text).fit(frame)
    later = pd.DataFrame({"remark": ["something else", None]})
    assert fitted.transform(frame).tolist() == [[0], [0], [0]]
    assert fitted.transform(later).tolist() == [[0], [0]]
