"""No control character reaches a terminal, whatever files, names, recordings, worlds and arguments hold.

All commands are found by walking the tree of click's, so that a new one is tried with everything below as well.
"""

from __future__ import annotations

import importlib.metadata
import itertools
import json
import logging
import re
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import click
import pytest
from click.testing import CliRunner

import agentrt.inspect
from agentrt import Action, Agent, Runtime
from agentrt.cli import commands, groups, main
from agentrt.errors import AgentRTError, DataFault
from agentrt.packs.registry import Manifest
from agentrt.strategy import Dependency, Strategy
from agentrt.worlds import ENTRY_POINT_GROUP, WorldReport

SIGNS = "\x1b]0;pwn\x07\x1b[31mred\x9b2J\u202e\x7f\r\x85\u2028[red][link=x]"
"""What a terminal obeys and a file system, XML and SQLite take."""

WORST = f"{SIGNS}\x00\ud800"
"""What only a string of Python takes."""

OF_A_FILE = "\x1b[31m\x9b\u202e\x7f\n\udcff"


def leaves(group, *words):
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from leaves(command, *words, name)
        else:
            yield (*words, name), command


COMMANDS = dict(leaves(main))


def require_quiet(text):
    bad = {one for one in text if not (one.isprintable() or one == "\n")}
    assert not bad, (bad, text)


# --- what is hostile --------------------------------------------------------------------------------------------------


class Say(Action):
    does = "agentrt:top"
    utility = 0.5

    async def run(self, ctx, args):
        ctx.set_debug_progress(WORST)
        await ctx.sleep_ticks(2)
        raise ValueError(WORST)


class Crowd:
    """A world in which everything that has a name has that one."""

    name = SIGNS
    summary = WORST

    def make(self, *, seed, host):
        runtime = Runtime(seed, host=host)
        runtime.on_input(WORST, lambda **args: None)
        runtime.after_tick(lambda: runtime.stop() if runtime.tick > 5 else None)
        for name in (WORST, f"{WORST}\n  + forged"):
            runtime.add(Agent(object(), name=name, actions=[Say]))
        return runtime

    def run_headless(self, *, ticks, seed, host, progress, watch=None):
        progress(ticks, ticks, WORST)
        return WorldReport(SIGNS, WORST, (WORST, "b"), ((WORST, 1),), (WORST,))

    def run_live(self, *, seed, speed, watch=None):
        raise AssertionError


class Broken(Crowd):
    """Everything that it is asked for fails."""

    name = "broken"

    def make(self, *, seed, host):
        raise ValueError(WORST)

    def run_headless(self, **_):
        sys.stderr.write(f"{SIGNS}\n")
        logging.StreamHandler(sys.stderr).emit(logging.makeLogRecord({"msg": SIGNS}))
        sys.exit(WORST)


class Wish(Dependency, activity="hostile:wish"):
    """Something."""

    what: str = WORST


class Grant(Strategy):
    __doc__ = f"{SIGNS}\x00"
    provides = Wish

    def estimate(self, ask, wanted):
        return 1.0

    async def run(self, ctx, wanted):
        pass


def record(path: Path, seed: int, note: str) -> Path:
    runtime = Crowd().make(seed=seed, host="plain")
    runtime.record(path, world=SIGNS, meta={"title": WORST})
    for _ in range(6):
        runtime.send(WORST, text=WORST)
        runtime.note(note, **{"and": WORST})
        runtime.step()
    runtime.close(SIGNS)
    return path


@pytest.fixture(scope="module")
def hostile_files(tmp_path_factory):
    """A folder with files of all kinds, under names of the same kind, and a symbolic one of nothing."""
    folder = tmp_path_factory.mktemp("hostile")
    logging.getLogger("agentrt").addHandler(logging.NullHandler())
    record(folder / f"one{OF_A_FILE}.sqlite", 1, WORST)
    record(folder / f"other{OF_A_FILE}.sqlite", 2, f"{WORST}!")
    written = {
        "pack": json.dumps({"actions": [WORST, "m:actions:x\x1b"], WORST: WORST, "ai_packs": [WORST], "type": WORST}),
        "groups": json.dumps({"type": "task_groups", "task_groups": {WORST: {WORST: [WORST]}}}),
        "script": json.dumps([{"tick": 3, "send": WORST, "args": {WORST: WORST}}, {"tick": 3, WORST: 1}]),
        "short": f'{{"actions": ["{SIGNS}"',
    }
    for name, text in written.items():
        (folder / f"{name}{OF_A_FILE}.json").write_text(text, errors="surrogatepass")
    xml = f'<SelectionTree name="a\x9b"><Variables><Variable name="\u202e\x85"/></Variables><{"é"} x="\x7f[red]"/>'
    (folder / f"tree{OF_A_FILE}.xml").write_text(xml)
    (folder / f"noise{OF_A_FILE}").write_bytes(SIGNS.encode() + b"\xff\x00")
    return sorted(folder.iterdir())


class Pretended:
    """An inspector that serves nobody."""

    def __init__(self, *args, **options):
        self.url = f"http://{options.get('address')}/{WORST}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        pass

    def pause(self):
        pass


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    module = ModuleType("pretended_hostile")
    module.crowd, module.broken, module.text = Crowd(), Broken(), WORST
    module.manifest = Manifest("hostile", {"strategies:grant": Grant, "ai_pack:core": {"actions": [WORST]}})
    monkeypatch.setitem(sys.modules, "pretended_hostile", module)
    points = {
        ENTRY_POINT_GROUP: [(SIGNS, "crowd"), ("broken", "broken")],
        "agentrt.strategies": [(SIGNS, "manifest")],
    }
    monkeypatch.setattr(
        importlib.metadata,
        "entry_points",
        lambda *, group: [EntryPoint(name, f"pretended_hostile:{it}", group) for name, it in points.get(group, ())],
    )
    monkeypatch.setattr(agentrt.inspect, "Inspector", Pretended)
    monkeypatch.setattr(commands, "_wait", lambda: None)
    monkeypatch.setattr(click, "launch", lambda url: None)


def run(*args):
    result = CliRunner().invoke(main, [str(arg) for arg in args], color=True)
    require_quiet(result.stdout)
    require_quiet(result.stderr)
    assert isinstance(result.exception, SystemExit | None), result.exception
    return result


# --- everything to everybody ------------------------------------------------------------------------------------------


def values_of(parameter, folder):
    """What a parameter may be given that is quiet, so that another one is looked at."""
    kind = parameter.type
    if isinstance(kind, click.Choice):
        return [kind.choices[0]]
    if parameter.name == "output":
        return [str(folder / f"made{OF_A_FILE}")]
    return ["1"]


def invocations(command, hostile, folder):
    """The arguments of a command: each hostile value as each of its arguments, and at each of its options."""
    arguments = [one for one in command.params if isinstance(one, click.Argument)]
    options = [one for one in command.params if isinstance(one, click.Option)]
    required = [part for one in options if one.required for part in (one.opts[0], values_of(one, folder)[0])]
    many = 2 if any(one.nargs == -1 for one in arguments) else len(arguments)
    for values in itertools.product(hostile, repeat=min(many, 2)):
        yield [*required, "--", *values]
        if command.name != "diff":
            for option in options:
                if option.is_flag:
                    yield [*required, option.opts[0], "--", *values]
            if arguments[1:] or many == 2:
                break
    for option in options:
        if not option.is_flag:
            for value in hostile:
                yield [*required, option.opts[0], value, "--", *hostile[: len(arguments)]]
    yield [f"--{SIGNS}"]
    yield [f"-{SIGNS}", "--", *hostile[:many]]
    yield [SIGNS] * 9


@pytest.mark.states(
    "tools: Outside: No control character reaches a terminal from any command, whatever files, names, recordings, "
    "worlds and arguments hold; a new command is tried, too",
    source="design 10, 11",
)
@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_nothing_controls_the_terminal(words, hostile_files, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hostile = [*map(str, hostile_files), SIGNS, "broken"]
    for args in invocations(COMMANDS[words], hostile, tmp_path):
        run(*words, *args)


def test_every_command_was_found():
    assert len(COMMANDS) >= 10
    assert ("diff",) in COMMANDS
    assert ("packs", "check") in COMMANDS


@pytest.mark.states("tools: Outside: No control character reaches a terminal from any command, whatever files ...")
@pytest.mark.parametrize("words", [[], ["packs"], ["selection"], ["strategies"]], ids=" ".join)
def test_unknown_commands_and_options(words):
    for args in ([SIGNS], [f"--{SIGNS}"], ["--help", SIGNS]):
        run(*words, *args)


# --- what they are to say all the same --------------------------------------------------------------------------------


def test_a_difference_of_hostile_recordings_is_told_line_by_line(hostile_files):
    one, other = (file for file in hostile_files if file.suffix == ".sqlite")
    result = run("diff", one, other)
    assert result.exit_code == 1
    assert "\\x1b]0;pwn\\x07\\x1b[31mred\\x9b2J\\u202e\\x7f\\r\\x85\\u2028[red][link=x]\\x00" in result.stdout
    assert not [line for line in result.stdout.splitlines() if line.startswith("  + forged")]
    same = run("diff", one, one)
    assert same.exit_code == 0


def test_a_replay_of_a_hostile_recording(hostile_files):
    one = next(file for file in hostile_files if file.suffix == ".sqlite")
    result = run("replay", one)
    assert result.exit_code == 1  # the notes came from nowhere
    assert "  - 0 note text='\\x1b]0;pwn" in result.stdout


def texts_in(value):
    if isinstance(value, dict):
        value = [*value, *value.values()]
    if isinstance(value, list):
        for one in value:
            yield from texts_in(one)
    elif isinstance(value, str):
        yield value


@pytest.mark.states(
    "tools: Outside: What is written for other tools stays valid: JSON, exports, generated code",
    source="design 10",
)
@pytest.mark.parametrize("kind", ["perfetto", "otel"])
def test_what_is_printed_for_other_tools_is_valid(hostile_files, kind, tmp_path):
    one = next(file for file in hostile_files if file.suffix == ".sqlite")
    printed = run("export", one, "--to", kind, "-o", "-").stdout
    run("export", one, "--to", kind, "-o", tmp_path / "out")
    for text in (printed, (tmp_path / "out").read_text()):
        told = [json.loads(line) for line in text.splitlines()] if kind == "otel" else [json.loads(text)]
        words = set(texts_in(told))
        assert any(f"{SIGNS}\x00\\ud800" in one for one in words)
        assert "".join(words).isascii() is False
        "".join(words).encode()  # half of a pair is no text to a strict reader


@pytest.mark.states("tools: Outside: What is written for other tools stays valid: JSON, exports, generated code ...")
def test_json_stays_json(hostile_files):
    folder = hostile_files[0].parent
    for args in (["packs", "check"], ["selection", "check"]):
        told = json.loads(run(*args, "--json", folder).stdout)
        assert "\x7f" in str(told["files"]) or "\\x7f" in str(told)
    listed = json.loads(run("strategies", "list", "--json").stdout)
    assert listed["strategies"]


@pytest.mark.states("tools: Outside: What is written for other tools stays valid: JSON, exports, generated code ...")
def test_generated_calls_stay_python():
    compile(run("strategies", "calls").stdout, "calls", "exec")


def test_what_a_world_raises_is_a_quiet_traceback():
    result = run("demo", "--inspect", "broken")
    assert result.exit_code == 1
    assert "Traceback (most recent call last):\n" in result.stderr
    assert "ValueError: \\x1b]0;pwn" in result.stderr


def test_logs_and_the_last_words_of_a_world_are_quiet_too():
    result = run("demo", "--headless", "broken")
    assert result.exit_code == 1
    assert len(re.findall(r"\\x1b\]0;pwn", result.stderr)) >= 2
    assert result.stderr.endswith("\\x00\\ud800\n")


def test_a_terminal_that_knows_few_signs():
    result = CliRunner(charset="ascii").invoke(main, ["demo", "--headless", SIGNS])
    assert "\\u202e" in result.output
    assert CliRunner(charset="ascii").invoke(main, ["demo", "é→"]).exit_code == 2


@pytest.mark.states("tools: Outside: No control character reaches a terminal from any command, whatever files ...")
def test_only_the_door_writes():
    folder = Path(groups.__file__).parent
    for file in folder.glob("*.py"):
        text = file.read_text()
        if file.name == "service.py":  # to a pipe and to a socket, where nobody reads but programs
            text = text.replace("os.write(out, json", "").replace("self.wfile.write(body)", "")
        if file.name != "groups.py":
            assert not re.search(r"\bprint\(|click\.s?echo|\.write\(|sys\.std(out|err)(?!\.isatty)|secho", text), file


@pytest.mark.states("tools: Outside: Nor does one in the live view, in a log line, in the text of an error or in ...")
def test_the_text_of_every_error_of_ours_is_quiet():
    for error in (AgentRTError(f"{WORST}\nand more"), DataFault(WORST, file=WORST, pointer=WORST)):
        require_quiet(str(error))
        require_quiet(error.text)
        error.add_note(f"{WORST}\nand more")
        require_quiet("\n".join(error.__notes__))
    assert str(AgentRTError("one\ntwo")) == "[ART000] one\ntwo"
