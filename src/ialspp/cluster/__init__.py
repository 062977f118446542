"""Training on many machines with Ray, which is the extra `ray`: it is imported when it is used."""

from __future__ import annotations

from .ray_cluster import RayCluster

__all__ = ["RayCluster"]
