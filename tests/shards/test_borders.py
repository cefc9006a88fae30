"""What passes over a border, tick by tick: messages, agents that move, and what is seen from the other side."""

from __future__ import annotations

import pytest
from lands import Land, make_world

import agentrt as art
from agentrt.errors import DefinitionError, ShardError
from agentrt.shards import Shards
from agentrt.worlds import Parameter


def run(scripts, windows=4, shards=3, world=None):
    Land.scripts.update(scripts)
    with Shards(world or make_world(), shards, seed=1) as lands:
        lands.run(windows)
        return lands.messages


def say(to, what, **options):
    return lambda land: land.shard.send("hear", to=to, what=what, **options)


def move(name, to):
    return lambda land: land.shard.move(land.runtime.find(name), to)


def both(*scripts):
    return lambda land: [script(land) for script in scripts]


# --- messages ---------------------------------------------------------------------------------------------------------


def test_a_message_comes_a_window_after_it_was_sent(log):
    scripts = {(0, 1): say(1, "hello"), (0, 3): say(1, "late", delay=5), (1, 2): say(1, "to oneself")}
    assert run(scripts) == {"sent": 3, "taken": 3, "dead": 0, "waiting": 0}
    assert log == [(4, 1, "hears", "hello"), (5, 1, "hears", "to oneself"), (8, 1, "hears", "late")]


@pytest.mark.parametrize("shards", [1, 3])
def test_a_message_is_sent_while_a_part_is_made(log, shards):
    class Early(Land):
        def __init__(self, shard, *args, **more):
            if shard.number == 0:
                shard.send("hear", to="a", what="of old")
                shard.send("hear", to=0, what="to oneself")
            super().__init__(shard, *args, **more)

    run({}, shards=shards, windows=2, world=make_world(Early))
    assert log == [(3, 0, "hears", "of old", "a"), (3, 0, "hears", "to oneself")]


def test_messages_of_one_tick_come_by_source_and_number(log):
    scripts = {
        (2, 2): both(say(0, "x"), say(0, "y")),
        (1, 1): say(0, "early, late", delay=4),
        (0, 2): say(0, "one's own"),
    }
    run(scripts)
    assert [heard[3] for heard in log] == ["one's own", "early, late", "x", "y"]
    assert {tick for tick, *_ in log} == {5}


def test_a_message_finds_an_agent_wherever_it_is(log):
    run({(0, 1): both(say("a", "here"), say("c", "there"))})
    assert log == [(4, 0, "hears", "here", "a"), (4, 1, "hears", "there", "c")]


def test_a_message_goes_after_an_agent_that_moves(log):
    """One that waits for it goes with it; one that was under way to where it was comes a window later."""
    scripts = {(0, 1): both(move("a", 1), say("a", "waits", delay=6)), (2, 2): say("a", "sent before")}
    run(scripts, windows=3)
    assert log == [
        (3, 0, "exports", "a", 3),
        (4, 1, "adopts", "a", {"tuple": [1, 2]}),
        (5, 1, "hears", "sent before", "a"),
        (7, 1, "hears", "waits", "a"),
    ]


def test_a_message_that_just_missed_an_agent_comes_at_the_next_barrier(log):
    scripts = {(2, 1): say("a", "behind", delay=5), (0, 4): move("a", 1)}
    run(scripts)
    assert log == [
        (6, 0, "exports", "a", 6),
        (7, 1, "adopts", "a", {"tuple": [1, 2]}),
        (7, 1, "hears", "behind", "a"),
    ]


def test_a_message_to_nobody_is_dead_and_is_counted(log):
    scripts = {
        (0, 1): both(say("nobody", "x"), say("c", "y")),
        (1, 2): lambda land: land.runtime.remove(land.runtime.agents[0]),
    }
    assert run(scripts) == {"sent": 2, "taken": 0, "dead": 2, "waiting": 0}
    assert log == []


def test_a_message_whose_input_raises_is_taken_and_costs_the_others_nothing(log, caplog):
    def fail(**_):
        raise RuntimeError("no ears")

    scripts = {(0, 1): both(say(1, "x"), say(2, "y")), (1, 1): lambda land: setattr(land, "hear", fail)}
    land = type(
        "Deaf", (Land,), {"hear": lambda self, **what: fail() if self.shard.number == 1 else Land.hear(self, **what)}
    )
    assert run(scripts, world=make_world(land))["taken"] == 2
    assert log == [(4, 2, "hears", "y")]
    assert "no ears" in caplog.text


# --- agents that move -------------------------------------------------------------------------------------------------


def test_an_agent_moves_at_the_end_of_its_window_and_its_stops_run_before(log):
    run({(0, 1): move("a", 1)}, windows=2)
    assert log == [(3, 0, "exports", "a", 3), (4, 1, "adopts", "a", {"tuple": [1, 2]})]


def test_an_agent_that_returns_has_its_name(log):
    names = []
    scripts = {
        (0, 1): move("a", 1),
        (1, 4): move("a", 0),
        (0, 8): lambda land: names.extend(agent.name for agent in land.runtime.agents),
    }
    run(scripts)
    assert names == ["b", "a"]


def test_the_random_numbers_of_an_agent_go_on(log):
    drawn = []
    draw = lambda name: lambda land: drawn.append(land.runtime.find(name).random.bits())  # noqa: E731
    run({(0, 2): both(draw("a"), move("a", 1)), (1, 5): draw("a"), (0, 1): draw("b"), (0, 3): draw("b")})
    stays, moves = drawn[:], []
    runtime = art.Runtime(1)
    stream = runtime.stream("agent a")
    moves = [stream.bits(), stream.bits()]
    assert [stays[1], stays[3]] == moves


def test_the_last_word_counts_and_who_ends_does_not_go(log):
    scripts = {
        (0, 1): both(move("a", 1), move("a", 2)),
        (0, 2): both(move("b", 1), move("b", 0)),
        (1, 1): both(move("c", 0), lambda land: land.runtime.remove(land.runtime.find("c"))),
    }
    run(scripts, windows=2)
    assert [entry for entry in log if entry[2] == "adopts"] == [(4, 2, "adopts", "a", {"tuple": [1, 2]})]


def test_one_that_asks_in_the_last_tick_moves_a_window_later(log):
    run({(0, 2): move("a", 1), (0, 3): move("b", 1)}, windows=3)
    assert [entry[:4] for entry in log if entry[2] == "exports"] == [(3, 0, "exports", "a"), (6, 0, "exports", "b")]


def test_an_agent_moves_in_windows_of_one_tick(log):
    run({(0, 2): move("a", 1), (1, 5): move("a", 2)}, windows=8, world=make_world(window=1))
    assert [entry[:4] for entry in log] == [
        (3, 0, "exports", "a"),
        (4, 1, "adopts", "a"),
        (6, 1, "exports", "a"),
        (7, 2, "adopts", "a"),
    ]


def test_one_whose_export_says_so_is_gone(log):
    land = type("Grave", (Land,), {"export": lambda self, agent: None})
    Land.scripts.update({(0, 1): move("a", 1), (1, 1): say("a", "farewell", delay=4)})
    with Shards(make_world(land), 2, seed=1) as lands:
        lands.run(3)
        assert (lands.agents, lands.where("a"), lands.messages["dead"]) == (2, None, 1)


# --- the halo ---------------------------------------------------------------------------------------------------------


def test_what_is_seen_over_the_border_is_as_it_was_at_the_barrier(log):
    seen = []
    look = lambda land: seen.append((land.runtime.tick, land.shard.halo))  # noqa: E731
    run({(1, tick): look for tick in (1, 3, 4, 6, 7)})
    assert seen == [(1, {0: 0}), (3, {0: 0}), (4, {0: 3}), (6, {0: 3}), (7, {0: 6})]


def test_what_is_shown_is_copied(log):
    land = type("Live", (Land,), {"shown": [0], "halo": lambda self: {1 - self.shard.number: self.shown}})
    seen = []
    scripts = {(0, 2): lambda land: land.shown.append(9), (1, 3): lambda land: seen.append(land.shard.halo)}
    run(scripts, windows=1, shards=2, world=make_world(land))
    assert seen == [{0: [0]}]


# --- epochs -----------------------------------------------------------------------------------------------------------


class Reborn(Land):
    """Rebuilt after each so many ticks; whoever is there is there again."""

    every = 3

    def __init__(self, shard, part, **more):
        super().__init__(shard, part, **more)
        self.runtime.rebuild_every(self.every, self.save, self.load)

    def save(self, runtime):
        return [agent.name for agent in runtime.agents]

    def load(self, runtime, saved):
        self.runtime.on_input("hear", self.hear)
        self.runtime.every_tick(self.act)
        self.note("is rebuilt", *saved)
        for name in saved:
            runtime.add(self.agent(name))
        runtime.rebuild_every(self.every, self.save, self.load)  # as one whose load does all that making it does


def rebuilt(scripts, every=3, windows=3, part=Reborn):
    part = type("Part", (part,), {"every": every})
    return run(scripts, windows=windows, world=make_world(part))


def test_what_is_under_way_comes_over_an_epoch(log):
    """At the barrier at which shards are rebuilt an agent and two messages pass, and a third one waits."""
    scripts = {
        (0, 1): both(move("a", 1), say(2, "x"), say("c", "y"), say(0, "z", delay=9)),
        (1, 2): say("a", "to who moves"),
    }
    assert rebuilt(scripts, windows=4) == {"sent": 4, "taken": 4, "dead": 0, "waiting": 0}
    assert [entry for entry in log if entry[2] != "is rebuilt"] == [
        (3, 0, "exports", "a", 3),
        (4, 1, "adopts", "a", {"tuple": [1, 2]}),
        (4, 1, "hears", "y", "c"),
        (5, 1, "hears", "to who moves", "a"),
        (4, 2, "hears", "x"),
        (10, 0, "hears", "z"),
    ]
    assert log[1:4] == [(3, 0, "is rebuilt", "b"), (3, 1, "is rebuilt", "c"), (3, 2, "is rebuilt")]


@pytest.mark.parametrize(("every", "asks"), [(3, 3), (2, 2), (5, 5), (5, 4)])
def test_who_is_to_move_moves_after_an_epoch_all_the_same(log, every, asks):
    """In the tick after which all is rebuilt, also in the midst of a window; and where it has begun to end."""
    rebuilt({(0, asks): move("a", 1)}, every=every, windows=4)
    exports = [entry[0] for entry in log if entry[2:4] == ("exports", "a")]
    assert exports == [{3: 6, 2: 6, 5: 9}[every]]


def test_what_is_halfway_when_it_is_saved_by_hand_is_there_after_a_restore(log):
    made = []

    class Kept(Reborn):
        def __init__(self, *args, **more):
            super().__init__(*args, **more)
            made.append(self)

    world = make_world(type("Part", (Kept,), {"every": 0}))
    run({(0, 2): both(move("a", 0), say(0, "x")), (0, 3): move("a", 1)}, windows=1, shards=2, world=world)
    with Shards(world, 2, seed=1) as lands:
        lands.run(1)
        saved = made[-2].runtime.save()
        assert saved["game"]["waiting"] == [[5, 0, 0, 0, "hear", {"what": "x"}]]
        assert saved["game"]["movers"] == [["a", 1]]
        assert saved["game"]["part"] == ["a", "b"]


# --- what an author does wrong ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "problem"),
    [
        (
            say(1, "x", delay=2),
            "the message 'hear' has a delay of 2, which is less than a window. Wait for 3 ticks, or",
        ),
        (say(1, "x", delay=float("nan")), "the message 'hear' has a delay of nan. Give a number of ticks."),
        (say(1, "x", delay="5"), "the message 'hear' has a delay of '5'. Give a number of ticks."),
        (say(3, "x"), "shard 0: there is no shard 3. Name one from 0 to 2."),
        (say(True, "x"), "there is no shard True"),
        (move("a", -1), "there is no shard -1"),
        (say(1, {1, 2}), "the message 'hear' of shard 0: it is no plain data: Object of type set is not JSON"),
    ],
)
def test_a_mistake_is_told_where_it_is_made(log, caplog, script, problem):
    caught = []

    def attempt(land):
        try:
            script(land)
        except (ShardError, DefinitionError) as error:
            caught.append(str(error))

    run({(0, 1): attempt}, windows=1)
    assert problem in caught[0]


def test_between_two_ticks_nothing_is_sent():
    """It would be no part of the run."""
    shards = []

    class Watched(Land):
        def __init__(self, shard, *args, **more):
            super().__init__(shard, *args, **more)
            shards.append(shard)

    with Shards(make_world(Watched), 2) as lands:
        lands.run()
        with pytest.raises(ShardError, match="shard.send was called between two ticks. Call it in one"):
            shards[0].send("hear", to=1)


def _raise(*_):
    raise RuntimeError("not today")


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"export": _raise}, "shard 0: 'a', who moves to shard 1, was not exported: RuntimeError: not today"),
        (
            {"export": lambda *_: {"set": {1}}},
            "'a', who moves to shard 1, was not exported: .*the state of 'a': it is no",
        ),
        ({"adopt": _raise}, "shard 1: 'a', who came from shard 0, was not adopted: RuntimeError: not today"),
        ({"adopt": lambda *_: "me"}, "'a', who came from shard 0, was not adopted: .*it gave 'me'. Give the agent"),
        ({"halo": lambda self: {7: 1}}, "there is no shard 7"),
        ({"halo": lambda self: [1]}, r"shard 0: its halo is \[1\]. Give a dict, by shard what that one may read"),
    ],
)
def test_an_agent_that_would_be_lost_ends_the_run(log, caplog, changes, problem):
    with pytest.raises(ShardError, match=problem):
        run({(0, 1): move("a", 1)}, world=make_world(type("Broken", (Land,), changes)))


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"window": 0}, "its window is 0. Give it 1 tick or more"),
        ({"window": 2.0}, r"its window is 2\.0"),
        ({"parameters": {"shards": Parameter(1)}}, "it has a parameter 'shards', which says which shard is made"),
        ({"partition": lambda shards, params: [[]]}, "its partition gives 1 parts for 2 shards. Give one each"),
        ({"partition": lambda shards, params: None}, "its partition gives None. Give a list, one part each"),
        ({"partition": lambda shards, params: {"a": 1, "b": 2}}, "its partition gives {'a': 1, 'b': 2}. Give a list"),
        ({"part": lambda *_, **__: 5}, "its part is a int. Give what agentrt.shards.Part lists"),
    ],
)
def test_a_world_that_cannot_be_run_in_shards_is_refused(options, problem):
    with pytest.raises(DefinitionError, match=problem):
        Shards(make_world(**options), 2)


def test_a_shard_that_is_none_of_them_is_refused():
    with pytest.raises(DefinitionError, match="there is no shard 2 of 2. Name one from 0 to 1"):
        make_world().make(seed=1, host="plain", params={"shard": 2, "shards": 2})
