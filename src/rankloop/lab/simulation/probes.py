"""Probes: what goes on inside a policy while it learns, for the sweeps that ask."""

from rankloop.experiments.simulation.probes.base import (
    Checkpoint,
    CheckpointProbe,
    Follower,
    KnowsOrders,
    Look,
    Probe,
    RoundProbe,
    RunProbe,
)
from rankloop.experiments.simulation.probes.cosine import CosineToOffline
from rankloop.experiments.simulation.probes.duels import DuelingRegret
from rankloop.experiments.simulation.probes.exposure import Exposure
from rankloop.experiments.simulation.probes.gauges import Gauges
from rankloop.experiments.simulation.probes.lambdarank import offline_lambdarank
from rankloop.experiments.simulation.probes.offline import offline_ranknet
from rankloop.experiments.simulation.probes.orders import (
    Blocks,
    BlockSizes,
    CertainPairs,
    RegretBound,
    UncertainPairs,
    ViolatedOrders,
)
from rankloop.experiments.simulation.probes.positions import BlockSizeByPosition

__all__ = [
    "BlockSizeByPosition",
    "BlockSizes",
    "Blocks",
    "CertainPairs",
    "Checkpoint",
    "CheckpointProbe",
    "CosineToOffline",
    "DuelingRegret",
    "Exposure",
    "Follower",
    "Gauges",
    "KnowsOrders",
    "Look",
    "Probe",
    "RegretBound",
    "RoundProbe",
    "RunProbe",
    "UncertainPairs",
    "ViolatedOrders",
    "offline_lambdarank",
    "offline_ranknet",
]
