"""The likelihood of scores under Gaussian processes, with an explicit gradient.

Notation, beside that of `metalearners.published.factorization.gplvm`
    B, n   datasets of a step, rows of each
    C      (n, n) K(X_o, X_o) + sigma2 I
    nll    1/2 (n log 2 pi + log |C| + y' C^-1 y), summed over datasets
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor


def nll(
    covariance: Tensor,  # (B, n, n) of the functions
    sigma2: Tensor,
    y: Tensor,  # (B, n), 0 where missing
    observed: Tensor,  # (B, n) bool
) -> Tensor:
    """nll of B datasets, each over its observed rows."""
    result: Tensor = _ExactNll.apply(covariance, sigma2, y, observed)  # type: ignore[no-untyped-call]
    return result


class _ExactNll(torch.autograd.Function):
    """nll with the gradient d nll / d C = 1/2 (C^-1 - C^-1 y y' C^-1), which costs one more inversion."""

    @staticmethod
    def forward(context: Any, covariance: Tensor, sigma2: Tensor, y: Tensor, observed: Tensor) -> Tensor:
        both = observed[:, :, None] & observed[:, None, :]
        # A missing row gets variance 1 and covariance 0, so that it changes neither determinant nor square.
        C = torch.where(both, covariance, 0.0)
        C.diagonal(dim1=-2, dim2=-1).add_(torch.where(observed, sigma2.to(C.dtype), 1.0))
        L = torch.linalg.cholesky(C)
        log_det = 2 * L.diagonal(dim1=-2, dim2=-1).log().sum()
        inverse = torch.cholesky_inverse(L)
        weights = (inverse @ y[..., None])[..., 0]
        slope = 0.5 * torch.where(both, inverse - weights[:, :, None] * weights[:, None, :], 0.0)
        slope_sigma2 = slope.diagonal(dim1=-2, dim2=-1).sum()
        context.save_for_backward(slope, slope_sigma2.to(sigma2.dtype))
        loss: Tensor = 0.5 * (int(observed.sum()) * math.log(2 * math.pi) + log_det + (y * weights).sum())
        return loss

    @staticmethod
    def backward(context: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        slope, slope_sigma2 = context.saved_tensors
        return grad * slope, grad * slope_sigma2, None, None


class LowRankNll(torch.autograd.Function):
    """nll with C = Phi_o Phi_o' + sigma2 I, at the cost of the listed rows' Gram matrices.

    With A = Phi_o' Phi_o + sigma2 I and m = A^-1 Phi_o' y (Woodbury):
        log |C|       = log |A| + (n - M) log sigma2
        y' C^-1 y     = (y'y - y' Phi_o m) / sigma2
        d nll / d phi = A^-1 phi - (y - phi'm) m / sigma2     for each row phi of Phi_o
    """

    @staticmethod
    def forward(
        context: Any,
        phi: Tensor,  # (N, M)
        sigma2: Tensor,
        y: Tensor,  # (B, N)
        observed: Tensor,  # (B, N)
        listed: list[Tensor],
        lists_missing: list[bool],
    ) -> Tensor:
        M = phi.shape[1]
        # float32 is precise enough for the sums of products, not for the factorization
        gram = (phi.T @ phi).double()
        identity = torch.eye(M, dtype=torch.float64, device=phi.device)
        projected = (y @ phi).double()  # (B, M)
        s2 = sigma2.double()
        total = torch.zeros((), dtype=torch.float64, device=phi.device)
        slope_sigma2 = torch.zeros_like(total)
        inverse_sum = torch.zeros_like(gram)  # over datasets whose missing rows are listed
        slope, m = torch.zeros_like(phi), torch.zeros_like(projected)
        for b, (rows, missing) in enumerate(zip(listed, lists_missing, strict=True)):
            part = phi[rows]
            own = (part.T @ part).double()
            A = (gram - own if missing else own) + s2 * identity
            L = torch.linalg.cholesky(A)
            A_inverse = torch.cholesky_inverse(L)
            m[b] = A_inverse @ projected[b]
            n = int(observed[b].sum())
            unexplained = (y[b].double() ** 2).sum() - projected[b] @ m[b]
            log_det = 2 * L.diagonal().log().sum() + (n - M) * s2.log()
            total += 0.5 * (n * math.log(2 * math.pi) + log_det + unexplained / s2)
            slope_sigma2 += 0.5 * (
                (n - M) / s2 + A_inverse.diagonal().sum() - unexplained / s2**2 + (m[b] ** 2).sum() / s2
            )
            change = part @ A_inverse.to(phi.dtype)
            if missing:
                inverse_sum += A_inverse
                change.neg_()
            slope.index_add_(0, rows, change)
        slope += phi @ inverse_sum.to(phi.dtype)
        m = m.to(phi.dtype)
        missed = torch.where(observed, y - m @ phi.T, 0.0)  # (B, N)
        slope -= (missed.T @ m) / sigma2
        context.save_for_backward(slope, slope_sigma2.to(sigma2.dtype))
        return total.to(phi.dtype)

    @staticmethod
    def backward(context: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        slope, slope_sigma2 = context.saved_tensors
        return grad * slope, grad * slope_sigma2, None, None, None, None


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Run small matrices in one thread: several would wait for one another."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
