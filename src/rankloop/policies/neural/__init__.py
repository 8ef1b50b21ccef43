"""Neural."""
