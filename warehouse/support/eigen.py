"""Eigenvalues of symmetric matrices, without failures."""

from __future__ import annotations

import numpy as np

from warehouse.support.arrays import Floats


def symmetric_eigen(A: Floats) -> tuple[Floats, Floats]:
    """(n,) ascending eigenvalues and (n, n) orthonormal eigenvectors, in columns, of a symmetric A.

    NumPy's divide-and-conquer method is fast, but fails on some matrices with many equal eigenvalues, such as
    those of uncorrelated trials. The QR algorithm then finds these.

    Raises:
        LinAlgError: A has non-finite entries.
    """
    try:
        values, vectors = np.linalg.eigh(A)
    except np.linalg.LinAlgError:
        if not np.isfinite(A).all():
            raise
        from scipy.linalg import eigh

        values, vectors = eigh(A, driver="ev")
    return values, vectors
