"""Beginning and end of an inspector, in every order, on every host; and that a run is the same with it and without."""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import gc
import json
import socket
import subprocess
import sys
import threading
import time

import anyio
import pytest
import trio
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from modules import load
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from agentrt.errors import InspectorError, MissingExtraError, RecordingError
from agentrt.inspect import Inspector
from agentrt.kernel.trace import TraceDigest

of = load("tests/inspect/village.py")
LIMIT = 60.0


def threads():
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("agentrt inspector")]


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    assert threads() == []


def ws_of(inspector):
    return connect(f"ws://127.0.0.1:{inspector.port}/ws", open_timeout=LIMIT, close_timeout=1)


def step_until(runtime, ws, kind, condition=lambda message: True):
    """Step a runtime on this thread until a client on this thread is told something."""
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        runtime.step()
        with contextlib.suppress(TimeoutError):
            message = json.loads(ws.recv(timeout=0.01))
            if message["is"] == kind and condition(message):
                return message
    pytest.fail(f"no {kind} came")


# --- with and async with ----------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_with():
    runtime = of.make_village()
    inspector = Inspector(runtime, port=0)
    assert not inspector.is_running
    with inspector:
        assert inspector.is_running
        assert inspector.port > 0
        assert repr(inspector) == f"<Inspector: http://127.0.0.1:{inspector.port}/>"
        with ws_of(inspector) as ws:
            assert step_until(runtime, ws, "state", lambda message: message["tick"] > 3)
    assert not inspector.is_running
    runtime.step()
    assert not runtime.trace.on
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", inspector.port))
    runtime.close()


@pytest.mark.slow
@pytest.mark.parametrize("host", ["asyncio", "trio"])
def test_async_with(host):
    told = []

    async def main():
        runtime = of.make_village(host)
        inspector = Inspector(runtime, port=0, controls=True)
        async with runtime, inspector, anyio.create_task_group() as group:
            group.start_soon(anyio.to_thread.run_sync, look, inspector)
            await runtime.run(speed=10)

    def look(inspector):
        with ws_of(inspector) as ws:
            ws.send('{"do":"pause"}')
            until(ws, lambda message: message["paused"])
            ws.send('{"do":"watch","agent":"Ann"}')  # composed while it stands before the gate
            told.append(json.loads(ws.recv(timeout=LIMIT)))
            ws.send('{"do":"resume"}')
            until(ws, lambda message: not message["paused"])
            inspector._source._runtime.stop()

    def until(ws, condition):
        while True:
            message = json.loads(ws.recv(timeout=LIMIT))
            if message["is"] == "state" and condition(message):
                return

    (asyncio if host == "asyncio" else trio).run(main() if host == "asyncio" else main)
    assert told[0]["is"] in ("agent", "state")


@pytest.mark.parametrize("host", ["asyncio", "trio"])
def test_cancelled(host):
    async def main():
        runtime = of.make_village(host)
        with anyio.move_on_after(0.05):
            async with runtime, Inspector(runtime, port=0):
                await runtime.run()

    (asyncio if host == "asyncio" else trio).run(main() if host == "asyncio" else main)


def test_begun_twice():
    runtime = of.make_village()
    with Inspector(runtime, port=0) as inspector:
        with pytest.raises(InspectorError, match="it runs already"):
            inspector.start()
        runtime.step()
    inspector.stop()
    with inspector:  # but again it can be begun
        assert threads() == ["agentrt inspector"]
    runtime.close()


# --- what goes wrong --------------------------------------------------------------------------------------------------


@pytest.mark.states("tools: Inspector: Several inspectors, a port in use, ends in any order leave nothing behind ...")
def test_a_port_in_use():
    runtime = of.make_village()
    with Inspector(runtime, port=0) as inspector:
        other = Inspector(runtime, port=inspector.port)
        with pytest.raises(InspectorError, match=rf"ART112.*cannot listen on '127.0.0.1', port {inspector.port}.*or 0"):
            other.start()
        assert not other.is_running
        with ws_of(inspector) as ws:
            step_until(runtime, ws, "state", lambda message: message["tick"] > 0)
    assert not runtime.gate._attendants
    runtime.close()


@pytest.mark.parametrize("options", [{"address": "no such host.invalid", "token": "x" * 16}, {"port": 70_000}])
def test_an_address_that_is_none(options):
    runtime = of.make_village()
    with pytest.raises(InspectorError, match="cannot listen"):
        Inspector(runtime, **{"port": 0, **options}).start()
    assert not runtime.gate._attendants


def test_no_recording(tmp_path):
    with pytest.raises(RecordingError):
        Inspector(tmp_path / "none.sqlite", port=0).start()
    (tmp_path / "text.sqlite").write_text("no recording")
    with pytest.raises(RecordingError):
        Inspector(tmp_path / "text.sqlite", port=0).start()
    gc.collect()  # no socket is left


@pytest.mark.checkout
def test_without_the_extra(monkeypatch):
    real = builtins.__import__

    def none(name, *others):
        if name == "agentrt.inspect" and "server" in (others[2] or ()):
            raise ModuleNotFoundError("No module named 'starlette'", name="starlette")
        return real(name, *others)

    monkeypatch.setattr(builtins, "__import__", none)
    with pytest.raises(MissingExtraError, match=r"'starlette'.*pip install -e '.\[inspect\]'"):
        Inspector(of.make_village(), port=0).start()


@pytest.mark.slow
def test_only_the_server_needs_the_extra():
    """Whoever has it not is told by the inspector what to install, and not by an import."""
    program = """
import sys
sys.modules.update(dict.fromkeys(["starlette", "uvicorn", "websockets"]))
from agentrt import Runtime
from agentrt.errors import MissingExtraError
from agentrt.inspect import Inspector
try:
    Inspector(Runtime()).start()
except MissingExtraError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert "pip install" in done.stdout


# --- orders -----------------------------------------------------------------------------------------------------------


def receive_all(ws):
    while True:
        ws.recv(timeout=LIMIT)


def test_it_ends_while_clients_look():
    runtime = of.make_village()
    with contextlib.ExitStack() as stack:
        with Inspector(runtime, port=0) as inspector:
            clients = [stack.enter_context(ws_of(inspector)) for _ in range(3)]
            for ws in clients:
                ws.send('{"do":"watch","agents":{},"events":{}}')
                step_until(runtime, ws, "events")
        for ws in clients:
            with pytest.raises(ConnectionClosed):
                receive_all(ws)
            assert ws.protocol.close_code == 1012
    runtime.step()
    runtime.close()


@pytest.mark.states("tools: Inspector: Several inspectors, a port in use, ends in any order leave nothing behind ...")
@pytest.mark.slow
def test_it_ends_while_it_is_paused_and_a_client_does_not_read():
    runtime = of.make_village()
    with contextlib.ExitStack() as stack:
        inspector = Inspector(runtime, port=0, controls=True)
        stack.callback(inspector.stop)
        inspector.start()
        raw = socket.create_connection(("127.0.0.1", inspector.port))
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        ws = stack.enter_context(
            connect(f"ws://127.0.0.1:{inspector.port}/ws", sock=raw, max_queue=1, close_timeout=0.1)
        )
        ws.send('{"do":"watch","agents":{},"events":{},"agent":"Bob"}')
        for number in range(300):
            runtime.note("x" * 3000, number=number)
            runtime.step()
            time.sleep(0.001)
        ws.send('{"do":"pause"}')
        end = time.monotonic() + LIMIT
        while runtime.step() and time.monotonic() < end:
            time.sleep(0.005)
        assert runtime.gate.is_closed
        inspector.stop()
        assert runtime.step() == 1
    runtime.close()


@pytest.mark.slow
def test_the_runtime_is_closed_first():
    runtime = of.make_village()
    with Inspector(runtime, port=0) as inspector, ws_of(inspector) as ws:
        ws.send('{"do":"watch","agents":{},"agent":"Ann"}')
        step_until(runtime, ws, "agent")
        runtime.close()
        assert step_until(runtime, ws, "agents", lambda message: message["total"] == 0)
    runtime.close()


@pytest.mark.slow
def test_clients_that_come_and_go_at_any_moment():
    runtime = of.make_village()
    with Inspector(runtime, port=0, past=0) as inspector:
        errors = []

        def visit(number):
            try:
                for turn in range(4):
                    with ws_of(inspector) as ws:
                        ws.send('{"do":"watch","agents":{},"agent":"Bob","events":{},"timeline":{"agent":"Bob"}}')
                        if turn % 2:
                            ws.recv(timeout=LIMIT)
                        if number % 2:
                            ws.socket.close()  # without a word
            except BaseException as error:
                errors.append(error)

        visitors = [threading.Thread(target=visit, args=(number,)) for number in range(4)]
        for visitor in visitors:
            visitor.start()
        while any(visitor.is_alive() for visitor in visitors):
            runtime.step()
            time.sleep(0.001)
        assert [error for error in errors if not isinstance(error, OSError)] == []
        end = time.monotonic() + LIMIT
        while runtime.trace.on and time.monotonic() < end:
            runtime.step()
            time.sleep(0.001)
        assert not runtime.trace.on  # all have gone, and nobody listens
    runtime.close()


@pytest.mark.states("tools: Inspector: Several inspectors, a port in use, ends in any order leave nothing behind")
@pytest.mark.slow
def test_two_inspectors_of_one_runtime():
    runtime = of.make_village()
    with Inspector(runtime, port=0) as first, Inspector(runtime, port=0, controls=True) as second:
        assert first.port != second.port
        with ws_of(first) as one, ws_of(second) as two:
            two.send('{"do":"pause"}')
            step_until(runtime, one, "state", lambda message: message["paused"])
            two.send('{"do":"resume"}')
            step_until(runtime, one, "state", lambda message: not message["paused"])
    runtime.close()


# --- the run is the same ----------------------------------------------------------------------------------------------

names = st.sampled_from(["Ann", "Bob", "Cyd", "Nobody", "", "\x00"])
watches = st.fixed_dictionaries(
    {"do": st.just("watch")},
    optional={
        "agents": st.fixed_dictionaries({"filter": names, "running": st.sampled_from(["", "eat"])}),
        "agent": names,
        "events": st.fixed_dictionaries({"agent": names, "text": st.sampled_from(["", "mod"])}),
        "timeline": st.fixed_dictionaries({"agent": names, "first": st.integers(0, 40)}),
    },
)
breaks = st.fixed_dictionaries(
    {
        "do": st.just("break"),
        "kind": st.sampled_from(["action", "activity", "decider", "goal", "agent"]),
        "name": st.sampled_from(["Eat", "mod:rest", "AWAKE", "Stare", "Ann"]),
        "agent": names,
    }
)
others = st.sampled_from(["pause", "resume", "play", "step", "unbreak", "at", "speed"]).map(
    lambda do: {"do": do, "id": 1, "tick": 3, "speed": 3.0, "ticks": 2}
)
steps = st.lists(
    st.tuples(st.integers(0, 2), watches | breaks | others | st.sampled_from(["come", "go", "lazy"])), max_size=25
)
TICKS = 40


def digest_without():
    runtime = of.make_village()
    digest = TraceDigest(runtime.trace)
    for _ in range(TICKS):
        runtime.step()
    return digest.hexdigest()


def drive(runtime, script):
    """A generator that does the next part of a script each time, as if three clients were there."""
    watched = of.Watched(runtime)
    clients = [watched.client() for _ in range(3)]
    script = list(script)

    def act():
        watched.clock.now += 0.06
        if script:
            who, what = script.pop(0)
            client = clients[who]
            if what == "come" or client.is_gone:
                clients[who] = watched.client(events={})
            elif what == "go":
                client.leave()
            elif what == "lazy":
                client.reads = not client.reads
            else:
                client.ask(**what)
        elif runtime.gate.is_closed:
            watched.source.detach()

    return watched, act


@pytest.mark.states(
    "tools: Inspector: Watching never changes the run: the digest is the same whatever clients ask and watch, on "
    "every host",
    source="design 7",
)
@pytest.mark.slow
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps)
def test_watching_changes_nothing(script):
    runtime = of.make_village()
    digest = TraceDigest(runtime.trace)
    watched, act = drive(runtime, script)
    while runtime.tick < TICKS:
        act()
        runtime.step()
    assert digest.hexdigest() == digest_without()
    watched.source.detach()
    digest.close()
    assert not runtime.trace.on
    runtime.close()


@pytest.mark.states("tools: Inspector: Watching never changes the run: the digest is the same whatever clients ask ...")
@pytest.mark.parametrize("host", ["asyncio", "trio"])
def test_watching_changes_nothing_on_event_loops(host):
    script = [
        (0, {"do": "watch", "agents": {}, "agent": "Bob", "events": {}, "timeline": {"agent": "Bob"}}),
        (1, {"do": "break", "kind": "action", "name": "Rest"}),
        (0, "lazy"),
        (2, "go"),
        (1, {"do": "step", "ticks": 3}),
        (2, "come"),
        (1, {"do": "unbreak", "id": 1}),
        (1, {"do": "resume"}),
    ]
    digests = []

    async def main():
        runtime = of.make_village(host)
        digest = TraceDigest(runtime.trace)
        watched, act = drive(runtime, script)
        runtime.after_tick(act)
        runtime.gate.attend(act)
        await runtime.run(TICKS, speed=float("inf"))
        digests.append(digest.hexdigest())
        watched.source.detach()
        await runtime.aclose()

    (asyncio if host == "asyncio" else trio).run(main() if host == "asyncio" else main)
    assert digests == [digest_without()]
