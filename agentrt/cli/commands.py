"""The commands: worlds and recordings to look at, what else can be done with a recording, and what authors bring.

``agentrt demo`` and ``agentrt inspect`` may serve a page: who does prints its address on standard output, serves until
Ctrl-C, and ends cleanly. ``agentrt replay``, ``agentrt diff`` and ``agentrt export`` take a recording; ``packs``,
``selection`` and ``strategies`` look at what authors bring; ``explain`` tells what an error means. They are one module:
each is hardly more than its options, and most share how a page is served and a recording is opened.
"""

from __future__ import annotations

import contextlib
import functools
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TextIO, TypeAlias

import click

from agentrt.agent.knowledge import strategy_of
from agentrt.cli.groups import (
    HOSTS,
    Group,
    JsonOut,
    app_option,
    given_app,
    given_option,
    known_registry,
    own_world,
    progress_printer,
    tell,
    tell_json,
    tell_text,
    told_error,
    world_called,
)
from agentrt.cli.schemas import write_schemas
from agentrt.errors import ERRORS, AgentRTError, ProjectError, did_you_mean
from agentrt.installed import called, error_page
from agentrt.kernel.trace import TraceRecord
from agentrt.packs.alias import KINDS, kind_of
from agentrt.packs.closure import CheckReport, check_files, closure_of, find_files
from agentrt.packs.loader import load_pack
from agentrt.packs.registry import Registry
from agentrt.packs.schema import KINDS_OF_DOCUMENTS, schema_text
from agentrt.selection.library import SelectionReport, check_path
from agentrt.words import counted
from agentrt.worlds import (
    SimpleWorld,
    TakesModel,
    TakesParameters,
    Value,
    Watch,
    World,
    as_given,
    checked_params,
    find_project,
    find_worlds,
    load_installed,
    make_world,
    nobody,
    runs,
    table_lines,
)

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

    from agentrt.inspect import Inspector
    from agentrt.record.recording import Recording
    from agentrt.record.replay import Make
    from agentrt.record.resume import Resumption
    from agentrt.reload import Reloader
    from agentrt.runtime.intake import RunRecorder
    from agentrt.runtime.runtime import Runtime
    from agentrt.strategy.ask import Strategy
    from agentrt.strategy.tools import DependencyMap


# --- worlds and recordings to look at ---------------------------------------------------------------------------------

DEFAULT_PORT = 8765  # as agentrt.inspect has it, which is imported when it is needed
DEFAULT_ADDRESS = "127.0.0.1"
MOST_PAST = 1_000_000  # ticks; likewise


class _Page(NamedTuple):
    """How a page is served: what the options say."""

    port: int  # where it listens; 0 for any port that is free
    address: str  # what it listens on
    token: str | None  # what clients have to know, or None
    is_opened: bool  # whether a browser is opened

    @property
    def was_asked_for(self) -> bool:
        """Whether any option on the command line says something of it."""
        return self.is_opened or (self.port, self.address) != (DEFAULT_PORT, DEFAULT_ADDRESS)


def _page_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a function that is to be a command the options of a page; it is called with a ``page``."""

    @click.option(
        "--port", type=click.IntRange(0, 65535), default=DEFAULT_PORT, show_default=True,
        help="Where the page is; 0 takes any port that is free.",
    )  # fmt: skip
    @click.option(
        "--address", default=DEFAULT_ADDRESS, show_default=True,
        help="What it listens on; all but loopback need a token.",
    )  # fmt: skip
    @click.option(
        "--token", envvar="AGENTRT_INSPECT_TOKEN", show_envvar=True,
        help="What clients have to know: 16 characters or more.",
    )  # fmt: skip
    @click.option("--open", "is_opened", is_flag=True, help="Open the page in a browser.")
    @functools.wraps(command)
    def with_page(*, port: int, address: str, token: str | None, is_opened: bool, **others: object) -> None:
        command(page=_Page(port, address, token, is_opened), **others)

    return with_page


def _editor_option(command: Callable[..., None]) -> Callable[..., None]:
    return click.option(
        "--editor", default="", envvar="AGENTRT_EDITOR_LINK", show_envvar=True, metavar="ADDRESS",
        help="Inspect: what opens a line of a file in your editor: vscode://file/{path}:{line}.",
    )(command)  # fmt: skip


@click.command()
@click.argument("recording", required=False)
@app_option
@_page_options
@click.option(
    "--controls", is_flag=True, help="Let the page run branches of it (what if), or pause, step and edit what lives."
)
@_editor_option
@click.option(
    "--branches", type=click.Path(file_okay=False, path_type=Path), metavar="FOLDER",
    help="Where branches are kept.  [default: a temporary folder]",
)  # fmt: skip
@click.option(
    "--breakpoints", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE",
    help="Where breakpoints of the world are kept.",
)  # fmt: skip
@click.option("--schema", is_flag=True, help="Print the JSON Schema of files of breakpoints, and do nothing else.")
def inspect(
    *, recording: str | None, page: _Page, controls: bool, editor: str, branches: Path | None,
    breakpoints: Path | None, schema: bool,
) -> None:  # fmt: skip
    """Look at a RECORDING in the browser, at any tick of it; or, without one, at the world of your project.

    A recording that is still being written can be looked at, too. With --controls, the page can change a number after
    any tick and run on from there, in a process of its own.
    """
    from agentrt.inspect import Inspector

    if schema:
        from agentrt.inspect.breakpoints import breakpoints_schema

        tell_text(breakpoints_schema())
        return
    if breakpoints is not None and (recording is not None or not controls):
        raise click.UsageError("--breakpoints goes with --controls, and with no RECORDING: nothing stops in one.")
    if branches is not None and (recording is None or not controls):
        raise click.UsageError("--branches goes with a RECORDING and --controls.")
    if recording is None:
        world = _own_world()
        _inspect_world(
            world, page, seed=0, params={}, speed=1.0, controls=controls, paused=False, past=None, watch=nobody,
            breakpoints=breakpoints, reloader_of=_reloaders(world) if controls else None, editor=editor,
        )  # fmt: skip
        return
    inspector = Inspector(
        recording, port=page.port, address=page.address, token=page.token, controls=controls, branches=branches,
        app=given_app(),
    )  # fmt: skip
    with contextlib.suppress(KeyboardInterrupt), inspector:
        _tell(inspector, page.is_opened)
        _wait()


def _wait() -> None:
    import threading

    threading.Event().wait()


def _inspect_world(
    world: World, page: _Page, *, seed: int, params: Mapping[str, Value], speed: float, controls: bool, paused: bool,
    past: int | None, watch: Watch, breakpoints: Path | None, reloader_of: _Reloaders | None, editor: str,
) -> None:  # fmt: skip
    """Run a world at its own pace and show it in the browser, until Ctrl-C."""
    import asyncio

    from agentrt.inspect import Inspector

    runtime = make_world(world, seed=seed, host="asyncio", params=params)
    inspector = Inspector(
        runtime, port=page.port, address=page.address, token=page.token, controls=controls, title=world.name,
        past=past, breakpoints=breakpoints, editing=None if reloader_of is None else reloader_of(runtime),
        editor=editor,
    )  # fmt: skip
    watch(runtime)

    async def run() -> None:
        async with runtime, inspector:
            if paused:
                inspector.pause()
            _tell(inspector, page.is_opened)
            await play(world, runtime, speed)

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(run())


async def play(world: World | None, runtime: Runtime, speed: float) -> None:
    """Run a runtime that a world has made at its own pace, with what runs beside it live, as far as it says that."""
    await (world.play(runtime, speed) if isinstance(world, SimpleWorld) else runtime.run(speed=speed))


def _tell(inspector: Inspector, is_opened: bool) -> None:
    tell("Ctrl-C ends it.", err=True)  # first: whoever reads the address may end it at once
    tell(inspector.url)
    if is_opened:
        click.launch(inspector.url)


DEFAULT_WORLD = "colony"
DEFAULT_TICKS = 2000


class _Way(NamedTuple):
    """How a world is run: what the options say."""

    headless: bool
    ticks: int | None
    seed: int
    given: dict[str, str]  # values of parameters, by name, as they were written
    parameters: bool  # whether nothing is run, and what the world takes is printed
    digest: bool
    host: str | None
    speed: float
    is_inspected: bool
    controls: bool
    breakpoints: Path | None  # where they are kept, or None
    editor: str
    paused: bool
    past: int | None
    path: Path | None  # where it is recorded, or None
    model: str | None  # what its agents think by, or None for what the world itself has
    base_url: str | None  # where that is, or None


def _model_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a function that is to be a command the options of a language model."""
    base_url = click.option(
        "--base-url", metavar="URL", help="With --model: where its server is; any that speaks OpenAI's protocol."
    )(command)
    return click.option(
        "--model", metavar="NAME",
        help="The language model that its agents think by, such as openai:gpt-5-mini, if the world takes one; its key "
        "is in OPENAI_API_KEY.",
    )(base_url)  # fmt: skip


def _with_model(world: World, model: str | None, base_url: str | None) -> World:
    """A world, its agents thinking by a model if one is named."""
    if model is None:
        if base_url is not None:
            raise click.UsageError("--base-url goes with --model.")
        return world
    if not isinstance(world, TakesModel):
        raise click.UsageError(f"the world '{world.name}' takes no model: --model is for worlds that have with_model.")
    return world.with_model(model, base_url or "")


def set_option(command: Callable[..., None]) -> Callable[..., None]:
    """Give a function that is to be a command the option of what a world is ``given``."""
    return click.option(
        "--set", "given", multiple=True, metavar="NAME=VALUE", callback=given_option,
        help="A parameter of the world, as run --parameters lists them. May be repeated.",
    )(command)  # fmt: skip


def _way_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a function that is to be a command the options of a run; it is called with a ``way`` and a ``page``."""

    @click.option("--headless", is_flag=True, help="Run without a terminal and print a report.")
    @click.option(
        "--ticks", type=click.IntRange(1), help=f"Headless: how many ticks to run.  [default: {DEFAULT_TICKS}]"
    )
    @click.option("--seed", type=int, default=0, show_default=True, help="The seed of all that is random.")
    @set_option
    @click.option("--parameters", is_flag=True, help="Print what the world can be --set to, and do nothing else.")
    @click.option("--digest", is_flag=True, help="Headless: end with one line 'digest: HEX', a hash of the whole run.")
    @click.option("--host", type=click.Choice(HOSTS), help="Headless: what the kernel runs on.  [default: plain]")
    @click.option(
        "--speed", type=float, default=1.0, show_default=True, help="Live: game seconds for each real second."
    )
    @click.option("--inspect", "is_inspected", is_flag=True, help="Watch it in the browser instead of the terminal.")
    @_page_options
    @click.option(
        "--controls",
        is_flag=True,
        help="Inspect: let the page pause, step, set breakpoints, change what lives, and edit packs and trees.",
    )
    @click.option(
        "--breakpoints",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Inspect: where breakpoints are kept; goes with --controls.",
    )
    @_editor_option
    @click.option("--paused", is_flag=True, help="Inspect: wait before the first tick.")
    @click.option(
        "--past", type=click.IntRange(0, MOST_PAST), metavar="TICKS",
        help="Inspect: how many of the last ticks the page can go back to, also if nobody looked then; 0 for none.  "
        "[default: 2000, while somebody looks]",
    )  # fmt: skip
    @click.option(
        "--record", "path", type=click.Path(dir_okay=False, path_type=Path),
        help="Write the run into a file, which can be inspected and replayed.",
    )  # fmt: skip
    @_model_options
    @app_option
    @functools.wraps(command)
    def with_way(*, page: _Page, **options: object) -> None:
        way = _Way._make(options.pop(name) for name in _Way._fields)
        command(way=way, page=page, **options)

    return with_way


@click.command()
@_way_options
def run(*, way: _Way, page: _Page) -> None:
    """Run the world of your project.

    The nearest pyproject.toml upwards from here says in [tool.agentrt] which one that is: app = "mygame:world".
    """
    world = _own_world()
    _run(world, way, page, reloader_of=_reloaders(world) if way.controls else None)


_Reloaders: TypeAlias = "Callable[[Runtime], Reloader]"


def _reloaders(world: World) -> _Reloaders:
    """What gives the reloader of a runtime of the project's world: one for each, however often it is asked for."""

    @functools.cache
    def reloader_of(runtime: Runtime) -> Reloader:
        from agentrt.reload import Reloader

        project = find_project()
        registry: object = getattr(world, "registry", None)
        folder = Path.cwd() if project is None else project.folder
        return Reloader(runtime, folder, registries=[registry] if isinstance(registry, Registry) else [])

    return reloader_of


@click.command()
@_way_options
def dev(*, way: _Way, page: _Page) -> None:
    """Run the world of your project, and take up what you edit while it runs.

    As 'agentrt run'; with the inspector in the browser, if that is installed and --headless is not given. Python
    modules, packs, documents of task groups and selection trees below the folder of the project are looked at. What is
    wrong with an edit is told, and the old code goes on. Needs the extra 'watch'.
    """
    if not way.headless and find_spec("uvicorn") is not None and find_spec("starlette") is not None:
        way = way._replace(is_inspected=True)
    world = _own_world()
    reloader_of = _reloaders(world)
    with contextlib.ExitStack() as stack:

        def reload_on_change(runtime: Runtime) -> None:
            reloader = reloader_of(runtime)
            reloader.on_reload(lambda report: tell_text(f"tick {report.tick}: {report}\n", err=True))
            stack.enter_context(reloader.watching())
            tell(f"edits below {reloader.folder} are taken up", err=True)

        _run(world, way, page, reload_on_change, reloader_of=reloader_of)


@click.command()
@click.argument("name", required=False)
@_way_options
@click.option("--list", "list_only", is_flag=True, help="List the worlds that are there.")
def demo(*, name: str | None, way: _Way, page: _Page, list_only: bool) -> None:
    """Run the world NAME and watch it; if no other is named, that of your project, else the colony.

    Worlds come from installed packages, through the entry-point group 'agentrt.worlds'.
    """
    if list_only:
        _list()
        return
    own = None if name else own_world()
    reloader_of = _reloaders(own) if own is not None and way.controls else None
    _run(own or world_called(name or DEFAULT_WORLD), way, page, reloader_of=reloader_of)


def _own_world() -> World:
    world = own_world()
    if world is None:
        raise ProjectError(
            str(Path.cwd()),
            "there is no project: no pyproject.toml here or in a folder above has a table [tool.agentrt].",
            'Make one with: agentrt new NAME. Or write app = "mygame:world" there, or give --app mygame:world.',
        )
    return world


def _run(
    world: World, way: _Way, page: _Page, besides: Watch = nobody, *, reloader_of: _Reloaders | None = None
) -> None:
    if way.parameters:
        _list_parameters(world)
        return
    headless = way.headless
    if not way.is_inspected and not headless and not _has_terminal():
        tell("standard output is not a terminal: running headless", err=True)
        headless = True
    _require_fitting(way, page, headless)
    world = _with_model(world, way.model, way.base_url)
    params = checked_params(world, way.given)
    with _recorded(world.name, params, way.path) as record:

        def watch(runtime: Runtime) -> None:
            record(runtime)
            besides(runtime)

        if way.is_inspected:
            _inspect_world(
                world, page, seed=way.seed, params=params, speed=way.speed, controls=way.controls, paused=way.paused,
                past=way.past, watch=watch, breakpoints=way.breakpoints, reloader_of=reloader_of, editor=way.editor,
            )  # fmt: skip
        elif headless:
            _run_headless(world, way, params, watch)
        elif params and isinstance(world, TakesParameters):
            world.run_live(seed=way.seed, speed=way.speed, watch=_shown(world, watch), params=params)
        else:
            world.run_live(seed=way.seed, speed=way.speed, watch=_shown(world, watch))


def _require_fitting(way: _Way, page: _Page, headless: bool) -> None:
    """Refuse options that do not go together."""
    if not headless and (way.ticks is not None or way.digest or way.host is not None):
        raise click.UsageError("--ticks, --digest and --host go with --headless.")
    if not way.is_inspected and (way.controls or way.paused or way.past is not None or page.was_asked_for):
        raise click.UsageError("--port, --address, --open, --controls, --paused and --past go with --inspect.")
    if not way.speed > 0:
        raise click.BadParameter("a speed is more than 0.", param_hint="--speed")
    if way.is_inspected and headless:
        raise click.UsageError("--headless and --inspect do not go together.")
    if way.breakpoints is not None and not (way.is_inspected and way.controls):
        raise click.UsageError("--breakpoints goes with --inspect and --controls.")
    if way.paused and not way.controls:
        raise click.UsageError("--paused goes with --controls: else nobody could let it run.")


def _shown(world: World, watch: Watch) -> Watch:
    """Watches, and tells who begins what if the world itself shows nothing."""
    if not isinstance(world, SimpleWorld) or world.live is not None:
        return watch

    def tell_runs(record: TraceRecord) -> None:
        if runs(record):
            tell(record.line())

    def watch_and_tell(runtime: Runtime) -> None:
        watch(runtime)
        runtime.trace.listen(tell_runs)
        tell("Ctrl-C ends it.", err=True)

    return watch_and_tell


def _has_terminal() -> bool:
    return sys.stdout.isatty()


def _list() -> None:
    """List all worlds that can be run, the project's first; of others it is said why not, and the exit code is 1."""
    is_fine = True
    listed = set[str]()
    for installed in ("", *find_worlds()):
        try:
            world = load_installed(installed) if installed else own_world()
        except AgentRTError as error:
            is_fine = False
            tell_text(f"{told_error(error)}\n", err=True)
            continue
        if world is not None and (name := installed or world.name) not in listed:
            listed.add(name)
            tell(f"{name}  {world.summary}")
    if not is_fine:
        sys.exit(1)


def _list_parameters(world: World) -> None:
    """Tell what a world takes: name, type, default and range of each parameter, and what it does."""
    known = world.parameters if isinstance(world, TakesParameters) else {}
    if not known:
        tell(f"the world '{world.name}' takes no parameters", err=True)
    for name, one in known.items():
        what = f"{one.kind}, {one.range}" if one.range else one.kind
        tell(f"{name}={as_given(one.default)}  {what}{f': {one.help}' if one.help else ''}")


@contextlib.contextmanager
def _recorded(world: str, params: Mapping[str, Value], path: Path | None) -> Iterator[Watch]:
    """Gives what records a world, or what does nothing if there is no path."""
    if path is None:
        yield nobody
        return
    recorders: list[RunRecorder] = []
    try:
        yield lambda runtime: recorders.append(runtime.record(path, world=world, params=params))
    finally:
        for recorder in recorders:
            recorder.close()
            looks = f"{called('inspect', path)}, {called('replay', path)}"
            tell(f"recorded {recorder.ticks} ticks: {looks}", err=True)


def _run_headless(world: World, way: _Way, params: Mapping[str, Value], watch: Watch) -> None:
    ticks, host, progress = way.ticks or DEFAULT_TICKS, way.host or HOSTS[0], progress_printer()
    if params and isinstance(world, TakesParameters):
        report = world.run_headless(
            ticks=ticks, seed=way.seed, host=host, progress=progress, watch=watch, params=params
        )
    else:
        report = world.run_headless(ticks=ticks, seed=way.seed, host=host, progress=progress, watch=watch)
    for line in table_lines(report):
        tell(line)
    if way.digest:
        tell(f"digest: {report.digest}")


# --- recordings -------------------------------------------------------------------------------------------------------

_path = click.Path(path_type=Path)


def _make(recording: Path, world: str | None, to: int | None, model: str | None, base_url: str | None) -> Make | None:
    """Makes the world that is replayed, and tells how far it has come; None if the recording names none."""
    from agentrt.record.recording import Recording
    from agentrt.record.replay import thinks_as_recorded

    with Recording.open(recording) as opened:
        name = world or opened.meta["world"]
        last, meta = opened.last_tick if to is None else to, opened.meta
    if not name:
        return None
    known, progress = _with_model(world_called(name), model, base_url), progress_printer()
    if model is None:
        known = thinks_as_recorded(known, meta)

    def make(*, seed: int, host: str, params: Mapping[str, Value] | None = None) -> Runtime:
        runtime = make_world(known, seed=seed, host=host, params=params)
        runtime.after_tick(lambda: progress(runtime.tick, last, ""))
        return runtime

    return make


def _print_script_schema(ctx: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        from agentrt.record.branch import script_schema

        tell_text(script_schema())
        ctx.exit()


@click.command()
@click.argument("recording", type=_path)
@app_option
@click.option("--to", type=click.IntRange(min=0), help="The last tick to run; with --edit, the one to branch after.")
@click.option("--from-last-save", is_flag=True, help="Begin where the world was rebuilt last, if it has epochs.")
@click.option("--verify/--no-verify", default=True, show_default=True, help="Compare it with the recording.")
@click.option("--world", metavar="NAME", help="The world to run.  [default: the one that the recording names]")
@click.option("--host", type=click.Choice(HOSTS), default=HOSTS[0], show_default=True, help="What it runs on.")
@click.option("--edit", type=_path, metavar="FILE", help="Branch: a JSON script of what comes in otherwise.")
@click.option("--ticks", type=click.IntRange(min=1), help="Branch: how many ticks to go on.")
@click.option("--record", type=_path, metavar="FILE", help="Branch: record it.")
@click.option("--live", is_flag=True, help="Branch: what was never asked is asked outside, a model anew.")
@_model_options
@click.option(
    "--schema", is_flag=True, is_eager=True, expose_value=False, callback=_print_script_schema,
    help="Print the JSON Schema of scripts for --edit, and exit.",
)  # fmt: skip
def replay(
    *,
    recording: Path,
    to: int | None,
    from_last_save: bool,
    verify: bool,
    world: str | None,
    host: str,
    edit: Path | None,
    ticks: int | None,
    record: Path | None,
    live: bool,
    model: str | None,
    base_url: str | None,
) -> None:
    """Run RECORDING again from its inputs, and compare every tick.

    Nothing outside is called: results come from the recording. A world that was recorded with a --model is made with
    the same one, which is not asked. It stops at the first difference and prints both sides; the exit code is 1 then.
    With --to and one of --edit, --ticks and --record it is a branch: a replay up to a tick, which goes on otherwise
    from there, and the two runs are compared. There a thought with a prompt that was answered then has that answer.
    Other prompts are answered by the script that stands in for the model, or with --live by the model itself: at its
    --base-url, with its key in the environment. The report says how often.
    """
    if edit is None and ticks is None and record is None and not live:
        from agentrt.record.recording import Recording
        from agentrt.record.replay import replay as run

        with Recording.open(recording) as opened:
            since = opened.saves[-1] if from_last_save and opened.saves else None
        make = _make(recording, world, to, model, base_url)
        report = run(recording, make, to=to, host=host, verify=verify, since=since)
        tell_text(f"{report.as_text()}\n")
        sys.exit(0 if report.is_same else 1)
    from agentrt.record.branch import branch, load_edits

    if from_last_save:
        raise click.UsageError("a branch begins where the recording does: --from-last-save does not go with it.")
    if to is None:
        raise click.UsageError("a branch needs --to, the tick after which it begins.")
    if not verify:
        raise click.UsageError("a branch begins where the replay is the same: --no-verify does not go with it.")
    edits = () if edit is None else load_edits(edit)
    calls = "live" if live else "recorded"
    make = _make(recording, world, None if ticks is None else to + ticks, model, base_url)
    made = branch(recording, make, at=to, edits=edits, ticks=ticks, host=host, calls=calls, record=record)
    tell_text(f"{made.as_text()}\n")


@click.command()
@click.argument("recording", type=_path)
@app_option
@click.option("--headless", is_flag=True, help="Run as fast as it goes up to a tick, and print what came of it.")
@click.option("--ticks", type=click.IntRange(1), help=f"Headless: the tick where it ends.  [default: {DEFAULT_TICKS}]")
@click.option("--digest", is_flag=True, help="Headless: end with one line 'digest: HEX', a hash of the whole run.")
@click.option("--host", type=click.Choice(HOSTS), help="Headless: what it runs on.  [default: as it was recorded]")
@click.option("--speed", type=float, default=1.0, show_default=True, help="Live: game seconds for each real second.")
@click.option("--world", metavar="NAME", help="The world to run.  [default: the one that the recording names]")
@click.option("--into", type=_path, metavar="FILE", help="Record the whole run into this file, and leave RECORDING.")
@click.option("--verify/--no-verify", default=True, show_default=True, help="Compare it; --no-verify goes with --into.")
@_model_options
def resume(
    *,
    recording: Path,
    headless: bool,
    ticks: int | None,
    digest: bool,
    host: str | None,
    speed: float,
    world: str | None,
    into: Path | None,
    verify: bool,
    model: str | None,
    base_url: str | None,
) -> None:
    """Go on with RECORDING where it ends, in the same file: with a run that died, or that was ended.

    It is run again up to its last tick, without calling the outside, and compared: from its beginning, or from the last
    save of its world, if that is rebuilt in epochs. Then it goes on live, at its own pace until Ctrl-C, or with
    --headless up to a tick. Calls that had no result are made again. If the world is another
    one by now, the first difference is told and nothing is written; --no-verify --into FILE records the run as the
    code of now has it.
    """
    from agentrt.record.resume import resume as resumption

    if not headless and (ticks is not None or digest or host is not None):
        raise click.UsageError("--ticks, --digest and --host go with --headless.")
    if not speed > 0:
        raise click.BadParameter("a speed is more than 0.", param_hint="--speed")
    if not verify and into is None:
        raise click.UsageError("--no-verify goes with --into: a file is of one run.")
    known, recorded_host, recorded = _world_of(recording, world, model, base_url)
    last = ticks or DEFAULT_TICKS
    if headless and recorded > last:
        raise click.BadParameter(f"it has {recorded} ticks already.", param_hint="--ticks")
    make = _make(recording, world, last if headless else None, model, base_url)
    work = resumption(recording, make, verify=verify, into=into)
    if headless:
        _resume_headless(work, host or recorded_host, last, digest)
    else:
        _resume_live(work, known, speed)


def _world_of(
    recording: Path, world: str | None, model: str | None, base_url: str | None
) -> tuple[World | None, str, int]:
    """The world that a recording is to be resumed with, if it is known; its host, and its last tick."""
    from agentrt.record.recording import Recording
    from agentrt.record.schema import connect_appender

    connect_appender(recording).close()  # which puts it in order, should its writer have been killed at a bad moment
    with Recording.open(recording) as opened:
        name, host, last = world or opened.meta["world"], opened.meta["host"], opened.last_tick
    known = _with_model(world_called(name), model, base_url) if name else None
    return known, host if host in HOSTS else HOSTS[0], last


def _resume_headless(work: Resumption, host: str, last: int, digest: bool) -> None:
    from agentrt.record.replay import run_on

    def begin(runtime: Runtime) -> RunRecorder:
        recorder = runtime.recorder
        assert recorder is not None
        tell(f"resumed {work.path} after tick {runtime.tick}", err=True)
        return recorder

    async def whole() -> RunRecorder:
        async with work as runtime:
            recorder = begin(runtime)
            if runtime.tick < last:
                await runtime.run(last - runtime.tick, speed=math.inf, restart=None)
        return recorder

    if host == "plain":
        with work as runtime:
            recorder = begin(runtime)
            while runtime.tick < last and runtime.step():
                pass
    else:
        recorder = run_on(host, whole)
    tell(f"went on to tick {recorder.committed_tick}, recorded in {recorder.path}")
    if digest:
        tell(f"digest: {recorder.digest}")


def _resume_live(work: Resumption, world: World | None, speed: float) -> None:
    import asyncio

    async def whole() -> None:
        async with work as runtime:
            tell(f"resumed {work.path} after tick {runtime.tick}; Ctrl-C ends it.", err=True)
            await play(world, runtime, speed)

    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(whole())


@click.command()
@click.argument("one", type=_path)
@click.argument("other", type=_path)
def diff(*, one: Path, other: Path) -> None:
    """Compare the traces of two recordings: where they part, agent by agent. Exit code 1 if they differ."""
    from agentrt.record.compare import compare_recordings
    from agentrt.record.recording import Recording

    with Recording.open(one) as left, Recording.open(other) as right:
        difference = compare_recordings(left, right)
    tell_text(f"{difference.as_text()}\n")
    sys.exit(0 if difference.is_empty else 1)


@contextlib.contextmanager
def _made(path: Path) -> Iterator[TextIO]:
    """A new file to write to. If that fails, at the latest when it is closed, the half of it is not left behind."""
    is_file = path.is_file() or not path.exists()  # and no pipe or device
    with path.open("x" if is_file else "w", encoding="ascii", newline="\n") as out:
        try:
            yield out
            out.flush()
        except BaseException:
            if is_file:
                path.unlink(missing_ok=True)
            raise


@click.command()
@click.argument("recording", type=_path)
@click.option("--to", "kind", type=click.Choice(["html", "perfetto", "otel"]), help="For whom.")
@click.option("--html", "is_html", is_flag=True, help="The same as --to html.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, allow_dash=True), required=True, help="The file; - prints it."
)
@click.option("--first", type=click.IntRange(min=0), help="From this tick on.")
@click.option("--last", type=click.IntRange(min=0), help="Up to this tick.")
@click.option("--max-mb", type=click.IntRange(1, 2000), help="html: how large it may become (64).")
@click.option("--answers", is_flag=True, help="html: with what models answered, and were asked if that was kept.")
def export(
    *,
    recording: Path,
    kind: str | None,
    is_html: bool,
    output: Path,
    first: int | None,
    last: int | None,
    max_mb: int | None,
    answers: bool,
) -> None:
    """Write RECORDING for others.

    'html' is the page of the inspector with the recording in it, one file that opens in any browser without a server:
    to be sent to somebody. 'perfetto' is a file of Chrome trace events, which opens in https://ui.perfetto.dev; 'otel'
    is OTLP in JSON, a request on each line, as an OpenTelemetry collector takes it.
    """
    from agentrt.record.recording import Recording

    if is_html == (kind is not None) and not (is_html and kind == "html"):
        raise click.UsageError("Say for whom: --html, --to perfetto, or --to otel.")
    if max_mb is not None and kind not in (None, "html"):
        raise click.UsageError(f"--max-mb is for --html: what is written for {kind} has no limit.")
    if answers and kind not in (None, "html"):
        raise click.UsageError(f"--answers is for --html: what is written for {kind} has none.")
    write = _exporting(kind or "html", first, last, max_mb, answers=answers)
    with Recording.open(recording) as opened:
        if str(output) == "-":
            write(opened, JsonOut())
            return
        try:
            with _made(output) as out:
                written = write(opened, out)
        except FileExistsError:
            raise click.BadParameter(
                f"{output} is there already: choose another name.", param_hint="--output"
            ) from None
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise click.BadParameter(f"{output}: {why}", param_hint="--output") from None
    tell(f"{written} written to {output}", err=True)


def _exporting(
    kind: str, first: int | None, last: int | None, max_mb: int | None, *, answers: bool
) -> Callable[[Recording, SupportsWrite[str]], str]:
    """What writes a recording, and says in words what it wrote."""
    if kind == "html":

        def write_page(recording: Recording, out: SupportsWrite[str]) -> str:
            from agentrt.inspect.onefile import MOST_BYTES, write_html

            most = MOST_BYTES if max_mb is None else max_mb * 1_000_000
            made = write_html(recording, out, first=first, last=last, max_bytes=most, answers=answers)
            agents = counted(made.agents, "agent")
            return f"{made.bytes / 1e6:.1f} MB (ticks {made.first} to {made.last}, {agents})"

        return write_page

    def write_events(recording: Recording, out: SupportsWrite[str]) -> str:
        from agentrt.record.export import write_otlp, write_perfetto

        if kind == "perfetto":
            return f"{write_perfetto(recording, out, first=first, last=last)} events"
        return f"{write_otlp(recording, out, first=first, last=last)} spans"

    return write_events


# --- what authors bring -----------------------------------------------------------------------------------------------


@click.group(cls=Group)
def packs() -> None:
    """Check AI packs, and list what they can refer to."""


def _alias_option(_ctx: click.Context, _option: click.Parameter, values: tuple[str, ...]) -> list[tuple[str, Path]]:
    pairs = []
    for value in values:
        alias, equals, file = value.partition("=")
        if not (alias and equals and file):
            raise click.BadParameter(f"'{value}' is not ALIAS=FILE, as in my_mod:ai_pack:core=packs/core.json.")
        pairs.append((alias, Path(file)))
    return pairs


@packs.command()
@app_option
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path))
@click.option("--allow-unresolved", is_flag=True, help="List aliases that nobody registered without failing.")
@click.option(
    "--alias", "aliases", multiple=True, metavar="ALIAS=FILE", callback=_alias_option,
    help="Register a pack file for this check, so that others can require it. May be repeated.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def check(*, paths: tuple[Path, ...], allow_unresolved: bool, aliases: list[tuple[str, Path]], as_json: bool) -> None:
    """Check files of packs and of task groups, or all *.json below a folder.

    Reports for each file its actions, its dependencies, everything that it holds together with them (its closure), and
    the aliases that nobody registered. Exit code 1 if anything is wrong.
    """
    registry = known_registry()
    for alias, file in aliases:
        registry.register(alias, file, origin="--alias")
    _tell_report(check_files(find_files(paths), registry, allow_unresolved=allow_unresolved), as_json)


def _tell_report(report: CheckReport | SelectionReport, as_json: bool) -> None:
    if as_json:
        tell_json(report.as_json())
    else:
        for line in report.as_text():
            tell(line)
    if not report.ok:
        sys.exit(1)


@packs.command(name="schema")
@click.argument("kind", type=click.Choice(KINDS_OF_DOCUMENTS), default=KINDS_OF_DOCUMENTS[0])
@click.option(
    "--write", "paths", multiple=True, metavar="PATH", type=click.Path(path_type=Path),
    help="For editors: have the packs in this file, or below this folder, say which schema they follow.",
)  # fmt: skip
def print_schema(*, kind: str, paths: tuple[Path, ...]) -> None:
    """Print the JSON Schema of packs, or of task groups.

    With --write nothing is printed: both schemas are put into the project, each pack gets a line "$schema" unless it
    has one, and the settings of VS Code name them for new files.
    """
    if not paths:
        tell_text(schema_text(kind))
        return
    project = find_project()
    root = Path() if project is None else project.folder
    try:
        written = write_schemas(root, find_files(paths))
    except OSError as error:
        raise click.BadParameter(f"{error.filename}: {error.strerror or error}", param_hint="--write") from None
    for file in written.changed:
        tell(f"wrote {file}")
    for _, why in written.passed:
        tell(f"left alone {why}", err=True)


@packs.command(name="list")
@app_option
@click.option(
    "--kind", help="Only aliases of this kind: actions, observers, components, task_groups, strategies, ai_pack."
)
@click.option("--origin", is_flag=True, help="Show where each alias comes from.")
def list_aliases(*, kind: str | None, origin: bool) -> None:
    """List the aliases that packs can refer to here."""
    if kind is not None and kind not in KINDS:
        raise click.BadParameter(
            f"there is no kind '{kind}'.{did_you_mean(kind, KINDS)} The kinds are {', '.join(KINDS)}.",
            param_hint="--kind",
        )
    registry = known_registry()
    for alias in registry.aliases(kind or ""):
        tell(f"{alias}  from {registry.origin(alias)}" if origin else alias)


@click.group(cls=Group)
def selection() -> None:
    """Check selection trees."""


@selection.command(name="check")
@click.argument("path", metavar="PATH", type=click.Path(path_type=Path))
@click.option("--compatible", is_flag=True, help="For old files: what can be left out or ignored is a warning.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
def check_selection(*, path: Path, compatible: bool, as_json: bool) -> None:
    """Check the selection trees and blocks in all *.xml below the folder PATH, or in one file.

    Reports everything that is wrong, with file and line. Exit code 1 if there is an error; warnings are no errors.
    """
    _tell_report(check_path(path, "compatible" if compatible else "strict"), as_json)


_which = click.argument("aliases", nargs=-1, metavar="[ALIAS]...")


@click.group(cls=Group)
def strategies() -> None:
    """List strategies, draw what may need what, write types for the generated calls.

    Each command is about the strategies that the ALIASes name, of strategies or of packs with all that these require;
    without any, about all that your project and the installed packages register.
    """


@strategies.command(name="list")
@app_option
@_which
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def list_strategies(*, aliases: tuple[str, ...], as_json: bool) -> None:
    """List dependencies, each with its call and who provides it."""
    from agentrt.strategy.tools import DependencyMap

    found = _found(aliases)
    drawn = DependencyMap(found.values())
    if as_json:
        told = drawn.as_json()
        for alias, strategy in found.items():
            told["strategies"][strategy.spec.subject]["alias"] = alias
        tell_json(told)
        return
    for line in _listed(drawn, {strategy: alias for alias, strategy in found.items()}):
        tell(line)


@strategies.command(name="map")
@app_option
@_which
@click.option(
    "--as", "form", type=click.Choice(["text", "mermaid", "json"]), default="text", show_default=True,
    help="A tree, a flow chart for mermaid.js.org, or JSON.",
)  # fmt: skip
def draw_map(*, aliases: tuple[str, ...], form: str) -> None:
    """Draw the dependency map: who provides what, and what each strategy may need.

    It is read from the code of the strategies, and none of them is run: it shows the dependencies that stand in the
    code, and not those that are computed.
    """
    from agentrt.strategy.tools import DependencyMap

    drawn = DependencyMap(_found(aliases).values())
    if form == "json":
        tell_json(drawn.as_json())
        return
    for line in drawn.as_mermaid() if form == "mermaid" else drawn.as_text():
        tell(line)


@strategies.command(name="calls")
@app_option
@_which
@click.option("--name", default="GameplayCalls", show_default=True, help="The name of the class.")
def write_calls(*, aliases: tuple[str, ...], name: str) -> None:
    """Print a Python module with the types of the generated calls, for mypy and pyright.

    Redirect it into a module of your own, and write: calls = cast(GameplayCalls, agent.gameplay)
    """
    from agentrt.strategy.tools import calls_module

    if not name.isidentifier():
        raise click.BadParameter(f"'{name}' is no name of a class.", param_hint="--name")
    tell_text(calls_module(_found(aliases).values(), name))


def _found(aliases: tuple[str, ...]) -> dict[str, type[Strategy]]:
    """The strategies by alias, in the order in which an agent that takes all of them would load them."""
    registry = known_registry()
    wanted = aliases or registry.aliases("strategies")
    packs = [one if kind_of(one) != "strategies" else load_pack({"strategies": [one]}) for one in wanted]
    return {alias: strategy_of(alias, registry) for alias in closure_of(packs, registry).strategies}


def _listed(drawn: DependencyMap, aliases: dict[type[Strategy], str]) -> Iterator[str]:
    from agentrt.strategy.tools import signature_of

    for wanted, providers in drawn.providers.items():
        yield f"{wanted.activity}  {signature_of(wanted)}"
        for strategy in providers:
            needs = ", ".join(need.call for need in drawn.needs[strategy])
            joins = ", ".join(strategy.injects)
            told = f"; may need {needs}" if needs else ""
            yield f"  {aliases[strategy]}{told}{f'; joins {joins}' if joins else ''}"
    for wanted in drawn.missing:
        yield f"{wanted.activity}  {signature_of(wanted)}"
        yield "  nobody provides it"
    if not drawn.strategies:
        yield "no strategies are installed"


# --- what an error means ----------------------------------------------------------------------------------------------


@click.command()
@click.argument("code", required=False)
def explain(*, code: str | None) -> None:
    """Tell what an error means: what happened, an example, and what to do.

    CODE is what stands in its text, such as ART302 or 302, or the name of its class. Without it all codes are listed.
    """
    if code is None:
        for known, error in ERRORS.items():
            tell(f"{known}  {error.__name__}: {(error.__doc__ or '').partition(chr(10))[0]}")
        return
    names = {error.__name__.lower(): known for known, error in ERRORS.items()}
    wanted = code.strip("[]").upper()
    wanted = names.get(wanted.lower(), wanted if wanted.startswith("ART") else f"ART{wanted}")
    if wanted not in ERRORS:
        near = did_you_mean(code, [*ERRORS, *(error.__name__ for error in ERRORS.values())])
        raise click.BadParameter(
            f"no error of agentrt has it.{near} All are listed by: agentrt explain", param_hint="CODE"
        )
    tell_text(error_page(wanted))
