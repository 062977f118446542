"""The entry point of the command `ialspp`, which answers Ctrl-C with one line from the moment it runs.

Importing `ialspp` and its command line takes some tenths of a second. A KeyboardInterrupt in that time would
come out of whichever module is being imported, as a traceback, or get lost in a callback. No module inside
the package can prevent that, because Python imports `ialspp/__init__.py` before it. Hence this package beside
it, which imports nothing slow: until the command line guards itself, Ctrl-C ends the process at once.

Out of reach is what runs before it: the start of Python, and the first lines of the script that the installer
writes, which with older versions of pip import `re`; some 30 ms. `python -m ialspp` works too, but imports
`ialspp` before it gets here.
"""

import os
import sys

INVALID_INPUT, INTERRUPTED = 2, 130  # exit codes


def main() -> None:
    """Run the command line. Whenever Ctrl-C comes, it prints one line, and the exit code is 130."""
    try:
        import signal  # here, because this alone takes a millisecond

        is_ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not if `nohup` ignores it
        if is_ours:
            signal.signal(signal.SIGINT, _end)
        _import_command_line()
        from ialspp.cli import main as run

        if is_ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            run()
        finally:
            if is_ours:
                signal.signal(signal.SIGINT, _end)  # also while Python shuts down
    except KeyboardInterrupt:  # in the moments around these handlers
        _end()


def _import_command_line() -> None:
    """Import it. The package checks the environment when it is imported, so this can be a user's mistake."""
    try:
        import ialspp.cli  # noqa: F401 - imported for its effect; `main` takes the name from it
    except Exception as error:
        errors = sys.modules.get("ialspp.errors")  # stays imported where the package itself fails
        if errors is None or not isinstance(error, errors.IalsppError):
            raise
        print(f"ialspp: {error}", file=sys.stderr)
        sys.exit(INVALID_INPUT)


def _end(*_: object) -> None:
    """End the process without running anything else, but for one line."""
    try:
        os.write(2, b"ialspp: interrupted\n")
    finally:
        os._exit(INTERRUPTED)
