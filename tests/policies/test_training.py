"""Which lists are learned from again, and how a step is taken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from rankloop.policies import Exact, Replay
from rankloop.policies.adam import adam
from rankloop.types import FloatArray, SettingError


def replayed(training: Replay, rounds: int, seed: int = 0) -> FloatArray:
    """How often each list, by number, was in a batch."""
    rng, counts = np.random.default_rng(seed), np.zeros(rounds)
    for number in range(rounds):
        newest = number % training.memory
        in_slot = {slot: number - (newest - slot) % training.memory for slot in range(training.memory)}
        for batch in training.batches(number + 1, newest, rng):
            assert batch[0] == newest
            for slot in batch:
                counts[in_slot[slot]] += 1
    return counts


def test_exact_takes_everything_every_time() -> None:
    batches = list(Exact(3).batches(4, 3, np.random.default_rng(0)))
    assert [batch.tolist() for batch in batches] == [[0, 1, 2, 3]] * 3


def test_every_list_is_replayed_equally_often() -> None:
    """Once when it is new, and `lists` times on average until it is forgotten, also the first."""
    counts = replayed(Replay(4, memory=50), 2000)
    forgotten = counts[:1950]
    for part in (forgotten[:50], forgotten):  # of 50 lists the mean is within 5 standard deviations, √(4/50)
        assert part.mean() == pytest.approx(1 + 4, abs=5 * np.sqrt(4 / 50))


def test_no_list_is_replayed_before_there_is_one() -> None:
    batches = list(Replay(100, memory=50).batches(1, 0, np.random.default_rng(0)))
    assert [batch.tolist() for batch in batches] == [[0]]


def test_a_batch_does_not_grow() -> None:
    rng = np.random.default_rng(0)
    for lists in (1, 10, 1000, 10**6):
        (batch,) = Replay(5, memory=100).batches(lists, (lists - 1) % 100, rng)
        assert len(batch) <= 6
        assert batch.max() < 100


@pytest.mark.parametrize(
    "make",
    [
        lambda: Exact(0),
        lambda: Exact(1.5),  # type: ignore[arg-type]
        lambda: Replay(-1),
        lambda: Replay(memory=0),
        lambda: Replay("x"),  # type: ignore[arg-type]
    ],
)
def test_settings_without_a_meaning_are_refused(make: Any) -> None:
    with pytest.raises(SettingError):
        make()


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
