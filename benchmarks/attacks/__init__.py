"""Attacks on a service that is started for it: what honest users notice, and what the service pays.

`python -m benchmarks.attacks slow|overload|flood|fraud`. Each is bounded in number and time, and goes to a
server of its own on this machine. With `--source`, the server is another checkout, to compare with.
"""
