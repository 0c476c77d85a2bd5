"""Times as people write them."""

import pytest

from warehouse.support.errors import BadOption
from warehouse.support.text import parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("60s", 60), ("5m", 300), ("1.5h", 5400), (" 2M ", 120)]
)
def test_times_are_written_as_people_write_them(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    "text", ["", "soon", "-5s", "0", "nan", "inf", "5 days", "1e3", "481h", "9" * 400, "1_0"]
)
def test_invalid_times_are_refused(text: str) -> None:
    with pytest.raises(BadOption, match="is not a time"):
        parse_duration(text)
