"""Answers unlike OpenML's raise only the error for unreadable ones."""

import pytest

from ingest.openml.api.documents import UnreadableError, read_evaluations
from ingest.openml.tables import evaluation_tables
from tests.cases import each
from tests.fuzzing import TARGETS

EVALUATIONS = TARGETS["openml"].inputs()[0]
RUN = b"<oml:run_id>1</oml:run_id>"

ANSWERS = {
    "an encoding of many bytes": b'<?xml version="1.0" encoding="utf-7"?>' + EVALUATIONS,
    "an encoding that there is none of": b'<?xml version="1.0" encoding="nonsense"?>' + EVALUATIONS,
    "a character of 5,000 digits": EVALUATIONS.replace(b"&#65;", b"&#" + b"1" * 5_000 + b";"),
    "a block that we did not number": EVALUATIONS.replace(b"<oml:parameters>", b'<oml:parameters block="9">'),
    "a block without a number": EVALUATIONS.replace(b"<oml:parameters>", b'<oml:parameters block="x">'),
    "a run without a number": EVALUATIONS.replace(RUN, b"<oml:run_id>x</oml:run_id>"),
    "a run of 5,000 digits": EVALUATIONS.replace(RUN, b"<oml:run_id>" + b"1" * 5_000 + b"</oml:run_id>"),
    "a run beyond 64 bits": EVALUATIONS.replace(RUN, b"<oml:run_id>" + b"9" * 19 + b"</oml:run_id>"),
}


@each("trouble", ANSWERS)
def test_a_foreign_answer_is_unreadable(trouble: str) -> None:
    with pytest.raises(UnreadableError):
        read_evaluations(ANSWERS[trouble])


def test_an_engine_without_a_number_comes_last() -> None:
    body = EVALUATIONS.replace(RUN, RUN + b"<oml:evaluation_engine_id>x</oml:evaluation_engine_id>")
    assert evaluation_tables(read_evaluations(body).rows)["runs"].num_rows == 4
