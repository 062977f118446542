"""The report: one page that says what a model learned, and what it recommends."""

from .page import write_report

__all__ = ["write_report"]
