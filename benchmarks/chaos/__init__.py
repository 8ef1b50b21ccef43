"""Chaos: replicas, clients and a database; parts are killed and cut off, and then promises are checked."""
