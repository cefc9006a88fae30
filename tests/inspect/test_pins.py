"""Pinned expressions: what they come to and their lines over time, live and in a recording; hostile clients."""

from __future__ import annotations

import json
import shutil
import sqlite3

import pytest
from modules import load

from agentrt import TOP, Action, Agent, Entity, Runtime
from agentrt.inspect import pins as pinning
from agentrt.inspect.protocol import Denial, read
from agentrt.record import Recording
from agentrt.testing import TraceDigest

of = load("tests/inspect/village.py")


def grow_hungry(runtime):
    """Who is the n-th has a hunger that grows by n in each tick, of 1,000, and begins anew."""
    for number, agent in enumerate(runtime.agents, 1):
        agent.values = lambda number=number: {"hunger": runtime.tick * number % 1000 / 1000, "word": "soup"}


def pin(text, agent="Ann"):
    return {"agent": agent, "text": text}


def rows(message):
    return [(row["text"], row["value"], row["error"], row["column"]) for row in message["rows"]]


# --- live -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def hungry(watched):
    grow_hungry(watched.runtime)
    return watched


def test_what_is_pinned_has_a_value_and_a_line(hungry):
    client = hungry.client(pins=[pin("hunger"), pin("hunger > 0.002", "Bob"), pin("word"), pin("hungr"), pin("1 +")])
    hungry.tick()
    hungry.tick(2)
    told = client.told("pins")
    assert [message["tick"] for message in told] == [1, 2, 3]
    assert rows(told[-1]) == [
        ("hunger", 0.003, "", 0),
        ("hunger > 0.002", True, "", 0),
        ("word", "soup", "", 0),
        ("hungr", None, "no value 'hungr' is offered now. Did you mean 'hunger'?", 1),
        ("1 +", None, "a value is expected here, not the end", 4),
    ]
    assert [[row["points"] for row in message["rows"][:3]] for message in told] == [
        [[[1, 0.001]], [[1, 0.0]], [[1, None]]],
        [[[2, 0.002]], [[2, 1.0]], [[2, None]]],
        [[[3, 0.003]], [[3, 1.0]], [[3, None]]],
    ]
    assert [message["rows"][0]["is_new"] for message in told] == [True, False, False]


def test_who_comes_late_is_told_the_line_as_far_as_it_is_kept(hungry, monkeypatch):
    monkeypatch.setattr(pinning, "KEPT_POINTS", 3)
    first = hungry.client(pins=[pin("hunger")])
    hungry.tick(5)
    second = hungry.client(pins=[pin("hunger"), pin("hunger * 2")])
    hungry.tick()
    assert [row["points"] for row in second.last("pins")["rows"]] == [
        [[4, 0.004], [5, 0.005], [6, 0.006]], [[6, 0.012]],
    ]  # fmt: skip
    assert first.last("pins")["rows"][0]["points"] == [[6, 0.006]]
    first.leave()
    second.ask("watch")
    hungry.tick()
    assert second.last("pins")["rows"] == []
    second.ask("watch", pins=[pin("hunger")])
    hungry.tick()
    assert second.last("pins")["rows"][0]["points"] == [[8, 0.008]]  # nobody looked: it begins anew


def test_what_does_not_change_is_not_told_again(hungry):
    client = hungry.client(pins=[pin("hunger")])
    hungry.tick()
    hungry.runtime.gate.pause("for a look")
    for _ in range(3):
        hungry.clock.now += 1.0
        hungry.source.serve()
    assert len(client.told("pins")) == 1
    client.session.forget()
    hungry.clock.now += 1.0
    hungry.source.serve()
    assert client.last("pins")["rows"][0] == {**pin("hunger"), "value": 0.001, "error": "", "column": 0,
                                              "points": [[1, 0.001]], "is_new": True}  # fmt: skip


def test_one_that_cannot_be_shown_spoils_nothing_else(hungry, monkeypatch):
    real = pinning.offered

    def broken(view):
        if view["name"] == "Bob":
            raise RuntimeError("no")
        return real(view)

    monkeypatch.setattr(pinning, "offered", broken)
    client = hungry.client(pins=[pin("hunger", "Bob"), pin("hunger"), pin("hunger", "Nobody")])
    hungry.tick()
    assert [(row["value"], row["error"]) for row in client.last("pins")["rows"]] == [
        (None, "it could not be shown: no"), (0.001, ""), (None, "the agent is not there"),
    ]  # fmt: skip


def test_an_agent_says_all_its_values(hungry):
    client = hungry.client(agent="Ann")
    hungry.tick()
    assert client.last("agent")["values"][0] == ["", "agent", {"hunger": 0.001, "word": "soup"}]
    client.ask("watch", agent="Nobody")
    hungry.tick()
    assert client.last("agent")["values"] == []


@pytest.mark.states("tools: Values: Looking changes nothing ...")
def test_looking_changes_nothing():
    digests = []
    for looks in (False, True):
        runtime = of.make_village()
        grow_hungry(runtime)
        digest = TraceDigest(runtime.trace)
        watched = of.Watched(runtime)
        if looks:
            watched.client(agent="Ann", pins=[pin("hunger > 0.5"), pin("Eat.utility", "Bob")])
        watched.tick(40)
        digests.append(digest.hexdigest())
        watched.source.detach()
        runtime.close()
    assert digests[0] == digests[1]


@pytest.mark.states("tools: Values: What a client pins is bounded, and what is none is refused", source="design 10")
@pytest.mark.parametrize(
    ("pins", "why"),
    [
        (3, "watch: 'pins' has to be a list of at most 24 pins"),
        ([{}] * 25, "watch: 'pins' has to be a list of at most 24 pins"),
        ([None], "watch: 'pins' has to be a list of objects"),
        (["hunger"], "watch: 'pins' has to be an object or null"),
        ([{}], "watch: 'pins.agent' is missing"),
        ([pin("")], "watch: 'pins.text' is missing"),
        ([pin(3)], "watch: 'pins.text' has to be a text of at most 500 characters"),
        ([pin("x" * 501)], "watch: 'pins.text' has to be a text of at most 500 characters"),
    ],
)
def test_what_is_no_pin_is_refused(pins, why):
    assert read(json.dumps({"do": "watch", "pins": pins})) == Denial(why, "bad_message")


def test_what_is_too_long_is_told_so(hungry):
    client = hungry.client(pins=[pin("1" * 400), pin("(" * 290)])
    hungry.tick()
    assert [row["error"] for row in client.last("pins")["rows"]] == [
        "it is longer than 300 characters", "it is nested deeper than 24 levels",
    ]  # fmt: skip


# --- recorded ---------------------------------------------------------------------------------------------------------

TICKS = 400


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    path = tmp_path_factory.mktemp("pins") / "village.sqlite"
    runtime = of.make_village()
    grow_hungry(runtime)
    with runtime.record(path):
        for _ in range(TICKS):
            runtime.step()
    runtime.close()
    return path


@pytest.fixture
def served(recorded):
    served = of.Round(recorded)
    yield served
    served.recording.close()


def test_a_recording_has_the_whole_line(served):
    client = served.client(pins=[pin("hunger"), pin("word == 'soup'")])
    client.ask("at", tick=TICKS)
    served.serve(2)
    told = client.last("pins")
    assert (told["tick"], told["first"], told["last"]) == (TICKS, 1, TICKS)
    assert rows(told) == [("hunger", pytest.approx(0.4, abs=0.02), "", 0), ("word == 'soup'", True, "", 0)]
    line = told["rows"][0]["points"]
    assert [tick for tick, _ in line] == list(range(1, TICKS + 1, 4))
    assert all(0 <= tick / 1000 - value <= 0.02 for tick, value in line)  # as of a game second ago at most
    client.ask("at", tick=7)
    served.serve()
    moved = client.last("pins")
    assert (moved["tick"], moved["rows"][0]["points"], moved["rows"][0]["is_new"]) == (7, [], False)


def test_a_line_is_read_little_by_little(served):
    client = served.client(pins=[pin("hunger")])

    class Busy(of.Clock):
        def __call__(self):
            self.now += 0.006
            return self.now

    served.scene.pins._clock = Busy()
    served.serve(2)
    first = client.last("pins")["rows"][0]["points"]
    assert 1 <= len(first) < 10
    served.serve(60)
    assert len(client.last("pins")["rows"][0]["points"]) == TICKS / 4


class Doze(Action):
    does = TOP
    utility = 0.5

    async def run(self, ctx, args):
        await ctx.sleep_ticks(1000)


@pytest.mark.states("tools: Values: A recording has the values of an agent that sleeps, once in a game second")
def test_values_change_in_a_recording_while_nothing_happens(tmp_path):
    """An agent that sleeps has no records; its values are looked at once in a game second all the same."""
    path = tmp_path / "doze.sqlite"
    runtime = Runtime(3, host="plain")
    ann = runtime.add(Agent(Entity("human", name="Ann"), actions=[Doze]))
    asked = []

    def values():
        asked.append(runtime.tick)
        return {"hunger": runtime.tick} if runtime.tick < 70 else {}

    ann.values = values
    with runtime.record(path):
        for _ in range(120):
            runtime.step()
    runtime.close()
    assert asked == [0, 1, 11, 31, 51, 71, 91, 111]  # with its sunk cost in tick 11 it is looked at anyway
    with Recording.open(path) as recording:
        seen = {tick: recording.view("Ann", tick).get("values") for tick in (1, 30, 31, 70, 71, 120)}
        assert recording.view("Ann", 120)["plan"] == recording.view("Ann", 11)["plan"]
    assert seen == {
        1: {"": {"hunger": 1}}, 30: {"": {"hunger": 11}}, 31: {"": {"hunger": 31}}, 70: {"": {"hunger": 51}},
        71: None, 120: None,
    }  # fmt: skip


def test_a_broken_file_is_an_error_beside_its_pin(recorded, tmp_path):
    path = tmp_path / "broken.sqlite"
    shutil.copy(recorded, path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE views SET data = x'00' WHERE tick > 100 AND agent = (SELECT min(agent) FROM views)")
    connection.close()
    served = of.Round(path)
    client = served.client(pins=[pin("hunger"), pin("hunger", "Bob")])
    client.ask("at", tick=200)
    served.serve(2)
    first, second = client.last("pins")["rows"]
    assert first["value"] is None
    assert "cannot be" in first["error"] or "broken" in first["error"]
    assert (second["value"], second["error"]) == (pytest.approx(0.4, abs=0.04), "")
    served.recording.close()
