"""The requests and answers of the service; the OpenAPI document is made from them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

Id = Annotated[int | str, Meta(description="An id as in the data: an integer or a string.")]
Name = Annotated[str | None, Meta(description="What people read; null where the model has no name.")]
Metric = Literal["cosine", "dot"]
Value = float | str | list[str] | None


class Request(Struct, forbid_unknown_fields=True, kw_only=True):
    """A body. A field that is not known is an error, so that no misspelt option is ignored."""


class Weighted(Request):
    """An item of a history with its weight."""

    id: Id
    weight: Annotated[float, Meta(ge=0, description="How strong the interaction is.")] = 1.0


History = Annotated[
    list[int | str | Weighted] | None,
    Meta(description="The items of a user whom the model has not seen, with weights if there are any."),
]
User = Annotated[int | str | None, Meta(description="A user of the training data.")]
FeaturesOfUser = Annotated[
    dict[str, Value] | None,
    Meta(
        description="What is known of a user whom the model has not seen, by column of the training's file "
        "of user features: a number, a string or strings."
    ),
]


class Recommend(Request):
    """Who asks, and for what. One of `user`, `items` and `features` is required, or the last two."""

    user: User = None
    items: History = None
    features: FeaturesOfUser = None
    k: Annotated[int, Meta(ge=1, description="How many items.")] = 10
    offset: Annotated[int, Meta(ge=0, description="How many of the best to leave out: the next page.")] = 0
    exclude: Annotated[list[Id], Meta(description="Items never to recommend.")] = []
    candidates: Annotated[list[Id] | None, Meta(description="The only items to choose from; null: all.")] = (
        None
    )
    include_seen: Annotated[bool, Meta(description="Also recommend items that the user has.")] = False
    explain: Annotated[
        Annotated[int, Meta(ge=0)] | bool,
        Meta(description="How many reasons to give for each item; true means 3."),
    ] = 0


class RecommendBatch(Request):
    """Many requests, which are ranked together."""

    requests: list[Recommend]


class Explain(Request):
    """Whose score of which item to explain. Who asks is said as in `Recommend`."""

    item: Id
    user: User = None
    items: History = None
    features: FeaturesOfUser = None


class DescribedItem(Request):
    """An item that the model has not seen, by its features, and how many similar ones are wanted."""

    features: Annotated[
        dict[str, Value],
        Meta(
            description="What is known of the item, by column of the training's file of item features: a "
            "number, a string or strings."
        ),
    ]
    k: Annotated[int, Meta(ge=1, description="How many items.")] = 10
    metric: Metric = "cosine"


class Named(Struct):
    """An item or a user."""

    id: Id
    name: Name


class Part(Named):
    """How much an item of the history adds to a score."""

    part: float


class Scored(Named):
    """An item and its score."""

    score: float


class Recommended(Scored):
    """A recommended item. `because` and `rest` are there if reasons were asked for."""

    because: Annotated[list[Part] | UnsetType, Meta(description="The items that add most to the score.")] = (
        UNSET
    )
    rest: Annotated[float | UnsetType, Meta(description="The score less the parts of the whole history.")] = (
        UNSET
    )


class Recommendations(Struct, kw_only=True):
    """The best items for a user, best first."""

    items: list[Recommended]
    fallback: Annotated[
        bool,
        Meta(description="Nothing is known of the user: these are the most popular items, with their users."),
    ]
    skipped: Annotated[
        dict[str, int], Meta(description="How many unknown ids and features were left out, by field.")
    ]


class Answers(Struct, kw_only=True):
    """One answer for each request of a batch, in the same order."""

    answers: list[Recommendations]


class Similar(Struct, kw_only=True):
    """The items most similar to one."""

    item: Named
    items: list[Scored]


class SimilarToNew(Struct, kw_only=True):
    """The items most similar to a new one."""

    items: list[Scored]
    skipped: Annotated[
        dict[str, int], Meta(description="How many values the training has not seen, by field.")
    ]


class Explained(Struct, kw_only=True):
    """A score as a sum over a history: all parts and the rest add up to it."""

    item: Named
    score: float
    parts: list[Part]
    rest: float
    skipped: dict[str, int]


class FoundItem(Named):
    """An item and how many users it has; null where the file has no interactions."""

    users: int | None


class FoundItems(Struct, kw_only=True):
    """Items that match a text, best first."""

    items: list[FoundItem]


class FoundUser(Named):
    """A user and how many items they have; null where the file has no interactions."""

    items: int | None


class FoundUsers(Struct, kw_only=True):
    """Users that match a text, best first."""

    users: list[FoundUser]


class Past(Named):
    """An item of a history."""

    weight: float


class UserHistory(Struct, kw_only=True):
    """The items of a user, the strongest first."""

    user: Named
    items: list[Past]


class Placed(FoundItem):
    """An item on the map, between -1 and 1."""

    x: float
    y: float


class Map(Struct, kw_only=True):
    """The best-known items in two dimensions, similar ones close together."""

    items: list[Placed]


class Health(Struct, kw_only=True):
    """Whether requests are answered, by which model, and whether the last reload worked."""

    status: Literal["ok"]
    model: Annotated[str, Meta(description="The checksum of the model that answers.")]
    reload_error: Annotated[str | None, Meta(description="Why the newest file is not served; null if it is.")]


class Reloaded(Struct, kw_only=True):
    """The model that answers now."""

    checksum: str
    changed: Annotated[bool, Meta(description="Whether another model answered before.")]


class ModelFacts(Struct, kw_only=True):
    """The model that answers: its file, its data, its settings and the epochs of its training."""

    file: str
    checksum: str
    written: Annotated[str, Meta(description="When the file was written.")]
    loaded: Annotated[str, Meta(description="When this worker loaded it.")]
    age_seconds: Annotated[float, Meta(description="The time since the file was written.")]
    reload_error: str | None
    users: int
    items: int
    dim: int
    has_interactions: bool
    typical_weight: Annotated[
        float, Meta(description="About the median weight of the interactions; 1 where they have none.")
    ]
    features: Annotated[
        dict[str, list[str]], Meta(description="The columns of features that requests may have, by side.")
    ]
    bytes: int
    written_by: str | None
    format_version: int
    settings: dict[str, Any]
    fitted_solver: dict[str, Any] | None
    statistics: dict[str, Any] | None
    history: list[dict[str, Any]]
