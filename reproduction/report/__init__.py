"""A run as a page of HTML and as a summary in Markdown."""

from .writing import write_report

__all__ = ["write_report"]
