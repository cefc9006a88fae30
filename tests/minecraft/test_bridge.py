"""The client of the bridge, against a process that plays the part of the real one."""

from __future__ import annotations

import asyncio

import pytest

import agentrt as art
from agentrt_examples.minecraft import bridge as bridge_module
from agentrt_examples.minecraft.bridge import BridgeEnded, Refused


def run(scenario):
    return asyncio.run(scenario())


def test_the_first_event_says_that_it_is_ready(fake):
    async def scenario():
        seen = []
        async with fake(seen.append) as bridge:
            return bridge.first["place"], [event["event"] for event in seen]

    assert run(scenario) == ([0, 5, 0], ["spawned"])


def test_an_answer_carries_what_was_asked(fake):
    async def scenario():
        async with fake() as bridge:
            return await bridge.request("echo", place=[1, 2, 3], name="häuschen")

    assert run(scenario) == {"id": 1, "do": "echo", "place": [1, 2, 3], "name": "häuschen"}


def test_answers_find_their_requests_in_whatever_order_they_come(fake):
    async def scenario():
        order = []
        async with fake() as bridge:

            async def ask(name):
                answer = await bridge.request("hold")
                order.append((name, answer["number"]))

            async with asyncio.TaskGroup() as tasks:
                for name in "abc":
                    tasks.create_task(ask(name))
        return order

    assert run(scenario) == [("c", 3), ("b", 2), ("a", 1)]


def test_a_refusal_has_a_code_and_a_text(fake):
    async def scenario():
        async with fake() as bridge:
            with pytest.raises(Refused, match="no way leads there") as caught:
                await bridge.request("refuse")
            return caught.value.code

    assert run(scenario) == "no_path"


def test_a_request_that_is_not_answered_in_time_is_taken_back(fake):
    async def scenario():
        seen = []
        async with fake(seen.append) as bridge:
            with pytest.raises(Refused, match="'nothing' was not answered within 0.02 s") as caught:
                await bridge.request("nothing", timeout=0.02)
            await bridge.request("late", of=1)  # an answer that nobody waits for any more
            await bridge.request("echo")
        return caught.value.code, seen[1:]

    assert run(scenario) == ("timeout", [{"event": "canceled", "of": 1}])


def test_whoever_is_cancelled_takes_the_request_back(fake):
    async def scenario():
        seen = []
        async with fake(seen.append) as bridge:
            asking = asyncio.create_task(bridge.request("nothing"))
            await asyncio.sleep(0)  # it asks first
            await bridge.request("echo")
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            await bridge.request("echo")
        return seen[1:]

    assert run(scenario) == [{"event": "canceled", "of": 1}]


def test_an_answer_may_come_while_its_request_is_being_cancelled(fake):
    async def scenario():
        async with fake() as bridge:
            asking = asyncio.create_task(bridge.request("nothing"))
            await asyncio.sleep(0)
            asking.cancel()
            bridge._take(b'{"id": 1, "ok": {}}')  # before it has heard of it
            with pytest.raises(asyncio.CancelledError):
                await asking
            return await bridge.request("echo")

    assert run(scenario)["id"] == 2  # there was nothing to take back any more


def test_an_answered_request_is_not_taken_back(fake):
    async def scenario():
        seen = []
        async with fake(seen.append) as bridge:
            await bridge.request("echo")
            with pytest.raises(Refused):
                await bridge.request("refuse")
            await bridge.request("echo")
        return seen[1:]

    assert run(scenario) == []


@pytest.mark.states(
    "003: A real server: An action awaits a request to another process as it is; its interruption takes the request "
    "back",
    source="(ours)",
)
def test_an_action_awaits_a_request_and_its_interruption_takes_it_back(fake):
    """On the asyncio host a request is awaited as it is; an event that was posted makes a better plan possible."""

    async def scenario():
        runtime = art.Runtime()
        said, alarm = [], art.Event()

        def take(event):
            said.append(event["event"])
            if event["event"] == "hurt":
                alarm.set()

        async with fake(lambda event: runtime.post(take, event)) as bridge:

            class Walk(art.Action):
                does = art.TOP
                utility = 0.2

                async def run(self, ctx, args):
                    said.append("walking")
                    await bridge.request("nothing")

            class Flee(art.Action):
                does = art.TOP
                utility = 0.9

                async def think(self, ctx, args):
                    await alarm.wait()
                    ctx.set_think_output()

                async def run(self, ctx, args):
                    alarm.clear()
                    answer = await bridge.request("echo", place=[4, 5, 6])
                    said.append(answer["place"])
                    await ctx.next_tick()
                    runtime.stop()

            runtime.add(art.Agent(art.Entity("bot"), actions=[Walk, Flee]))
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(runtime.run(speed=10))
                await bridge.request("echo")
                await bridge.request("events", events=[{"event": "hurt", "by": 3}])
        return said

    said = run(scenario)
    assert said.count("canceled") == 1  # the process hears of it before the next request, and says so when it says so
    said.remove("canceled")
    assert said == ["spawned", "walking", "hurt", [4, 5, 6], "walking"]


@pytest.mark.parametrize(
    ("asks", "why"),
    [
        ({"text": "hello"}, "it wrote b'hello', which is no JSON object"),
        ({"text": 'hello\n{"event": "hurt", "by": 1}'}, "it wrote b'hello', which is no JSON object"),
        ({"text": "[1]"}, "it wrote b'\\[1\\]', which is no JSON object"),
        ({"text": "x" * 64, "times": 20_000}, "it wrote a line of more than 1048576 bytes"),
    ],
)
def test_a_process_that_says_nonsense_is_not_used_any_more(fake, asks, why):
    async def scenario():
        seen = []
        async with fake(seen.append) as bridge:
            with pytest.raises(BridgeEnded, match=why):
                await bridge.request("write", **asks)
            with pytest.raises(BridgeEnded, match=why):
                await bridge.request("echo")
        return [event["event"] for event in seen]

    assert run(scenario) == ["spawned", "ended"]


def test_a_process_that_dies_fails_what_is_open_and_says_its_last_words(fake):
    async def scenario():
        seen = []
        async with fake(seen.append) as bridge:
            waiting = asyncio.create_task(bridge.request("nothing"))
            with pytest.raises(BridgeEnded, match=r"it ended with code 4\n  something broke$"):
                await bridge.request("die")
            with pytest.raises(BridgeEnded, match="code 4"):
                await waiting
        return seen[1:]

    assert run(scenario) == [{"event": "ended", "reason": "it ended with code 4"}]


def test_the_process_may_say_itself_why_it_ends(fake):
    async def scenario():
        seen = []
        async with fake(seen.append) as bridge:
            with pytest.raises(BridgeEnded, match="the bot was kicked"):
                await bridge.request("events", events=[{"event": "ended", "reason": "the bot was kicked"}])
        return seen[1:]

    assert run(scenario) == [{"event": "ended", "reason": "the bot was kicked"}]


def test_a_process_that_does_not_start(fake):
    async def scenario():
        with pytest.raises(BridgeEnded, match=r"it ended with code 3\n  one line\n  no server here$"):
            async with fake(way="dies"):
                pass

    run(scenario)


def test_a_process_that_is_never_ready(fake):
    async def scenario():
        with pytest.raises(BridgeEnded, match=r"it was not ready within 0\.05 s"):
            async with fake(way="mute", patience=0.05):
                pass

    run(scenario)


def test_being_cancelled_at_the_start_ends_the_process(fake):
    async def scenario():
        bridge = fake(way="mute")
        starting = asyncio.create_task(bridge.__aenter__())
        await asyncio.sleep(0.05)
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        # The latter where it had hardly begun: asyncio itself ends a process whose start is cancelled.
        with pytest.raises(BridgeEnded, match="it was closed|it ended with code -9"):
            await bridge.request("echo")

    run(scenario)  # development mode would complain about a process that is left behind


def test_a_process_that_does_not_end_is_killed(fake, monkeypatch):
    monkeypatch.setattr(bridge_module, "_GRACE", 0.02)

    async def scenario():
        async with fake(way="stubborn") as bridge:
            process = bridge._process._transport
        return process.get_returncode()

    assert run(scenario) == -9


def test_nothing_is_heard_of_a_bridge_that_was_closed(fake):
    async def scenario():
        seen = []
        async with fake(seen.append) as bridge:
            waiting = asyncio.create_task(bridge.request("nothing"))
            await bridge.request("echo")
        with pytest.raises(BridgeEnded, match="it was closed"):
            await waiting
        await bridge.close()
        return [event["event"] for event in seen]

    assert run(scenario) == ["spawned"]
