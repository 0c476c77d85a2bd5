"""How a command line names its dataset."""

import pytest

from recommend.options import named_dataset
from warehouse.support.errors import BadOption


@pytest.mark.parametrize(("file", "dataset"), [("my.csv", None), (None, "my.csv")])
def test_a_dataset_is_named_by_place_or_by_option(file: str | None, dataset: str | None) -> None:
    assert named_dataset(file, dataset) == "my.csv"


def test_two_datasets_are_refused_even_if_they_are_the_same() -> None:
    with pytest.raises(BadOption, match=r"FILE and --dataset exclude each other: my.csv, openml:31"):
        named_dataset("my.csv", "openml:31")
    with pytest.raises(BadOption, match="name one"):
        named_dataset("my.csv", "my.csv")


def test_no_dataset_is_refused() -> None:
    with pytest.raises(BadOption, match="give a dataset: a file, or openml:ID"):
        named_dataset(None, None)
    with pytest.raises(BadOption, match="give a dataset"):
        named_dataset(None, "")
