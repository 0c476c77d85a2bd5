"""Recommendations for a dataset, and a search that starts with them.

From a file or a data frame to a ranking:
    `load_dataset`: read a file, `openml:ID` or a data frame, and tell what its columns are.
    `recommend`: rank configurations for a dataset; with `verify=SECONDS`, try the first ones on it.
    `Recommendation`: what `recommend` returns: `configurations`, `code(rank)`, `document()`, `ranges()`.
    `build_pipeline`: the unfitted scikit-learn pipeline of a recommended configuration.
    `read_seeds`, `write_seeds`: a recommendation as a JSON file.

To a fitted model:
    `HeadstartClassifier`, `HeadstartRegressor`: scikit-learn estimators whose `fit` is the whole search.
    `tune`: the same search on a loaded dataset.
    `Search`, `Budget`: the settings of `tune`, and its limit in trials or seconds.
    `Space`: the joint search space of algorithms, as vectors and as configurations.
    `SearchResult`: what `tune` returns: `leaderboard`, `weights`, `model`, `code()`.

Example:
    >>> from recommend import build_pipeline, load_dataset, recommend
    >>> dataset = load_dataset("recommend/examples/subscribers.csv")
    >>> configurations = recommend(dataset, top=3).document()["configurations"]
    >>> [configuration["rank"] for configuration in configurations]
    [1, 2, 3]
    >>> pipeline = build_pipeline(configurations[0], dataset).fit(dataset.features, dataset.target)
    >>> len(pipeline.predict(dataset.features))
    1000
"""

from typing import TYPE_CHECKING

from warehouse.support.exports import exported

if TYPE_CHECKING:
    from ingest.reading.datasets import load_dataset as load_dataset
    from recommend.bo.tuning import Budget as Budget
    from recommend.bo.tuning import Search as Search
    from recommend.bo.tuning import SearchResult as SearchResult
    from recommend.bo.tuning import tune as tune
    from recommend.estimators import HeadstartClassifier as HeadstartClassifier
    from recommend.estimators import HeadstartRegressor as HeadstartRegressor
    from recommend.recommendation import Recommendation as Recommendation
    from recommend.recommender import recommend as recommend
    from recommend.seeds import build_pipeline as build_pipeline
    from recommend.seeds import read_seeds as read_seeds
    from recommend.seeds import write_seeds as write_seeds
    from recommend.space import Space as Space

__getattr__, __dir__, __all__ = exported(
    __name__,
    {
        "ingest.reading.datasets": ["load_dataset"],
        "recommend.bo.tuning": ["Budget", "Search", "SearchResult", "tune"],
        "recommend.estimators": ["HeadstartClassifier", "HeadstartRegressor"],
        "recommend.recommendation": ["Recommendation"],
        "recommend.recommender": ["recommend"],
        "recommend.seeds": ["build_pipeline", "read_seeds", "write_seeds"],
        "recommend.space": ["Space"],
    },
)
