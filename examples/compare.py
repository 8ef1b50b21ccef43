"""An experiment from Python: who learns fastest from whom? Run it with `python examples/compare.py`."""

from rankloop.lab.analysis.sweep_analysis import analyse_sweep
from rankloop.lab.report.result_tables import build_summary_table
from rankloop.lab.report.table_formats import to_markdown
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.sweeps.results_folder import run_sweep
from rankloop.lab.sweeps.sweep import Sweep
from rankloop.lab.users import PresetUser
from rankloop.policies import MGD, PDGD, Random

sweep = Sweep(
    data=["linear"],
    users={name: PresetUser(name) for name in ("perfect", "navigational")},
    policies={"PDGD": PDGD(), "MGD": MGD(step=0.1), "random": Random()},
    seeds=range(3),
    protocol=Protocol(rounds=500),
)
print(to_markdown(build_summary_table(analyse_sweep(run_sweep(sweep), sweep), "cumulative nDCG@10")))
