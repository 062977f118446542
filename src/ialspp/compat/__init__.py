"""Doors for people who come from other libraries: their interfaces, over the solvers here."""
