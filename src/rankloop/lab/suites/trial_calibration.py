"""How often a trial of two rankers calls a winner, simulated: trials may be looked at any time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import polars as pl
from scipy.stats import binomtest, norm

from rankloop.evaluation import win_sequence
from rankloop.interleaving import Interleaving, Probabilistic, TeamDraft, credit
from rankloop.lab.data import load
from rankloop.lab.users import PresetUser
from rankloop.query_set import QuerySet
from rankloop.types import FloatArray, IntArray, Ranking

K = 5
TRIALS, FEW_TRIALS = 500, 40
LISTS, FEW_LISTS = 1000, 150
NOISE = 1.0  # of a ranker's scores around the grades
BETTER = 0.6  # noise of the better ranker
METHODS: Mapping[str, Interleaving] = {"team draft": TeamDraft(), "probabilistic": Probabilistic()}
POWER = 0.8


def simulate_trials(data: str, *, quick: bool = False) -> Mapping[str, pl.DataFrame]:
    """Compare two rankers that are equally good, and two of which one is better, again and again."""
    trials, lists = (FEW_TRIALS, FEW_LISTS) if quick else (TRIALS, LISTS)
    queries, rows = load(data).test, []
    for noise, arms in ((NOISE, "equal"), (BETTER, "A is better")):
        for name, method in METHODS.items():
            rng = np.random.default_rng(23)
            wins = [_simulate_wins(queries, method, noise, lists, rng) for _ in range(trials)]
            rows.append({"arms": arms, "interleaving": name} | _count_calls(wins, lists))
    return {"winners": pl.DataFrame(rows)}


def _simulate_wins(
    queries: QuerySet, method: Interleaving, noise: float, lists: int, rng: np.random.Generator
) -> FloatArray:
    """Of each list, who won: 1, -1, or 0 for nobody."""
    user = PresetUser("navigational").for_grades(queries.grades)
    found = np.zeros(lists)
    for number in range(lists):
        judged = queries[int(rng.integers(len(queries)))]
        spread = np.array([[noise], [NOISE]])
        scores = judged.relevance + spread * rng.standard_normal((2, judged.query.n_docs))
        shown = method.combine(np.argsort(-scores, axis=1), k=K, rng=rng)
        clicks = user.respond(Ranking(judged.query, shown.order), judged.relevance, rng).clicks
        mine, theirs = credit(shown.owners, clicks)
        found[number] = np.sign(round(float(mine - theirs), 9))
    return found


def _count_calls(trials: list[FloatArray], lists: int) -> dict[str, float]:
    """How often a winner is called, by the sequence and by a test that is made for one look."""
    first = [_find_first(_sequence_calls(each), lists) for each in trials]
    once, always = zip(*(_test_signs(each) for each in trials), strict=True)
    found = [at for at, call in first if call > 0]
    share = float(np.mean([np.mean(each[each != 0] > 0) for each in trials]))
    decided = float(np.mean([np.mean(each != 0) for each in trials]))
    return {
        "comparisons": len(trials),
        "A wins": share,
        "A is called better": len(found) / len(trials),
        "B is called better": sum(call < 0 for _, call in first) / len(trials),
        "lists needed, median": float(np.median(found)) if found else float("nan"),
        "test at the end": float(np.mean(once)),
        "test after every list": float(np.mean(always)),
        "lists planned for a test": _plan_lists(share, decided),
    }


def _sequence_calls(scores: FloatArray) -> IntArray:
    """After each list, whether the sequence calls A better, 1, or B, -1, or nobody, 0."""
    decided = scores != 0
    found = np.zeros(scores.size, dtype=np.int64)
    if not decided.any():
        return found
    sequence = win_sequence(scores[decided] > 0)
    calls = (sequence.lower > 0.5).astype(np.int64) - (sequence.upper < 0.5)
    last = np.cumsum(decided) - 1
    return np.where(last >= 0, calls[np.maximum(last, 0)], 0)


def _find_first(calls: IntArray, lists: int) -> tuple[int, int]:
    index = int((calls != 0).argmax())
    return (index + 1, int(calls[index])) if calls[index] else (lists, 0)


def _test_signs(scores: FloatArray) -> tuple[bool, bool]:
    """Whether a sign test of 5 % is significant at the end, and whether it ever was from ten wins on."""
    decided = scores[scores != 0]
    count = np.arange(1, decided.size + 1)
    z = np.abs(np.cumsum(decided)) / np.sqrt(count)
    end = bool(decided.size and binomtest(int((decided > 0).sum()), decided.size).pvalue < 0.05)
    return end, bool((z[9:] > norm.ppf(0.975)).any())


def _plan_lists(share: float, decided: float) -> float:
    """How many lists a test needs that is planned for this very difference, to find it in 80 %."""
    if abs(share - 0.5) < 0.01:
        return float("nan")
    spread = norm.ppf(0.975) * 0.5 + norm.ppf(POWER) * np.sqrt(share * (1 - share))
    return float(np.ceil((spread / (share - 0.5)) ** 2 / decided))
