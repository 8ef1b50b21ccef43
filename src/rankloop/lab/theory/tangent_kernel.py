"""Neural tangent kernel of documents, and the effective dimension of what a network must learn of them.

Jia, Wang: Learning neural ranking models online from implicit user feedback. WWW 2022, Definition B.1.
Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022,
Definition A.1 and Equation D.11.
"""

from __future__ import annotations

from math import log1p

import numpy as np

from rankloop.errors import SettingError
from rankloop.types import FloatArray, IntArray


def tangent_kernel(features: FloatArray, *, depth: int = 3) -> FloatArray:
    r"""Compute the kernel matrix $H$ of documents, of $L$ layers of weights whose width has no end.

    $$\Sigma^{(1)} = \tilde H^{(1)} = X X^\top, \quad \Sigma^{(l+1)} = 2 E[\phi(u)\phi(v)], \quad
    \tilde H^{(l+1)} = 2 \tilde H^{(l)} E[\phi'(u) \phi'(v)] + \Sigma^{(l+1)}, \quad
    H = (\tilde H^{(L)} + \Sigma^{(L)}) / 2$$

    with $(u, v) \sim \mathcal N(0, \Sigma^{(l)})$ of the two documents and $\phi(x) = \max(x, 0)$. The theory
    asks for rows of length 1.

    >>> tangent_kernel(np.array([[1.0, 0.0], [0.0, 1.0]]), depth=2).round(4).tolist()  # 1/π off the diagonal
    [[1.5, 0.3183], [0.3183, 1.5]]
    """
    if depth < 2:
        raise SettingError(f"depth must be at least 2, found {depth}")
    covariance = features.astype(np.float64) @ features.T.astype(np.float64)
    lengths = np.sqrt(np.diag(covariance))
    scale = np.outer(lengths, lengths)  # of every layer: 2 E[φ(u)²] is the variance of u
    kernel = covariance
    for _ in range(depth - 1):
        cosine = np.clip(np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > 0), -1, 1)
        open_angle = np.pi - np.arccos(cosine)
        covariance = scale * (np.sqrt(1 - cosine**2) + cosine * open_angle) / np.pi
        kernel = kernel * open_angle / np.pi + covariance
    return np.asarray((kernel + covariance) / 2)


def effective_dimension(kernel: FloatArray, *, regularisation: float, pairs: IntArray | None = None) -> float:
    r"""Compute the effective dimension, $\log\det(I + \hat H / \lambda) / \log(1 + 4 (n + n^P) / \lambda)$.

    $\hat H$ is the kernel of all $n$ documents and of the differences of $n^P$ `pairs` of them, [n_pairs, 2].
    With $\Psi$ for the documents' features and $B$ for the matrix that makes documents and pairs of them,
    $\det(I + B^\top H B / \lambda) = \det(I + H^{1/2} B B^\top H^{1/2} / \lambda)$: a matrix of documents
    suffices.

    >>> round(effective_dimension(np.eye(3), regularisation=1.0), 3)  # 3 log 2 / log 13
    0.811
    """
    if not 0 < regularisation < np.inf:
        raise SettingError(f"regularisation must be positive, found {regularisation}")
    n = len(kernel)
    seen = np.eye(n)
    count = 0 if pairs is None else len(pairs)
    if pairs is not None:
        ends = np.zeros((count, n))
        ends[np.arange(count), pairs[:, 0]] += 1
        ends[np.arange(count), pairs[:, 1]] -= 1
        seen = seen + ends.T @ ends
    values, vectors = np.linalg.eigh(kernel)
    root = vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T
    known: float = np.linalg.slogdet(np.eye(n) + root @ seen @ root / regularisation)[1]
    return float(known / log1p(4 * (n + count) / regularisation))
