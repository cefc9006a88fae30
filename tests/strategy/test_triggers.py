"""Triggers: declared once for the agent, they interrupt whatever is being solved, and leak nothing."""

from __future__ import annotations

from itertools import pairwise

import pytest
from wants import Bearer, Build, Have, Know, Reach

from agentrt import MOVE, Action, Agent, CompoundAction, Entity, sleep_ticks, step
from agentrt.errors import DefinitionError
from agentrt.strategy import Dependency, Interruptible, Trigger

PAUSE, WAIT = Interruptible.PAUSE, Interruptible.WAIT


class Away(Dependency[None], activity="want:away"):
    """Nobody is near whom one flees from."""

    who: str

    def is_met(self, ask):
        return self.who not in ask.entity.bag


@pytest.fixture
def busy(game, way):
    """An agent that builds (twelve ticks, pausing) and can flee (two ticks)."""

    def make(*triggers, interruption=PAUSE, more=(), **options):
        agent = game.add(
            way("Mason", Build, ticks=12, interruption=interruption),
            way("Flee", Reach, ticks=2),
            way("Eat", Know, ticks=3),
            *more,
            **options,
        )
        for trigger in triggers:
            agent.gameplay.add_trigger(trigger)
        return agent

    return make


ATTACK = Trigger(name="attack", on="attacked", solve=Reach("home"))


@pytest.mark.states("003: Interrupting Tasks: They are handled in one place, not checked for in every task")
def test_a_signal_of_the_entity_interrupts_what_is_being_solved(game, busy):
    agent = busy(ATTACK)
    game.wish(agent.gameplay.build())
    game.tick(3)
    agent.signal("attacked").emit("zombie")
    game.tick(12)
    assert game.log == [(1, "Mason", "run"), (4, "Flee", "run"), (6, "Flee", "ends"), (13, "Mason", "ends")]
    assert game.tree(agent)[2] == "      attack - done"


@pytest.mark.states(
    "003: Pauseable/Cancelable Tasks: Events trigger that, and at once a temporary subtask handles the situation",
)
def test_the_value_that_came_with_it_says_what_to_solve_or_that_there_is_nothing(game, busy):
    agent = busy(Trigger(name="seen", on="seen", solve=lambda who: Know(who) if who != "cow" else None))
    for who in ("cow", "zombie"):
        agent.signal("seen").emit(who)
        game.tick(5)
    assert [root.label for root in agent.gameplay.finished] == ["Know [zombie]"]


@pytest.mark.states("003: Interrupting Tasks: They are handled in one place, not checked for in every task ...")
def test_a_question_is_asked_now_and_then_and_its_answer_is_the_value(game, busy):
    asked = []

    def hungry(agent):
        asked.append(game.sim.now)
        return agent.entity.bag.get("hunger")

    agent = busy(Trigger(name="hunger", when=hungry, every=0.2, solve=lambda food: Know(food)))
    game.wish(agent.gameplay.build())
    game.tick(6)
    agent.entity.bag["hunger"] = "bread"
    game.tick(3)
    agent.entity.bag.clear()
    game.tick(12)
    assert asked == [5, 9, 13, 17, 21]
    assert game.tree(agent)[2:4] == ["      hunger - done", "         Know [bread] - done"]


@pytest.mark.states("003: Pauseable/Cancelable Tasks: Events trigger that, and at once a temporary subtask handles ...")
def test_what_is_met_already_does_not_come_up(game, busy, way):
    agent = busy(Trigger(name="enemy", on="attacked", solve=Away("zombie")), more=[way("Run", Away, ticks=1)])
    game.wish(agent.gameplay.build())
    game.tick(2)
    agent.signal("attacked").emit()
    game.tick(12)
    assert [one[1] for one in game.log] == ["Mason", "Mason"]
    assert not any(one.event.value == "interrupted" for one in game.sim.trace)


@pytest.mark.states("003: Pauseable/Cancelable Tasks: The gameplay does this, for all strategies alike")
def test_when_nothing_is_being_solved_it_is_a_request_of_its_own(game, busy):
    agent = busy(ATTACK)
    game.tick(2)
    agent.signal("attacked").emit()
    game.tick(1)
    assert agent.gameplay.triggers.busy == ("attack",)
    game.tick(3)
    assert game.tree(agent) == ["Reach [home] - done", "   Flee - done"]
    assert agent.gameplay.triggers.busy == ()


def test_such_a_request_is_interrupted_by_what_is_more_urgent_only(game, busy):
    low = Trigger(name="hunger", on="hungry", solve=Know("bread"))
    high = Trigger(name="attack", on="attacked", solve=Reach("home"), priority=1)
    agent = busy(low, high)
    game.tick(1)
    agent.signal("hungry").emit()
    game.tick(2)
    agent.signal("attacked").emit()
    game.tick(12)
    assert game.tree(agent) == [
        "Know [bread] - done",
        "   Eat - cancelled: it begins again",
        "      attack - done",
        "         Reach [home] - done",
        "            Flee - done",
        "   Eat - done",
    ]
    agent.signal("attacked").emit()
    game.tick(2)
    agent.signal("hungry").emit()
    game.tick(8)
    assert [root.label for root in agent.gameplay.finished] == ["Know [bread]", "Reach [home]", "Know [bread]"]


def test_the_same_trigger_is_dealt_with_once_at_a_time_and_not_again_for_a_while(game, busy):
    agent = busy(Trigger(name="attack", on="attacked", solve=Reach("home"), again_after=0.5))
    runs = []
    for tick in range(1, 40):
        agent.signal("attacked").emit()
        game.tick()
        runs += [tick] if game.log and game.log[-1] == (tick, "Flee", "run") else []
    assert runs == [2, 14, 26, 38]  # two ticks to flee, then ten


@pytest.mark.states(
    "003: Left open, requests: What cannot be helped does not keep the agent from all else",
    source="Interrupting Tasks",
)
def test_what_cannot_be_dealt_with_comes_up_less_and_less_often(game, way):
    agent = game.add(way("Flee", Reach, ticks=0, fails="no way", quiet=True))
    agent.gameplay.add_trigger(Trigger(name="attack", when=lambda agent: True, every=0.05, solve=Reach("home")))
    game.tick(20 * 20)
    tried = [one.tick for one in game.sim.trace if one.event.value == "try"]
    waits = [round((after - before) / 20) for before, after in pairwise(tried)]
    assert waits == [1, 2, 4, 8]


def test_a_question_or_an_answer_that_raises_is_reported_once_and_means_no(game, busy):
    def wrong(_):
        raise ValueError("oops")

    agent = busy(
        Trigger(name="when", when=wrong, every=0.1, solve=Reach("home")),
        Trigger(name="solve", on="attacked", solve=wrong),
    )
    for _ in range(3):
        agent.signal("attacked").emit()
        game.tick(4)
    assert {(hook, error) for _, hook, error in game.faults()} == {
        ("when", "ValueError: oops"),
        ("solve", "ValueError: oops"),
    }
    assert game.log == []


@pytest.mark.states(
    "003: Left open, requests: Triggers live with their agent, and leak neither listeners nor timers",
    source="Interrupting Tasks",
)
def test_it_looks_out_only_while_its_agent_lives(game, busy):
    asked = []
    agent = Agent(Bearer(), name="late")
    agent.gameplay.add_trigger(ATTACK)
    agent.gameplay.add_trigger(Trigger(name="ask", when=lambda _: asked.append(1), every=0.05, solve=Know("it")))
    signal = agent.signal("attacked")
    assert repr(signal) == "<Signal: 0 waiting, 0 connected>"
    for _ in range(2):  # it may come back
        game.sim.add(agent)
        game.tick(3)
        assert repr(signal) == "<Signal: 0 waiting, 1 connected>"
        game.sim.runtime.remove(agent)
        game.tick(1)
        assert repr(signal) == "<Signal: 0 waiting, 0 connected>"
        count = len(asked)
        assert count > 0
        game.tick(5)
        assert len(asked) == count


@pytest.mark.states("003: Left open, requests: Triggers live with their agent, and leak neither listeners nor ...")
def test_a_killed_agent_does_not_look_out(game, way):
    class Bad(Action):
        does = "agentrt:top"
        utility = 1

        async def run(self, ctx, args):
            ctx.abort("it is no use")

    agent = game.add(actions=[Bad])
    agent.gameplay.add_trigger(ATTACK)
    game.tick(3)
    assert repr(agent.signal("attacked")) == "<Signal: 0 waiting, 1 connected>"
    game.tick(20)
    assert not agent.is_alive
    assert repr(agent.signal("attacked")) == "<Signal: 0 waiting, 0 connected>"


def test_one_that_is_removed_looks_out_no_more_and_its_name_is_free(game, busy):
    agent = busy()
    remove = agent.gameplay.add_trigger(ATTACK)
    with pytest.raises(DefinitionError, match="has one of that name"):
        agent.gameplay.add_trigger(ATTACK)
    game.tick(2)
    remove()
    remove()
    agent.signal("attacked").emit()
    game.tick(2)
    assert (game.log, agent.gameplay.triggers.names) == ([], ())
    agent.gameplay.add_trigger(ATTACK)
    remove()  # that was the first one's
    assert agent.gameplay.triggers.names == ("attack",)


def test_a_signal_from_outside_of_a_tick_is_taken_at_the_next_intake(game, busy):
    agent = busy(ATTACK)
    game.tick(2)
    agent.signal("attacked").emit()
    assert agent.gameplay.triggers.busy == ()
    game.tick(1)
    assert game.log == [(3, "Flee", "run")]


def test_one_that_is_emitted_inside_a_tick_interrupts_in_that_tick_and_not_on_its_emitter_s_stack(game, busy):
    agent = busy(ATTACK)
    game.wish(agent.gameplay.build())

    async def bite():
        await sleep_ticks(2)
        agent.signal("attacked").emit()
        game.note("bitten", agent.gameplay.triggers.busy)

    game.kernel.spawn(bite(), "bite", None)
    game.tick(6)
    assert game.log[1:] == [(3, "bitten", ("attack",)), (3, "Flee", "run"), (5, "Flee", "ends")]


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"on": "attacked", "when": bool},
        {"on": "attacked", "every": 0},
        {"on": "attacked", "every": float("nan")},
        {"on": "attacked", "again_after": -1},
    ],
)
def test_a_trigger_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(DefinitionError, match="the trigger 'attack'"):
        Trigger(name="attack", solve=Reach("home"), **wrong)


# --- several requests ---------------------------------------------------------------------------------------------------


@pytest.mark.states("003: Pauseable/Cancelable Tasks: The gameplay does this, for all strategies alike ...")
def test_of_several_requests_the_last_one_is_interrupted_and_the_others_go_on(game, way):
    saw = way("Saw", ticks=6, interruption=PAUSE)
    agent = game.add(way("Mason", Build, ticks=6, interruption=PAUSE), saw, way("Flee", Reach, ticks=9))
    agent.gameplay.add_trigger(ATTACK)
    first, second = agent.gameplay.begin(Build()), agent.gameplay.begin(Have("plank"))
    game.tick(2)
    agent.signal("attacked").emit()
    game.tick(12)
    assert (first.tree.ended, second.tree.ended) == (7, 12)


def test_but_rather_one_that_drives_the_body(game, way):
    mason = way("Mason", Build, ticks=6, interruption=PAUSE, flags=(MOVE,))
    agent = game.add(mason, way("Saw", ticks=6, interruption=PAUSE), way("Flee", Reach, ticks=9, flags=(MOVE,)))
    agent.gameplay.add_trigger(ATTACK)
    first, second = agent.gameplay.begin(Build()), agent.gameplay.begin(Have("plank"))
    game.tick(2)
    agent.signal("attacked").emit()
    game.tick(12)
    assert (first.tree.ended, second.tree.ended) == (12, 7)


def test_and_not_one_that_deals_with_something_more_urgent(game, way):
    high = Trigger(name="attack", on="attacked", solve=Reach("home"), priority=1)
    low = Trigger(name="hunger", on="hungry", solve=Know("bread"))
    flee = way("Flee", Reach, ticks=9, flags=(MOVE,))
    agent = game.add(way("Mason", Build, ticks=6, interruption=PAUSE), way("Eat", Know, ticks=2), flee)
    agent.gameplay.add_trigger(high)
    agent.gameplay.add_trigger(low)
    game.tick(1)
    agent.signal("attacked").emit()
    game.tick(1)
    agent.gameplay.begin(Build())
    game.tick(1)
    agent.signal("hungry").emit()
    game.tick(1)
    assert game.log[-1] == (4, "Eat", "run")


def test_in_a_plan_and_beside_it_one_of_them_is_interrupted(game, way):
    class Day(CompoundAction):
        does = "agentrt:top"
        utility = 1
        steps = (step("want:build"),)

    mason = way("Mason", Build, ticks=6, interruption=PAUSE, flags=(MOVE,))
    agent = game.add(mason, way("Saw", ticks=6), way("Flee", Reach, ticks=3, flags=(MOVE,)), actions=[Day])
    agent.gameplay.add_trigger(ATTACK)
    request = agent.gameplay.begin(Have("plank"))
    game.tick(2)
    agent.signal("attacked").emit()
    game.tick(7)
    assert request.is_done
    assert "      attack - done" in [line for root in agent.gameplay.finished for line in root.render().splitlines()]


def test_one_that_waits_is_dealt_with_when_the_strategy_is_completed(game, busy):
    agent = busy(ATTACK, interruption=WAIT)
    game.wish(agent.gameplay.build())
    game.tick(3)
    agent.signal("attacked").emit()
    game.tick(1)
    assert agent.gameplay.triggers.busy == ("attack",)
    game.tick(14)
    assert game.log == [(1, "Mason", "run"), (13, "Mason", "ends"), (13, "Flee", "run"), (15, "Flee", "ends")]


def test_what_it_is_about_may_be_gone_when_it_is_dealt_with(game, way):
    """Its dependency names an entity that is destroyed while the strategy is completed."""

    class Beaten(Dependency[None], activity="want:beaten"):
        enemy: Entity

    enemy = Entity("zombie")
    agent = game.add(way("Mason", Build, ticks=6, interruption=WAIT), way("Fight", Beaten, ticks=2))
    agent.gameplay.add_trigger(Trigger(name="attack", on="attacked", solve=lambda enemy: Beaten(enemy)))
    wish = game.wish(agent.gameplay.build())
    game.tick(3)
    agent.signal("attacked").emit(enemy)
    game.tick(1)
    enemy.destroy()
    game.tick(5)
    assert wish.error is None
    assert wish.is_over
    assert "   attack - failed: Fight failed (it cannot begin: an entity that it is about is gone)" in game.tree(agent)


def test_what_triggers_are_there_is_told(game, busy):
    agent = busy(ATTACK)
    assert repr(agent.gameplay.triggers) == "<Triggers: attack>"
