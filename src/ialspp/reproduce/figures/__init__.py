"""The paper's figures, drawn from one run or from several laid over each other; matplotlib is needed."""

from .drawing import Picture, figures, pictures
from .styles import need_matplotlib

__all__ = ["Picture", "figures", "need_matplotlib", "pictures"]
