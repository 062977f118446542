"""Interactions: external ids, labels, weights and times, as rows by user and by item."""
