"""``agentrt new``: a project that runs, is tested and type-checked at once.

The templates lie as real files in ``agentrt_templates``, which come with the library and are data to it: those of
``common``, and above them those of the template. What stands there as ``mygame``, in texts and in the names of files,
becomes the name of the project; nothing else is replaced.

Nothing that is there is ever overwritten. A folder of the name may be there if it is empty.
"""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

import click

from agentrt.cli.groups import tell
from agentrt.cli.schemas import write_schemas

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

TEMPLATES = ("loop", "server", "simulation", "bot")
_PLACEHOLDER = "mygame"
_CACHES = frozenset(("__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache"))  # pip compiles whatever it installs
_TAKEN = frozenset(("agentrt", "tests"))  # a package of the project that is called so would hide another one


@click.command()
@click.argument("name")
@click.option(
    "--template", type=click.Choice(TEMPLATES), default=TEMPLATES[0], show_default=True,
    help="loop: your program drives the runtime. server: a game server over WebSockets. simulation: many seeds and "
    "their measures. bot: it plays a game of somebody else's.",
)  # fmt: skip
def new(*, name: str, template: str) -> None:
    """Make a project NAME in a new folder of that name: a small game that runs, with its tests."""
    problem = problem_of(name)
    if problem:
        raise click.BadParameter(problem, param_hint="NAME")
    folder = Path(name)
    try:
        made = make_project(name, template, folder)
    except OSError as error:
        raise click.BadParameter(f"{folder}: {error.strerror or error}", param_hint="NAME") from None
    for file in made:
        tell(f"made {file}")
    tell("Look around, and then:", err=True)
    for line in (f"cd {name}", "agentrt run", "pytest"):
        tell(f"  {line}")


def problem_of(name: str) -> str:
    """Why a project cannot be called so; nothing if it can."""
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,49}", name):
        near = re.sub(r"[^a-z0-9]+", "_", name.lower()).lstrip("_0123456789")[:50].rstrip("_")
        hint = f" Did you mean '{near}'?" if near and not problem_of(near) else ""
        return f"'{name}' is no name of a package: small letters, digits and '_', and a letter first.{hint}"
    if keyword.iskeyword(name):
        return f"'{name}' is a word of Python. Choose another name."
    if name in sys.stdlib_module_names or name in _TAKEN:
        return f"there is a package '{name}' already, which yours would hide. Choose another name: '{name}_game', say."
    return ""


def make_project(name: str, template: str, folder: Path) -> list[Path]:
    """Write the files of a project into a folder that is not there, or empty; gives them in their order.

    Raises:
        FileExistsError: something is there.
        OSError: it cannot be written.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(0, "something is there already: choose another name, or another place")
    made: list[Path] = []
    for place, text in _files(name, template):
        file = folder / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8", newline="\n")
        made.append(file)
    packs = [file for file in made if file.suffix == ".json"]
    changed = write_schemas(folder, packs).changed
    return [*made, *(file for file in changed if file not in packs)]


def _files(name: str, template: str) -> Iterator[tuple[PurePosixPath, str]]:
    """The files of a project: where each goes, and its text."""
    from importlib.resources import files

    found: dict[PurePosixPath, Traversable] = {}
    for source in ("common", template):
        found.update(sorted(_below(files("agentrt_templates") / source, PurePosixPath())))
    for place, file in found.items():
        text = file.read_text(encoding="utf-8").replace(_PLACEHOLDER, name)
        yield PurePosixPath(str(place).replace(_PLACEHOLDER, name)), text


def _below(folder: Traversable, place: PurePosixPath) -> Iterator[tuple[PurePosixPath, Traversable]]:
    for item in folder.iterdir():
        if item.is_dir():
            if item.name not in _CACHES:
                yield from _below(item, place / item.name)
        else:
            yield place / item.name, item
