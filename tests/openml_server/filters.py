"""Filters of listings: `/{filter}/{value}/{filter}/{value}` behind the name of the listing.

Each listing has its own error numbers for the same mistakes, in the order in which they are looked for:
a filter that it does not have, a value of the wrong form, an offset without a limit, a limit too high.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.openml_server.errors import ApiError

_NUMBERS = re.compile(r"[0-9]+(,[0-9]+)*")
_STATUS = re.compile(r"active|deactivated|in_preparation|all")
_FORMS = {
    "limit": re.compile(r"[0-9]+"),
    "offset": re.compile(r"[0-9]+"),
    "function": re.compile(r".+", re.DOTALL),
    "show_errors": re.compile(r"true|false"),
    "status": _STATUS,
}
_OF_RUNS = frozenset({"task", "setup", "flow", "uploader", "run"})


@dataclass(frozen=True)
class Listing:
    """The filters of a listing and its error numbers; those without a `limit_too_high` have no page limit."""

    filters: frozenset[str]
    illegal_filter: int
    bad_value: int
    no_rows: int
    lonely_offset: int
    limit_too_high: int | None = None
    too_many_rows: int | None = None
    no_filter: int | None = None


DATA = Listing(frozenset({"data_id", "status"}), 370, 371, 372, 373)
TASK = Listing(frozenset({"type", "status", "task_id", "data_id"}), 480, 481, 482, 483)
RUN = Listing(_OF_RUNS | {"show_errors"}, 514, 511, 512, 515, 516, 513, 510)
EVALUATION = Listing(_OF_RUNS | {"function"}, 544, 541, 542, 545, 546, 543, 540)
SETUP = Listing(frozenset({"flow", "setup"}), 671, 672, 674, 675, 676, 673, 670)


class Filters(Mapping[str, str]):
    """The filters of a request that have the right form."""

    def __init__(self, listing: Listing, segments: Sequence[str], page_limit: int) -> None:
        """Raises `ApiError` for what the listing does not accept."""
        self.listing = listing
        self._values = dict(zip(segments[::2], [*segments[1::2], ""], strict=False))
        self._check_forms()
        self._check_paging(page_limit)

    def __getitem__(self, name: str) -> str:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def limit(self) -> int | None:
        """Rows that a page has at most."""
        return int(self["limit"]) if "limit" in self else None

    @property
    def offset(self) -> int:
        """Rows before the page."""
        return int(self.get("offset", 0))

    @property
    def selection(self) -> frozenset[tuple[str, str]]:
        """What tells which rows match, whatever page of them is asked for."""
        return frozenset(item for item in self.items() if item[0] not in ("limit", "offset"))

    def numbers(self, name: str) -> frozenset[int] | None:
        """The ids that a filter lists, None where it is not given."""
        return frozenset(map(int, self[name].split(","))) if name in self else None

    def _check_forms(self) -> None:
        legal = self.listing.filters | {"limit", "offset"}
        illegal = [name for name in self if name not in legal]
        if illegal:
            raise ApiError(
                self.listing.illegal_filter,
                "Illegal filter specified",
                f"Legal filter operators: {','.join(sorted(legal))}. "
                f"Found illegal filter(s): {', '.join(illegal)}",
            )
        wrong = [name for name, value in self.items() if not _FORMS.get(name, _NUMBERS).fullmatch(value)]
        if wrong:
            information = f"Filters with illegal values: {','.join(wrong)}"
            raise ApiError(self.listing.bad_value, "Input not safe", information)

    def _check_paging(self, page_limit: int) -> None:
        if self.offset and self.limit is None:
            raise ApiError(self.listing.lonely_offset, "Can not specify offset without limit")
        too_high = self.listing.limit_too_high
        if too_high is not None and self.limit is not None and self.limit > page_limit:
            raise ApiError(too_high, "Requested result limit too high.", f"Maximum: {page_limit}")
        if self.listing.no_filter is not None and not self:
            raise ApiError(
                self.listing.no_filter,
                "Please provide at least task, flow or setup, uploader or run, to filter results.",
            )
