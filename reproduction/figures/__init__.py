"""The paper's figures, drawn from a run with matplotlib."""

from .drawing import Picture, figures, pictures
from .styles import require_matplotlib

__all__ = ["Picture", "figures", "pictures", "require_matplotlib"]
