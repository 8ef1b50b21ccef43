"""Speed and memory, always as a ratio to a plain reference measured in the same run."""
