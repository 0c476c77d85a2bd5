"""CFS selects the right attributes in tables with a known answer."""

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.metafeatures.cfs import AttributeSelection
from tests.ingest.metafeatures.small_tables import sample_from, sample_of


def test_cfs_selects_the_informative_attribute_but_not_its_copy() -> None:
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


def test_attributes_with_half_of_the_information_each_are_selected_together() -> None:
    """The class is the pair of `first` and `second`: each has r_c = 2 * 1 / (1 + 2), and r_a = 0, so that
    their merits are 0.67 alone and 1.33 / sqrt(2) = 0.94 together; `noise` takes every value as often in
    every class.
    """
    y = np.repeat(np.arange(4), 50)
    first, second, noise = y // 2, y % 2, np.arange(200) % 2
    sample = sample_from(y, categories=np.column_stack([first, noise, second]))
    selection = AttributeSelection(sample)
    assert [selection.chosen(fold).tolist() for fold in range(5)] == [[0, 2]] * 5


def test_two_noisy_copies_are_selected_though_closer_to_each_other_than_to_the_class() -> None:
    """Both agree with `hidden` in 9 rows of 10, the class in 8: so they agree with each other in 82 % of the
    rows and with the class in 74 %, r_a = 0.32 and r_c = 0.17. The merit of both is 2 * 0.17 / sqrt(2 + 2 *
    0.32) = 0.21.
    """
    random = np.random.default_rng(0)
    y = np.repeat([0, 1], 2000)
    hidden = y ^ (random.random(4000) < 0.2)
    witnesses = hidden[:, None] ^ (random.random((4000, 2)) < 0.1)
    assert AttributeSelection(sample_from(y, categories=witnesses)).chosen(0).tolist() == [0, 1]


def test_attributes_closer_to_the_class_than_to_the_selected_ones_are_added() -> None:
    """`best` is right in 9 rows of 10, `other` independently in 7: r_c are 0.53 and 0.12, so both together
    have no more merit than 0.65 / sqrt(2); but r_a is only 0.07. `copy`, which is `best` with errors of its
    own, is more informative about `best` than about the class.
    """
    random = np.random.default_rng(0)
    y = np.repeat([0, 1], 2000)
    best = y ^ (random.random(4000) < 0.1)
    other = y ^ (random.random(4000) < 0.3)
    copy = best ^ (random.random(4000) < 0.1)
    sample = sample_from(y, categories=np.column_stack([other, copy, best]))
    assert AttributeSelection(sample).chosen(0).tolist() == [0, 2]


def test_a_number_may_be_related_to_the_class_nonlinearly() -> None:
    random = np.random.default_rng(0)
    x = random.permutation(np.linspace(-1, 1, 200))
    x = np.concatenate([x[abs(x) < 0.5], x[abs(x) >= 0.5]])
    y = (abs(x) >= 0.5).astype(int)
    noise = random.normal(size=(200, 2))
    selection = AttributeSelection(sample_from(y, numbers=np.column_stack([noise, x])))
    assert selection.chosen(0).tolist() == [2]


def test_one_attribute_is_selected_even_if_all_are_uninformative() -> None:
    y = np.repeat([0, 1], 50)
    noise = np.column_stack([np.arange(100) % 2, np.arange(100) // 2 % 5])
    selection = AttributeSelection(sample_from(y, categories=noise))
    assert all(len(selection.chosen(fold)) for fold in range(5))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 4), st.integers(0, 2**16))
def test_the_test_rows_of_a_fold_do_not_influence_its_selection(fold: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    y = np.repeat([0, 1], 50)
    categories = (y[:, None] + random.integers(0, 3, (100, 5))) % 3
    sample = sample_from(y, categories=categories.copy())
    tested = sample.fold == fold
    categories[tested] = random.integers(0, 3, (tested.sum(), 5))
    changed = sample_from(y, categories=categories)
    assert np.array_equal(AttributeSelection(changed).chosen(fold), AttributeSelection(sample).chosen(fold))
