"""What rankloop's documentation needs beyond Sphinx, MyST and Furo."""
