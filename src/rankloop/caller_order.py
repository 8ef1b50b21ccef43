"""Trust in the caller's own order: a prior on the weight that the order has beside the features."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from rankloop.errors import SettingError, suggest_name

Trust: TypeAlias = str | float | None  # how good is the order? a word, a weight, or nothing is said


@dataclass(frozen=True, slots=True)
class OrderPrior:
    r"""What the weight of the caller's order is thought to be before any click.

    A document's score has the part $w c$ with $c = -\log_2(1 + \text{rank})$ and
    $w \sim \mathcal{N}(\text{mean}, \text{deviation}^2)$. With a weight of 1 the log-odds that the caller's
    first result is better than the second are .58, and better than the tenth 2.5; what clicks say of orders
    that are merely decent is about half of that. The deviation is large enough that no order is 95 % sure by
    somebody's word alone, and small enough that a few clicks do not turn the order round.
    """

    mean: float
    deviation: float


WORDS: Mapping[str, OrderPrior] = {
    "good": OrderPrior(1.0, 0.7),
    "decent": OrderPrior(0.5, 0.35),
    "poor": OrderPrior(0.2, 0.35),
    "unknown": OrderPrior(0.5, 0.7),
}
DOUBT = 0.7  # deviation of a weight that is given as a number, as a share of it; never less than .35


def order_prior(trust: Trust) -> OrderPrior | None:
    """The prior that a setting `trust` stands for; `None`: the caller's order is not looked at.

    >>> order_prior("decent") == order_prior(0.5), order_prior(None) is order_prior(0) is None
    (True, True)
    """
    if trust is None or (trust == 0 and not isinstance(trust, bool)):
        return None
    if isinstance(trust, str) and trust in WORDS:
        return WORDS[trust]
    number = isinstance(trust, int | float) and not isinstance(trust, bool)
    if number and 0 < trust <= 100:  # type: ignore[operator]
        return OrderPrior(float(trust), DOUBT * max(float(trust), 0.5))
    hint = f": {suggest_name(trust, WORDS)}" if isinstance(trust, str) else ""
    raise SettingError(
        f"trust says how good the caller's own order is: {', '.join(WORDS)}, a weight of 0 to 100, "
        f"or None to ignore it, found {trust!r}{hint}"
    )
