"""Meta-features (OpenML's qualities) of a dataset: one extractor for every source of data."""

from ingest.datasets import Dataset
from ingest.metafeatures.registry import EXTRACTOR, METAFEATURES, MetaFeature, metafeature_names
from ingest.metafeatures.statistical import count_based

__all__ = ["EXTRACTOR", "METAFEATURES", "MetaFeature", "compute_metafeatures", "metafeature_names"]


def compute_metafeatures(dataset: Dataset) -> dict[str, float]:
    """Every registered meta-feature by name; NaN where it does not exist for the dataset.

    Names, units and definitions are those of `registry.METAFEATURES`.
    """
    return count_based(dataset)
