"""The explorer: a page on which people pick items and see what a model recommends, and why."""

from .page import served_page, write_page
from .places import ItemMap, item_map

__all__ = ["ItemMap", "item_map", "served_page", "write_page"]
