"""Files to interactions: what `Interactions.read` does.

source.py finds the files and how they are written, columns.py says what of them is needed, codes.py turns
ids into row numbers as they stream past, faults.py finds the line an error is about.
"""

from .read import read

__all__ = ["read"]
