"""Probes: what goes on inside a policy while it learns, for the sweeps that ask."""

from rankloop.lab.simulation.duel_probe import DuelingRegret
from rankloop.lab.simulation.exposure_probe import Exposure
from rankloop.lab.simulation.gauges import Gauges
from rankloop.lab.simulation.lambdarank_probe import offline_lambdarank
from rankloop.lab.simulation.learning_probes import CosineToOffline
from rankloop.lab.simulation.offline_rankers import offline_ranknet
from rankloop.lab.simulation.order_probes import (
    Blocks,
    BlockSizes,
    CertainPairs,
    RegretBound,
    UncertainPairs,
    ViolatedOrders,
)
from rankloop.lab.simulation.positions import BlockSizeByPosition
from rankloop.lab.simulation.probe_base import (
    Checkpoint,
    CheckpointProbe,
    Follower,
    KnowsOrders,
    Look,
    Probe,
    RoundProbe,
    RunProbe,
)

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
