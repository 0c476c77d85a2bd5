"""CFS: which attributes it selects, in tables where the answer is known."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.metafeatures.cfs import AttributeSelection
from tests.ingest.metafeatures.small_tables import sample_from, sample_of


def test_cfs_takes_what_tells_the_class_and_no_copy_of_it() -> None:
    random = np.random.default_rng(0)
    label = np.resize([0, 1], 200)
    telling = label + random.normal(size=200) * 0.3
    also = label * 0.5 + random.normal(size=200) * 0.4
    frame = pd.DataFrame(
        {"telling": telling, "copy": telling * 2, "also": also, "noise": random.normal(size=200)}
    )
    sample = sample_of(frame.assign(**{"class": np.where(label, "a", "b")}))
    strength = [abs(np.corrcoef(column, sample.y)[0, 1]) for column in sample.numbers.T]
    chosen = AttributeSelection(sample).chosen(0)
    kept = sorted(np.array(strength)[chosen].round(2))
    strongest = round(max(strength), 2)
    assert kept.count(strongest) == 1
    assert round(min(strength), 2) not in kept


def test_attributes_that_tell_a_half_each_are_taken_together() -> None:
    """The class is the pair of `first` and `second`: each has r_c = 2 * 1 / (1 + 2), and r_a = 0, so that
    their merits are 0.67 alone and 1.33 / sqrt(2) = 0.94 together; `noise` takes every value as often in
    every class.
    """
    y = np.repeat(np.arange(4), 50)
    first, second, noise = y // 2, y % 2, np.arange(200) % 2
    sample = sample_from(y, categories=np.column_stack([first, noise, second]))
    selection = AttributeSelection(sample)
    assert [selection.chosen(fold).tolist() for fold in range(5)] == [[0, 2]] * 5


def test_two_witnesses_are_taken_though_they_tell_more_of_each_other_than_of_the_class() -> None:
    """Both are right of `hidden` in 9 rows of 10, the class in 8: they agree in 82 % of the rows and with the
    class in 74 %, so r_a = 0.32 and r_c = 0.17. The merit of both is 2 * 0.17 / sqrt(2 + 2 * 0.32) = 0.21.
    """
    random = np.random.default_rng(0)
    y = np.repeat([0, 1], 2000)
    hidden = y ^ (random.random(4000) < 0.2)
    witnesses = hidden[:, None] ^ (random.random((4000, 2)) < 0.1)
    assert AttributeSelection(sample_from(y, categories=witnesses)).chosen(0).tolist() == [0, 1]


def test_what_tells_more_of_the_class_than_of_those_chosen_joins_them() -> None:
    """`best` is right in 9 rows of 10, `other` independently in 7: r_c are 0.53 and 0.12, so both together
    have no more merit than 0.65 / sqrt(2); but r_a is 0.07 only. `copy`, which is `best` with errors of its
    own, tells more of `best` than of the class.
    """
    random = np.random.default_rng(0)
    y = np.repeat([0, 1], 2000)
    best = y ^ (random.random(4000) < 0.1)
    other = y ^ (random.random(4000) < 0.3)
    copy = best ^ (random.random(4000) < 0.1)
    sample = sample_from(y, categories=np.column_stack([other, copy, best]))
    assert AttributeSelection(sample).chosen(0).tolist() == [0, 2]


def test_a_number_need_not_tell_the_class_along_a_line() -> None:
    random = np.random.default_rng(0)
    x = random.permutation(np.linspace(-1, 1, 200))
    x = np.concatenate([x[abs(x) < 0.5], x[abs(x) >= 0.5]])
    y = (abs(x) >= 0.5).astype(int)
    noise = random.normal(size=(200, 2))
    selection = AttributeSelection(sample_from(y, numbers=np.column_stack([noise, x])))
    assert selection.chosen(0).tolist() == [2]


def test_an_attribute_is_chosen_though_none_tells_anything() -> None:
    y = np.repeat([0, 1], 50)
    noise = np.column_stack([np.arange(100) % 2, np.arange(100) // 2 % 5])
    selection = AttributeSelection(sample_from(y, categories=noise))
    assert all(len(selection.chosen(fold)) for fold in range(5))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 4), st.integers(0, 2**16))
def test_rows_that_a_fold_tests_have_no_say_in_its_selection(fold: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    y = np.repeat([0, 1], 50)
    categories = (y[:, None] + random.integers(0, 3, (100, 5))) % 3
    sample = sample_from(y, categories=categories.copy())
    tested = sample.fold == fold
    categories[tested] = random.integers(0, 3, (tested.sum(), 5))
    changed = sample_from(y, categories=categories)
    assert np.array_equal(AttributeSelection(changed).chosen(fold), AttributeSelection(sample).chosen(fold))
