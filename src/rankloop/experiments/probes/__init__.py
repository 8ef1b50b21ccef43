"""Probes: what goes on inside a policy while it learns, for the sweeps that ask."""

from rankloop.experiments.probes.base import Checkpoint, CheckpointProbe, KnowsOrders, Look, Probe, RoundProbe
from rankloop.experiments.probes.cosine import CosineToOffline
from rankloop.experiments.probes.gauges import Gauges
from rankloop.experiments.probes.lambdarank import offline_lambdarank
from rankloop.experiments.probes.offline import offline_ranknet
from rankloop.experiments.probes.orders import Blocks, BlockSizes, CertainPairs, RegretBound
from rankloop.experiments.probes.positions import BlockSizeByPosition

__all__ = [
    "BlockSizeByPosition",
    "BlockSizes",
    "Blocks",
    "CertainPairs",
    "Checkpoint",
    "CheckpointProbe",
    "CosineToOffline",
    "Gauges",
    "KnowsOrders",
    "Look",
    "Probe",
    "RegretBound",
    "RoundProbe",
    "offline_lambdarank",
    "offline_ranknet",
]
