"""The account of clicks, by enumeration: it adds up what is promised, and its bets are not favourable."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from rankloop.errors import SettingError
from rankloop.evaluation import ClickAccount, SearchArm
from rankloop.evaluation.click_account import BETS

ACCOUNT = ClickAccount(share=0.9, chance=0.05, own=0.3)
RATES = (0.0, 0.1, 0.5, 0.9, 1.0)


def grown(clicks: int, others: int) -> ClickAccount:
    """An account after some held searches, so that its usual click rate is something."""
    account = ACCOUNT
    for clicked in [True] * clicks + [False] * others:
        account = account.after("held", clicked=clicked)
    return account


def outcomes(own: float, learned: float, *, free: bool) -> list[tuple[float, SearchArm, bool]]:
    """All that a search can come to, with its probability."""
    arms: tuple[tuple[SearchArm, float, float], ...] = (("held", 1.0, own),)
    if free:
        arms = (("owned", ACCOUNT.own, own), ("learned", 1 - ACCOUNT.own, learned))
    return [
        (chance * (rate if clicked else 1 - rate), arm, clicked)
        for arm, chance, rate in arms
        for clicked in (False, True)
    ]


@pytest.mark.parametrize("free", [False, True])
def test_a_step_is_expected_to_be_what_is_promised(free: bool) -> None:
    for past, own, learned in product((grown(0, 0), grown(3, 7), grown(9, 0)), RATES, RATES):
        expected = sum(
            chance * (past.after(arm, clicked=clicked).ahead - past.ahead)
            for chance, arm, clicked in outcomes(own, learned, free=free)
        )
        shown = ACCOUNT.own * own + (1 - ACCOUNT.own) * learned if free else own
        assert expected == pytest.approx(shown - ACCOUNT.share * own, abs=1e-12)


@pytest.mark.parametrize("own_share", [0.1, 0.3, 0.6])
def test_no_bet_against_the_bound_is_favourable(own_share: float) -> None:
    scale = max(1.0, ACCOUNT.share / own_share - 1)
    for clicks, others in ((0, 0), (0, 50), (50, 0), (20, 20)):
        past = ClickAccount(share=ACCOUNT.share, chance=0.05, own=own_share)
        for clicked in [True] * clicks + [False] * others:
            past = past.after("held", clicked=clicked)
        for own, learned, (bet, cost) in product(RATES, RATES, BETS):
            truth = own_share * own + (1 - own_share) * learned - ACCOUNT.share * own
            capital = 0.0
            for arm, chance, rate in (("owned", own_share, own), ("learned", 1 - own_share, learned)):
                for clicked in (False, True):
                    after = past.after(arm, clicked=clicked)  # type: ignore[arg-type]
                    gain = bet * (after.ahead - past.ahead - truth) / scale
                    paid = cost * (after.squares - past.squares)
                    capital += chance * (rate if clicked else 1 - rate) * np.exp(gain - paid)
            assert capital <= 1 + 1e-12


def test_a_search_that_is_not_known_is_taken_for_the_worst() -> None:
    account = ACCOUNT.after("learned", clicked=False).after("owned", clicked=True)
    assert account.lower == pytest.approx(-2 * (0.9 - 0.3))
    assert account.after("held", clicked=False).lower == account.lower  # the own order loses nothing
    assert not account.allows(pending=0, advance=1.7)
    assert account.allows(pending=0, advance=1.8 + 1e-9)
    assert not account.allows(pending=1, advance=1.8 + 1e-9)


def test_an_account_without_a_coin_is_refused() -> None:
    with pytest.raises(SettingError, match="0 < own < share < 1"):
        ClickAccount(share=0.9, chance=0.05, own=0.9)
