"""Data to try things on."""

from .synthetic import SHAPES, Shape, synthetic

__all__ = ["SHAPES", "Shape", "synthetic"]
