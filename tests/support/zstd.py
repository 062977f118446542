"""Compress with zstd, as Python 3.14 and its backport do."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


def zstd_compressed(content: bytes) -> bytes:
    """The content as one zstd frame."""
    return zstd.compress(content)
