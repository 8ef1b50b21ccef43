"""The built-in corpus and simulated users behind `rankloop demo`."""
