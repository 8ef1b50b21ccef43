"""An experiment from Python: who learns fastest from whom? Run it with `python examples/compare.py`."""

from rankloop.experiments import Protocol, Sweep, execute, summarise, summary_markdown
from rankloop.policies import MGD, PDGD, Random
from rankloop.users import Preset

sweep = Sweep(
    data=["synthetic:linear"],
    users={name: Preset(name) for name in ("perfect", "navigational")},
    policies={"PDGD": PDGD(), "MGD": MGD(step=0.1), "random": Random()},
    seeds=range(3),
    protocol=Protocol(rounds=500),
)
print(summary_markdown(summarise(execute(sweep)), metric="cumulative nDCG@10"))
