"""`python -m ialspp`: the command `ialspp`."""

from ialspp_main import main

main()
