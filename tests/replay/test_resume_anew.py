"""A run is recorded anew by the code of now, which need not do what was done: what came in need not fit it."""

from __future__ import annotations

import json
import math
import sqlite3
from contextlib import closing

import anyio.lowlevel
import pytest
from players import play_on

from agentrt import TOP, Action, Agent, Entity, Runtime
from agentrt.errors import ReplayDifferenceError
from agentrt.kernel.traps import sleep_ticks
from agentrt.record import Recording, branch, parse_edits, replay, resume

asked = []


def price(key):
    asked.append(key["key"])
    return {**key, "is": f"{key['key']} {len(asked)}"}


def weight(key):
    asked.append(key["key"])
    return {"is": "heavy"}


def guard(key):
    asked.append(key["key"])
    return object()


class Ask(Action):
    does = TOP
    utility = 0.5

    async def run(self, ctx, args):
        shop = ctx.agent.runtime.game
        for key in shop.keys:
            await ctx.sleep_ticks(shop.pause)
            ctx.agent.runtime.note("was told", what=repr(await ctx.call(shop.function, {"key": key})))
        await ctx.sleep_ticks(1000)


class Shop:
    """A way to make the world; each test changes a part of it."""

    def __init__(self, *, keys="abc", pause=3, function=price, chats=0, epoch=0, takes=True, breaks=False, clerk="Ann"):
        self.keys, self.pause, self.function = keys, pause, function
        self.chats, self.epoch, self.takes, self.breaks = chats, epoch, takes, breaks
        self.clerk = clerk

    def __str__(self):
        changed = {name: value for name, value in vars(self).items() if value != vars(BEFORE)[name]}
        return ", ".join(f"{name} {getattr(value, '__name__', value)}" for name, value in changed.items())

    def __call__(self, *, seed, host):
        runtime = Runtime(seed, host=host)
        runtime.rebuild_every(self.epoch, lambda runtime: {}, lambda runtime, saved: self.put_up(runtime))
        self.put_up(runtime)
        return runtime

    def put_up(self, runtime):
        runtime.game = self
        for name in self.clerk.split(", "):
            runtime.add(Agent(Entity("clerk", name=name), actions=[Ask]))
        runtime.every_tick(lambda: [runtime.post(runtime.note, "chat") for _ in range(self.chats)])
        if self.takes:
            runtime.on_input("ring", lambda: runtime.note("rang" if not self.breaks else 1 / 0))


BEFORE = Shop(chats=2)


def recorded(path, make, ticks=20, rings=(8, 15)):
    asked.clear()
    runtime = make(seed=1, host="plain")
    with runtime.record(path):
        while runtime.tick < ticks:
            if runtime.tick + 1 in rings:
                runtime.send("ring")
            runtime.step()
    runtime.close()
    asked.clear()


def notes(recording, text):
    """In which ticks it was noted."""
    every = (one for tick in range(1, recording.last_tick + 1) for one in recording.batch(tick))
    return [one.tick for one in every if ("text", text) in one.detail]


def told_in(recording):
    """What came in, and in which ticks."""
    return [f"{one.tick} {one.value['is']}" for one in recording.inputs() if one.kind == "answered"]


def talk_then_ask(*, seed, host):
    """One asks when the run has posted six things to itself, another when it has posted none."""
    runtime = Runtime(seed, host=host)
    runtime.game = []

    async def ask(tick, key):
        await sleep_ticks(tick)
        for _ in range(6 if key == "early" else 0):
            runtime.post(runtime.note, "chat")
        found = await runtime.calls.call(price, {"key": key})
        runtime.game.append((runtime.tick, found["is"]))

    runtime.spawn(ask, 3, "early")
    runtime.spawn(ask, 9, "late")
    return runtime


@pytest.mark.parametrize(
    ("now", "told", "live"),
    [
        # Of an intake that is shorter now, and of one that is longer.
        (Shop(chats=0), ["5 a 1", "9 b 2", "13 c 3"], ""),
        (Shop(chats=5), ["5 a 1", "9 b 2", "13 c 3"], ""),
        # It asks earlier, or later: then the result waits for that, and what it asks when it is live is asked.
        (Shop(chats=2, pause=1), ["5 a 1", "9 b 2", "13 c 3"], ""),
        (Shop(chats=2, pause=6), ["8 a 1", "15 b 2", "22 c 1"], "c"),
        # It asks nothing, or more, or something else: what was not recorded waits until it is live.
        (Shop(chats=2, keys=""), [], ""),
        (Shop(chats=2, keys="abcd"), ["5 a 1", "9 b 2", "13 c 3", "21 d 1"], "d"),
        (Shop(chats=2, keys="xy"), ["21 x 1", "25 y 2"], "xy"),
        (Shop(chats=2, function=weight), ["21 heavy", "25 heavy", "29 heavy"], "abc"),
        # Its epochs are others: the calls of a world that is over are nobody's.
        (Shop(chats=2, epoch=7), ["5 a 1", "21 a 1", "26 a 2"], "aa"),
        (Shop(chats=2, epoch=5, pause=1), ["5 a 1", "23 a 1", "25 b 2", "28 a 3", "30 b 4"], "abab"),
        # What came in is taken by nobody, or by somebody who cannot.
        (Shop(chats=2, takes=False), ["5 a 1", "9 b 2", "13 c 3"], ""),
        (Shop(chats=2, breaks=True), ["5 a 1", "9 b 2", "13 c 3"], ""),
    ],
    ids=str,
)
def test_whatever_the_world_is_now_it_goes_live_and_the_new_file_is_replayed(tmp_path, now, told, live):
    path, into = tmp_path / "run.sqlite", tmp_path / "new.sqlite"
    recorded(path, BEFORE)
    with resume(path, now, verify=False, into=into) as runtime:
        assert runtime.tick == 20
        for _ in range(10):
            runtime.step()
    assert asked == list(live)
    with Recording(into) as recording:
        assert told_in(recording) == told
        assert [one.tick for one in recording.inputs() if one.kind == "sent"] == [8, 15]
        assert notes(recording, "rang") == ([8, 15] if now.takes and not now.breaks else [])
        report = replay(recording, now)
        assert report.is_same, report.as_text()


def test_the_outside_is_not_asked_before_it_is_live(tmp_path):
    path = tmp_path / "run.sqlite"
    recorded(path, BEFORE)
    during = []

    def make(*, seed, host):
        runtime = Shop(keys="xy")(seed=seed, host=host)
        runtime.after_tick(lambda: during.append((runtime.tick, len(asked))))
        return runtime

    with resume(path, make, verify=False, into=tmp_path / "new.sqlite"):
        assert during == [(tick, 0) for tick in range(1, 21)]
        assert asked == ["x"]


@pytest.mark.parametrize("host", ["asyncio", "trio"])
def test_on_an_event_loop(tmp_path, host):
    """What the world of now asks too early, too late, and in addition, as on the plain host."""
    path, into, now = tmp_path / "run.sqlite", tmp_path / "new.sqlite", Shop(keys="abcd", pause=2)
    recorded(path, BEFORE)

    async def main():
        async with resume(path, now, verify=False, into=into) as runtime:
            assert (runtime.tick, runtime.host) == (20, host)
            while len(asked) == 0 or runtime.calls.running:
                await anyio.lowlevel.checkpoint()
            await runtime.run(2, speed=math.inf, blocking_ms=None)

    play_on(host, main)
    assert asked == ["d"]
    with Recording(into) as recording:
        assert told_in(recording) == ["5 a 1", "9 b 2", "13 c 3", "21 d 1"]
    for one in ("plain", host):
        assert replay(into, now, host=one).is_same


def test_what_was_changed_and_what_could_not_be_kept_do_not_stand_against_it(tmp_path):
    """An action that the world has no more, code that was edited then, a result that no file can hold."""
    path, made, into = (tmp_path / name for name in ("run.sqlite", "branch.sqlite", "new.sqlite"))
    recorded(path, Shop(function=guard))
    edit = {"tick": 12, "set": "utility", "of": "ask", "to": 0.4, "agent": "Ann"}
    branch(path, Shop(function=guard), at=3, edits=parse_edits([edit]), record=made, calls="live")
    with closing(sqlite3.connect(made)) as connection, connection:
        code = json.dumps({"changed": [], "digests": {}})
        connection.execute("INSERT INTO inputs VALUES (14, 0, 0, 'reloaded', -1, 'shop.py', ?)", [code])
    asked.clear()
    with Recording(made) as recording:
        assert [one.kind for one in recording.inputs(9, 14)] == ["answered", "sent", "answered", "reloaded"]
    with resume(made, Shop(function=guard, clerk="Bob"), verify=False, into=into) as runtime:
        assert (runtime.tick, asked) == (20, ["a"])
        for _ in range(3):
            runtime.step()


def test_calls_that_have_waited_since_ticks_of_which_much_came_in_are_made_in_their_order(tmp_path):
    """How much had come in when they were made says nothing by now."""
    path = tmp_path / "run.sqlite"
    recorded(path, Shop(keys=""), rings=())
    with resume(path, talk_then_ask, verify=False, into=tmp_path / "new.sqlite") as runtime:
        assert asked == ["early", "late"]
        runtime.step()
        assert runtime.game == [(21, "early 1"), (21, "late 2")]
    assert replay(tmp_path / "new.sqlite", talk_then_ask).is_same


def test_what_differs_while_it_is_compared_is_told_and_the_file_that_was_begun_is_removed(tmp_path):
    path, into = tmp_path / "run.sqlite", tmp_path / "new.sqlite"
    recorded(path, BEFORE)
    with pytest.raises(ReplayDifferenceError, match="the replay differs in tick 2") as caught:
        resume(path, Shop(chats=1), into=into).__enter__()
    assert "agentrt resume FILE --no-verify --into NEW" in caught.value.__notes__[-1]
    assert not into.exists()
