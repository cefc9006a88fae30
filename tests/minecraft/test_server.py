"""The bridge with the real server behind it. Run by ``make test-minecraft``; takes real time, as a server does."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentrt_examples.minecraft.bridge import Bridge, BridgeEnded, Refused

pytestmark = pytest.mark.slow

DIRT = [-3, 4, -2]  # under the grass of the meadow where everybody appears


@pytest.fixture(scope="module")
def server(real):
    """One server for all: ``server(scenario)`` runs a coroutine function with the bridge and what happens meanwhile."""
    seen = []
    with asyncio.Runner() as runner:
        bridge = Bridge(real, seen.append)
        runner.run(bridge.__aenter__())

        def run(scenario):
            seen.clear()
            return runner.run(asyncio.wait_for(scenario(bridge, seen), 40))

        run.first = bridge.first
        yield run
        runner.run(bridge.close())


def names(seen):
    return [event["event"] for event in seen if event["event"] != "moved"]


async def refused(request):
    with pytest.raises(Refused) as caught:
        await request
    return caught.value.code


async def until(condition):
    while not condition():  # noqa: ASYNC110  what a process does sets no event of ours
        await asyncio.sleep(0.05)


async def carried(bridge):
    return (await bridge.request("state"))["items"]


def test_everybody_appears_at_the_origin_with_nothing(server):
    first = server.first
    assert (first["event"], first["version"], first["place"], first["items"]) == ("spawned", "1.16.5", [0, 5, 0], {})


def test_blocks_are_found_nearest_first_and_are_those_of_the_seed(server):
    async def scenario(bridge, seen):
        kinds = ["oak_log", "coal_ore", "diamond_ore", "stone", "raw_iron_block"]
        return await bridge.request("find_blocks", kinds=kinds, within=24, count=3)

    found = server(scenario)
    assert found["unknown"] == ["raw_iron_block"]  # it came with a later version of the game
    assert found["blocks"] == {
        "oak_log": [[3, 5, -12], [3, 6, -12], [3, 7, -12]],
        "coal_ore": [[-11, 5, 4], [-13, 5, -13], [5, 5, 20]],
        "diamond_ore": [],
        "stone": [[-11, 5, 3], [-12, 5, 3], [-12, 5, 4]],  # in a heap; what lies under the meadow is not to be seen
        "raw_iron_block": [],
    }


def test_walk_dig_and_collect(server):
    async def scenario(bridge, seen):
        assert await bridge.request("walk", place=[-3, 5, -1]) == {"place": [-3, 5, -1]}
        assert await bridge.request("block_at", place=DIRT) == {"kind": "grass_block"}
        assert await bridge.request("dig", place=DIRT) == {"kind": "grass_block"}
        assert await bridge.request("block_at", place=DIRT) == {"kind": "air"}
        await until(lambda: "inventory" in names(seen))  # what dropped is near enough to be collected
        return await carried(bridge), names(seen)

    assert server(scenario) == ({"dirt": 1}, ["collected", "inventory"])


def test_what_lies_on_the_ground_is_found_and_collected_by_going_there(server):
    async def scenario(bridge, seen):
        await bridge.request("walk", place=[0, 5, 0])
        before = await carried(bridge)
        await bridge.request("dig", place=[3, 4, 0])
        await asyncio.sleep(1.0)  # it has come to rest
        (drop,) = (await bridge.request("drops", within=8))["drops"]
        await bridge.request("walk", place=drop["place"], within=1)
        await until(lambda: "inventory" in names(seen))
        assert await carried(bridge) == {"dirt": before["dirt"] + 1}
        return drop["kind"], await bridge.request("drops", within=8)

    assert server(scenario) == ("dirt", {"drops": []})


@pytest.mark.states("003: A real server: An action awaits a request to another process as it is; its interruption ...")
def test_a_motion_is_cancelled_replaced_and_begun_again(server):
    async def scenario(bridge, seen):
        await bridge.request("walk", place=[0, 5, 0])
        far = asyncio.create_task(bridge.request("walk", place=[10, 5, 10]))
        await until(lambda: len(seen) > 3)
        far.cancel()
        await asyncio.wait([far])
        here = (await bridge.request("state"))["place"]
        await asyncio.sleep(0.5)
        assert max(abs(a - b) for a, b in zip((await bridge.request("state"))["place"], here, strict=True)) <= 1
        again = asyncio.create_task(bridge.request("walk", place=[10, 5, 10]))
        await until(lambda: seen[-1].get("place", here) != here)
        assert (await bridge.request("walk", place=[0, 5, 0]))["place"] == [0, 5, 0]
        assert await refused(again) == "replaced"
        digging = asyncio.create_task(bridge.request("dig", place=[0, 4, 1]))
        await asyncio.sleep(0.2)
        assert await bridge.request("stop") == {"stopped": True}
        assert await refused(digging) == "canceled"
        return await bridge.request("block_at", place=[0, 4, 1]), await bridge.request("stop")

    assert server(scenario) == ({"kind": "grass_block"}, {"stopped": False})


def test_being_hurt_and_being_given_a_tool_that_is_made_use_of(server):
    async def scenario(bridge, seen):
        await bridge.request("walk", place=[0, 5, 0])
        await bridge.request("server_hurt", amount=5)
        await until(lambda: "hurt" in names(seen))
        await bridge.request("server_give", kind="iron_shovel")
        await until(lambda: "inventory" in names(seen))
        await bridge.request("dig", place=[0, 4, 1])
        return [event for event in seen if event["event"] != "moved"][:3], await bridge.request("state")

    happened, state = server(scenario)
    assert happened == [
        {"event": "health", "health": 15, "food": 20},
        {"event": "hurt", "by": 5, "health": 15},
        {"event": "inventory", "items": {"dirt": 2, "iron_shovel": 1}},
    ]
    assert (state["health"], state["held"]) == (15, "iron_shovel")


def test_what_an_operator_puts_down_is_seen(server):
    async def scenario(bridge, seen):
        await bridge.request("server_set_block", place=[2, 5, 2], kind="diamond_block")
        await asyncio.sleep(0.3)
        return (await bridge.request("find_blocks", kinds=["diamond_block"], within=16))["blocks"]

    assert server(scenario) == {"diamond_block": [[2, 5, 2]]}


@pytest.mark.states(
    "003: A real server: The bridge process is bounded, answers each request once, and does not outlive whoever "
    "started it",
    source="(ours)",
)
def test_what_cannot_be_done_is_refused_with_a_code(server):
    async def scenario(bridge, seen):
        request = bridge.request
        return [
            await refused(request("fly")),
            await refused(request("constructor")),
            await refused(request("walk")),
            await refused(request("walk", place=[1, 2])),
            await refused(request("walk", place=["1", 5, 1])),
            await refused(request("find_blocks", kinds=["oak log"])),
            await refused(request("find_blocks", kinds=["oak_log"], within=10_000)),
            await refused(request("dig", place=[9, 4, 9])),
            await refused(request("dig", place=[0, 9, 0])),
            await refused(request("block_at", place=[2000, 5, 2000])),
            await refused(request("server_give", kind="unobtainium")),
            await refused(request("walk", place=[0, 0, 0], timeout=15)),  # in the bedrock
            await refused(request("echo", text="x" * 70_000, timeout=0.2)),
            (await request("state"))["health"],
        ]

    assert server(scenario) == [
        "unknown", "unknown", "bad_request", "bad_request", "bad_request", "bad_request", "bad_request",
        "out_of_reach", "nothing_there", "not_loaded", "server", "no_path", "timeout", 15,
    ]  # fmt: skip


def test_dying_and_beginning_again(server):
    async def scenario(bridge, seen):
        await bridge.request("server_hurt", amount=20)
        await until(lambda: "died" in names(seen))
        await until(lambda: seen[-1].get("health") == 20)
        return names(seen), (await bridge.request("state"))["health"]

    assert server(scenario) == (["health", "hurt", "died", "health"], 20)


@pytest.mark.states("003: A real server: The bridge process is bounded, answers each request once, and does not ...")
def test_nothing_stays_behind_when_the_parent_is_killed(real):
    """The server goes with the bridge, and the bridge with whoever holds its standard input."""
    code = (
        "import subprocess, sys, time\n"
        "bridge = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "bridge.stdout.readline()\n"
        "print(bridge.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, *map(str, real)], stdout=subprocess.PIPE, text=True) as parent:
        pid = int(parent.stdout.readline())
        os.kill(pid, 0)
        parent.kill()
    asyncio.run(asyncio.wait_for(until(lambda: _is_gone(pid)), 30))


def _is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    status = Path(f"/proc/{pid}/stat")  # nobody may be there to bury it
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_server_that_cannot_start_says_why(real, tmp_path):
    """Here there are no packages where they are looked for."""
    node, script, _modules, seed = real

    async def main():
        async with Bridge([node, script, tmp_path, seed], lambda event: None):
            pass

    with pytest.raises(BridgeEnded, match=r"Cannot find module '(vec3|flying-squid)'"):
        asyncio.run(main())
