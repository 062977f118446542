"""Values for workers: arrays of mapped files as their places, other arrays beside the rest, to be shared."""

from __future__ import annotations

import io
import pickle
import socket
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InvalidStateError
from ..files.container import Container, StoreError
from ..files.mapped import ArrayPlace, place_of

Packed = tuple[bytes, list[NDArray[Any]]]
"""A value without its arrays, and those of its arrays that are in no file."""


def packed(value: Any) -> Packed:
    """Take a value apart. Ray's object store keeps the arrays once for all processes of a node."""
    file = io.BytesIO()
    pickler = _Pickler(file)
    pickler.dump(value)
    return file.getvalue(), pickler.arrays


def unpacked(sent: Packed) -> Any:
    """Put a value together again. Its arrays cannot be changed."""
    content, arrays = sent
    return _Unpickler(io.BytesIO(content), arrays).load()


class _Pickler(pickle.Pickler):
    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file, protocol=5)
        self.arrays: list[NDArray[Any]] = []

    def persistent_id(self, value: Any) -> ArrayPlace | int | None:
        """Return what stands for an array: its place in a file, or its number."""
        if type(value) is not np.ndarray or value.dtype.hasobject:
            return None
        place = place_of(value)
        if place is not None:
            return place
        self.arrays.append(value)
        return len(self.arrays) - 1


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, arrays: list[NDArray[Any]]) -> None:
        super().__init__(file)
        self._arrays = arrays
        self._files: dict[str, Container] = {}

    def persistent_load(self, sent: ArrayPlace | int) -> NDArray[Any]:
        """Return the array."""
        if isinstance(sent, int):
            return self._arrays[sent]
        if sent.path not in self._files:
            self._files[sent.path] = _opened(sent)
        return self._files[sent.path].array_at(sent)


def _opened(place: ArrayPlace) -> Container:
    """Map a file, which must be the driver's."""
    try:
        file = Container.open(Path(place.path))
    except (OSError, StoreError) as error:
        raise InvalidStateError(
            f"every node must be able to read {place.path}, but {socket.gethostname()} cannot: {error}"
        ) from error
    if file.checksum != place.checksum:
        raise InvalidStateError(
            f"{place.path} on {socket.gethostname()} is another file than the one that the driver has open"
        )
    return file
