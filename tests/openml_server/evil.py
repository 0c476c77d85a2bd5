"""A server that does its clients harm: answers without end, that unpack without bound, that lead elsewhere.

with EvilServer("slow drip") as server:
    ...  # whatever is asked for at server.url ends like that
"""

import hashlib
import itertools
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Self

PIECE = b"x" * 65_536
_XML = b"Content-Type: text/xml\r\n"
_ROOT = b'<oml:data_set_description xmlns:oml="http://openml.org/openml">'
_END = b"</oml:data_set_description>"
_ROWS = b"size,colour,class\n" + b"1.5,red,x\n2.5,blue,y\n" * 20


def _head(status: bytes, *fields: bytes) -> bytes:
    lines = [b"HTTP/1.1 " + status, b"Connection: close", *fields]
    return b"".join(line.rstrip(b"\r\n") + b"\r\n" for line in lines) + b"\r\n"


def _ok(body: bytes, *fields: bytes) -> bytes:
    return _head(b"200 OK", b"Content-Length: %d" % len(body), *fields) + body


def _endless(beginning: bytes, piece: bytes = PIECE) -> Callable[[], Iterator[bytes]]:
    return lambda: itertools.chain([beginning], itertools.repeat(piece))


def _whole(content: bytes) -> Callable[[], Iterator[bytes]]:
    return lambda: iter([content])


def _packed(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The packed pieces, most of them empty, so that the server can end between any two."""
    return map(zlib.compressobj(9, wbits=31).compress, pieces)


def _dripped(content: bytes, seconds: float) -> Iterator[bytes]:
    for place in range(len(content)):
        time.sleep(seconds)
        yield content[place : place + 1]


_ZEROS = itertools.repeat(bytes(1 << 20))
_GZIP = b"Content-Encoding: gzip"

MODES: dict[str, Callable[[], Iterator[bytes]]] = {
    "endless body": _endless(_head(b"200 OK")),
    "endless document": _endless(_head(b"200 OK", _XML) + _ROOT, b"<a/>" * 9_000),
    "endless error": _endless(_head(b"412 No")),
    "endless head": _endless(b"HTTP/1.1 200 OK\r\n", b"X-Header: 1\r\n" * 500),
    "endless line of a head": _endless(b"HTTP/1.1 200 OK\r\nX-Header: "),
    "endless heads": _endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 100),
    "gzip bomb": lambda: itertools.chain([_head(b"200 OK", _GZIP)], _packed(_ZEROS)),
    "gzip bomb in a gzip": lambda: itertools.chain(
        [_head(b"200 OK", b"Content-Encoding: gzip, gzip")], _packed(_packed(_ZEROS))
    ),
    "cut off gzip": _whole(_ok(zlib.compress(_ROOT, wbits=31)[:-4], _GZIP)),
    "damaged gzip": _whole(_ok(b"no gzip", _GZIP)),
    "unknown encoding": _whole(_ok(b"body", b"Content-Encoding: compress")),
    "slow drip": lambda: itertools.chain([_head(b"200 OK")], _dripped(PIECE, 0.1)),
    "slow drip of a head": lambda: _dripped(_head(b"200 OK", b"X-Header: " + PIECE[:9_000]), 0.1),
    "silence": lambda: _dripped(b"H", 3_600),
    "shorter than announced": _whole(_head(b"200 OK", b"Content-Length: 1000") + b"<a"),
    "announced as endless": _whole(_head(b"200 OK", b"Content-Length: " + b"9" * 18) + b"<a"),
    "an odd length": _whole(_head(b"200 OK", b"Content-Length: -5") + b"<a"),
    "damaged chunks": _whole(_head(b"200 OK", b"Transfer-Encoding: chunked") + b"zz\r\n<a\r\n"),
    "no HTTP": _whole(b"220 mail.example.org ESMTP\r\n"),
    "reset at once": lambda: iter([]),
    "endless redirect": _endless(_head(b"302 Found", b"Location: /again")),
    "redirect loop": _whole(_head(b"302 Found", b"Location: /again", b"Content-Length: 0")),
    "redirect to a file": _whole(_head(b"302 Found", b"Location: file:///etc/passwd")),
    "redirect to another protocol": _whole(_head(b"302 Found", b"Location: gopher://127.0.0.1/")),
    "redirect to no address": _whole(_head(b"302 Found", b"Location: http://[")),
    "HTML": _whole(_ok(b"<html><body>Welcome</body></html>")),
    "JSON": _whole(_ok(b'{"data_set_description": ' + b"[" * 100_000)),
    "empty": _whole(_ok(b"")),
    "deep XML": _whole(_ok(_ROOT + b"<a>" * 250_000)),
    "deep and closed XML": _whole(_ok(_ROOT + b"<a>" * 120_000 + b"</a>" * 120_000 + _END)),
    "many tags": _whole(_ok(_ROOT + b"<a/>" * 1_000_000)),
    "entity bomb": _whole(_ok(b'<!DOCTYPE a [<!ENTITY a "' + PIECE + b'">]>' + _ROOT + b"&a;" * 99_999)),
}
"""How a request is answered: the pieces that are sent, after which the connection ends."""


class EvilServer:
    """Answers requests by one of `MODES` while the context is open.

    Args:
        mode: how requests for files are answered, and with `at="data"` those for descriptions as well.
    """

    def __init__(self, mode: str, *, at: str = "data") -> None:
        self.requests = 0
        """Requests that were answered by the mode."""
        self._answer = MODES[mode]
        self._at = at
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._is_closing = False
        self.origin = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.url = f"{self.origin}/api/v1"

    def __enter__(self) -> Self:
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_closing = True
        self._socket.shutdown(socket.SHUT_RDWR)  # ends `accept`, which goes on waiting for a closed socket
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._reply, args=(connection,), daemon=True).start()

    def _reply(self, connection: socket.socket) -> None:
        with connection:
            try:
                request = connection.recv(65_536)
                if self._at == "file" and b"/api/" in request.partition(b"\r\n")[0]:
                    connection.sendall(_ok(self._description()))
                    return
                self.requests += 1
                for piece in self._answer():
                    if self._is_closing:
                        return
                    connection.sendall(piece)
            except OSError:
                return  # the client has enough

    def _description(self) -> bytes:
        md5 = hashlib.md5(_ROWS, usedforsecurity=False).hexdigest().encode()
        return (
            _ROOT + b"<oml:id>31</oml:id><oml:name>evil</oml:name><oml:url>" + self.origin.encode()
            + b"/file</oml:url><oml:md5_checksum>" + md5 + b"</oml:md5_checksum>" + _END
        )  # fmt: skip
