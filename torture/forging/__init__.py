"""Forged files of arrays, and how they are tried: what the attacks on models and on prepared data share."""
