"""What the library tells the log of a program: logger "ialspp", level INFO.

Nothing is printed unless the program configures `logging`, and no handler is added here.
"""

from __future__ import annotations


def log(message: str, *values: object) -> None:
    """Log a message; its values are only put in where somebody listens."""
    import logging  # not needed by `import ialspp`

    logging.getLogger("ialspp").info(message, *values, stacklevel=2)
