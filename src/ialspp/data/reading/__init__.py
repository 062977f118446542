"""Read files into interactions: the work of `Interactions.read`.

file_set.py finds the files and their format, columns.py chooses and checks the columns, codes.py turns ids
into row numbers batch by batch, faults.py finds the line that an error is about.
"""

from .read import read

__all__ = ["read"]
