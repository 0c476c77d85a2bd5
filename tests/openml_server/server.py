"""OpenML's v1 REST API over HTTP, on loopback."""

import gzip
import re
import socket
import struct
import sys
import threading
from collections import Counter
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from tests.openml_server import xml_text
from tests.openml_server.answers import Answers, Question
from tests.openml_server.errors import ApiError
from tests.openml_server.faults import Faults
from tests.openml_server.selection import Selection
from tests.openml_server.world import World

LONGEST_TARGET = 8190
API = "/api/v1/"
XML = "text/xml; charset=utf-8"
DOWNLOAD = re.compile(r"/data/(?:v1/)?download/([0-9]+)(?:/.*)?")
CONVERTED = re.compile(r"/datasets/([0-9]+)/dataset\.pq")
# As nginx writes it: the rule is not closed, so that this is no XML.
FRONT_END_PAGE = (
    "<html>\r\n<head><title>{title}</title></head>\r\n<body>\r\n"
    "<center><h1>{title}</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n"
)


@dataclass
class Request:
    """A request that came; `complete` says that it got the answer that it asked for, undisturbed."""

    path: str
    endpoint: str
    fault: str | None = None
    status: int | None = None
    complete: bool = False


@dataclass(frozen=True)
class Reply:
    """What is sent; of a `broken` one, half the body."""

    status: int
    body: bytes
    content_type: str = "text/html"
    retry_after: float | None = None
    broken: bool = False


class OpenMLServer:
    """Serves a world while the context is open.

    `url` is the base of answers; `page_limit`, `faults` and the world may change at any time. `api_key` is
    the only valid key: a request needs none, but a wrong one fails.
    """

    def __init__(
        self,
        world: World,
        *,
        page_limit: int = 1000,
        unstable_order: bool = False,
        faults: Faults | None = None,
        api_key: str = "the-only-key",
        port: int = 0,
    ) -> None:
        self.world = world
        self.faults = faults
        self.api_key = api_key
        self.closing = threading.Event()
        self._selection = Selection(world, page_limit=page_limit, unstable_order=unstable_order)
        self._requests: list[Request] = []
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._http = _Server(("127.0.0.1", port), _Handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)
        self.origin = f"http://127.0.0.1:{self._http.server_port}"
        self._answers = Answers(self._selection, self.origin)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        """Base of the API in XML, as `openml.config.server` wants it."""
        return f"{self.origin}{API}xml"

    @property
    def page_limit(self) -> int:
        """Rows that a page of runs, evaluations or setups has at most."""
        return self._selection.page_limit

    @page_limit.setter
    def page_limit(self, limit: int) -> None:
        self._selection.page_limit = limit

    @property
    def requests(self) -> tuple[Request, ...]:
        """The requests so far, in the order in which they came."""
        with self._lock:
            return tuple(self._requests)

    def counts(self) -> Counter[str]:
        """How many requests each endpoint got."""
        with self._lock:
            return self._counts.copy()

    def count(self, endpoint: str, *, complete: bool = False) -> int:
        """How many requests an endpoint got, or how many it served undisturbed."""
        return sum(
            request.endpoint == endpoint and (request.complete or not complete) for request in self.requests
        )

    def forget_requests(self) -> None:
        """Start the list of requests anew."""
        with self._lock:
            self._requests.clear()
            self._counts.clear()

    def record(self, target: str) -> tuple[Request, Question | None]:
        """Note a request that came, with the fault that it will meet."""
        path = urlsplit(target).path
        question = Question.parse(path.removeprefix(API)) if path.startswith(API) else None
        endpoint = question.endpoint if question else "download"
        request = Request(target, endpoint, self.faults.draw(endpoint) if self.faults else None)
        with self._lock:
            self._requests.append(request)
            self._counts[endpoint] += 1
            number, of_endpoint = len(self._requests), self._counts[endpoint]
        if self.faults:
            self.faults.run_callbacks(number, endpoint, of_endpoint)
        return request, question

    def reply(self, request: Request, question: Question | None) -> Reply:
        """What a request gets, fault included."""
        faults = self.faults
        if faults is None or request.fault is None:
            return self._right_reply(request, question)
        if request.fault == "slow":
            self.closing.wait(faults.slow_seconds)
        if request.fault == "unavailable":
            return _front_end(503, "503 Service Temporarily Unavailable")
        if request.fault == "too_many":
            return Reply(429, b"Too many requests", "text/plain", retry_after=faults.retry_after)
        if request.fault == "html":
            return Reply(200, _front_end(200, "Welcome to OpenML").body)
        if request.fault == "overloaded":
            return _error(ApiError(107))
        right = self._right_reply(request, question)
        return _spoiled(right, request.fault)

    def _right_reply(self, request: Request, question: Question | None) -> Reply:
        if len(request.path) > LONGEST_TARGET:
            return _front_end(414, "414 Request-URI Too Large")
        if question is None:
            return self._file(urlsplit(request.path).path)
        try:
            self._check_key(request)
            body = self._answers.answer(question, doubled=request.fault == "doubled")
        except ApiError as problem:
            return _error(problem)
        return Reply(200, body, XML)

    def _check_key(self, request: Request) -> None:
        keys = parse_qs(urlsplit(request.path).query).get("api_key", [self.api_key])
        if keys != [self.api_key]:
            raise ApiError(103)

    def _uploaded(self, did: int) -> bytes | None:
        return self._answers.arff(did)

    def _file(self, path: str) -> Reply:
        uploaded, converted = DOWNLOAD.fullmatch(path), CONVERTED.fullmatch(path)
        content = self._uploaded(int(uploaded[1])) if uploaded else None
        if converted:
            content = self.world.parquet.get(int(converted[1]))
        if content is None:
            return _front_end(404, "404 Not Found")
        return Reply(200, content, "text/plain; charset=utf-8")


def _error(problem: ApiError) -> Reply:
    return Reply(412, xml_text.error(problem), XML)


def _front_end(status: int, title: str) -> Reply:
    return Reply(status, FRONT_END_PAGE.format(title=title).encode())


def _spoiled(reply: Reply, fault: str) -> Reply:
    """A right reply with what the fault does to its body."""
    middle = len(reply.body) // 2
    bodies = {
        "empty": b"",
        "truncated": reply.body[:middle],
        "malformed": reply.body[:middle] + b"\x00<&" + reply.body[middle:],
    }
    body = bodies.get(fault, reply.body)
    return Reply(reply.status, body, reply.content_type, broken=fault == "reset")


class _Server(ThreadingHTTPServer):
    owner: OpenMLServer
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no error here; anything else is."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        owner = self.server.owner
        request, question = owner.record(self.path)
        reply = owner.reply(request, question)
        request.status = reply.status
        # Said before the last byte goes out: who has read it may look at once.
        request.complete = request.fault in (None, "slow", "doubled") and reply.status in (200, 412)
        try:
            self._send(reply)
        except OSError:
            request.complete = False
            raise

    def _send(self, reply: Reply) -> None:
        body = reply.body
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.content_type)
        if "gzip" in self.headers.get("Accept-Encoding", ""):
            body = gzip.compress(body, compresslevel=1)
            self.send_header("Content-Encoding", "gzip")
        if reply.retry_after is not None:
            self.send_header("Retry-After", f"{reply.retry_after:g}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if reply.broken:
            self.wfile.write(body[: len(body) // 2])
            self._reset()
        else:
            self.wfile.write(body)

    def _reset(self) -> None:
        """Break the connection, so that the client sees a reset and not an end."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Requests are kept, not printed."""
