"""ImplicitMF: its settings, its training, and what it learned."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..data.csr import Floats
from ..data.ids import IdMap
from ..data.interactions import Interactions
from ..errors import InvalidStateError, InvalidTypeError, InvalidValueError, NotFittedError
from ..files.arrays import whole
from ..files.version import FileVersion
from ..objective import Objective
from ..solvers import Solver, SpectralCG
from ..system.checks import checked_integer, checked_number
from ..system.locks import ProcessLock
from ..system.machine import resolve_threads
from ..system.progress import Progress
from . import saving
from .answers import Answers
from .checkpoint import Checkpoint
from .feature_map import FeatureMap
from .fitted import Fitted
from .fitting import Callback, Cluster, Fitting, go_on
from .growing import Growing
from .looking import Looking
from .parameters import Parameters
from .state import MAX_DIM, Trained

MAX_INIT_STDDEV = 1e6  # so that a factor's fourth power fits single precision


class ImplicitMF(Fitting, Growing, Answers, Looking, Parameters):
    """Matrix factorisation from implicit feedback.

    Any number of threads may query one model, also while another thread calls `update`: an answer comes from
    the state that was there when the query arrived. While `fit` runs, factors change in place; query the
    model in callbacks only.

    Parameters
    ----------
    dim
        d, the length of every user's and item's vector.
    solver
        How the loss is minimised: `SpectralCG()` (the default), `IALSpp()`, `IALS()` or `ICD()`. All of them
        minimise the same loss; they differ in speed.
    objective
        The loss that is minimised.
    epochs
        The number of passes over the data in one `fit`. The default suits the default solver and start; the
        paper's algorithms and start need more.
    init
        What training starts from: "spectral", the leading singular vectors of the normalised interactions, or
        "random", as in the paper.
    init_stddev
        sigma, for init="random" alone: initial factors are drawn from N(0, sigma / sqrt(d)). None: 0.1 as in
        the paper.
    seed
        The seed of the initial factors, which are the only random numbers.
    threads
        The number of threads. None: IALSPP_THREADS, or else all CPUs this process may use. Results do not
        depend on it.

    Attributes
    ----------
    history
        One `EpochRecord` per epoch.
    fitted_solver
        The solver of the last fit: `solver` with the block size chosen for "auto". What changes from epoch to
        epoch is in `history`. None before `fit`.
    """

    def __init__(
        self,
        dim: int = 64,
        *,
        solver: Solver | None = None,
        objective: Objective | None = None,
        epochs: int = 8,
        init: Literal["spectral", "random"] = "spectral",
        init_stddev: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.dim = checked_integer("dim", dim, 1)
        if self.dim > MAX_DIM:
            raise InvalidValueError(f"dim must be at most {MAX_DIM}, got {dim}")
        self.solver = SpectralCG() if solver is None else solver
        self.objective = Objective() if objective is None else objective
        self.epochs = checked_integer("epochs", epochs, 0)
        self.init = init
        self.init_stddev = None if init_stddev is None else checked_number("init_stddev", init_stddev)
        self.seed = checked_integer("seed", seed, 0)
        self.threads = threads
        if isinstance(solver, type) or not callable(getattr(self.solver, "epoch", None)):
            raise InvalidTypeError(
                f"solver must be a value such as SpectralCG(), IALSpp(), IALS() or ICD(), got {solver!r}"
            )
        if not isinstance(self.objective, Objective):
            raise InvalidTypeError(f"objective must be an Objective, got {objective!r}")
        if init not in ("spectral", "random"):
            raise InvalidValueError(f'init must be "spectral" or "random", got {init!r}')
        if self.init_stddev is not None:
            if init != "random":
                raise InvalidValueError(f'init_stddev belongs to init="random", got init={init!r}')
            if not 0 < self.init_stddev < MAX_INIT_STDDEV:
                raise InvalidValueError(
                    f"init_stddev must be > 0 and < {MAX_INIT_STDDEV:g}, got {init_stddev}"
                )
        resolve_threads(threads)
        self.history = []
        self.fitted_solver = None
        self._state: Fitted | None = None
        self._training = False  # whether factors are being updated in place
        self._files: frozenset[Path] = frozenset()  # that it was loaded from or saved to
        self._versions: frozenset[FileVersion] = frozenset()  # that they had then
        self._updating = ProcessLock()

    def _settings(self) -> dict[str, Any]:
        """List the constructor's arguments that a file keeps: threads belong to the machine."""
        settings = self.get_params(deep=False)
        del settings["threads"]
        return settings

    def __copy__(self) -> ImplicitMF:
        """Return a copy. One made in a callback leaves it to `save` to verify the file of the data."""
        other = type(self).__new__(type(self))
        other.__setstate__(self._lasting_attributes() if self._training else self.__getstate__())
        return other

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes of a copy, which has the contents of a file without its checksums."""
        attributes = self._lasting_attributes()
        if self._state is not None:
            self._state.require_sound()
            attributes["_state"] = replace(attributes["_state"], file=None)
        del attributes["_updating"]
        return attributes

    def _lasting_attributes(self) -> dict[str, Any]:
        """Return the attributes, in a callback with factors that the next epoch does not change."""
        state = self._state.renewed(copied=True) if self._state and self._training else self._state
        return {**self.__dict__, "_state": state, "_training": False}

    def __setstate__(self, attributes: dict[str, Any]) -> None:
        self.__dict__.update(attributes)
        self._updating = ProcessLock()

    def __repr__(self) -> str:
        state = self._state
        known = f", fitted on {state.summary()}" if state is not None else ""
        return f"ImplicitMF(dim={self.dim}, solver={self.solver}, objective={self.objective}{known})"

    # Names

    def set_names(self, *, items: Any = None, users: Any = None) -> None:
        """Give names to items or users, which people read beside ids; see `Interactions.with_names`.

        A model that is trained on data with names has them already. Names change no vector and no answer.

        Parameters
        ----------
        items, users
            A mapping from ids to names; a pandas or polars data frame with two columns, the ids and the
            names; a pandas column whose index has the ids; or one name per row. None: the names there are.

        Examples
        --------
        >>> model.set_names(items={"tea": "green tea, 20 bags", "milk": "whole milk, 1 l"})
        >>> model.recommend("dan", k=2)
        ['tea': 'green tea, 20 bags', 'milk': 'whole milk, 1 l']
        """
        if self._training:
            raise InvalidStateError("set_names must wait until fit is done, which would overwrite it")
        with self._updating:
            self._state = self._fitted().with_names(users, items)

    # Files

    def save(
        self,
        path: str | Path,
        *,
        interactions: bool = True,
        progress: Progress = False,
        force: bool = False,
    ) -> None:
        """Write the model to one file, atomically; see `ialspp.store`.

        A file that is not a model is not replaced, unless `force` is True. If another process has replaced
        the file since this model was loaded from it or saved to it, nothing is written, because what is in it
        now would be lost: a `FileChangedError` says so. A model that was loaded from a damaged file is not
        saved either.

        Parameters
        ----------
        path
            The file. Its name ends in ".ialspp" by convention.
        interactions
            Also store the training data, without its times. Without it the file is smaller, but `recommend`
            does not know what was seen, and `explain` and `update` do not work. The number of users of each
            item is kept, so that users without a history still get the most popular items.
        progress
            True: draw a bar. False: don't. None: only on a terminal or in a notebook. A function: call it
            with each `ProgressEvent`.
        force
            Replace a file of another kind, too.

        Examples
        --------
        >>> model.save("groceries.ialspp", interactions=False)
        >>> ImplicitMF.load("groceries.ialspp").keeps_interactions
        False
        """
        state = self._fitted()
        state.require_sound()
        trained = Trained(self._settings(), state, self.history, self.fitted_solver)
        names = _names(path)
        version = saving.save(
            trained,
            Path(path),
            interactions=interactions,
            progress=progress,
            force=force,
            instead_of=self._versions if names & self._files else None,
        )
        self._files |= names
        self._versions |= {version}

    @staticmethod
    def load(
        path: str | Path, *, mapped: bool = True, verify: bool | None = None, threads: int | None = None
    ) -> ImplicitMF:
        """Open a file that `save` wrote.

        Parameters
        ----------
        path
            The file.
        mapped
            Map the file: parts that are not used are not read, and processes share the memory. The model
            stays as it is when the file is replaced or deleted. A file that is overwritten in place, as `cp`
            does, changes the model or kills the process; False reads the file into memory, where nothing can
            happen to it.
        verify
            Check every byte. None: only in a file of up to 64 MB, where that takes hardly any time, and in
            one that is not mapped.
        threads
            As in the constructor. A file does not keep the number of threads.

        Examples
        --------
        >>> model.save("groceries.ialspp")
        >>> loaded = ImplicitMF.load("groceries.ialspp")
        >>> loaded.recommend("bob", k=2)
        ['sugar', 'rice']
        """
        resolve_threads(threads)  # before the file is opened: a wrong value is not the file's fault
        trained = saving.load(Path(path), mapped=mapped, verify=verify)
        model = _model_of(trained.settings, threads, path, "model")
        model._state, model.history = trained.fitted, trained.history
        model.fitted_solver = trained.fitted_solver
        if trained.fitted.file is not None:
            model._files, model._versions = _names(path), frozenset([trained.fitted.file.version])
        return model

    @staticmethod
    def resume(
        checkpoint: str | Path,
        data: Interactions,
        *,
        user_features: Any = None,
        item_features: Any = None,
        callbacks: Sequence[Callback] = (),
        progress: Progress = None,
        threads: int | None = None,
        cluster: Cluster | None = None,
    ) -> ImplicitMF:
        """Go on with a fit that was interrupted, and return its model.

        The result has the same bits as that of a fit that was never interrupted. Settings come from the
        checkpoint, to which the rest of the fit is written too. The checkpoint of a finished fit gives its
        model at once.

        Parameters
        ----------
        checkpoint
            The file that `fit(checkpoint=...)` wrote.
        data
            The interactions that the fit was begun with. Others are an error.
        user_features, item_features
            The features that the fit was begun with. Others are an error.
        callbacks
            As in `fit`. A fit that had an `EarlyStopping` needs an equal one.
        progress
            As in `fit`.
        threads
            As in the constructor. A file does not keep the number of threads.
        cluster
            As in `fit`. The bits do not depend on it, so that it may be another one than before, or none.

        Examples
        --------
        >>> fitted = ImplicitMF(dim=2).fit(data, checkpoint="groceries.checkpoint")
        >>> resumed = ImplicitMF.resume("groceries.checkpoint", data)
        >>> len(resumed.history), resumed.user_factors.tolist() == fitted.user_factors.tolist()
        (8, True)
        """
        resolve_threads(threads)
        found, kept = Checkpoint.open(Path(checkpoint))
        model = _model_of(found.job.settings, threads, checkpoint, "checkpoint")
        features = user_features, item_features
        return go_on(model, found, kept, data, callbacks, progress, features, cluster)

    # What was learned

    @property
    def user_factors(self) -> Floats:
        """W, one row per user in the order of `users.ids`. Read-only."""
        return self._handed_out(self._fitted().users.vectors)

    @property
    def item_factors(self) -> Floats:
        """H, one row per item in the order of `items.ids`. Read-only."""
        return self._handed_out(self._fitted().items.vectors)

    def _handed_out(self, factors: Floats) -> Floats:
        view = factors.copy() if self._training else factors.view()  # a callback may keep it
        view.flags.writeable = False
        return view

    @property
    def trained_on(self) -> Interactions | None:
        """The data of the last fit and of updates since; None before. A file does not keep its times."""
        if self._state is None:
            return None
        self._state.require_sound()
        return self._state.histories("trained_on")

    @property
    def keeps_interactions(self) -> bool:
        """Whether the model has its training data; a file saved with interactions=False does not."""
        return self._fitted().data is not None

    @property
    def item_counts(self) -> NDArray[np.integer[Any]] | None:
        """The number of users of each item in the training data; None for an old file without that data."""
        return self._fitted().item_counts()

    @property
    def users(self) -> IdMap:
        """The users the model knows."""
        return self._fitted().users.ids

    @property
    def items(self) -> IdMap:
        """The items the model knows."""
        return self._fitted().items.ids

    @property
    def user_features(self) -> FeatureMap | None:
        """The features of the users and the map from them to vectors; None if it was trained without."""
        return self._fitted().users.features

    @property
    def item_features(self) -> FeatureMap | None:
        """The features of the items and the map from them to vectors; None if it was trained without."""
        return self._fitted().items.features

    @property
    def file_info(self) -> dict[str, Any] | None:
        """What the file that the model was loaded from says of itself, as in `store.info`; None without one.

        It belongs to the file that was opened, whatever is at its path now, and knows nothing of updates.
        """
        file = self._fitted().file
        return file.info() if isinstance(file, saving.ModelFile) else None

    def verify(self) -> None:
        """Read the file that the model was loaded from completely; raise a `StoreError` if it is damaged.

        `load` does not check a large file. `save`, `export` and copies do, before its contents get new
        checksums.

        Examples
        --------
        >>> model.save("groceries.ialspp")
        >>> loaded = ImplicitMF.load("groceries.ialspp", verify=False)
        >>> loaded.verify()  # no error: the file is sound
        """
        self._fitted().require_sound()

    def _fitted(self) -> Fitted:
        if self._state is None:
            raise NotFittedError("the model is not fitted; call fit(data) first")
        return self._state


def _names(path: str | Path) -> frozenset[Path]:
    """Return the name given, which may be a link that later leads to another file, and the file's own."""
    return frozenset([Path(path).absolute(), Path(os.path.realpath(path))])


def _model_of(settings: dict[str, Any], threads: int | None, path: str | Path, what: str) -> ImplicitMF:
    """Make a model with the settings of a file, in which they may be wrong."""
    with whole(Path(path), what):
        return ImplicitMF(**settings, threads=threads)
