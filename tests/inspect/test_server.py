"""The server at its socket: pages, tokens, hosts, hostile clients. One inspector serves all tests that it can serve."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from edited import PACK, Den
from modules import load
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

import agentrt.inspect
from agentrt.inspect import Inspector
from agentrt.inspect import server as listening
from agentrt.inspect.editing import MOST_ASKED
from agentrt.inspect.server import _SILENT_SECONDS
from agentrt.record.recording import Recording

of = load("tests/inspect/village.py")
TOKEN = "0123456789abcdef-secret"
LIMIT = 60.0  # real seconds after which a test gives up; none of them waits for it when all is well


class Driven:
    """A runtime that a thread steps for as long as the inspector is there."""

    def __init__(self, runtime=None, **options):
        self.runtime = runtime or of.make_village()
        self.inspector = Inspector(self.runtime, port=0, **options)
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self._run)
        self.is_up = threading.Event()
        self.error = None
        self.thread.start()
        assert self.is_up.wait(LIMIT)

    def _run(self):
        try:
            with self.inspector:
                self.is_up.set()
                while not self.is_over.wait(0.005):
                    self.runtime.step()
        except BaseException as error:
            self.error = error
        finally:
            self.is_up.set()
            self.runtime.close()

    def close(self):
        self.is_over.set()
        self.thread.join(LIMIT)
        assert not self.thread.is_alive()
        assert self.error is None

    @property
    def port(self):
        return self.inspector.port

    def get(self, path, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LIMIT)
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read(), {name.lower(): value for name, value in answer.getheaders()}
        finally:
            connection.close()

    def socket(self, query="", **options):
        return connect(f"ws://127.0.0.1:{self.port}/ws{query}", open_timeout=LIMIT, close_timeout=1, **options)


def receive(ws, kind, condition=lambda message: True):
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        message = json.loads(ws.recv(timeout=LIMIT))
        if message["is"] == kind and condition(message):
            return message
    pytest.fail(f"no {kind} came")


@pytest.fixture(scope="module")
def driven():
    driven = Driven(controls=True, title="village")
    yield driven
    driven.close()


@pytest.fixture(scope="module")
def locked():
    driven = Driven(token=TOKEN, max_clients=2)
    yield driven
    driven.close()


# --- pages ------------------------------------------------------------------------------------------------------------


def test_the_page_and_what_it_loads(driven):
    status, body, headers = driven.get("/")
    assert status == 200
    assert headers["content-type"] == "text/html; charset=utf-8"
    assert b"<script" in body
    assert headers["content-security-policy"].startswith("default-src 'none'")
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers
    assert "set-cookie" not in headers


def test_every_file_of_the_page_is_served(driven):
    root = Path(agentrt.inspect.__file__).parent / "static"
    names = [path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()]
    assert "index.html" in names
    for name in names:
        if name != "index.html":
            status, body, _ = driven.get(f"/static/{name}")
            assert (status, body) == (200, (root / name).read_bytes()), name


@pytest.mark.parametrize(
    "path",
    [
        "/static/", "/static/..", "/static/../server.py", "/static/%2e%2e/server.py", "/static/..%2fserver.py",
        "/static/.hidden.js", "/static/x.py", "/static/nothing.js", "/static//etc/passwd", "/static/a\\b.js",
        "/static/a/b/c/d/e.js", "/static/x.js%00.css", "/nothing", "/ws", "/static/index.html", "/docs", "/openapi.json",
    ],
)  # fmt: skip
def test_nothing_else_is_served(driven, path):
    status, body, headers = driven.get(path)
    assert status == 404
    assert len(body) < 50
    if path.startswith("/static"):
        assert "content-security-policy" in headers


def test_only_looking(driven):
    connection = http.client.HTTPConnection("127.0.0.1", driven.port, timeout=LIMIT)
    connection.request("POST", "/api/hello", body=b"x" * 100)
    assert connection.getresponse().status == 405
    connection.close()


def test_hello(driven):
    status, body, headers = driven.get("/api/hello")
    assert status == 200
    message = json.loads(body)
    assert (message["is"], message["source"], message["title"], message["controls"]) == (
        "hello",
        "live",
        "village",
        True,
    )
    assert headers["content-type"] == "application/json"


@pytest.mark.states("tools: Past: The last ticks can be saved as a recording ...")
@pytest.mark.slow
def test_the_past_as_a_file(tmp_path):
    keeping = Driven(past=50)
    try:
        end = time.monotonic() + LIMIT
        while keeping.runtime.tick < 60 and time.monotonic() < end:
            time.sleep(0.005)
        status, body, headers = keeping.get("/api/past?ticks=10")
        assert (status, headers["content-type"]) == (200, "application/vnd.sqlite3")
        assert headers["content-disposition"].startswith('attachment; filename="agentrt-')
        assert headers["x-content-type-options"] == "nosniff"
        (tmp_path / "saved.sqlite").write_bytes(body)
        with Recording.open(tmp_path / "saved.sqlite") as saved:
            assert saved.last_tick - saved.first_tick == 9
        for wanted in ("0", "-1", "1e3", "x", "9" * 30, "%D9%A3", "1.5"):
            assert keeping.get(f"/api/past?ticks={wanted}")[:2] == (400, b"'ticks' has to be a whole number above 0")
        for site in ("cross-site", "same-site", "nonsense"):
            assert keeping.get("/api/past", **{"Sec-Fetch-Site": site})[:2] == (403, b"not from here")
        assert keeping.get("/api/past", **{"Sec-Fetch-Site": "same-origin"})[0] == 200
    finally:
        keeping.close()


def test_no_past_to_be_saved(driven):
    status, body, _ = driven.get("/api/past")
    assert (status, b"there is no past yet" in body) == (409, True)


def test_the_past_takes_the_token(locked):
    assert locked.get("/api/past")[0] == 401
    assert locked.get(f"/api/past?token={TOKEN}")[0] == 409


# --- who may --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/api/hello", "/api/past", "/ws"])
@pytest.mark.parametrize(
    "headers", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Host": ""}]
)
def test_not_from_there(driven, path, headers):
    status, body, _ = driven.get(path, **headers)
    assert (status, body) == (403, b"not from here")


@pytest.mark.states("tools: Inspector: Host and Origin are checked ...")
def test_a_socket_from_another_page_is_refused(driven):
    for origin in ("http://evil.example", "null"):
        with pytest.raises(InvalidStatus, match="403"):
            driven.socket(origin=origin)
    with driven.socket(origin=f"http://127.0.0.1:{driven.port}") as ws:
        assert receive(ws, "hello")


def test_a_socket_by_another_name_is_refused(driven):
    with (
        socket.create_connection(("127.0.0.1", driven.port)) as raw,
        pytest.raises(InvalidStatus, match="403"),
    ):
        connect("ws://evil.example/ws", sock=raw, open_timeout=LIMIT)


@pytest.mark.states("tools: Inspector: Loopback by default; any other address needs a token ...")
@pytest.mark.parametrize("query", ["", "?token=", "?token=wrong", f"?token={TOKEN}x", f"?Token={TOKEN}"])
def test_without_the_token(locked, query):
    assert locked.get(f"/api/hello{query}")[0] == 401
    with pytest.raises(InvalidStatus, match="403"):
        locked.socket(query)


def test_with_the_token(locked, caplog):
    caplog.set_level("DEBUG")
    assert locked.get("/")[0] == 200  # the page itself holds nothing
    assert locked.get(f"/api/hello?token={TOKEN}")[0] == 200
    assert locked.get("/api/hello", Authorization=f"Bearer {TOKEN}")[0] == 200
    assert locked.get("/api/hello", Authorization="Bearer wrong")[0] == 401
    assert locked.inspector.url.endswith(f"?token={TOKEN}")
    with locked.socket(f"?token={TOKEN}") as ws:
        assert receive(ws, "hello")
    with locked.socket(additional_headers={"Authorization": f"Bearer {TOKEN}"}) as ws:
        assert receive(ws, "hello")
    ours = [record.getMessage() for record in caplog.records if record.name.startswith(("uvicorn", "agentrt"))]
    assert ours
    assert not [text for text in ours if "secret" in text]


def test_not_too_many_look(locked):
    with locked.socket(f"?token={TOKEN}") as first, locked.socket(f"?token={TOKEN}") as second:
        assert receive(first, "hello")
        assert receive(second, "hello")
        with locked.socket(f"?token={TOKEN}") as third, pytest.raises(ConnectionClosed) as caught:
            third.recv(timeout=LIMIT)
        assert caught.value.rcvd.code == 1013
    for _ in range(100):  # until the server has heard that they went
        try:
            with locked.socket(f"?token={TOKEN}") as again:
                assert receive(again, "hello")
            break
        except ConnectionClosed:
            time.sleep(0.01)
    else:
        pytest.fail("it stays full")


# --- talking ----------------------------------------------------------------------------------------------------------


@pytest.mark.states("001: Overview, inspector: The inspector is a page that shows the tree of a running agent as ...")
@pytest.mark.slow
def test_what_is_watched_comes(driven):
    with driven.socket() as ws:
        assert json.loads(ws.recv(timeout=LIMIT))["is"] == "hello"
        assert json.loads(ws.recv(timeout=LIMIT))["is"] == "state"
        ws.send(json.dumps({"do": "watch", "agents": {}, "agent": "Bob", "events": {}, "timeline": {"agent": "Bob"}}))
        assert receive(ws, "agent")["snapshot"]["name"] == "Bob"
        assert receive(ws, "events", lambda message: message["records"])
        assert receive(ws, "timeline")["agent"] == "Bob"
        assert receive(ws, "agents")["total"] == 3


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "bad_message"),
        ("\x00", "bad_message"),
        (b"\xff\x00", "bad_message"),
        ("[" * 60_000, "bad_message"),
        ('{"do":"__import__"}', "unknown_command"),
        ('{"do":"watch","agent":{}}', "bad_message"),
        ('{"do":"unbreak","id":77}', "unknown_breakpoint"),
    ],
)
def test_a_hostile_message_is_answered(driven, text, code):
    with driven.socket() as ws:
        ws.send(text)
        assert receive(ws, "error")["code"] == code
        ws.send('{"do":"watch","agents":{}}')
        assert receive(ws, "agents")["total"] == 3


def test_a_message_that_is_too_long_ends_it(driven):
    with driven.socket() as ws:
        ws.send("x" * 70_000)
        with pytest.raises(ConnectionClosed) as caught:
            receive(ws, "nothing")
        assert caught.value.rcvd.code == 1009


def test_compression_is_not_spoken(driven):
    with driven.socket(compression="deflate") as ws:
        assert ws.protocol.extensions == []


def chatter(ws):
    for _ in range(2000):
        ws.send('{"do":"nothing"}')
    receive(ws, "nothing")


@pytest.mark.states("tools: Inspector: The socket is hostile: bounded size, depth, rate and number; no code from ...")
def test_who_talks_too_much_is_sent_away(driven):
    tick = driven.runtime.tick
    with driven.socket() as ws:
        with pytest.raises(ConnectionClosed) as caught:
            chatter(ws)
        told = caught.value.rcvd  # nothing, if it still talked when the connection was gone
        assert told is None or told.code == 1008
    assert driven.runtime.tick > tick
    with driven.socket() as ws:  # the next one is served
        assert receive(ws, "hello")


@pytest.mark.slow
def test_who_does_not_read_holds_up_nobody(driven):
    with driven.socket(max_queue=1) as lazy, driven.socket() as ws:
        lazy.send('{"do":"watch","events":{},"agents":{},"agent":"Bob"}')
        tick = driven.runtime.tick
        receive(ws, "state", lambda message: message["tick"] > tick + 20)


def test_controls(driven):
    with driven.socket() as ws:
        ws.send('{"do":"break","kind":"action","name":"Rest","agent":"Ann"}')
        state = receive(ws, "state", lambda message: message["paused"])
        assert state["reason"] == "breakpoint: action Rest of Ann (Ann agentrt:top/Live/mod:rest/Rest)"
        ws.send(json.dumps({"do": "unbreak", "id": state["breakpoints"][0]["id"]}))
        ws.send('{"do":"step","ticks":3}')
        assert receive(ws, "state", lambda message: message["tick"] == state["tick"] + 3)["paused"]
        ws.send('{"do":"resume"}')
        assert not receive(ws, "state", lambda message: not message["paused"])["breakpoints"]


@contextmanager
def raw(driven):
    with socket.create_connection(("127.0.0.1", driven.port), timeout=LIMIT) as sock:
        yield sock


@pytest.mark.parametrize(
    "text",
    [
        b"\x00\x01\x02\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n",
        b"GET /" + b"x" * 100_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        b"POST /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
        b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: no\r\n\r\n",
    ],
)
def test_a_request_that_is_none(driven, text):
    with raw(driven) as sock:
        sock.sendall(text)
        answer = sock.recv(100)
    assert answer[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 403", b"HTTP/1.1 404", b"HTTP/1.1 405", b"")
    assert driven.get("/")[0] == 200


def test_two_origins_are_none(driven):
    ours = f"http://127.0.0.1:{driven.port}".encode()
    for origins in ([ours, b"http://evil.example"], [b"http://evil.example", ours]):
        lines = [b"GET / HTTP/1.1", f"Host: 127.0.0.1:{driven.port}".encode(), *(b"Origin: " + one for one in origins)]
        with raw(driven) as sock:
            sock.sendall(b"\r\n".join(lines) + b"\r\n\r\n")
            assert sock.recv(100).startswith(b"HTTP/1.1 403")


@pytest.mark.slow
def test_who_asks_for_nothing_is_not_waited_for(driven, monkeypatch):
    monkeypatch.setattr(listening, "_SILENT_SECONDS", 0.1)
    with raw(driven) as silent, raw(driven) as half, driven.socket() as ws:
        half.sendall(b"GET / HTTP/1.1\r\n")
        for sock in (silent, half):
            try:
                assert sock.recv(1) == b""
            except ConnectionResetError:
                pass
        assert receive(ws, "hello")  # a WebSocket may be silent
        ws.send('{"do":"watch","agents":{}}')
        assert receive(ws, "agents")


@pytest.mark.slow
def test_who_begins_a_second_request_and_never_ends_it_is_not_waited_for(driven, monkeypatch):
    monkeypatch.setattr(listening, "_SILENT_SECONDS", 0.2)
    with raw(driven) as half:
        half.sendall(f"GET /api/hello HTTP/1.1\r\nHost: 127.0.0.1:{driven.port}\r\n\r\n".encode())
        assert half.recv(12) == b"HTTP/1.1 200"
        half.sendall(b"GET / HT")
        try:
            while half.recv(4096):
                pass
        except ConnectionResetError:
            pass


@pytest.mark.states("tools: Inspector: The socket is hostile: bounded size, depth, rate and number; no code from ...")
def test_not_too_many_connections(driven):
    socks = [socket.create_connection(("127.0.0.1", driven.port), timeout=LIMIT) for _ in range(160)]
    try:
        gone = 0
        for sock in socks[128:]:
            sock.settimeout(_SILENT_SECONDS / 2)  # at once, and not because they are silent
            try:
                gone += sock.recv(1) == b""
            except ConnectionResetError:
                gone += 1
        assert gone >= 30
    finally:
        for sock in socks:
            sock.close()
    for _ in range(100):
        try:
            assert driven.get("/")[0] == 200
            return
        except (ConnectionError, http.client.HTTPException):
            time.sleep(0.01)
    pytest.fail("it stays full")


# --- edits --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def edited(tmp_path):
    den = Den(tmp_path / "game", tmp_path)
    edited = Driven(runtime=den.runtime, controls=True, editing=den.reloader)
    edited.den = den
    with edited.socket() as ws:
        ws.send('{"do":"watch","editing":true}')
        receive(ws, "files")
        yield edited
    edited.close()


def post(driven, body, path="/api/edit", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", driven.port, timeout=LIMIT)
    told = {"Content-Type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
    try:
        connection.request("POST", path, body=body if isinstance(body, bytes) else json.dumps(body), headers=told)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_a_file_is_opened_checked_and_saved_over_the_server(edited):
    status, body = post(edited, {"do": "open", "file": "packs/wolf.json"})
    message = json.loads(body)
    assert (status, message["is"], message["text"]) == (200, "document", PACK)
    status, body = post(edited, {"do": "check", "file": "packs/wolf.json", "text": "{"})
    assert (status, json.loads(body)["ok"]) == (200, False)
    text = PACK.replace("what a wolf", "all that a wolf")
    asked = {"do": "save", "file": "packs/wolf.json", "text": text, "version": message["version"]}
    status, body = post(edited, asked)
    assert (status, json.loads(body)["is"]) == (200, "saved")
    assert edited.den.read("packs/wolf.json").decode() == text
    status, body = post(edited, asked)  # once more: it was changed since, if only by the one before
    assert (status, json.loads(body)["status"], json.loads(body)["code"]) == (200, 409, "changed")


@pytest.mark.states("tools: Inspector: Edits come from the page alone: by POST with JSON, of bounded size and rate")
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "evil.example"}, 403),
        ({"Sec_Fetch_Site": "cross-site"}, 403),
        ({"Sec_Fetch_Site": "same-site"}, 403),
        ({"Content_Type": "text/plain"}, 415),
        ({"Content_Type": "application/x-www-form-urlencoded"}, 415),
        ({"Content_Type": ""}, 415),
    ],
)
def test_a_page_of_somebody_else_edits_nothing(edited, headers, status):
    asked = {"do": "save", "file": "packs/wolf.json", "text": "{}", "version": ""}
    assert post(edited, asked, **headers)[0] == status
    assert edited.den.read("packs/wolf.json").decode() == PACK


def test_edits_are_posted_and_nothing_else(edited):
    assert edited.get("/api/edit?do=open&file=packs/wolf.json")[0] == 405


def test_an_edit_needs_the_token(locked):
    assert post(locked, {"do": "open"})[0] == 401
    assert post(locked, {"do": "open"}, f"/api/edit?token={TOKEN}")[0] == 403  # it has no controls


def test_an_edit_is_bounded_in_size_and_rate(edited, monkeypatch):
    monkeypatch.setattr(
        listening, "_EDITS_PER_SECOND", 0.0
    )  # however slow this machine is, no more come in than at once
    status, _ = post(edited, b" " * (MOST_ASKED + 1))
    assert status == 413
    statuses = [post(edited, {"do": "open", "file": "nothing"})[0] for _ in range(60)]
    at_once = statuses.index(429)
    assert statuses == [200] * at_once + [429] * (60 - at_once)
    assert at_once > 30


@pytest.mark.slow
def test_an_edit_that_never_comes_in_is_not_waited_for(edited, monkeypatch):
    monkeypatch.setattr(listening, "_BODY_SECONDS", 0.1)
    head = f"POST /api/edit HTTP/1.1\r\nHost: 127.0.0.1:{edited.port}\r\nContent-Type: application/json\r\n"
    with raw(edited) as slow:
        slow.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
        assert slow.recv(12) == b"HTTP/1.1 408"
    assert post(edited, {"do": "open", "file": "packs/wolf.json"})[0] == 200


def test_a_recording_has_no_files_to_be_edited(tmp_path):
    path = tmp_path / "run.sqlite"
    runtime = of.make_village()
    with runtime.record(path):
        runtime.step()
    runtime.close()
    with Inspector(path, port=0, controls=True) as inspector:
        _, body = post(inspector, {"do": "open", "file": "a"})
        assert json.loads(body)["code"] == "not_live"
