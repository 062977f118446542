"""What Ray raises when a worker or a node is lost."""

from __future__ import annotations

from ray.exceptions import (
    GetTimeoutError,
    ObjectLostError,
    RayActorError,
    RaySystemError,
    RayTaskError,
    WorkerCrashedError,
)

# Workers ask for arrays with a limit of time: after a loss, Ray may never say what has become of one.
LOST = (RayActorError, WorkerCrashedError, ObjectLostError, RaySystemError, GetTimeoutError)


def is_loss(error: BaseException) -> bool:
    """Tell whether a call failed because a worker is lost: the one that was called, or one that it called."""
    return isinstance(error, LOST) or (isinstance(error, RayTaskError) and isinstance(error.cause, LOST))
