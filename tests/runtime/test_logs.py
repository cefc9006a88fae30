"""The log: what comes out of a runtime by itself, what of its trace by wish, and what an author's logger carries."""

from __future__ import annotations

import io
import logging

import pytest
import structlog

from agentrt import TOP, Action, Agent, Entity, Runtime
from agentrt.agent.logs import LEVEL_OF, LEVELS, Log, threshold_of
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.testing import Simulation, stub_action

FAULTS = {TraceEvent.FAULT, TraceEvent.KILLED, TraceEvent.RESTARTED}  # logged where they happen


class Speaks(Action):
    """Says a word in each tick, with a logger that it keeps."""

    does = TOP
    utility = 0.5

    async def run(self, ctx, args):
        log = ctx.get_log()
        while True:
            log.debug("quietly")
            log.info("aloud", number=7)
            await ctx.next_tick()


@pytest.fixture
def heard():
    """What a program gets that configured structlog: (level, event, values)."""
    structlog.reset_defaults()
    with structlog.testing.capture_logs() as captured:
        structlog.configure(processors=structlog.get_config()["processors"])

        def take():
            new = [dict(one) for one in captured]
            captured.clear()
            return [(one.pop("log_level"), one.pop("event"), one) for one in new]

        yield take
    structlog.reset_defaults()


def world(*names, action=None):
    sim = Simulation()
    for name in names or ("Ann",):
        sim.add(Agent(Entity("human", name=name), actions=[action or stub_action(TOP, takes=2)]))
    return sim


# --- quiet ------------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "tools: Test kit and log: The log is quiet by default, and nobody listens for it",
    source="design 7",
)
def test_nothing_of_the_trace_is_said_and_nobody_listens(heard):
    runtime = Runtime(host="plain")
    runtime.add(Agent(Entity("human"), actions=[stub_action(TOP)]))
    assert (runtime.log_level, runtime.trace.on) == (None, False)
    for _ in range(3):
        runtime.step()
    runtime.close()
    assert heard() == []


@pytest.mark.states("tools: Test kit and log: The log is quiet by default, and nobody listens for it ...")
def test_the_bridge_listens_only_while_somebody_wants_something():
    runtime = Runtime(host="plain")
    one, other = (runtime.add(Agent(Entity("human"), name=name)) for name in ("Ann", "Bob"))
    heard = [runtime.trace.on]
    for whom, level in (
        (one, "info"),
        (other, "debug"),
        (one, None),
        (runtime, "off"),
        (other, "off"),
        (runtime, "error"),
    ):
        whom.log_level = level
        heard.append(runtime.trace.on)
    runtime.log_level = None
    assert heard == [False, True, True, True, True, False, True]
    assert not runtime.trace.on
    other.log_level = "debug"
    runtime.step()
    runtime.remove(other)
    runtime.step()
    assert not runtime.trace.on  # nobody is left who wants anything
    runtime.close()


@pytest.mark.states(
    "tools: Test kit and log: The log changes no run, even one whose processors raise",
    source="design 7",
)
def test_the_log_changes_no_run():
    def digest(level):
        sim = world("Ann", "Bob")
        sim.runtime.log_level = level
        sim.tick(20)
        sim.close()
        return sim.digest()

    assert digest("debug") == digest(None)


# --- the bridge -------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "tools: Test kit and log: structlog is one listener of the trace: one bridge, with agent, path and tick",
    source="design 7",
)
def test_what_agents_do_with_agent_path_and_tick(heard):
    sim = world()
    sim.runtime.log_level = "info"
    sim.tick(3)
    sim.runtime.log_level = None
    sim.tick(9)
    place = {"agent": "Ann", "path": "agentrt:top/Top"}
    assert heard() == [
        ("info", "added", {"agent": "Ann", "tick": 1}),
        ("info", "start", {**place, "tick": 1}),
        ("info", "run", {**place, "tick": 1}),
        ("info", "finish", {**place, "tick": 3}),
        ("info", "stop", {**place, "tick": 3}),
        ("info", "complete", {"agent": "Ann", "path": "agentrt:top", "tick": 3, "ticks": 2}),
        ("info", "start", {**place, "tick": 3}),
        ("info", "run", {**place, "tick": 3}),
    ]
    sim.close()


@pytest.mark.states("tools: Test kit and log: structlog is one listener of the trace: one bridge, with agent, path ...")
def test_how_they_come_to_it_and_with_which_figures(heard):
    sim = world()
    sim.runtime.log_level = "debug"
    sim.tick(1)
    told = heard()
    assert [event for _, event, _ in told] == ["added", "ready", "elect", "start", "stop_thinking", "run"]
    assert told[2] == (
        "debug",
        "elect",
        {"agent": "Ann", "path": "agentrt:top", "tick": 1, "action": "Top", "utility": 0.5, "ready": "Top 0.5"},
    )
    sim.close()


@pytest.mark.states("tools: Test kit and log: A level for each agent, which counts for the author's logger too")
def test_a_level_of_one_agent(heard):
    sim = world("Ann", "Bob", "Cid")
    ann, bob, _ = sim.runtime.agents
    sim.runtime.log_level = "info"
    ann.log_level, bob.log_level = "debug", "off"
    sim.tick(1)
    told = [(values["agent"], level) for level, _, values in heard()]
    assert set(told) == {("Ann", "debug"), ("Ann", "info"), ("Cid", "info")}
    ann.log_level = bob.log_level = None
    sim.tick(2)
    assert {(values["agent"], level) for level, _, values in heard()} == {
        (name, "info") for name in ("Ann", "Bob", "Cid")
    }
    sim.close()


def test_an_agent_brings_its_level_with_it_and_takes_it_away(heard):
    agent = Agent(Entity("human"), name="Ann", actions=[stub_action(TOP)])
    agent.log_level = "info"
    sim = Simulation()
    sim.add(agent)
    sim.tick(1)
    assert [event for _, event, _ in heard()] == ["added", "start", "run"]
    sim.runtime.remove(agent)
    sim.tick(1)
    assert [event for _, event, _ in heard()][-1] == "removed"
    assert sim.runtime.logs._of_agents == {}
    assert agent.log_level == "info"
    sim.close()


def test_each_event_is_worth_something_or_is_logged_where_it_happens():
    assert {event for event in TraceEvent if not LEVEL_OF[event]} == FAULTS
    assert {LEVEL_OF[event] for event in TraceEvent} == {"debug", "info", "warning", ""}


def test_a_failure_is_told_once(heard):
    sim = world(action=stub_action(TOP, fails=ValueError("broken")))
    sim.runtime.log_level = "debug"
    sim.tick(3)
    errors = [(event, values["path"]) for level, event, values in heard() if level == "error"]
    assert errors == [("run raised ValueError", "agentrt:top/Top")]
    assert len(sim.faults()) == 1
    sim.close()


@pytest.mark.states("tools: Test kit and log: A level for each agent, which counts for the author's logger too ...")
def test_off_is_silence(heard):
    sim = world(action=stub_action(TOP, fails=ValueError("broken")))
    (agent,) = sim.runtime.agents
    agent.log_level = "off"
    sim.tick(3)
    assert heard() == []
    agent.log_level = None
    sim.runtime.log_level = "off"
    sim.runtime.post(lambda: 1 / 0)
    sim.tick(3)
    assert heard() == []
    sim.runtime.log_level = None
    sim.runtime.post(lambda: 1 / 0)
    sim.tick(1)
    assert [level for level, _, _ in heard()] == ["error"]
    sim.close()


def test_details_that_are_called_like_what_every_event_has(heard):
    runtime = Runtime(host="plain")
    runtime.log_level = "info"
    detail = (("event", 1), ("tick", 2), ("path", 3), ("text", 4))
    runtime.trace.emit(TraceRecord(7, "Ann", "top", TraceEvent.NOTE, detail))
    assert heard() == [
        ("info", "note", {"agent": "Ann", "path": "top", "tick": 7, "event_": 1, "tick_": 2, "path_": 3, "text": 4})
    ]


@pytest.mark.states("tools: Test kit and log: The log changes no run, even one whose processors raise ...")
@pytest.mark.parametrize("is_always_broken", [False, True])
def test_a_processor_that_raises_stops_the_bridge_and_not_the_run(is_always_broken):
    said = []

    def process(_log, _name, event):
        said.append(event["event"])
        if is_always_broken or event["event"] == "start":
            raise ValueError("broken")
        raise structlog.DropEvent

    structlog.reset_defaults()
    try:
        structlog.configure(processors=[process])
        sim = world()
        sim.runtime.log_level = "info"
        sim.tick(5)
    finally:
        structlog.reset_defaults()
    dropped = "a trace listener raised and was dropped"
    assert said == (["added", dropped] if is_always_broken else ["added", "start", dropped])
    sim.tick(5)
    alone = world()
    alone.tick(10)
    assert sim.digest() == alone.digest()
    sim.close()
    alone.close()


@pytest.mark.parametrize("whom", ["agent", "runtime"])
def test_a_level_that_there_is_not(whom):
    sim = world()
    target = sim.runtime if whom == "runtime" else sim.runtime.agents[0]
    with pytest.raises(
        ValueError, match="log_level is 'loud': choose one of debug, info, warning, error, critical, off"
    ):
        target.log_level = "loud"
    assert target.log_level is None
    sim.close()


# --- the logger of an author ------------------------------------------------------------------------------------------


@pytest.mark.states(
    "001: AI contexts: get_log: with entity and debug route; the tick too, of each event",
    source="`get_log`",
)
def test_a_logger_that_is_kept_tells_the_tick_of_each_event(heard):
    sim = world(action=Speaks)
    sim.tick(2)
    place = {"agent": "Ann", "path": "agentrt:top/Speaks", "entity": "Ann"}
    assert heard() == [
        ("debug", "quietly", {**place, "tick": 1}),
        ("info", "aloud", {**place, "tick": 1, "number": 7}),
        ("debug", "quietly", {**place, "tick": 2}),
        ("info", "aloud", {**place, "tick": 2, "number": 7}),
    ]
    sim.close()


@pytest.mark.states("tools: Test kit and log: A level for each agent, which counts for the author's logger too ...")
def test_the_level_counts_for_it_too(heard):
    sim = world(action=Speaks)
    (agent,) = sim.runtime.agents
    agent.log_level = "info"
    sim.tick(2)
    assert [event for _, event, _ in heard() if event in ("quietly", "aloud")] == ["aloud", "aloud"]
    agent.log_level, sim.runtime.log_level = None, "warning"
    sim.tick(2)
    assert heard() == []
    sim.close()


class Nobody:
    """A speaker outside a runtime."""

    def __init__(self, level=None):
        self.level = level

    def log_state(self):
        return threshold_of(self.level), None


def test_a_logger_has_what_structlog_has(heard):
    log = Log(Nobody(), {"agent": "Ann"}).bind(load=7)
    log.warning("full")
    log.bind(load=8).error("fuller")
    assert heard() == [
        ("warning", "full", {"agent": "Ann", "load": 7}),
        ("error", "fuller", {"agent": "Ann", "load": 8}),
    ]
    try:
        raise ValueError("broken")
    except ValueError:
        log.exception("it broke")
    ((level, _, values),) = heard()
    assert (level, values["exc_info"]) == ("error", True)
    assert repr(log) == "<Log: agent='Ann', load=7>"
    assert repr(Log(Nobody(), {})) == "<Log: of nobody>"
    assert not hasattr(log, "__len__")


@pytest.mark.parametrize("level", LEVELS)
def test_what_is_below_the_level_goes_nowhere(heard, level):
    log = Log(Nobody(level), {})
    for name in ("debug", "info", "warning", "error", "critical"):
        getattr(log, name)("x")
    assert [one for one, _, _ in heard()] == [name for name in LEVELS if LEVELS[level] <= LEVELS[name] < 100]
    log.warn("x")
    log.exception("x", exc_info=False)
    assert len(heard()) == (LEVELS[level] <= 30) + (LEVELS[level] <= 40)


def test_without_configuration_logging_decides(caplog):
    sim = world()
    sim.runtime.log_level = "info"
    with caplog.at_level(logging.WARNING):
        sim.tick(1)
    assert caplog.records == []
    with caplog.at_level(logging.INFO, logger="agentrt"):
        sim.tick(2)
    assert [record.getMessage() for record in caplog.records][:1] == [
        "event='finish' agent='Ann' path='agentrt:top/Top' tick=3"
    ]
    assert {record.name for record in caplog.records} == {"agentrt"}
    sim.close()


# --- what reaches a terminal ------------------------------------------------------------------------------------------

WORST = "\x1b]0;pwn\x07\x9b2J\u202e\x7f\ud800"


class Fails(Action):
    """Says what nobody should print, and raises it."""

    does = TOP
    utility = 0.5

    async def run(self, ctx, args):
        log = ctx.get_log()
        log.warning(WORST, text=WORST, **{WORST: WORST}, error=ValueError(WORST))
        log.warning("filled in: %s", WORST)
        try:
            raise KeyError(WORST)
        except KeyError:
            log.exception("as it is raised")
        raise OSError(WORST)


def said_by_a_bad_one():
    sim = world(WORST, action=Fails)
    sim.runtime.log_level = "debug"
    for _ in range(3):
        sim.tick()
    sim.close()


def test_nothing_that_is_logged_controls_a_terminal(caplog):
    structlog.reset_defaults()
    caplog.set_level(logging.DEBUG, logger="agentrt")
    said_by_a_bad_one()
    texts = [record.getMessage() for record in caplog.records]
    assert all(line.isprintable() for text in texts for line in text.splitlines())
    assert sum("\\x1b]0;pwn" in text for text in texts) > 5


@pytest.mark.states("tools: Outside: Nor does one in the live view, in a log line, in the text of an error or in ...")
def test_nor_through_the_structlog_of_a_program():
    out = io.StringIO()
    try:
        structlog.configure(
            processors=[
                structlog.stdlib.PositionalArgumentsFormatter(),
                structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback),
            ],
            logger_factory=structlog.PrintLoggerFactory(out),
            wrapper_class=structlog.stdlib.BoundLogger,
        )
        said_by_a_bad_one()
    finally:
        structlog.reset_defaults()
    bad = {one for one in out.getvalue() if not (one.isprintable() or one == "\n")}
    assert not bad
    assert "OSError: \\x1b]0;pwn" in out.getvalue()
    assert "filled in: \\x1b]0;pwn" in out.getvalue()
    assert "KeyError: '\\x1b]0;pwn" in out.getvalue()


def test_an_error_that_says_nothing_bad_goes_on_as_it_is(heard):
    log = Log(Runtime(host="plain"), {})
    error = ValueError("two\nlines")
    log.error("raised", exc_info=error, what=[1])
    assert heard() == [("error", "raised", {"exc_info": error, "what": [1], "tick": 0})]
