"""The rooms of the package and what each may use: lower rooms never know higher ones."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "ialspp"
LAYERS = [
    {"errors"},
    {"system"},
    {"files"},
    {"data"},
    {"split", "objective"},
    {"datasets", "solvers"},
    {"model"},
    {"metrics", "baselines", "evaluation", "stopping", "store", "export"},
    {"explorer", "tuning", "compat"},
    {"serving", "cluster"},
    {"cli", "__main__"},
]
LEVELS = {room: level for level, rooms in enumerate(LAYERS) for room in rooms}
NATIVE_ROOMS = {"system", "data", "objective", "solvers", "model"}
MOST_AT_THE_TOP = 9
FILES = sorted(PACKAGE.rglob("*.py"))


def module_of(file):
    """The module's name inside the package, in parts: () is the package itself."""
    parts = file.relative_to(PACKAGE).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


MODULES = {module_of(file): file for file in FILES}
TREES = {module: ast.parse(file.read_text(encoding="utf-8")) for module, file in MODULES.items()}


def place(module, node):
    return f"{MODULES[module].relative_to(PACKAGE.parent)}:{node.lineno}"


def imports(module):
    """(node, module of the package that is imported) wherever it stands, functions and TYPE_CHECKING too."""
    for node in ast.walk(TREES[module]):
        if isinstance(node, ast.ImportFrom):
            base = imported_from(module, node)
            for name in node.names if base is not None else ():
                yield node, known((*base, name.name))
        elif isinstance(node, ast.Import):
            for name in node.names:
                first, *parts = name.name.split(".")
                if first == "ialspp":
                    yield node, known(tuple(parts))


def imported_from(module, node):
    """The module after `from`, None where it is not of the package."""
    parts = tuple(node.module.split(".")) if node.module else ()
    if node.level == 0:
        return parts[1:] if parts[:1] == ("ialspp",) else None
    package = module if MODULES[module].name == "__init__.py" else module[:-1]
    return (*package[: len(package) - node.level + 1], *parts)


def known(parts):
    """`from .a import b` means module a.b or a name in a; _core has no source here."""
    return parts if parts in MODULES or parts[-1:] == ("_core",) else parts[:-1]


IMPORTS = {module: list(imports(module)) for module in MODULES}


def test_the_top_level_is_small():
    top = [file.name for file in PACKAGE.glob("*.py")]
    assert len(top) <= MOST_AT_THE_TOP, f"at most {MOST_AT_THE_TOP} modules at the top level, not {top}"


def test_every_room_has_its_layer():
    rooms = {module[0] for module in MODULES if module}
    assert rooms <= set(LEVELS), f"LAYERS does not have {sorted(rooms - set(LEVELS))}"
    assert rooms >= set(LEVELS), f"LAYERS has {sorted(set(LEVELS) - rooms)}, which are gone"


def test_no_room_imports_a_higher_one():
    wrong = [
        f"{place(module, node)}: {module[0]} may not import {imported[0] if imported else 'ialspp'}"
        for module in MODULES
        for node, imported in IMPORTS[module]
        if module and imported != ("_core",) and level_of(imported) > LEVELS[module[0]]
    ]
    assert not wrong, "\n".join(wrong)


def level_of(module):
    """Only the command line may import the package itself, which imports every other room."""
    return LEVELS.get(module[0], len(LAYERS)) if module else LEVELS["cli"]


def test_rooms_of_one_layer_do_not_import_each_other_in_a_circle():
    edges = {module: {imported for _, imported in IMPORTS[module]} & set(MODULES) for module in MODULES}
    rooms = {
        (room,): {imported[:1] for module in MODULES if module[:1] == (room,) for imported in edges[module]}
        for room in LEVELS
    }
    for graph in (edges, {room: others - {room} for room, others in rooms.items()}):
        assert not circle(graph), " -> ".join(".".join(module) for module in circle(graph))


def circle(graph):
    """Some modules that import each other, the first one twice; empty where there are none."""
    done, path = set(), []

    def visit(module):
        if module in path:
            return [*path[path.index(module) :], module]
        if module in done:
            return []
        path.append(module)
        found = next(filter(None, map(visit, sorted(graph.get(module, ())))), [])
        path.pop()
        done.add(module)
        return found

    return next(filter(None, map(visit, sorted(graph))), [])


def test_only_the_rooms_named_import_the_native_core():
    wrong = [
        f"{place(module, node)}: only {', '.join(sorted(NATIVE_ROOMS))} may import _core"
        for module in MODULES
        for node, imported in IMPORTS[module]
        if imported == ("_core",) and module and module[0] not in NATIVE_ROOMS
    ]
    assert not wrong, "\n".join(wrong)


def test_no_module_uses_what_is_private_to_another():
    wrong = [
        f"{place(module, node)}: {name} belongs to another module or class"
        for module, tree in TREES.items()
        for node, name in private_uses(tree)
        if name not in defined_in(tree)
    ]
    assert not wrong, "\n".join(wrong)


def is_private(name):
    return name.startswith("_") and not name.startswith("__") and name not in ("_", "_core")


def private_uses(tree):
    """(node, name) of each import and attribute with a leading underscore, those of self and cls left out."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from ((node, name.name) for name in node.names if is_private(name.name))
        elif isinstance(node, ast.Attribute) and is_private(node.attr):
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            if not own:
                yield node, node.attr


def defined_in(tree):
    """Names of functions, classes, variables, fields and attributes of self that a module makes."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if isinstance(node.value, ast.Name) and node.value.id == "self":
                names.add(node.attr)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names.add(node.value)
    return names
