"""Racers share every list, are compared in it, and who is worse goes on from where a better one is."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import pytest

from rankloop.caller_order import CallerOrder
from rankloop.check_worlds import click
from rankloop.checks import small_world
from rankloop.errors import RankingError
from rankloop.learning.click_pairs import preferred_pairs
from rankloop.learning.win_odds import EVEN, log_win_odds, win_rates
from rankloop.policies import PairRank, Race
from rankloop.policies.pairwise.race import DEPTH
from rankloop.types import Feedback, Query, Ranking

WORLD = small_world(queries=20)


@dataclass
class SlowRace:
    """The rule of a race as one would say it, with a learner of its own for each racer."""

    odds: float
    racers: list[PairRank]
    ahead: Counter[tuple[int, int]] = field(default_factory=Counter)
    restarts: int = 0

    def learn(self, feedback: Feedback) -> None:
        ranking, evidence = feedback.ranking, feedback.ranking.evidence
        owner = {
            int(row): racer
            for row, owners in zip(evidence["drafted"], evidence["owners"].T, strict=True)
            for racer, owns in enumerate(owners)
            if owns
        }
        self.teach(feedback, owner)
        shown = [int(row) for row in ranking.order[:DEPTH]]
        if shown == evidence["drafted"][: len(shown)].tolist():
            clicked = [row for row, click in zip(shown, feedback.clicks, strict=False) if click]
            self.compare([sum(owner.get(row) == racer for row in clicked) for racer in self.numbers])

    @property
    def numbers(self) -> range:
        return range(len(self.racers))

    def teach(self, feedback: Feedback, owner: dict[int, int]) -> None:
        order, seed = feedback.ranking.order, int(feedback.ranking.evidence["seed"])
        positions = list(zip(*preferred_pairs(feedback, "matching", seed), strict=True))
        pairs = self.racers[0].pairs(feedback, seed)
        if not pairs.any():
            return
        for racer in self.numbers:
            whose = [{owner.get(int(order[at]), racer) for at in pair} for pair in positions]
            own = [row for row, owners in enumerate(whose) if racer in owners]
            self.racers[racer].fit_pairs(feedback.ranking.query, pairs[own], seed)

    def compare(self, clicks: list[int]) -> None:
        self.ahead.update((a, b) for a in self.numbers for b in self.numbers if clicks[a] > clicks[b])
        found = {
            (a, b): urn_odds(self.ahead[a, b], self.ahead[b, a])
            for a in self.numbers
            for b in self.numbers
            if self.ahead[a, b] > self.ahead[b, a]
        }
        surest = max(found, key=lambda pair: found[pair], default=None)
        if any(clicks) and surest and found[surest] >= self.odds:
            better, worse = surest
            self.racers[worse] = PairRank(caller_order=self.racers[worse].caller_order).from_state(
                self.racers[better].state()
            )
            self.ahead = Counter({pair: n for pair, n in self.ahead.items() if worse not in pair})
            self.restarts += 1


def urn_odds(wins: int, losses: int) -> float:
    """The same odds, list by list: how likely each outcome was to one who learns, against one who tosses."""
    odds, ahead, behind = 1.0, EVEN, EVEN
    for won in [True] * wins + [False] * losses:
        odds *= 2 * (ahead if won else behind) / (ahead + behind)
        ahead, behind = ahead + won, behind + (not won)
    return odds


@pytest.mark.parametrize("caller_order", [None, "decent"])
def test_a_race_is_run_by_the_rule(caller_order: CallerOrder) -> None:
    """Also with clicks on lists that others have made, and with restarts."""
    race = Race(odds=1.2, caller_order=caller_order)
    slow = SlowRace(1.2, [PairRank(caller_order=caller_order) for _ in range(3)])
    rng = np.random.default_rng(0)
    for seed in range(90):
        judged = WORLD[seed % len(WORLD)]
        ranking = race.rank(judged.query, k=8, rng=np.random.default_rng(seed))
        if seed % 5 == 4:
            ranking = Ranking(judged.query, rng.permutation(12)[:6], ranking.evidence)
        feedback = click(ranking, judged.relevance, rng)
        race.learn(feedback)
        slow.learn(feedback)
        assert race.restarts == slow.restarts
        assert {(a, b): race.wins[a, b] for a, b in np.argwhere(race.wins).tolist()} == dict(slow.ahead)
        if len(race.parameters):
            assert np.array_equal(race.parameters, [racer.parameters for racer in slow.racers])
            assert np.array_equal(race.curvature, [racer.curvature for racer in slow.racers])
    assert race.restarts >= 2
    assert not np.array_equal(race.parameters[0], race.parameters[1]), "the racers are apart"


def test_odds_are_those_of_an_urn() -> None:
    for wins, losses in [(1, 0), (7, 2), (40, 20), (90, 85)]:
        found = log_win_odds(np.array([[0, wins], [losses, 0]]))
        assert found[0, 1] == pytest.approx(np.log(urn_odds(wins, losses)))
        assert found[1, 0] == -np.inf, "who is behind has no odds"


@pytest.mark.parametrize("odds", [3.0, 20.0])
def test_of_two_equals_one_is_seldom_ever_restarted(odds: float) -> None:
    """All outcomes of six hundred lists, each as likely as the other: an exact probability."""
    wins_by_row = np.arange(601)[:, None].repeat(601, axis=1)  # of the first; by column those of the second
    either = np.maximum(log_win_odds(wins_by_row), log_win_odds(wins_by_row).T)
    chances, stopped = np.array([1.0]), 0.0  # by the number of wins of the first
    for lists in range(1, 601):
        chances = (np.append(chances, 0.0) + np.insert(chances, 0, 0.0)) / 2
        over = either[np.arange(lists + 1), lists - np.arange(lists + 1)] >= np.log(odds)
        stopped += chances[over].sum()
        chances = np.where(over, 0.0, chances)
    assert 0.3 / odds < stopped <= 1 / odds


def test_whose_number_is_lower_is_no_merit() -> None:
    """Racers that know nothing, and users who click by position alone: each is ahead as often as another."""
    race, query = Race(odds=1e9), Query("all alike", np.zeros((9, 1)))
    rng = np.random.default_rng(5)
    for _ in range(500):
        ranking = race.rank(query, k=7, rng=rng)  # so that the racers own two and three of them
        race.learn(Feedback(ranking, rng.random(7) < 1 / np.arange(1, 8)))
    apart, told = race.wins - race.wins.T, race.wins + race.wins.T
    assert told[0, 1] > 150
    assert (np.abs(apart) <= 3.5 * np.sqrt(told)).all()
    renamed = np.array([2, 0, 1])
    found = log_win_odds(race.wins[np.ix_(renamed, renamed)])
    assert np.array_equal(found, log_win_odds(race.wins)[np.ix_(renamed, renamed)])


def test_a_racer_that_is_worse_is_restarted_from_the_better_one() -> None:
    """Two arms, each sure of itself, and users who agree with the second."""
    race = Race(racers=2)
    world = np.random.default_rng(1)
    first = race.rank(Query("q", world.random((8, 2))), k=8, rng=world)
    race.learn(Feedback(first, np.arange(8) == 3))
    known = {**race.state(), "parameters": np.array([[-5.0, 0.0], [5.0, 0.0]])}
    known["curvature"] = np.stack([1e-4 * np.eye(2)] * 2)
    known["wins"] = np.zeros((2, 2), dtype=np.int64)
    race = race.from_state(known)
    for seed in range(60):
        query = Query(f"q{seed}", world.random((8, 2)))
        ranking = race.rank(query, k=8, rng=np.random.default_rng(seed))
        worth = query.features[ranking.order, 0]
        race.learn(Feedback(ranking, worth >= np.sort(worth)[-2]))
        if race.restarts:
            break
        assert race.parameters[0, 0] < 0 < race.parameters[1, 0]
    assert race.restarts == 1
    assert race.parameters[0, 0] == race.parameters[1, 0] > 0
    assert np.array_equal(race.curvature[0], race.curvature[1])
    assert not race.wins.any(), "its record begins anew"
    pair = Query("pair", np.array([[1.0, 0.0], [0.0, 0.0]]))
    assert race.score(pair)[0] > race.score(pair)[1]


def test_every_racer_has_its_share_of_a_list_and_long_lists_end_as_the_leader_likes() -> None:
    race, query = Race(), Query("q", np.random.default_rng(0).random((60, 3)))
    ranking = race.rank(query, k=50, rng=np.random.default_rng(1))
    assert sorted(set(ranking.order.tolist())) == sorted(ranking.order.tolist())
    assert len(ranking) == 50
    assert ranking.evidence["drafted"].tolist() == ranking.order[:DEPTH].tolist()
    assert np.abs(ranking.evidence["owners"].sum(axis=1) - DEPTH / 3).max() < 1
    assert len(race.rank(query, k=60, rng=np.random.default_rng(1))) == 60


def test_a_list_that_others_made_teaches_and_tells_nobody_apart() -> None:
    race, judged = Race(), WORLD[0]
    drawn = race.rank(judged.query, k=6, rng=np.random.default_rng(0))
    shown = race.with_order(drawn, drawn.order[::-1])
    assert shown is not None
    race.learn(Feedback(shown, np.arange(6) == 2))
    assert race.parameters.any()
    assert not race.wins.any()
    race.learn(Feedback(drawn, np.arange(6) == 2))
    assert race.wins.sum() == 2, "the owner of the result is ahead of both others"


def test_a_race_makes_its_racers_once(monkeypatch: pytest.MonkeyPatch) -> None:
    race, query = Race(), WORLD[0].query
    made: list[object] = []
    monkeypatch.setattr("rankloop.policy.check_settings", made.append)  # asked of each policy that is made
    for seed in range(5):
        shown = race.rank(query, k=5, rng=np.random.default_rng(seed))
        race.learn(Feedback(shown, shown.order == 2))
        race.score(query)
    assert [type(each) for each in made] == [PairRank]


def test_what_a_race_is_not_is_refused() -> None:
    ranking = Race(racers=2).rank(WORLD[0].query, k=5, rng=np.random.default_rng(0))
    race = Race()
    with pytest.raises(RankingError, match="this race has 3 racers"):
        race.learn(Feedback(ranking, np.arange(5) == 1))
    assert not race.parameters.size
    assert not Race(racers=2).continues(race)


def test_a_leader_needs_a_record() -> None:
    assert win_rates(np.array([[0, 1], [0, 0]])) == pytest.approx([21 / 41, 20 / 41])
    assert win_rates(np.zeros((3, 3), dtype=np.int64)).tolist() == [0.5] * 3
