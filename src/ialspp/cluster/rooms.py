"""The room in the object stores of a cluster's nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ray

from ..errors import InvalidStateError
from .needs import Needs


@dataclass(frozen=True, slots=True)
class Rooms:
    """The bytes of the object stores of the nodes, the driver's first."""

    names: list[str]
    rooms: list[int]

    @classmethod
    def now(cls) -> Rooms:
        """Look at the nodes of the cluster."""
        here = ray.get_runtime_context().get_node_id()
        nodes: list[Any] = [node for node in ray.nodes() if node["Alive"]]
        nodes.sort(key=lambda node: bool(node["NodeID"] != here))
        rooms = [int(node["Resources"].get("object_store_memory", 0)) for node in nodes]
        return cls([node["NodeManagerHostname"] for node in nodes], rooms)

    @property
    def smallest(self) -> int:
        """The smallest store beside the driver's."""
        return min(self.rooms[1:], default=self.rooms[0])

    def have(self, needs: Needs) -> bool:
        """Tell whether there is enough room on every node."""
        return self.rooms[0] >= needs.driver and all(room >= needs.other for room in self.rooms[1:])

    def require(self, needs: Needs, wanted: str) -> None:
        """Raise an error if the object store of a node is too small. wanted: what it is needed for."""
        least = [needs.driver, *[needs.other] * (len(self.rooms) - 1)]
        for name, room, need in zip(self.names, self.rooms, least, strict=True):
            if room < need:
                raise InvalidStateError(
                    f"the object store of {name} has {room:,} bytes, but {need:,} are needed {wanted}; start "
                    f"Ray there with --object-store-memory={need}"
                )
