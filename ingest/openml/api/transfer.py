"""Receive one answer of a web server within limits of bytes and time.

A server may send without end, send a byte now and then, send data that unpacks without bound, or redirect
without end. Timeouts of libraries only limit the wait between two pieces. So a thread receives the answer,
and the caller waits for that thread no longer than the limit.
"""

from __future__ import annotations

import queue
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

if TYPE_CHECKING:
    import requests

Sink = Callable[[bytes], object]
"""Takes the next bytes of a body."""

_TIMEOUTS = (10.0, 60.0)  # seconds to connect, and between two pieces of an answer
_PIECE = 1 << 16  # bytes
_LEAST_SPEED = 20_000
"""Bytes per second: an answer that is faster has no time limit."""
_MOST_REDIRECTS = 5
_ERROR_BYTES = 1 << 20
"""Most bytes to read of the body of an error."""
_GZIP = 31  # zlib's number for the format with gzip's header
_MIB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class AnswerLimits:
    """Limits of one answer."""

    bytes: int = 32 * _MIB
    """Most bytes of a body, as sent and as unpacked."""
    seconds: float = 60.0
    """Time for a whole answer, extended as long as 20 kB arrive per second."""


class TransferError(Exception):
    """No answer: a fault of the network, or an answer that is cut off or in an unknown form."""


class TooSlowError(TransferError):
    """The answer is not complete within the time limit."""


class TooLargeError(Exception):
    """The answer has more bytes than the limit."""


class AstrayError(Exception):
    """The address, or one in a redirection, is not usable."""


@dataclass(frozen=True)
class Answer:
    """Status of an answer and, unless it is 200, the body."""

    status: int
    reason: str
    retry_after: str | None
    body: bytes


def open_session(headers: dict[str, str]) -> requests.Session:
    """A session that does not follow redirections; default ones read the whole body of a redirection."""
    import requests

    class Session(requests.Session):
        def get_redirect_target(self, resp: requests.Response) -> None:
            """Report no redirection."""

    session = Session()
    session.headers.update(headers)
    return session


def receive(
    session: requests.Session, address: str, sink: Sink, limits: AnswerLimits, key: str | None = None
) -> Answer:
    """Ask for an address and wait for the whole answer.

    Args:
        session: from `open_session`, not in use elsewhere; unusable after `TooSlowError`.
        sink: gets the unpacked body of an answer with status 200; its exceptions are raised here.
        key: API key, sent to this address but not to redirections.

    Raises:
        TransferError: the answer is missing or incomplete.
        TooLargeError: it has too many bytes.
        AstrayError: the address or a redirection is not a web address, or there are too many redirections.
    """
    transfer = _Transfer(session, sink, limits)
    ended: queue.SimpleQueue[Answer | BaseException] = queue.SimpleQueue()

    def work() -> None:
        try:
            ended.put(transfer.answer(address, key))
        except BaseException as error:  # noqa: BLE001  # whatever it is, it is raised where it is waited for
            ended.put(error)

    start = time.monotonic()
    threading.Thread(target=work, daemon=True).start()
    while True:
        left = start + limits.seconds + transfer.received / _LEAST_SPEED - time.monotonic()
        if left <= 0:
            transfer.is_given_up = True
            raise TooSlowError(f"no whole answer within {limits.seconds:g} seconds")
        try:
            outcome = ended.get(timeout=left)
        except queue.Empty:
            continue
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome


class _Transfer:
    """The work of the thread that receives an answer."""

    def __init__(self, session: requests.Session, sink: Sink, limits: AnswerLimits) -> None:
        self.received = 0
        """Bytes of the body so far, as sent."""
        self.is_given_up = False
        self._session = session
        self._sink = sink
        self._limits = limits

    def answer(self, address: str, key: str | None) -> Answer:
        import http.client

        import requests
        import urllib3

        try:
            response = self._response(address, key)
            with response:
                error_body = bytearray()
                sink = self._sink if response.status_code == 200 else error_body.extend
                for piece in self._unpacked(response):
                    if self.is_given_up or len(error_body) > _ERROR_BYTES:
                        break
                    sink(piece)
                after = response.headers.get("Retry-After")
                return Answer(response.status_code, str(response.reason), after, bytes(error_body))
        except (requests.RequestException, urllib3.exceptions.HTTPError, http.client.HTTPException) as error:
            # Not the message: it contains the address, which may contain the key.
            raise TransferError(type(error).__name__) from error
        except zlib.error as error:
            raise TransferError("a packed answer that is damaged") from error

    def _response(self, address: str, key: str | None) -> requests.Response:
        """The head of the answer, after redirections."""
        for _ in range(_MOST_REDIRECTS + 1):
            _check_address(address)
            response = self._session.get(
                address, params={"api_key": key} if key else None, timeout=_TIMEOUTS, stream=True
            )
            if not response.is_redirect:
                return response
            response.close()
            address, key = _redirected(address, response.headers["Location"]), None
        raise AstrayError(f"more than {_MOST_REDIRECTS} redirections, one after the other")

    def _unpacked(self, response: requests.Response) -> Iterator[bytes]:
        """The pieces of the body, limited in both sent and unpacked bytes."""
        encoding = response.headers.get("Content-Encoding", "identity").lower()
        if encoding not in ("identity", "gzip", ""):
            raise TransferError(f"an answer in the unknown encoding {encoding[:20]!r}")
        unpacker = zlib.decompressobj(_GZIP) if encoding == "gzip" else None
        unpacked = 0
        for sent in self._sent(response):
            for piece in [sent] if unpacker is None else _pieces(unpacker, sent):
                unpacked += len(piece)
                if unpacked > self._limits.bytes:
                    raise TooLargeError(
                        f"the answer unpacks to more than {self._limits.bytes:,} bytes, the limit"
                    )
                yield piece
        if unpacker is not None and self.received and not unpacker.eof:
            raise TransferError("a packed answer that is cut off")

    def _sent(self, response: requests.Response) -> Iterator[bytes]:
        import urllib3

        declared = response.headers.get("Content-Length", "")
        announced = int(declared[:18]) if declared.isdecimal() else 0
        self._check(announced)
        try:
            while piece := response.raw.read(_PIECE, decode_content=False):
                self._check(self.received + len(piece))
                self.received += len(piece)
                yield piece
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise TransferError(type(error).__name__) from error
        if self.received < announced:
            raise TransferError("an answer that is cut off")

    def _check(self, size: int) -> None:
        if size > self._limits.bytes:
            raise TooLargeError(f"the answer has more than {self._limits.bytes:,} bytes, the limit")


def _check_address(address: str) -> None:
    try:
        is_of_web = urlsplit(address).scheme in ("http", "https")
    except ValueError:
        is_of_web = False
    if not is_of_web:
        raise AstrayError(f"{address[:100]!r} is not an address of the web")


def _redirected(address: str, location: str) -> str:
    """Target of a redirection; encrypted addresses only redirect to encrypted ones."""
    try:
        target = urljoin(address, location)
    except ValueError:
        raise AstrayError(f"a redirection to {location[:100]!r}, which is not an address") from None
    if address.startswith("https:") and target.startswith("http:"):
        raise AstrayError("a redirection from an encrypted address to one that is not")
    return target


def _pieces(unpacker: zlib._Decompress, packed: bytes) -> Iterator[bytes]:
    """Unpack bytes, a piece at a time."""
    while True:
        piece = unpacker.decompress(packed, _PIECE)
        packed = unpacker.unconsumed_tail
        yield piece
        if len(piece) < _PIECE and not packed:
            return
