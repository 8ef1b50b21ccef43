"""What a ranker is worth: comparisons that may be looked at any time, and estimates from logs, simulated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import polars as pl
from scipy.stats import binomtest, norm

from rankloop.evaluation import (
    LoggedList,
    NoSupport,
    draw_probabilities,
    estimate_rewards,
    greedy_probabilities,
    weigh_lists,
    win_sequence,
)
from rankloop.interleaving import Interleaving, Probabilistic, TeamDraft, credit
from rankloop.lab.data import Dataset
from rankloop.lab.suites.paper_items import PaperTable
from rankloop.lab.users import Cascade, PresetUser
from rankloop.policies import PDGD, PairRank, Policy, Random
from rankloop.query_set import JudgedQuery, QuerySet
from rankloop.types import BoolArray, Feedback, FloatArray, IntArray, Ranking

K = 5
TRIALS, FEW_TRIALS = 500, 40
LISTS, FEW_LISTS = 1000, 150
REPEATS, FEW_REPEATS = 200, 10
LOGGED, TAUGHT, YOUNG = 1500, 200, 20
CANDIDATES = 6  # of each query, for estimates from logs: with many, no log has support for long
NOISE = 1.0  # of a ranker's scores around the grades
BETTER = 0.6  # noise of the better ranker
METHODS: Mapping[str, Interleaving] = {"team draft": TeamDraft(), "probabilistic": Probabilistic()}
POWER = 0.8


def interleaving(dataset: Dataset | None, quick: bool = False) -> Mapping[str, pl.DataFrame]:
    """Two rankers that are equally good, and two of which one is better, compared again and again."""
    assert dataset is not None, "this table is about data"
    trials, lists = (FEW_TRIALS, FEW_LISTS) if quick else (TRIALS, LISTS)
    queries, rows = dataset.test, []
    for noise, arms in ((NOISE, "equal"), (BETTER, "A is better")):
        for name, method in METHODS.items():
            rng = np.random.default_rng(23)
            wins = [_wins(queries, method, noise, lists, rng) for _ in range(trials)]
            rows.append({"arms": arms, "interleaving": name} | _called(wins, lists))
    return {"winners": pl.DataFrame(rows)}


def _wins(
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


def _called(trials: list[FloatArray], lists: int) -> dict[str, float]:
    """How often a winner is called, by the sequence and by a test that is made for one look."""
    first = [_first(_outside(each), lists) for each in trials]
    once, always = zip(*(_by_test(each) for each in trials), strict=True)
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
        "lists planned for a test": _planned(share, decided),
    }


def _outside(scores: FloatArray) -> IntArray:
    """After each list, whether the sequence calls A better, 1, or B, -1, or nobody, 0."""
    decided = scores != 0
    found = np.zeros(scores.size, dtype=np.int64)
    if not decided.any():
        return found
    sequence = win_sequence(scores[decided] > 0)
    calls = (sequence.lower > 0.5).astype(np.int64) - (sequence.upper < 0.5)
    last = np.cumsum(decided) - 1
    return np.where(last >= 0, calls[np.maximum(last, 0)], 0)


def _first(calls: IntArray, lists: int) -> tuple[int, int]:
    index = int((calls != 0).argmax())
    return (index + 1, int(calls[index])) if calls[index] else (lists, 0)


def _by_test(scores: FloatArray) -> tuple[bool, bool]:
    """Whether a sign test of 5 % is significant at the end, and whether it ever was from ten wins on."""
    decided = scores[scores != 0]
    count = np.arange(1, decided.size + 1)
    z = np.abs(np.cumsum(decided)) / np.sqrt(count)
    end = bool(decided.size and binomtest(int((decided > 0).sum()), decided.size).pvalue < 0.05)
    return end, bool((z[9:] > norm.ppf(0.975)).any())


def _planned(share: float, decided: float) -> float:
    """How many lists a test needs that is planned for this very difference, to find it in 80 %."""
    if abs(share - 0.5) < 0.01:
        return float("nan")
    spread = norm.ppf(0.975) * 0.5 + norm.ppf(POWER) * np.sqrt(share * (1 - share))
    return float(np.ceil((spread / (share - 0.5)) ** 2 / decided))


def off_policy(dataset: Dataset | None, quick: bool = False) -> Mapping[str, pl.DataFrame]:
    """How often the intervals hold what the simulator knows, and which logs are refused."""
    assert dataset is not None, "this table is about data"
    repeats = FEW_REPEATS if quick else REPEATS
    user = PresetUser("informational").for_grades(dataset.train.grades)
    asked = _taught(PDGD(learning_rate=0.3), dataset.train, user, 2 * TAUGHT, 1)
    logs: dict[str, Policy] = {
        "random": Random(),
        "pdgd": _taught(PDGD(learning_rate=0.1), dataset.train, user, TAUGHT, 2),
        f"pairrank, {YOUNG} lists old": _taught(PairRank(), dataset.train, user, YOUNG, 3),
        f"pairrank, {TAUGHT} lists old": _taught(PairRank(), dataset.train, user, TAUGHT, 3),
    }
    rows = [
        row
        for name, log in logs.items()
        for depth in (1, 2, 3)
        for row in _covered(name, log, asked, dataset.test, user, depth, repeats)
    ]
    return {"coverage": pl.DataFrame(rows)}


def _covered(
    name: str, log: Policy, asked: Policy, queries: QuerySet, user: Cascade, depth: int, repeats: int
) -> Iterator[dict[str, object]]:
    """A row for each estimator; one that says so, if the log is refused."""
    truth, head = _worth(asked, queries, user, depth), {"log": name, "results": depth}
    found = []
    for repeat in range(repeats):
        rng = np.random.default_rng([29, depth, repeat])
        try:
            lists = weigh_lists(_log(log, asked, queries, user, depth, rng))
        except NoSupport as error:
            why = "too few effective lists" if "as much" in str(error) else "no support"
            yield head | {"estimator": f"refused: {why}", "truth": truth}
            return
        found.append((estimate_rewards(lists)[:4], lists.effective))
    for index, first in enumerate(found[0][0]):
        each = [estimates[index] for estimates, _ in found]
        yield head | {
            "estimator": first.name,
            "truth": truth,
            "mean estimate": float(np.mean([one.value for one in each])),
            "coverage": float(np.mean([one.lower <= truth <= one.upper for one in each])),
            "half width": float(np.mean([(one.upper - one.lower) / 2 for one in each])),
            "effective lists": float(np.mean([effective for _, effective in found])),
        }


def _log(
    log: Policy, asked: Policy, queries: QuerySet, user: Cascade, depth: int, rng: np.random.Generator
) -> Iterator[LoggedList]:
    for number in rng.integers(len(queries), size=LOGGED).tolist():
        judged = _short(queries[number])
        shown = log.rank(judged.query, k=depth, rng=rng)
        clicks: BoolArray = user.respond(shown, judged.relevance, rng).clicks
        query = judged.query
        yield LoggedList(
            shown.order,
            clicks.astype(np.float64),
            draw_probabilities(log, query),
            greedy_probabilities(asked, query),
            asked.score(query),
        )


def _worth(policy: Policy, queries: QuerySet, user: Cascade, depth: int) -> float:
    """Expected clicks on the first results of the policy's own lists, exactly."""
    total = 0.0
    for judged in map(_short, queries):
        order = np.argsort(-policy.score(judged.query), kind="stable")[:depth]
        reached = 1.0
        for grade in judged.relevance[order].tolist():
            total += reached * user.click[grade]
            reached *= 1 - user.click[grade] * user.stop[grade]
    return total / len(queries)


def _short(judged: JudgedQuery) -> JudgedQuery:
    """A query with its first candidates only."""
    rows = np.arange(min(CANDIDATES, judged.query.n_docs))
    return JudgedQuery(judged.query.take(rows), judged.relevance[rows])


def _taught(policy: Policy, queries: QuerySet, user: Cascade, rounds: int, seed: int) -> Policy:
    rng = np.random.default_rng(seed)
    for _ in range(rounds):
        judged = _short(queries[int(rng.integers(len(queries)))])
        shown = policy.rank(judged.query, k=K, rng=rng)
        policy.learn(Feedback(shown, user.respond(shown, judged.relevance, rng).clicks))
    return policy


SMALL = "linear(queries=300, test_queries=300)"
TABLES: Mapping[str, PaperTable] = {
    "safe/interleaving": PaperTable(
        title="How often is a winner called among equals, and how soon is the better one found?",
        paper="No paper: of two equal arms at most 5 % may ever be called better, however often one looks.",
        make=interleaving,
        data=SMALL,
        notes=(
            "Looked at after every list. A test for one look is beside it: at the end, and as people use it, "
            "after every list; and how many lists it needs if the true difference were known beforehand.",
        ),
    ),
    "safe/off-policy": PaperTable(
        title="Do intervals from a log hold what another policy would have got?",
        paper="No paper: intervals of 95 % should hold in 95 %.",
        make=off_policy,
        data=SMALL,
        notes=(
            "Clicks on the first results, of the first six candidates of each query, as pdgd would show them "
            "without exploring; 1,500 lists in each log.",
        ),
    ),
}
