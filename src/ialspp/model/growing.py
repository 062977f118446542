"""What a fitted model can take in without training again: new interactions, users and items."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..data.features import Features
from ..data.interactions import Interactions, require_interactions
from ..data.spread import warn_of_scale
from ..errors import InvalidStateError
from ..objective import Objective
from ..system.checks import checked_integer
from ..system.locks import ProcessLock
from ..system.machine import resolve_threads
from ..system.progress import Progress
from .fitted import Fitted
from .newcomers import require_new, with_features, with_newcomers
from .updating import Update, updated


class Growing:
    """`update`, `add_items` and `add_users`, over a state that `ImplicitMF` provides."""

    objective: Objective
    threads: int | None
    _state: Fitted | None
    _training: bool
    _updating: ProcessLock

    def _fitted(self) -> Fitted:
        raise NotImplementedError

    def update(
        self,
        data: Interactions,
        *,
        user_features: Any = None,
        item_features: Any = None,
        epochs: int = 1,
        progress: Progress = None,
    ) -> Update:
        """Take in new interactions without training again, by exact solves of the rows they touch.

        The new data joins the training data. A pair that was there counts once, or its weights add up where
        there are weights; a new label replaces the old one. New users and items get rows after the old ones.
        Then every user of the new data is solved exactly given the items, every item of the new data given
        the users, and those users once more, so that their vectors equal what `fold_in` gives. No other
        vector changes. A new user with only new items gets a zero vector until the next fit, and so does a
        new item with only new users.

        Joining takes time in proportion to all of the data, so update in batches. Times are not kept.

        Parameters
        ----------
        data
            The new interactions. Weights on another scale than those of the training data give a
            `WeightWarning`.
        user_features, item_features
            Features of new users or items, for a model that was trained with some: `Features`. They replace
            those of ids that are known. The map from features to vectors stays as it is. New ids that are not
            in the data are added too.
        epochs
            How often users and items are solved before the users are solved for the last time.
        progress
            True: draw a bar. False: don't. None: only on a terminal or in a notebook. A function: call it
            with each `ProgressEvent`.

        Examples
        --------
        >>> done = model.update(Interactions.from_arrays(user=["eve"], item=["rice"]))
        >>> done.new_users, done.new_items, done.new_pairs
        (1, 0, 1)
        >>> model.recommend("eve", k=2)
        ['beans', 'tea']
        """
        require_interactions(data)
        rounds = checked_integer("epochs", epochs, 1)
        threads = resolve_threads(self.threads)
        if self._training:
            raise InvalidStateError("update must wait until fit is done, which would overwrite it")
        with self._updating:  # two at once would start from the same state, and one would be lost
            before = self._fitted()
            if before.data is not None:
                warn_of_scale(data, before.data)
            state = with_features(before, user_features, item_features)
            state = with_newcomers(state, user_features, item_features, threads)
            after, report = updated(state, data, self.objective, rounds, threads, progress)
            self._state = after
        new_users, new_items = (
            len(new.ids) - len(old.ids)
            for new, old in ((after.users, before.users), (after.items, before.items))
        )
        return replace(report, new_users=new_users, new_items=new_items)

    def add_items(self, features: Features) -> None:
        """Add items of which only features are known, with the vectors that the model's map gives them.

        The model must have been trained with `item_features`. Features are looked up by name; those that the
        model does not know count nothing. Ids that the model knows already are an error: `update` takes in
        what is new about them.

        Examples
        --------
        >>> kinds = pl.DataFrame({"item": ["tea", "milk", "rice"], "kind": ["drink", "drink", "food"]})
        >>> model = ImplicitMF(dim=2).fit(data, item_features=Features.from_frame(kinds, id="item"))
        >>> coffee = pl.DataFrame({"item": ["coffee"], "kind": ["drink"]})
        >>> model.add_items(Features.from_frame(coffee, id="item"))
        >>> model.similar_items("coffee", k=2)
        ['tea', 'milk']
        """
        self._add(items=features)

    def add_users(self, features: Features) -> None:
        """Add users of whom only features are known; see `add_items`.

        Examples
        --------
        >>> homes = pl.DataFrame({"user": ["ann", "bob", "dan"], "home": ["north", "north", "south"]})
        >>> model = ImplicitMF(dim=2).fit(data, user_features=Features.from_frame(homes, id="user"))
        >>> eve = pl.DataFrame({"user": ["eve"], "home": ["south"]})
        >>> model.add_users(Features.from_frame(eve, id="user"))
        >>> model.recommend("eve", k=2)
        ['rice', 'beans']
        """
        self._add(users=features)

    def _add(self, *, users: Features | None = None, items: Features | None = None) -> None:
        if self._training:
            raise InvalidStateError("new rows must wait until fit is done, which would overwrite them")
        with self._updating:
            state = self._fitted()
            require_new(state.users.ids, users)
            require_new(state.items.ids, items)
            self._state = with_newcomers(state, users, items, resolve_threads(self.threads))
