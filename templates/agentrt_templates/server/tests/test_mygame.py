"""Simulations never wait, and need no network: what guests type is sent as an input."""

from __future__ import annotations

import asyncio
from functools import partial

from agentrt.testing import Simulation, happened

from mygame import world
from mygame.server import welcome


def simulate(seed: int = 1) -> Simulation:
    return Simulation(runtime=world.make(seed=seed, host="plain"))


def test_a_guest_orders_and_is_served() -> None:
    sim = simulate()
    sim.runtime.send("join", name="Ann")
    sim.runtime.send("type", name="Ann", text="order a pie")
    sim.run_until_event("note", text="the innkeeper brings Ann a pie", limit=100)
    happened(sim, "preempt", agent="keeper")  # he was polishing glasses
    sim.runtime.send("leave", name="Ann")
    sim.run_until(lambda: sim.runtime.find("Ann") is None, limit=3)
    sim.close()


def test_the_courier_fails_and_is_asked_again() -> None:
    sim = simulate()
    first = sim.run_until_event("progress", agent="keeper", limit=200)
    told = sim.run_until_event("note", limit=200)
    assert dict(first.detail)["text"] == "the courier did not come through; asks again in 1 s"
    assert told.tick - first.tick > sim.runtime.clock.ticks_per_second
    sim.close()


def test_over_the_network() -> None:
    async def visit(port: int) -> list[str]:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"Bob\r\nsay hello\r\n")
        heard = [(await reader.readline()).decode().strip() for _ in range(3)]
        writer.close()
        return heard

    async def evening() -> list[str]:
        runtime = world.make(seed=1, host="asyncio")
        async with asyncio.timeout(10), asyncio.TaskGroup() as tasks:
            tasks.create_task(runtime.run(speed=50))
            async with await asyncio.start_server(partial(welcome, runtime), "127.0.0.1", 0) as server:
                heard = await visit(server.sockets[0].getsockname()[1])
            runtime.stop()
        return heard

    assert asyncio.run(evening()) == ["What is your name?", "Bob comes in", "Bob: hello"]


def test_the_same_seed_gives_the_same_run() -> None:
    digests = set()
    for _ in range(2):
        sim = simulate()
        sim.tick(400)
        sim.close()
        digests.add(sim.digest())
    assert len(digests) == 1
