r"""Conservative exploration: an account of clicks by which a learner may depart from an order that is known.

The searches are numbered as they begin. Of each, $x \in \{0, 1\}$ says whether it got a click, and $b$ is how
probable that would have been in the order that is known, given all searches before it. A search is *held* (in
the known order, for sure), or *free*: then a coin shows the known order with probability $p$ (`owned`), and
otherwise the learner's (`learned`). What is promised is that

$$D_t = \sum_{i \le t} \bigl(E[x_i \mid \text{before}] - \text{share} \cdot b_i\bigr) \ge -\text{advance}
\qquad \text{for all } t \text{ at once, with probability } 1 - \delta.$$

With $m$ the mean of the known order's clicks before, $\hat b = x$ if held, $m + (x - m) / p$ if owned and $m$
if learned has the mean $b$ over the coin, so $y = x - \text{share} \cdot \hat b$ has the mean of a step of
$D$. Its distance from $(1 - \text{share}) m$ is never below $-B$, $B = \max(1, \text{share} / p - 1)$, so for
each of $J$ bets $f$ the capital $\exp(f (\sum y - D) / B - \psi(f) V)$ is no better than fair, with $V$ the
sum of the squared distances over $B^2$ and $\psi(f) = -\log(1 - f) - f$. With probability $1 - \delta$ none
of them ever reaches $J / \delta$, and then at all times

$$D_t \ge \sum y - B \min_f \frac{\log(J / \delta) + \psi(f) V}{f}.$$

A held search cannot lower $D$, and a free one by no more than $\text{share} - p$. So a search may be free if
the best bound so far, less that for every free search whose end is not known and for itself, is no less than
`-advance`: whatever comes of them, the promise is kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal, Self, TypeAlias, get_args

from rankloop.errors import SettingError
from rankloop.evaluation.confidence_sequences import COSTS, FRACTIONS

SearchArm: TypeAlias = Literal["held", "owned", "learned"]
LEAST_OWN = 1e-6  # of the free searches, so that what they stand for can be added up
BETS = tuple(zip(FRACTIONS.tolist(), COSTS.tolist(), strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class ClickAccount:
    """Clicks of held, owned and learned searches, and by how many the promise is ahead, at the least.

    >>> account = ClickAccount(share=0.9, chance=0.05, own=0.5)
    >>> account.allows(pending=0, advance=0), account.allows(pending=0, advance=0.4)
    (False, True)
    >>> for _ in range(500):
    ...     account = account.after("held", clicked=True)
    >>> round(account.ahead), round(account.lower), account.allows(pending=90, advance=0)
    (50, 43, True)

    Wu, Shariff, Lattimore, Szepesvári: Conservative bandits. ICML 2016. Howard, Ramdas, McAuliffe, Sekhon:
    Time-uniform, nonparametric, nonasymptotic confidence sequences. Annals of Statistics, 2021.
    """

    share: float  # of the known order's clicks, that is promised
    chance: float  # with which the promise may be broken
    own: float  # share of the free searches that show the known order
    held: int = 0  # searches
    owned: int = 0
    learned: int = 0
    own_clicks: int = 0  # of held and owned ones
    learned_clicks: int = 0
    due: float = 0.0  # clicks that the known order would have got, estimated
    ahead: float = 0.0  # D, estimated
    squares: float = 0.0  # V
    lower: float = 0.0  # D is no less

    def __post_init__(self) -> None:
        """Refuse an account that could not be kept."""
        sums: tuple[object, ...] = (self.share, self.chance, self.own, self.due, self.ahead, self.squares)
        if not all(isinstance(each, int | float) and math.isfinite(each) for each in (*sums, self.lower)):
            raise SettingError(f"an account of clicks holds finite numbers, found {self}")
        if not (LEAST_OWN <= self.own < self.share < 1 and 0 < self.chance < 1):
            raise SettingError(
                f"an account of clicks needs 0 < own < share < 1, own of {LEAST_OWN:g} or more, and a chance "
                f"between 0 and 1, found own {self.own}, share {self.share}, chance {self.chance}"
            )
        if min(self.held, self.owned, self.learned, self.own_clicks, self.learned_clicks) < 0:
            raise SettingError(f"an account counts searches and clicks from 0, found {self}")

    @property
    def risk(self) -> float:
        """The most that one free search may lose."""
        return self.share - self.own

    @property
    def searches(self) -> int:
        """How many are counted."""
        return self.held + self.owned + self.learned

    def allows(self, *, pending: int, advance: float) -> bool:
        """Whether one more search may be free, while the ends of so many free ones are not known."""
        if pending < 0 or not math.isfinite(advance):
            raise SettingError(
                f"so many searches are pending, 0 or more, and the advance is a number of clicks, found "
                f"{pending} and {advance}"
            )
        return self.lower + advance >= self.risk * (pending + 1)

    def after(self, arm: SearchArm, *, clicked: bool) -> Self:
        """Add one more search to the account, in the order in which they began."""
        if arm not in get_args(SearchArm) or clicked not in (True, False):
            raise SettingError(
                f"a search is {', '.join(get_args(SearchArm))}, and got a click or none, found {arm!r} and "
                f"{clicked!r}"
            )
        click, usual = float(clicked), (self.own_clicks + 0.5) / (self.held + self.owned + 1)
        weight = {"held": 1.0, "owned": 1 / self.own, "learned": 0.0}[arm]
        known = usual + (click - usual) * weight
        step, scale = click - self.share * known, max(1.0, self.share / self.own - 1)
        squares = self.squares + ((step - (1 - self.share) * usual) / scale) ** 2
        ahead = self.ahead + step
        target = math.log(len(BETS) / self.chance)
        bound = ahead - scale * min((target + cost * squares) / bet for bet, cost in BETS)
        return replace(
            self,
            held=self.held + (arm == "held"),
            owned=self.owned + (arm == "owned"),
            learned=self.learned + (arm == "learned"),
            own_clicks=self.own_clicks + (clicked and arm != "learned"),
            learned_clicks=self.learned_clicks + (clicked and arm == "learned"),
            due=self.due + known,
            ahead=ahead,
            squares=squares,
            lower=max(bound, self.lower - (0.0 if arm == "held" else self.risk)),
        )
