"""Worlds: what ``agentrt run`` and ``agentrt demo`` can run, and how they are found.

A world is a thing to look at: a whole little game that somebody wrote on top of agentrt. The library knows no world by
itself. Two roads lead to one:

* A *project*, where a game is being written: the nearest ``pyproject.toml`` upwards from the working directory that has
  a table ``[tool.agentrt]``. ``app = "mygame:world"`` names the world in it, and the folder of the file comes first on
  ``sys.path``, as ``python -m`` has it. So a command that is given in a project imports its code, as pytest does.
  Whoever says otherwise (``--app``) names another world, in the project or, without one, in the working directory.
* The entry-point group ``agentrt.worlds`` of installed packages; the entry point's name is the name that the command
  takes. agentrt's own colony comes in by this road. The project's world goes before one of the same name.

A world runs in two ways: live in a terminal, until its user quits; or headless for a number of ticks, which gives a
``WorldReport``. The report's digest is a hash of the run: the same ticks and seed give the same digest on every host
and every version of Python. And it can be *made*: then whoever asked drives it, such as a replay or the inspector.

Whoever wants to look at a run from its first tick on (a recorder, the inspector) hands in a function that is called
with the runtime before anything is driven.

An object is a world if it has what ``World`` lists; it need not inherit from it. ``SimpleWorld`` has all of that for
whoever can make a runtime. A world may say, in an attribute ``registry``, what the packs of its agents can name.

A world may take *parameters* (``TakesParameters``) and say what of a run can be *measured* (``Measures``): both are
plain data under names, so that a program that knows nothing of the game can make a hundred runs of it and compare them.
Whoever makes a world of parameters goes through ``make_world``: what a world is given was checked before, and a world
that is given none is made as if there were none. What was given, and no default, is what a recording keeps.

It is one module because what finds a world, what checks it and what makes it ask the same protocols.
"""

from __future__ import annotations

import contextlib
import math
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

from agentrt.errors import (
    AgentRTError,
    DefinitionError,
    ManifestError,
    ParameterError,
    ProjectError,
    UnknownWorldError,
    did_you_mean,
)
from agentrt.folders import is_below
from agentrt.kernel.trace import TraceDigest, TraceEvent, TraceRecord
from agentrt.packs.registry import Manifest, Registry, load_entry_point, origin_of
from agentrt.words import UNREADABLE, counted, error_words, few, printable_lines, repr_of, type_name

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from agentrt.runtime.runtime import Runtime

__all__ = [
    "Measures",
    "Parameter",
    "Progress",
    "Project",
    "SimpleWorld",
    "TakesModel",
    "TakesParameters",
    "Value",
    "Watch",
    "World",
    "WorldReport",
    "are_params",
    "as_given",
    "checked_params",
    "drive",
    "find_project",
    "find_worlds",
    "load_installed",
    "load_world",
    "make_world",
    "measure_world",
    "nobody",
    "project_world",
    "table_lines",
    "told_params",
]

ENTRY_POINT_GROUP = "agentrt.worlds"

# Called now and then while a world runs headless: the tick, the number of ticks, and a few words.
Progress: TypeAlias = Callable[[int, int, str], None]
# Called with a world's runtime when it is made and nothing has been driven.
Watch: TypeAlias = "Callable[[Runtime], object]"


def nobody(runtime: Runtime) -> None:
    """Watch nothing."""


class WorldReport(NamedTuple):
    """What a headless run came to."""

    digest: str  # a hash of the whole run, in hexadecimal digits
    title: str  # a line above the table
    columns: tuple[str, ...]  # the headings of the table
    rows: tuple[tuple[str | int | float, ...], ...]  # its rows; numbers are set to the right
    notes: tuple[str, ...] = ()  # lines below the table


@runtime_checkable
class World(Protocol):
    """What an entry point of the group ``agentrt.worlds`` names, and the ``app`` of a project."""

    @property
    def name(self) -> str:
        """The name of the world."""
        ...

    @property
    def summary(self) -> str:
        """What there is to see, in a line."""
        ...

    def make(self, *, seed: int, host: str) -> Runtime:
        """Make it, with all that is in it at first, and leave it to the caller to drive it.

        Equal arguments make equal worlds: this is what a replay begins with.
        """
        ...

    def run_headless(
        self, *, ticks: int, seed: int, host: str, progress: Progress, watch: Watch = nobody
    ) -> WorldReport:
        """Run without a terminal, for some ticks; the world starts the event loop of its host."""
        ...

    def run_live(self, *, seed: int, speed: float, watch: Watch = nobody) -> None:
        """Run in the terminal until its user quits, so many game seconds in each real second.

        Raises:
            MissingExtraError: what draws there is not installed.
        """
        ...


@runtime_checkable
class TakesModel(Protocol):
    """A world whose agents can think by a language model: ``agentrt demo NAME --model`` asks for it.

    Without a model it is a world as any other: a function of the game thinks in its place, say.
    """

    def with_model(self, name: str, base_url: str = "") -> World:
        """The same world, whose agents think by a model.

        Args:
            name: of the model at its server, such as ``"openai:gpt-5-mini"``.
            base_url: where the server is; empty for OpenAI's own.

        Raises:
            MissingExtraError: what asks models is not installed.
        """
        ...


# --- parameters and measures ------------------------------------------------------------------------------------------

Value: TypeAlias = int | float | bool | str
"""What a parameter can be."""

_PARAMETER = re.compile(r"\w[\w-]*(\.\w[\w-]*)*")
_FLAGS = {"true": True, "false": False}  # as JSON writes them


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number, a flag or a text that a world can be made with; its type is that of its default.

    Raises:
        DefinitionError: it contradicts itself.
    """

    default: Value
    help: str = ""  # what it does, in a line
    low: float | None = None  # the least value of a number; None for no bound
    high: float | None = None  # the largest one
    choices: tuple[str, ...] = ()  # all values of a text; none for any text

    def __post_init__(self) -> None:
        if type(self.default) not in (int, float, bool, str):
            problem = f"its default is {repr_of(self.default, 80)}."
            raise DefinitionError("a Parameter", problem, "Give it a number, a flag or a text.")
        is_number = type(self.default) in (int, float)
        if not is_number and (self.low is not None or self.high is not None):
            raise DefinitionError("a Parameter", "it has a range and is no number.", "Leave low and high out.")
        if self.choices and type(self.default) is not str:
            raise DefinitionError("a Parameter", "it has choices and is no text.", "Leave choices out.")
        if problem := self._problem(self.default):
            raise DefinitionError("a Parameter", f"its default does not fit: {problem}.", "Give it one that does.")

    @property
    def kind(self) -> str:
        """What it is, in a word: int, float, bool or str."""
        return type(self.default).__name__

    @property
    def range(self) -> str:
        """What it can be, in words; empty if that is anything of its type."""
        if self.choices:
            return " | ".join(self.choices)
        if self.low is None and self.high is None:
            return ""
        if self.high is None:
            return f"{self.low:g} or more"
        return f"{self.high:g} or less" if self.low is None else f"{self.low:g} to {self.high:g}"

    def read(self, given: object) -> Value:
        """A value of its type; a text is read, as a command line has it.

        Raises:
            ValueError: it is none; the error says in words what it has to be.
        """
        value = self._typed(given)
        if value is None:
            raise ValueError(f"{repr_of(given, 80)} is no {_KINDS[self.kind]}")
        if problem := self._problem(value):
            raise ValueError(problem)
        return value

    def _typed(self, given: object) -> Value | None:
        kind = type(self.default)
        if type(given) is kind:
            return given
        if (kind is float and type(given) is int) or (kind in (int, float) and type(given) is str):
            with contextlib.suppress(ValueError, OverflowError):
                return kind(given)
            return None
        return _FLAGS.get(given) if kind is bool and type(given) is str else None

    def _problem(self, value: Value) -> str:
        """What is wrong with a value of the right type; empty if nothing is."""
        if type(value) is float and not math.isfinite(value):
            return f"{value} is no number that can be counted with"
        is_outside = not isinstance(value, str) and (
            (self.low is not None and value < self.low) or (self.high is not None and value > self.high)
        )
        if is_outside or (self.choices and value not in self.choices):
            return f"{repr_of(value, 80)} is not {'one of ' if self.choices else ''}{self.range}"
        return ""


_KINDS = {"int": "whole number", "float": "number", "bool": "flag (true or false)", "str": "text"}


@runtime_checkable
class TakesParameters(World, Protocol):
    """A world that can be made otherwise than by default: ``agentrt demo NAME --set NAME=VALUE``.

    ``make``, ``run_headless`` and ``run_live`` take ``params``: values that were checked, of some of its parameters;
    the others are as by default. Equal arguments make equal worlds, and none are the same as all at their defaults.
    """

    @property
    def parameters(self) -> Mapping[str, Parameter]:
        """What it can be made with, by name, as in ``"wolves"`` or ``"hearthling.eat.utility"``."""
        ...

    def make(self, *, seed: int, host: str, params: Mapping[str, Value] | None = None) -> Runtime:
        """Make it; see ``World.make``."""
        ...

    def run_headless(
        self,
        *,
        ticks: int,
        seed: int,
        host: str,
        progress: Progress,
        watch: Watch = nobody,
        params: Mapping[str, Value] | None = None,
    ) -> WorldReport:
        """Run without a terminal; see ``World.run_headless``."""
        ...

    def run_live(
        self, *, seed: int, speed: float, watch: Watch = nobody, params: Mapping[str, Value] | None = None
    ) -> None:
        """Run in the terminal; see ``World.run_live``."""
        ...


@runtime_checkable
class Measures(Protocol):
    """A world of which a program can ask how a run of it goes."""

    def measure(self, runtime: Runtime) -> Mapping[str, int | float | str]:
        """What is measured of a run, by name: plain data, after any tick. It changes nothing.

        Args:
            runtime: one that this world made; what else it needs lies in ``runtime.game``.
        """
        ...


def are_params(given: object) -> bool:
    """Whether something has the form of parameters: plain values by name, whichever world they are for."""
    return isinstance(given, Mapping) and all(
        type(name) is str and (type(value) in (int, bool, str) or (type(value) is float and math.isfinite(value)))
        for name, value in given.items()
    )


def checked_params(world: World, given: Mapping[str, object]) -> dict[str, Value]:
    """What a world is given, in the order of its parameters: each is one that it takes, and of its type.

    Args:
        world: any; one that takes no parameters can be given none.
        given: values by name; a text is read by the type of the parameter. Defaults are not filled in.

    Raises:
        ParameterError: there is no such parameter, or the value does not fit.
    """
    known = world.parameters if isinstance(world, TakesParameters) else {}
    for name in given:
        if name not in known:
            near = did_you_mean(name, known).strip()
            there = f"They are {few(list(known), 20)}." if known else "It takes none: leave it out."
            problem = "there is no such parameter" if known else "this world has no parameters"
            raise ParameterError(world.name, str(name), problem, f"{near} {there}".strip())
    checked: dict[str, Value] = {}
    for name, parameter in known.items():
        if name in given:
            try:
                checked[name] = parameter.read(given[name])
            except ValueError as error:
                like = f"Its default is {parameter.default!r}."
                raise ParameterError(world.name, name, str(error), like) from None
    return checked


def told_params(params: Mapping[str, Value] | None) -> str:
    """What a run was given, in words, to stand behind others; empty if that is nothing."""
    return "".join(f", {name}={as_given(value)}" for name, value in (params or {}).items())


def as_given(value: Value) -> str:
    """A value as a command line takes it."""
    return str(value).lower() if type(value) is bool else str(value)


def make_world(world: World, *, seed: int, host: str, params: Mapping[str, object] | None = None) -> Runtime:
    """Make a world, with parameters if any are given; equal arguments make equal worlds.

    Args:
        world: any.
        seed: of all that is random.
        host: what it runs on: plain, asyncio or trio.
        params: values by name, not checked yet; see ``checked_params``.

    Raises:
        ParameterError: it does not take them.
    """
    checked = checked_params(world, params or {})
    if checked and isinstance(world, TakesParameters):
        return world.make(seed=seed, host=host, params=checked)
    return world.make(seed=seed, host=host)


def measure_world(world: World, runtime: Runtime) -> dict[str, int | float | str]:
    """What a world measures of a run of it, by name; nothing if it measures nothing.

    Raises:
        DefinitionError: what it gives is no plain data, or a whole number of more than 600 digits.
    """
    if not isinstance(world, Measures):
        return {}
    measured: object = world.measure(runtime)
    if not isinstance(measured, Mapping):
        remedy = "Give a dict: names, and numbers or texts."
        raise DefinitionError(f"the world '{world.name}'", f"its measure gives a {type_name(measured)}.", remedy)
    for name, value in measured.items():
        if type(name) is not str or type(value) not in (int, float, str):
            problem = f"its measure gives {repr_of(value, 80)} for {repr_of(name, 80)}."
            raise DefinitionError(f"the world '{world.name}'", problem, "Measure numbers and texts, under names.")
        if type(value) is int and abs(value) >= UNREADABLE:
            problem = f"its measure gives {repr_of(value, 80)} for {repr_of(name, 80)}."
            raise DefinitionError(f"the world '{world.name}'", problem, "Measure a float, or a text.")
    return dict(measured)


# --- a world of a function --------------------------------------------------------------------------------------------


class MakesRuntime(Protocol):
    """Makes the runtime of a world, with all that is in it at first."""

    def __call__(self, *, seed: int, host: str) -> Runtime: ...


class MakesWithParameters(Protocol):
    """Makes it of parameters: all that the world declares, those that were not given at their defaults."""

    def __call__(self, *, seed: int, host: str, params: Mapping[str, Value]) -> Runtime: ...


# What runs a world live, beside whatever else there is (a server, a window): called with its runtime and the speed.
Live: TypeAlias = "Callable[[Runtime, float], Awaitable[object]]"

_PROGRESS_EVERY = 100
_RUNS = (TraceEvent.RUN, TraceEvent.ACTIVATE)


class SimpleWorld:
    """A world of a function that makes its runtime.

    Args:
        name: what commands and recordings call it.
        make: called with ``seed`` and ``host``, and with ``params`` if there are ``parameters``: a value for each of
            them, by name. Equal arguments make equal worlds.
        summary: what there is to see, in a line.
        parameters: what it can be made with, by name.
        measure: called with a runtime that ``make`` made, after any tick: gives numbers and texts by name, and changes
            nothing.
        manifests: what its packs may name, besides what installed packages offer.
        live: a coroutine function that runs it on asyncio, called with the runtime and the speed; it has to await
            ``runtime.run(speed=speed)``. Without one nothing else runs.

    Raises:
        DefinitionError: a parameter has a name that a command line could not say, or is none.
    """

    def __init__(
        self,
        name: str,
        make: MakesRuntime | MakesWithParameters,
        *,
        summary: str = "",
        parameters: Mapping[str, Parameter] | None = None,
        measure: Callable[[Runtime], Mapping[str, int | float | str]] | None = None,
        manifests: Iterable[Manifest] = (),
        live: Live | None = None,
    ) -> None:
        self.name: str = name
        self.summary: str = summary
        self.parameters: dict[str, Parameter] = _checked_parameters(name, parameters or {})
        self.live: Live | None = live  # what was given
        self._make: Callable[..., object] = make
        self._measure = measure
        self._manifests = tuple(manifests)

    @cached_property
    def registry(self) -> Registry:
        """What the packs of its agents can name: give it to each, ``Agent(entity, packs=[...], registry=...)``.

        It is made when it is first asked for, which is not while the module is imported that makes the world: an entry
        point may lead there, too.
        """
        return Registry.discover(*self._manifests, strict=False)

    def make(self, *, seed: int, host: str, params: Mapping[str, Value] | None = None) -> Runtime:
        """Make its runtime, and leave it to the caller to drive it.

        Raises:
            DefinitionError: its function made something else.
            ParameterError: it does not take these parameters.
        """
        checked = checked_params(self, params or {})
        if not self.parameters:
            return made_runtime(self, self._make(seed=seed, host=host))
        values = {name: checked.get(name, one.default) for name, one in self.parameters.items()}
        return made_runtime(self, self._make(seed=seed, host=host, params=values))

    def measure(self, runtime: Runtime) -> Mapping[str, int | float | str]:
        """What its function measures of a run; nothing without one."""
        return {} if self._measure is None else self._measure(runtime)

    def run_headless(
        self,
        *,
        ticks: int,
        seed: int,
        host: str,
        progress: Progress,
        watch: Watch = nobody,
        params: Mapping[str, Value] | None = None,
    ) -> WorldReport:
        """Run for some ticks, as fast as it goes; the table says who ran what how often."""
        runtime = self.make(seed=seed, host=host, params=params)
        watch(runtime)
        digest = TraceDigest(runtime.trace)
        counts: dict[str, dict[str, int]] = {}  # by what ran: by who ran it

        def count(record: TraceRecord) -> None:
            if runs(record):
                what = record.path.rpartition("/")[2].partition("#")[0]  # an action, a goal, a leaf, a strategy
                by = counts.setdefault(what, {})
                by[record.agent] = by.get(record.agent, 0) + 1

        def after_tick() -> None:
            if runtime.tick % _PROGRESS_EVERY == 0:
                progress(runtime.tick, ticks, counted(len(runtime.agents), "agent"))
            if runtime.tick == ticks:  # how it is taken down is no part of the run
                digest.close()
                close()
                runtime.stop()

        close = runtime.trace.listen(count)
        runtime.after_tick(after_tick)
        drive(runtime, host, lambda: runtime.tick >= ticks)
        return WorldReport(
            digest=digest.hexdigest(),
            title=f"{self.name}: {ticks} ticks, seed {seed}, {host} host{told_params(params)}",
            columns=("what", "agents", "times"),
            rows=tuple((what, len(by), sum(by.values())) for what, by in sorted(counts.items())),
        )

    def run_live(
        self, *, seed: int, speed: float, watch: Watch = nobody, params: Mapping[str, Value] | None = None
    ) -> None:
        """Run it on asyncio at its own pace, until it ends or its user quits with Ctrl-C."""
        import asyncio

        runtime = self.make(seed=seed, host="asyncio", params=params)
        watch(runtime)
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(self.play(runtime, speed))

    async def play(self, runtime: Runtime, speed: float) -> None:
        """Run a runtime that it made, with what runs beside it live."""
        await (runtime.run(speed=speed) if self.live is None else self.live(runtime, speed))

    def __repr__(self) -> str:
        return f"<SimpleWorld {self.name!r}>"


def _checked_parameters(world: str, given: Mapping[str, Parameter]) -> dict[str, Parameter]:
    for name, parameter in given.items():
        untrusted: object = parameter
        if type(name) is not str or not _PARAMETER.fullmatch(name):
            problem = f"it has a parameter {repr_of(name, 80)}."
            raise DefinitionError(f"the world '{world}'", problem, "Name it with letters, digits and dots.")
        if not isinstance(untrusted, Parameter):
            problem = f"its parameter '{name}' is a {type_name(parameter)}."
            raise DefinitionError(f"the world '{world}'", problem, "Give agentrt.worlds.Parameter(default).")
    return dict(given)


def made_runtime(world: World, made: object) -> Runtime:
    """What a world made, if that is a runtime."""
    from agentrt.runtime.runtime import Runtime

    if not isinstance(made, Runtime):
        what = "None" if made is None else f"a {type_name(made)}"
        remedy = "Give its Runtime: return runtime."
        raise DefinitionError(f"the world '{world.name}'", f"its make gives {what}.", remedy)
    return made


def runs(record: TraceRecord) -> bool:
    """Whether a record says that somebody begins to do something, whichever model decided it."""
    event = record.event
    return event in _RUNS or (event is TraceEvent.START and record.path.startswith(("goals/", "targets/")))


def drive(runtime: Runtime, host: str, is_over: Callable[[], bool]) -> None:
    """Drive a world to its end, as fast as it goes, on any host.

    Args:
        runtime: the world's; a function of its own stops it when it is over (``runtime.after_tick``).
        host: what it was made for: plain, asyncio or trio. This starts its event loop.
        is_over: whether the last tick was run; asked where no event loop runs.
    """
    if host == "asyncio":
        import asyncio

        asyncio.run(runtime.run(speed=math.inf, restart=None))  # as if it were stepped: one run on every host
    elif host == "trio":
        import trio

        async def run() -> None:
            await runtime.run(speed=math.inf, restart=None)

        trio.run(run)
    else:
        while not is_over():
            runtime.step()
        runtime.close()


# --- the world of a project -------------------------------------------------------------------------------------------

_FILE = "pyproject.toml"
_TABLE = "[tool.agentrt]"
_EXAMPLE = f'Write below {_TABLE} in {_FILE}: app = "mygame:world"'
_APP = re.compile(r"\w+(\.\w+)*:\w+(\.\w+)*")


@dataclass(frozen=True, slots=True)
class Project:
    """Where a game is written."""

    folder: Path  # comes first on ``sys.path``
    app: str  # where its world is, as ``module:name``
    where: str  # what errors call the place that says so


def find_project(place: Path | None = None) -> Project | None:
    """The project of a folder, by default the working directory: the nearest one upwards from there.

    Nothing of it is imported.

    Raises:
        ProjectError: a ``pyproject.toml`` on the way cannot be read, or its table does not name a world.
    """
    with contextlib.suppress(OSError):  # the working directory may have been deleted
        here = Path.cwd() if place is None else place.resolve()
        for folder in (here, *here.parents):
            file = folder / _FILE
            if file.is_file():
                table = _table_of(file)
                if table is not None:
                    return Project(folder, _app_of(table, file), str(file))
    return None


def _table_of(file: Path) -> dict[str, Any] | None:
    """The table of a file that is ours; None if it has none."""
    import tomllib  # only needed here, and slow to import

    try:
        tools = tomllib.loads(file.read_text(encoding="utf-8")).get("tool")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ProjectError(str(file), f"it cannot be read: {why}.", "Repair it.") from error
    table = tools.get("agentrt") if isinstance(tools, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ProjectError(str(file), f"tool.agentrt is {repr_of(table, 80)}, and no table.", _EXAMPLE)
    return table


def _app_of(table: dict[str, Any], file: Path) -> str:
    for key in table:
        if key != "app":
            raise ProjectError(str(file), f"{_TABLE} has no key {repr_of(key, 80)}.", _EXAMPLE)
    app = table.get("app")
    if not isinstance(app, str):
        what = f"app is {repr_of(app, 80)}, and no text." if "app" in table else f"{_TABLE} does not say app."
        raise ProjectError(str(file), what, _EXAMPLE)
    return app


def project_world(app: str = "", place: Path | None = None) -> World | None:
    """Import the world of the project.

    Args:
        app: another one than the project says, as ``module:name``; found without a project, too.
        place: a folder of the project, by default the working directory.

    Returns:
        The world; None if there is no project, and nothing was named.

    Raises:
        ProjectError: it cannot be found or imported, or it is no world. What its own code raised is the cause.
        AgentRTError: a class of its own, say, is refused when it is defined; a note says where.
    """
    if app:
        project = _with_app(app, place)
    else:
        found = find_project(place)
        if found is None:
            return None
        project = found
    if not _APP.fullmatch(project.app):
        raise ProjectError(
            project.where, f"{repr_of(project.app, 120)} names no world.", "Write module:name, as in mygame:world."
        )
    module, _, path = project.app.partition(":")
    thing = _import(module, project)
    for name in path.split("."):
        if not hasattr(thing, name):
            near = did_you_mean(name, [one for one in dir(thing) if not one.startswith("_")])
            raise ProjectError(project.where, f"'{module}' has nothing that is called '{path}'.{near}", _NAME_ONE)
        thing = getattr(thing, name)
    if not isinstance(thing, World) or isinstance(thing, type):
        what = f"the class {thing.__name__}" if isinstance(thing, type) else f"a {type_name(thing)}"
        raise ProjectError(project.where, f"'{project.app}' is {what}, and no world.", _NAME_ONE)
    return thing


_NAME_ONE = "Name an agentrt.worlds.SimpleWorld, or what has all that agentrt.worlds.World lists."


def _with_app(app: str, place: Path | None) -> Project:
    found: Project | None = None
    with contextlib.suppress(ProjectError):  # what it says is not asked for
        found = find_project(place)
    return Project((place or Path.cwd()).resolve() if found is None else found.folder, app, "--app")


def _import(module: str, project: Project) -> object:
    from importlib import import_module

    folder = str(project.folder)
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        return import_module(module)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a module that ends the program when it is imported is broken, and ends nothing
        if isinstance(error, ModuleNotFoundError) and f"{module}.".startswith(f"{error.name}."):
            problem = f"there is no module '{error.name}' in {folder}, nor is one installed."
            raise ProjectError(project.where, problem, "Correct the name, or run this in the project.") from None
        where = their_place(error, project.folder)
        if isinstance(error, AgentRTError):  # it says itself what is wrong, and what to write
            if where:
                error.add_note(f"It was raised at {where}.")
            raise
        problem = f"importing '{module}' raised {error_words(error)}."
        failure = ProjectError(where or project.where, problem, "Repair it; the traceback is below.")
        failure.add_note(_their_traceback(error))
        raise failure from error


_OURS = ("agentrt", "importlib")  # whose frames lead to theirs


def their_place(error: BaseException, folder: Path) -> str:
    """The file and the line of theirs, below a folder, in which an error came up; empty if it has none."""
    import traceback

    if isinstance(error, SyntaxError) and error.filename:
        return f"{error.filename}:{error.lineno}"
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if is_below(folder, Path(frame.filename)):
            return f"{frame.filename}:{frame.lineno}"
    return ""


def _their_traceback(error: BaseException) -> str:
    """What is told of an error of theirs: where it was raised, from their first frame on."""
    import traceback

    inner = error.__traceback__
    while inner is not None and str(inner.tb_frame.f_globals.get("__name__")).partition(".")[0] in _OURS:
        inner = inner.tb_next
    return printable_lines("".join(traceback.format_exception(type(error), error, inner))).rstrip()


# --- worlds by their names --------------------------------------------------------------------------------------------


def find_worlds() -> dict[str, EntryPoint]:
    """The worlds that are installed, by name, in alphabetical order; none of them is imported."""
    worlds: dict[str, EntryPoint] = {}
    for point in _points():
        worlds.setdefault(point.name, point)  # if there are more, that is an error for who wants this one
    return worlds


def _points() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    return sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda point: (point.name, point.value))


def load_world(name: str, app: str = "") -> World:
    """Import a world by its name: that of the project if it is called so, else one that is installed.

    Args:
        name: of the world.
        app: where the world of the project is, if not where the project says; see ``project_world``.

    Raises:
        UnknownWorldError: there is none.
        ProjectError: the world of the project cannot be used.
        ManifestError: an installed one cannot be imported, is no world, or two packages offer it.
    """
    own = project_world(app)
    if own is not None and own.name == name:
        return own
    return load_installed(name, () if own is None else (own.name,))


def load_installed(name: str, others: Iterable[str] = ()) -> World:
    """Import a world that is installed; an error names those that are, and ``others``."""
    points = [point for point in _points() if point.name == name]
    if not points:
        raise UnknownWorldError(name, (*find_worlds(), *others))
    values = list(dict.fromkeys(point.value for point in points))
    if len(values) > 1:
        problem = f"two packages offer it: {values[0]} and {values[1]}."
        raise ManifestError(f"the world '{name}'", problem, "Uninstall one of them.")
    world = load_entry_point(points[0])
    if not isinstance(world, World):
        raise ManifestError(
            origin_of(points[0]),
            f"it is a {type_name(world)} without what a world has.",
            "A world has name, summary, make, run_headless and run_live; see agentrt.worlds.World.",
        )
    return world


def table_lines(report: WorldReport) -> Iterable[str]:
    """Write a report for people: the title, the table, the notes."""
    rows = [report.columns, *(tuple(_cell(cell) for cell in row) for row in report.rows)]
    columns = range(len(report.columns))
    widths = [max(len(row[column]) for row in rows) for column in columns]
    marks = [
        ">" if report.rows and all(isinstance(row[column], int | float) for row in report.rows) else "<"
        for column in columns
    ]
    yield report.title
    for row in rows:
        yield "  ".join(f"{row[column]:{marks[column]}{widths[column]}}" for column in columns).rstrip()
        if row is report.columns:
            yield "  ".join("-" * width for width in widths)
    yield from report.notes


def _cell(value: str | float) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)
