"""Breakpoints on what is so: conditions, aborts, waits, late ticks; what they cost; the file in which they are kept."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from modules import load

from agentrt.errors import DataFault, InspectorError
from agentrt.inspect import Inspector
from agentrt.inspect.breakpoints import (
    MOST_BREAKPOINTS,
    MOST_LOOKED_AT,
    Breakpoint,
    BreakpointFile,
    Breakpoints,
    breakpoints_schema,
)
from agentrt.inspect.live import LiveSource
from agentrt.inspect.protocol import BREAK_KINDS
from agentrt.kernel.trace import TraceDigest
from agentrt.record.hands import HAND, lay_hands

of = load("tests/inspect/village.py")


def points_of(client):
    return client.last("state")["breakpoints"]


def hungry(village, every=10):
    for agent in village.agents:
        agent.values = lambda: {"hunger": village.tick % every / every}


@pytest.mark.states("tools: Inspector: A breakpoint on a condition stops when it comes true, and tells what was so")
def test_a_condition(watched):
    village = watched.runtime
    hungry(village)
    client = watched.client()
    client.ask("break", kind="condition", name="hunger > 0.75", agent="Bob")
    watched.tick(30)
    assert village.tick == 8
    state = client.last("state")
    assert state["reason"] == "breakpoint: condition hunger > 0.75 of Bob (Bob)"
    (point,) = state["breakpoints"]
    assert (point["hits"], point["last"], point["place"]) == (1, "tick 8 Bob", ["Bob", ""])
    assert point["was"] == [["hunger", "0.8"]]
    client.ask("resume")
    watched.tick(30)
    assert village.tick == 18  # in tick 9 it is true still, and is no news


def test_a_condition_over_all_agents_and_all_that_is_offered(watched):
    client = watched.client()
    client.ask("break", kind="condition", name="Rest.utility > 0.4")
    watched.tick(30)
    assert watched.runtime.tick < 30
    (point,) = points_of(client)
    assert point["was"] == [["Rest.utility", "0.5"]]


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("hunger", "it comes to 0.1, and not to true or false: write for example hunger > 0.8"),
        ("thirst > 1", "Ann, column 1: no value 'thirst' is offered now. Offered: hunger."),
        (
            "hunger and true",
            "Ann, column 8: 'and' takes true or false, and here is 0.1. Compare it, as in: hunger > 0.8",
        ),
        ("1 / (hunger - hunger) > 1", "Ann, column 3: it is divided by zero here"),
    ],
)
def test_one_that_has_no_value_says_so_and_stops_nothing(watched, name, error):
    hungry(watched.runtime)
    client = watched.client()
    watched.runtime.find("Ann").steer(frozenset({"Live"}), frozenset())  # nothing else is offered
    client.ask("break", kind="condition", name=name, agent="Ann")
    watched.tick(1)
    watched.tick(10)
    assert watched.runtime.tick == 11
    (point,) = points_of(client)
    assert point["hits"] == 0
    assert point["error"].startswith(error[:20])


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        ("condition", "hunger >", "column 9: a value is expected here, not the end"),
        ("condition", "__import__('os')", "column 1: there is no function"),
        ("condition", "(" * 100 + "1", "nested deeper than 24 levels"),
        ("condition", "a" * 400, "longer than 300 characters"),
        ("waits", "long", "a number of game seconds, and not 'long'"),
        ("waits", "nan", "a number of game seconds"),
        ("waits", "-1", "a number of game seconds"),
        ("waits", "1e300", "a number of game seconds"),
        ("late", "x", "late takes no name"),
    ],
)
def test_one_that_is_wrong_is_refused(watched, kind, name, words):
    client = watched.client()
    client.ask("break", kind=kind, name=name)
    watched.tick(2)
    (error,) = client.told("error")
    assert error["code"] == "bad_breakpoint"
    assert words in error["message"]
    assert points_of(client) == []


@pytest.mark.states("tools: Inspector: Breakpoints on an abort, a long wait and a late tick")
def test_an_abort(watched):
    lay_hands(watched.runtime)
    client = watched.client()
    client.ask("break", kind="aborts", name="", agent="Bob")
    watched.tick(3)
    watched.runtime.send(HAND, edit={"abort": "plan", "agent": "Ann"})
    watched.tick(2)
    assert watched.runtime.tick == 5
    watched.runtime.send(HAND, edit={"abort": "plan", "agent": "Bob"})
    watched.tick(5)
    assert watched.runtime.tick == 6
    (point,) = points_of(client)
    assert point["was"] == [["reason", "aborted by hand"]]
    assert client.last("state")["reason"] == "breakpoint: aborts of Bob (Bob agentrt:top)"


def test_a_long_wait(watched):
    # Ann and Cyd begin or end something at least each third tick; a second is twenty.
    client = watched.client()
    client.ask("break", kind="waits", name="0.2", agent="Ann")
    watched.tick(20)
    assert watched.runtime.tick == 20
    watched.runtime.find("Ann").steer(frozenset({"Eat", "Rest", "Live"}), frozenset())
    watched.tick(20)
    (point,) = points_of(client)
    assert (watched.runtime.tick, point["hits"]) == (26, 1)
    assert point["was"] == [["waits", "0.25 s"], ["since tick", "21"]]
    client.ask("resume")
    watched.tick(20)
    assert watched.runtime.tick == 46  # it waits on, and that is no news


def test_a_late_tick(watched, monkeypatch):
    late = itertools.chain([0, 0, 0, 1, 1], itertools.repeat(2))
    monkeypatch.setattr(type(watched.runtime), "late_ticks", property(lambda _self: late_now[0]))
    late_now = [0]
    client = watched.client()
    client.ask("break", kind="late", name="", agent="Ann")
    for _ in range(8):
        late_now[0] = next(late)
        if not watched.tick():
            break
    assert client.last("state")["reason"] == "breakpoint: late tick"
    (point,) = points_of(client)
    assert (point["agent"], point["hits"], point["was"][1]) == ("", 1, ["late ticks", "1"])


@pytest.mark.states("tools: Inspector: A breakpoint that is disabled is kept, and stops nothing")
def test_disabled_ones_cost_nothing(watched):
    client = watched.client()
    client.ask("break", kind="action", name="Eat")
    client.ask("arm", id=1, on=False)
    client.ask("arm", id=7, on=True)
    watched.tick(10)
    assert watched.runtime.tick == 10
    assert client.errors() == ["unknown_breakpoint"]
    assert not points_of(client)[0]["enabled"]
    client.leave()
    watched.tick(2)
    assert not watched.runtime.trace.on
    other = watched.client()
    other.ask("arm", id=1, on=True)
    watched.tick(10)
    assert watched.runtime.gate.is_closed


@pytest.mark.states("tools: Inspector: Looking for conditions is bounded in each tick, and goes on in the next one")
def test_looking_is_bounded():
    village = of.make_village(names=tuple(f"A{number}" for number in range(MOST_LOOKED_AT + 50)))
    asked = []
    for agent in village.agents:
        agent.values = lambda name=agent.name: asked.append(name) or {"hunger": 0.0}
    village.step()
    points = Breakpoints()
    points.obey("break", {"kind": "condition", "name": "hunger > 1", "agent": ""}, village)
    points.look(village, lambda: 0.0)
    assert len(asked) == MOST_LOOKED_AT
    points.look(village, lambda: 0.0)
    assert len(set(asked)) == MOST_LOOKED_AT + 50
    asked.clear()
    ticking = itertools.count()
    points.look(village, lambda: float(next(ticking)))  # each look takes a second
    assert len(asked) == 1
    village.close()


@pytest.mark.states("tools: Inspector: Watching never changes the run: the digest is the same whatever clients ask ...")
def test_looking_for_breakpoints_changes_no_digest():
    def run(*points):
        village = of.make_village()
        hungry(village)
        digest = TraceDigest(village.trace)
        watched = of.Watched(village)
        client = watched.client()
        for kind, name in points:
            client.ask("break", kind=kind, name=name)
        watched.tick(60)
        found = village.tick, digest.hexdigest()
        watched.source.detach()
        village.close()
        return found

    never = [("condition", "hunger > 2"), ("condition", "Rest.utility > 9 or thirst"), ("waits", "90"), ("late", "")]
    assert run() == run(*never)
    assert run()[0] == 60


def test_hooks_that_fail_keep_nobody_from_the_rest(watched):
    hungry(watched.runtime)
    watched.runtime.find("Ann").values = lambda: 1 / 0
    watched.runtime.find("Bob").values = lambda: {"hunger": object()}
    client = watched.client()
    client.ask("break", kind="condition", name="hunger > 0.55")
    watched.tick(30)
    assert watched.runtime.tick == 6
    assert points_of(client)[0]["last"] == "tick 6 Cyd"


# --- a file -----------------------------------------------------------------------------------------------------------


@pytest.mark.states("tools: Inspector: Breakpoints are kept in a file that people can read, and survive a restart")
def test_they_survive_a_restart(village, tmp_path):
    path = tmp_path / "stops.json"
    clock = of.Clock()
    source = LiveSource(village, "village", controls=True, clock=clock, breakpoints=BreakpointFile(path))
    source.attach()
    client = of.Client(source)
    for fields in (
        {"kind": "condition", "name": "hunger > 0.8", "agent": "Ann"},
        {"kind": "action", "name": "Never"},
        {"kind": "waits", "name": "5000"},
        {"kind": "late", "name": ""},
    ):
        client.ask("break", **fields)
    client.ask("arm", id=2, on=False)
    village.step()
    assert client.errors() == []
    source.detach()
    assert path.read_text() == (
        '{\n  "breakpoints": [\n'
        '    {"kind": "condition", "when": "hunger > 0.8", "agent": "Ann"},\n'
        '    {"kind": "action", "name": "Never", "enabled": false},\n'
        '    {"kind": "waits", "seconds": 5000.0},\n'
        '    {"kind": "late"}\n  ]\n}\n'
    )
    assert [one.name for one in tmp_path.iterdir()] == ["stops.json"]
    again = LiveSource(village, "village", controls=True, clock=clock, breakpoints=BreakpointFile(path))
    again.attach()
    assert village.trace.on  # they listen, though nobody looks
    client = of.Client(again)
    clock.now += 1
    village.step()
    assert [(one["kind"], one["name"], one["enabled"]) for one in points_of(client)] == [
        ("condition", "hunger > 0.8", True), ("action", "Never", False), ("waits", "5000", True), ("late", "", True),
    ]  # fmt: skip
    again.detach()


SCHEMA = Draft202012Validator(json.loads(breakpoints_schema()))
WRONG = [
    ([], "", "it has no list of breakpoints"),
    ({"breakpoints": {}}, "", "it has no list of breakpoints"),
    ({"breakpoints": [], "breakpoint": 1}, "", "a key 'breakpoint' that does not belong there"),
    ({"breakpoints": [3]}, "/breakpoints/0", "a breakpoint is an object"),
    ({"breakpoints": [{}]}, "/breakpoints/0/kind", "'kind' is None"),
    ({"breakpoints": [{"kind": "Condition", "when": "a"}]}, "/breakpoints/0/kind", "Did you mean 'condition'?"),
    ({"breakpoints": [{"kind": "action"}]}, "/breakpoints/0/name", "the name of what starts is missing"),
    ({"breakpoints": [{"kind": "action", "name": 3}]}, "/breakpoints/0/name", "'name' is a text"),
    ({"breakpoints": [{"kind": "action", "when": "x"}]}, "/breakpoints/0", "a key 'when'"),
    ({"breakpoints": [{"kind": "waits", "seconds": 0}]}, "/breakpoints/0/seconds", "a number of game seconds"),
    ({"breakpoints": [{"kind": "late", "agent": "Ann"}]}, "/breakpoints/0", "a key 'agent'"),
    ({"breakpoints": [{"kind": "late", "enabled": 1}]}, "/breakpoints/0/enabled", "'enabled' is true or false"),
]


@pytest.mark.parametrize(("data", "pointer", "text"), WRONG)
def test_what_is_wrong_with_a_file(tmp_path, data, pointer, text):
    path = tmp_path / "stops.json"
    path.write_text(json.dumps(data))
    with pytest.raises(DataFault) as caught:
        BreakpointFile(path).read()
    assert text in caught.value.text
    assert (caught.value.file, caught.value.pointer) == (str(path), pointer)
    assert not SCHEMA.is_valid(data)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"{", "it is no JSON"),
        (b"[" * 100_000, "it is no JSON"),
        (b"\xff", "it is no JSON"),
        (b" " * 300_000, "longer"),
    ],
)
def test_a_file_that_is_none(tmp_path, raw, text):
    path = tmp_path / "stops.json"
    path.write_bytes(raw)
    with pytest.raises(DataFault, match=text):
        BreakpointFile(path).read()
    with pytest.raises(DataFault, match="cannot be read"):
        BreakpointFile(tmp_path).read()


anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
rows = st.dictionaries(
    st.sampled_from(["kind", "name", "when", "seconds", "agent", "enabled"]),
    anything | st.sampled_from([*BREAK_KINDS, "hunger > 1"]),
)


@given(st.fixed_dictionaries({"breakpoints": st.lists(rows, max_size=3)}) | anything)
def test_whatever_a_file_has_it_is_read_or_a_fault(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(data))
    try:
        read = BreakpointFile(path).read()
    except DataFault:
        return
    BreakpointFile(path).write([Breakpoint(1, kind, name, agent, is_on) for kind, name, agent, is_on in read])
    assert BreakpointFile(path).read() == read
    assert SCHEMA.is_valid(json.loads(path.read_text()))


def test_a_file_that_cannot_be_written_is_told(village, tmp_path):
    path = tmp_path / "gone" / "stops.json"
    source = LiveSource(village, "village", controls=True, clock=of.Clock(), breakpoints=BreakpointFile(path))
    source.attach()
    client = of.Client(source)
    client.ask("break", kind="action", name="Never")
    village.step()
    assert client.errors() == ["not_kept"]
    assert len(points_of(client)) == 1  # it is set all the same
    source.detach()


def test_too_many(tmp_path):
    path = tmp_path / "stops.json"
    row = {"kind": "late"}
    path.write_text(json.dumps({"breakpoints": [row] * (MOST_BREAKPOINTS + 1)}))
    with pytest.raises(DataFault, match="more than 64"):
        BreakpointFile(path).read()


def test_a_file_needs_controls(village, tmp_path):
    with pytest.raises(InspectorError, match="controls"):
        Inspector(village, breakpoints=tmp_path / "stops.json")
