"""Probes that compare what was learned with linear rankers trained on the true labels."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias

import numpy as np

from rankloop.bounds import Count, Positive
from rankloop.lab.simulation.measures import Measure
from rankloop.lab.simulation.offline_rankers import train_lambdarank, train_ranknet
from rankloop.lab.simulation.probes import Checkpoint, Round, Values, probe
from rankloop.lab.theory import duel_losses
from rankloop.metrics import NDCG
from rankloop.policies import MGD, Policy
from rankloop.scorers import Linear
from rankloop.types import FloatArray

Teacher: TypeAlias = Literal["ranknet", "lambdarank"]
TEACHERS: Mapping[str, tuple[str, Callable[..., FloatArray]]] = {
    "ranknet": ("RankNet", train_ranknet),
    "lambdarank": ("LambdaRank", train_lambdarank),
}
DUELS = Measure(
    "dueling regret",
    kind="duels",
    direction="lower",
    unit="duels",
    title="dueling regret",
    meaning="How often would the best linear ranker beat those that were compared, beyond half the time?",
)


def describe_cosine(*, teacher: Teacher, **settings: object) -> list[Measure]:
    """Describe the cosine to the weights of this teacher."""
    del settings
    meaning = "How close are the learned weights to those that the true labels teach? 1: same direction."
    name = f"cosine to offline {TEACHERS[teacher][0]}"
    return [Measure(name, kind="cosine", direction="higher", unit="cosine", meaning=meaning)]


def has_linear_weights(policy: Policy) -> bool:
    """Tell whether a policy has the weights of a linear scorer."""
    parameters, scorer = getattr(policy, "parameters", None), getattr(policy, "scorer", Linear())
    return isinstance(parameters, np.ndarray) and parameters.ndim == 1 and isinstance(scorer, Linear)


@probe("cosine", measures=describe_cosine, needs=has_linear_weights, at="checkpoint")
def compare_weights(
    checkpoint: Checkpoint,
    *,
    teacher: Teacher = "ranknet",
    pairs: Count = 50_000,
    regularisation: Positive = 1.0,
) -> Values:
    r"""Compare the learned weights with those of an offline RankNet or LambdaRank, by the cosine.

    $$\cos(\theta, \theta^*) = \frac{\theta^\top \theta^*}{\lVert\theta\rVert \lVert\theta^*\rVert}$$

    Before anything is learned there is no direction, and it is 0. `pairs` and `regularisation` are the
    offline ranker's.

    Jia, Wang, Guo, Wang: PairRank: online pairwise learning to rank by divide-and-conquer. WWW 2021,
    Figure 5 (RankNet). Wang, Kim, McCord-Snook, Wu, Wang: Variance reduction in gradient exploration for
    online learning to rank. SIGIR 2019, Figure 3 (LambdaRank).
    """
    learned: FloatArray = checkpoint.policy.parameters  # type: ignore[attr-defined]  # has_linear_weights
    name, train = TEACHERS[teacher]
    ideal = train(checkpoint.train, pairs=pairs, regularisation=regularisation)
    return {f"cosine to offline {name}": cosine(learned, ideal) if learned.size else 0.0}


def cosine(a: FloatArray, b: FloatArray) -> float:
    """Compute the cosine of the angle between two vectors; 0 if one has no direction.

    >>> round(cosine(np.array([1.0, 1.0]), np.array([0.0, 2.0])), 4)
    0.7071
    """
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / lengths if lengths > 0 else 0.0


def compares_linear_rankers(policy: Policy) -> bool:
    """Tell whether a policy compares a linear ranker with its neighbours."""
    return isinstance(policy, MGD) and isinstance(policy.scorer, Linear)


@probe("duels", measures=[DUELS], needs=compares_linear_rankers, every=1, reduce="sum")
def sum_duel_regret(round: Round, *, top: Count = 10) -> Values:
    r"""Add up the regret of dueling bandits, $\sum_t f_t(w^*, w_t) + f_t(w^*, w'_t)$ less a half for each.

    $f_t(w^*, w) = \sigma(v_t(w^*) - v_t(w))$ with nDCG@`top` of the query's documents, ranked by the weights,
    as the utility $v_t$. $w^*$ is an offline LambdaRank. Of several candidates their mean counts. It reads
    every round, as a sum should; with `every` above 1 it is an estimate.

    Wang, Kim, McCord-Snook, Wu, Wang: Variance reduction in gradient exploration for online learning to rank.
    SIGIR 2019, Equation 1.
    """
    policy, judged = round.policy, round.judged
    assert isinstance(policy, MGD)
    current = policy.parameters_for(judged.query.features)
    candidates = current + policy.radius * round.ranking.evidence["directions"]
    weights = np.vstack((train_lambdarank(round.train), current, candidates))
    orders = (-(weights @ judged.query.features.T)).argsort(axis=1, kind="stable")
    best, now, *others = (NDCG(k=top)(order, judged.relevance) for order in orders)
    losses = duel_losses(best, np.array([now, *others]))
    return {"dueling regret": float(losses[0] + losses[1:].mean())}
