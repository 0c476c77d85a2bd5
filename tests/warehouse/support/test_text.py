"""Times and numbers as people write them."""

import pytest

from warehouse.support.errors import BadOption
from warehouse.support.text import counted, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("60s", 60), ("5m", 300), ("1.5h", 5400), (" 2M ", 120)]
)
def test_times_are_written_as_people_write_them(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("count", "things", "said"),
    [
        (0, "runs", "0 runs"),
        (1, "runs", "1 run"),
        (2, "runs", "2 runs"),
        (1200, "other datasets", "1,200 other datasets"),
        (1, "qualities", "1 quality"),
        (1, "classes", "1 class"),
        (1, "searches", "1 search"),
        (1, "different values", "1 different value"),
    ],
)
def test_one_thing_is_in_the_singular(count: int, things: str, said: str) -> None:
    assert counted(count, things) == said


@pytest.mark.parametrize(
    "text", ["", "soon", "-5s", "0", "nan", "inf", "5 days", "1e3", "481h", "9" * 400, "1_0"]
)
def test_invalid_times_are_refused(text: str) -> None:
    with pytest.raises(BadOption, match="is not a time"):
        parse_duration(text)
