"""Learning: the parts that algorithms are made of, such as pairs, losses, steps, memories, criteria."""
