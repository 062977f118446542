"""The machine: how many threads to use, and which instruction set the kernels use."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path

from .. import _core
from ..errors import InvalidStateError, InvalidValueError
from .checks import checked_integer

MAX_THREADS = 1024
_known_cpus: int | None = None  # found by the first call of usable_cpus


def resolve_threads(requested: int | None) -> int:
    """Return the thread count of one call: `requested`, else IALSPP_THREADS, else all usable CPUs."""
    if requested is not None:
        return _checked("threads", requested)
    text = os.environ.get("IALSPP_THREADS")
    if text:
        try:
            return _checked("IALSPP_THREADS", int(text))
        except ValueError as error:
            raise InvalidValueError(
                f"IALSPP_THREADS must be an integer from 1 to {MAX_THREADS}, got {text!r}"
            ) from error
    return usable_cpus()


def _checked(name: str, value: int) -> int:
    if checked_integer(name, value, 1) > MAX_THREADS:
        raise InvalidValueError(f"{name} must be at most {MAX_THREADS}, got {value}")
    return int(value)


def usable_cpus(*, refresh: bool = False) -> int:
    """Return how many CPUs this process may use: its affinity mask, capped by its control group's quota.

    The answer is found once a process, because it takes longer than folding in a user does.

    Parameters
    ----------
    refresh
        Look again, for a process whose limits have changed.
    """
    global _known_cpus
    if _known_cpus is None or refresh:
        _known_cpus = _count_usable_cpus()
    return _known_cpus


def _count_usable_cpus() -> int:
    try:
        cpus = len(os.sched_getaffinity(0))
    except AttributeError:  # macOS, Windows
        cpus = os.cpu_count() or 1
    quota = cgroup_quota(Path("/proc/self/cgroup"), Path("/sys/fs/cgroup"))
    return max(1, min(cpus, MAX_THREADS, cpus if quota is None else math.ceil(quota)))


def cgroup_quota(membership: Path, mount: Path) -> float | None:
    """Return the tightest CPU quota of this process's control groups, in CPUs; None without a limit."""
    try:
        lines = membership.read_text().splitlines()
    except OSError:
        return None
    quotas = []
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            quotas += [_quota_v2(group) for group in _ancestors(mount, path)]
        elif "cpu" in controllers.split(","):
            quotas += [_quota_v1(group) for group in _ancestors(mount / controllers, path)]
            quotas += [_quota_v1(group) for group in _ancestors(mount / "cpu", path)]
    return min((quota for quota in quotas if quota is not None), default=None)


def _ancestors(mount: Path, path: str) -> Iterator[Path]:
    group = mount / path.lstrip("/")
    while group != mount and mount in group.parents:
        yield group
        group = group.parent
    yield mount  # in a container the mount is often the process's own group


def _quota_v2(group: Path) -> float | None:
    try:
        quota, period = (group / "cpu.max").read_text().split()
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError):
        return None


def _quota_v1(group: Path) -> float | None:
    try:
        quota = int((group / "cpu.cfs_quota_us").read_text())
        period = int((group / "cpu.cfs_period_us").read_text())
        return quota / period if quota > 0 and period > 0 else None
    except (OSError, ValueError):
        return None


def select_isa_of_environment() -> None:
    """Switch the kernels to the instruction set that IALSPP_ISA names, if it is set."""
    name = os.environ.get("IALSPP_ISA")
    if name and name not in _core.known_isas():
        raise InvalidStateError(
            f"IALSPP_ISA={name!r} is not an instruction set; choose one of {', '.join(_core.known_isas())}"
        )
    if name:
        select_isa(name, f"IALSPP_ISA={name}")


def select_isa(name: str, wanted: str) -> None:
    """Switch the kernels to an instruction set; an error says what wanted it if this machine cannot."""
    available = _core.available_isas()
    if name not in available:
        raise InvalidStateError(f"{wanted}: this machine does not have it; it has {', '.join(available)}")
    _core.select_isa(name)


def selected_isa() -> str:
    """Return the name of the instruction set in use."""
    return _core.isa()
