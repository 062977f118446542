"""Interactions: who did what, with labels, weights and times, as rows by user and by item."""
