"""What a search is made of: surrogates, acquisition functions, strategies and starts."""

from __future__ import annotations

from docs.parts.markdown import code, gist, plain, table
from recommend.bo.acquisition import ACQUISITIONS, TIMED, UNCERTAIN
from recommend.bo.selection import DEFAULT_STRATEGY, STRATEGIES
from recommend.bo.surrogates import DEFAULT_SURROGATE, SURROGATES
from recommend.bo.warmstart import DEFAULT_START, STARTS, UNLEARNED_STARTS


def surrogates() -> str:
    """The surrogates, and what they rest on."""
    rows = [
        (
            _named(name, DEFAULT_SURROGATE),
            plain(kind.summary),
            ", ".join(
                [f"the meta-learner {code(kind.learner)}"] * bool(kind.learner)
                + ["models of other datasets"] * kind.transfers
            ),
        )
        for name, kind in SURROGATES.items()
    ]
    return table(["surrogate", "what it predicts with", "rests on"], rows)


def acquisitions() -> str:
    """The acquisition functions, and what they need."""
    rows = [
        (
            code(name),
            gist(function.__doc__),
            ", ".join(["standard deviations"] * (name in UNCERTAIN) + ["running times"] * (name in TIMED)),
        )
        for name, function in ACQUISITIONS.items()
    ]
    return table(["acquisition function", "what it is", "needs"], rows)


def strategies() -> str:
    """The strategies, with the surrogate that they take where none is named."""
    rows = [
        (
            _named(name, DEFAULT_STRATEGY) + ("" if own.argued is None else f", {code(f'{name}@ARGUMENT')}"),
            plain(own.summary),
            code(own.surrogate),
            "yes" if own.shares else "",
        )
        for name, own in STRATEGIES.items()
    ]
    return table(
        ["strategy", "the algorithm of the next trial", "surrogate", "fits on a share of the rows"], rows
    )


def starts() -> str:
    """The starts, with the meta-learner that chooses."""
    learned = [
        (_named(name, DEFAULT_START), plain(own.summary), code(own.learner)) for name, own in STARTS.items()
    ]
    others = [(code(name), plain(summary), "") for name, summary in UNLEARNED_STARTS.items()]
    return table(["start", "the first configurations", "meta-learner"], [*learned, *others])


def _named(name: str, default: str) -> str:
    return code(name) + (" (default)" if name == default else "")
