"""The build hook that compiles the core by mypyc, so that a wheel is one of a platform.

The modules are listed in ``pyproject.toml``, and nowhere else. The source is the same for both builds; the wheel has
it too: Python imports the compiled module that lies beside it, and tracebacks show the source. What the compiler has to
be told of a class stands in ``agentrt/native.py``. All is made in a temporary folder, so that a checkout stays pure.

Hatch calls it for a wheel where HATCH_BUILD_HOOK_ENABLE_CUSTOM is set; never for one that is installed for editing.
AGENTRT_OPTIMIZE is the level of the C compiler, 3 without it; 0 is for tests, which do not need it quick.

The compiler is given a copy in which no class declares an attribute that a base of it declares, as checkers of types
want it (``self.state: int = 0``). Of such an attribute its code tells the garbage collector twice, which then counts
one reference too few to what hangs on it, and clears what is still in use (seen with mypyc 2.4).

Rejected: hatch-mypyc (it writes into the source tree).
"""

from __future__ import annotations

import ast
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledCore(BuildHookInterface[Any]):
    """Compiles the modules that are listed in its settings."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Put the compiled modules into the wheel."""
        if version == "editable":
            return
        folder = tempfile.TemporaryDirectory(prefix="agentrt-compile-")
        self._folder = folder
        built = compile_modules(self.config["modules"], Path(self.root), Path(folder.name))
        build_data["force_include"].update({str(file): str(file.relative_to(folder.name)) for file in built})
        build_data["pure_python"] = False
        build_data["infer_tag"] = True

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Clear up."""
        if version != "editable":
            self._folder.cleanup()


def compile_modules(modules: list[str], root: Path, folder: Path) -> list[Path]:
    """Compile modules of a tree into a folder; what was built there."""
    from mypyc.build import mypycify
    from setuptools import Distribution

    here, copy = Path.cwd(), folder / "source"
    shutil.copytree(root / "agentrt", copy / "agentrt", ignore=shutil.ignore_patterns("__pycache__", "static"))
    shutil.copy(root / "pyproject.toml", copy)
    declare_once([copy / module for module in modules])
    os.chdir(copy)  # the compiler makes names of modules from the paths that it is given
    try:
        extensions = mypycify(
            ["--config-file=pyproject.toml", "--follow-imports=silent", *modules],
            opt_level=os.environ.get("AGENTRT_OPTIMIZE", "3"),
            debug_level="0",
            target_dir=str(folder / "made"),
            group_name="agentrt",
        )
    finally:
        os.chdir(here)
    build = Distribution({"name": "agentrt", "ext_modules": extensions}).get_command_obj("build_ext")
    build.build_lib, build.build_temp = str(folder), str(folder / "made")
    build.ensure_finalized()
    build.run()
    return [Path(file) for file in build.get_outputs()]


def declare_once(files: list[Path]) -> None:
    """Leave out of what is declared in classes (``self.state: int = 0``) what a base in these files declares."""
    trees = {file: ast.parse(file.read_text(encoding="utf-8")) for file in files}
    classes = {node.name: node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}
    for file, tree in trees.items():
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        for node in ast.walk(tree):
            if not isinstance(node, ast.ClassDef):
                continue
            inherited = {name for base in _bases(node, classes) for name, _ in _declared(base)}
            for _, again in (one for one in _declared(node) if one[0] in inherited):
                lines[again.lineno - 1] = _undeclared(lines[again.lineno - 1], again)
        file.write_text("".join(lines), encoding="utf-8")


def _bases(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> Iterator[ast.ClassDef]:
    for base in node.bases:
        if isinstance(base, ast.Name) and base.id in classes:
            yield classes[base.id]
            yield from _bases(classes[base.id], classes)


def _declared(node: ast.ClassDef) -> Iterator[tuple[str, ast.AnnAssign]]:
    for one in ast.walk(node):
        if not isinstance(one, ast.AnnAssign):
            continue
        if isinstance(one.target, ast.Attribute) and isinstance(one.target.value, ast.Name):
            yield one.target.attr, one
        elif one in node.body and isinstance(one.target, ast.Name):
            yield one.target.id, one


def _undeclared(line: str, declared: ast.AnnAssign) -> str:
    """The line without the annotation; columns are of bytes."""
    value, end = declared.value, declared.target.end_col_offset
    if (
        value is None
        or end is None
        or value.lineno != declared.lineno
        or not isinstance(declared.target, ast.Attribute)
    ):
        raise ValueError(f"a base declares this attribute, too; declare it there alone: {line.strip()}")
    told = line.encode()
    return (told[:end] + b" = " + told[value.col_offset :]).decode()
