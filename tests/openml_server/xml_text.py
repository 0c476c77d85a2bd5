"""XML documents and texts in them."""

from collections.abc import Iterable
from functools import lru_cache
from html import escape
from html.entities import codepoint2name
from itertools import chain

from tests.openml_server.errors import ApiError

NAMESPACE = 'xmlns:oml="http://openml.org/openml"'

escaped = lru_cache(maxsize=1 << 17)(escape)


def document(root: str, rows: Iterable[str]) -> bytes:
    """A document whose root element is `oml:{root}`; each row is encoded by itself, for speed."""
    parts = chain((f"<oml:{root} {NAMESPACE}>",), rows, (f"</oml:{root}>\n",))
    return b"".join(part.encode() for part in parts)


def error(problem: ApiError) -> bytes:
    """The answer to a request that cannot be served."""
    rows = [("code", str(problem.code)), ("message", problem.message)]
    if problem.information:
        rows.append(("additional_information", problem.information))
    return document("error", (f"<oml:{name}>{escape(text)}</oml:{name}>" for name, text in rows))


def as_html(text: str) -> str:
    """Escaped with HTML's names, as `&eacute;`."""
    plain = escape(text)
    if plain.isascii():
        return plain
    return "".join(
        f"&{codepoint2name[ord(sign)]};" if ord(sign) > 127 and ord(sign) in codepoint2name else sign
        for sign in plain
    )
