"""Observers on all hosts: one literal log, awaiting what the host offers, and an orderly end however the agent ends."""

from __future__ import annotations

import asyncio

import pytest
import trio

from agentrt import Agent, CancelScope, Entity, Manifest, Registry, sleep_ticks


def registry_of(observe):
    return Registry([Manifest("m", {"observers:o": observe, "ai_pack:p": {"observers": ["m:observers:o"]}})])


def being(observe, actions=(), name="ann"):
    return Agent(Entity(name), packs=["m:ai_pack:p"], actions=list(actions), registry=registry_of(observe))


def watch(log):
    async def observe(agent):
        log.append((agent.runtime.tick, "begins"))
        try:
            while True:
                await sleep_ticks(2)
                log.append((agent.runtime.tick, "looks"))
        finally:
            log.append((agent.runtime.tick, "ends"))

    return observe


@pytest.mark.states(
    "001: Injecting actions: (decided) Observers live as long as they are injected and their agent lives, on every "
    "host",
)
def test_the_same_log_on_all_hosts(play):
    log = []
    runtime = play.runtime()
    agent = runtime.add(being(watch(log)))
    runtime.every_tick(lambda: runtime.tick == 4 and agent.injections[0].revoke())
    play.ticks(runtime, 7)
    assert log == [(1, "begins"), (3, "looks"), (5, "ends")]


def test_a_runtime_that_is_closed_ends_them(play):
    log = []
    runtime = play.runtime()
    runtime.add(being(watch(log)))
    play.ticks(runtime, 3)
    assert log == [(1, "begins"), (3, "looks"), (4, "ends")]


def test_clean_up_behind_a_shield_is_awaited(play):
    log = []

    async def observe(agent):
        try:
            await sleep_ticks(100)
        finally:
            with CancelScope(shield=True):
                await sleep_ticks(2)
                log.append((agent.runtime.tick, agent.is_alive))

    runtime = play.runtime()
    agent = runtime.add(being(observe))
    runtime.every_tick(lambda: runtime.tick == 3 and runtime.remove(agent))
    play.ticks(runtime, 8)
    assert log == [(6, True)]
    assert agent.has_ended.is_set


def test_one_that_raises_takes_nobody_with_it(play, logged):
    log = []

    async def observe(agent):
        if agent.name == "bad":
            raise ValueError("no")
        await watch(log)(agent)

    runtime = play.runtime()
    records = []
    runtime.trace.listen(records.append)
    for name in ("bad", "ann"):
        runtime.add(being(observe, name=name))
    play.ticks(runtime, 3)
    assert log == [(1, "begins"), (3, "looks"), (4, "ends")]
    assert [(one.tick, one.agent, one.path, one.detail) for one in records if one.event == "fault"] == [
        (1, "bad", "observers/m:observers:o", (("hook", "observe"), ("error", "ValueError: no")))
    ]
    assert len(logged()) == 1


def test_it_awaits_what_the_host_offers(play_loop):
    log = []

    async def observe(agent):
        for _ in range(2):
            await play_loop.sleep(0.1)
            log.append((agent.runtime.tick, round(play_loop.now() - begun, 3)))

    runtime = play_loop.runtime(ticks_per_second=10)
    runtime.add(being(observe))
    begun = 0.0

    async def main():
        nonlocal begun
        begun = play_loop.now()
        await runtime.run(5)
        await runtime.aclose()

    play_loop(main)
    assert [second for _, second in log] == [0.1, 0.2]


def test_cancelled_while_it_waits_for_the_host(play_loop):
    log = []

    async def observe(agent):
        try:
            await play_loop.sleep(1000)
        except (asyncio.CancelledError, trio.Cancelled):
            log.append(agent.runtime.tick)
            raise

    runtime = play_loop.runtime()
    agent = runtime.add(being(observe))
    runtime.every_tick(lambda: runtime.tick == 3 and agent.injections[0].revoke())
    play_loop.ticks(runtime, 6)
    assert log == [4]


def test_agent_run_returns_when_its_observers_have_ended(play_loop):
    log = []
    runtime = play_loop.runtime()
    agent = runtime.add(being(watch(log)))
    runtime.every_tick(lambda: runtime.tick == 4 and runtime.remove(agent))

    async def main():
        await agent.run()
        log.append("returned")

    play_loop(main)
    assert log == [(1, "begins"), (3, "looks"), (5, "ends"), "returned"]


def test_an_agent_that_was_cancelled_ends_them(play_loop):
    log = []
    agent = being(watch(log))

    async def main():
        assert await play_loop.cancel_after(0.12, agent.run)

    play_loop(main)
    assert [what for _, what in log] == ["begins", "looks", "ends"]
    assert not agent.is_alive


def test_it_calls_the_outside_through_the_runtime(play_loop):
    log = []

    async def ask(question):
        await play_loop.sleep(0.1)
        return f"{question}!"

    async def observe(agent):
        log.append(await agent.runtime.call(ask, "hungry"))

    runtime = play_loop.runtime()
    runtime.add(being(observe))

    async def main():
        await runtime.run(4)
        await runtime.aclose()

    play_loop(main)
    assert log == ["hungry!"]
