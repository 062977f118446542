"""Ways to forge a file of arrays; each takes the bytes of a sound file."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from torture.forging.parts import DTYPES, FLOATS, INTEGERS, ODD_TEXTS, Parts, odd_value

Forge = Callable[[bytes, Random], bytes]


def flip(file: bytes, random: Random) -> bytes:
    """Change bits of a few bytes."""
    content = bytearray(file)
    for _ in range(random.choice([1, 1, 2, 5])):
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
    return bytes(content)


def cut(file: bytes, random: Random) -> bytes:
    """Keep the start, or leave out a piece."""
    begin, end = sorted((random.randrange(len(file)), random.randrange(len(file) + 1)))
    return file[:begin] + (file[end:] if random.random() < 0.3 else b"")


def extend(file: bytes, random: Random) -> bytes:
    """Put bytes behind the end, or repeat a piece."""
    more = random.choice([b"\0", b" ", file, random.randbytes(random.choice([1, 64, 1000]))])
    place = random.choice([len(file), random.randrange(len(file))])
    return file[:place] + more + file[place:]


def length(file: bytes, random: Random) -> bytes:
    """Change the length of the header."""
    near = int.from_bytes(file[:8], "little") + random.randrange(-70, 70)
    value = random.choice([near, 0, 1, 2**63, 2**64 - 1, 99_999_999, 29_999_999, len(file) - 8])
    return value.to_bytes(8, "little") + file[8:]


def places(file: bytes, random: Random) -> bytes:
    """Change what the header says of an array."""
    return Parts.of(file).signed(random)


def metadata(file: bytes, random: Random) -> bytes:
    """Change or remove a text, or add one."""
    parts = Parts.of(file)
    key = random.choice([*parts.metadata, "more"])
    value: Any = random.choice(
        [*STRANGE_TEXTS, *ODD_TEXTS, *parts.metadata.values(), None, odd_value(random)]
    )
    if value is None:
        parts.metadata.pop(key, None)
    else:
        parts.metadata[key] = value
    return parts.signed()


def description(file: bytes, random: Random) -> bytes:
    """Replace, remove, add or swap values of the description."""
    parts = Parts.of(file)
    tree = json.loads(parts.metadata["description"])
    for _ in range(random.choice([1, 1, 1, 2, 4])):
        _forge_node(tree, random)
    parts.metadata["description"] = json.dumps(tree)
    return parts.signed()


def _forge_node(tree: Any, random: Random) -> None:
    nodes = list(_nodes(tree))
    parent, key = random.choice(nodes)
    if random.random() < 0.2:
        del parent[key]
    elif random.random() < 0.1:
        other, name = random.choice(nodes)
        parent[key], other[name] = other[name], parent[key]
    elif random.random() < 0.2 and isinstance(parent, dict):
        parent[random.choice([*ODD_TEXTS, "threads", "steps", "name"])] = odd_value(random)
    else:
        parent[key] = odd_value(random)


def _nodes(tree: Any) -> list[tuple[Any, Any]]:
    """List (container, key) of every value that can be reached without going very deep."""
    found: list[tuple[Any, Any]] = []
    open_ones = [(tree, 0)]
    while open_ones:
        node, depth = open_ones.pop()
        keys: list[Any] = list(node) if isinstance(node, dict) else list(range(len(node)))
        for key in keys:
            found.append((node, key))
            if isinstance(node[key], (dict, list)) and depth < 5:
                open_ones.append((node[key], depth + 1))
    return found or [(tree, "a")]


def values(file: bytes, random: Random) -> bytes:
    """Change numbers of an array."""
    parts = Parts.of(file)
    for _ in range(random.choice([1, 1, 2])):
        name = _some_array(parts, random)
        array = parts.array(name)
        parts.put(name, with_changes(array, random))
    return parts.signed()


def with_changes(array: NDArray[Any], random: Random) -> NDArray[Any]:
    """Change numbers of an array in place, and return it."""
    flat = array.reshape(-1)
    if flat.size == 0:
        return array
    how = random.randrange(5)
    if how == 0:  # duplicates
        flat[random.randrange(flat.size)] = flat[random.randrange(flat.size)]
    elif how == 1:
        flat[:] = flat[::-1].copy()
    elif how == 2:
        flat[:] = _number_like(flat, random)
    else:
        for _ in range(random.choice([1, 1, 3])):
            flat[random.randrange(flat.size)] = _number_like(flat, random)
    return array


def _number_like(array: NDArray[Any], random: Random) -> Any:
    if array.dtype.kind == "f":
        return np.float64(random.choice(FLOATS)).astype(array.dtype)
    near = int(array.flat[0]) + random.randrange(-3, 4)
    return np.array([random.choice([*INTEGERS, near, near]) & 0xFFFFFFFFFFFFFFFF], np.uint64).astype(
        array.dtype
    )[0]


def shape(file: bytes, random: Random) -> bytes:
    """Give an array another type, shape or length, with the bytes to match or not."""
    parts = Parts.of(file)
    name = _some_array(parts, random)
    array, said = parts.array(name), parts.arrays[name]
    how = random.randrange(6)
    if how == 0:
        parts.put(name, array.astype(DTYPES[random.choice(list(DTYPES))]))
    elif how == 1:
        said["dtype"] = random.choice(list(DTYPES))
    elif how == 2:
        parts.put(name, array.reshape(random.choice([(-1,), (1, -1), (-1, 1), (1, 1, -1)])))
    elif how == 3:
        parts.put(name, array[: random.randrange(len(array) + 1)] if array.ndim else array)
    elif how == 4:
        parts.put(name, np.concatenate([array, array]) if array.ndim else array)
    else:
        dims = [random.choice([*said["shape"], *INTEGERS]) for _ in range(random.choice([1, 2, 3, 40, 70]))]
        said["shape"], said["data"] = [*dims, 0], b""
    return parts.signed()


def names(file: bytes, random: Random) -> bytes:
    """Swap, rename, remove or repeat arrays, or start them at odd bytes."""
    parts = Parts.of(file)
    one, other = _some_array(parts, random), _some_array(parts, random)
    how = random.randrange(5)
    if how == 0:
        parts.arrays[one], parts.arrays[other] = parts.arrays[other], parts.arrays[one]
    elif how == 1:
        del parts.arrays[one]
    elif how == 2:
        parts.arrays[random.choice([*OTHER_NAMES, "x" * 300, ""])] = dict(parts.arrays[one])
    elif how == 3:
        parts.arrays = dict(random.sample(list(parts.arrays.items()), len(parts.arrays)))
    else:
        parts.pad = random.choice([1, 2, 3, 4, 8, 63])
    return parts.signed()


def together(file: bytes, random: Random) -> bytes:
    """Forge several things, each with right checksums."""
    for forge in random.choices([metadata, description, values, shape, names], k=random.choice([2, 3])):
        try:
            file = forge(file, random)
        except (AttributeError, LookupError, TypeError, ValueError, RecursionError):
            break  # what was forged before cannot be taken apart again
    return file


def _some_array(parts: Parts, random: Random) -> str:
    real = [name for name in parts.arrays if not name.startswith("padding")]
    return random.choice(real or list(parts.arrays))


OTHER_NAMES = (
    "interactions.labels",
    "interactions.weights",
    "interactions.offsets",
    "user_ids",
    "user_ids.order",
    "item_ids.order",
    "item_names.offsets",
    "item_names.utf8",
    "user_names.offsets",
    "item_counts",
    "by_user.labels",
    "by_user.times",
    "by_item.weights",
    "padding.9",
)
STRANGE_TEXTS = ("{}", "[]", "2", "-1", "1e3", "null", "NaN", "[" * 3000, '{"a":' * 3000, "ialspp")
BLIND: dict[str, Forge] = {"flip": flip, "cut": cut, "extend": extend, "length": length}
SIGNED: dict[str, Forge] = {
    "places": places,
    "metadata": metadata,
    "description": description,
    "values": values,
    "shape": shape,
    "names": names,
    "together": together,
}
