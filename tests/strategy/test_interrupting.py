"""Interruptions: what each strategy supports, who hears of it and when, priorities, and that nothing is lost."""

from __future__ import annotations

import pytest
from wants import Build, Have, Know, Reach

from agentrt import MOVE, Action, CompoundAction, step
from agentrt.strategy import Interruptible, Interruption
from agentrt.strategy.solve import Incident

PAUSE, RESTART, WAIT, TREE = Interruptible.PAUSE, Interruptible.RESTART, Interruptible.WAIT, Interruptible.TREE


def attack(agent, **options):
    agent.gameplay.running[-1].interruptions.add(Incident(Interruption("attack", 7), Reach("home"), **options))


# --- what is supported --------------------------------------------------------------------------------------------------


@pytest.mark.states("003: Pauseable/Cancelable Tasks: A task is paused and resumed, where it supports that")
@pytest.mark.states(
    "003: Pauseable/Cancelable Tasks: After the subtask the original is resumed or restarted, whichever it supports",
)
@pytest.mark.parametrize("outer", [PAUSE, RESTART])
def test_a_strategy_that_supports_pausing_stands_still_at_its_await_and_goes_on_there(game, walk, outer):
    agent, wish = walk(outer, PAUSE)
    attack(agent)
    game.tick()
    inner = agent.gameplay.running[0].root.children[0].children[0].children[0]
    assert (inner.label, inner.outcome, [one.label for one in inner.children]) == ("Inner", "paused", ["attack"])
    game.tick(12)
    assert game.log == [
        (1, "Outer", "run"),
        (1, "Inner", "run", 0),
        (4, "Flee", "run"),
        (8, "Flee", "ends"),
        (8, "Inner", "hears", "attack", 1),
        (8, "Outer", "hears", "attack", 1),
        (8, "Inner", "half"),  # its three ticks were over in tick 4, but it stood still
        (11, "Inner", "ends"),
        (12, "Outer", "ends"),
    ]
    assert wish.is_over
    assert game.tree(agent) == [
        "Build [house] - done",
        "   Outer - done",
        "      Have [plank, 1] - done",
        "         Inner - done",
        "            attack - done",
        "               Reach [home] - done",
        "                  Flee - done",
    ]


@pytest.mark.states("003: Pauseable/Cancelable Tasks: Or cancelled and restarted")
@pytest.mark.states("003: Pauseable/Cancelable Tasks: After the subtask the original is resumed or restarted ...")
@pytest.mark.parametrize("inner", [RESTART, TREE])
def test_a_strategy_that_supports_restarting_is_cancelled_and_run_again(game, walk, inner):
    agent, wish = walk(RESTART, inner)
    attack(agent)
    game.tick(16)
    assert game.log == [
        (1, "Outer", "run"),
        (1, "Inner", "run", 0),
        (4, "Inner", "ends"),
        (4, "Flee", "run"),
        (8, "Flee", "ends"),
        (8, "Inner", "hears", "attack", 1),
        (8, "Outer", "hears", "attack", 1),
        (8, "Inner", "run", 1),
        (11, "Inner", "half"),
        (14, "Inner", "ends"),
        (15, "Outer", "ends"),
    ]
    assert wish.is_over
    assert game.tree(agent) == [
        "Build [house] - done",
        "   Outer - done",
        "      Have [plank, 1] - done",
        "         Inner - cancelled: it begins again",
        "            attack - done",
        "               Reach [home] - done",
        "                  Flee - done",
        "         Inner - done",
    ]


@pytest.mark.states(
    "003: Pauseable/Cancelable Tasks: If it supports neither, the situation is handled when it is completed, before "
    "its parent goes on",
)
@pytest.mark.parametrize("outer", [PAUSE, RESTART])
def test_one_that_supports_neither_is_completed_and_it_is_handled_before_its_parent_goes_on(game, walk, outer):
    agent, _ = walk(outer, WAIT)
    attack(agent)
    game.tick(12)
    assert game.log == [
        (1, "Outer", "run"),
        (1, "Inner", "run", 0),
        (4, "Inner", "half"),
        (7, "Inner", "ends"),
        (7, "Flee", "run"),
        (11, "Flee", "ends"),
        (11, "Outer", "hears", "attack", 1),
        (12, "Outer", "ends"),
    ]
    assert game.tree(agent)[2:5] == [
        "      Have [plank, 1] - done",
        "         Inner - done",
        "         attack - done",
    ]


@pytest.mark.states("003: Pauseable/Cancelable Tasks: If it supports neither, the situation is handled when it is ...")
@pytest.mark.parametrize("inner", [PAUSE, RESTART, WAIT, TREE])
def test_waiting_covers_all_that_is_solved_below(game, walk, inner):
    agent, wish = walk(WAIT, inner)
    attack(agent)
    game.tick(12)
    assert game.log[-3:] == [(8, "Outer", "ends"), (8, "Flee", "run"), (12, "Flee", "ends")]
    assert wish.until == 12
    assert game.tree(agent)[-3:] == ["   attack - done", "      Reach [home] - done", "         Flee - done"]


@pytest.mark.states(
    "003: Pauseable/Cancelable Tasks: The whole task tree is cancelled and run again, if its strategy asks for that",
)
@pytest.mark.parametrize("inner", [PAUSE, RESTART, TREE])
def test_the_outermost_that_asks_for_it_has_the_whole_tree_below_it_cancelled(game, walk, inner):
    agent, _ = walk(TREE, inner)
    attack(agent)
    game.tick(20)
    assert game.log == [
        (1, "Outer", "run"),
        (1, "Inner", "run", 0),
        (4, "Inner", "ends"),
        (4, "Outer", "ends"),
        (4, "Flee", "run"),
        (8, "Flee", "ends"),
        (8, "Outer", "hears", "attack", 1),
        (8, "Outer", "run"),
        (8, "Inner", "run", 0),
        (11, "Inner", "half"),
        (14, "Inner", "ends"),
        (15, "Outer", "ends"),
    ]


@pytest.mark.states("003: Pauseable/Cancelable Tasks: The whole task tree is cancelled and run again, if its ...")
def test_below_one_that_has_its_tree_cancelled_another_is_completed_first(game, walk):
    agent, _ = walk(TREE, WAIT)
    attack(agent)
    game.tick(16)
    assert [one[:3] for one in game.log] == [
        (1, "Outer", "run"),
        (1, "Inner", "run"),
        (4, "Inner", "half"),
        (7, "Inner", "ends"),
        (7, "Outer", "ends"),
        (7, "Flee", "run"),
        (11, "Flee", "ends"),
        (11, "Outer", "hears"),
        (11, "Outer", "run"),  # the plank is there
        (12, "Outer", "ends"),
    ]
    assert sum(one.event.value == "interrupted" for one in game.sim.trace) == 1


@pytest.mark.states(
    "003: Pauseable/Cancelable Tasks: At given breakpoints: any await of a strategy, and between the things that it "
    "has solved",
)
def test_between_two_needs_nobody_is_cancelled(game, way):
    """Whoever has something solved is at a breakpoint, whatever it supports."""
    outer = way("Outer", Build, needs=[Know("a"), Know("b")], interruption=RESTART)
    agent = game.add(outer, way("Look", Know, ticks=3, interruption=WAIT), way("Flee", Reach, ticks=2))
    game.wish(agent.gameplay.build())
    game.tick(2)
    attack(agent)
    game.tick(10)
    assert game.log == [
        (1, "Outer", "run"),
        (1, "Look", "run"),
        (4, "Look", "ends"),
        (4, "Flee", "run"),
        (6, "Flee", "ends"),
        (6, "Look", "run"),
        (9, "Look", "ends"),
        (10, "Outer", "ends"),
    ]


def test_nobody_is_cancelled_either_while_its_need_is_about_to_begin_again(game, way):
    """Between two attempts the request is at a breakpoint, too."""
    runs = []

    async def twice(self, ctx, wanted):
        runs.append(game.sim.now)
        await ctx.sleep_ticks(1)
        if len(runs) == 1:
            ctx.restart()

    agent = game.add(way("Outer", Build, needs=[Know("a")]), way("Look", Know, run=twice), way("Flee", Reach, ticks=2))
    game.wish(agent.gameplay.build())
    game.tick(2)
    attack(agent)
    game.tick(8)
    assert runs == [1, 5]
    assert game.log == [
        (1, "Outer", "run"), (3, "Flee", "run"), (5, "Flee", "ends"), (7, "Outer", "ends"),
    ]  # fmt: skip


@pytest.mark.states("003: Pauseable/Cancelable Tasks, 2: Afterwards the world may be another: changes are checked ...")
def test_what_is_done_in_between_may_undo_what_was_just_done(game, way):
    async def lose(self, ctx, wanted):
        ctx.entity.bag.clear()

    outer = way("Outer", Build, needs=[Have("plank")])
    agent = game.add(outer, way("Saw", ticks=3, interruption=WAIT), way("Lose", Reach, run=lose))
    wish = game.wish(agent.gameplay.build())
    game.tick(2)
    attack(agent)
    game.tick(10)
    assert wish.is_over
    assert [one for one in game.log if one[1] == "Saw"] == [
        (1, "Saw", "run"), (4, "Saw", "ends"), (4, "Saw", "run"), (7, "Saw", "ends"),
    ]  # fmt: skip


@pytest.mark.states("003: Pauseable/Cancelable Tasks, 2: Afterwards the world may be another: changes are checked ...")
def test_what_is_done_in_between_may_do_what_was_to_be_done(game, way):
    async def find(self, ctx, wanted):
        await ctx.sleep_ticks(1)
        ctx.entity.put("plank", 4)

    agent = game.add(way("Saw", ticks=3), way("Find", Reach, run=find))
    wish = game.wish(agent.gameplay.have("plank"))
    game.tick(2)
    attack(agent)
    game.tick(3)
    assert (wish.value, wish.until) == (4, 4)
    assert game.log == [(1, "Saw", "run"), (3, "Saw", "ends")]


@pytest.mark.parametrize("kind", [PAUSE, RESTART, WAIT, TREE])
def test_a_strategy_that_still_waits_for_its_flags_has_nothing_to_lose(game, way, kind):
    """Whatever it supports, WAIT too, it is unwound and begins anew: the handling may need what it waits for."""

    class Hold(Action):
        does = "test:hold"
        utility = 1
        flags = (MOVE,)

        async def run(self, ctx, args):
            await ctx.sleep_ticks(9)

    saw = way("Saw", ticks=1, flags=(MOVE,), interruption=kind)
    agent = game.add(saw, way("Flee", Reach, ticks=2), actions=[Hold])
    game.wish(agent.perform("test:hold"))
    game.tick(1)
    game.wish(agent.gameplay.have("plank"))
    game.tick(2)
    attack(agent)
    game.tick(3)
    assert game.log == [(4, "Flee", "run"), (6, "Flee", "ends")]
    game.tick(10)
    assert game.log[2:] == [(10, "Saw", "run"), (11, "Saw", "ends")]


# --- plain activities ---------------------------------------------------------------------------------------------------


def _dig(game):
    class Dig(Action):
        does = "test:dig"
        utility = 1

        async def run(self, ctx, args):
            game.note("dig")
            try:
                await ctx.sleep_ticks(4)
            finally:
                game.note("dug")

    return Dig


@pytest.mark.states(
    "003: Left open, requests: A plain activity that a paused strategy executes is unwound and begun again",
    source="design 6, interruption",
)
def test_an_activity_that_a_paused_strategy_executes_is_begun_again(game, way):
    async def run(self, ctx, wanted):
        game.note("run")
        await ctx.execute("test:dig")
        game.note("executed")

    agent = game.add(
        way("Tunnel", Build, run=run, interruption=PAUSE), way("Flee", Reach, ticks=2), actions=[_dig(game)]
    )
    wish = game.wish(agent.gameplay.build())
    game.tick(3)
    attack(agent)
    game.tick(10)
    assert game.log == [
        (1, "run"),
        (1, "dig"),
        (4, "dug"),
        (4, "Flee", "run"),
        (6, "Flee", "ends"),
        (6, "dig"),
        (10, "dug"),
        (10, "executed"),
    ]
    assert wish.is_over


def test_an_activity_below_one_that_restarts_is_unwound_with_it(game, way):
    async def run(self, ctx, wanted):
        game.note("run")
        await ctx.execute("test:dig")

    agent = game.add(way("Tunnel", Build, run=run), way("Flee", Reach, ticks=2), actions=[_dig(game)])
    game.wish(agent.gameplay.build())
    game.tick(3)
    attack(agent)
    game.tick(10)
    assert [what[1:] for what in game.log] == [
        ("run",), ("dig",), ("dug",), ("Flee", "run"), ("Flee", "ends"), ("run",), ("dig",), ("dug",),
    ]  # fmt: skip


def test_an_activity_that_has_just_ended_is_not_executed_twice(game, way):
    class Dig(Action):
        does = "test:dig"
        utility = 1

        async def run(self, ctx, args):
            await ctx.sleep_ticks(4)
            game.note("dug")
            attack(ctx.agent)  # nobody has heard yet that this has ended

    async def run(self, ctx, wanted):
        await ctx.execute("test:dig")
        game.note("executed")

    agent = game.add(way("Tunnel", Build, run=run, interruption=PAUSE), way("Flee", Reach, ticks=2), actions=[Dig])
    game.wish(agent.gameplay.build())
    game.tick(10)
    assert game.log == [(5, "dug"), (5, "Flee", "run"), (7, "Flee", "ends"), (7, "executed")]


# --- flags and traces ---------------------------------------------------------------------------------------------------


def test_the_handling_shares_the_flags_of_one_that_is_paused_and_takes_those_of_one_that_is_not(game, walk):
    for inner, held in ((PAUSE, "inner"), (RESTART, "flee")):
        agent, _ = walk(RESTART, inner, flags=(MOVE,))
        attack(agent)
        game.tick(2)
        assert agent.flags.holder(MOVE).name == held
        game.tick(20)
        assert agent.flags.holder(MOVE) is None


@pytest.mark.states("003: Pauseable/Cancelable Tasks: Events trigger that, and at once a temporary subtask handles ...")
def test_the_trace_tells_who_was_interrupted_by_what_and_how(game, walk):
    agent, _ = walk(RESTART, PAUSE)
    attack(agent)
    game.tick(8)
    found = [(one.tick, one.path.rpartition("/")[2], one.event.value, dict(one.detail)) for one in game.sim.trace]
    assert [one for one in found if one[2] in ("interrupted", "resumed")] == [
        (4, "Inner", "interrupted", {"by": "attack", "how": "pause"}),
        (8, "Inner", "resumed", {"by": "attack", "outcome": "done"}),
    ]


def test_in_a_plan_it_is_the_same(game, way):
    class Day(CompoundAction):
        does = "agentrt:top"
        utility = 1
        steps = (step("want:build"),)

    agent = game.add(way("Outer", Build, ticks=3, interruption=PAUSE), way("Flee", Reach, ticks=2), actions=[Day])
    game.tick(2)
    attack(agent)
    game.tick(4)
    assert game.log[:4] == [(1, "Outer", "run"), (3, "Flee", "run"), (5, "Flee", "ends"), (5, "Outer", "ends")]
