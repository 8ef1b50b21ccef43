"""Which lists are learned from again, and how a step is taken."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from rankloop.learning.adam import adam
from rankloop.policies import Exact, ReplayMemory
from rankloop.types import FloatArray


def replayed(training: ReplayMemory, rounds: int, seed: int = 0) -> FloatArray:
    """How much each list, by number, counted in all batches, in units of a new list."""
    rng, said = np.random.default_rng(seed), np.zeros(rounds)
    for number in range(rounds):
        newest = number % training.memory
        for batch in training.batches(number + 1, newest, rng):
            assert batch.slots[0] == newest
            assert newest not in batch.slots[1:]
            assert batch.counts.mean() == pytest.approx(1)
            np.add.at(said, number - (newest - batch.slots) % training.memory, batch.counts / batch.counts[0])
    return said


def test_exact_takes_everything_every_time() -> None:
    batches = list(Exact(3).batches(4, 3, np.random.default_rng(0)))
    assert [batch.slots.tolist() for batch in batches] == [[0, 1, 2, 3]] * 3


@pytest.mark.parametrize(("lists", "repeats"), [(4, 4), (2, 6), (6, 2)])
def test_every_list_has_the_same_say(lists: int, repeats: int) -> None:
    """That of a new one, and of `repeats` new ones on average until it is forgotten: also the first."""
    said = replayed(ReplayMemory(lists, memory=50, repeats=repeats), 2000)
    forgotten = said[:1950]
    spread = repeats / np.sqrt(lists * 50)  # of the mean of 50 lists, each of them drawn about `lists` times
    for part in (forgotten[:50], forgotten):
        assert part.mean() == pytest.approx(1 + repeats, abs=5 * spread)


def test_no_list_is_replayed_before_there_is_one() -> None:
    for memory in (1, 50):
        (batch,) = ReplayMemory(100, memory=memory).batches(1, 0, np.random.default_rng(0))
        assert (batch.slots.tolist(), batch.counts.tolist()) == ([0], [1])


def test_a_memory_of_one_list_never_replays() -> None:
    (batch,) = ReplayMemory(3, memory=1).batches(9, 0, np.random.default_rng(0))
    assert batch.slots.tolist() == [0]


def test_batches_are_equally_large_however_much_is_remembered() -> None:
    rng = np.random.default_rng(0)
    for lists in (2, 10, 1000, 10**6):
        (batch,) = ReplayMemory(5, memory=100).batches(lists, (lists - 1) % 100, rng)
        assert len(batch.slots) == len(batch.counts) == 6
        assert 0 <= batch.slots.min() <= batch.slots.max() < min(lists, 100)


def test_every_other_list_can_be_drawn() -> None:
    for lists, newest in ((7, 6), (12, 1), (20, 9)):
        (batch,) = ReplayMemory(500, memory=10).batches(lists, newest, np.random.default_rng(0))
        assert set(batch.slots[1:].tolist()) == set(range(min(lists, 10))) - {newest}


def test_every_step_of_a_round_draws_other_lists_besides_the_newest() -> None:
    batches = list(ReplayMemory(5, memory=100, steps=3).batches(80, 79, np.random.default_rng(0)))
    assert [batch.slots[0] for batch in batches] == [79, 79, 79]
    assert len({tuple(batch.slots.tolist()) for batch in batches}) == 3
    assert all(batch.counts.mean() == pytest.approx(1) for batch in batches)


def test_adam_is_the_adam_of_pytorch() -> None:
    """On a bowl, step by step."""
    here: FloatArray = np.array([1.0, -2.0])
    moments: FloatArray = np.zeros((2, 2))
    theirs = torch.tensor(here, requires_grad=True)
    optimizer = torch.optim.Adam([theirs], lr=0.1)
    for step in range(20):
        direction, moments = adam(moments, -np.array([2.0, 20.0]) * here, step)
        here = here + 0.1 * direction
        optimizer.zero_grad()
        (theirs**2 @ torch.tensor([1.0, 10.0], dtype=torch.float64)).backward()
        optimizer.step()
        np.testing.assert_allclose(here, theirs.detach().numpy(), atol=1e-7)
