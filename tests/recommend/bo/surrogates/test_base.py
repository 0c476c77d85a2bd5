"""What surrogates share."""

import numpy as np

from recommend.bo.surrogates.base import one_hot


def test_choices_get_a_column_each_and_a_number_that_is_not_there_is_outside() -> None:
    vectors = np.array([[0.25, 1.0], [np.nan, 0.0], [1.0, np.nan]])
    assert one_hot(vectors, np.array([0, 2])).tolist() == [[0.25, 0, 1], [-1, 1, 0], [1, 0, 0]]
    assert one_hot(np.zeros((3, 0)), np.array([], dtype=np.intp)).shape == (3, 0)
