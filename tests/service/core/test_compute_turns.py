"""Ranking and learning take turns, and neither can hold the other up for long."""

from __future__ import annotations

import threading

import pytest

from rankloop.service.core.compute_turns import Turns


def test_two_that_take_turns_never_compute_at_once() -> None:
    turns, inside, most = Turns(), list[int](), list[int]()

    def work() -> None:
        for number in range(500):
            with turns.take(60):
                inside.append(number)
                most.append(len(inside))
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1
    assert len(most) == 2000


def test_one_that_is_stuck_holds_nobody_up() -> None:
    turns, entered, go = Turns(), threading.Event(), threading.Event()

    def stuck() -> None:
        with turns.take(60):
            entered.set()
            assert go.wait(60)

    thread = threading.Thread(target=stuck)
    thread.start()
    assert entered.wait(60)
    with turns.take(0.001), turns.take(0.001):
        assert thread.is_alive()
    go.set()
    thread.join()
    with turns.take(0.001):
        pass


def test_an_error_gives_the_turn_back() -> None:
    turns = Turns()
    with pytest.raises(ZeroDivisionError), turns.take(60):
        raise ZeroDivisionError
    assert turns._lock.acquire(blocking=False)
