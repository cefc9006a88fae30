"""A real client against a server that speaks the protocol, on loopback: answers, every fault, cancelling, no secrets."""

from __future__ import annotations

import asyncio
import gc
import json
import math
import time
import weakref
from collections import Counter

import pytest
import walkers
from model_server import Answer, ModelServer
from walkers import Idle, Ponder, Walk

from agentrt import Agent, Entity, Runtime
from agentrt.minds import Budget, Mind, Model, ModelRequest
from agentrt.record.recording import Recording
from agentrt.record.replay import replay

pytest.importorskip("pydantic_ai", reason="the extra llm is not installed")
pytestmark = pytest.mark.slow

SECRET = "sk-verysecret0123456789"
WALK = {"activity": "t:walk", "args": {"where": "pond"}, "why": "it is nice"}
HOSTS = ("plain", "asyncio", "trio")


class Ask(Ponder):
    """Asks each time something else, so that no answer comes from the cache."""

    prompt = "You are {name}, for the {n}th time."
    again = 0.5

    def sees(self, ctx, args):
        return {"name": ctx.entity.name, "n": ctx.clock.tick}


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("TEST_KEY", SECRET)


class World:
    def __init__(self, server, host, *, people=("Ann",), actions=(), record=None, model=None, **options):
        self.runtime = Runtime(seed=3, host=host)
        self.model = model or Model("openai:test-model", base_url=server.url, key="TEST_KEY", timeout=100.0)
        self.mind = Mind(self.runtime, self.model, **{"backoff": (0.2, 2.0), **options})
        self.heard, self.faults = [], []
        self.runtime.trace.listen(self.heard.append)
        self.runtime.on_fault(self.faults.append)
        if record:
            self.recorder = self.runtime.record(record)
        for name in people:
            self.runtime.add(Agent(Entity("person", name=name), name=name, actions=[Walk, Idle, Ask, *actions]))
        self.host = host

    def run(self, until, *, seconds=100):
        """Run until something is so; a loaded machine is no bug."""
        deadline = time.monotonic() + seconds

        def is_over():
            assert time.monotonic() < deadline, [record.line() for record in self.heard[-30:]]
            return until()

        if self.host == "plain":
            while not is_over():
                self.runtime.step()
            self.runtime.close()
            return

        async def run():
            while not is_over():
                await self.runtime.run(ticks=1, speed=2.0)
            await self.runtime.aclose()

        if self.host == "trio":
            import trio

            trio.run(run)
        else:
            asyncio.run(run())

    def became(self):
        return [dict(record.detail)["became"] for record in self.heard if record.event == "thought"]

    def reasons(self):
        return [dict(one.detail).get("reason", "") for one in self.heard if one.event == "thought"]

    def walks(self):
        return sum(record.event == "run" and record.path.endswith("Walk") for record in self.heard)


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("output", ["tool", "native", "prompted"])
def test_an_answer_by_each_way_of_asking(host, output):
    with ModelServer(lambda body, number: Answer(WALK)) as server:
        model = Model("test-model", base_url=server.url, key="TEST_KEY", timeout=100.0, output=output)
        world = World(server, host, model=model)
        world.run(lambda: world.walks() >= 2)
        body = server.asked[0]
        assert world.faults == []
        assert world.mind.account.total_tokens == server.tokens
    assert (body["model"], body["max_tokens"], body["messages"][0]["role"]) == ("test-model", 200, "system")
    assert "You are Ann, for the 1th time." in body["messages"][1]["content"]
    assert ("tools" in body, "response_format" in body) == (output == "tool", output == "native")
    assert f"authorization: bearer {SECRET}" in server.headers[0].lower()


FAULTS = {
    "busy": (Answer(status=429, retry_after=0.3), "the server answered 429: status 429", True),
    "broken": (Answer(status=500), "the server answered 500: status 500", True),
    "overloaded": (Answer(status=503), "the server answered 503", True),
    "half": (Answer(WALK, is_half=True), "the connection broke", True),
    "nonsense": (Answer(body="{nonsense"), "", True),
    "empty": (Answer(body="{}"), "", True),
    "html": (Answer(body="<html>sorry</html>"), "", True),
    "text": (Answer("I would rather not."), "it is no JSON", True),
    "hangs": (Answer(hangs=True), "no answer within 0.5 s", True),
    "wrong key": (
        Answer(status=401, body='{"error": {"message": "Incorrect API key provided: sk-verysecret0123456789."}}'),
        "the server does not take the key (401)",
        False,
    ),
    "no such model": (Answer(status=404, body='{"error": {"message": "no model x"}}'), "404: no model x", False),
    "quoted key": (
        Answer(status=400, body=f'{{"error": {{"message": "bad {SECRET} or sk-other123456"}}}}'), "bad *** or ***", False
    ),
}  # fmt: skip


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_told_and_survived(host, fault, caplog):
    answer, said, is_asked_again = FAULTS[fault]
    with ModelServer(lambda body, number: answer if number == 0 else Answer(WALK)) as server:
        model = Model("test-model", base_url=server.url, key="TEST_KEY", timeout=0.5 if answer.hangs else 5.0)
        world = World(server, host, model=model)
        world.run(lambda: world.walks() >= 1)
    assert world.faults == []
    assert any(said in reason for reason in world.reasons())
    assert world.became()[:3] == ["asked", "called", "again" if is_asked_again else "failed"]
    told = "\n".join([*(record.line() for record in world.heard), caplog.text, repr(world.mind.snapshot())])
    assert SECRET not in told
    assert "sk-" not in told


@pytest.mark.parametrize("host", HOSTS)
def test_nobody_is_there(host):
    with ModelServer(lambda body, number: Answer(WALK)) as server:
        pass
    world = World(server, host, budget=Budget(tokens=5_000))
    world.run(lambda: world.became().count("failed") >= 1)
    assert "the server cannot be reached" in world.reasons()
    assert world.mind.account.total_tokens == 0  # it cannot have used anything
    assert world.faults == []


class Flee(walkers.Flee):
    seconds = 5


@pytest.mark.parametrize("host", ["asyncio", "trio"])
def test_who_is_outpaced_is_cancelled_at_the_server_at_once(host):
    """Long before the limit of the call, which is longer than the world is run here."""
    with ModelServer(lambda body, number: Answer(hangs=True)) as server:
        model = Model("test-model", base_url=server.url, key="TEST_KEY", timeout=1000.0)
        world = World(server, host, people=("Ann", "Bob", "Cyd"), actions=(Flee,), model=model)
        is_seen = False

        def until():
            nonlocal is_seen
            if server.open == 3 and not is_seen:
                is_seen = True
                for agent in world.runtime.agents:
                    agent.entity.signal("wolf").emit()
            return len(server.given_up) == 3

        world.run(until)
    assert world.became().count("outpaced") == 3
    assert world.faults == []


@pytest.mark.parametrize("host", HOSTS)
def test_a_recorded_run_replays_without_server_key_and_library(host, tmp_path, monkeypatch):
    path = tmp_path / "run.sqlite"

    def behave(body, number):
        return [Answer(WALK), Answer(status=429), Answer({"activity": "x"}), Answer(WALK, latency=0.05)][number % 4]

    with ModelServer(behave) as server:
        world = World(server, host, people=("Ann", "Bob"), record=path, keep_prompts=host == "trio")
        world.run(lambda: world.walks() >= 5)
        digest = world.recorder.digest if hasattr(world.recorder, "digest") else None
        url = server.url
    monkeypatch.delenv("TEST_KEY")
    raw = path.read_bytes()
    assert SECRET.encode() not in raw
    assert (b"for the 1th time" in raw) == (host == "trio")

    class Gone:
        pass

    Gone.url = url

    def make(*, seed, host):
        return World(Gone, host, people=("Ann", "Bob")).runtime

    report = replay(path, make, host="plain")
    assert report.difference is None
    assert report.answered >= 5
    assert not any("prompt" in note for note in report.notes)
    assert digest in (None, report.digest)

    monkeypatch.setattr(Ask, "prompt", "You are {name}, at the {n}th time.")
    other = replay(path, make, host="plain")
    assert other.difference is None
    assert any("the prompt is another now than in the recording: of " in note for note in other.notes)
    with Recording.open(path) as recording:
        assert recording.last_tick == report.tick


def test_budgets_are_kept_whatever_comes_back():
    """Many people, random faults, a budget in any two seconds: never a token more than that."""

    def behave(body, number):
        kinds = [Answer(WALK), Answer(status=429), Answer(status=500), Answer({"activity": "x"}), Answer(hangs=True)]
        return kinds[(number * 7) % 5]

    with ModelServer(behave) as server:
        model = Model("test-model", base_url=server.url, key="TEST_KEY", timeout=0.2)
        world = World(server, "asyncio", people=[f"P{n}" for n in range(12)], model=model, budget=Budget(tokens=9_000),
                      each=Budget(tokens=2_000), at_once=4)  # fmt: skip
        world.run(lambda: world.runtime.tick >= 240 or len(server.asked) > 60)
        assert server.tokens <= 9_000
        assert server.most_open <= 4
        assert max(account.total_tokens for account in world.mind.accounts.values()) <= 2_000
        assert world.mind.account.total_tokens <= 9_000
        assert world.mind.overruns == 0
    assert world.faults == []


def test_an_infinite_speed_waits_for_nobody():
    with ModelServer(lambda body, number: Answer(WALK, latency=0.2)) as server:
        world = World(server, "asyncio")

        async def run():
            await world.runtime.run(ticks=200, speed=math.inf)
            await world.runtime.aclose()

        asyncio.run(run())
    assert world.faults == []


def test_calls_are_spans_without_what_is_said():
    sdk = pytest.importorskip("opentelemetry.sdk.trace")
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with ModelServer(lambda body, number: Answer(WALK)) as server:
        model = Model("test-model", base_url=server.url, key="TEST_KEY", timeout=100.0, spans=provider)
        world = World(server, "asyncio", model=model)
        world.run(lambda: world.walks() >= 1)
    span = exporter.get_finished_spans()[0]
    told = dict(span.attributes)
    assert span.name == "chat test-model"
    assert (told["gen_ai.operation.name"], told["gen_ai.request.model"]) == ("chat", "test-model")
    assert told["gen_ai.usage.input_tokens"] > 0
    assert told["gen_ai.usage.output_tokens"] == 20
    text = str(told)
    assert "for the 1th time" not in text
    assert "it is nice" not in text
    assert SECRET not in text


@pytest.mark.parametrize("kind", [Answer(WALK), Answer(status=429)])
def test_nothing_of_a_call_waits_for_the_collector(kind):
    """While a runtime runs, cycles are looked for seldom; each would keep its connection for as long."""
    import openai

    clients, count = weakref.WeakSet(), []
    made = openai.AsyncOpenAI.__init__

    def remember(self, *args, **options):
        made(self, *args, **options)
        clients.add(self)
        count.append(1)

    with pytest.MonkeyPatch.context() as patch, ModelServer(lambda body, number: kind) as server:
        patch.setattr(openai.AsyncOpenAI, "__init__", remember)
        world = World(server, "plain")
        gc.collect()
        gc.disable()
        try:
            world.run(lambda: len(server.asked) >= 4)
            assert (len(count) >= 4, len(clients)) == (True, 0)
        finally:
            gc.enable()


@pytest.mark.parametrize("host", ["plain", "asyncio"])
def test_with_a_delay_an_answer_comes_when_it_is_due_and_the_game_goes_on_meanwhile(host, tmp_path):
    """The server answers when the game has gone on, which on the plain host it could not if it were waited for."""
    world = None

    def behave(body, number):
        deadline = time.monotonic() + 100
        while host == "plain" and world.runtime.tick < 8 and time.monotonic() < deadline:
            time.sleep(0.001)
        return Answer(WALK)

    path = tmp_path / "run.sqlite"
    with ModelServer(behave) as server:
        world = World(server, host, delay=0.5, record=path)
        world.run(lambda: world.walks() >= 1)
        asked, answered = ([one.tick for one in world.heard if became(one) == what] for what in ("asked", "answered"))
    assert answered[0] - asked[0] == 10
    url = server.url

    class Gone:
        pass

    Gone.url = url
    report = replay(path, lambda *, seed, host: World(Gone, host, delay=0.5).runtime, host="plain")
    assert (report.difference, report.answered) == (None, 1)


def became(record):
    return dict(record.detail)["became"] if record.event == "thought" else ""


def without_usage(body):
    """An answer that does not say what it has used."""
    call = {"id": "c", "type": "function", "function": {"name": "answer", "arguments": body}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return json.dumps({"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})


HOSTILE = {
    "sends on": (
        Answer(status=307, header="location: {url}/elsewhere\r\n"),
        "the server sends one on to another place",
    ),
    "too long": (Answer(body=" " * (5 << 20)), "longer than 4 MiB"),
    "packed": (Answer(WALK, header="content-encoding: gzip\r\n"), "it is packed"),
    "no number": (Answer(body=without_usage('{"n": NaN}')), "it is no JSON"),
    "deep": (Answer(body=without_usage("[" * 100_000)), "it is no JSON"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_server_is_told_of(kind):
    answer, said = HOSTILE[kind]
    with ModelServer(lambda body, number: answer) as server:
        answer.header = answer.header.replace("{url}", server.url)
        asked = ModelRequest("s", "p", {"type": "object"}, 20).plain()
        reply = asyncio.run(Model("m", server.url, key="TEST_KEY", timeout=10.0).ask(asked))
    assert said in reply["text"]
    assert len(server.asked) == 1
    assert SECRET not in str(reply)


def test_half_a_pair_of_a_character_does_not_come_in():
    with ModelServer(lambda body, number: Answer(body=without_usage('{"say": "a\\ud800"}'))) as server:
        asked = ModelRequest("s", "p", {"type": "object"}, 20).plain()
        assert asyncio.run(Model("m", server.url, key="TEST_KEY").ask(asked))["value"] == {"say": "a?"}


@pytest.mark.parametrize("usage", [None, (0, 0), (-5, -7)])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_server_that_does_not_say_what_it_used_has_used_what_it_might(usage):
    """Else it would be asked for ever: a budget would never be used up."""
    body = without_usage(json.dumps(WALK))

    with ModelServer(lambda _body, number: Answer(WALK, usage=usage) if usage else Answer(body=body)) as server:
        world = World(server, "plain", budget=Budget(tokens=3_000))
        world.run(lambda: world.runtime.tick >= 150)
    assert 1 <= len(server.asked) <= 3
    assert 500 < world.mind.account.total_tokens <= 3_000


BAD = (Answer(status=429), Answer(status=500), Answer(WALK, is_half=True), Answer(body="{nonsense"),
       Answer("I would rather not."), Answer({"activity": "x"}))  # fmt: skip


def test_more_calls_leave_nothing_behind():
    """Of whatever kind: the client's objects, tasks and errors are counted, too. One of each call kept would be seen."""
    answered, kept = (30, 150), []

    def behave(body, number):
        return Answer(WALK) if number % 3 else BAD[number // 3 % len(BAD)]

    with ModelServer(behave) as server:
        world = World(server, "asyncio", people=["Ann", "Bob", "Cem"], cache=16, backoff=(0.05, 0.05))

        async def run():
            for number in answered:
                while world.mind.answers < number:
                    await world.runtime.run(ticks=1, speed=20.0)
                for told in (world.heard, world.mind.recent, server.asked, server.headers, server.given_up):
                    told.clear()
                gc.collect()
                kept.append(Counter(f"{type(one).__module__}.{type(one).__name__}" for one in gc.get_objects()))
            await world.runtime.aclose()

        asyncio.run(run())
    before, after = kept
    assert world.faults == []
    # some fifteen of a kind belong to each of the three calls that may be under way: these come and go
    assert {kind: count - before[kind] for kind, count in after.items() if count > before[kind] + 100} == {}
