"""A runtime that lives, and its clients: what is composed, when, and that only what is looked at is."""

from __future__ import annotations

import itertools

import pytest

from agentrt import Agent, Entity
from agentrt.inspect import live as composing
from agentrt.inspect.live import KEPT_RECORDS, Ring, began_before
from agentrt.record.ring import packed, unpacked
from agentrt.runtime.intake import Reloaded


def test_what_a_client_is_told_first(watched):
    watched.tick(3)
    hello, state = watched.source.greeting()
    assert hello == {
        "is": "hello", "protocol": 1, "agentrt": hello["agentrt"], "source": "live", "title": "village",
        "controls": True, "ticks_per_second": 20, "tick": 3, "first_tick": 0, "last_tick": 3, "unreplayable": [],
        "editing": hello["editing"],
    }  # fmt: skip
    assert (state["is"], state["tick"]) == ("state", 0)  # what was seen when it began: nobody looked since


def test_the_state(watched):
    watched.tick(2)
    client = watched.client()
    watched.tick(3)
    state = client.last("state")
    assert {key: state[key] for key in ("tick", "seconds", "paused", "reason", "speed", "late_ticks", "agents")} == {
        "tick": 5, "seconds": 0.25, "paused": False, "reason": "", "speed": 1.0, "late_ticks": 0, "agents": 3,
    }  # fmt: skip
    assert state["strands"] == watched.runtime.kernel.live
    assert state["search"] == {"budget": None, "used": 0, "waiting": 0}
    assert (state["breakpoints"], state["dropped"]) == ([], 0)
    assert state["history"]["tick"] == [4, 5]  # listening began at the end of tick 3


@pytest.mark.states("tools: Inspector: Only what is looked at is composed and sent, at most ten times a second ...")
def test_it_tells_ten_times_a_second_of_real_time(watched):
    client = watched.client()
    watched.tick(100, seconds=0.01)
    assert 9 <= client.batches <= 12


@pytest.mark.states("tools: Inspector: Only what is looked at is composed and sent, at most ten times a second ...")
def test_nothing_new_is_not_told(watched):
    watched.runtime.gate.pause()
    client = watched.client(agents={}, agent="Ann")
    for _ in range(20):
        watched.tick()
    assert {kind: len(client.told(kind)) for kind in ("state", "agents", "agent")} == {
        "state": 1, "agents": 1, "agent": 1,
    }  # fmt: skip


# --- agents -----------------------------------------------------------------------------------------------------------


def test_the_list(watched):
    client = watched.client(agents={})
    watched.tick(1)
    message = client.last("agents")
    assert (message["total"], message["matching"], message["offset"]) == (3, 3, 0)
    assert [(row["name"], row["kind"], row["models"], row["alive"]) for row in message["rows"]] == [
        ("Ann", "human", ["plan"], True),
        ("Bob", "human", ["plan", "goals", "behavior"], True),
        ("Cyd", "cat", ["plan"], True),
    ]
    assert message["rows"][0]["doing"] == "eat"


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({"filter": "NN"}, ["Ann"]),
        ({"filter": "cat"}, ["Cyd"]),
        ({"kind": "human"}, ["Ann", "Bob"]),
        ({"kind": "hum"}, []),
        ({"running": "MOD:EAT"}, ["Ann", "Bob", "Cyd"]),
        ({"running": "mod:rest"}, []),
        ({"offset": 1, "limit": 1}, ["Bob"]),
        ({"running": "eat", "offset": 2, "limit": 5}, ["Cyd"]),
        ({"offset": 5}, []),
        ({"limit": 0}, []),
    ],
)
def test_searching(watched, query, names):
    watched.tick(2)
    client = watched.client(agents=query)
    watched.tick()
    message = client.last("agents")
    assert [row["name"] for row in message["rows"]] == names
    assert message["total"] == 3
    if not {"offset", "limit"} & set(query):
        assert message["matching"] == len(names)


@pytest.mark.states(
    "tools: Inspector: Only what is looked at is composed and sent, at most ten times a second",
    source="design 7",
)
def test_only_the_page_is_composed(watched, monkeypatch):
    asked = []
    real = composing.summarize
    monkeypatch.setattr(composing, "summarize", lambda agent: asked.append(agent.name) or real(agent))
    watched.client(agents={"offset": 1, "limit": 1})
    watched.tick()
    assert asked == ["Bob"]


def test_the_list_is_made_twice_a_second_unless_it_is_another_one(watched):
    client = watched.client(agents={})
    watched.tick(10)
    assert len(client.told("agents")) <= 3
    count = len(client.told("agents"))
    client.ask("watch", agents={"filter": "ann"})
    watched.tick()
    assert len(client.told("agents")) == count + 1


@pytest.mark.states(
    "001: Overview, inspector: The inspector is a page that shows the tree of a running agent as it changes, with the "
    "debug texts, progress and data of its actions (ours: in the browser)",
)
def test_one_agent(watched):
    watched.tick(1)
    client = watched.client(agent="Bob")
    watched.tick()
    message = client.last("agent")
    bob = watched.runtime.find("Bob")
    assert message["snapshot"] == bob.snapshot().as_json()
    assert message["explain"] == bob.explain()
    assert (message["name"], message["tick"]) == ("Bob", 2)
    assert list(message["outlines"]) == ["tree"]


def test_outlines_are_sent_when_they_are_new(watched):
    client = watched.client(agent="Bob")
    watched.tick(12)
    messages = client.told("agent")
    assert [bool(message["outlines"]) for message in messages] == [True] + [False] * (len(messages) - 1)
    client.ask("watch", agent="Ann")
    watched.tick()
    client.ask("watch", agent="Bob")
    watched.tick()
    assert client.last("agent")["outlines"]


def test_an_agent_is_told_only_when_it_changed(watched):
    client = watched.client(agent="Ann")
    watched.tick(20)
    ticks = [message["tick"] for message in client.told("agent")]
    # It eats for three ticks and rests for two; a boost of its utility is told, too.
    assert 2 < len(ticks) < 15
    views = [{**message["snapshot"], "tick": 0, "seconds": 0} for message in client.told("agent")]
    assert all(one != other for one, other in itertools.pairwise(views))


def test_two_clients_look_at_one_agent_and_it_is_looked_at_once(watched, monkeypatch):
    asked = []
    real = composing.snapshot_agent
    monkeypatch.setattr(composing, "snapshot_agent", lambda agent: asked.append(agent.name) or real(agent))
    clients = [watched.client(agent="Ann") for _ in range(3)]
    watched.tick()
    assert asked == ["Ann"]
    assert all(client.last("agent")["name"] == "Ann" for client in clients)


def test_an_agent_that_ends_while_it_is_looked_at(watched):
    client = watched.client(agent="Ann")
    watched.tick(2)
    assert client.last("agent")["snapshot"] is not None
    watched.runtime.remove(watched.runtime.find("Ann"))
    watched.tick(2)
    assert client.last("agent")["snapshot"] is None
    assert client.last("agent")["explain"] == ""
    watched.runtime.add(Agent(Entity("human", name="Ann")))  # the name was given: it is another one
    watched.tick(2)
    assert client.last("agent")["snapshot"] is None


# --- events -----------------------------------------------------------------------------------------------------------


def heard(watched):
    records = []
    watched.runtime.trace.listen(records.append)
    return records


def test_events_come_once_and_in_order(watched):
    client = watched.client(events={})
    watched.tick(1)
    records = heard(watched)
    watched.tick(30)
    assert client.records() == [
        [record.tick, record.agent, record.path, record.event.value, dict(record.detail)] for record in records
    ]
    assert [message["reset"] for message in client.told("events")][:3] == [True, False, False]


@pytest.mark.parametrize(
    ("query", "fits"),
    [
        ({"agent": "Bob"}, lambda row: row[1] == "Bob"),
        ({"events": ["run", "finish"]}, lambda row: row[3] in ("run", "finish")),
        ({"events": []}, lambda row: False),
        ({"text": "MOD:REST"}, lambda row: "mod:rest" in row[2]),
        ({"agent": "Nobody"}, lambda row: False),
    ],
)
def test_only_those_that_are_looked_for(watched, query, fits):
    everything, some = watched.client(events={}), watched.client(events=query)
    watched.tick(20)
    assert some.records() == [row for row in everything.records() if fits(row)]


def test_who_looks_anew_is_told_the_newest(watched):
    watched.client()
    watched.tick(20)
    late = watched.client(events={"events": ["run"]})
    watched.tick()
    (message,) = late.told("events")
    assert message["reset"]
    ticks = [row[0] for row in message["records"] if row[1] == "Ann" and row[2].endswith("/mod:eat/Eat")]
    assert ticks == [6, 11, 16, 21]
    assert {row[3] for row in message["records"]} == {"run"}
    late.ask("watch", events={"events": ["finish"]})
    watched.tick()
    assert [message["reset"] for message in late.told("events")] == [True, True]


@pytest.mark.states("tools: Inspector: Queues outward are bounded and tell what they dropped ...")
def test_what_the_ring_has_dropped_is_counted(watched):
    client = watched.client(events={"events": ["note"]})
    watched.tick()
    client.reads = False
    watched.tick()
    for number in range(2 * KEPT_RECORDS + 10):
        watched.runtime.note("n", number=number)
    watched.tick(1)
    watched.tick(1)
    client.session.arrived()
    watched.tick(2)
    message = client.last("events")
    assert message["missed"] > KEPT_RECORDS
    assert len(message["records"]) == 500
    assert message["records"][-1][4]["number"] == 2 * KEPT_RECORDS + 9
    assert len(watched.source._history.records.since(0)) <= 2 * KEPT_RECORDS
    watched.tick(2)
    assert client.last("state")["dropped"] >= message["missed"]


# --- the time line ----------------------------------------------------------------------------------------------------


def test_a_time_line(watched):
    client = watched.client(timeline={"agent": "Ann"})
    watched.tick(12)
    message = client.last("timeline")
    assert (message["agent"], message["first"], message["last"], message["now"]) == ("Ann", 0, 12, 12)
    eaten = [span[4:] for span in message["spans"] if span[3] == "Eat"]
    assert eaten[0][1] - eaten[0][0] == 3
    assert eaten[0][2] == "finished"
    assert message["spans"][-1][6] == "open"


@pytest.mark.states("tools: Inspector: It attaches late, and shows since when things run")
def test_who_comes_late_sees_what_was_running(watched):
    watched.tick(2)
    assert watched.runtime.find("Ann").snapshot().running == "agentrt:top/Live/mod:eat/Eat"
    client = watched.client(timeline={"agent": "Ann"})
    watched.tick()
    assert client.last("timeline")["spans"] == [
        ["plan", 0, "agentrt:top/Live", "Live", 1, None, "open"],
        ["plan", 1, "agentrt:top/Live/mod:eat/Eat", "Eat", 1, None, "open"],
    ]
    watched.tick(8)
    assert client.last("timeline")["spans"][0] == ["plan", 1, "agentrt:top/Live/mod:eat/Eat", "Eat", 1, 4, "finished"]


def test_what_began_before_in_the_order_in_which_it_began(watched):
    watched.tick(6)
    records = began_before(watched.runtime.find("Bob").snapshot())
    assert [(record.tick, record.path, record.event.value) for record in records] == [
        (1, "tree/ROOT", "activate"),
        (5, "goals/Stare", "start"),
        (6, "agentrt:top/Live", "run"),
        (6, "agentrt:top/Live/mod:eat/Eat", "run"),
        (6, "tree/ROOT/AWAKE", "activate"),
    ]


@pytest.mark.states("tools: Inspector: It attaches late, and shows since when things run ...")
@pytest.mark.parametrize("ticks", range(11, 17))
def test_late_and_early_see_the_same_line(watched, ticks):
    watched.tick(7)
    early = watched.client(timeline={"agent": "Bob"})
    watched.tick(ticks)
    watched.runtime.gate.pause()
    watched.tick(5)
    early.ask("watch")  # so that the line is folded anew
    watched.tick(2)
    late = watched.client(timeline={"agent": "Bob"})
    watched.tick(2)

    def spans(client):
        """What began since somebody listens; of what was there before, only what goes on is known to the late one."""
        return sorted(repr(span) for span in client.last("timeline")["spans"] if span[4] >= 11 or span[5] is None)

    assert spans(late) == spans(early)
    assert {span[0] for span in late.last("timeline")["spans"]} >= {"plan", "tree"}


def test_a_part_of_a_time_line(watched):
    watched.client()
    watched.tick(20)
    client = watched.client(timeline={"agent": "Ann", "first": 8, "last": 9})
    watched.tick()
    spans = client.last("timeline")["spans"]
    assert spans
    assert all(span[4] <= 9 and (span[5] is None or span[5] >= 8) for span in spans)
    assert client.last("timeline")["last"] == 9


# --- who does not read, who fails -------------------------------------------------------------------------------------


@pytest.mark.states("tools: Inspector: Queues outward are bounded and tell what they dropped", source="design 7")
def test_one_batch_at_a_time(watched):
    client = watched.client(agents={}, agent="Ann", events={})
    watched.tick()
    client.reads = False
    watched.tick()
    batches = client.batches
    watched.tick(50)
    assert client.batches == batches
    client.reads = True
    client.session.arrived()
    watched.tick(2)
    assert client.batches > batches
    assert client.last("state")["dropped"] > 0


@pytest.mark.states(
    "tools: Inspector: What fails while looking is told and logged once, and the run goes on",
    source="design 7",
)
def test_what_cannot_be_shown_is_told_and_the_run_goes_on(watched, monkeypatch, caplog):
    def broken(_agent):
        raise ZeroDivisionError("no")

    client, other = watched.client(agents={}, agent="Ann"), watched.client(agents={})
    monkeypatch.setattr(composing, "snapshot_agent", broken)
    watched.tick(5)
    assert client.errors()[0] == "failed"
    assert watched.runtime.tick == 5
    assert other.last("agents")["total"] == 3
    assert len([record for record in caplog.records if "the inspector failed" in record.getMessage()]) == 1
    monkeypatch.undo()
    watched.tick(5)
    assert client.last("agent")["snapshot"] is not None


def test_what_was_composed_before_the_failure_is_not_lost(watched, monkeypatch):
    watched.tick(2)
    watched.runtime.gate.pause()
    client = watched.client(agents={}, events={}, timeline={"agent": "Ann"})
    monkeypatch.setattr(composing, "span_rows", lambda spans: 1 / 0)
    watched.runtime.note("heard")
    watched.tick(5)
    assert (client.told("agents"), client.told("events")) == ([], [])
    monkeypatch.undo()
    watched.tick(5)
    assert client.last("agents")["total"] == 3
    assert client.last("events")["reset"]


def test_a_client_that_goes_while_it_is_composed_for(watched):
    client, other = watched.client(agent="Ann", events={}), watched.client(events={})
    watched.tick(2)
    client.session._hand_over = lambda batch: client.leave() or False
    watched.tick(3)
    assert not client.session.is_open
    batches = other.batches
    watched.tick(3)
    assert other.batches == batches + 3


# --- listening --------------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "tools: Inspector: Nothing listens to the trace while nobody looks and no breakpoint is set",
    source="design 7",
)
def test_nobody_listens_while_nobody_looks(watched):
    trace = watched.runtime.trace
    watched.tick()
    assert not trace.on
    client = watched.client(events={}, timeline={"agent": "Ann"})
    watched.tick(10)
    assert trace.on
    assert client.records()
    client.leave()
    watched.tick()
    assert not trace.on
    client = watched.client(events={}, timeline={"agent": "Ann"})
    watched.tick(1)
    assert client.records() == []  # it began anew
    assert all(span[6] == "open" for span in client.last("timeline")["spans"])


def test_a_breakpoint_alone_listens(watched):
    client = watched.client()
    client.ask("break", kind="goal", name="Nothing")
    watched.tick()
    client.leave()
    watched.tick(3)
    assert watched.runtime.trace.on
    watched.source.detach()
    assert not watched.runtime.trace.on


# --- edits ------------------------------------------------------------------------------------------------------------

HOWL = Reloaded(3, ("wolves.py",), ("Howl",), (), ("Ann", "Bob"), kinds=("class",))
BROKEN = Reloaded(4, ("wolves.py",), (), (), (), error="wolves.py:14: '(' was never closed")


def test_edits_are_told_when_they_come_and_to_who_comes_later(watched):
    client = watched.client()
    watched.tick(2)
    assert client.told("reloads") == []
    watched.runtime.reloads.append(HOWL)
    watched.tick(2)
    watched.runtime.reloads.append(BROKEN)
    watched.tick(2)
    messages = client.told("reloads")
    assert [len(message["rows"]) for message in messages] == [1, 2]
    assert messages[-1]["rows"] == [
        {
            "tick": 3, "files": ["wolves.py"], "changed": ["Howl"], "removed": [], "agents": ["Ann", "Bob"],
            "error": "", "notes": [], "kinds": ["class"], "took": 2,
        },
        {
            "tick": 4, "files": ["wolves.py"], "changed": [], "removed": [], "agents": [],
            "error": "wolves.py:14: '(' was never closed", "notes": [], "kinds": [], "took": 0,
        },
    ]  # fmt: skip
    later = watched.client()
    watched.tick()
    assert later.told("reloads") == messages[-1:]


def test_what_is_told_of_an_edit_is_bounded(watched):
    crowd = tuple(f"wolf {number}" for number in range(5000))
    watched.runtime.reloads.append(HOWL._replace(agents=crowd, error="x" * 100_000))
    client = watched.client()
    watched.tick()
    (row,) = client.last("reloads")["rows"]
    assert (row["agents"], row["took"], len(row["error"])) == (list(crowd[:100]), 5000, 4000)


# --- who comes late ---------------------------------------------------------------------------------------------------


def test_tick_times_are_measured(watched):
    client = watched.client()
    watched.tick(5)
    state = client.last("state")
    assert len(state["history"]["tick"]) == len(state["history"]["tick_ms"]) == 4
    assert state["tick_ms"] == {"last": 0.0, "mean": 0.0, "worst": 0.0}  # the clock of this test stands still


def test_who_looks_after_somebody_has_left_is_told_what_happens_from_then_on(watched):
    """What was kept for the first one is gone; what its number was stays the same for the next."""
    first = watched.client(events={}, timeline={"agent": "Ann", "first": 0, "last": None})
    watched.tick(12)
    assert first.records()
    first.leave()
    watched.tick(3)
    assert not watched.runtime.trace.on
    second = watched.client(events={}, timeline={"agent": "Ann", "first": 0, "last": None})
    watched.tick()
    begun = watched.runtime.tick
    watched.tick(12)
    told = second.records()
    assert told
    assert min(row[0] for row in told) >= begun
    assert sum(message["missed"] for message in second.told("events")) == 0
    begins = [span[4] for span in second.last("timeline")["spans"]]
    assert max(begins) > begun  # its line goes on


def test_the_packed_history_is_as_a_plain_one():
    plain, ring = [], Ring(700)
    numbers = iter(range(10_000))
    for amount in (0, 1, 300, 7, 450, 1, 1, 900, 3, 30, 600, 2):
        records = [(next(numbers), "Ann", "top", "note", (("text", "é"),)) for _ in range(amount)]
        if amount:
            plain += records
            ring.take(amount, packed(records))
        total = len(plain)
        assert ring.total == total
        assert total - ring.total_dropped == min(700, total)
        for number in (0, total - 701, total - 5, total - 1, total, total + 1):
            assert ring.since(number) == plain[max(0, total - 700, number) :]
    ring.clear()
    assert ring.since(0) == []
    assert ring.total_dropped == ring.total


def test_lots_without_a_word_are_passed_over():
    ring = Ring(100)
    lots = [
        [(tick, name, "top", event, ())]
        for tick, name, event in [(1, "Ann", "run"), (2, "Zoë", "run"), (3, "Ann", "note")]
    ]
    for lot in lots:
        ring.take(len(lot), packed(lot))
    assert [(at, lot[0][1]) for at, lot in ring.backwards(0, ["Zoë".encode()])] == [(1, "Zoë")]
    assert ring.since(0, [b"note", b"late"]) == lots[2]
    assert ring.since(0, [b"late"]) == []
    assert [at for at, _ in ring.backwards(1)] == [2, 1]


def test_of_more_than_is_shown_only_the_newest_are_looked_through(watched, monkeypatch):
    """A world at full speed has tens of thousands of records between two updates: to read them all made its ticks wait."""
    client = watched.client(events={"events": ["note"]})
    watched.tick(2)
    client.reads = False
    watched.tick()
    for number in range(30):
        watched.runtime.note("n", number=number)
        for _ in range(99):
            watched.runtime.note("n", number=-1)
        watched.tick()
    read = []
    monkeypatch.setattr("agentrt.inspect.live.unpacked", lambda data: read.append(data) or unpacked(data))
    client.session.arrived()
    watched.tick(2)
    message = client.last("events")
    assert len(message["records"]) == 500
    assert len(read) < 15  # of thirty and some
    assert message["missed"] >= 2000
    assert message["records"][-1][4]["number"] == -1
