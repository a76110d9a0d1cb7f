"""Results repositories → facts."""
