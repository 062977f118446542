"""Processes of ialspp that attacks strike with signals and failing calls."""
