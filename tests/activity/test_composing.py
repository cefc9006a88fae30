"""compose_utility: when it is asked, and with what."""

from __future__ import annotations

from agentrt import Action, CompoundAction, Signal, step


def composed(play, steps, compose=None, *, utility=(0.0, 1.0), **attributes):
    """A compound that notes what its hook is asked with."""

    def compose_utility(self, entity, self_utility, child_utilities, current_activity):
        play.note(self_utility, child_utilities[1], child_utilities[2], current_activity)
        return self_utility if compose is None else compose(self_utility, child_utilities)

    body = {"does": "top", "utility": utility, "steps": steps, "compose_utility": compose_utility, **attributes}
    return type("Plan", (CompoundAction,), body)


def ready_after(ticks, does, utility, name, run=20):
    async def think(self, ctx, args):
        await ctx.sleep_ticks(ticks)
        ctx.set_think_output()
        await ctx.sleep(1000)

    async def running(self, ctx, args):
        await ctx.sleep_ticks(run)

    return type(name, (Action,), {"does": does, "utility": utility, "think": think, "run": running})


# --- when it is asked -------------------------------------------------------------------------------------------------


def test_asked_when_another_action_takes_the_running_step(play):
    """It has another utility: that is a change of the step's utility."""
    agent = play.add(
        composed(play, [step("a"), step("b")], lambda own, children: children["a"] / 2),
        ready_after(0, "a", 0.4, "Slow"),
        ready_after(3, "a", 0.8, "Fast"),
        ready_after(0, "b", 0.5, "B"),
    )
    play.tick(3)
    play.take_log()
    assert agent.snapshot().plan.units[0].utility == 0.2
    play.tick(1)
    assert play.log[-1] == (4, 0.0, 0.8, 0.5, "a")
    assert agent.snapshot().plan.units[0].utility == 0.4


def test_asked_when_another_action_takes_a_step_of_a_plan_that_is_ready(play, leaf):
    """Not elected yet: a better plan runs."""
    agent = play.add(
        composed(play, [step("a"), step("b")], lambda own, children: children["a"] / 2),
        ready_after(0, "a", 0.4, "Slow"),
        ready_after(3, "a", 0.8, "Fast"),
        ready_after(0, "b", 0.5, "B"),
        leaf("Best", 0.9, run=50, quiet=True),
    )
    play.tick(4)
    assert play.log == [(1, 0.0, 0.4, 0.5, None), (4, 0.0, 0.8, 0.5, None)]
    assert agent.snapshot().plan.units[0].utility == 0.4


def test_set_utility_of_a_running_plan_is_composed_and_may_cost_it_its_place(play, leaf):
    changed = Signal()

    class Own:
        def start(self, ctx, args):
            ctx.listen(changed, ctx.set_utility)

    agent = play.add(
        composed(
            play,
            [step("a"), step("b")],
            lambda own, children: own * children["a"],
            utility=(0.5, 1.0),
            start=Own.start,
        ),
        ready_after(0, "a", 0.8, "A"),
        ready_after(0, "b", 0.5, "B"),
        leaf("Other", 0.6, run=50, quiet=True),
    )
    play.tick(2)
    assert agent.snapshot().running == "top/Other"
    play.close()
    assert play.log[0] == (1, 0.5, 0.8, 0.5, None)


def test_the_own_part_while_it_runs(play):
    changed = Signal()

    def start(self, ctx, args):
        ctx.listen(changed, ctx.set_utility)

    agent = play.add(
        composed(play, [step("a"), step("b")], lambda own, children: own * children["a"], start=start),
        ready_after(0, "a", 0.8, "A"),
        ready_after(0, "b", 0.5, "B"),
    )
    play.tick(2)
    play.take_log()
    changed.emit(0.5)
    play.tick(1)
    assert play.log == [(2, 0.5, 0.8, 0.5, "a")]
    assert agent.snapshot().plan.units[0].utility == 0.4


def test_a_running_plan_that_becomes_worse_is_left(play, leaf):
    """Compared again as its steps go: the last step is worth little, and somebody else is better then."""
    play.add(
        composed(play, [step("a"), step("b")], lambda own, children: 0.8 if children["a"] else 0.0),
        ready_after(0, "a", 0.8, "A", run=2),
        ready_after(0, "b", 0.5, "B"),
        leaf("Other", 0.6, run=50, quiet=True),
    )
    play.tick(4)
    assert play.trace("run")[-1] == (3, "top/Plan/b/B", "run")
    assert play.trace("preempt") == []


def test_steps_by_number_and_by_activity(play):
    """Of two steps of one activity the name means the first; the number tells them apart."""
    told = []

    def compose(own, children):
        told.append((children["a"], children[1], children[3], children.get("a"), children.get(9, 0.25), children[9]))
        return own

    class A(Action):
        does = "a"
        utility = (0.0, 1.0)
        made = 0

        async def think(self, ctx, args):
            type(self).made += 1
            ctx.set_utility(self.made / 4)
            ctx.set_think_output()

        async def run(self, ctx, args):
            await ctx.sleep_ticks(3)

    play.add(composed(play, [step("a"), step("b"), step("a")], compose), A, ready_after(0, "b", 0.5, "B"))
    play.tick(1)
    assert told[0] == (0.25, 0.25, 0.5, 0.25, 0.25, 0.0)
