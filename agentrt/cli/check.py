"""``agentrt check``: all that can be told of a project without running it.

The world is imported and made, which is when classes, trees, strategies and agents are checked, each by itself; then
comes what nobody else looks at: activities that no agent knows an action for, pack files and selection trees. All
Python files are read, imported or not, for what they drop and should await: in helpers and mix-ins, behind decorators,
and in modules that nobody imports, whose classes are not made. What was not looked at is told. What is found goes on to
the next check: one mistake hides no other that does not follow from it. No tick is run.

The files come first, since what is imported may hang. A thread ends the program then, after it has told what there is:
nothing gets a main thread out of a wait on every system.
"""

from __future__ import annotations

import ast
import contextlib
import sys
import threading
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import click

from agentrt.body.slips import slips_in
from agentrt.cli.groups import (
    app_option,
    aside,
    end_at_once,
    given_app,
    no_more_results,
    own_world,
    registry_for,
    tell,
    tell_json,
    told_error,
)
from agentrt.errors import AgentRTError, ProjectError
from agentrt.folders import files_below, is_below
from agentrt.packs.closure import check_files
from agentrt.selection.library import check_path
from agentrt.words import counted, error_words, few
from agentrt.worlds import World, find_project, made_runtime, their_place

_TREES = b"<SelectionTree"  # what an XML file of selection trees has in it
_LIMIT = 60.0
_MOST_NAMED = 5
_GIVE_ONE = "Go into one, or give a PATH, or --app mygame:world."


class Mistake(NamedTuple):
    """Something that is wrong."""

    where: str  # a file, or a part of the project
    text: str  # what is wrong, and what to write instead


@dataclass(slots=True)
class Report:
    """What was looked at, and what was found."""

    folder: Path  # below which files are looked at
    home: Path  # of the project: where errors are looked for
    as_json: bool
    looked: dict[str, int] = field(default_factory=lambda: {"agents": 0, "modules": 0, "packs": 0, "trees": 0})
    mistakes: dict[Mistake, None] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # what was not looked at

    def found(self, where: str, text: str) -> None:
        self.mistakes[Mistake(where, text)] = None

    def raised(self, error: BaseException, what: str, where: str) -> None:
        """Something of theirs raised: told once, if it was found when its file was read."""
        where = their_place(error, self.home) or where
        text = what
        if isinstance(error, AgentRTError):
            text = told_error(error).replace(f"{where}: ", "", 1).replace(f"\nIt was raised at {where}.", "", 1)
        self.mistakes = {one: None for one in self.mistakes if one.where != where and one.text not in text}
        self.found(where, text)

    def tell(self) -> None:
        mistakes = list(self.mistakes)
        if self.as_json:
            found = [mistake._asdict() for mistake in mistakes]
            tell_json({"ok": not mistakes, "looked_at": self.looked, "mistakes": found, "notes": self.notes})
            return
        for mistake in mistakes:
            tell(f"{mistake.where}:")
            for line in mistake.text.splitlines():
                tell(f"  {line}")
        words = ", ".join(counted(number, what.removesuffix("s")) for what, number in self.looked.items())
        tell(f"{words}: {counted(len(mistakes), 'mistake') if mistakes else 'nothing is wrong'}")
        for note in self.notes:
            tell(note, err=True)


@click.command()
@click.argument("path", required=False, type=click.Path(path_type=Path, exists=True))
@app_option
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.option(
    "--limit", type=click.FloatRange(0, min_open=True), default=_LIMIT, show_default=True,
    help="After how many seconds of importing and making the world to give up.",
)  # fmt: skip
def check(*, path: Path | None, as_json: bool, limit: float) -> None:
    """Check a project without running it: classes, agents, packs, trees.

    The world of the project in or above PATH, by default here, is imported and made; then the files below PATH are
    looked at, by default those of the project. A file stands for its folder. Exit code 1 if anything is wrong.
    """
    if path is not None and path.is_file():
        path = path.resolve().parent
    project = None
    with contextlib.suppress(*([ProjectError] if given_app() else [])):  # what it says is not asked for then
        project = find_project(path)
    if project is None and path is None and not given_app():
        raise ProjectError(str(Path.cwd()), "there is no project to check.", _GIVE_ONE)
    home = (path or Path.cwd()).resolve() if project is None else project.folder
    report = Report(path.resolve() if path else home, home, as_json)
    others = threading.enumerate()
    with aside():
        _check(report, path, limit)
    report.tell()
    if as_json:
        no_more_results()
    code = 1 if report.mistakes else 0
    if any(one not in others and not one.daemon for one in threading.enumerate()):
        end_at_once(code)  # what the world has begun would keep the program for ever
    sys.exit(code)


def _check(report: Report, path: Path | None, limit: float) -> None:
    files = _read_modules(report)
    _check_trees(report)
    with _ended_after(limit, report):
        try:
            world = own_world(path)
        except AgentRTError as error:  # raised by a class, say, while its module was imported
            report.raised(error, "", error.where if isinstance(error, ProjectError) else "--app")
            report.notes.append("Agents and packs were not looked at, since there is no world.")
            return
        if world is not None:
            _check_world(report, world)
        _check_packs(report, world)
    if world is None and not any(report.looked.values()):
        problem = "there is nothing to check: no project, no module, no registered pack and no selection tree."
        raise ProjectError(str(report.folder), problem, _GIVE_ONE)
    _note_the_rest(report, files)


# --- the world --------------------------------------------------------------------------------------------------------


def _check_world(report: Report, world: World) -> None:
    """What making the world tells, and what its agents could never do."""
    where = f"the world '{world.name}'"
    try:
        runtime = made_runtime(world, world.make(seed=0, host="plain"))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # of theirs, whatever it is; SystemExit would end this in silence, too
        report.raised(error, f"making {where} raised {error_words(error)}", where)
        return
    for agent in runtime.agents:
        report.looked["agents"] += 1
        for text in agent.unperformed():
            report.found(where, text)


@contextlib.contextmanager
def _ended_after(seconds: float, report: Report) -> Iterator[None]:
    """Give up if this takes longer: tell what there is, and where it hangs, and end the program."""
    once = threading.Lock()
    main = threading.get_ident()

    def give_up() -> None:
        with once:
            if is_over:
                return
            where, what = _where_it_hangs(sys._current_frames().get(main), report.home)
            report.found(
                where,
                f"{what} has not ended after {seconds:g} s. Move what waits into a function that nobody calls "
                f"meanwhile; or, if it only takes long, say --limit {2 * seconds:g}.",
            )
            report.notes.append("What comes after that was not looked at.")
            try:
                report.tell()
            finally:  # whoever reads it may have gone
                end_at_once(1)

    is_over = False
    timer = threading.Timer(seconds, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        with once:  # it may be giving up: then there is nothing more to do
            is_over = True


def _where_it_hangs(frame: FrameType | None, folder: Path) -> tuple[str, str]:
    """The line of theirs in which something waits, and what that is: the import of a module, if it is one."""
    where, what = "", "making the world"
    while frame is not None and frame.f_code is not _check.__code__:
        if is_below(folder, Path(frame.f_code.co_filename)):
            where = where or f"{frame.f_code.co_filename}:{frame.f_lineno}"
        if frame.f_code.co_name == "<module>":
            what = f"importing '{frame.f_globals.get('__name__')}'"
            break
        frame = frame.f_back
    return where or "the world", what


# --- files ------------------------------------------------------------------------------------------------------------


def _read_modules(report: Report) -> list[Path]:
    """What Python files drop that they should await; they are compiled, and nothing of them is run."""
    files = [file for file in files_below(report.folder, ".py") if file.is_file()]
    for file in files:
        report.looked["modules"] += 1
        try:
            slips = _slips_of(file.read_bytes(), str(file))
        except SyntaxError as error:
            report.found(f"{file}:{error.lineno}", f"it cannot be read: {error.msg}.")
        except (OSError, ValueError, RecursionError, MemoryError) as error:  # null bytes, or nested too deeply
            report.found(str(file), f"it cannot be read: {error_words(error)}.")
        else:
            for what, instead in slips:
                report.found(str(file), f"{what} {instead}")
    return files


def _slips_of(source: bytes, file: str) -> list[tuple[str, str]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tree = ast.parse(source, file)
        code = compile(tree, file, "exec", dont_inherit=True, optimize=0)
    ours = sys.modules["agentrt"]
    names: dict[str, object] = {}  # what it imports of ours, by the names that it has there
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update({one.asname or one.name: ours for one in node.names if one.name == "agentrt"})
        elif isinstance(node, ast.ImportFrom) and node.module == "agentrt" and not node.level:
            names.update({one.asname or one.name: vars(ours).get(one.name) for one in node.names})
    return list(slips_in(code, names))


def _check_packs(report: Report, world: World | None) -> None:
    """What is wrong with pack files that are registered."""
    try:
        registry = registry_for(world)
    except AgentRTError as error:
        report.raised(error, "", error.where if isinstance(error, ProjectError) else str(report.folder))
        return
    files = [file for file in files_below(report.folder, ".json") if file.is_file()]
    packs = [file for file in files if registry.alias_of(file)]
    report.looked["packs"] += len(packs)
    for checked in check_files(packs, registry).files:
        if not checked.ok:
            report.found(checked.file, "\n".join(checked.as_text()))
    others = [file for file in files if file not in packs]
    if others:
        report.notes.append(f"Registered by nobody, and so no packs: {_few(report.folder, others)}.")


def _check_trees(report: Report) -> None:
    """What is wrong with selection trees."""
    trees: dict[Path, None] = {}
    for file in files_below(report.folder, ".xml"):
        try:
            if file.is_file() and _TREES in file.read_bytes():
                trees[file.parent] = None
        except OSError as error:
            report.found(str(file), f"it cannot be read: {error.strerror or error}.")
    for place in trees:
        if any(other in place.parents for other in trees):
            continue  # a folder is checked with those below it
        checked = check_path(place)
        report.looked["trees"] += len(checked.trees)
        for problem in checked.problems:
            report.found(problem.file, str(problem))


def _note_the_rest(report: Report, files: list[Path]) -> None:
    known = {getattr(module, "__file__", None) for module in tuple(sys.modules.values())}
    paths = {Path(file).resolve() for file in known if isinstance(file, str)}
    read = [file for file in files if file.resolve() not in paths]
    if read:
        report.notes.append(f"Imported by nobody, so that classes there were only read: {_few(report.folder, read)}.")


def _few(folder: Path, files: list[Path]) -> str:
    return few([file.relative_to(folder).as_posix() for file in files], _MOST_NAMED)
