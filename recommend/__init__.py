"""Recommendations for a dataset, and a search that starts with them.

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
    from ingest.reading.datasets import load_dataset
    from recommend.bo.tuning import Budget, Search, tune
    from recommend.estimators import HeadstartClassifier, HeadstartRegressor
    from recommend.recommendation import Recommendation
    from recommend.recommender import recommend
    from recommend.seeds import build_pipeline, read_seeds, write_seeds

__all__ = [
    "Budget",
    "HeadstartClassifier",
    "HeadstartRegressor",
    "Recommendation",
    "Search",
    "build_pipeline",
    "load_dataset",
    "read_seeds",
    "recommend",
    "tune",
    "write_seeds",
]

__getattr__ = exported(
    __name__,
    {
        "Budget": "recommend.bo.tuning",
        "HeadstartClassifier": "recommend.estimators",
        "HeadstartRegressor": "recommend.estimators",
        "Recommendation": "recommend.recommendation",
        "Search": "recommend.bo.tuning",
        "build_pipeline": "recommend.seeds",
        "load_dataset": "ingest.reading.datasets",
        "read_seeds": "recommend.seeds",
        "recommend": "recommend.recommender",
        "tune": "recommend.bo.tuning",
        "write_seeds": "recommend.seeds",
    },
)
