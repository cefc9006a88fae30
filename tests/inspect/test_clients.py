"""A client whose socket is a pretended one: what it is told while nothing can be sent."""

from __future__ import annotations

import asyncio

from modules import load

from agentrt.inspect.live import LiveSource
from agentrt.inspect.server import Client

of = load("tests/inspect/village.py")


class Stuck:
    """A socket that takes nothing, and gives what it is told to."""

    def __init__(self, texts):
        self.texts = list(texts)
        self.closed = None

    async def accept(self):
        pass

    async def send_text(self, text):
        await asyncio.Event().wait()

    async def receive(self):
        if self.texts:
            return {"type": "websocket.receive", "text": self.texts.pop(0)}
        return {"type": "websocket.disconnect"}

    async def close(self, code, reason):
        self.closed = code


def serve(texts):
    async def main():
        runtime = of.make_village()
        source = LiveSource(runtime, "village", controls=True)
        stuck = Stuck(texts)
        client = Client(stuck, source)
        await client.serve()
        runtime.close()
        assert not source._open
        return stuck, client

    return asyncio.run(main())


def test_errors_for_who_does_not_read_are_bounded():
    stuck, client = serve(["nonsense"] * 190 + ['{"do":"pause"}'])
    assert stuck.closed is None
    assert client._outgoing.qsize() == 192  # with the greeting
    assert len(client._session.commands) == 1
    client._allowance = 1000
    for _ in range(50):
        client._tell(of.read("nonsense"))
    assert client._outgoing.qsize() == 200


def test_who_goes_on_and_on_is_sent_away():
    stuck, _ = serve(['{"do":"pause"}'] * 1000)
    assert stuck.closed == 1008
    assert len(stuck.texts) >= 700


def test_too_much_is_asked_for_while_nobody_runs_the_ticks():
    _, client = serve(['{"do":"pause"}'] * 70)
    codes = [
        message.get("code") for message in (client._outgoing.get_nowait() for _ in range(client._outgoing.qsize()))
    ]
    assert codes.count("busy") == 6


def test_a_batch_for_a_loop_that_is_closed():
    _, client = serve([])
    assert client._hand_over([{"is": "state"}]) is False
