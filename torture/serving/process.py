"""A service in a process of its own, on a free port of 127.0.0.1."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

WATCH = 0.02  # seconds between two looks at the file


@contextmanager
def served(path: Path) -> Iterator[int]:
    """Serve a model file, and give the port."""
    command = [sys.executable, "-m", "ialspp", "serve", str(path), "--port", "0", "--watch", str(WATCH)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    port = _port_in(process)
    drain = threading.Thread(target=process.stderr.read)  # or the service would wait for a reader
    drain.start()
    try:
        yield port
    finally:
        process.terminate()
        process.wait()
        drain.join()
        process.stderr.close()


def _port_in(process: subprocess.Popen[str]) -> int:
    assert process.stderr is not None
    for line in process.stderr:
        found = re.match(r"http://127\.0\.0\.1:(\d+) ", line)
        if found:
            return int(found[1])
    raise RuntimeError(f"the service ended with {process.wait()}")
