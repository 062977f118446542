"""What Ray raises when a worker or a node is lost.

A `RayTaskError` is also an instance of its cause's class, which may be one of the LOST, though the worker
that raised it lives. So it has to be caught before them.
"""

from __future__ import annotations

from ray.exceptions import (
    ActorUnschedulableError,
    GetTimeoutError,
    ObjectLostError,
    RayActorError,
    RaySystemError,
    RayTaskError,
    WorkerCrashedError,
)

LOST = (
    RayActorError,
    WorkerCrashedError,
    ObjectLostError,
    RaySystemError,
    GetTimeoutError,  # workers do not wait for ever: after a loss, Ray may never say what became of an array
    ActorUnschedulableError,  # the node was lost before a worker could start on it
)


def is_loss(error: BaseException) -> bool:
    """Tell whether a call failed because a worker is lost: the one that was called, or one that it called."""
    return isinstance(error, LOST) or (isinstance(error, RayTaskError) and isinstance(error.cause, LOST))
