"""Run a quick test over a table of cases, and name every case that fails."""

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest


def each(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[Callable[..., None]], Any]:
    """Run a test on every case in turn, and fail at the end with the cases that failed.

    It is for quick cases that share nothing that the test changes; for others use `pytest.mark.parametrize`.

    Args:
        names: of the arguments, comma-separated or as a sequence.
        cases: tuples of arguments; plain values for a single argument.
    """
    arguments = names.replace(" ", "").split(",") if isinstance(names, str) else [*names]
    rows = [dict(zip(arguments, case if len(arguments) > 1 else (case,), strict=True)) for case in cases]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def over_cases(*positional: Any, **fixtures: Any) -> None:
            broken: list[tuple[dict[str, Any], BaseException]] = []
            for row in rows:
                try:
                    test(*positional, **fixtures, **row)
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001
                    broken.append((row, error))
            if broken:
                told = "\n".join(f"{row}: {str(error)[:300]}" for row, error in broken)
                raise AssertionError(f"{len(broken)} of {len(rows)} cases fail:\n{told}") from broken[0][1]

        of_test = inspect.signature(test)
        kept = [one for name, one in of_test.parameters.items() if name not in arguments]
        over_cases.__signature__ = of_test.replace(parameters=kept)  # type: ignore[attr-defined]
        return over_cases

    return decorate
