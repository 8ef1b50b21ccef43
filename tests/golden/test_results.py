"""Metrics, estimates, intervals, draws, fair lists and theorems give the numbers that they once gave."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import astuple
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import polars as pl
import pytest

from rankloop.evaluation import (
    ClickAccount,
    ConfidenceSequence,
    LoggedList,
    NextProbabilities,
    SearchArm,
    anytime_lower,
    difference_sequence,
    draw_probabilities,
    estimate_rewards,
    greedy_probabilities,
    mean_sequence,
    weigh_lists,
    win_sequence,
)
from rankloop.exploration import (
    certain_orders,
    draw,
    draw_by_score,
    draw_epsilon_greedy,
    draw_plackett_luce,
    epsilon_greedy_propensities,
    highest_of_normals,
    inverse_gap_propensities,
    ordered_blocks,
    random_topological,
    shuffle_blocks,
)
from rankloop.exposure import (
    AccountRule,
    attainable_views,
    count_violations,
    discounted_views,
    draw_deep,
    due_views,
    least_tolerance,
    measured_views,
    merge_fairly,
    split_into_pages,
    split_page,
)
from rankloop.interleaving import Interleaving, Probabilistic, TeamDraft
from rankloop.interleaving.interleaving import credit, expected_sign
from rankloop.lab.analysis.changes import find_changes
from rankloop.lab.analysis.linear_view import find_discriminants
from rankloop.lab.analysis.paired_tests import correct_holm
from rankloop.lab.analysis.policy_summaries import average_curves, count_low_runs, summarise
from rankloop.lab.baselines.fairswap import swap_fairly
from rankloop.lab.data.logged_rounds import (
    LoggedRounds,
    find_choice_probabilities,
    predict_rewards,
    weigh_rounds,
)
from rankloop.lab.simulation.measures import discounted_cumulative
from rankloop.lab.theory import (
    DuelSteps,
    LinearClass,
    ListNetLoss,
    NeuralWidths,
    PairConstants,
    PairRankBounds,
    PePairRankBounds,
    RankSVMLoss,
    SmoothDCGLoss,
    Surrogate,
    average_iterate,
    bound_lipschitz_complexity,
    bound_ogd_excess,
    bound_optimistic_loss,
    bound_regularised_excess,
    bound_smooth_complexity,
    compare_bounds,
    draws_needed,
    duel_losses,
    effective_dimension,
    find_regularisation,
    find_step_size,
    gradient_descent,
    mean_loss,
    measure_pair_constants,
    minimise_in_ball,
    tangent_kernel,
)
from rankloop.lab.theory.indistinguishable import FIRST, SECOND, least_regret
from rankloop.lab.theory.objectives import (
    APGain,
    AUCLoss,
    DCGGain,
    NDCGGain,
    Objective,
    PairwiseLoss,
    PrecisionGain,
    SumLoss,
)
from rankloop.lab.theory.observability import feedback_matrix, observability, value_matrix
from rankloop.learning.win_odds import log_win_odds, win_rates
from rankloop.metrics import (
    AP,
    DCG,
    ERR,
    MRR,
    NDCG,
    Metric,
    PairwiseRegret,
    Precision,
    mean_over_lists,
    mean_over_queries,
)
from rankloop.policies import PDGD, AdPolicy, LinUCB, PairRank, Policy, Posterior, Random, SquareCB
from rankloop.query_set import QuerySet
from rankloop.types import BoolArray, Context, Feedback, FloatArray, IntArray, Query
from tests.golden.records import Numbers, check, check_ids

METRICS: dict[str, Metric] = {
    "m01": NDCG(),
    "m02": NDCG(k=3),
    "m03": DCG(),
    "m04": DCG(k=3),
    "m05": ERR(),
    "m06": ERR(k=3, max_grade=5),
    "m07": AP(),
    "m08": AP(k=3, relevant_from=2),
    "m09": MRR(),
    "m10": MRR(k=2, relevant_from=2),
    "m11": Precision(),
    "m12": Precision(k=3, relevant_from=2),
    "m13": PairwiseRegret(),
}
ESTIMATORS: dict[str, tuple[int, float]] = {  # which, and the level of its two-sided interval
    "e01": (0, 0.9),
    "e02": (1, 0.8),
    "e03": (2, 0.9),
    "e04": (3, 0.9),
}
CHOOSING: tuple[Callable[[], AdPolicy | Random], ...] = (LinUCB, lambda: SquareCB(scale=5.0), Random)
Asks: TypeAlias = Callable[[Policy, Query], NextProbabilities]
LISTS: dict[str, tuple[Callable[[], Policy], Callable[[], Policy], Asks]] = {
    "l01": (Random, lambda: PDGD(learning_rate=0.3), greedy_probabilities),
    "l02": (Random, PairRank, draw_probabilities),
    "l03": (lambda: PDGD(learning_rate=0.01), lambda: PDGD(learning_rate=0.5), draw_probabilities),
    "l04": (lambda: PDGD(learning_rate=0.01), lambda: PDGD(learning_rate=0.5), greedy_probabilities),
    "l05": (lambda: PairRank(certainty=Posterior(0.9)), PairRank, draw_probabilities),
    "l06": (
        lambda: PairRank(exploration="random", certainty=Posterior(0.9)),
        lambda: PDGD(learning_rate=0.5),
        greedy_probabilities,
    ),
}
INTERLEAVINGS: dict[str, Interleaving] = {
    "i01": TeamDraft(),
    "i02": Probabilistic(),
    "i03": Probabilistic(1.0),
}
OBJECTIVES: dict[str, Objective] = {
    "o01": SumLoss(),
    "o02": PairwiseLoss(),
    "o03": DCGGain(),
    "o04": PrecisionGain(2),
    "o05": NDCGGain(),
    "o06": APGain(),
    "o07": AUCLoss(),
}
# Positions, groups, how the pages are cut (None: all templates in one table), ties, tolerance.
FAIR: dict[str, tuple[int, int, tuple[int, ...] | None, str, int]] = {
    "f01": (5, 2, None, "random", 100_000),
    "f02": (5, 2, None, "least", 0),
    "f03": (10, 2, None, "random", 50_000),
    "f04": (12, 2, None, "random", 50_000),
    "f05": (14, 2, None, "least", 20_000),
    "f06": (7, 3, None, "random", 100_000),
    "f07": (8, 3, None, "least", 100_000),
    "f08": (5, 2, (), "random", 100_000),
    "f09": (12, 2, (), "random", 50_000),
    "f10": (14, 2, (), "least", 20_000),
    "f11": (25, 2, (), "random", 0),
    "f12": (8, 3, (), "random", 100_000),
    "f13": (12, 3, (4, 4, 4), "random", 50_000),
    "f14": (20, 4, (), "least", 50_000),
    "f15": (12, 6, (), "random", 100_000),
    "f16": (10, 2, (3, 7), "least", 50_000),
}
LOSSES: dict[str, Surrogate] = {
    "t01": ListNetLoss(),
    "t02": RankSVMLoss(),
    "t03": SmoothDCGLoss(top_grade=2, smoothing=0.5),
}
SINGLE = [
    *(
        "m20",
        "m21",
        "e10",
        "e11",
        "c01",
        "c02",
        "c03",
        "c04",
        "a01",
        "d01",
        "d02",
        "d03",
        "d04",
        "x01",
        "x02",
    ),
    *("s01", "s02", "s03", "g01", "g02", "g03", "g04", "g05"),
]


@cache
def judged() -> QuerySet:
    """Twelve queries, of which some have no relevant document; rounded scores make ties."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 9, size=12)
    features = rng.random((int(sizes.sum()), 4)).round(2)
    grades = np.where(rng.random(len(features)) < 0.4, rng.integers(1, 5, size=len(features)), 0)
    names = tuple(str(number) for number in range(12))
    return QuerySet(features, np.append(0, np.cumsum(sizes)), grades, names)


def scores() -> FloatArray:
    return np.random.default_rng(4).random(len(judged().features)).round(1)


@pytest.mark.parametrize("record", METRICS)
def test_metric(record: str) -> None:
    metric, queries = METRICS[record], judged()
    without = ("skip", "zero", "one")
    means = [mean_over_queries(metric, scores(), queries, without_relevant=each) for each in without]  # type: ignore[arg-type]
    orders = [
        np.random.default_rng(number).permutation(len(queries[number].relevance)) for number in range(12)
    ]
    alone = [metric(order, each.relevance) for order, each in zip(orders, queries, strict=True)]
    lists = [(order[:4], each.relevance) for order, each in zip(orders, queries, strict=True)]
    check(
        record,
        queries=metric.per_query(scores(), queries),
        means=means,
        lists=alone,
        runs=mean_over_lists(metric, lists),
    )


def test_sums_on_the_way() -> None:
    values = np.random.default_rng(1).random(30)
    check("m20", sums=[discounted_cumulative(values), discounted_cumulative(values, discount=0.9)])
    wins = np.array([[0, 30, 4], [10, 0, 7], [5, 5, 0]])
    check("m21", odds=log_win_odds(wins), rates=win_rates(wins))


@cache
def logged() -> LoggedRounds:
    rng = np.random.default_rng(5)
    chances = rng.random((120, 4)) + 0.2
    chances /= chances.sum(axis=1, keepdims=True)
    shown = (chances.cumsum(axis=1) < rng.random((120, 1))).sum(axis=1)
    contexts = rng.random((120, 3))
    clicks = (rng.random(120) < 0.2 + 0.5 * contexts[:, 0] * (shown == 1)).astype(np.float64)
    return LoggedRounds(contexts, ("a", "b", "c", "d"), shown, clicks, chances[np.arange(120), shown])


def chosen(make: Callable[[], AdPolicy | Random]) -> FloatArray:
    """The choices of a policy that learned from the first half of the log."""
    policy, log = make(), logged()
    names = log.ads
    for row in range(60):
        query = Query("v", np.zeros((4, 0)), names, (), Context("", log.contexts[row]))
        ranking = policy.rank(query, k=1, rng=np.random.default_rng(row))
        policy.learn(Feedback(ranking, np.array([bool(log.rewards[row])])))
    return find_choice_probabilities(policy, log)


@pytest.mark.parametrize("record", ESTIMATORS)
def test_estimate(record: str) -> None:
    which, level = ESTIMATORS[record]
    found = [estimate_rewards(weigh_rounds(logged(), chosen(make)), level)[which] for make in CHOOSING]
    check(record, values=[each.value for each in found], bounds=[each.lower for each in found])


def test_models_and_bounds() -> None:
    check("e10", predicted=predict_rewards(logged()), choices=[chosen(make) for make in CHOOSING])
    values = np.random.default_rng(6).random(200) * np.tile([0.0, 3.0], 100)
    check("e11", bounds=[anytime_lower(values), anytime_lower(values, 0.8), anytime_lower(values[:7])])


def taught(make: Callable[[], Policy], query: Query) -> Policy:
    policy, rng = make(), np.random.default_rng(0)
    for _ in range(8):
        shown = policy.rank(query, k=4, rng=rng)
        policy.learn(Feedback(shown, rng.random(len(shown)) < 0.8 / (1 + shown.order)))
    return policy


@pytest.mark.parametrize("record", LISTS)
def test_lists_of_a_log(record: str) -> None:
    rng = np.random.default_rng(7)
    query = Query("q", rng.random((4, 3)))
    first, second, asks = LISTS[record]
    log, asked = taught(first, query), taught(second, query)
    lists = []
    for _ in range(150):
        shown = log.rank(query, k=3, rng=rng).order
        clicks = (rng.random(3) < 0.6 / (1 + shown)).astype(np.float64)
        drawn = draw_probabilities(log, query)
        lists.append(LoggedList(shown, clicks, drawn, asks(asked, query), asked.score(query)))
    found = weigh_lists(lists, fewest=0)  # however little it says
    rank = np.argsort(np.argsort(-asked.score(query), kind="stable"))
    by_name = {each.name: each for each in estimate_rewards(found)}
    names = ("whole lists", "importance-weighted", "self-normalised", "doubly robust")
    above = np.array([3, 2, 0])
    chances = [
        [draw_probabilities(policy, query)(above[:depth]) for depth in range(3)] for policy in (log, asked)
    ]
    check(
        record,
        weights=found.weights,
        ranks=np.array([rank[each.shown] for each in lists]),
        effective=found.effective,
        estimates=[(by_name[name].value, by_name[name].lower, by_name[name].upper) for name in names],
        chances=chances,
    )


def test_sequences() -> None:
    rng = np.random.default_rng(8)
    values, second = rng.random(150), rng.random(150) < 0.4
    check("c01", found=bounds_of(mean_sequence(values)), wide=bounds_of(mean_sequence(3 * values, high=3.0)))
    check("c02", found=bounds_of(difference_sequence(values, second, share=0.4, level=0.9)))
    check("c03", found=bounds_of(win_sequence(values > 0.3)), even=bounds_of(win_sequence(second, level=0.8)))


def test_account_of_clicks() -> None:
    account, rng = ClickAccount(share=0.9, chance=0.05, own=0.5), np.random.default_rng(9)
    arms: tuple[SearchArm, ...] = ("held", "owned", "learned")
    seen = []
    for _ in range(120):
        account = account.after(arms[int(rng.integers(3))], clicked=bool(rng.random() < 0.4))
        seen.append((account.ahead, account.lower, account.allows(pending=3, advance=2.0)))
    check("c04", seen=np.array(seen, dtype=np.float64), searches=account.searches, risk=account.risk)


@pytest.mark.parametrize("record", INTERLEAVINGS)
def test_interleaving(record: str) -> None:
    rng, found = np.random.default_rng(2), []
    for rankers, documents, k in ((2, 6, 4), (3, 8, 8), (10, 12, 10), (2, 3, 5)):
        lists = np.stack([rng.permutation(documents) for _ in range(rankers)])
        lists[1, 0], lists[1, np.flatnonzero(lists[1] == lists[0, 0])[0]] = lists[0, 0], lists[1, 0]
        made = INTERLEAVINGS[record].combine(lists, k=k, rng=rng)
        clicks = rng.random(len(made.order)) < 0.4
        found.append(
            [made.order, made.owners, credit(made.owners, clicks), expected_sign(made.owners, clicks)]
        )
    check(record, lists=found)


@pytest.mark.parametrize("record", OBJECTIVES)
def test_objective(record: str) -> None:
    objective = OBJECTIVES[record]
    found = observability(objective, k=2, items=4)
    check(
        record,
        values=value_matrix(objective, 4),
        needed=[found.globally, found.locally, found.smallest_k, found.smallest_local_k],
        regrets=[FIRST.regrets(objective), SECOND.regrets(objective), least_regret(objective)],
    )


def test_games() -> None:
    check("a01", shown=[feedback_matrix(3), feedback_matrix(4, 2)])


def certain() -> tuple[FloatArray, BoolArray]:
    rng = np.random.default_rng(12)
    values = np.sort(rng.normal(size=9))[::-1].copy()
    return values, certain_orders(values, rng.random((9, 9)) * 0.2)


def test_draws_by_score() -> None:
    values = np.random.default_rng(11).random(9).round(1)
    seeds = [np.random.default_rng(seed) for seed in range(8)]
    check("d01", lists=[draw_by_score(values, 6, rng) for rng in seeds])
    check("d02", lists=[draw_plackett_luce(values, 6, rng) for rng in seeds])
    check("d03", lists=[draw_epsilon_greedy(values, 6, 0.4, rng) for rng in seeds])
    chances = [epsilon_greedy_propensities(values, 0.2), inverse_gap_propensities(values, 8.0)]
    chances.append(highest_of_normals(values, values / 3 + 0.1))
    check("d04", chances=chances, drawn=[draw(each, rng) for each in chances for rng in seeds])


def test_draws_by_certain_orders() -> None:
    values, sure = certain()
    rng = np.random.default_rng(13)
    check("x01", sure=sure, blocks=ordered_blocks(values, sure))
    lists = [random_topological(sure, 6, rng) for _ in range(6)]
    check("x02", lists=lists, blocks=[shuffle_blocks(values, sure, 6, rng) for _ in range(6)])


@pytest.mark.parametrize("record", FAIR)
def test_fair_list(record: str) -> None:
    k, groups, pages, ties, tolerance = FAIR[record]
    found: list[Numbers] = []
    for seed in range(4):
        codes, sure, rule = fair_task(seed, k, groups, tolerance, pages)
        rng = np.random.default_rng(seed)
        drawn = draw_deep(sure, codes, k, rng)
        for keep in (False, True):
            made = merge_fairly(drawn, codes, sure, rule, rng=rng, ties=ties, keep=keep)  # type: ignore[arg-type]
            found.append([made.order, made.received, made.violated_orders, made.is_within_tolerance])
    check(record, lists=found)


def test_views_and_what_is_due() -> None:
    views = discounted_views(12)
    shares, counts = np.array([3.0, 1.0, 0.0, 2.0]), np.array([9, 2, 4, 0])
    check(
        "g01",
        looks=[views, measured_views([0.9, 0.5, 0.1])],
        due=[due_views(shares, views, counts), due_views(np.ones(4), views[:5], counts)],
        attainable=attainable_views(views, counts),
        tolerance=least_tolerance(views),
    )
    found: list[Numbers] = []
    for seed in range(3):
        codes, sure, rule = fair_task(seed, 8, 2, 30_000)
        rng, blocks = np.random.default_rng(seed), ordered_blocks(-np.arange(len(codes), dtype=float), sure)
        swapped = swap_fairly(blocks, codes, sure, rule, rng=rng)
        count = count_violations(swapped.order, sure)
        found.append([swapped.order, swapped.received, swapped.violated_orders, count])
    check("g02", lists=found)


def fair_task(
    seed: int, k: int, groups: int, tolerance: int, pages: tuple[int, ...] | None = None
) -> tuple[IntArray, BoolArray, AccountRule]:
    """Candidates of some groups with certain orders, an account that is off, and what is due."""
    rng = np.random.default_rng((seed, k, groups))
    count = k + 3 * groups
    codes = np.concatenate((np.arange(groups), rng.integers(groups, size=count - groups)))
    values = np.sort(rng.normal(size=count))[::-1]
    sure: BoolArray = np.subtract.outer(values, values) > 0.3
    views = discounted_views(k)
    ahead = rng.integers(-200_000, 200_000, size=groups)
    ahead -= int(ahead.mean())
    counts = np.bincount(codes, minlength=groups)
    parts = [split_page(length, groups) for length in pages or ()]
    rule = AccountRule(
        views=views,
        ahead=ahead,
        due=lambda length: due_views(np.ones(groups), views[:length], counts),
        tolerance=tolerance,
        pages=[[k]] if pages is None else parts or split_into_pages(k, groups),
    )
    return codes, sure, rule


@pytest.mark.parametrize("record", LOSSES)
def test_loss(record: str) -> None:
    loss, queries, rng = LOSSES[record], judged_by_two(), np.random.default_rng(14)
    weights = rng.normal(size=4)
    iterates = list(gradient_descent(loss, queries, step=0.1))
    half = 4
    first, second = queries, judged_by_two(start=half)
    check(
        record,
        losses=loss.losses(queries.features @ weights, queries),
        total=mean_loss(loss, weights, queries),
        iterates=[iterates[-1], average_iterate(iterates)],
        least=minimise_in_ball(loss, queries, norm=2.0, weight=0.1),
        bounds=[
            [each.value, each.as_printed, each.measured]
            for each in compare_bounds(loss, first, second, norm=2.0)
        ],
    )


def judged_by_two(start: int = 0) -> QuerySet:
    """Queries with at least two documents and grades of at most 2."""
    rng = np.random.default_rng(15 + start)
    sizes = rng.integers(2, 6, size=8)
    features = rng.random((int(sizes.sum()), 4))
    grades = rng.integers(0, 3, size=len(features))
    return QuerySet(features, np.append(0, np.cumsum(sizes)), grades, tuple("abcdefgh"))


def test_bounds_of_linear_rankers() -> None:
    ball = LinearClass(norm=5.0, radius=2.0, queries=200, documents=4000)
    large = LinearClass(norm=1.0, radius=1.0, queries=240_000, documents=2**24 // 3)
    check(
        "g03",
        sizes=[(each.reach, each.rate) for each in (ball, large)],
        simple=[(bound_ogd_excess(each, 2.0), bound_regularised_excess(each, 2.0)) for each in (ball, large)],
        steps=[(find_regularisation(each, 2.0), find_step_size(each, 2.0)) for each in (ball, large)],
        complexity=[
            (bound_lipschitz_complexity(each, 0.1, 30.0), bound_smooth_complexity(each, 0.3, 30.0, 0.2))
            for each in (ball, large)
        ],
        optimistic=[bound_optimistic_loss(each, 0.3, 30.0, 0.2) for each in (ball, large)],
    )


def test_bounds_of_pairs_and_duels() -> None:
    steps = DuelSteps(rounds=10_000, radius=1.0, examined=10, utility_lipschitz=1.5)
    queries = judged_by_two()
    found = measure_pair_constants(queries, np.array([0.5, -1.0, 0.3, 2.0]))
    world = PairConstants(
        longest_weights=1.0,
        longest_difference=1.0,
        smallest_gap=0.1,
        smallest_variance=0.1,
        dimensions=5,
        longest_list=20,
    )
    ours = PairRankBounds(constants=world, regularisation=1.0)
    theirs = PePairRankBounds(constants=world, regularisation=1.0, variance=0.1)
    alpha = theirs.alpha(3.0)
    check(
        "g04",
        duels=[duel_losses(0.8, np.linspace(0, 1, 9)), steps.lipschitz, steps.exploration, steps.step],
        steps=[steps.plain_step, steps.regret],
        constants=[*astuple(found), found.flattest],
        ours=[ours.settling_round, *ours.needed, ours.chance_uncertain(1e-9), ours.regret(1000, seen=50.0)],
        theirs=[alpha, theirs.settling_round, theirs.chance_uncertain(1e-9), theirs.regret(1000, seen=50.0)],
        rankers=[theirs.rankers_needed(alpha), theirs.rankers_needed(1.0, as_printed=True)],
        copies=[draws_needed(1.0, 0.05), draws_needed(2.5, 0.01)],
    )


def test_bounds_of_networks() -> None:
    features = judged_by_two().features[:9]
    kernel = tangent_kernel(features / np.linalg.norm(features, axis=1, keepdims=True), depth=3)
    pairs = np.array([[0, 1], [2, 5], [3, 8]])
    wide = NeuralWidths(width=10**9, depth=3, regularisation=0.1, rounds=500, step=1e-9, steps=20)
    check(
        "g05",
        kernel=kernel,
        dimension=[
            effective_dimension(kernel, regularisation=0.1),
            effective_dimension(kernel, regularisation=0.1, pairs=pairs),
        ],
        widths=[wide.alpha(2.0), wide.error, wide.short_alpha(2.0), wide.short_error, wide.step_allowed],
        needed=[wide.width_needed(20), wide.chance_uncertain(1e-9, gap=0.1, flattest=0.2, error=1e-3)],
    )


def test_statistics() -> None:
    rows = list(runs())
    columns = ["data", "fold", "user", "policy", "seed", "round", "metric", "value"]
    frame = pl.DataFrame(rows, schema=columns, orient="row")
    summary = summarise(frame)
    check(
        "s01",
        rows=[
            [each.round, each.mean, each.low, each.high, each.runs, each.p_value, each.best]
            for each in summary
        ],
        low=[[each.worst, each.low_runs] for each in summary],
        curves=average_curves(frame).select("round", "mean", "low", "high").to_numpy(),
    )
    changes = find_changes(frame, {"1": "0", "2": "1"})
    check("s02", changes=[[each.mean, each.spread, each.half_width, each.p_value] for each in changes])
    by_run = {
        policy: {
            (fold, seed): value for _, fold, _, name, seed, at, _, value in rows if name == policy and at == 9
        }
        for policy in ("0", "1", "2")
    }
    grades, features = judged().relevance, judged().features
    check(
        "s03",
        holm=correct_holm(np.array([0.01, 0.2, 0.04, 0.03, 0.04])),
        low=list(count_low_runs(by_run, "higher", ("0", "1", "2")).values()),
        worst=[min(each.values()) for each in by_run.values()],
        plane=np.abs(find_discriminants(features, grades)),
    )


def runs() -> Iterator[tuple[Any, ...]]:
    rng = np.random.default_rng(16)
    for user in ("a", "b"):
        for policy in range(3):
            for seed in range(5):
                for at in (0, 4, 9):
                    value = 0.3 + 0.02 * at + 0.05 * policy + 0.1 * float(rng.random())
                    yield "world", "world", user, str(policy), seed, at, "nDCG@10", value


def test_all_are_here() -> None:
    tables = (METRICS, ESTIMATORS, LISTS, INTERLEAVINGS, OBJECTIVES, FAIR, LOSSES)
    check_ids([*(record for table in tables for record in table), *SINGLE])


def bounds_of(found: ConfidenceSequence) -> list[Numbers]:
    return [found.estimate, found.lower, found.upper]
