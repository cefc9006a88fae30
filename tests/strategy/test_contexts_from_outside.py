"""What others say through the context of a strategy concerns that strategy, while it lasts, and nobody else."""

from __future__ import annotations

import pytest
from wants import Know

from agentrt.errors import WrongStateError
from agentrt.kernel.traps import next_tick


@pytest.fixture
def asked(game, way):
    """A strategy that waits, and one that works; its contexts, and what solving gives."""
    contexts = []

    async def run(self, ctx, wanted):
        contexts.append(ctx)
        if len(contexts) == 1 or wanted.what != "again":
            await ctx.sleep(100)
        return "again"

    agent = game.add(way("Bad", Know, run=run), way("Good", Know, cost=500, gives="good"))

    def solve(topic, call, at=3):
        async def stranger():
            while game.sim.now < at:
                await next_tick()
            call(contexts[0])
            game.note("went on")

        game.sim.runtime.spawn(stranger)
        wish = game.solve(agent, Know(topic))
        assert wish.error is None
        return wish.value

    solve.agent, solve.contexts = agent, contexts
    return solve


@pytest.mark.states("001: abort, reject: (decided) abort and reject concern their own action, from wherever they ...")
@pytest.mark.parametrize("method", ["fail", "reject", "abort"])
def test_it_fails_and_the_next_one_is_tried_in_the_same_tick(game, asked, method):
    assert asked("x", lambda ctx: getattr(ctx, method)("no more")) == "good"
    assert game.log[:2] == [(3, "went on"), (3, "Good", "run")]
    assert game.tree(asked.agent)[1] == "   Bad - failed: no more"
    assert asked.agent.snapshot().aborts == 0
    assert game.faults() == []


def test_it_begins_again(game, asked):
    assert asked("again", lambda ctx: ctx.restart("from the start")) == "again"
    assert game.log == [(3, "went on")]
    assert len(asked.contexts) == 2


def test_one_that_is_over_is_late(game, asked):
    assert asked("x", lambda ctx: ctx.fail("no more")) == "good"
    ctx = asked.contexts[0]
    for method in ("fail", "restart", "abort", "reject"):
        getattr(ctx, method)("late")
    game.tick(2)
    assert [dict(one.detail)["method"] for one in game.sim.trace if one.event.value == "late"] == [
        "fail",
        "restart",
        "abort",
        "reject",
    ]
    with pytest.raises(WrongStateError, match="solve cannot be called while the run that this context is for is over"):
        ctx.solve(Know("x")).send(None)
    assert game.faults() == []
