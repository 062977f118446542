"""Words for kinds of products: what a till prints in 30 letters becomes what a person would say."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

# Of the most frequent kinds that rules alone do not make readable.
SPECIAL = {
    "BEEF | LEAN": "lean beef",
    "BEEF | PRIMAL": "beef roasts",
    "BEEF | CHOICE BEEF": "choice beef",
    "BEEF | SOUP/STEW": "stew beef",
    "BEEF | PATTIES": "beef patties",
    "BEEF | ANGUS": "angus beef",
    "BEEF | NATURAL BEEF": "natural beef",
    "BEEF | SELECT BEEF": "select beef",
    "BEANS GREEN: FS/WHL/CUT": "canned green beans",
    "BEERALEMALT LIQUORS": "beer",
    "CHEESE | IWS SINGLE CHEESE": "cheese slices",
    "DAIRY CASE 100% PURE JUICE - O": "orange juice",
    "DINNER SAUSAGE | SMOKED/COOKED": "smoked sausage",
    "FLUID MILK WHITE ONLY": "white milk",
    "FACIAL TISSUE & PAPER HANDKE": "facial tissues",
    "FROZEN PIZZA | PIZZA/ECONOMY": "frozen pizza, economy",
    "FROZEN PIZZA | PIZZA/PREMIUM": "frozen pizza, premium",
    "FROZEN PIZZA | PIZZA/TRADITIONAL": "frozen pizza, traditional",
    "FROZEN PIZZA | SNACKS/APPETIZERS": "frozen appetizers",
    "FRUIT - SHELF STABLE | PEACHES": "canned peaches",
    "FRZN NOVELTIES/WTR ICE | STICKS/ENROBED": "ice cream bars",
    "FRZN NOVELTIES/WTR ICE | WATER ICE": "ice pops",
    "FRZN SS PREMIUM ENTREES/DNRS/N": "premium frozen dinners",
    "FRZN SS PREMIUM ENTREES/DNRS/T": "premium frozen dinners",
    "GARBAGE KITCHEN COMPACTOR BA": "garbage bags",
    "HEAT/SERVE | ENTREES": "heat and serve dinners",
    "MAINSTREAM WHEAT/MULTIGRAIN BR": "wheat bread",
    "MAINSTREAM WHITE BREAD": "white bread",
    "MEAT - MISC | BREAST - BONELESS(IQF)": "frozen chicken breast",
    "MEXICAN SAUCESSALSAPICANTEE": "salsa",
    "NATURAL CHEESE EXACT WT CHUNKS": "cheese chunks",
    "NATURAL CHEESE EXACT WT SLICES": "natural cheese slices",
    "NON-CRBNTD DRNKING/MNERAL WATE": "still water",
    "PASTA SAUCE | MAINSTREAM": "pasta sauce",
    "PLSTC CTLRYTBLCLTHSTTHPKSST": "plastic cutlery",
    "PORK | ENHANCED": "pork",
    "RTS SOUP: CHUNKY/HOMESTYLE ET": "chunky soup",
    "SALAD MIX | BLENDS": "salad blends",
    "SALAD MIX | GARDEN PLUS": "garden salad with extras",
    "SALAD MIX | REGULAR GARDEN": "garden salad",
    "SEMI-SOLID SALAD DRESSING MAY": "mayonnaise",
    "SFT DRNK 2 LITER BTL CARB INCL": "soft drinks, 2 litre bottles",
    "SFT DRNK MLT-PK BTL CARB (EXCP": "soft drinks, packs of bottles",
    "SFT DRNK SNGL SRV BTL CARB (EX": "soft drinks, single bottles",
    "SGL SV/VEND MACH SNACKS CHIP/P": "single-serve snacks",
    "SOFT DRINKS 12/18&15PK CAN CAR": "soft drinks, 12 cans or more",
    "SOFT DRINKS 20PK&24PK CAN CARB": "soft drinks, 20 cans or more",
    "SOFT DRINKS 6PK/4PK CAN CARB (": "soft drinks, 6 cans",
    "SS ECONOMY ENTREES/DINNERS ALL": "economy frozen dinners",
    "VEGETABLES - SHELF STABLE | CORN": "canned corn",
    "YOGURT NOT MULTI-PACKS": "yogurt",
}
ABBREVIATIONS = {
    "bn": "beans",
    "brd": "breaded",
    "brkfst": "breakfast",
    "btl": "bottles",
    "chix": "chicken",
    "chick": "chicken",
    "catfd": "cat food",
    "cnd": "canned",
    "drnk": "drinks",
    "drnks": "drinks",
    "dnr": "dinner",
    "dnrs": "dinners",
    "fd": "food",
    "fem": "feminine",
    "frd": "fried",
    "frz": "frozen",
    "frzn": "frozen",
    "gds": "goods",
    "grnd": "ground",
    "hygn": "hygiene",
    "instore": "",
    "misc": "miscellaneous",
    "mlk": "milk",
    "mxs": "mixes",
    "pkg": "packaged",
    "prem": "premium",
    "prep": "prepared",
    "pwdr": "powder",
    "refrgratd": "chilled",
    "refrig": "chilled",
    "refrigerated": "chilled",
    "saus": "sausage",
    "sft": "soft",
    "ss": "single serve",
    "stk": "stick",
    "sup": "super",
    "sw": "sweet",
    "veg": "vegetable",
}


UNITS = {"ga": "gal", "dz": "dozen", "ct": "pieces"}
VAGUE = re.compile(  # kinds of nothing but these words
    r"(\W|\b(all|angus|beef|better|blends|bulk|cones|dips|dry|economy|enhanced|entrees|flavored|for|fresh|"
    r"general|ham|halves|kosher|layers|lean|links|mainstream|meat|miscellaneous|natural|novelties|or|other|"
    r"pack|pints|pork|poultry|premium|processed|raw|regular|ribs|rolls|select|specialty|super|traditional|"
    r"value|variety|wings|you)\b)*"
)


def kinds_of_products(products: pl.DataFrame) -> pl.DataFrame:
    """Return the product_id and the name of the `kind` of each product; the name of a kind is made once."""
    import polars as pl

    columns = ["product_category", "product_type"]
    kinds = products.select(columns).unique()
    names = pl.Series("kind", [name_of_kind(*kind) for kind in kinds.iter_rows()], dtype=pl.String)
    return products.join(kinds.with_columns(names), on=columns).select("product_id", "kind")


def names_of_products(products: pl.DataFrame) -> pl.DataFrame:
    """Return the product_id and the `name` of each product: its kind, and the size of its package.

    The size of fruit and vegetables is that of a crate, and so is left out.
    """
    import polars as pl

    category = pl.coalesce("product_category", "department", pl.lit("OTHER PRODUCTS"))
    known = products.with_columns(
        product_category=category,
        product_type=pl.coalesce("product_type", category),
        package_size=pl.when(pl.col("department").eq_missing("PRODUCE")).then(None).otherwise("package_size"),
    )
    sizes = known["package_size"].drop_nulls().unique().to_list()
    size = pl.col("package_size").replace_strict(
        {size: size_in_words(size) or None for size in sizes}, default=None, return_dtype=pl.String
    )
    named = known.select("product_id", size=size).join(kinds_of_products(known), on="product_id")
    return named.select("product_id", name=pl.concat_str("kind", "size", separator=", ", ignore_nulls=True))


def name_of_kind(category: str, kind: str) -> str:
    """Name a kind of products. One that says little by itself is named after its category, too."""
    special = SPECIAL.get(kind) or SPECIAL.get(f"{category} | {kind}")
    if special is not None:
        return special
    words = _in_words(kind)
    if category != kind and VAGUE.fullmatch(words):
        return f"{_in_words(category.partition('/')[0])}, {words}"
    return words


def size_in_words(size: str) -> str:
    """Write a package size such as "(600) 4 LB" in words; nothing if it is not a number with a unit."""
    found = re.search(r"([0-9][0-9./]*) *(oz|lb|ga|dz|ct|l|ml|pk|sq ft)$", size.lower())
    return "" if found is None else f"{found[1]} {UNITS.get(found[2], found[2])}"


def _in_words(text: str) -> str:
    text = re.sub(r"\(.*", "", text.lower())  # a remark, which may be cut off
    text = re.sub(r"^meat: ?(.*) bulk$", r"deli \1", text)
    text = re.sub(r"\bw/", "with ", text).replace("&", " and ").replace("/", " or ")
    text = re.sub(r" ?: ?|- | -", ", ", text)
    words = [ABBREVIATIONS.get(word, word) for word in re.findall(r"[\w%'-]+|,", text)]
    return " ".join(" ".join(words).replace(" ,", ",").split()).strip(" ,")
