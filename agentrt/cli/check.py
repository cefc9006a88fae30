"""``agentrt check``: all that can be told of a project without running it.

The world is imported and made, which is when classes, trees, strategies and agents are checked, each by itself; then
comes what nobody else looks at: functions outside of classes that drop what they should await, activities that no agent
knows an action for, pack files and selection trees. What is found goes on to the next check: one mistake hides no other
that does not follow from it. No tick is run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType
from typing import NamedTuple

import click

from agentrt.body.slips import calls_that_slip
from agentrt.cli.groups import app_option, known_registry, own_world, tell, tell_json, told_error
from agentrt.errors import AgentRTError, ProjectError
from agentrt.packs.closure import check_files
from agentrt.selection.library import check_path
from agentrt.words import counted, error_words
from agentrt.worlds import World, find_project

_TREES = b"<SelectionTree"  # what an XML file of selection trees has in it
_PASSED_OVER = frozenset({"build", "dist", "node_modules", "site-packages"})


class Mistake(NamedTuple):
    """Something that is wrong."""

    where: str  # a file, or a part of the project
    text: str  # what is wrong, and what to write instead


@click.command()
@click.argument("path", required=False, type=click.Path(path_type=Path, exists=True, file_okay=False))
@app_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def check(*, path: Path | None, as_json: bool) -> None:
    """Check your project without running it: classes, agents, packs, trees.

    Its world is imported and made; then the files below PATH are looked at, by default those of the project. Exit code
    1 if anything is wrong.
    """
    project = find_project()
    folder = (path or (Path.cwd() if project is None else project.folder)).resolve()
    mistakes: dict[Mistake, None] = {}
    looked = {"agents": 0, "modules": 0, "packs": 0, "trees": 0}
    world: World | None = None
    try:
        world = own_world()
    except ProjectError as error:  # raised by a class, say, while its module was imported
        mistakes[Mistake(project.app if project else "--app", told_error(error))] = None
    else:
        if world is None and path is None:
            raise ProjectError(
                str(folder), "there is no project to check.", "Go into one, or give a PATH, or --app mygame:world."
            )
    if world is not None:
        mistakes.update(dict.fromkeys(_of_world(world, looked)))
    mistakes.update(dict.fromkeys(_of_modules(folder, looked)))
    mistakes.update(dict.fromkeys(_of_packs(folder, looked, is_broken=bool(mistakes))))
    mistakes.update(dict.fromkeys(_of_trees(folder, looked)))
    if as_json:
        found = [mistake._asdict() for mistake in mistakes]
        tell_json({"ok": not mistakes, "looked_at": looked, "mistakes": found})
    else:
        for mistake in mistakes:
            tell(f"{mistake.where}:")
            for line in mistake.text.splitlines():
                tell(f"  {line}")
        words = ", ".join(counted(number, what.removesuffix("s")) for what, number in looked.items())
        tell(f"{words}: {counted(len(mistakes), 'mistake') if mistakes else 'nothing is wrong'}")
    if mistakes:
        sys.exit(1)


def _of_world(world: World, looked: dict[str, int]) -> Iterator[Mistake]:
    """What making the world tells, and what its agents could never do."""
    where = f"the world '{world.name}'"
    try:
        runtime = world.make(seed=0, host="plain")
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # of theirs, whatever it is; SystemExit would end this in silence, too
        words = told_error(error) if isinstance(error, AgentRTError) else f"making it raised {error_words(error)}"
        yield Mistake(where, words)
        return
    for agent in runtime.agents:
        looked["agents"] += 1
        for text in agent.unperformed():
            yield Mistake(where, text)


def _of_modules(folder: Path, looked: dict[str, int]) -> Iterator[Mistake]:
    """What functions of the project's modules drop; those in classes were looked at when these were defined."""
    for module in tuple(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or not _is_shown(folder, Path(file)):
            continue
        looked["modules"] += 1
        for value in vars(module).values():
            if isinstance(value, FunctionType) and value.__module__ == module.__name__:
                for what, instead in calls_that_slip(value):
                    yield Mistake(f"{module.__name__}.{value.__qualname__}", f"{what} {instead}")


def _of_packs(folder: Path, looked: dict[str, int], *, is_broken: bool) -> Iterator[Mistake]:
    """What is wrong with pack files that are registered."""
    try:
        registry = known_registry()
    except AgentRTError as error:
        if not is_broken:  # else it was told
            yield Mistake(str(folder), told_error(error))
        return
    files = [file for file in _below(folder, "*.json") if registry.alias_of(file)]
    looked["packs"] += len(files)
    for report in check_files(files, registry).files:
        if not report.ok:
            yield Mistake(report.file, "\n".join(report.as_text()))


def _of_trees(folder: Path, looked: dict[str, int]) -> Iterator[Mistake]:
    """What is wrong with selection trees."""
    trees: dict[Path, None] = {}
    for file in _below(folder, "*.xml"):
        try:
            if _TREES in file.read_bytes():
                trees[file.parent] = None
        except OSError as error:
            yield Mistake(str(file), f"it cannot be read: {error.strerror or error}.")
    for place in trees:
        if any(other in place.parents for other in trees):
            continue  # a folder is checked with those below it
        report = check_path(place)
        looked["trees"] += len(report.trees)
        for problem in report.problems:
            yield Mistake(problem.file, str(problem))


def _below(folder: Path, pattern: str) -> list[Path]:
    return sorted(file for file in folder.rglob(pattern) if _is_shown(folder, file))


def _is_shown(folder: Path, file: Path) -> bool:
    """Whether a file is below a folder, and is no build's and no environment's."""
    try:
        parts: tuple[str, ...] = file.resolve().relative_to(folder).parts
    except (OSError, ValueError):
        return False
    return not any(part.startswith(".") or part in _PASSED_OVER for part in parts)
