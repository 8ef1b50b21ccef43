"""Exposure of two groups over a run, as positions promise it and as users truly look."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rankloop.bounds import NonNegative, Positive
from rankloop.errors import SettingError
from rankloop.exposure import VIEW, Examination, check_examination, views_at
from rankloop.exposure.position_views import MEASURED
from rankloop.lab.simulation.measures import Measure
from rankloop.lab.simulation.probes import Round, Values, probe
from rankloop.policies import Policy
from rankloop.types import BoolArray, FloatArray, Ranking

KIND = "exposure"
UNFAIRNESS = Measure(
    "unfairness",
    kind=KIND,
    unit="views",
    title="unfairness so far, in views",
    meaning="How many views more than its due did the first group get so far? 0 is fair; above, it is ahead.",
)
LARGEST = Measure(
    "largest unfairness",
    kind=KIND,
    direction="lower",
    unit="views",
    meaning="How far from 0 was the unfairness at its worst, in either direction?",
)
WITHIN = Measure(
    "rounds within tolerance",
    kind=KIND,
    direction="higher",
    unit="share",
    title="share of rounds within the tolerance",
    meaning="After how many of the lists so far was the unfairness within the tolerance?",
)
SHARE = Measure(
    "exposure of the first group",
    kind=KIND,
    unit="share",
    title="share of the views of the first group",
    meaning="Which share of all views so far went to the first group, by the positions it held?",
)
SEEN = Measure(
    "seen of the first group",
    kind=KIND,
    unit="share",
    title="share of what was truly seen that was of the first group",
    meaning="Of all results that users truly looked at so far, which share was of the first group? Only "
    "simulated users tell.",
)

EXPOSURE = (UNFAIRNESS, LARGEST, WITHIN, SHARE, SEEN)


@dataclass(eq=False)
class ExposureSums:
    """What the two groups got so far."""

    lists: int = 0
    within: int = 0
    unfairness: float = 0.0
    largest: float = 0.0
    granted: FloatArray = field(default_factory=lambda: np.zeros(2))
    seen: FloatArray = field(default_factory=lambda: np.zeros(2))


def check_exposure(*, beta: float, epsilon: float, examination: Examination, groups: tuple[str, ...]) -> None:
    """Refuse what is no examination, and a group that is compared with itself."""
    del beta, epsilon
    if len(groups) != 2 or len(set(groups)) != 2:
        raise SettingError(f"groups must be the names of two groups, found {groups!r}")
    check_examination(examination)


@probe(
    KIND,
    measures=EXPOSURE,
    needs=Policy,
    every=None,
    reduce="last",
    start=ExposureSums,
    check=check_exposure,
)
def measure_exposure(
    round: Round,
    sums: ExposureSums,
    *,
    beta: Positive = 1.0,
    epsilon: NonNegative = 0.1,
    examination: Examination = MEASURED,
    groups: tuple[str, str] = ("A", "B"),
) -> Values:
    r"""Measure the unfairness of a run, the views that the first group got beyond its due.

    $$UF_t = \sum_{s \le t} (\text{views of A} - \beta \cdot \text{views of B})$$

    Examination is measured on the users of the sweep, unless it is given. Lists without groups count
    for nobody.

    Jia: Toward reliable decision-making in information systems. PhD thesis, University of Virginia 2022,
    Equation 3.1.1.
    """
    ranking, feedback = round.ranking, round.feedback
    if not ranking.query.groups:
        return {}
    shown = find_groups(ranking, groups)
    given = shown @ (views_at(examination, len(ranking)) / VIEW)
    sums.granted += given
    sums.unfairness += float(given[0] - beta * given[1])
    sums.largest = max(sums.largest, abs(sums.unfairness))
    sums.lists += 1
    sums.within += abs(sums.unfairness) <= epsilon + 1e-5  # views are whole millionths
    if feedback.truly_examined is not None:
        sums.seen += find_groups(feedback.ranking, groups) @ feedback.truly_examined.astype(np.float64)
    values = {
        "unfairness": sums.unfairness,
        "largest unfairness": sums.largest,
        "rounds within tolerance": sums.within / sums.lists,
        "exposure of the first group": float(sums.granted[0] / sums.granted.sum()),
    }
    if sums.seen.any():
        values["seen of the first group"] = float(sums.seen[0] / sums.seen.sum())
    return values


def find_groups(ranking: Ranking, groups: tuple[str, str]) -> BoolArray:
    """Find which positions are of which group, [2, k]."""
    names = ranking.query.groups
    shown = [names[row] for row in ranking.order.tolist()]
    return np.array([[name == group for name in shown] for group in groups])
