"""The features of both sides that a fit is given."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..data.features import Features, features_of
from ..data.fingerprint import fingerprint_of
from ..data.interactions import Interactions


class SideFeatures(NamedTuple):
    """The features of users and items that a fit is given."""

    users: Features | None = None
    items: Features | None = None

    @classmethod
    def of(cls, data: Interactions, users: Any, items: Any) -> SideFeatures:
        """Check features as a caller gives them."""
        return cls(features_of(users, data.users), features_of(items, data.items))

    def known_to(self, data: Interactions) -> SideFeatures:
        """Return the features of the users and items of some data alone."""
        users, items = self
        return SideFeatures(
            None if users is None else users.known_to(data.users),
            None if items is None else items.known_to(data.items),
        )

    def fingerprints(self) -> dict[str, str]:
        """Identify the features of each side that has any, for a checkpoint."""
        named = {"user": self.users, "item": self.items}
        return {name: fingerprint_of(features) for name, features in named.items() if features is not None}


NO_FEATURES = SideFeatures()
