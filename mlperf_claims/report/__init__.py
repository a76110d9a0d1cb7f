"""Notebooks → page."""
