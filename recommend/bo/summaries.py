"""Names and summaries of the parts of a search."""

from recommend.bo.acquisition import ACQUISITIONS
from recommend.bo.strategies import all_strategies
from recommend.bo.surrogates import all_surrogates
from recommend.bo.warmstart import STARTS, UNLEARNED_STARTS


def summaries() -> dict[str, dict[str, str]]:
    """Part of a search -> available name -> its one-line description."""
    return {
        "surrogates": {name: method.summary for name, method in all_surrogates().items()},
        "strategies": {name: strategy.summary for name, strategy in all_strategies().items()},
        "acquisitions": {
            name: (function.__doc__ or "").partition(".\n")[0].removesuffix(".")
            for name, function in ACQUISITIONS.items()
        },
        "starts": {name: start.summary for name, start in STARTS.items()} | UNLEARNED_STARTS,
    }
