"""The lowest versions that pyproject.toml declares, as constraints for pip: one line for each dependency.

``make test-lowest`` installs exactly these and runs the quick tests, so that a lower bound is a statement that was
tried, and not a guess. What our dependencies need themselves is left to pip.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["constraints", "main"]

_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)(\[[^\]]*\])?(?P<bound>[^;]*)(;(?P<marker>.*))?")


def constraints(project: dict[str, Any], extras: list[str]) -> Iterator[str]:
    """The constraints.

    Args:
        project: the table ``project`` of a pyproject.toml.
        extras: which of its extras count, with those that they name themselves.

    Raises:
        ValueError: a dependency says no lowest version.
    """
    wanted, queue = dict.fromkeys(project["dependencies"]), list(extras)
    for extra in queue:
        for requirement in project["optional-dependencies"][extra]:
            if requirement.startswith(f"{project['name']}["):
                names = requirement.partition("[")[2].rstrip("]").split(",")
                queue.extend(name for name in names if name not in queue)
            else:
                wanted[requirement] = None
    lowest: dict[str, str] = {}
    for requirement in wanted:
        match = _REQUIREMENT.fullmatch(requirement)
        bound = re.search(r">=\s*([0-9.]+)", match["bound"]) if match else None
        if match is None or bound is None:
            raise ValueError(f"{requirement!r} says no lowest version: write {requirement.split()[0]}>=...")
        marker = f" ;{match['marker']}" if match["marker"] else ""
        line = f"{match['name']}=={bound[1]}{marker}"
        if lowest.setdefault(match["name"], line) != line:
            raise ValueError(f"{match['name']} has two lowest versions: {lowest[match['name']]} and {line}")
    yield from sorted(lowest.values())


def main() -> None:
    """Print the constraints for the extras that are named on the command line."""
    file = Path(__file__).resolve().parent.parent / "pyproject.toml"
    project = tomllib.loads(file.read_text(encoding="utf-8"))["project"]
    print("\n".join(constraints(project, sys.argv[1:])))


if __name__ == "__main__":
    main()
