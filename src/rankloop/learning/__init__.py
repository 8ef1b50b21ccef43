"""Parts that learning algorithms are made of: pairs, losses, steps, memories, criteria."""
