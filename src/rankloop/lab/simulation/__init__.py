"""Simulation: one policy meets one user on one dataset, and is measured on the way."""

from rankloop.lab.simulation import exposure_probe, learning_probes, order_probes  # they fill PROBES
from rankloop.lab.simulation.loop import Record, simulate
from rankloop.lab.simulation.measures import MEASURE_KINDS, Measure, make_measure, read_measure
from rankloop.lab.simulation.probes import PROBES, Probe, Round, Values, make_probe, probe
from rankloop.lab.simulation.protocol import Protocol

__all__ = [
    "MEASURE_KINDS",
    "PROBES",
    "Measure",
    "Probe",
    "Protocol",
    "Record",
    "Round",
    "Values",
    "exposure_probe",
    "learning_probes",
    "make_measure",
    "make_probe",
    "order_probes",
    "probe",
    "read_measure",
    "simulate",
]
