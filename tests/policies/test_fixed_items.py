"""Items that are known by id only: what is estimated is true, and learned at the rate of the theory."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import permutations, product
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloop.checks import Make, check_policy
from rankloop.errors import RankingError, SettingError
from rankloop.exploration import draw_by_score
from rankloop.lab.data import make_dataset
from rankloop.lab.theory.objectives import AdditiveObjective, DCGGain, PairwiseLoss, PrecisionGain, SumLoss
from rankloop.lab.users import LabelJudge
from rankloop.policies import RTopKItems, ThompsonItems, UCBItems
from rankloop.policies.policy_names import read_policy, write_policy
from rankloop.types import Feedback, IntArray, Query, Ranking

VARIANTS: dict[str, Make] = {
    "planned": partial(RTopKItems, explore_once=True),
    "planned, top 2, random, theory": partial(
        RTopKItems, top_k=2, explore_once=True, below_cell="random", epsilon=None
    ),
    "top 1, linear": partial(RTopKItems, top_k=1, gain="linear"),
    "ucb, linear": partial(UCBItems, gain="linear", top_grade=2),
    "thompson, graded": partial(ThompsonItems, top_grade=2),
}


def items(count: int) -> Query:
    return Query("any", np.empty((count, 0)), tuple(f"item {number}" for number in range(count)))


@pytest.mark.parametrize("make", VARIANTS.values(), ids=VARIANTS.keys())
def test_every_variant_obeys_the_laws(make: Make) -> None:
    check_policy(make)


# The estimate of a block


class Scripted:
    """Stands for a generator: gives what it is told, and notes how likely that was."""

    def __init__(self, explores: bool, chunk: int, shuffle: tuple[int, ...], chance: list[float]) -> None:
        self.explores, self.chunk, self.shuffle, self.chance = explores, chunk, shuffle, chance

    def random(self, size: int | None = None) -> Any:
        return np.zeros(size) if size else 0.0 if self.explores else 1.0

    def integers(self, high: int) -> int:
        self.chance.append(float(self.chunk < high) / high)
        return self.chunk

    def permutation(self, pool: IntArray | int) -> IntArray:
        rows = np.arange(pool) if isinstance(pool, int) else pool
        fits = sorted(self.shuffle) == list(range(rows.size))
        self.chance.append(1 / len(list(permutations(range(rows.size)))) if fits else 0.0)
        return rows[list(self.shuffle)] if fits else rows


def every_block(policy: RTopKItems, grades: IntArray) -> Iterator[tuple[float, RTopKItems]]:
    """Every way in which the lists of one block can go, with its probability."""
    lists, count = grades.shape
    shuffles = [way for size in range(1, count + 1) for way in permutations(range(size))]
    ways = [(1.0, policy)]
    for row in grades:
        further = []
        for probability, past in ways:
            size = min(past.top_k, count)
            unseen = unseen_of(past, count) if past.explore_once else count
            chance = past.chance_to_explore(cells=-(-count // size), left=-(-unseen // size), length=lists)
            scripts: list[tuple[float, bool, int, tuple[int, ...]]] = [(1 - chance, False, 0, ())]
            scripts += [(chance, True, *way) for way in product(range(count), shuffles)]
            for weight, explores, chunk, shuffle in scripts:
                notes: list[float] = []
                rng = Scripted(explores, chunk, shuffle, notes)
                likely = probability * weight
                shown = past.rank(items(count), k=count, rng=rng)  # type: ignore[arg-type]
                if likely * np.prod(notes) > 0:
                    after = past.from_state(past.state())
                    after.learn(LabelJudge(top_k=size).respond(shown, row, np.random.default_rng(0)))
                    further.append((likely * float(np.prod(notes)), after))
        ways = merged(further)
    return iter(ways)


def unseen_of(policy: RTopKItems, count: int) -> int:
    """How many items the block has not seen."""
    (seen,) = policy.values_of(items(count), "block_counts")
    return int((seen == 0).sum())


def merged(ways: list[tuple[float, RTopKItems]]) -> list[tuple[float, RTopKItems]]:
    """The same states once, with the sum of their probabilities."""
    found: dict[bytes, tuple[float, RTopKItems]] = {}
    for probability, policy in ways:
        key = b"".join(value.tobytes() for value in policy.state().values())
        found[key] = (probability + found.get(key, (0.0, policy))[0], policy)
    return list(found.values())


@pytest.mark.parametrize("gain", ["linear", "exponential"])
@pytest.mark.parametrize(("count", "top_k", "lists"), [(3, 1, 4), (3, 2, 3), (4, 3, 2), (3, 3, 2)])
def test_the_estimate_of_a_planned_block_is_unbiased(
    count: int, top_k: int, lists: int, gain: Literal["linear", "exponential"]
) -> None:
    """Over every way that the lists of a block can be drawn, the estimate is the mean worth on average."""
    grades = np.random.default_rng(count + top_k).integers(0, 3, (lists, count))
    policy = RTopKItems(top_k=top_k, explore_once=True, horizon=lists, blocks=1, gain=gain)
    expected, total = np.zeros(count), 0.0
    for probability, after in every_block(policy, grades):
        assert int(after.block) == 1
        assert (after.counts == 1).all()  # every item is seen, exactly once
        expected += probability * after.score(items(count))
        total += probability
    assert total == pytest.approx(1)
    gains = grades if gain == "linear" else 2.0**grades - 1
    assert expected == pytest.approx(gains.mean(axis=0))


@pytest.mark.parametrize(
    ("gain", "objectives"),
    [("linear", [SumLoss(), PairwiseLoss(), PrecisionGain(3)]), ("exponential", [DCGGain()])],
)
def test_gains_are_what_grades_are_worth_in_the_measures_that_add_up(
    gain: Literal["linear", "exponential"], objectives: list[AdditiveObjective]
) -> None:
    grades, policy = np.array([0, 1, 2, 4]), ThompsonItems(gain=gain, top_grade=4)
    for objective in objectives:
        assert policy.gain_of(grades).tolist() == objective.worth(grades).tolist()
    assert policy.highest_gain == policy.gain_of(grades)[-1]


def test_the_estimate_of_a_live_block_is_unbiased_where_there_is_one() -> None:
    grades = np.random.default_rng(0).integers(0, 2, (3, 2))
    policy = RTopKItems(top_k=1, horizon=3, blocks=1)
    expected, seen = np.zeros(2), np.zeros(2)
    for probability, after in every_block(policy, grades):
        expected += probability * after.score(items(2)) * (after.values_of(items(2), "counts")[0] > 0)
        seen += probability * (after.values_of(items(2), "counts")[0] > 0)
    assert expected / seen == pytest.approx(grades.mean(axis=0))


# Regret


def regret(policy: RTopKItems, *, rounds: int, seed: int = 0) -> float:
    """The DCG that the best fixed order would have had more."""
    world = make_dataset("items", queries=rounds, test_queries=1, seed=seed).train
    rng, user = np.random.default_rng(seed), LabelJudge(top_k=policy.top_k)
    discount, got = DCGGain().weights(20), 0.0
    for judged in world:
        shown = policy.rank(judged.query, k=20, rng=rng)
        got += float(discount @ judged.relevance[shown.order])
        policy.learn(user.respond(shown, judged.relevance, rng))
    total = np.sort(world.relevance.reshape(rounds, 20).sum(axis=0))[::-1]
    return float(discount @ total) - got


@pytest.mark.parametrize("top_k", [1, 5])
def test_regret_grows_like_the_two_thirds_power(top_k: int) -> None:
    horizons = [500, 1000, 2000, 4000]
    lost = [
        regret(RTopKItems(top_k=top_k, explore_once=True, horizon=T, below_cell="random"), rounds=T)
        for T in horizons
    ]
    slope = np.polyfit(np.log(horizons), np.log(lost), 1)[0]
    assert abs(slope - 2 / 3) <= 0.05


def test_more_feedback_and_the_leaders_rest_cost_less() -> None:
    planned = partial(RTopKItems, explore_once=True, horizon=2000, blocks=60)
    policies = [planned(top_k=1, below_cell="random"), *(planned(top_k=top_k) for top_k in (1, 5, 20))]
    lost = [regret(policy, rounds=2000) for policy in policies]
    assert lost == sorted(lost, reverse=True)


# Identity


def test_items_are_known_wherever_they_stand_and_new_ones_may_appear() -> None:
    for policy in (RTopKItems(top_k=2), ThompsonItems(), UCBItems()):
        rng, quality = np.random.default_rng(0), {f"item {number}": number % 2 for number in range(8)}
        for step in range(400):
            names = rng.permutation(list(quality)[: 4 if step < 100 else 8])[: rng.integers(2, 9)].tolist()
            query = Query("any", np.empty((len(names), 0)), names)
            shown = policy.rank(query, k=3, rng=rng)
            grades = np.array([quality[name] for name in shown.doc_ids])
            policy.learn(Feedback(shown, grades, signal="grades"))
        assert policy.score(items(8)).argsort()[-4:] % 2 == pytest.approx(np.ones(4))
        assert policy.score(Query("new", np.empty((1, 0)), ("never met",))).tolist() == [0.0]


class Notebook:
    """What the bandits do, item by item: the sum of shares and the number of grades of each name."""

    def __init__(self) -> None:
        self.totals: dict[str, float] = {}
        self.counts: dict[str, int] = {}
        self.lists = 0

    def thompson(self, names: list[str], rng: np.random.Generator) -> IntArray:
        good = np.array([self.totals.get(name, 0.0) for name in names])
        seen = np.array([self.counts.get(name, 0) for name in names])
        return (-rng.beta(1 + good, 1 + seen - good)).argsort()[:3]

    def ucb(self, names: list[str], rng: np.random.Generator) -> IntArray:
        return draw_by_score(np.array([self._bound(name) for name in names]), 3, rng)

    def _bound(self, name: str) -> float:
        count = self.counts.get(name, 0)
        bonus = np.sqrt(0.5 * np.log1p(float(self.lists)) / max(count, 1))
        return float(self.totals[name] / count + bonus) if count else np.inf

    def note(self, shown: Ranking, grades: IntArray) -> None:
        for name, grade in zip(shown.doc_ids, grades.tolist(), strict=True):
            self.totals[name] = self.totals.get(name, 0.0) + (2.0**grade - 1) / 3
            self.counts[name] = self.counts.get(name, 0) + 1
        self.lists += 1


@given(
    among=st.lists(st.sets(st.sampled_from("abcdefgh"), min_size=1) | st.just(set("abcd")), max_size=20),
    seed=st.integers(0, 100),
    saved=st.integers(1, 20),
)
@pytest.mark.parametrize("kind", [ThompsonItems, UCBItems])
def test_whichever_items_are_asked_for_lists_are_those_of_a_notebook(
    kind: Any, among: list[set[str]], seed: int, saved: int
) -> None:
    policy, book = kind(top_grade=2.0), Notebook()
    rngs = [np.random.default_rng(seed) for _ in range(2)]
    for number, candidates in enumerate(among):
        names = np.random.default_rng(seed).permutation(sorted(candidates)).tolist()
        shown = policy.rank(Query("any", np.empty((len(names), 0)), tuple(names)), k=3, rng=rngs[0])
        expected = (book.thompson if kind is ThompsonItems else book.ucb)(names, rngs[1])
        assert shown.order.tolist() == expected.tolist()
        grades = np.random.default_rng(number).integers(0, 3, len(shown))
        policy.learn(Feedback(shown, grades, signal="grades"))
        book.note(shown, grades)
        scores = [book.totals.get(name, 0.0) / max(book.counts.get(name, 0), 1) for name in names]
        assert policy.score(shown.query).tolist() == scores
        if number % saved == 0:
            policy = policy.from_state(policy.state())


def test_what_is_not_graded_is_not_learned() -> None:
    policy = RTopKItems(top_k=2, explore_once=True, horizon=2, blocks=1)
    for top in ([2, 0], [1]):
        shown = Ranking(items(3), np.array([*top, *({0, 1, 2} - set(top))]), {"cell": np.array(top)})
        policy.learn(Feedback(shown, np.array([1, 1, 1]), np.array([True, False, False]), "grades"))
    assert policy.score(items(3)).tolist() == [0.0, 1.0, 1.0]
    assert policy.counts.sum() == 2


@pytest.mark.parametrize("kind", [ThompsonItems, UCBItems])
def test_a_grade_above_the_highest_is_refused_and_changes_nothing(kind: Any) -> None:
    """It would teach what the highest grade teaches."""
    policy = kind(top_grade=2.0)
    before, shown = policy.state(), Ranking(items(3), np.arange(3))
    with pytest.raises(RankingError, match=r"at most top_grade=2, found 3: .* as in \w+\(top_grade=3\)"):
        policy.learn(Feedback(shown, np.array([0, 3, 1]), signal="grades"))
    assert all(np.array_equal(value, policy.state()[name]) for name, value in before.items())
    unknown = np.array([True, False, True])  # a grade that nobody gave is not above anything
    policy.learn(Feedback(shown, np.array([0, 3, 1]), unknown, signal="grades"))
    assert policy.counts.sum() == 2


# Settings


def test_a_block_that_cannot_hold_its_cells_is_refused() -> None:
    policy = RTopKItems(top_k=1, horizon=100, blocks=20)
    with pytest.raises(SettingError, match="each of its 20 cells, found 5: 100 lists make at most 5 blocks"):
        policy.rank(items(20), k=20, rng=np.random.default_rng(0))


def test_blocks_without_a_horizon_are_refused() -> None:
    with pytest.raises(SettingError, match="10 blocks of how many lists"):
        RTopKItems(blocks=10)


def test_a_policy_is_named_with_its_gain_and_blocks() -> None:
    text = (
        "RTopKItems(gain='linear', top_k=1, explore_once=True, horizon=10000, blocks=200, "
        "below_cell='random')"
    )
    assert write_policy(read_policy(text)) == text
