"""Facts → scored results."""
