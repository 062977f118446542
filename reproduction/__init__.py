"""Measure the evaluation of the iALS++ paper again: `make reproduce ARGS="--help"` in a checkout."""
