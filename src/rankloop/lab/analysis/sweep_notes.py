"""Notes on how a sweep was run: what must be known to compare its numbers with anyone else's."""

from __future__ import annotations

from rankloop.lab.sweeps.sweep import Sweep
from rankloop.lab.users import LabelJudge

WITHOUT_RELEVANT = {"skip": "left out of the offline mean", "zero": "0 offline", "one": "1 offline"}


def list_conventions(sweep: Sweep) -> dict[str, str]:
    """List the conventions of a sweep, each by its name."""
    protocol = sweep.protocol
    measures = protocol.measured()
    answerable = any(measure.kind == "answerable" for measure in measures)
    notes = {
        "protocol": f"{protocol.rounds:,} rounds, {protocol.k} results shown; policies with the same seed "
        "meet the same queries and the same luck"
    }
    for measure in measures:
        if measure.kind == "cumulative":
            notes[measure.name] = f"sum over rounds t of {measure.discount}^(t-1) · that of the list shown"
    notes["queries without a relevant document"] = (
        f"0 online, {WITHOUT_RELEVANT[protocol.without_relevant]}"
        f"{', left out of what is answerable' if answerable else ''}"
    )
    notes["users"] = (
        "decide to stop only after a click; those marked stop_at=every at every result they examine"
    )
    if sweep.reference_policies:
        notes["skylines"] = (
            f"{', '.join(sweep.reference_policies)}: taught by the labels, shown for reference only"
        )
    if sweep.judges:
        judged = [f"{name} ({_describe_judge(judge, sweep)})" for name, judge in sweep.judges.items()]
        notes["taught by grades"] = ", ".join(judged)
    if sweep.probes:
        notes["probes"] = ", ".join(map(repr, sweep.probes.values()))
    return notes


def _describe_judge(judge: LabelJudge, sweep: Sweep) -> str:
    """How many results are graded in place of the user's clicks."""
    return "all candidates" if judge.whole_query else f"the first {judge.top_k or sweep.protocol.k}"
