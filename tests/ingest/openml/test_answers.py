"""Cached answers: which are requested again."""

from pathlib import Path
from typing import NoReturn

import pytest

from ingest.openml.answers import Answers
from ingest.openml.api.connection import ApiError, Connection
from ingest.openml.api.documents import read_evaluations
from tests.ingest.openml.listings import EMPTY, PATH, Open


def test_answers_are_kept_until_they_are_forgotten(start: Open, tmp_path: Path) -> None:
    server, connection, _ = start()
    for _ in range(2):
        answers = Answers(connection, tmp_path / "answers")
        assert len(answers.get(PATH, read_evaluations).rows) == 5
        with pytest.raises(ApiError) as refused:
            answers.get(EMPTY, read_evaluations)
        assert refused.value.no_results
    assert len(server.requests) == answers.reused == 2
    answers.forget([PATH, EMPTY])
    answers.get(PATH, read_evaluations)
    assert len(server.requests) == 3


def test_a_damaged_answer_is_asked_for_again(start: Open, tmp_path: Path) -> None:
    server, connection, _ = start()
    answers = Answers(connection, tmp_path)
    answers.get(PATH, read_evaluations)
    (file,) = tmp_path.iterdir()
    for content in (b"", b"12\nnothing", file.read_bytes()[:-9]):
        file.write_bytes(content)
        assert len(answers.get(PATH, read_evaluations).rows) == 5
    assert len(server.requests) == 4


def test_an_answer_is_kept_even_if_the_process_dies_before_reading_it(start: Open, tmp_path: Path) -> None:
    server, connection, _ = start()

    def die(_: bytes) -> NoReturn:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Answers(connection, tmp_path).get(PATH, die)
    assert len(Answers(connection, tmp_path).get(PATH, read_evaluations).rows) == 5
    assert len(server.requests) == 1


def test_a_refusal_of_a_too_large_request_is_kept(start: Open, tmp_path: Path) -> None:
    server, connection, _ = start()
    answers, path = Answers(connection, tmp_path), PATH.replace("limit/5", "limit/9999")
    messages = set()
    for _ in range(2):
        with pytest.raises(ApiError) as refused:
            answers.get(path, read_evaluations)
        assert refused.value.too_much
        messages.add((refused.value.code, str(refused.value).split(": ")[-1]))
    assert len(messages) == len(server.requests) == answers.reused == 1


def test_other_refusals_are_not_kept(start: Open, tmp_path: Path) -> None:
    server, _, _ = start()
    answers = Answers(Connection(server.url, api_key="wrong", rate=1e6), tmp_path)
    for _ in range(2):
        with pytest.raises(ApiError, match="Authentication failed"):
            answers.get(PATH, read_evaluations)
    assert (len(server.requests), answers.reused) == (2, 0)
    assert not list(tmp_path.iterdir())


def test_all_answers_can_be_forgotten(start: Open, tmp_path: Path) -> None:
    server, connection, _ = start()
    answers = Answers(connection, tmp_path / "answers")
    answers.forget_all()  # there are none yet
    answers.get(PATH, read_evaluations)
    answers.forget_all()
    assert not (tmp_path / "answers").exists()
    answers.get(PATH, read_evaluations)
    assert len(server.requests) == 2
