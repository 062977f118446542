"""Export a model's vectors for other programs: as tables, and as indexes for approximate search."""

from .ann import IndexReport, build_index
from .tables import to_numpy, to_parquet

__all__ = ["IndexReport", "build_index", "to_numpy", "to_parquet"]
