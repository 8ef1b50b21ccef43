"""How close a linear ranker is to the one that true labels teach."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from rankloop.errors import SettingError
from rankloop.lab.simulation.lambdarank_probe import offline_lambdarank
from rankloop.lab.simulation.measures import Measure
from rankloop.lab.simulation.offline_rankers import offline_ranknet
from rankloop.lab.simulation.probe_base import Checkpoint, CheckpointProbe
from rankloop.policies import Policy
from rankloop.scorers import Linear
from rankloop.types import FloatArray

Teacher: TypeAlias = Literal["ranknet", "lambdarank"]
TEACHERS: Mapping[Teacher, tuple[str, Callable[..., FloatArray]]] = {
    "ranknet": ("RankNet", offline_ranknet),
    "lambdarank": ("LambdaRank", offline_lambdarank),
}


@dataclass(frozen=True, kw_only=True)
class CosineToOffline(CheckpointProbe):
    r"""The cosine of the angle between the learned weights and those of an offline RankNet or LambdaRank.

    $$\cos(\theta, \theta^*) = \frac{\theta^\top \theta^*}{\lVert\theta\rVert \lVert\theta^*\rVert}$$

    Before anything is learned there is no direction, and it is 0. `pairs` and `regularisation` are the
    offline ranker's.

    Jia, Wang, Guo, Wang: PairRank: online pairwise learning to rank by divide-and-conquer. WWW 2021,
    Figure 5 (RankNet). Wang, Kim, McCord-Snook, Wu, Wang: Variance reduction in gradient exploration for
    online learning to rank. SIGIR 2019, Figure 3 (LambdaRank).
    """

    name: ClassVar[str] = "cosine"

    teacher: Teacher = "ranknet"
    pairs: int = 50_000
    regularisation: float = 1.0

    def __post_init__(self) -> None:
        """Refuse an offline ranker that cannot be trained."""
        if self.teacher not in TEACHERS:
            raise SettingError(f"teacher must be one of {', '.join(TEACHERS)}, found {self.teacher!r}")
        if self.pairs < 1 or not 0 < self.regularisation < np.inf:
            raise SettingError(f"pairs must be at least 1 and regularisation positive, found {self}")

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The cosine to the weights of this teacher."""
        meaning = "How close are the learned weights to those that the true labels teach? 1: same direction."
        name = f"cosine to offline {TEACHERS[self.teacher][0]}"
        return (Measure(name, kind=self.name, direction="higher", unit="cosine", meaning=meaning),)

    def applies(self, policy: Policy) -> bool:
        """To policies with the weights of a linear scorer."""
        parameters, scorer = getattr(policy, "parameters", None), getattr(policy, "scorer", Linear())
        return isinstance(parameters, np.ndarray) and parameters.ndim == 1 and isinstance(scorer, Linear)

    def values(self, checkpoint: Checkpoint) -> Mapping[Measure, float]:
        """Compare the weights as they are now."""
        learned: FloatArray = checkpoint.policy.parameters  # type: ignore[attr-defined]  # applies() saw them
        _, teach = TEACHERS[self.teacher]
        ideal = teach(checkpoint.train, pairs=self.pairs, regularisation=self.regularisation)
        return {self.measures[0]: cosine(learned, ideal) if learned.size else 0.0}


def cosine(a: FloatArray, b: FloatArray) -> float:
    """The cosine of the angle between two vectors; 0 if one has no direction.

    >>> round(cosine(np.array([1.0, 1.0]), np.array([0.0, 2.0])), 4)
    0.7071
    """
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / lengths if lengths > 0 else 0.0
