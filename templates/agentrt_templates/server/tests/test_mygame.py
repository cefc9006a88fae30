"""Simulations never wait, and need no network: what guests type is sent as an input."""

from __future__ import annotations

import asyncio
import shutil
from functools import partial
from pathlib import Path

import agentrt as art
from agentrt.record import resume
from agentrt.testing import Simulation, happened

from mygame import world
from mygame.client import Client
from mygame.server import Post, welcome


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
            async with await asyncio.start_server(partial(welcome, runtime, Post(runtime)), "127.0.0.1", 0) as server:
                heard = await visit(server.sockets[0].getsockname()[1])
            runtime.stop()
        return heard

    assert asyncio.run(evening()) == ["What is your name?", "Bob comes in", "Bob: hello"]


def test_a_client_comes_back_after_the_server_was_killed(tmp_path: Path) -> None:
    heard: list[str] = []

    async def served(runtime: art.Runtime, client: Client, last: str) -> None:
        """Serve one player until the last thing was heard, and cut the connection without a word, as a crash does."""
        async with await asyncio.start_server(partial(welcome, runtime, Post(runtime)), "127.0.0.1", 0) as server:
            client.port = server.sockets[0].getsockname()[1]
            playing, running = asyncio.create_task(client.play()), asyncio.create_task(runtime.run(speed=50))
            while last not in heard or (last == "Bob: again" and client.unkept):
                await asyncio.sleep(0.01)
            for suffix in ("", "-wal") if not (tmp_path / "killed").exists() else ():  # what kill -9 would leave
                shutil.copy(tmp_path / f"inn{suffix}", tmp_path / f"killed{suffix}")
            playing.cancel()
            runtime.stop()
            await running

    async def evening() -> None:
        client = Client("Bob", heard.append, first=0)
        async with asyncio.timeout(20):
            async with world.make(seed=1, host="asyncio") as runtime:
                runtime.record(tmp_path / "inn")
                client.type("say hello")
                await served(runtime, client, "Bob: hello")
            client.unkept[1] = "say hello"  # as if the acknowledgment had been lost
            client.type("say again")
            async with resume(tmp_path / "killed", world.make) as runtime:
                assert runtime.find("Bob") is not None
                await served(runtime, client, "Bob: again")

    asyncio.run(evening())
    assert [line for line in heard if line.startswith("Bob:")] == ["Bob: hello", "Bob: again"]


def test_the_same_seed_gives_the_same_run() -> None:
    digests = set()
    for _ in range(2):
        sim = simulate()
        sim.tick(400)
        sim.close()
        digests.add(sim.digest())
    assert len(digests) == 1
