"""Simulations never wait, and need no network: what guests type is sent as an input."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from agentrt.record import Recording
from agentrt.testing import Simulation, happened
from websockets.asyncio.client import connect

from mygame import world
from mygame.client import Client
from mygame.server import open_inn


def simulate(seed: int = 1) -> Simulation:
    return Simulation(runtime=world.make(seed=seed, host="plain"))


def test_a_guest_orders_and_is_served() -> None:
    sim = simulate()
    sim.runtime.send("join", name="Ann")
    sim.runtime.send("type", name="Ann", text="order a pie", number=1)
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
        async with connect(f"ws://127.0.0.1:{port}", proxy=None) as guest:
            for said in ({"name": "Bob"}, {"number": 1, "text": "say hello"}, {"number": 1, "text": "say hello"}):
                await guest.send(json.dumps(said))
            return [str(await guest.recv()) for _ in range(4)]

    assert sorted(asyncio.run(evening(visit))) == [
        '{"heard": "Bob comes in"}',
        '{"heard": "Bob: hello"}',
        '{"kept": 1}',
        '{"kept": 1}',
    ]


def test_what_is_no_message_does_nothing() -> None:
    odd = ("{", b"\xff", '{"number": true}', '{"number": -1}', '{"number": "2"}', '{"number": 3, "text": 4}')

    async def visit(port: int) -> list[str]:
        async with connect(f"ws://127.0.0.1:{port}", proxy=None) as stranger:
            await stranger.send("[1]")
            refused = str(await stranger.recv())
        async with connect(f"ws://127.0.0.1:{port}", proxy=None) as guest:
            await guest.send(json.dumps({"name": "B\x1b[2Job"}))
            for said in odd:
                await guest.send(said)
            return [refused, *[str(await guest.recv()) for _ in range(3)]]

    assert sorted(asyncio.run(evening(visit))) == [
        '{"heard": "B[2Job comes in"}',
        '{"heard": "B[2Job tries to "}',
        '{"kept": 3}',
        '{"refused": "Nobody can come in by that name."}',
    ]


async def evening(visit: Callable[[int], Awaitable[list[str]]]) -> list[str]:
    """Run an inn while somebody visits it."""
    runtime = world.make(seed=1, host="asyncio")
    async with asyncio.timeout(10):
        running = asyncio.create_task(runtime.run(speed=50))
        inn = await open_inn(runtime, 0)
        heard = await visit(inn.sockets[0].getsockname()[1])
        runtime.stop()
        await running
        inn.close()
    return heard


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_clients_come_back_after_the_server_was_killed(tmp_path: Path) -> None:
    """Nothing that was kept is lost, and nothing comes twice."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "agentrt.cli", "serve", "--record", str(tmp_path / "inn"), "--health-port", "0"]
    service = subprocess.Popen(
        [*command, "--speed", "10"], cwd=Path(__file__).parents[1], env={**os.environ, "INN_PORT": str(port)},
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert service.stderr is not None
    heard: dict[str, list[str]] = {"Ann": [], "Bob": []}
    lines = [str(number) for number in range(1, 13)]
    with service:
        try:
            health = next(line for line in service.stderr if "health: " in line).split("health: ")[1].partition(";")[0]
            asyncio.run(asyncio.wait_for(play(port, heard, lines, health), 40))
        finally:
            service.terminate()
        service.stderr.read()
    with Recording(tmp_path / "inn") as recording:
        assert len(recording.header("resumed")) == 1
        notes = [str(dict(one.detail)["text"]) for one in recording.records(events=["note"])]
    for name, hears in heard.items():
        assert [note for note in notes if note.startswith(f"{name}: ")] == [f"{name}: {line}" for line in lines]
        said = [text for text in hears if text.startswith("Ann: ")]
        assert sorted(set(said), key=said.index) == said  # nobody heard anything twice


async def play(port: int, heard: dict[str, list[str]], lines: list[str], health: str) -> None:
    """Type lines as several players, and kill the server in the middle; until all is kept and done."""
    clients = [Client(name, hears.append, port, first=0) for name, hears in heard.items()]
    playing = [asyncio.create_task(client.play()) for client in clients]
    for line in lines:
        for client in clients:
            client.type(f"say {line}")
        if line == "6":
            while any("Ann: 3" not in hears for hears in heard.values()):  # some is kept and done, some not
                await asyncio.sleep(0.01)
            with await asyncio.to_thread(urllib.request.urlopen, health) as answer:
                os.kill(json.load(answer)["pid"], signal.SIGKILL)
    while any(f"{name}: {lines[-1]}" not in hears for name, hears in heard.items()) or any(
        client.unkept for client in clients
    ):
        await asyncio.sleep(0.01)
    for task in playing:
        task.cancel()
    await asyncio.wait(playing)


def test_the_same_seed_gives_the_same_run() -> None:
    digests = set()
    for _ in range(2):
        sim = simulate()
        sim.tick(400)
        sim.close()
        digests.add(sim.digest())
    assert len(digests) == 1
