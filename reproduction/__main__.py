"""Run `python -m reproduction`."""

from .command import main

main()
