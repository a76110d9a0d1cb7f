"""What is claimed, and whether it holds."""
