"""What each method of the context does in each state of its action: the table of the module ``context``, literally.

One world brings an action into each state and holds it there: its context is kept from a hook, as a callback would keep it,
and called from outside. Calls on the action's own stack are below.
"""

from __future__ import annotations

import inspect

import pytest

from agentrt import Action, Entity, Event, Signal, ThinkOutput, step
from agentrt.activity.author import context
from agentrt.errors import WrongStateError

STATES = ("idle", "thinking", "ready", "impossible", "started", "running", "finished", "over")

#                                idle        thinking  ready    impossible  started  running  finished   over
TABLE = {
    "set_think_output":        ("ignored",  "works",  "works", "ignored",  "error", "error", "ignored", "late"),
    "candidates":              ("ignored",  "works",  "works", "ignored",  "error", "error", "ignored", "late"),
    "clear_think_output":      ("ignored",  "works",  "works", "ignored",  "error", "error", "ignored", "late"),
    "set_utility":             ("ignored",  "works",  "works", "ignored",  "works", "works", "ignored", "late"),
    "spawn":                   ("error",    "works",  "works", "error",    "works", "works", "error", "error"),
    "execute":                 ("error",    "error",  "error", "error",    "error", "works", "error", "error"),
    "suspend":                 ("error",    "error",  "error", "error",    "error", "works", "error", "error"),
    "resume":                  ("ignored",  "ignored", "ignored", "ignored", "works", "works", "ignored", "late"),
    "listen":                  ("error",    "works",  "works", "error",    "works", "works", "error", "late"),
    "call_later":              ("error",    "works",  "works", "error",    "works", "works", "error", "late"),
    "protect_argument":        ("ignored",  "works",  "works", "ignored",  "works", "error", "ignored", "late"),
    "unprotect_argument":      ("ignored",  "works",  "works", "ignored",  "works", "works", "ignored", "late"),
    "set_status_text_key":     ("ignored",  "works",  "works", "ignored",  "works", "works", "ignored", "late"),
    "set_debug_progress":      (*("works",) * 7, "late"),
    "reject":                  ("ignored",  "works",  "works", "ignored",  "works", "works", "works", "late"),
    "abort":                   ("ignored",  "works",  "works", "ignored",  "works", "works", "works", "late"),
    "get_debug_info_datastore": ("works",) * 8,
    "get_log":                 ("works",) * 8,
    "get_parent_node":         ("works",) * 8,
}  # fmt: skip
NOTED = ("set_think_output", "candidates", "clear_think_output", "protect_argument")
"""What is an error on the action's own stack alone; for others the action has gone on since they were told to call."""

THING = Entity("thing")
CALLS = {
    "set_think_output": lambda ctx: ctx.set_think_output(thing="cow"),
    "candidates": lambda ctx: ctx.candidates([{"thing": "cow"}]),
    "clear_think_output": lambda ctx: ctx.clear_think_output(),
    "set_utility": lambda ctx: ctx.set_utility(0.5),
    "spawn": lambda ctx: ctx.spawn("effect"),
    "execute": lambda ctx: ctx.execute("effect"),
    "suspend": lambda ctx: ctx.suspend(),
    "resume": lambda ctx: ctx.resume(),
    "listen": lambda ctx: ctx.listen(Signal(), lambda _: None),
    "call_later": lambda ctx: ctx.call_later(1, lambda: None),
    "protect_argument": lambda ctx: ctx.protect_argument(THING),
    "unprotect_argument": lambda ctx: ctx.unprotect_argument(THING),
    "set_status_text_key": lambda ctx: ctx.set_status_text_key("key", of="it"),
    "reject": lambda ctx: ctx.reject("no"),
    "abort": lambda ctx: ctx.abort("no"),
    "set_debug_progress": lambda ctx: ctx.set_debug_progress("at it"),
    "get_debug_info_datastore": lambda ctx: ctx.get_debug_info_datastore(),
    "get_log": lambda ctx: ctx.get_log(),
    "get_parent_node": lambda ctx: ctx.get_parent_node(),
}


class Subject(Action):
    """Comes into the state that is wanted, and tells its context."""

    does = "subject"
    utility = (0.2, 0.8)
    wanted = ""
    seen: list

    class Output(ThinkOutput):
        thing: str

    def should_start_thinking(self, ctx, args):
        if self.wanted == "idle":
            self.seen.append(ctx)
        return self.wanted != "idle"

    async def think(self, ctx, args):
        self.seen.append(ctx)
        if self.wanted == "impossible":
            return
        if self.wanted not in ("thinking", "over"):
            ctx.set_think_output(thing="pig")
        await ctx.sleep(1000)

    async def run(self, ctx, args):
        if self.wanted == "running":
            await ctx.sleep(1000)


class Walk(Action):
    does = "walk"
    utility = 0.5

    async def run(self, ctx, args):
        await ctx.sleep(1000)


def reach(play, compound, idle, state):
    """An agent with the subject in a state; its context."""
    gate = Event()

    class Gate(Action):
        does = "gate"
        utility = 0.5

        async def think(self, ctx, args):
            await gate.wait()
            ctx.set_think_output()

    steps = {
        "ready": [step("subject"), step("gate")],
        "started": [step("walk"), step("subject")],
        "finished": [step("subject"), step("walk")],
    }.get(state, [step("subject")])
    seen = []
    subject = type("Subject", (Subject,), {"wanted": state, "seen": seen})
    actions = [compound("Plan", *steps, utility=0.5, quiet=True), subject, Walk, Gate, idle]
    better = type("Better", (Walk,), {"does": "top", "utility": 0.9})
    agent = play.add(*actions)
    play.tick(1)
    if state == "over":
        agent.inject(better)
        play.tick(2)
    return agent, seen[0]


@pytest.mark.states("001: AI contexts: Each method of the context, in each state of its action")
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("method", TABLE)
def test_every_method_in_every_state(play, compound, idle, state, method):
    agent, ctx = reach(play, compound, idle, state)
    unit = ctx._seat
    assert repr(unit).split(": ")[1].split(",")[0] == ("idle" if state == "over" else state)
    expected = TABLE[method][STATES.index(state)]
    if expected == "error" and method in NOTED:
        expected = "late"
    if inspect.iscoroutinefunction(getattr(ctx, method)):
        coro = CALLS[method](ctx)
        if expected == "error":
            with pytest.raises(WrongStateError):
                coro.send(None)
        else:
            coro.close()  # that it works is shown where it is awaited by a strand
    elif expected == "error":
        with pytest.raises(WrongStateError):
            CALLS[method](ctx)
    else:
        CALLS[method](ctx)
    if method in ("abort", "reject"):
        play.tick(1)  # they are taken by the next intake
    told = play.details("ignored", "late")
    if expected == "ignored":
        assert told == [(play.sim.now, unit.path(), "ignored", {"method": method, "state": state})]
    elif expected == "late":
        assert told == [(play.sim.now if state != "over" else 3, unit.path(), "late", {"method": method})]
    else:
        assert told == []
    play.tick(2)
    assert agent.is_alive


@pytest.mark.parametrize("hook", ["start", "run"])
@pytest.mark.parametrize("method", NOTED)
def test_what_cannot_be_meant_is_an_error_on_the_own_stack(play, hook, method):
    wrong = []

    def call(ctx):
        try:
            CALLS[method](ctx)
        except WrongStateError as error:
            wrong.append(error.text)

    class Wrong(Action):
        does = "top"
        utility = 0.5

        def start(self, ctx, args):
            if hook == "start":
                call(ctx)

        async def run(self, ctx, args):
            if hook == "run":
                call(ctx)
            await ctx.sleep(1)

    play.add(Wrong)
    play.tick(1)
    state = {"start": "started", "run": "running"}[hook]
    is_error = TABLE[method][STATES.index(state)] == "error"
    assert [text.startswith(f"{method} cannot be called while the action is {state}.") for text in wrong] == [
        True
    ] * is_error


def test_the_table_in_the_documentation_is_this_one():
    letters = {"ignored": "-", "works": "+", "error": "E", "late": "late"}
    rows = {
        parts[0]: tuple(parts[1:])
        for line in context.__doc__.splitlines()
        if (parts := line.split()) and parts[0] in TABLE and len(parts) == 9
    }
    both = next(line.split() for line in context.__doc__.splitlines() if line.split()[:2] == ["reject,", "abort"])
    rows["reject"] = rows["abort"] = tuple(both[2:])
    assert rows == {
        method: tuple(letters[one] for one in row)
        for method, row in TABLE.items()
        if set(row) <= set(letters) and set(row) != {"works"}
    }


def test_an_ignored_call_changes_nothing(play, compound, idle):
    """A search that ends when its action was rejected already: the plan is what it was."""
    _, ctx = reach(play, compound, idle, "impossible")
    ctx.set_think_output(thing="late")
    ctx.set_utility(1.0)
    play.tick(3)
    assert ctx._seat.utility == 0.2
    assert [one[2] for one in play.trace(since=2)] == []


def test_a_call_in_a_hook_that_is_too_early_or_too_late(play, idle):
    """``should_start_thinking`` comes before thinking; ``stop`` after everything."""

    class Wrong(Action):
        does = "top"
        utility = (0.5, 0.9)

        def should_start_thinking(self, ctx, args):
            ctx.set_utility(1.0)
            ctx.set_think_output()
            return True

        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)

        def stop(self, ctx, args):
            ctx.set_status_text_key("too late")

    play.add(Wrong)
    play.tick(2)
    assert [one[3] for one in play.details("ignored")][:3] == [
        {"method": "set_utility", "state": "idle"},
        {"method": "set_think_output", "state": "idle"},
        {"method": "set_status_text_key", "state": "idle"},
    ]
    assert play.log == []


def test_the_words_of_one_thinking_are_not_those_of_the_next(play):
    """A status that was set while thinking belongs to that thinking."""

    class Work(Action):
        does = "top"
        utility = 0.5
        status_text_key = "working"

        async def think(self, ctx, args):
            if ctx.clock.tick == 1:
                ctx.set_status_text_key("looking for work")
                await ctx.sleep_ticks(1)
                return
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep(1000)

    class Once(Action):
        does = "top"
        utility = 0.4

        async def run(self, ctx, args):
            await ctx.sleep_ticks(3)

    agent = play.add(Work, Once)
    play.tick(5)
    assert agent.snapshot().running == "top/Work"
    assert agent.status_text == "working"


@pytest.mark.states("001: get_log: get_log: with entity and debug route")
@pytest.mark.states("001: AI contexts: get_log: with entity and debug route; the tick too, of each event ...")
def test_a_log_that_knows_whose_it_is(play, caplog):
    class Acts(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            ctx.get_log().warning("the barn is full", load=7)
            await ctx.sleep(1000)

    play.add(Acts, entity=Entity("human", name="ada"))
    with caplog.at_level("WARNING"):
        play.tick(1)
    [message] = [record.getMessage() for record in caplog.records if "barn" in record.getMessage()]
    assert message == "event='the barn is full' agent='a' path='top/Acts' tick=1 entity='ada' load=7"


@pytest.mark.states(
    "001: get_debug_info_datastore: get_debug_info_datastore: for one's own debugging data, which tools show",
)
def test_the_debug_data_last_as_long_as_the_action(play):
    class Counts(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            store = ctx.get_debug_info_datastore()
            store["runs"] = store.get("runs", 0) + 1
            play.note(store)
            await ctx.sleep_ticks(1)

    play.add(Counts)
    play.tick(2)
    assert [entry[0] for entry in play.log] == [1, 2]
    assert play.log[1][1] == {"runs": 2}
