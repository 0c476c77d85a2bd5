"""Eigenvalues of symmetric matrices, found for every one of them."""

from __future__ import annotations

import numpy as np

from warehouse.support.arrays import Floats


def symmetric_eigen(A: Floats) -> tuple[Floats, Floats]:
    """(n,) eigenvalues in ascending order and (n, n) orthonormal eigenvectors, in columns, of a symmetric A.

    NumPy's method, divide and conquer, is fast, and gives up on some matrices many of whose eigenvalues are
    equal, as those of trials that have nothing to do with one another are. The QR algorithm finds those, too.

    Raises:
        LinAlgError: A has a number that is not finite.
    """
    try:
        values, vectors = np.linalg.eigh(A)
    except np.linalg.LinAlgError:
        if not np.isfinite(A).all():
            raise
        from scipy.linalg import eigh

        values, vectors = eigh(A, driver="ev")
    return values, vectors
