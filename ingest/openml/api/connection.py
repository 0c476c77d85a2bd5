"""A polite connection to a server: rate-limited, with retries, and always ending.

OpenML's front end answers with HTML when it is overloaded, sometimes with status 200 and half a document, and
with status 412 and an error document when a listing is empty. So an answer is judged by whether its body is
the requested document.
"""

from __future__ import annotations

import hashlib
import io
import logging
import math
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeVar

from ingest.openml.api import DEFAULT_SERVER
from ingest.openml.api.documents import UnreadableError, read_error
from ingest.openml.api.transfer import (
    Answer,
    AnswerLimits,
    AstrayError,
    Sink,
    TooLargeError,
    TooSlowError,
    TransferError,
    open_session,
    receive,
)
from warehouse.support.errors import BadOption, Failed, Unwritable, reason_of
from warehouse.support.text import counted

if TYPE_CHECKING:
    import requests

logger = logging.getLogger(__name__)

T = TypeVar("T")

LONGEST_TARGET = 8150
"""Most bytes of a request's path; the server's front end refuses more than about 8190."""

DOCUMENT_LIMITS = AnswerLimits()
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 300.0  # seconds; each wait is twice the one before
_LEAST_RATE = 0.001  # requests per second
_PATIENCE = 10
"""Failures in a row, of any requests, after which the server counts as down: about ten minutes."""
_SLOW = 4
"""Weight of an answer that exceeds the time limit, in failures."""
_SAME_BODIES = 4
"""After this many identical unreadable but whole bodies, the document itself counts as broken."""
_MOST_GIVEN_UP = 30
"""Most documents in a row to give up: finding one bad row in a page of 1,000 takes about ten."""
_OVERLOADED = 107  # OpenML's code: the database is overloaded
_NO_RESULTS = frozenset({372, 482, 500, 512, 542, 599, 674})  # OpenML's codes, one for each list
_LIMIT_TOO_HIGH = frozenset({516, 546, 676, 513, 543, 673})  # OpenML's codes, likewise
_PATH_TOO_LONG, _ANSWER_TOO_LARGE = 414, 413  # HTTP's own


class ApiError(Failed):
    """The server understood the request and refused it, or its answer is too large."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code

    @property
    def no_results(self) -> bool:
        """Nothing fits the filters: OpenML has no empty lists."""
        return self.code in _NO_RESULTS

    @property
    def too_much(self) -> bool:
        """Whether to ask for less at once."""
        return self.code in {*_LIMIT_TOO_HIGH, _PATH_TOO_LONG, _ANSWER_TOO_LARGE}


class TransientError(Exception):
    """Retry, after `wait` seconds if the server says so; counts as `weight` failures."""

    def __init__(self, reason: str, wait: float | None = None, weight: int = 1) -> None:
        super().__init__(reason)
        self.wait = wait
        self.weight = weight


class Connection:
    """Requests to one server. Threads may share it; the rate limits all their requests together."""

    def __init__(
        self,
        server: str = DEFAULT_SERVER,
        *,
        rate: float = 1.0,
        api_key: str | None = None,
        patience: int = _PATIENCE,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        """Connect at the first request.

        Args:
            server: address of the API, with or without its format at the end.
            rate: requests per second of all threads together.
            api_key: sent with each request. A wrong key makes every answer an error.
            patience: failures in a row after which the server counts as down.
            sleep: waits this many seconds; default: a wait that `stop` ends.

        Raises:
            BadInput: an invalid address, or a rate that is too small or not finite.
        """
        if not _LEAST_RATE <= rate < math.inf:
            raise BadOption(
                f"the rate must be a number of requests per second from {_LEAST_RATE}, not {rate}"
            )
        self.server = plain_address(server)
        self.requests_made = 0
        self.seconds_waiting = 0.0
        """Time spent waiting for answers, summed over all threads."""
        self._interval = 1 / rate
        self._api_key = api_key
        self._patience = patience
        self._stopped = threading.Event()
        self._sleep = sleep or self._stopped.wait
        self._lock = threading.Lock()
        self._sessions = threading.local()
        self._next_start = 0.0
        self._rests = 0
        self._failures: list[int] = []
        """Weight of the failures since the last success."""
        self._given_up = 0

    def stop(self) -> None:
        """Make no more requests: waiting threads give up."""
        self._stopped.set()

    def longest_list(self, path: str, digits: int) -> int:
        """Number of ids of this many digits that fit after `path` in one request."""
        address = f"{self.server}/xml/{path}".split("//", 1)[1]
        prefix = len(address) - address.find("/")
        return max(1, (LONGEST_TARGET - prefix) // (digits + 1))

    def get(
        self, path: str, read: Callable[[bytes], T], received: Callable[[bytes], None] = lambda _: None
    ) -> T:
        """The answer to `/xml/<path>`, parsed by `read`; `received` gets every body first.

        Faults of the network and the server, and bodies for which `read` raises `UnreadableError`, are
        retried at growing intervals.

        Raises:
            ApiError: the server refuses the request.
            UnreadableError: the same unreadable body came repeatedly.
            Failed: the server has not answered properly for long, or refuses access.
        """
        unreadable: Counter[str] = Counter()

        def ask() -> T:
            body = io.BytesIO()
            self._ask(f"{self.server}/xml/{path}", body.write, DOCUMENT_LIMITS, self._api_key)
            document = body.getvalue()
            received(document)
            try:
                return read(document)
            except UnreadableError as error:
                unreadable[hashlib.sha256(document).hexdigest()] += 1
                if error.complete and max(unreadable.values()) == _SAME_BODIES:
                    self._give_up(error)
                    raise
                raise TransientError(f"an unreadable document ({error})") from error

        return self._patiently(path, ask)

    def download(self, address: str, file: Path, most: int) -> str:
        """Download up to `most` bytes from an address to a file; return their MD5 checksum.

        Raises:
            ApiError: the server refuses the request, or the file is larger.
            Unwritable: the file can't be written.
            Failed: the server has not sent it for long, or redirects to an invalid address.
        """

        def ask() -> str:
            checksum = hashlib.md5(usedforsecurity=False)
            try:
                with file.open("wb") as written:

                    def write(piece: bytes) -> None:
                        checksum.update(piece)
                        written.write(piece)

                    self._ask(address, write, AnswerLimits(bytes=most, seconds=DOCUMENT_LIMITS.seconds))
            except OSError as error:
                raise Unwritable(f"{file} can't be written: {reason_of(error)}") from error
            return checksum.hexdigest()

        return self._patiently(address, ask)

    def _patiently(self, what: str, ask: Callable[[], T]) -> T:
        """Call `ask` until it does not raise `TransientError`; return its result."""
        while True:
            self._wait_for_turn()
            try:
                content = ask()
            except TransientError as error:
                self._wait_after(error, what)
            else:
                with self._lock:
                    self._failures.clear()
                    self._given_up = 0
                return content

    def _ask(self, address: str, sink: Sink, limits: AnswerLimits, key: str | None = None) -> None:
        """Ask once; the body goes to `sink` unless it is an error."""
        start = time.monotonic()
        try:
            answer = receive(self._session(), address, sink, limits, key)
        except TooSlowError as error:
            del self._sessions.session
            raise TransientError(str(error), weight=_SLOW) from error
        except TransferError as error:
            raise TransientError(str(error)) from error
        except TooLargeError as error:
            raise ApiError(_ANSWER_TOO_LARGE, str(error)) from error
        except AstrayError as error:
            raise Failed(f"{self.server} leads elsewhere: {error}") from error
        finally:
            with self._lock:
                self.requests_made += 1
                self.seconds_waiting += time.monotonic() - start
        if answer.status != 200:
            self._refuse(answer)

    def _refuse(self, answer: Answer) -> NoReturn:
        """Raise the error for an answer with another status than 200."""
        if answer.status in (404, 414):
            raise ApiError(answer.status, answer.reason)
        if answer.status == 429 or answer.status >= 500:
            raise TransientError(f"status {answer.status}", _seconds(answer.retry_after))
        refusal = read_error(answer.body)
        if refusal is None and answer.status == 412:
            raise TransientError("an unreadable error")
        if refusal is None:
            raise Failed(f"{self.server} answers with status {answer.status}: is it OpenML's API?")
        if refusal[0] == _OVERLOADED:
            raise TransientError("overloaded")
        raise ApiError(*refusal)

    def _give_up(self, error: UnreadableError) -> None:
        """Give up a document that is broken on a healthy server; fail if all documents are."""
        with self._lock:
            self._failures.clear()
            self._given_up += 1
        if self._given_up >= _MOST_GIVEN_UP:
            raise Failed(
                f"{self.server} has sent only unreadable documents (last: {error}); earlier "
                f"results are kept: run the same command again later"
            )

    def _session(self) -> requests.Session:
        """A session for each thread: it keeps its connection open between requests."""
        if not hasattr(self._sessions, "session"):
            agent = f"headstart/{version('headstart')}"
            self._sessions.session = open_session({"User-Agent": agent, "Accept-Encoding": "gzip"})
        session: requests.Session = self._sessions.session
        return session

    def _wait_for_turn(self) -> None:
        rests = None
        while rests != self._rests:  # another thread may be told to pause meanwhile
            with self._lock:
                rests = self._rests
                now = time.monotonic()
                start = max(now, self._next_start)
                self._next_start = start + self._interval
            if start > now:
                self._sleep(start - now)
        if self._stopped.is_set():
            raise Failed("the connection was stopped")

    def _wait_after(self, error: TransientError, path: str) -> None:
        with self._lock:
            self._failures.append(error.weight)
            tries, failures = len(self._failures), sum(self._failures)
        if failures >= self._patience:
            raise Failed(
                f"{self.server} has not answered properly in {counted(tries, 'tries')} (last: {error}); "
                "earlier results are kept: run the same command again later"
            ) from error
        backoff = min(_FIRST_WAIT * 2 ** (tries - 1), _LONGEST_WAIT) * random.uniform(0.5, 1.0)
        wait = backoff if error.wait is None else min(error.wait, _LONGEST_WAIT)
        logger.info("%s: %s; trying again in %.1f s", path[:80], error, wait)
        with self._lock:
            # The other threads pause, too.
            self._rests += 1
            self._next_start = max(self._next_start, time.monotonic() + wait)
        self._sleep(wait)


def plain_address(server: str) -> str:
    """The API's address without a format at the end.

    Raises:
        BadInput: it is not an address.
    """
    if not server.startswith(("http://", "https://")):
        raise BadOption(f"the server must be an address like {DEFAULT_SERVER}, not {server!r}")
    return server.rstrip("/").removesuffix("/xml").removesuffix("/json")


def _seconds(retry_after: str | None) -> float | None:
    """Seconds of a `Retry-After` header; None if it is missing or a date."""
    try:
        return None if retry_after is None else max(0.0, float(retry_after))
    except ValueError:
        return None
