"""Experiments: data, users, simulation, sweeps, analysis, reports and the suites of the papers."""
