"""The rest of the context: suspend and resume, sleeping, words for people, and what is allowed when."""

from __future__ import annotations

import pytest

from agentrt import Action, Entity, Signal, move_on_after, step
from agentrt.activity.author.context import Context
from agentrt.errors import WrongStateError
from agentrt.snapshot import explain


def acting(play, body, *, utility=0.5, **attributes):
    """An action whose run is the given coroutine function."""

    async def run(self, ctx, args):
        await body(ctx)
        await ctx.sleep(1000)

    return type("Acts", (Action,), {"does": "top", "utility": utility, "run": run, **attributes})


# --- suspend and resume -----------------------------------------------------------------------------------------------


@pytest.mark.states("001: suspend: suspend only while running, until resume ...")
def test_suspend_waits_for_resume_and_returns_its_value(play):
    contexts = []

    async def body(ctx):
        contexts.append(ctx)
        play.note("suspended")
        play.note("resumed with", await ctx.suspend())

    play.add(acting(play, body))
    play.tick(5)
    contexts[0].resume("the end of the effect")
    play.tick(1)
    assert play.log == [(1, "suspended"), (6, "resumed with", "the end of the effect")]


@pytest.mark.states("001: resume: resume from a callback, of the same action, while running")
def test_resume_from_a_callback_of_its_own(play):
    """The seed's use: an effect is played, and its end wakes the action."""
    ended = Signal()

    async def body(ctx):
        ctx.listen(ended, ctx.resume)
        play.note(await ctx.suspend())
        play.note(await ctx.suspend())

    play.add(acting(play, body))
    play.tick(2)
    ended.emit("first")
    play.tick(2)
    ended.emit("second")
    play.tick(1)
    assert play.log == [(3, "first"), (5, "second")]


@pytest.mark.states("001: suspend: (decided) A suspended action can be interrupted; nothing hangs for ever")
def test_a_suspended_action_is_preempted_like_any_other(play, leaf):
    contexts = []

    async def body(ctx):
        contexts.append(ctx)
        try:
            await ctx.suspend()
        finally:
            play.note("cancelled")

    play.add(acting(play, body, utility=0.1), leaf("Urgent", 0.9, think=3, run=9, quiet=True))
    play.tick(4)
    assert play.log == [(4, "cancelled")]
    contexts[0].resume()  # the effect ended after all; nobody waits for it
    assert play.details("late") == [(4, "top/Acts", "late", {"method": "resume"})]


@pytest.mark.states(
    "001: resume: (decided) One that comes first is kept for the next suspend; one that comes too late is ignored",
)
def test_a_resume_that_comes_first_is_kept_for_the_next_suspend(play):
    """An effect that is over at once calls back before the action waits for it: no hanging thread."""

    async def body(ctx):
        ctx.resume("at once")
        play.note(await ctx.suspend())
        await ctx.sleep_ticks(1)
        ctx.resume("second")
        ctx.resume("third")
        play.note(await ctx.suspend())

    play.add(acting(play, body))
    play.tick(2)
    assert play.log == [(1, "at once"), (2, "second")]
    assert play.details("ignored") == [(2, "top/Acts", "ignored", {"method": "resume", "state": "running"})]


def test_a_resume_in_start_is_kept_for_run(play):
    class Acts(Action):
        does = "top"
        utility = 0.5

        def start(self, ctx, args):
            ctx.resume("started")

        async def run(self, ctx, args):
            play.note(await ctx.suspend())
            await ctx.sleep(1000)

    play.add(Acts)
    play.tick(1)
    assert play.log == [(1, "started")]


@pytest.mark.states("001: resume: (decided) One that comes first is kept for the next suspend; one that comes too ...")
def test_the_resume_of_a_wait_that_was_given_up_does_not_end_the_next_one(play):
    """A callback that comes too late, after a deadline, must not end what is waited for now."""
    contexts = []

    async def body(ctx):
        contexts.append(ctx)
        with move_on_after(0.1):
            await ctx.suspend()
        await ctx.sleep_ticks(2)
        play.note(await ctx.suspend())

    play.add(acting(play, body))
    play.tick(3)
    contexts[0].resume("of the first wait")
    play.tick(3)
    assert play.log == []
    contexts[0].resume("of the second")
    play.tick(1)
    assert play.log == [(7, "of the second")]
    assert [one[0] for one in play.details("ignored")] == [3]


def test_two_callbacks_for_one_wait(play):
    """Both come before the action goes on: the second is ignored."""
    ended = Signal()

    async def body(ctx):
        ctx.listen(ended, ctx.resume)
        ctx.listen(ended, ctx.resume)
        play.note(await ctx.suspend())
        play.note(await ctx.suspend())

    play.add(acting(play, body))
    play.tick(1)
    ended.emit(1)
    play.tick(2)
    assert play.log == [(2, 1)]
    assert len(play.details("ignored")) == 1


def test_it_waits_for_one_thing(play):
    contexts = []

    async def body(ctx):
        contexts.append(ctx)
        await ctx.suspend()

    class Other(Action):
        does = "top"
        utility = 0.1

        async def think(self, ctx, args):
            await ctx.sleep_ticks(2)
            with pytest.raises(WrongStateError) as info:
                await contexts[0].suspend()
            play.note(info.value.text)

    play.add(acting(play, body, utility=(0.05, 0.9)), Other)
    play.tick(3)
    assert play.log == [
        (3, "suspend cannot be called while the action is suspended. Resume it before it waits for something else.")
    ]


@pytest.mark.states("001: suspend: suspend only while running, until resume")
def test_suspend_works_only_in_run(play):
    class Wrong(Action):
        does = "top"
        utility = 0.5

        async def think(self, ctx, args):
            try:
                await ctx.suspend()
            except WrongStateError as error:
                play.note(error.text)

    play.add(Wrong)
    play.tick(1)
    assert play.log == [
        (1, "suspend cannot be called while the action is thinking. It works only in 'run'; use a step otherwise.")
    ]


# --- time -------------------------------------------------------------------------------------------------------------


@pytest.mark.states("001: run: run may wait; it is finished when it returns")
def test_three_ways_to_let_time_pass(play):
    async def body(ctx):
        await ctx.next_tick()
        play.note("next tick")
        await ctx.sleep_ticks(3)
        play.note("three ticks")
        await ctx.sleep(0.25)
        play.note("a quarter of a second")
        await ctx.sleep(0)
        await ctx.sleep_ticks(0)
        play.note("no time")
        await ctx.sleep(0.001)
        play.note("at least one tick")
        play.note(ctx.clock.tick, ctx.clock.now)

    play.add(acting(play, body))
    play.tick(12)
    assert play.log == [
        (2, "next tick"),
        (5, "three ticks"),
        (10, "a quarter of a second"),
        (10, "no time"),
        (11, "at least one tick"),
        (11, 11, 0.55),
    ]


# --- who and where ----------------------------------------------------------------------------------------------------


def test_what_there_is(play):
    seen = {}

    async def body(ctx):
        assert isinstance(ctx, Context)
        seen.update(entity=ctx.entity, agent=ctx.agent, path=ctx.path, random=ctx.random, text=repr(ctx))

    entity = Entity("human", name="ada")
    agent = play.add(acting(play, body), entity=entity)
    play.tick(1)
    assert seen == {
        "entity": entity,
        "agent": agent,
        "path": "top/Acts",
        "random": agent.random,
        "text": "<Context of <Unit top/Acts: running, utility 0.5>>",
    }


@pytest.mark.states("001: Overview, Intelligent entity: Any object can be the acting entity")
def test_the_entity_can_be_any_object(play):
    class Bot:
        """Knows nothing of agentrt."""

    bot = Bot()

    async def body(ctx):
        play.note(ctx.entity is bot)

    agent = play.add(acting(play, body), entity=bot, name=None)
    play.tick(1)
    assert play.log == [(1, True)]
    assert agent.name == "bot"


# --- listening --------------------------------------------------------------------------------------------------------


def test_a_listener_that_was_opened_in_run_is_closed_when_the_action_stops(play):
    signal = Signal()

    class Short(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            ctx.listen(signal, lambda value: play.note(value))
            await ctx.sleep_ticks(3)

    play.add(Short)
    play.tick(2)
    signal.emit("x")
    play.tick(2)
    assert play.log == [(2, "x")]
    assert repr(signal) == "<Signal: 0 waiting, 1 connected>"  # that of the run that began in tick 4
    play.close()
    assert repr(signal) == "<Signal: 0 waiting, 0 connected>"


def test_a_listener_can_be_closed_earlier(play):
    signal = Signal()

    async def body(ctx):
        connection = ctx.listen(signal, lambda value: play.note(value))
        await ctx.sleep_ticks(2)
        connection.close()

    play.add(acting(play, body))
    play.tick(1)
    signal.emit("heard")
    play.tick(3)
    signal.emit("not heard")
    assert play.log == [(1, "heard")]


def test_a_listener_of_start_lasts_until_stop(play, leaf, compound):
    signal = Signal()

    class Starts(Action):
        does = "a"
        utility = 0.5

        def start(self, ctx, args):
            ctx.listen(signal, lambda value: play.note(value))

    play.add(compound("Plan", step("a"), step("b"), quiet=True), Starts, leaf("B", does="b", run=3, quiet=True))
    play.tick(2)
    signal.emit("x")
    play.tick(1)
    assert play.log == [(2, "x")]


# --- words for people -------------------------------------------------------------------------------------------------


@pytest.mark.states("001: Leaf action, Metadata: It can be set while running, too")
@pytest.mark.states("001: set_status_text_key: set_status_text_key while running, with arguments")
def test_status_text(play, leaf, compound):
    """The innermost running action that has one; set while running it may have arguments."""

    class Walk(Action):
        does = "walk"
        utility = 0.5

        async def run(self, ctx, args):
            await ctx.sleep_ticks(1)
            ctx.set_status_text_key("status.walking", to="the barn", steps=3)
            await ctx.sleep_ticks(1)

    agent = play.add(
        compound("Work", step("wait"), step("walk"), quiet=True, status_text_key="status.working"),
        leaf("Wait", does="wait", run=1, quiet=True),
        Walk,
    )
    seen = [agent.status_text]
    for _ in range(4):
        play.tick(1)
        seen.append(agent.status_text)
    assert seen == ["", "status.working", "status.working", "status.walking (to: the barn, steps: 3)", "status.working"]
    assert play.details("status") == [(3, "top/Work/walk/Walk", "status", {"key": "status.walking"})]


def test_the_arguments_of_a_status_text_have_any_name(play):
    class Walk(Action):
        does = "top"
        utility = 0.5

        async def run(self, ctx, args):
            ctx.set_status_text_key("status.walking", method="by foot")
            await ctx.sleep_ticks(1)

    agent = play.add(Walk)
    play.tick(1)
    assert agent.status_text == "status.walking (method: by foot)"


@pytest.mark.states("001: set_debug_progress: set_debug_progress is shown by the inspector")
def test_debug_progress_and_debug_info(play, idle):
    class Find(Action):
        does = "top"
        utility = 0.9

        async def think(self, ctx, args):
            ctx.set_debug_progress("looking at 5 cows")
            ctx.get_debug_info_datastore()["cows"] = 5
            await ctx.sleep(1000)

    agent = play.add(Find, idle)
    play.tick(1)
    unit = agent.snapshot().plan.units[0]
    assert unit.progress == "looking at 5 cows"
    assert (
        explain(agent.snapshot()).splitlines()[2]
        == "      find: not ready since tick 1, waits until tick 20001 (looking at 5 cows)"
    )
    assert play.details("progress") == [(1, "top/Find", "progress", {"text": "looking at 5 cows"})]


@pytest.mark.states("001: get_log: get_log: with entity and debug route ...")
def test_a_log_that_knows_its_place(play, caplog):
    async def body(ctx):
        ctx.get_log().warning("the barn is full", load=7)

    play.add(acting(play, body))
    with caplog.at_level("WARNING"):
        play.tick(1)
    [message] = [record.getMessage() for record in caplog.records if "barn" in record.getMessage()]
    assert "top/Acts" in message
    assert "agent" in message


def test_watching_does_not_change_the_run(stage, idle):
    """With and without a listener, with and without snapshots and explanations: the same run."""

    def run(*, watch):
        play = stage(4)
        order = []

        class Work(Action):
            does = "top"
            utility = (0.1, 0.9)

            async def think(self, ctx, args):
                ctx.set_utility(ctx.random.random())
                await ctx.sleep_ticks(ctx.random.below(4))
                ctx.set_think_output()

            async def run(self, ctx, args):
                order.append((ctx.clock.tick, ctx.random.below(1000)))
                await ctx.sleep_ticks(1 + ctx.random.below(5))

        agent = play.add(Work, idle)
        if not watch:
            play.sim._close()
            play.sim._digest.close()
        for _ in range(40):
            play.tick(1)
            if watch:
                agent.snapshot().as_json()
                agent.explain()
        play.close()
        return order

    assert run(watch=True) == run(watch=False)
