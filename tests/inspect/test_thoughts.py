"""A mind on the page: how it stands with thoughts, and who may read what was asked."""

from __future__ import annotations

import base64
import gzip
import io
import json
import re

import pytest
from modules import load

from agentrt import TOP, Action, Agent, Entity, Runtime
from agentrt.errors import ThoughtFailedError
from agentrt.inspect import write_html
from agentrt.inspect.protocol import Denial, read, write
from agentrt.inspect.thoughts import _mind_message, recorded_message
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.minds import Budget, Mind, Model, ModelRequest, Scripted
from agentrt.minds.asked import Reply
from agentrt.record.recording import Recording
from agentrt.record.thoughtfold import ThoughtFold
from agentrt.testing import TraceDigest

of = load("tests/inspect/village.py")

SECRET = "sk-the-key-of-an-api"
MARKUP = "<script>alert(1)</script>"


class Asks(Action):
    """Asks anew whenever it has an answer or none, each time something else."""

    does = TOP
    utility = 0.9

    async def run(self, ctx, args):
        mind, name = ctx.agent.runtime.mind, ctx.entity.name
        request = ModelRequest("You are kind.", f"{MARKUP} {name} {ctx.clock.tick}", {"type": "object"}, 20)
        turn = -float(ctx.clock.tick)  # who asked first is served first
        try:
            await mind.ask(ctx.agent, request, check=_sound, worth=turn, path=ctx.path, purpose="chat")
        except ThoughtFailedError:
            await ctx.sleep_ticks(3)


def _sound(answer):
    if "wrong" in answer:
        raise ValueError("nobody is called Zed")
    return answer


def make_salon(names=("Ann", "Bob", "Cyd"), answer=None, *, seed=3, latency=0.25, **options):
    """People who ask all the time; one after the other."""
    runtime = Runtime(seed, host="plain")
    model = Scripted(answer or (lambda asked: {"n": asked.tick}), latency, name="parrot", price=(1.0, 2.0))
    options.setdefault("at_once", 1)
    Mind(runtime, model, cache=0, **options)
    for name in names:
        runtime.add(Agent(Entity("human", name=name), actions=[Asks]))
    return runtime


@pytest.fixture
def salon():
    """Makes what is looked at, and takes it apart in the end."""
    made = []

    def make(runtime=None, **options):
        made.append(of.Watched(runtime or make_salon(), **options))
        return made[-1]

    yield make
    for one in made:
        one.close()
        one.runtime.close()


def rows(message, name):
    (group,) = [one for one in message["groups"] if one["name"] == name]
    return [row["agent"] for row in group["rows"]], group["more"]


def test_how_it_stands(salon):
    watched = salon()
    client = watched.client(thoughts=True)
    watched.tick(17)
    told = client.last("mind")
    assert (told["models"], told["at_once"], told["running"], told["waiting"]) == (["parrot"], 1, 1, 2)
    assert (told["tokens_left"], told["rests_until"], told["overruns"]) == (None, 0, 0)
    assert rows(told, "running") == (["Cyd"], 0)
    assert rows(told, "waiting") == (["Ann", "Bob"], 0)
    assert rows(told, "over") == (["Bob", "Ann"], 0)
    assert told["groups"][1]["rows"][1]["words"] == "2nd in the queue"
    assert [row[:2] for row in told["agents"]] == [["Ann", 1], ["Bob", 1], ["Cyd", 1]]
    assert client.last("state")["mind"] is True
    thought = told["groups"][2]["rows"][0]
    assert (thought["state"], thought["purpose"], thought["model"]) == ("answered", "chat", "parrot")
    assert thought["path"].endswith("/Asks")
    assert MARKUP not in json.dumps(client.messages)


def test_only_who_watches_is_told_and_not_in_each_tick(salon):
    watched = salon()
    watcher, other = watched.client(thoughts=True), watched.client(agent="Ann")
    watched.tick(16)  # two seconds
    assert other.told("mind") == []
    assert 2 <= len(watcher.told("mind")) <= 4
    watcher.ask("watch")
    watched.tick()
    watcher.messages.clear()
    watched.tick(16)
    assert watcher.told("mind") == []


def test_without_a_mind_there_is_nothing(watched):
    client = watched.client(thoughts=True)
    watched.tick(3)
    client.ask("thought", id=1)
    watched.tick()
    assert client.told("mind") == []
    assert client.last("state")["mind"] is False
    assert client.last("thought")["problem"] == "the runtime has no mind"


@pytest.mark.untraced
def test_however_many_ask_so_much_is_told(salon):
    names = [f"A{number}" for number in range(300)]
    watched = salon(make_salon(names))
    client = watched.client(thoughts=True, agent="A299")
    watched.tick(6)
    told = client.last("mind")
    waiting, more = rows(told, "waiting")
    assert (len(waiting), more, waiting[-1]) == (40, 259, "A299")  # the chosen one's is there
    assert waiting[:3] == ["A1", "A2", "A3"]
    assert len(write(told)) < 60_000
    watched.tick(1900, 0.001)  # all have asked by now
    watched.tick(2, 1.0)
    told = client.last("mind")
    assert len(rows(told, "over")[0]) == 64
    assert (len(told["agents"]), told["more_agents"]) == (101, 199)
    used = [row[2] for row in told["agents"][:100]]
    assert used == sorted(used, reverse=True)
    assert len(write(told)) < 60_000


# --- what was asked -----------------------------------------------------------------------------------------------------


def parts(message):
    return {name: text for name, text, _ in message["parts"]}


def test_with_controls_a_thought_is_read(salon):
    watched = salon()
    client = watched.client(thoughts=True)
    watched.tick(8)
    for number in (1, 2):
        client.ask("thought", id=number)
    watched.tick()
    first, second = client.told("thought")
    assert (first["id"], first["problem"], first["why"]) == (1, "", "")
    assert parts(first) == {
        "system": "You are kind.",
        "prompt": f"{MARKUP} Ann 1",
        "schema": '{\n  "type": "object"\n}',
        "answer": '{\n  "n": 2\n}',
    }
    assert "answer" not in parts(second)  # it is still under way


@pytest.mark.states("tools: Inspector: Watching is read-only unless controls are ...")
def test_without_controls_no_prompt_is_read(salon):
    watched = salon(controls=False)
    client = watched.client(thoughts=True)
    watched.tick(8)
    client.ask("thought", id=1)
    watched.tick(2)
    assert client.errors() == ["read_only"]
    assert client.told("thought") == []
    assert client.told("mind") != []
    said = json.dumps(client.messages)
    assert MARKUP not in said
    assert "You are kind." not in said


def test_why_an_answer_was_not_taken(salon):
    def answer(asked):
        return {"wrong": "Zed"} if asked.agent == "Ann" or "You have answered" not in asked.request.prompt else {}

    watched = salon(make_salon(("Ann", "Bob"), answer, at_once=2))
    client = watched.client(thoughts=True)
    watched.tick(20)
    thoughts = client.last("mind")["groups"][2]["rows"]
    first = {row["agent"]: row for row in thoughts if row["number"] in (1, 2)}
    assert first["Ann"]["words"] == "its answer cannot be taken"  # an author's reason may quote it
    assert first["Bob"]["state"] == "answered"
    for row in first.values():
        client.ask("thought", id=row["number"])
    watched.tick()
    for told in client.told("thought"):
        assert told["why"] == "nobody is called Zed"
        assert parts(told)["untaken"] == '{\n  "wrong": "Zed"\n}'
        assert "That cannot be taken: nobody is called Zed" in parts(told)["prompt"]


def test_what_is_not_kept_is_told_so(salon):
    watched = salon(make_salon(latency=0.05))
    client = watched.client(thoughts=True)
    watched.tick(250)
    for number in (1, 2**53):
        client.ask("thought", id=number)
    watched.tick()
    assert [(one["problem"], one["parts"]) for one in client.told("thought")] == [("it is not kept any more", [])] * 2


@pytest.mark.parametrize("number", [0, -1, 2**53 + 1, 10**400, 1.5, "1", None, True, [1], {"id": 1}])
def test_what_is_no_number_of_a_thought_is_refused(number):
    refusal = read(json.dumps({"do": "thought", "id": number}))
    assert isinstance(refusal, Denial)
    assert refusal.code == "bad_message"
    assert len(refusal.message) < 200


@pytest.mark.parametrize("wanted", [1, "yes", [], {}])
def test_thoughts_are_watched_or_not(wanted):
    refusal = read(json.dumps({"do": "watch", "thoughts": wanted}))
    assert isinstance(refusal, Denial)
    assert refusal.message == "watch: 'thoughts' has to be true or false"


def test_texts_are_bounded_and_any_answer_can_be_written(salon):
    circle = {}
    circle["again"] = circle
    answers = {"Ann": {"deep": circle}, "Bob": {"long": "é" * 100_000}, "Cyd": {"odd": {1, 2}, "lone": "\ud800"}}
    watched = salon(make_salon(answer=lambda asked: answers[asked.agent], at_once=3))
    client = watched.client(thoughts=True)
    watched.tick(9)
    for number in (1, 2, 3):
        client.ask("thought", id=number)
    watched.tick()
    told = client.told("thought")
    assert [one["problem"] for one in told] == ["", "", ""]
    assert all(len(write(one)) < 400_000 for one in told)
    (long,) = [part for part in told[1]["parts"] if part[0] == "answer"]
    assert (len(long[1]), long[2]) == (16_000, 84_016)


def test_in_the_past_thoughts_stand_as_they_did_and_no_prompt_is_read(salon):
    watched = salon(past=40)
    client = watched.client(thoughts=True)
    watched.tick(20)
    client.ask("at", tick=10)
    watched.tick()
    client.messages.clear()
    watched.look_back(4)
    client.ask("thought", id=1)
    watched.look_back(2)
    (told,) = client.told("mind")
    assert (told["recorded"], rows(told, "running"), rows(told, "over")) == (True, (["Bob"], 0), (["Ann"], 0))
    assert client.last("thought")["problem"].startswith("The past of a run holds no prompts and no answers")
    assert MARKUP not in json.dumps(client.messages)


# --- of a recording ---------------------------------------------------------------------------------------------------

REPLIES = [{"value": {"n": MARKUP}}, {"value": {"wrong": MARKUP}}, {"value": {"n": 2}}, {"kind": "busy", "text": "429"}]


def record_salon(monkeypatch, path, *, ticks=30, **options):
    """A recording of three who ask a model outside, one of whose answers cannot be taken, and one that is a failure."""
    count = []

    def ask(self, data, keeps=False):
        count.append(1)
        reply = REPLIES[(len(count) - 1) % len(REPLIES)]
        return {"key": data["key"], "read": 100, "written": 10, **reply, **({"asked": data} if keeps else {})}

    monkeypatch.setattr(Model, "ask_here", ask)
    monkeypatch.setattr(Model, "require", lambda model: None)
    runtime = Runtime(3, host="plain")
    Mind(runtime, Model("gpt", key="SALON_KEY", price=(1.0, 2.0)), cache=0, at_once=1, **options)
    for name in ("Ann", "Bob", "Cyd"):
        runtime.add(Agent(Entity("human", name=name), actions=[Asks]))
    with runtime.record(path):
        for _ in range(ticks):
            runtime.step()
    told = _mind_message(runtime.mind.snapshot(), "")
    runtime.close()
    return told


@pytest.fixture
def recorded():
    made = []

    def recorded(path, **options):
        made.append(of.Round(path, **options))
        return made[-1]

    yield recorded
    for one in made:
        one.recording.close()


def test_a_recording_tells_what_was_told_live(recorded, monkeypatch, tmp_path):
    """All that it holds: thoughts with their states and ages, tokens and money; and that it holds no more."""
    path = tmp_path / "salon.sqlite"
    live = record_salon(monkeypatch, path)
    one = recorded(path)
    client = one.client(thoughts=True)
    client.ask("at", tick=30)
    one.serve(3)
    told = client.last("mind")
    assert (told["recorded"], told["since"]) == (True, 1)
    for name in ("models", "running", "waiting", "calls", "hits", "tokens", "money", "agents", "more_agents"):
        assert told[name] == live[name], name
    plain = {"place": 0, "words": ""}  # places in the queue are in no recording
    for group, other in zip(told["groups"], live["groups"], strict=True):
        assert [{**row, **plain} for row in group["rows"]] == [{**row, **plain} for row in other["rows"]]
    assert told["groups"][2]["rows"] == live["groups"][2]["rows"]
    assert MARKUP not in json.dumps(client.messages)


def test_a_recording_is_looked_at_in_any_tick(recorded, monkeypatch, tmp_path):
    path = tmp_path / "salon.sqlite"
    record_salon(monkeypatch, path, ticks=450)
    one = recorded(path)
    client = one.client(thoughts=True)
    seen = {}
    for tick in (450, 3, 350, 1, 250, 2, 450, 3):
        client.ask("at", tick=tick)
        one.serve(3)
        told = client.last("mind")
        assert seen.setdefault(tick, told) == told
    assert [seen[tick]["calls"] for tick in (1, 2, 3)] == [0, 1, 1]
    assert rows(seen[1], "waiting") == (["Ann", "Bob", "Cyd"], 0)
    assert [fold.tick for fold in one.scene.thoughts._folds] == [0, 200, 400]
    assert seen[450]["calls"] > seen[350]["calls"] > seen[250]["calls"] > 100


def test_of_a_recording_answers_are_read_with_controls_alone(recorded, monkeypatch, tmp_path):
    path = tmp_path / "salon.sqlite"
    record_salon(monkeypatch, path)
    for controls in (False, True):
        one = recorded(path, controls=controls)
        client = one.client(thoughts=True)
        client.ask("at", tick=3)
        one.serve(2)
        client.ask("thought", id=1)
        client.ask("thought", id=99)
        client.ask("at", tick=2)
        client.ask("thought", id=1)
        one.serve(2)
        first, unknown, before = client.told("thought")
        if controls:
            assert parts(first) == {"answer": json.dumps({"n": MARKUP}, indent=2)}
            assert unknown["problem"] == "it is not among the thoughts of this tick, as far as they are read"
            assert before["problem"].startswith("The recording holds no answer of this one")
        else:
            assert MARKUP not in json.dumps(client.messages)
            assert "start the inspector with --controls" in first["problem"]


def test_why_a_recorded_answer_was_not_taken(recorded, monkeypatch, tmp_path):
    path = tmp_path / "salon.sqlite"
    record_salon(monkeypatch, path, keep_prompts=True)
    one = recorded(path, controls=True)
    client = one.client(thoughts=True)
    client.ask("at", tick=30)
    one.serve(2)
    client.ask("thought", id=2)
    one.serve()
    told = parts(client.last("thought"))
    assert list(told) == ["system", "prompt", "schema", "untaken", "answer"]
    assert "nobody is called Zed" in told["prompt"]  # as it was asked last
    assert json.loads(told["untaken"]) == {"wrong": MARKUP}
    assert client.last("thought")["why"] == ""  # this check says nothing without quoting
    assert json.loads(told["answer"]) == {"n": 2}


@pytest.mark.parametrize(
    "detail",
    [
        (), (("thought", 1),), (("thought", -1), ("became", "asked")), (("thought", 1.5), ("became", "answered")),
        (("thought", True), ("became", "called")), (("thought", 1 << 60), ("became", "asked")),
        (("thought", 1), ("became", "answered"), ("tokens", -5), ("read", 1e9), ("call", -1), ("reason", 3)),
    ],
)  # fmt: skip
def test_whatever_a_trace_holds_thoughts_can_be_told(detail):
    fold = ThoughtFold({}, 1)
    for became in ("asked", "called", "again", "failed"):
        fold.feed(TraceRecord(2, "Ann", "p", TraceEvent.THOUGHT, detail))
        fold.feed(TraceRecord(3, "Ann", "p", TraceEvent.THOUGHT, (("thought", 7), ("became", became))))
    told = recorded_message(fold, "Ann")
    assert told["tokens"] == 0
    assert 7 in [row["number"] for row in told["groups"][2]["rows"]]
    json.dumps(told, allow_nan=False)


def test_thoughts_of_a_world_that_was_rebuilt_are_asked_by_nobody():
    fold = ThoughtFold({}, 1)
    fold.feed(TraceRecord(2, "Ann", "p", TraceEvent.THOUGHT, (("thought", 1), ("became", "asked"))))
    assert fold.view().waiting == 1
    fold.feed(TraceRecord(2, "", "", TraceEvent.EPOCH, ()))
    assert fold.view().waiting == 0


def test_a_file_holds_thoughts_and_answers_only_if_that_is_asked_for(monkeypatch, tmp_path):
    path = tmp_path / "salon.sqlite"
    live = record_salon(monkeypatch, path)
    told = {}
    for answers in (False, True):
        out = io.StringIO()
        with Recording.open(path) as recording:
            write_html(recording, out, answers=answers)
        blobs = re.findall(r'<script type="application/gzip" id="([^"]*)">([^<]*)</script>', out.getvalue())
        told[answers] = {name: gzip.decompress(base64.b64decode(data)).decode() for name, data in blobs}
    assert set(told[True]) - set(told[False]) == {"texts"}
    assert MARKUP not in json.dumps(told[False])
    chunk = json.loads(told[False]["chunk-0"])
    tick, message = chunk["minds"][-1]
    assert (chunk["minds"][0][0], tick) == (1, 30)
    assert (message["calls"], message["money"]) == (live["calls"], live["money"])
    assert [chunk["thoughts"][row] for row in message["groups"][2]["rows"]] == live["groups"][2]["rows"]
    texts = json.loads(told[True]["texts"])
    assert [tick for tick, _ in texts["2"]] == [5, 7]
    assert [part[0] for part in texts["2"][1][1]["parts"]] == ["untaken", "answer"]


# --- nothing else -------------------------------------------------------------------------------------------------------


def test_the_key_is_nowhere(salon, monkeypatch):
    monkeypatch.setenv("SALON_KEY", SECRET)

    async def refuses(self, data, keeps=False):
        return Reply(kind="refused", text="401: it does not know you", key=data["key"]).plain()

    monkeypatch.setattr(Model, "require", lambda self: None)  # it asks nobody here
    monkeypatch.setattr(Model, "ask", refuses)
    monkeypatch.setattr(Model, "ask_here", lambda self, data, keeps=False: _told(refuses(self, data)))
    runtime = Runtime(3, host="plain")
    Mind(runtime, Model("parrot", key="SALON_KEY"), budget=Budget(tokens=100_000))
    runtime.add(Agent(Entity("human", name="Ann"), actions=[Asks]))
    watched = salon(runtime)
    client = watched.client(thoughts=True, agent="Ann", events={})
    watched.tick(12)
    client.ask("thought", id=1)
    watched.tick(4)
    assert "401: it does not know you" in json.dumps(client.told("mind"))
    assert parts(client.last("thought"))["system"] == "You are kind."
    said = json.dumps(client.messages)
    assert SECRET not in said
    assert "SALON_KEY" not in said


def _told(coroutine):
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value


@pytest.mark.states("tools: Inspector: Watching never changes the run: the digest is the same ...")
def test_watching_changes_no_digest(salon):
    digests = []
    for is_watched in (False, True):
        runtime = make_salon(seed=5, budget=Budget(tokens=2_000, per=2.0), answer=_moody)
        digest = TraceDigest(runtime.trace)
        watched = salon(runtime)
        client = watched.client(thoughts=True, agent="Bob") if is_watched else None
        for number in range(1, 121):
            if client is not None:
                client.ask("thought", id=number % 30 + 1)
            watched.tick()
        digests.append(digest.hexdigest())
        assert client is None or len(client.told("mind")) > 20
    assert digests[0] == digests[1]


def _moody(asked):
    return {"wrong": 1} if asked.tick % 3 == 0 else {"n": asked.random.below(10)}
