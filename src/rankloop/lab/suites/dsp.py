"""The tables and figures of the paper on document-space projection.

Wang, Kim, McCord-Snook, Wu, Wang: Variance reduction in gradient exploration for online learning to rank.
SIGIR 2019.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankloop.lab.simulation.probes import Probe, make_probe
from rankloop.lab.suites.paper_items import Suite, preset_users

SPACE = "projection=DocumentSpace()"
TRUE = "projection=DocumentSpace(recent=0, examined='true')"
SETTINGS = ("", "@paper")  # our step, 0.01, which the paper's numbers fit, and all that it prints


def variants(*kinds: str, ways: Sequence[str]) -> tuple[str, ...]:
    """Policies as ours and as the paper's, each in several ways to project.

    >>> variants("mgd", ways=("", SPACE))
    ('mgd', 'mgd(projection=DocumentSpace())', 'mgd@paper', 'mgd@paper(projection=DocumentSpace())')
    """
    names = (f"{kind}{settings}" for kind in kinds for settings in SETTINGS)
    return tuple(f"{name}({way})" if way else name for name in names for way in ways)


def projected(*kinds: str) -> tuple[str, ...]:
    """Policies as they are, with the paper's projection, and with that of the authors' code.

    >>> projected("mgd")[:3]
    ('mgd', 'mgd(projection=DocumentSpace())', 'mgd(projection=DocumentSpace(unit=True))')
    """
    return variants(*kinds, ways=("", SPACE, "projection=DocumentSpace(unit=True)"))


EVERYTHING = projected("dbgd", "mgd", "nsgd")
TRUST = [(trust, unit) for trust in (0.25, 0.5, 0.75, 1.0) for unit in ("", ", unit=True")]
TRUSTING = variants(  # between its own direction and the projected one
    "mgd", ways=("", *(f"projection=DocumentSpace(trust={trust}{unit})" for trust, unit in TRUST))
)
KNOWING = variants("dbgd", "mgd", ways=("", SPACE, TRUE))  # some guess what was examined, some know it
LOOKING_FURTHER = variants(
    "mgd", ways=("", *(f"projection=DocumentSpace({k})" for k in range(8)))
)  # after the last click
LOOKING_BACK = variants(
    "mgd", ways=("", *(f"projection=DocumentSpace(recent={recent})" for recent in (0, 5, 10, 20, 30)))
)


def plain(policies: Sequence[str]) -> dict[str, str]:
    """For every policy with a projection, the one without.

    >>> plain(projected("mgd"))["mgd@paper(projection=DocumentSpace())"]
    'mgd@paper'
    """
    return {name: name.partition("(")[0] for name in policies if "(" in name}


def suite(
    title: str,
    paper: str,
    policies: Sequence[str],
    *about: str,
    rounds: int = 10_000,
    probes: Mapping[str, Probe] | None = None,
) -> Suite:
    """A suite as long as the paper's, with users who may stop at every result they examine."""
    return Suite(
        title=title,
        paper=paper,
        policies=policies,
        about=about,
        against=plain(policies),
        users=preset_users("every"),
        probes=probes or {},
        rounds=rounds,
        seeds=15,
    )


ONLINE, OFFLINE = "cumulative nDCG@10", "offline nDCG@10"

SUITES: Mapping[str, Suite] = {
    "dsp/table2": suite(
        "Does document-space projection give users more while dueling bandits learn?",
        "On all data and under all users, projection gives users 1 to 17 % more with DBGD, 6 to 17 % with "
        "MGD and 4 to 12 % with NSGD, mostly with a smaller standard deviation, and most where there are "
        "many features.",
        EVERYTHING,
        ONLINE,
    ),
    "dsp/table3": suite(
        "Do dueling bandits learn a better ranking with document-space projection?",
        "After 10,000 rounds projection has changed DBGD by -1 to +5 %, MGD by 0 to +22 % and NSGD by -6 to "
        "+8 %.",
        EVERYTHING,
        OFFLINE,
    ),
    "dsp/fig2": suite(
        "Do dueling bandits learn sooner with document-space projection?",
        "On data with 700 features all three learn faster with projection.",
        EVERYTHING,
        OFFLINE,
    ),
    "dsp/fig3ab": suite(
        "How far should the projected direction be trusted?",
        "Online (3a) the further the better, under all users; offline (3b) it makes little difference.",
        TRUSTING,
        ONLINE,
        OFFLINE,
    ),
    "dsp/fig3c": suite(
        "Does projection lead closer to the weights that the true labels teach?",
        "MGD with projection comes closer to an offline LambdaRank, and sooner.",
        projected("mgd"),
        "cosine to offline LambdaRank",
        rounds=5000,
        probes={"cosine(teacher=lambdarank)": make_probe("cosine", teacher="lambdarank")},
    ),
    "dsp/fig3d": suite(
        "What would it bring to know what users truly examine?",
        "Under perfect users, DBGD and MGD that know it do much the same as those that guess.",
        KNOWING,
        ONLINE,
        OFFLINE,
    ),
    "dsp/fig4a": suite(
        "How many results after the last click should count as examined?",
        "About 3 under navigational and informational users, who leave soon; more are better under perfect "
        "ones, who read everything.",
        LOOKING_FURTHER,
        ONLINE,
        OFFLINE,
    ),
    "dsp/fig4b": suite(
        "How many results examined in earlier rounds should join?",
        "20 are best under perfect users; under the others it makes little difference.",
        LOOKING_BACK,
        ONLINE,
        OFFLINE,
    ),
}
