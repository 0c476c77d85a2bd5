"""Group `model`: the shape of a decision tree that is grown on the whole sample until its leaves are pure."""

import numpy as np

from ingest.metafeatures.prepared import Prepared
from ingest.metafeatures.trees import grow
from ingest.metafeatures.values import Values
from warehouse.vocabulary.qualities import GROUPS


def model(prepared: Prepared) -> Values:
    """Leaves, branches and attributes of the tree."""
    if reason := prepared.no_sample:
        return dict.fromkeys(GROUPS["model"], reason)
    sample = prepared.sample
    tree = grow(sample.tree_columns, sample.y, sample.n_classes)
    leaves = int(tree.is_leaf.sum())
    branches = tree.depth[tree.is_leaf]
    values: Values = {
        "TreeLeavesPerClass": leaves / sample.n_classes,
        "TreeLeavesPerRow": leaves / len(sample.y),
        "TreeDepth": float(branches.max()),
        "MeanTreeBranchLength": float(branches.mean()),
        "StdevTreeBranchLength": float(branches.std()),
    }
    splits = tree.feature[~tree.is_leaf]
    of_use = ("MaxTreeAttributeUse", "StdevTreeAttributeUse", "TreeAttributesUsed")
    if not len(splits):
        return values | dict.fromkeys(of_use, "no split tells the classes apart")
    use = np.bincount(splits, minlength=sample.attributes) / len(splits)
    numbers = (use.max(), use.std(), (use > 0).mean())
    return values | {name: float(number) for name, number in zip(of_use, numbers, strict=True)}
