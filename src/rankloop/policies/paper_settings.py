"""Settings of the papers by name: `pairrank@paper` is PairRank as its paper runs it.

Each says which policy it is with which settings, where that is printed, and the grid that the paper chose
from. What no paper prints is said to be ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

MARK = "@paper"
PAIRRANK = "PairRank (WWW 2021)"
NEURAL = "olRankNet (WWW 2022)"
THESIS = "thesis (Virginia 2022)"
DSP = "document-space projection (SIGIR 2019)"


@dataclass(frozen=True, slots=True)
class PaperSettings:
    """A policy as a paper runs it: its text, where that stands, and what was tuned."""

    policy: str  # as text, without what others add
    source: str
    grid: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # by setting, values as text
    ours: str = ""  # what no paper prints

    @property
    def name(self) -> str:
        """The name of the policy's class."""
        return self.policy.partition("(")[0]


TENTHS = ("0.1", "0.01", "0.001", "0.0001")
RATES = TENTHS[:3]
WIDTHS = tuple(f"Width(alpha={alpha})" for alpha in TENTHS)
NETWORK = (
    "scorer=MLP(scale=1.0), pairing='adjacent', training=Exact(steps=20, restart=True), "
    "optimiser='gradient-descent', averaging=False, learning_rate=0.1, regularisation=0.01"
)
DIAGONAL = f"{NETWORK}, covariance='diagonal', alpha=0.01"
UNIT = "rates are along the mean over the lists, in the unit in which m is 1"
STEPS = f"20 steps of descent in a round; {UNIT}; which of the grid: choose by tuning"
DUEL = "step=0.1, radius=1.0, decay=1.0, start_seed=0"
SPACE = "projection=DocumentSpace(k=3, recent=10)"
SPACES = {
    "projection": (
        *(f"DocumentSpace(k={k}, recent=10)" for k in range(8)),
        "DocumentSpace(k=3, recent=20)",
    )
}
STARTS = "team draft; the seed of the start"
TRIED = f"{STARTS}; of the numbers r that were tried, only 20 is in the text"

PAPER: Mapping[str, PaperSettings] = MappingProxyType(
    {
        f"{name}{MARK}": settings
        for name, settings in {
            "pairrank": PaperSettings(
                "PairRank(certainty=Width(alpha=0.01), pairing='adjacent', update='exact', "
                "regularisation=0.01)",
                f"{PAIRRANK}, Equation 1, Algorithm 1, conservative exploration; grid: {NEURAL}, 5.1",
                {"regularisation": TENTHS, "certainty": WIDTHS},
                "which of the grid: choose by tuning",
            ),
            "pepairrank": PaperSettings(
                "PePairRank(rankers=2, variance=0.1, pairing='adjacent', update='exact', "
                "regularisation=0.01)",
                f"{THESIS}, Equation 2.2.1, Algorithm 2, Figure 2.9",
                {"rankers": ("2", "5"), "variance": ("0.1", "0.01"), "regularisation": TENTHS},
                "λ, whose grid is PairRank's; ν², whose values are printed for networks; which of the grid",
            ),
            "olranknet": PaperSettings(
                f"OlRankNet({DIAGONAL})",
                f"{NEURAL}, Algorithm 1 and 5.1",
                {"regularisation": TENTHS, "alpha": TENTHS, "learning_rate": RATES},
                STEPS,
            ),
            "ollambdarank": PaperSettings(
                f"OlLambdaRank({DIAGONAL}, draws=0, balanced=False)",
                f"{NEURAL}, section 3 and 5.1",
                {"regularisation": TENTHS, "alpha": TENTHS, "learning_rate": RATES},
                f"{STEPS}; the list is that of the documents learned from, clicks are gains",
            ),
            "p2neurrank": PaperSettings(
                f"P2NeurRank({NETWORK}, rankers=2, variance=0.1)",
                f"{THESIS}, Equation 2.2.1, Algorithm 2, Figures 2.10 to 2.13",
                {
                    "rankers": ("2", "5", "10"),
                    "variance": ("0.1", "0.01"),
                    "regularisation": TENTHS,
                    "learning_rate": RATES,
                },
                f"{STEPS}; λ and rate, whose grids are olRankNet's",
            ),
            "ranknet": PaperSettings(
                "RankNet(pairing='adjacent', learning_rate=0.001)",
                f"{PAIRRANK}, 4.1, as SGD RankNet",
                {"learning_rate": RATES},
                "learning rate and its grid: the paper chose on validation queries and prints neither",
            ),
            "epsilon-greedy": PaperSettings(
                "EpsilonGreedy(pairing='adjacent', learning_rate=0.001, epsilon=0.1)",
                f"{PAIRRANK}, 4.1",
                {"learning_rate": RATES, "epsilon": ("0.05", "0.1", "0.2")},
                "learning rate, ε and their grid: the paper chose on validation queries and prints neither",
            ),
            "pdgd": PaperSettings(
                "PDGD(learning_rate=0.1, decay=0.999977)",
                f"{NEURAL}, 5.1, as Linear-PDGD",
                {"learning_rate": RATES},
                "which of the grid",
            ),
            "pdgd-neural": PaperSettings(
                "PDGD(scorer=MLP(scale=1.0), learning_rate=0.1, decay=0.999977)",
                f"{NEURAL}, 5.1, as Neural-PDGD",
                {"learning_rate": RATES},
                "which of the grid; network, and unit of rates, as olRankNet's",
            ),
            "dbgd-linear": PaperSettings(
                "DBGD(step=0.01, decay=0.999977)",
                f"{NEURAL}, 5.1, as Linear-DBGD",
                {"step": RATES},
                "which of the grid; δ = 1 and team draft",
            ),
            "dbgd-neural": PaperSettings(
                "DBGD(scorer=MLP(scale=1.0), step=0.01, decay=0.999977)",
                f"{NEURAL}, 5.1, as Neural-DBGD",
                {"step": RATES},
                "which of the grid; network, and unit of steps, as olRankNet's; δ = 1 and team draft",
            ),
            "dbgd": PaperSettings(
                f"DBGD({DUEL})", f"{DSP}, Algorithm 1 without its projection, and 4.2", ours=STARTS
            ),
            "mgd": PaperSettings(f"MGD(candidates=9, {DUEL})", f"{DSP}, 4.2", ours=STARTS),
            "nsgd": PaperSettings(
                f"NSGD(candidates=9, {DUEL})",
                f"{DSP}, 4.2",
                ours=f"{STARTS}; proposals and memories, the defaults",
            ),
            "dbgd-dsp": PaperSettings(
                f"DBGD({DUEL}, {SPACE})",
                f"{DSP}, Algorithm 1 and 4.2; grid: Figure 4",
                SPACES,
                TRIED,
            ),
            "mgd-dsp": PaperSettings(
                f"MGD(candidates=9, {DUEL}, {SPACE})", f"{DSP}, 4.2; grid: Figure 4", SPACES, TRIED
            ),
            "nsgd-dsp": PaperSettings(
                f"NSGD(candidates=9, {DUEL}, {SPACE})",
                f"{DSP}, 4.2; grid: Figure 4",
                SPACES,
                f"{TRIED}; proposals and memories, the defaults",
            ),
        }.items()
    }
)
