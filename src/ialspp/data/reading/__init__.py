"""Read files into interactions: the work of `Interactions.read`.

opening.py finds the files, limits.py and arrow_layout.py refuse what would take memory or end the process,
file_set.py tells their format, columns.py chooses and checks the columns, querying.py runs polars, codes.py
turns ids into row numbers batch by batch, faults.py finds the line that an error is about.
"""

from .read import read

__all__ = ["read"]
