"""The explorer: a page on which people pick items and see what a model recommends, and why."""

from .places import ItemMap, item_map
from .writing import HISTORIES, served_page, write_page

__all__ = ["HISTORIES", "ItemMap", "item_map", "served_page", "write_page"]
