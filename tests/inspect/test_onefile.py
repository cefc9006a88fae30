"""A recording as one file: what is in it, how large it may become, who is given it; its page is looked at in browsers."""

from __future__ import annotations

import base64
import contextlib
import gzip
import hashlib
import http.client
import io
import json
import re
import shutil
import sqlite3
import threading
from urllib.parse import urlencode

import pytest
from modules import load

from agentrt.errors import AgentRTError, RecordingError
from agentrt.inspect import Inspector, OneFile, onefile, write_html
from agentrt.inspect.onefile import _bundle
from agentrt.record.recording import Recording
from agentrt.snapshot.offered import offered, values_by_name

of = load("tests/inspect/village.py")
hostile = load("tests/record/test_hostile_files.py")
TICKS = 60
LIMIT = 60.0
TOKEN = "0123456789abcdef"


@pytest.fixture(scope="module")
def village(tmp_path_factory):
    path = tmp_path_factory.mktemp("onefile") / "village.sqlite"
    runtime = of.make_village()
    with runtime.record(path):
        for _ in range(TICKS):
            runtime.step()
    runtime.close()
    return path


def made_of(path, **options):
    out = io.StringIO()
    with Recording.open(path) as recording:
        return write_html(recording, out, **options), out.getvalue()


def packed(text, name):
    (data,) = re.findall(rf'<script type="application/gzip" id="{name}">([^<]*)</script>', text)
    return json.loads(gzip.decompress(base64.b64decode(data)))


# --- what is in it ----------------------------------------------------------------------------------------------------


@pytest.mark.states(
    "tools: Sharing: A recording, or a range of it, is one file that says what it may run, and fetches nothing",
    source="design 10",
)
def test_a_file(village):
    made, text = made_of(village, title="a <village> & more")
    assert made == OneFile(len(text), 1, TICKS, 3)
    assert text.isascii()
    assert "<title>a &lt;village&gt; &amp; more</title>" in text
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)

    def hashed(one):
        return base64.b64encode(hashlib.sha256(one.encode()).digest()).decode()

    assert policy == (
        f"default-src 'none'; script-src 'sha256-{hashed(script)}'; style-src 'sha256-{hashed(style)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    rest = re.sub(r"http://www\.w3\.org/2000/svg", "", text)
    assert re.search(r"https?://|@import|\ssrc=|/static/", rest) is None
    assert re.search(r"\bimport\b[^;\n]*\bfrom\b", re.sub(r"(?m)^ ?\*.*|//.*|/\*.*?\*/", "", script)) is None


def test_what_is_packed(village):
    _, text = made_of(village, first=10, last=20)
    index = packed(text, "recorded")
    assert index["hello"]["file"] is True
    assert (index["hello"]["first_tick"], index["hello"]["last_tick"]) == (10, 20)
    assert index["chunks"] == [[10, 20]]
    assert [row[:2] for row in index["agents"]] == [["Ann", "human"], ["Bob", "human"], ["Cyd", "cat"]]
    chunk = packed(text, "chunk-0")
    with Recording.open(village) as recording:
        told = [
            [tick, line["is"][:3]] for tick, lines in chunk["records"] for line in (chunk["lines"][at] for at in lines)
        ]
        assert told == [[one.tick, [one.agent, one.path, one.event.value]] for one in recording.records(10, 20)]
        (ann,) = [one["views"] for one in chunk["views"] if one["agent"] == 0]
        tick, view, is_whole, row, explained, _tree, offers = ann[0]
        assert (tick, is_whole, chunk["rows"][row]["name"]) == (10, True, "Ann")
        assert {**view, "tick": 10, "seconds": 0.5} == {**recording.view("Ann", 10), "plan": view["plan"]}
        assert chunk["values"][offers]["is"] == [list(one) for one in offered(recording.view("Ann", 10))]
        words = "\n".join(chunk["texts"][line] for line in explained[0][1])
        assert f"Ann at tick 10: {words}" == recording.explain("Ann", 10)


def test_equal_runs_give_equal_files(village):
    assert made_of(village) == made_of(village)


def test_more_chunks_than_one(village, monkeypatch):
    whole = packed(made_of(village)[1], "chunk-0")
    monkeypatch.setattr(onefile, "_CHUNK_TICKS", 32)
    _, text = made_of(village)
    assert packed(text, "recorded")["chunks"] == [[1, 32], [33, TICKS]]
    parts = [packed(text, f"chunk-{number}") for number in (0, 1)]
    assert [tick for part in parts for tick, _ in part["records"]] == [tick for tick, _ in whole["records"]]
    assert all(views["views"][0][2] for part in parts for views in part["views"])  # each begins with whole ones


# --- bounds -----------------------------------------------------------------------------------------------------------


@pytest.mark.states("tools: Sharing: A file is bounded: one that would become larger is an error that says what fits")
def test_a_file_that_becomes_too_large(village, monkeypatch):
    monkeypatch.setattr(onefile, "_CHUNK_TICKS", 32)
    size = made_of(village)[0].bytes
    page = sum(map(len, onefile._page()))
    with pytest.raises(RecordingError, match=r"ticks 1 to 60 make a file of more than 0 MB\. Choose fewer ticks\."):
        made_of(village, max_bytes=page // 3)
    with pytest.raises(RecordingError, match=r"more than \d MB\. Up to tick 32 it fits\."):
        made_of(village, max_bytes=size - 10)
    assert made_of(village, max_bytes=size)[0].bytes == size
    monkeypatch.setattr(onefile, "_LARGEST_CHUNK", 1000)
    with pytest.raises(RecordingError, match="its views in ticks 1 to 32 are too large"):
        made_of(village)


@pytest.mark.parametrize(("first", "last"), [(61, None), (None, 0), (30, 20)])
def test_ticks_that_are_not_there(village, first, last):
    with pytest.raises(RecordingError, match="it has no such ticks: it has 1 to 60"):
        made_of(village, first=first, last=last)


def test_a_recording_without_views(tmp_path):
    runtime = of.make_village()
    with runtime.record(tmp_path / "bare.sqlite", views="none"):
        for _ in range(5):
            runtime.step()
    runtime.close()
    made, text = made_of(tmp_path / "bare.sqlite")
    assert made.agents == 3
    assert packed(text, "chunk-0")["views"] == []
    assert len(packed(text, "recorded")["lines"]) == 3


# --- files that anybody made ------------------------------------------------------------------------------------------

good = hostile.good


@pytest.mark.states("tools: Sharing: Of a hostile recording there is a file, or a RecordingError", source="design 10")
@pytest.mark.parametrize("name", hostile.ROWS)
def test_a_hostile_recording(good, tmp_path, name):
    path = hostile.spoilt(shutil.copy(good, tmp_path / "copy.sqlite"), *hostile.ROWS[name])
    with contextlib.suppress(AgentRTError):
        _, text = made_of(path)
        assert text.isascii()


@pytest.mark.states("tools: Recording: A file that gives an agent the number of nobody breaks no list")
def test_an_agent_of_number_0(village, tmp_path):
    path = shutil.copy(village, tmp_path / "copy.sqlite")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO agents VALUES (0, 'nobody', 1, NULL)")
        connection.execute("INSERT INTO views VALUES (0, 1, 1, CAST(' {\"width\": 1}' AS BLOB))")
        connection.commit()
    served = of.Round(path)
    with served.recording:
        client = served.client(agents={})
        served.serve()
        assert [row["name"] for row in client.last("agents")["rows"]] == ["Ann", "Bob", "Cyd"]
        assert served.recording.view("nobody", 1) is None
    assert [row[0] for row in packed(made_of(path)[1], "recorded")["agents"]] == ["Ann", "Bob", "Cyd"]


def test_a_broken_view_breaks_one_row_of_the_list(village, tmp_path):
    path = shutil.copy(village, tmp_path / "copy.sqlite")
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE views SET whole = 1, data = CAST(' {}' AS BLOB) WHERE agent = 2")
        connection.commit()
    served = of.Round(path)
    with served.recording:
        client = served.client(agents={"kind": "human"})
        served.serve()
        assert client.last("agents")["matching"] == 1  # of whom it is known
        client = served.client(agents={})
        served.serve()
        rows = client.last("agents")["rows"]
        assert [row["name"] for row in rows] == ["Ann", "Bob", "Cyd"]
        assert [row["status"].partition(":")[0] for row in rows] == ["", "cannot be shown", ""]


# --- the page ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sources", "said"),
    [
        ({"app.js": 'import { a } from "./b.js";', "b.js": 'import { c } from "./app.js";'}, "app.js > b.js > app.js"),
        ({"app.js": 'import a from "./b.js";'}, "app.js imports or exports in a way that is not known here"),
        ({"app.js": "export default 3;"}, "app.js imports or exports in a way"),
        ({"app.js": "export let changing = 3;"}, "app.js imports or exports in a way"),
    ],
)
def test_modules_that_cannot_be_put_together(tmp_path, monkeypatch, sources, said):
    for name, source in sources.items():
        (tmp_path / name).write_text(source)
    monkeypatch.setattr(onefile, "_STATIC", tmp_path)
    with pytest.raises(ValueError, match=said):
        _bundle("app.js", {}, ())


def test_what_is_not_ascii_is_escaped():
    assert onefile._ascii("a → 😀", "\\u{:04x}") == "a \\u2192 \\ud83d\\ude00"
    assert onefile._ascii("a →b", "\\{:06x} ") == "a \\002192 b"


# --- at the door ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def served(village):
    with Inspector(village, port=0, token=TOKEN, title="a village") as inspector:
        yield inspector


def post(inspector, path, method="POST", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", inspector.port, timeout=LIMIT)
    try:
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), dict(answer.getheaders())
    finally:
        connection.close()


def test_who_knows_the_token_is_given_a_file(served):
    status, text, headers = post(served, f"/api/file?first=5&last=9&token={TOKEN}")
    assert (status, headers["content-disposition"], headers["x-ticks"]) == (200, "attachment", "5-9")
    assert "<title>a village</title>" in text
    assert packed(text, "recorded")["chunks"] == [[5, 9]]
    status, text, _ = post(served, "/api/file?first=evil&last=-3", Authorization=f"Bearer {TOKEN}")
    assert (status, packed(text, "recorded")["chunks"]) == (200, [[1, TICKS]])


@pytest.mark.states("tools: Sharing: A file is given to who may look, not to a page of elsewhere", source="design 10")
@pytest.mark.parametrize(
    ("path", "method", "headers", "status"),
    [
        ("/api/file", "POST", {}, 401),
        ("/api/file?token=wrong", "POST", {}, 401),
        (f"/api/file?token={TOKEN}", "GET", {}, 405),
        (f"/api/file?token={TOKEN}", "POST", {"Origin": "http://evil.example"}, 403),
        (f"/api/file?token={TOKEN}", "POST", {"Origin": "null"}, 403),
        (f"/api/file?token={TOKEN}", "POST", {"Host": "evil.example"}, 403),
        (f"/api/file?token={TOKEN}&first=500", "POST", {}, 422),
    ],
)
def test_who_is_not_given_one(served, path, method, headers, status):
    assert post(served, path, method, **headers)[0] == status


def test_one_at_a_time(served, monkeypatch):
    begun, goes_on = threading.Event(), threading.Event()

    def write(recording, out, **_):
        begun.set()
        assert goes_on.wait(LIMIT)
        out.write("made")
        return OneFile(4, 1, 2, 3)

    monkeypatch.setattr("agentrt.inspect.server.write_html", write)
    answers = []
    path = f"/api/file?token={TOKEN}"
    asking = threading.Thread(target=lambda: answers.append(post(served, path)[:2]))
    asking.start()
    assert begun.wait(LIMIT)
    assert post(served, path)[:2] == (429, "another file is being made: try it again soon")
    goes_on.set()
    asking.join(LIMIT)
    assert answers == [(200, "made")]


def test_nobody_makes_it_when_nobody_waits(served, monkeypatch):
    begun, ended = threading.Event(), threading.Event()

    def write(recording, out, **_):
        try:
            while True:
                out.write("x")
                begun.set()
                threading.Event().wait(0.001)
        finally:
            ended.set()

    monkeypatch.setattr("agentrt.inspect.server.write_html", write)
    monkeypatch.setattr("agentrt.inspect.server._LOOKS_SECONDS", 0.01)
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=LIMIT)
    connection.request("POST", f"/api/file?token={TOKEN}")
    assert begun.wait(LIMIT)
    connection.close()
    assert ended.wait(LIMIT)


def test_the_last_ticks_of_a_run_are_a_file(monkeypatch):
    monkeypatch.setattr("agentrt.record.ring._SAVED", 1e6)  # of seconds: a slow machine puts off looking at some
    runtime = of.make_village()
    with Inspector(runtime, port=0, past=20, title="alive") as inspector:
        assert post(inspector, "/api/file")[0] == 422  # nothing is kept yet
        for _ in range(30):
            runtime.step()
        status, text, headers = post(inspector, "/api/file?first=15&last=25")
        assert (status, headers["x-ticks"]) == (200, "15-25")
        assert "<title>alive</title>" in text
        assert packed(text, "chunk-0")["views"][0]["views"][0][:1] == [15]
        _, text, headers = post(inspector, "/api/file")
        assert headers["x-ticks"] == "11-30"
        assert min(span[4] for span in packed(text, "line-0")["spans"]) < 11  # what ran already
    runtime.close()


def test_a_run_without_a_past_is_no_file():
    with Inspector(of.make_village(), port=0, past=0) as inspector:
        assert post(inspector, "/api/file")[:2] == (404, "a run that keeps no past is no file: record it")


@pytest.mark.states(
    "tools: Sharing: What is watched over time is in a file; what nobody watched is not evaluated there"
)
def test_what_is_watched_is_in_it(village):
    pins = [("Ann", "Eat.utility"), ("Ann", "Eat.utility > 0 or true"), ("Nobody", "x"), ("Ann", "(")]
    _, text = made_of(village, first=3, last=40, pins=pins)
    index = packed(text, "recorded")
    assert [tuple(one.values()) for one in index["hello"]["pins"]] == pins
    assert [tuple(one[:2]) for one in index["pins"]] == pins
    eats, mixed, nobody, broken = [one[2] for one in index["pins"]]
    assert nobody == [[3, None, "the agent is not there", 0]]
    assert [row[2:] for row in broken] == [["a value is expected here, not the end", 2]]
    assert all(len(row) == 4 for row in (*eats, *mixed))
    with Recording.open(village) as recording:
        for tick in (3, 9, 22, 40):
            row = [row for row in eats if row[0] <= tick][-1]
            there = "Eat.utility" in values_by_name(offered(recording.view("Ann", tick)))
            assert (row[1] is not None, row[2] == "") == (there, there)


@pytest.mark.parametrize(
    "pins",
    ["{", "7", '["x"]', "[null]", '[{"agent":"Ann"}]', '[{"agent":"Ann","text":7}]', "[" * 5000, "NaN",
     str([{"agent": "a", "text": "b" + str(at)} for at in range(99)]).replace("'", '"')],
)  # fmt: skip
def test_pins_that_are_none(served, pins):
    query = urlencode({"token": TOKEN, "pins": pins})
    status, text, _ = post(served, f"/api/file?{query}")
    assert (status, "'pins" in text or "JSON" in text) == (400, True)
