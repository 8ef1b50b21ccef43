"""A network of your own as scorer, compared with ours. Run it with `python examples/own_network.py`.

It needs PyTorch: `pip install 'rankloop[neural]'`.
"""

from torch import nn

from rankloop.lab.analysis.sweep_analysis import analyse_sweep
from rankloop.lab.report.result_tables import build_summary_table
from rankloop.lab.report.table_formats import to_markdown
from rankloop.lab.simulation.protocol import Protocol
from rankloop.lab.sweeps.results_folder import run_sweep
from rankloop.lab.sweeps.sweep import Sweep
from rankloop.lab.users import PresetUser
from rankloop.policies import P2NeurRank, PairRank
from rankloop.scorers import MLP, Module


def network(n_features: int) -> nn.Module:
    """Documents [n_docs, n_features] in, a score for each out."""
    return nn.Sequential(nn.Linear(n_features, 32), nn.Tanh(), nn.Linear(32, 1))


sweep = Sweep(
    data=["linear"],
    users={"perfect": PresetUser("perfect")},
    policies={
        "own network": P2NeurRank(scorer=Module(network), learning_rate=0.003),
        "our network": P2NeurRank(scorer=MLP(32)),
        "PairRank": PairRank(),
    },
    seeds=range(2),
    protocol=Protocol(rounds=200),
)
analysis = analyse_sweep(run_sweep(sweep), sweep)
print(to_markdown(build_summary_table(analysis, "cumulative nDCG@10")))
