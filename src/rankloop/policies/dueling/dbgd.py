"""Dueling bandit gradient descent: try one direction, keep it if users prefer it."""

from __future__ import annotations

from dataclasses import dataclass

from rankloop.bounds import Count, Factor
from rankloop.policies.dueling.mgd import MGD


@dataclass(kw_only=True, eq=False)
class DBGD(MGD):
    r"""Duels the current ranker against one random neighbour, and moves there if the neighbour wins.

    $\theta' = \theta + \delta u$, $u$ uniform on the unit sphere; the list shown interleaves both; if
    $\theta'$ earned more credit, $\theta \leftarrow \theta + \eta u$. It is `MGD` with one candidate.

    >>> import numpy as np
    >>> from rankloop.types import Feedback, Query
    >>> policy = DBGD(step=1.0)
    >>> shown = policy.rank(Query("q", np.eye(5)), k=5, rng=np.random.default_rng(0))
    >>> challenger = shown.evidence["owners"][1] > 0
    >>> policy.learn(Feedback(shown, challenger))  # every click goes to the challenger
    >>> bool(np.allclose(policy.score(shown.query), shown.evidence["directions"][0]))
    True

    Yue, Joachims: Interactively optimizing information retrieval systems as a dueling bandits problem.
    ICML 2009.
    """

    candidates: Count = 1
    decay: Factor = 0.9999977
