"""The same run on every host: one scenario with its literal trace, and random programs whose traces are compared."""

from __future__ import annotations

import anyio
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentrt.kernel.signals import Condition, Event, Queue, Signal
from agentrt.kernel.strand import CancelScope, current_strand, fail_after, kill, move_on_after
from agentrt.kernel.traps import next_tick, park, sleep, sleep_ticks

few = settings(max_examples=settings.default.max_examples // 4)  # each runs whole event loops

# --- one scenario -----------------------------------------------------------------------------------------------------


async def cook(stage, orders, bell):
    while True:
        order = await orders.get()
        await sleep(0.1)
        stage.note(f"cook: {order}")
        bell.emit(order)


async def waiter(stage, orders, bell):
    for order in ("soup", "bread"):
        await orders.put(order)
        stage.note(f"waiter: ordered {order}")
        with move_on_after(0.3) as scope:
            stage.note(f"waiter: serves {await bell.wait()}")
        stage.note(f"waiter: gave up {scope.cancelled_caught}")
    with pytest.raises(TimeoutError), fail_after(0.1):
        await bell.wait()
    stage.note("waiter: goes home")


async def guest(stage, name, is_open, bell):
    try:
        await is_open.wait()
        stage.note(f"{name}: sits down")
        stage.note(f"{name}: smells {await bell.wait()}")
        await park()
    finally:
        stage.note(f"{name}: pays")
        with CancelScope(shield=True):
            await next_tick()
            stage.note(f"{name}: leaves")


async def boss(stage, is_open, condition, strands):
    await sleep_ticks(2)
    stage.note("boss: opens")
    is_open.set()
    await condition.wait_for(lambda: stage.kernel.tick >= 6)
    for strand in strands[:2]:
        strand.stop("closing time")
    stage.note("boss: rings")
    await strands[1].join()
    stage.note("boss: locks up")
    current_strand().stop("done for today")
    stage.note("boss: still here")
    await next_tick()


SCENARIO = [
    (1, "waiter: ordered soup"),
    (3, "cook: soup"),
    (3, "boss: opens"),
    (3, "waiter: serves soup"),
    (3, "waiter: gave up False"),
    (3, "waiter: ordered bread"),
    (3, "anna: sits down"),
    (3, "bert: sits down"),
    (5, "cook: bread"),
    (5, "waiter: serves bread"),
    (5, "waiter: gave up False"),
    (5, "anna: smells bread"),
    (5, "bert: smells bread"),
    (6, "boss: rings"),
    (6, "anna: pays"),
    (6, "bert: pays"),
    (7, "anna: leaves"),
    (7, "bert: leaves"),
    (7, "waiter: goes home"),
    (7, "boss: locks up"),
    (7, "boss: still here"),
]


def test_one_scenario_one_trace(on_any):
    async def main(stage):
        orders, bell, is_open, condition = Queue(1), Signal(), Event(), Condition()
        stage.kernel.every_tick(condition.notify_all)
        guests = [stage.spawn(guest, stage, name, is_open, bell, name=name) for name in ("anna", "bert")]
        stage.spawn(waiter, stage, orders, bell)
        kitchen = stage.spawn(cook, stage, orders, bell)
        stage.spawn(boss, stage, is_open, condition, guests)
        await stage.tick(10)
        assert stage.log == SCENARIO
        assert stage.ends == {
            "waiter": "returned None",
            "anna": "cancelled",
            "bert": "cancelled",
            "boss": "cancelled",
        }
        assert kitchen.state == "parked"

    on_any(main)


# --- random programs --------------------------------------------------------------------------------------------------

names = st.integers(0, 2)
simple = st.one_of(
    st.tuples(st.just("ticks"), st.integers(0, 3)),
    st.tuples(st.sampled_from(["emit", "wait", "put", "get", "set", "wait set", "stop", "join"]), names),
    st.tuples(st.just("cancel"), st.integers(0, 2)),
    st.tuples(st.just("stop myself"), st.none()),
    st.tuples(st.just("call soon"), names),
)


def blocks(inner):
    body = st.lists(inner, max_size=4)
    return st.one_of(
        st.tuples(st.just("scope"), st.tuples(st.sampled_from([None, 0, 0.05, 0.1]), st.booleans(), body)),
        st.tuples(st.just("finally"), st.tuples(body, body)),
        st.tuples(st.just("swallow"), body),
        st.tuples(st.just("spawn"), body),
    )


operation = st.recursive(simple, blocks, max_leaves=6)
program = st.lists(st.lists(operation, min_size=1, max_size=6), min_size=1, max_size=4)


class Machine:
    """Runs a program: strands that use the same three signals, queues and events, stop each other, and note what happens."""

    def __init__(self, stage):
        self.stage = stage
        self.signals = [Signal() for _ in range(3)]
        self.queues = [Queue(1) for _ in range(3)]
        self.events = [Event() for _ in range(3)]
        self.count = 0

    def spawn(self, body):
        self.count += 1
        name = f"s{self.count}"
        self.stage.spawn(self.run, name, body, name=name)

    def on(self, index):
        return self.stage.strands[index % len(self.stage.strands)]

    async def run(self, name, body):
        self.stage.note(f"{name} starts")
        try:
            await self.block(name, body, [])
        finally:
            self.stage.note(f"{name} ends")

    async def block(self, name, body, scopes):
        for operation, argument in body:
            result = await getattr(self, "do_" + operation.replace(" ", "_"))(name, argument, scopes)
            self.stage.note(f"{name} {operation} {result}")

    async def do_ticks(self, name, argument, scopes):
        await sleep_ticks(argument)

    async def do_emit(self, name, argument, scopes):
        self.signals[argument].emit(name)

    async def do_wait(self, name, argument, scopes):
        return await self.signals[argument].wait()

    async def do_put(self, name, argument, scopes):
        await self.queues[argument].put(name)

    async def do_get(self, name, argument, scopes):
        return await self.queues[argument].get()

    async def do_set(self, name, argument, scopes):
        self.events[argument].set()

    async def do_wait_set(self, name, argument, scopes):
        await self.events[argument].wait()

    async def do_stop(self, name, argument, scopes):
        self.on(argument).stop(f"by {name}")

    async def do_stop_myself(self, name, argument, scopes):
        current_strand().stop("by itself")

    async def do_call_soon(self, name, argument, scopes):
        self.stage.kernel.call_soon(self.signals[argument].emit, f"call of {name}")

    async def do_join(self, name, argument, scopes):
        if self.on(argument) is not current_strand():
            return await self.on(argument).join()
        return "itself"

    async def do_cancel(self, name, argument, scopes):
        if scopes:
            scopes[argument % len(scopes)].cancel(f"by {name}")

    async def do_spawn(self, name, argument, scopes):
        self.spawn(argument)

    async def do_scope(self, name, argument, scopes):
        seconds, shield, body = argument
        with CancelScope(seconds, shield=shield) as scope:
            await self.block(name, body, [scope, *scopes])
        return scope.cancelled_caught

    async def do_finally(self, name, argument, scopes):
        body, cleanup = argument
        try:
            await self.block(name, body, scopes)
        finally:
            self.stage.note(f"{name} cleans up")
            await self.block(name, cleanup, scopes)

    async def do_swallow(self, name, argument, scopes):
        try:
            await self.block(name, argument, scopes)
        except BaseException as error:
            if not isinstance(error, self.stage.host.cancelled_type):
                raise
            self.stage.note(f"{name} swallows")

    async def do_foreign(self, name, argument, scopes):
        # Never at the moment of a tick, nor of another strand's wake: who is first then is the loop's affair.
        await anyio.sleep(self.stage.beat * (argument + 0.1 + 0.013 * int(name[1:])))


def trace_of(on, host, strands):
    async def main(stage):
        machine = Machine(stage)
        for body in strands:
            machine.spawn(body)
        await stage.tick(6)
        for strand in stage.strands:
            strand.stop("the end")
        await stage.tick(6)
        outcome = list(stage.log), dict(stage.ends)
        for strand in stage.strands:  # some wait behind a shield for what never comes
            kill(strand, LookupError("the test is over"))
        await stage.tick()
        return outcome

    return on(host, main)


@pytest.mark.slow
@few
@given(program)
@example([[("stop myself", None), ("scope", (None, True, [("cancel", 0), ("ticks", 1)]))]])
@example(
    [
        [
            ("stop myself", None),
            ("swallow", [("scope", (None, False, [("ticks", 1)]))]),
            ("scope", (None, True, [("ticks", 1)])),
            ("ticks", 1),
        ]
    ]
)
@example([[("scope", (None, False, [("cancel", 0), ("ticks", 1)]))], [("stop", 0), ("spawn", [])]])
@example(
    [
        [("scope", (None, False, [("cancel", 0)])), ("scope", (None, False, [("ticks", 1)]))],
        [("stop", 0), ("spawn", [])],
    ]
)
def test_a_random_program_has_one_trace(on, strands):
    expected = trace_of(on, "plain", strands)
    assert trace_of(on, "asyncio", strands) == expected
    assert trace_of(on, "trio", strands) == expected


peaceful = st.one_of(
    st.tuples(st.just("ticks"), st.integers(0, 3)),
    st.tuples(st.just("foreign"), st.integers(0, 2)),
    st.tuples(st.sampled_from(["emit", "wait", "put", "get", "set", "wait set", "call soon"]), names),
)
peaceful_program = st.lists(st.lists(peaceful, min_size=1, max_size=6), min_size=1, max_size=4)


@pytest.mark.slow
@few
@given(peaceful_program)
@example([[("foreign", 0), ("emit", 0)], [("wait", 0), ("foreign", 1)]])
def test_foreign_waits_in_a_random_program_end_in_one_order(on, strands):
    assert trace_of(on, "asyncio", strands)[0] == trace_of(on, "trio", strands)[0]
