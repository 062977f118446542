"""How much of the object store a fit needs on each node, checked before it begins.

Factors are pieces in the store. While all rows change, old and new pieces are there. The driver's node has a
copy of all of them, so that the loss of any other node loses nothing. Another node has its own pieces, and
the whole side that is held fixed.
"""

from __future__ import annotations

from dataclasses import dataclass

import ray

from ..errors import InvalidStateError

SLACK = 1.1  # for arguments, sums and what Ray keeps beside the arrays
FLOAT = 4  # bytes


@dataclass(frozen=True, slots=True)
class Needs:
    """Bytes of the object store."""

    driver: int
    other: int

    @classmethod
    def of(cls, users: int, items: int, dim: int, nodes: int) -> Needs:
        """Estimate what a fit on so many nodes needs."""
        both, larger = FLOAT * dim * (users + items), FLOAT * dim * max(users, items)
        return cls(int(SLACK * (2 * both + larger / 2)), int(SLACK * (2 * both / nodes + larger)))


def require_room(users: int, items: int, dim: int) -> Needs:
    """Raise an error if the object store of a node is too small."""
    here = ray.get_runtime_context().get_node_id()
    nodes = [node for node in ray.nodes() if node["Alive"]]
    nodes.sort(key=lambda node: bool(node["NodeID"] != here))  # the driver's first, which needs most
    needs = Needs.of(users, items, dim, len(nodes))
    for node in nodes:
        need = needs.driver if node["NodeID"] == here else needs.other
        room = int(node["Resources"].get("object_store_memory", 0))
        if room < need:
            raise InvalidStateError(
                f"the object store of {node['NodeManagerHostname']} has {room:,} bytes, but {need:,} are "
                f"needed for {users:,} users and {items:,} items with {dim} dimensions; start Ray there with "
                f"--object-store-memory={need}"
            )
    return needs
