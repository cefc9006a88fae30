"""Values that cannot be printed, compared or written come in by every door an author has, and hurt nobody who looks.

After each: the trace is whole, so are the recording and the digest; snapshots can be taken, written as JSON and read again; the
inspector's view and ``explain()`` have words for it. What is lost is at most one view, and that one says so.
"""

from __future__ import annotations

import json

import pytest

from agentrt import TOP, Action, ActionArgs, Agent, CompoundAction, Entity, Runtime, Signal, ThinkOutput, step
from agentrt.inspect.protocol import write
from agentrt.kernel.trace import TraceDigest
from agentrt.record import Recording
from agentrt.snapshot import AgentSnapshot
from agentrt.tasks import TaskGroup, TaskGroupAction, declare_task


class Hostile:
    """Raises, whatever it is asked."""

    def _raise(self, *_args):
        raise RuntimeError("no")

    __str__ = __repr__ = __len__ = __iter__ = __bool__ = __lt__ = __format__ = __int__ = __float__ = _raise

    @property
    def name(self):
        raise GeneratorExit


class Incomparable(Hostile):
    def _raise(self, *_args):
        raise RuntimeError("no")

    __eq__ = _raise
    __hash__ = object.__hash__


class SlyList(list):
    def __iter__(self):
        while True:
            yield self

    def __getitem__(self, key):
        raise RuntimeError("no")

    def __len__(self):
        raise RuntimeError("no")


class SlyText(str):
    __slots__ = ()

    def __str__(self):
        raise RuntimeError("no")

    def __len__(self):
        return 10**9

    def encode(self, *_args):
        raise RuntimeError("no")


def circle():
    made = []
    made.append(made)
    return made


VALUES = {
    "hostile": Hostile(),
    "incomparable": Incomparable(),
    "bytes": b"x\xff",
    "huge number": 10**6000,
    "huge text": "x" * 20_000_000,
    "lone surrogate": "a\ud800b",
    "controls": "\x1b]0;x\x07\x9b1m\u202e\x00",
    "not a number": float("nan"),
    "infinity": float("-inf"),
    "circle": circle(),
    "sly list": SlyList([1]),
    "sly text": SlyText("x"),
    "large list": list(range(100_000)),
    "large set": set(range(100_000)),
    "odd keys": {Hostile(): Hostile(), None: b"x", (1, 2): 10**6000},
    "an address": object(),
    "a class": Hostile,
    "nothing": None,
}


class Body(Entity):
    """An entity with a value."""

    value = None
    what = None


class Speaks(Action):
    """Says a hostile thing at every door at which an action can say something."""

    does = TOP
    utility = 0.9

    async def run(self, ctx, args):
        value = ctx.entity.value
        ctx.set_debug_progress(value)
        ctx.set_status_text_key("ai.says", what=value)
        ctx.get_debug_info_datastore()["it"] = value
        await ctx.execute("t:take", what=value)
        ctx.set_status_text_key(value)
        await ctx.sleep_ticks(2)
        ctx.abort(value)


class Takes(Action):
    does = "t:take"
    utility = 1.0

    class Args(ActionArgs):
        what: object

    async def think(self, ctx, args):
        ctx.CURRENT.what = args.what
        ctx.set_think_output()

    async def run(self, ctx, args):
        await ctx.sleep_ticks(2)


class Refuses(CompoundAction):
    does = TOP
    utility = 0.5
    steps = [step("t:refuse")]


class Rejects(Action):
    does = "t:refuse"
    utility = 1.0

    class Output(ThinkOutput):
        what: object

    async def think(self, ctx, args):
        ctx.set_think_output(what=ctx.entity.value)
        await ctx.sleep_ticks(3)
        ctx.reject(ctx.entity.value)


class Chores(TaskGroupAction):
    name = "chores"
    does = TOP
    utility = (0.0, 0.3)
    tasks = [declare_task("t:take", utility=0.5)]


class Bystander(Action):
    does = TOP
    utility = 0.1

    async def run(self, ctx, args):
        await ctx.sleep_ticks(1)


@pytest.fixture(params=VALUES)
def value(request):
    return VALUES[request.param]


def look(runtime):
    """All who look."""
    for agent in runtime.agents:
        snapshot = agent.snapshot()
        text = json.dumps(snapshot.as_json(), allow_nan=False)
        text.encode("utf-8")
        assert len(text) < 2_000_000
        AgentSnapshot.from_json(json.loads(text))
        words = agent.explain()
        words.encode("utf-8")
        assert len(words) < 100_000
        assert isinstance(agent.status_text, str)
        repr(agent)
    text = write(runtime.snapshot().as_json())
    text.encode("utf-8")


def bystander_alone():
    """The bystander's records without anybody beside it."""
    runtime = Runtime(seed=3, host="plain")
    records = []
    runtime.trace.listen(records.append)
    runtime.add(Agent(Entity("bystander"), actions=[Bystander]))
    for _ in range(31):
        runtime.step()
    runtime.close()
    return [record for record in records if record.agent == "bystander"]


@pytest.mark.slow
def test_a_value_at_every_door(value, tmp_path, logged):
    runtime = Runtime(seed=3, host="plain")
    digest = TraceDigest(runtime.trace)
    records = []
    runtime.trace.listen(records.append)
    runtime.log_level = "debug"
    path = tmp_path / "run.agentrt"
    recorder = runtime.record(path)
    body = Body("speaker")
    body.value = value
    speaker = Agent(body, actions=[Speaks, Takes, Refuses, Rejects, Bystander])
    runtime.add(speaker)
    runtime.add(Agent(Entity("bystander"), actions=[Bystander]))
    group = TaskGroup(Chores)
    group.add(speaker)
    group.create_task("t:take", what=value).times(2).start()
    bell = Signal()
    bell.connect(lambda got: (_ for _ in ()).throw(ValueError(got)))
    for _ in range(30):
        runtime.step()
        runtime.note(value, detail=value)
        bell_of = runtime.post
        bell_of(bell.emit, value)
        look(runtime)
    assert recorder.is_open, recorder.stopped
    runtime.remove(speaker, value)
    runtime.step()
    look(runtime)
    runtime.close(value)
    assert digest.records == len(records)
    assert [record for record in records if record.agent == "bystander"][:-1] == bystander_alone()[:-1]
    for record in records:
        for _, told in record.detail:
            assert told is None or type(told) in (str, int, float, bool)
            assert len(str(told)) <= 4000
    with Recording(path) as recording:
        assert len(list(recording.digests())) == 31
        for tick in (5, 20):
            recording.explain("speaker", tick)


def test_an_agent_with_a_hostile_name(value):
    body = Body("x")
    body.name = value if isinstance(value, str) else str(type(value).__name__)
    runtime = Runtime(host="plain")
    agent = runtime.add(Agent(body, actions=[Bystander]))
    runtime.step()
    look(runtime)
    assert len(agent.name) <= 200
    runtime.close()


def test_equal_runs_are_equal_whatever_addresses_there_are(tmp_path):
    def run():
        runtime = Runtime(seed=3, host="plain")
        digest = TraceDigest(runtime.trace)
        body = Body("speaker")
        body.value = [object(), lambda: None, {object()}]
        runtime.add(Agent(body, actions=[Speaks, Takes, Refuses, Rejects, Bystander]))
        kept = [object() for _ in range(1000)]
        for _ in range(12):
            runtime.step()
            runtime.note(body.value, detail=body.value)
        runtime.close()
        return digest.hexdigest(), kept

    first, kept = run()
    assert run()[0] == first
    assert kept
