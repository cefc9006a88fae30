"""The packages of the checkout, and their source as a graph: who imports whom, which classes there are.

Source is read and never imported. An import counts wherever it stands: at the top of a module, inside a function, and
under ``TYPE_CHECKING``; the latter is told apart.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "agentrt": ROOT / "agentrt",
    "agentrt_actions": ROOT / "actions" / "agentrt_actions",
    "agentrt_packs": ROOT / "packs" / "agentrt_packs",
    "agentrt_examples": ROOT / "examples" / "worlds" / "agentrt_examples",
    "agentrt_miner_shop": ROOT / "examples" / "worlds" / "agentrt_miner_shop",
    "examples.crafter": ROOT / "examples" / "crafter",
    "examples.frontier": ROOT / "examples" / "frontier",
}


@cache  # all house rules look at the same trees; reading them takes two seconds
def source_of(name: str) -> Source:
    """The source of a package, read once."""
    return Source(name)


class Source:
    """The source of a package.

    Args:
        name: its name, with dots.

    Attributes:
        name: as given.
        nodes: of each module, by its name, all that is written in it; the first is the module itself.
        paths: where each module is.
        packages: those of the modules that have modules of their own.
        facades: those of the packages that say in ``__all__`` what they show.
        imports: who imports whom, and whether it is for types alone.
        classes: the classes at the top of a module, as ``module.name``.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.nodes: dict[str, list[ast.AST]] = {}
        self.paths: dict[str, Path] = {}
        for path in sorted(PACKAGES[name].rglob("*.py")):
            parts = [name, *path.relative_to(PACKAGES[name]).with_suffix("").parts]
            module = ".".join(parts).removesuffix(".__init__")
            self.nodes[module] = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
            self.paths[module] = path
        self.packages = {module.rpartition(".")[0] for module in self.nodes} & self.nodes.keys()
        self.facades = {module for module in self.packages if "__all__" in _assigned(self.nodes[module])}
        self.imports = {
            (module, imported, is_type)
            for module, nodes in self.nodes.items()
            for node, is_type in _imports(nodes)
            for imported in self._imported(node)
            if imported != module
        }
        self.classes = [
            f"{module}.{node.name}"
            for module, (tree, *_) in self.nodes.items()
            for node in tree.body
            if isinstance(node, ast.ClassDef)
        ]

    def room(self, module: str) -> str:
        """The package right below this one in which a module is; this one, for a module that lies in it directly."""
        below = ".".join(module.split(".")[: self.name.count(".") + 2])
        return below.removeprefix(f"{self.name}.") if below in self.packages else self.name

    def meanings(self, module: str) -> dict[str, str]:
        """What the names of a module mean that are classes at its top, or imported anywhere in it: ``module.name``."""
        known = {name.rpartition(".")[2]: name for name in self.classes if name.rpartition(".")[0] == module}
        for node in self.nodes[module]:
            if isinstance(node, ast.ImportFrom):
                known |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        return known

    def _imported(self, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            below = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in self.nodes else node.module for name in below]
        yield from (name for name in names if name in self.nodes)


def _imports(nodes: list[ast.AST]) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    for_types = {
        id(inner)
        for node in nodes
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for statement in node.body
        for inner in ast.walk(statement)
    }
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, id(node) in for_types


def _assigned(nodes: list[ast.AST]) -> set[str]:
    targets = [target for node in nodes if isinstance(node, ast.Assign) for target in node.targets]
    return {target.id for target in targets if isinstance(target, ast.Name)}


def circles(source: Source, *, with_types: bool) -> dict[str, list[str]]:
    """For each package, those of its members (modules, and packages as one) that stand in its largest circle."""
    found = {}
    for package in sorted(source.packages):
        inside = f"{package}."
        edges = {
            tuple(module.removeprefix(inside).partition(".")[0] for module in (one, other))
            for one, other, is_type in source.imports
            if (with_types or not is_type) and one.startswith(inside) and other.startswith(inside)
        }
        if circle := largest_circle({(one, other) for one, other in edges if one != other}):
            found[package] = circle
    return found


def largest_circle(edges: set[tuple[str, str]]) -> list[str]:
    """The most nodes of which each can be reached from each; none if there is no circle."""
    nexts: dict[str, set[str]] = {}
    for one, other in edges:
        nexts.setdefault(one, set()).add(other)
    reached = {node: _reached(node, nexts) for node in nexts}
    found = [sorted(other for other in ahead if node in reached.get(other, ())) for node, ahead in reached.items()]
    return max(sorted(found), key=len, default=[])


def _reached(start: str, nexts: dict[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    ahead = [start]
    while ahead:
        new = nexts.get(ahead.pop(), set()) - reached
        reached |= new
        ahead += new
    return reached
