"""Products of the demo: a catalogue made from a seed, and a picture of each, drawn from what it is."""
