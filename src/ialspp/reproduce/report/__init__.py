"""A run, or several, as a page of HTML and a summary in Markdown."""

from .compare import write_comparison
from .single import write_report

__all__ = ["write_comparison", "write_report"]
