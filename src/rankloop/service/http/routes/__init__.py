"""Routes of the HTTP API, one module for each thing that can be asked about."""
