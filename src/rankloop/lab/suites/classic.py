"""Questions about the classic policies."""

from __future__ import annotations

from collections.abc import Mapping

from rankloop.lab.suites.paper_items import Suite, preset_users

BASELINES = ("pdgd", "mgd", "dbgd", "epsilon-greedy", "ranknet")
WITH_FLOOR = (*BASELINES, "random")
INTERLEAVED = (
    "dbgd",
    "DBGD(interleaving=Probabilistic())",
    "mgd",
    "MGD(candidates=49, interleaving=Probabilistic())",
)

SUITES: Mapping[str, Suite] = {
    "classic/baselines": Suite(
        title="Which classic policy learns fastest, and what do users see meanwhile?",
        policies=WITH_FLOOR,
        users=preset_users("click"),
    ),
    "classic/stop": Suite(
        title="How much does it matter whether users stop only after a click, or anywhere?",
        policies=WITH_FLOOR,
        users=preset_users("click", "every"),
    ),
    "classic/interleaving": Suite(
        title="Team draft or probabilistic interleaving, with few or many candidates?",
        policies=INTERLEAVED,
        users=preset_users("click"),
    ),
}
