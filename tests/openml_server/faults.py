"""What goes wrong between a server and its clients, on purpose."""

import random
import threading
from collections.abc import Callable, Collection, Sequence

KINDS = (
    "unavailable",  # 503 with a page of the web server in front
    "too_many",  # 429 with Retry-After
    "reset",  # the connection breaks in the middle of the body
    "truncated",  # 200, and a body that ends too early, of the length that the header says
    "html",  # 200, and an HTML page
    "empty",  # 200, and nothing
    "slow",  # the right answer, late
    "overloaded",  # 412 with code 107
    "doubled",  # the page shows some rows of the page before it (the first: of itself) a second time
    "malformed",  # 200, and a body that does not parse, whole as it is
)


class Faults:
    """Draws a fault, or none, for each request to the endpoints given (all, if none are).

    `planned` are the faults of the first such requests (None: no fault), after which they come with
    probability `rate`. The same request asked again draws anew.
    """

    def __init__(
        self,
        rate: float = 0.05,
        kinds: Sequence[str] = KINDS,
        seed: int = 0,
        *,
        endpoints: Collection[str] | None = None,
        planned: Sequence[str | None] = (),
        slow_seconds: float = 2.0,
        retry_after: float = 0,
    ) -> None:
        unknown = {*kinds, *filter(None, planned)} - {*KINDS}
        if unknown:
            raise ValueError(f"unknown kinds of faults: {sorted(unknown)}; known are {KINDS}")
        self.rate = rate
        self.kinds = tuple(kinds)
        self.endpoints = endpoints
        self.slow_seconds = slow_seconds
        self.retry_after = retry_after
        self._planned = list(planned)
        self._draws = random.Random(seed)
        self._lock = threading.Lock()
        self._callbacks: list[tuple[int, str | None, Callable[[], None]]] = []

    def draw(self, endpoint: str) -> str | None:
        """The fault of the next request to an endpoint."""
        if self.endpoints is not None and endpoint not in self.endpoints:
            return None
        with self._lock:
            if self._planned:
                return self._planned.pop(0)
            return self._draws.choice(self.kinds) if self._draws.random() < self.rate else None

    def insert_between_pages(
        self, request: int, callback: Callable[[], None], *, endpoint: str | None = None
    ) -> None:
        """Call something (that adds a run, say) before the n-th request is answered, counted from 1.

        With an endpoint, only requests to it count.
        """
        with self._lock:
            self._callbacks.append((request, endpoint, callback))

    def run_callbacks(self, number: int, endpoint: str, number_of_endpoint: int) -> None:
        """Call what waits for this request, each once."""
        numbers = {None: number, endpoint: number_of_endpoint}
        with self._lock:
            due = [entry for entry in self._callbacks if numbers.get(entry[1]) == entry[0]]
            self._callbacks = [entry for entry in self._callbacks if entry not in due]
        for _, _, callback in due:
            callback()
