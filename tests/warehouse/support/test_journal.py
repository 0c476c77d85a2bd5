"""The journal keeps appended records after a kill, and a truncated line affects no other."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.flips import flipped_bit
from warehouse.support.errors import Unwritable
from warehouse.support.journal import Journal

values = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "journal")


@given(records=st.lists(st.dictionaries(st.text(), values | st.lists(values), min_size=1), max_size=4))
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_records_are_read_back_oldest_first_and_unchanged(
    journal: Journal, records: list[dict[str, Any]]
) -> None:
    """Even with line breaks of any kind in a text."""
    journal.clear()
    for record in records:
        journal.append(record)
    assert Journal(journal.path).records() == records


@given(data=st.data())
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_flipped_bit_loses_the_records_of_its_lines_and_is_reported(
    journal: Journal, caplog: pytest.LogCaptureFixture, data: st.DataObject
) -> None:
    """The byte between two lines belongs to both."""
    records = [{"run": f"own:{n}", "result": {"accuracy": n / 7}, "message": None} for n in range(4)]
    journal.clear()
    for record in records:
        journal.append(record)
    caplog.clear()
    with flipped_bit(data, [journal.path]):
        found = Journal(journal.path).records()
    assert str(journal.path) in caplog.text
    if "without a checksum" not in caplog.text:  # like a first line of an older Headstart
        assert "damaged or cut off, and left out: " in caplog.text
        assert [record for record in records if record in found] == found
        assert len(found) >= len(records) - 2


def test_a_damaged_line_is_named_once(journal: Journal, caplog: pytest.LogCaptureFixture) -> None:
    for n in range(3):
        journal.append({"value": n})
    journal.path.write_bytes(journal.path.read_bytes().replace(b'"value": 1', b'"value": 9'))
    assert journal.records() == journal.records() == [{"value": 0}, {"value": 2}]
    assert caplog.messages == [f"{journal.path}: 1 line damaged or cut off, and left out: 3"]


def test_records_of_an_older_headstart_have_no_checksums_and_are_read_with_a_note(
    journal: Journal, caplog: pytest.LogCaptureFixture
) -> None:
    journal.path.write_bytes(b'\n{"n": 0}\n{"n": 1}')
    journal.append({"n": 2})
    assert journal.records() == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert caplog.messages == [f"{journal.path}: 2 records without a checksum, of an older Headstart"]
    with journal.path.open("ab") as file:
        file.write(b'\n{"n": 3}')
    assert journal.records() == [{"n": 0}, {"n": 1}, {"n": 2}], "an older one writes no lines behind ours"


def test_a_truncated_last_line_loses_only_its_record(journal: Journal) -> None:
    journal.append({"n": 1})
    length_of_one = journal.path.stat().st_size
    journal.append({"n": [2, "two"]})
    whole = journal.path.read_bytes()
    for length in range(length_of_one, len(whole)):
        journal.path.write_bytes(whole[:length])
        assert journal.records() == [{"n": 1}]
        journal.append({"n": 3})
        assert journal.records() == [{"n": 1}, {"n": 3}]


def test_lines_that_are_not_records_are_skipped(journal: Journal) -> None:
    journal.path.write_bytes(b'\n7\n[1]\n\xff\x00\n{"n": 1}\n{"n": ')
    assert journal.records() == [{"n": 1}]


def test_several_writers_lose_none_of_their_records(tmp_path: Path) -> None:
    """Each has opened the file separately, as processes do."""
    writers = [Journal(tmp_path / "journal") for _ in range(4)]

    def write(writer: int) -> None:
        for number in range(10):
            writers[writer].append({"writer": writer, "number": number})

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    found = writers[0].records()
    for writer in range(4):
        assert [one["number"] for one in found if one["writer"] == writer] == list(range(10))
    assert len(found) == 40


def test_kept_records_stay_in_order_and_can_be_appended_to(journal: Journal) -> None:
    for number in range(5):
        journal.append({"n": number})
    journal.keep(lambda record: record["n"] % 2 == 0)
    journal.append({"n": 7})
    assert [record["n"] for record in journal.records()] == [0, 2, 4, 7]
    journal.keep(lambda _: False)
    assert not journal.path.exists()


def test_a_journal_that_cannot_be_written_is_a_failure_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(Unwritable) as caught:
        Journal(tmp_path / "nowhere" / "journal").append({"n": 1})
    assert str(caught.value) == f"{tmp_path}/nowhere/journal can't be written: No such file or directory"
