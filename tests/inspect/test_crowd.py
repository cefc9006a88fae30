"""All agents at once, live and in a recording: surveys by and by, how many do what over time, who thinks how long."""

from __future__ import annotations

import json
import sqlite3

import pytest
from modules import load

from agentrt import TOP, Action, Agent, Entity, Runtime
from agentrt.inspect import crowd as crowds
from agentrt.inspect.crowd import ThinkTimes, activity_of
from agentrt.inspect.live import LiveSource
from agentrt.record import Recording
from agentrt.testing import TraceDigest

of = load("tests/inspect/village.py")


def hungry(runtime):
    for number, agent in enumerate(runtime.agents, 1):
        agent.values = lambda number=number: {"hunger": runtime.tick * number % 1000 / 1000}


def names(message):
    return [row["name"] if "name" in row else f"[{row['group']}: {row['count']}]" for row in message["rows"]]


class Ticking(of.Clock):
    """Real time that passes while one looks at it: a millisecond at each look."""

    step = 0.001

    def __call__(self):
        self.now += self.step
        return self.now


class Slow(of.Watched):
    """A source whose clock goes on while it works."""

    def __init__(self, runtime):
        self.runtime = runtime
        self.clock = Ticking()
        self.source = LiveSource(runtime, "village", controls=False, clock=self.clock)
        self.source.attach()


# --- live -------------------------------------------------------------------------------------------------------------


def test_a_list_is_sorted_and_grouped_while_the_world_lives(watched):
    hungry(watched.runtime)
    client = watched.client(agents={"group": "kind", "sort": "value", "down": True, "value": "hunger"})
    watched.tick(4)
    message = client.last("agents")
    assert names(message) == ["[cat: 1]", "Cyd", "[human: 2]", "Bob", "Ann"]
    assert (message["matching"], message["length"], message["groups"]) == (3, 5, ["cat", "human"])
    assert [row.get("value") for row in message["rows"]] == [None, 0.009, None, 0.006, 0.003]
    assert message["tick"] == 3  # of the last survey: four times a second at most
    client.ask("watch", agents={"group": "kind", "folded": ["human"], "sort": "name"})
    watched.tick(3)
    assert names(client.last("agents")) == ["[cat: 1]", "Cyd", "[human: 2]"]


def test_rows_say_what_runs_and_what_it_is_worth(watched):
    client = watched.client(agents={"sort": "utility"})
    watched.tick()
    row = client.last("agents")["rows"][0]
    assert (row["doing"], row["utility"], row["states"], row["think"]) == ("eat", 0.5, ["running"], 0.0)
    assert "value" not in row


def test_a_name_that_nobody_offers_is_told(watched):
    client = watched.client(agents={"sort": "value", "value": "hungr"})
    hungry(watched.runtime)
    watched.tick()
    assert client.last("agents")["problem"] == "no value 'hungr' is offered now. Did you mean 'hunger'?"
    client.ask("watch", agents={"sort": "value", "value": "1 +"})
    watched.tick(3)
    assert client.last("agents")["problem"] == "a value is expected here, not the end"


def test_an_expression_reads_actions_as_well(watched):
    client = watched.client(agents={"sort": "value", "value": "Eat.utility + 1"})
    watched.tick()
    assert [row["value"] for row in client.last("agents")["rows"]] == [1.5, 1.5, 1.5]


class Quarrel(Action):
    does = TOP
    utility = 0.5

    async def run(self, ctx, args):
        await ctx.sleep_ticks(2)
        ctx.abort("nobody listens")


def test_who_aborted_lately_is_found_for_ten_seconds():
    runtime = Runtime(3, host="plain")
    quarrel = Agent(Entity("human", name="Ann"), actions=[Quarrel])
    runtime.add(quarrel)
    runtime.add(Agent(Entity("human", name="Bob"), actions=[of.Live, of.Eat, of.Rest]))
    watched = of.Watched(runtime)
    client = watched.client(agents={"states": ["aborted"]})
    watched.tick(6, 0.5)
    assert names(client.last("agents")) == ["Ann"]
    watched.source.detach()
    runtime.close()


@pytest.mark.states(
    "tools: Crowd: A survey of all agents takes a few milliseconds of a tick, whatever their number, and is told of when "
    "it is finished",
    source="design 7",
)
def test_a_survey_of_many_goes_on_from_tick_to_tick():
    runtime = Runtime(3, host="plain")
    for number in range(40):
        runtime.add(Agent(Entity("human", name=f"A{number}"), actions=[of.Live, of.Eat, of.Rest]))
    watched = Slow(runtime)
    client = watched.client(agents={"sort": "name", "down": True})
    watched.tick(3)
    assert client.told("agents") == []  # not yet: each look at the clock takes a millisecond
    watched.tick(20)
    message = client.last("agents")
    assert (message["total"], message["matching"], names(message)[:2]) == (40, 40, ["A39", "A38"])
    assert message["every"] >= 0.25
    watched.source.detach()
    runtime.close()


def test_one_that_cannot_be_shown_keeps_nobody_from_the_rest(watched, monkeypatch):
    from agentrt.inspect import crowd

    real = crowd.summarize

    def broken(agent):
        if agent.name == "Bob":
            raise RuntimeError("no")
        return real(agent)

    monkeypatch.setattr(crowd, "summarize", broken)
    client = watched.client(agents={"sort": "name"})
    watched.tick()
    assert [(row["name"], row["doing"]) for row in client.last("agents")["rows"]] == [
        ("Ann", "eat"), ("Bob", ""), ("Cyd", "eat"),
    ]  # fmt: skip


@pytest.mark.states(
    "tools: Crowd: How many do what is shown over time, live since somebody looks, and over the whole of a recording",
    source="design 7",
)
def test_how_many_do_what_is_counted_since_somebody_looks(watched):
    client = watched.client(crowd={})
    watched.tick(16)
    message = client.last("crowd")
    assert message["names"] == ["eat", "rest"]
    assert message["kinds"] == ["cat", "human"]
    assert message["points"][:4] == [[1, 3, 0, 0], [3, 3, 0, 0], [5, 0, 3, 0], [7, 3, 0, 0]]
    assert (message["first"], message["every"]) == (1, 0.25)
    client.ask("watch", crowd={"kind": "cat"})
    watched.tick(5)
    assert client.last("crowd")["points"][0] == [1, 1, 0, 0]
    client.ask("watch")
    watched.tick(5)
    client.ask("watch", crowd={})
    watched.tick(5)
    assert client.last("crowd")["first"] > 20  # nobody looked: it begins anew


def test_what_few_do_is_put_together():
    runtime = Runtime(3, host="plain")
    for number in range(15):
        does = type(f"Act{number}", (of.Eat,), {"does": TOP, "name": f"act {number:02}", "__module__": __name__})
        runtime.add(Agent(Entity("cat", name=f"A{number}"), actions=[does]))
    watched = of.Watched(runtime)
    client = watched.client(crowd={})
    watched.tick()
    message = client.last("crowd")
    assert message["names"] == [f"act {number:02}" for number in range(11)]
    assert message["points"] == [[1, *[1] * 11, 4]]
    watched.source.detach()
    runtime.close()


# --- thinking ---------------------------------------------------------------------------------------------------------


def test_the_activity_of_a_place():
    assert [activity_of(path) for path in ("agentrt:top", "agentrt:top/Live", "agentrt:top/Live/mod:eat", "goals/x")] == [
        "agentrt:top", "agentrt:top", "mod:eat", "goals",
    ]  # fmt: skip


def test_thinking_is_summed_over_ten_seconds():
    think = ThinkTimes(0.0, 0)
    for second in range(14):
        think.add("Ann", "agentrt:top/Live", 0.001)
        think.add("Ann", "agentrt:top", 0.002)
        if second == 0:
            think.add("Bob", "mod:eat", 0.5)
        think.turn(second + 1.0, second + 1)
    assert think.milliseconds() == {("Ann", "agentrt:top"): 30.0}
    assert (think.ticks, think.of("Ann"), think.of("Bob"), think.agents) == (10, 3.0, 0.0, {"Ann": 30_000_000})


def test_a_world_that_stands_still_keeps_what_was_measured():
    think = ThinkTimes(0.0, 5)
    think.add("Ann", "agentrt:top", 0.002)
    think.turn(1.0, 6)
    for second in range(2, 40):
        think.turn(float(second), 6)
    assert think.milliseconds() == {("Ann", "agentrt:top"): 2.0}


@pytest.mark.states(
    "tools: Crowd: Who thinks how long about what is a map of real time, measured only while somebody looks at it; a "
    "recording counts answers instead, and says so",
    source="design 7",
)
def test_thinking_is_measured_only_while_somebody_looks(watched):
    client = watched.client(crowd={})
    watched.tick(2)
    assert watched.source._crowd.think is None
    client.ask("watch", crowd={"heat": True})
    watched.tick()
    assert watched.source._crowd.think is not None
    client.ask("watch", agents={"sort": "think"})
    watched.tick()
    assert watched.source._crowd.think is not None
    client.leave()
    watched.tick()
    assert watched.source._crowd.think is None


def test_the_map_of_thinking():
    runtime = of.make_village()
    watched = Slow(runtime)
    client = watched.client(crowd={"heat": True}, agents={"sort": "think", "down": True})
    watched.tick(40)
    message = client.last("heat")
    assert (message["unit"], message["seconds"], message["agents"]) == ("ms", 10, 3)
    assert sorted(name for name, _ in message["columns"]) == ["agentrt:top", "mod:eat", "mod:rest"]
    assert sorted(row[0] for row in message["rows"]) == ["Ann", "Bob", "Cyd"]
    assert all(len(row[2]) == 3 and abs(sum(row[2]) - row[1]) < 0.01 for row in message["rows"])
    assert message["ticks"] > 0
    assert client.last("agents")["rows"][0]["think"] > 0
    watched.source.detach()
    runtime.close()


@pytest.mark.states("tools: Crowd: Looking at all agents changes nothing: the digest is the same", source="design 7")
def test_looking_changes_nothing():
    digests = []
    for looks in (False, True):
        runtime = of.make_village()
        hungry(runtime)
        digest = TraceDigest(runtime.trace)
        watched = of.Watched(runtime)
        if looks:
            watched.client(
                agents={"sort": "value", "value": "hunger + Eat.utility", "group": "state"}, crowd={"heat": True}
            )
            watched.client(agents={"sort": "think", "states": ["aborted", "late", "running"]})
        watched.tick(40)
        digests.append(digest.hexdigest())
        watched.source.detach()
        runtime.close()
    assert digests[0] == digests[1]


# --- a recording ------------------------------------------------------------------------------------------------------

TICKS = 300


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp("crowd") / "village.sqlite"
    runtime = of.make_village()
    hungry(runtime)
    truth = {}
    recorder = runtime.record(path)
    for _ in range(TICKS):
        runtime.step()
        truth[runtime.tick] = {agent.name: agent.snapshot().summary() for agent in runtime.agents}
    recorder.close()
    runtime.close()
    return path, truth


@pytest.fixture
def served(recording):
    served = of.Round(recording[0])
    yield served
    served.recording.close()


def test_a_recorded_list_is_sorted_and_grouped(served, recording):
    client = served.client(agents={"sort": "value", "value": "hunger", "down": True, "group": "doing"})
    client.ask("at", tick=100)
    served.serve(2)
    message = client.last("agents")
    doing = recording[1][100]["Ann"].doing
    assert names(message) == [f"[{doing}: 3]", "Cyd", "Bob", "Ann"]
    assert [row["value"] for row in message["rows"][1:]] == [
        0.297,
        0.2,
        0.099,
    ]  # looked at once in a second of the game
    assert (message["tick"], message["unit"]) == (100, "answers")
    count = len(client.told("agents"))
    served.serve(5)
    assert len(client.told("agents")) == count


def test_a_recorded_row_says_the_same_as_a_live_one(served, recording):
    client = served.client(agents={"sort": "name"})
    for tick in (2, 77, 199):
        client.ask("at", tick=tick)
        served.serve(2)
        rows = client.last("agents")["rows"]
        told = [{key: row[key] for key in recording[1][tick]["Ann"].as_json()} for row in rows]
        assert told == [one.as_json() for one in recording[1][tick].values()]


@pytest.mark.states("tools: Crowd: A chart in which not all agents are counted says how many are")
def test_who_did_too_much_is_not_counted_and_that_is_said(served, monkeypatch):
    client = served.client(crowd={})
    served.serve(10)
    assert [client.last("crowd")[name] for name in ("read", "agents", "counted")] == [3, 3, 3]
    kept = sum(len(ticks) for ticks, _ in served.scene.crowd._lines._changes.values())
    monkeypatch.setattr(crowds, "_MOST_LINES", kept - 1)
    few = of.Round(served.recording.path)
    other = few.client(crowd={})
    few.serve(10)
    assert [other.last("crowd")[name] for name in ("read", "agents", "counted")] == [3, 3, 2]
    few.recording.close()


def test_how_often_thinking_had_an_answer_is_counted(served):
    client = served.client(agents={"sort": "think", "down": True}, crowd={"heat": True})
    client.ask("at", tick=250)
    served.serve(4)
    message = client.last("heat")
    assert (message["unit"], message["ticks"], message["tick"]) == ("answers", 200, 250)
    counted = {}
    with Recording.open(served.recording.path) as file:
        for record in file.records(51, 250, events=["ready", "reject"]):
            counted[record.agent] = counted.get(record.agent, 0) + 1
    assert {name: total for name, total, _ in message["rows"]} == counted
    assert [row["think"] for row in client.last("agents")["rows"]] == sorted(counted.values(), reverse=True)
    client.ask("watch", crowd={"heat": True, "kind": "cat"})
    served.serve(4)
    assert [row[0] for row in client.last("heat")["rows"]] == ["Cyd"]


def test_the_chart_of_a_recording_has_all_of_it(served, recording):
    client = served.client(crowd={})
    served.serve(30)
    message = client.last("crowd")
    assert (message["first"], message["last"], message["every"]) == (1, TICKS, 0.0)
    assert len(message["points"]) == message["of"] == 150
    for tick, *counts in message["points"]:
        told = dict(zip([*message["names"], "others"], counts, strict=True))
        doing = [one.doing for one in recording[1][tick].values()]
        assert {name: count for name, count in told.items() if count} == {one: doing.count(one) for one in doing}


def test_what_is_read_by_and_by_comes_to_its_end(recording):
    served = of.Round(recording[0])
    served.clock = Ticking()
    served.source._clock = served.clock
    served.scene.crowd._clock = served.clock
    client = served.client(agents={"sort": "state"}, crowd={"heat": True})
    served.serve(60)
    assert client.last("agents")["matching"] == 3
    assert client.last("crowd")["points"]
    assert client.last("heat")["rows"]
    client.ask("play")
    client.ask("speed", speed=4)
    served.serve(20)
    ticks = [message["tick"] for message in client.told("agents")]
    assert len(set(ticks)) > 3  # who plays on is told of ticks that are over, and not of none
    served.recording.close()


def test_a_list_that_is_waited_for_is_read_before_what_makes_others_quick(recording):
    served = of.Round(recording[0])
    served.clock = Ticking()
    served.clock.step = 0.015  # two looks, and the round is over
    served.source._clock = served.clock
    served.scene.crowd._clock = served.clock
    client = served.client(agents={"sort": "utility"})
    client.ask("at", tick=50)
    rounds = 0
    while not client.told("agents"):
        served.serve(1)
        rounds += 1
        assert rounds < 30
    assert served.scene.crowd._lines.read < 3
    told = [(message["read"], message["of"]) for message in client.told("reading")]
    assert told == sorted(told)
    assert {of for _, of in told} == {3}
    assert client.last("agents")["tick"] == 50
    served.recording.close()


def test_a_broken_view_is_told_once_and_the_rest_is_shown(recording, tmp_path):
    path = tmp_path / "broken.sqlite"
    path.write_bytes(recording[0].read_bytes())
    with sqlite3.connect(path) as file:
        file.execute("UPDATE views SET data = x'00' WHERE agent = 2")
    served = of.Round(path)
    client = served.client(agents={"sort": "name"}, crowd={"heat": True})
    client.ask("at", tick=50)
    served.serve(10)
    assert names(client.last("agents")) == ["Ann", "Bob", "Cyd"]
    assert client.last("agents")["rows"][1]["doing"] == ""
    assert len(client.told("error")) == 1
    assert client.last("crowd")["points"][0][1:] != [3]
    served.recording.close()


def test_what_is_told_is_bounded_and_plain(served):
    client = served.client(agents={"sort": "value", "value": "1 / 0"}, crowd={"heat": True})
    served.serve(10)
    assert client.last("agents")["problem"] == "it is divided by zero here"
    assert len(json.dumps(client.messages)) < 200_000
