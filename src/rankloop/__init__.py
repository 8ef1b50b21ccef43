"""rankloop: rankings that learn from clicks and experiment only where they are unsure."""

__version__ = "0.1.0"
