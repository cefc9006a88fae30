"""Shards are led from an event loop, which goes on meanwhile; and what is sent from outside comes in once."""

from __future__ import annotations

import threading

import anyio
import anyio.to_thread
import pytest
from lands import Land, make_world
from strips import Strip, world

import agentrt as art
from agentrt.errors import DefinitionError, ShardError, ShardHostError, WrongStateError
from agentrt.shards import LocalShards, ShardedWorld, Shards
from agentrt.shards.overview import Overview

DIGEST = "766be2cfe190f32ceaf90880f44e90e7"  # of four strips with seed 3, after 25 windows
LOOPS = pytest.mark.parametrize("host", ["asyncio", "trio"])


class Held(LocalShards):
    """A place that has run its windows when somebody says so."""

    def __init__(self):
        super().__init__()
        self.asked, self.go_on = threading.Event(), threading.Event()

    def answers(self):
        self.asked.set()
        assert self.go_on.wait(10)
        return super().answers()


async def asked(place):
    assert await anyio.to_thread.run_sync(place.asked.wait, 10)


def held():
    place = Held()
    place.go_on.set()
    run = Shards(world, 4, seed=3, places=[LocalShards(), place])
    place.asked.clear()
    place.go_on.clear()
    return place, run


# --- an event loop ----------------------------------------------------------------------------------------------------


@LOOPS
@pytest.mark.parametrize("is_recorded", [False, True])
def test_windows_are_run_in_an_event_loop(host, is_recorded, tmp_path):
    async def main():
        with Shards(world, 4, seed=3, folder=tmp_path if is_recorded else None) as run:
            await run.arun(24)
            await run.arun()
            assert run.digest == DIGEST

    anyio.run(main, backend=host)


@LOOPS
def test_the_loop_goes_on_while_a_window_runs_and_nothing_else_is_done_with_the_shards(host):
    async def main():
        place, run = held()
        with run:
            async with anyio.create_task_group() as group:
                group.start_soon(run.arun)
                await asked(place)
                for name in ("run", "measure", "close"):
                    with pytest.raises(WrongStateError, match=f"Shards.{name} cannot be called while a window runs"):
                        getattr(run, name)()
                with pytest.raises(WrongStateError, match="Await shards.arun"):
                    await run.arun()
                run.send("greet", to="w0", by="a client")
                assert run.windows == 0
                place.go_on.set()
            assert run.windows == 1
            assert len(run.measure()) == 4

    anyio.run(main, backend=host)


@LOOPS
def test_who_is_cancelled_waits_for_the_end_of_the_window(host):
    async def main():
        place, run = held()
        with run:
            async with anyio.create_task_group() as group:
                group.start_soon(run.arun, 9)
                await asked(place)
                group.cancel_scope.cancel()
                place.go_on.set()
            assert run.windows == 1
            run.run(24)
            assert run.digest == DIGEST

    anyio.run(main, backend=host)


@LOOPS
def test_who_is_cancelled_does_not_wait_for_who_looks_on(host):
    async def main():
        with Shards(world, 2) as run:
            overview = Overview(run, "strips", controls=True)
            overview.attach()
            overview.pause()
            with anyio.move_on_after(0.05):
                await run.arun()
            assert run.windows == 0
            overview.detach()
            await run.arun()
            assert run.windows == 1

    anyio.run(main, backend=host)


@pytest.mark.parametrize("host", [None, "asyncio", "trio"])
def test_a_part_on_another_host_is_refused(host):
    class Elsewhere(Strip):
        def __init__(self, shard, part, **more):
            super().__init__(shard, part, **{**more, "host": host or "auto"})

    other = ShardedWorld(
        "strips", Elsewhere, lambda shards, params: [[]] * shards, window=4, parameters=world_parameters()
    )
    with pytest.raises(
        ShardHostError, match=r"\[ART342\] shard 0: its runtime is on the .* host, and the plain host was"
    ):
        Shards(other, 2)


def world_parameters():
    return {name: one for name, one in world.parameters.items() if name not in ("shard", "shards")}


@LOOPS
def test_one_shard_is_run_on_another_host_as_any_world(host):
    runtime = world.make(seed=3, host=host)
    assert runtime.host == host


# --- what is sent from outside ----------------------------------------------------------------------------------------


def test_what_is_sent_comes_in_in_the_first_tick_of_the_next_window(log):
    Land.scripts[0, 1] = lambda land: land.shard.send("hear", to=1, what="of a shard")
    with Shards(make_world(), 3, seed=1) as lands:
        lands.send("hear", to=1, what="first")
        lands.run()
        lands.send("hear", to=1, what="second")
        lands.send("hear", to="c", what=[(1, 2)])
        lands.send("hear", to="nobody", what="lost")
        assert lands.messages == {"sent": 2, "taken": 1, "dead": 0, "waiting": 1}  # the others are sent with the next
        lands.run()
        assert lands.messages == {"sent": 5, "taken": 4, "dead": 1, "waiting": 0}
    assert log == [
        (1, 1, "hears", "first"),
        (4, 1, "hears", "second"),
        (4, 1, "hears", [[1, 2]], "c"),
        (4, 1, "hears", "of a shard"),
    ]


def test_what_is_sent_goes_after_an_agent_that_moves(log):
    Land.scripts[0, 1] = lambda land: land.shard.move(land.runtime.find("a"), 2)
    with Shards(make_world(), 3, seed=1) as lands:
        lands.run()
        lands.send("hear", to="a", what="come back")
        lands.run()
    assert log[2:] == [(4, 2, "hears", "come back", "a")]


@pytest.mark.parametrize("dies", ["before", "after"])
def test_what_was_sent_comes_in_once_whoever_dies(log, tmp_path, dies):
    """Who leads dies when the window was written down, before or after one of the shards has run it."""

    class Dies(LocalShards):
        def ask(self, requests):
            if requests[0]["windows"] == 1 and requests[0]["ask"] == "window":
                if dies == "after":
                    super().ask(requests)
                    self.answers()
                raise KeyboardInterrupt
            super().ask(requests)

    with Shards(make_world(), 2, seed=1, folder=tmp_path, places=[LocalShards(), Dies()]) as lands:
        lands.send("hear", to=0, what="one")
        lands.run()
        lands.send("hear", to=1, what="two")
        with pytest.raises(KeyboardInterrupt):
            lands.run()
    log.clear()
    with Shards(make_world(), 2, seed=1, folder=tmp_path) as lands:
        lands.send("hear", to=1, what="three")
        lands.run()
        assert lands.messages == {"sent": 3, "taken": 3, "dead": 0, "waiting": 0}
        digest = lands.digest
    assert sorted(log) == [(1, 0, "hears", "one"), (4, 1, "hears", "two"), (7, 1, "hears", "three")]
    with Shards(make_world(), 2, seed=1) as lands:
        for to, what in ((0, "one"), (1, "two"), (1, "three")):
            lands.send("hear", to=to, what=what)
            lands.run()
        assert lands.digest == digest


def test_what_nobody_can_take_is_refused(log):
    with Shards(make_world(), 2) as lands:
        for to in (2, -1, True, None):
            with pytest.raises(ShardError, match=f"there is no shard {to}. Name one from 0 to 1"):
                lands.send("hear", to=to)
        with pytest.raises(DefinitionError, match="the message 'hear': it is no plain data: Object of type Runtime"):
            lands.send("hear", to=1, what=art.Runtime())
        lands.run()
        assert lands.messages["sent"] == 0
