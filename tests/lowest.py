"""Print the lowest version of each dependency that pyproject.toml allows, as constraints for pip.

Without them pip installs the newest versions, and nobody notices when a lower bound no longer works. A
dependency without a lower bound is left out: pip chooses its version.
"""

from __future__ import annotations

import sys
from pathlib import Path

from packaging.requirements import Requirement

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
EXTRAS = ("all", "ann", "demo", "plots", "ray", "serve", "tune", "test")


def lowest(requirement: Requirement) -> str | None:
    """Return the requirement with its lower bound alone, for the Pythons that need it."""
    bounds = [bound.version for bound in requirement.specifier if bound.operator in (">=", "==")]
    if not bounds or requirement.name == "ialspp":
        return None
    marker = "" if requirement.marker is None else f"; {requirement.marker}"
    return f"{requirement.name}=={bounds[0]}{marker}"


def main() -> None:
    """Print a line for each dependency of users and of the tests."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    listed = [*project["dependencies"], *(line for extra in EXTRAS for line in extras[extra])]
    found = {lowest(Requirement(line)) for line in listed}
    print("\n".join(sorted(line for line in found if line is not None)))


if __name__ == "__main__":
    main()
