"""What a callback changes in the middle of a pass: flags, goals, ticks; and slips when goals are added."""

from __future__ import annotations

import time

import pytest

from agentrt import Agent, CancelScope, Entity, Event, Signal, sleep_ticks
from agentrt.body.codec import JsonObject
from agentrt.body.driver import LoneBody
from agentrt.errors import DefinitionError, WrongStateError
from agentrt.goals import JUMP, LOOK, MOVE, Goal, GoalSelector
from agentrt.goals.views import GoalSelectorView
from agentrt.kernel.kernel import Kernel


class Told(Goal):
    """Writes what is called, and does what its test wants on the way."""

    def __init__(self, name, flags=(), log=None, when=None, use=True, **more):
        self.name = name
        self.log = [] if log is None else log
        self.when = when or {}
        self.use = use
        vars(self).update(more)
        self.set_flags(flags)

    def _call(self, hook):
        self.log.append(f"{hook} {self.name}")
        if hook in self.when:
            self.when[hook]()

    def can_use(self):
        self._call("can_use")
        return self.use

    def can_continue_to_use(self):
        self._call("can_continue")
        return self.use

    def start(self):
        self._call("start")

    def tick(self):
        self._call("tick")

    def stop(self):
        self._call("stop")


@pytest.fixture
def faults():
    return []


@pytest.fixture
def selector(faults):
    return GoalSelector(LoneBody("wolf", report=lambda *one: faults.append(one)))


def running(selector):
    return [wrapped.goal.name for wrapped in selector.running_goals]


# --- flags that are disabled or enabled on the way --------------------------------------------------------------------


@pytest.mark.states(
    "000: Operation: (decided) A flag that a callback disables or enables counts for the goals that the pass has not "
    "come to",
)
@pytest.mark.parametrize("hook", ["can_use", "start"])
@pytest.mark.parametrize("by_signal", [False, True])
def test_a_flag_that_is_disabled_counts_for_the_goals_that_come_later(selector, hook, by_signal):
    leashed = Signal()
    leashed.connect(lambda _: selector.disable_control_flag(MOVE))

    def disable():
        if by_signal:
            leashed.emit()
        else:
            selector.disable_control_flag(MOVE)

    selector.add_goal(5, Told("first", [LOOK], when={hook: disable}))
    selector.add_goal(1, Told("later", [MOVE]))
    selector.tick()
    assert running(selector) == ["first"]
    assert selector.locked_flags.keys() == {LOOK}


@pytest.mark.states("000: Operation: (decided) A flag that a callback disables or enables counts for the goals ...")
def test_from_the_stop_of_one_that_is_replaced(selector):
    walk = Told("walk", [LOOK], when={"stop": lambda: selector.disable_control_flag(JUMP)})
    look = Told("look", [LOOK], use=False)
    selector.add_goal(5, walk)
    selector.add_goal(1, look)
    jump = Told("jump", [JUMP], use=False)
    selector.add_goal(9, jump)
    selector.tick()
    look.use = jump.use = True
    selector.tick()
    assert running(selector) == ["look"]


@pytest.mark.states("000: Operation: (decided) A flag that a callback disables or enables counts for the goals ...")
def test_from_a_goal_that_cannot_continue(selector):
    """In the first pass: who comes later in it is stopped in this very tick."""
    first = Told("first", when={"can_continue": lambda: selector.disable_control_flag(MOVE)})
    selector.add_goal(1, first)
    selector.add_goal(1, Told("later", [MOVE]))
    selector.tick()
    assert running(selector) == ["first", "later"]
    selector.tick()
    assert running(selector) == ["first"]


def test_from_the_tick_of_another_selector_of_the_same_agent(selector):
    other = GoalSelector(LoneBody(), name="targets")
    other.add_goal(1, Told("target", when={"tick": lambda: selector.disable_control_flag(MOVE)}))
    selector.add_goal(1, Told("walk", [MOVE]))
    other.tick()
    selector.tick()
    assert running(selector) == []


@pytest.mark.states("000: Operation: (decided) A flag that a callback disables or enables counts for the goals ...")
def test_a_flag_that_is_enabled_counts_as_well(selector):
    selector.disable_control_flag(MOVE)
    selector.add_goal(1, Told("early", [MOVE]))
    selector.add_goal(5, Told("first", [LOOK], when={"start": lambda: selector.enable_control_flag(MOVE)}))
    selector.add_goal(1, Told("later", [MOVE]))
    selector.tick()
    assert running(selector) == ["first", "later"]
    assert selector.disabled_flags == ()


def test_disabled_and_enabled_again_in_one_pass(selector):
    selector.add_goal(1, Told("a", when={"start": lambda: selector.set_control_flag(MOVE, False)}))
    selector.add_goal(1, Told("b", [MOVE]))
    selector.add_goal(1, Told("c", when={"start": lambda: selector.set_control_flag(MOVE, True)}))
    selector.add_goal(1, Told("d", [MOVE]))
    selector.tick()
    assert running(selector) == ["a", "c", "d"]


# --- newcomers that are removed ---------------------------------------------------------------------------------------


def replaced(selector, log, how):
    """Two goals that run, and one that replaces both; the first that is stopped does something to it."""
    leap = Told("leap", [MOVE, JUMP], log, use=False)
    walk = Told("walk", [MOVE], log, when={"stop": lambda: how(selector, leap)})
    hop = Told("hop", [JUMP], log)
    late = Told("late", [MOVE], log, use=False)
    for priority, goal in ((5, walk), (6, hop), (1, leap), (9, late)):
        selector.add_goal(priority, goal)
    selector.tick()
    leap.use = late.use = True
    log.clear()
    return leap


WAYS = {
    "removed": lambda selector, leap: selector.remove_goal(leap),
    "all that leap": lambda selector, leap: selector.remove_all_goals(lambda goal: goal.name == "leap"),
}


@pytest.mark.states(
    "000: Operation 3: (decided) A newcomer that is removed by the stop of one of its holders does not begin, stops "
    "nobody else, and locks nothing",
)
@pytest.mark.parametrize("way", WAYS)
def test_a_newcomer_that_is_removed_stops_nobody_else_and_locks_nothing(selector, way):
    log = []
    replaced(selector, log, WAYS[way])
    selector.tick()
    assert [entry for entry in log if entry.startswith(("start", "stop"))] == ["stop walk", "start late"]
    assert running(selector) == ["hop", "late"]
    assert {flag: one.goal.name for flag, one in selector.locked_flags.items()} == {MOVE: "late", JUMP: "hop"}
    assert {flag: hold.name for flag, hold in selector.ledger.holds().items()} == {
        MOVE: "goals/late",
        JUMP: "goals/hop",
    }


@pytest.mark.states("000: Operation 3: (decided) A newcomer that is removed by the stop of one of its holders does ...")
def test_a_newcomer_whose_selector_leaves_meanwhile(selector, faults):
    log = []
    replaced(selector, log, lambda selector, leap: selector.leave("gone", lambda: log.append("left")))
    selector.tick()
    assert [entry for entry in log if entry.startswith(("start", "stop"))] == ["stop walk", "stop hop"]
    assert (running(selector), selector.locked_flags, faults) == ([], {}, [])
    assert selector.ledger.is_free


def test_one_that_is_removed_while_a_holder_is_asked_is_not_asked(selector, faults):
    log = []
    leap = Told("leap", [MOVE], log, use=False)

    class Stubborn(Told):
        @property
        def is_interruptible(self):
            selector.remove_goal(leap)
            return True

    selector.add_goal(5, Stubborn("walk", [MOVE], log))
    selector.add_goal(1, leap)
    selector.tick()
    log.clear()
    leap.use = True
    selector.tick()
    assert log == ["can_continue walk", "tick walk"]
    assert faults == []


@pytest.mark.states("000: Operation 3: (decided) A newcomer that is removed by the stop of one of its holders does ...")
@pytest.mark.parametrize("flags", [[MOVE], [MOVE, JUMP]])
def test_a_newcomer_that_waits_for_a_clean_up_and_is_removed_then(play, flags):
    """On each host: who cleans up for two ticks removes its successor at the end; nobody else was stopped."""
    log = []
    leap = Told("leap", flags, log, use=False)

    class March(Told):
        async def run(self):
            try:
                await sleep_ticks(1000)
            finally:
                with CancelScope(shield=True):
                    await sleep_ticks(2)
                made.remove_goal(leap)

    made = GoalSelector()
    for priority, goal in ((5, March("march", [MOVE], log)), (1, leap)):
        made.add_goal(priority, goal)
    runtime = play.runtime()
    agent = runtime.add(Agent(Entity("wolf"), drivers=[made]))
    seen = []

    def look():
        if runtime.tick == 3:
            leap.use = True
        if runtime.tick == 7:
            seen.append(({flag: one.goal.name for flag, one in made.locked_flags.items()}, running(made)))

    runtime.every_tick(look)
    play.ticks(runtime, 8)
    assert "start leap" not in log
    assert log.count("start march") == 2
    assert seen[0][0].get(JUMP) is None
    assert agent.flags.is_free


# --- priorities, and slips --------------------------------------------------------------------------------------------


@pytest.mark.states(
    "000: Priorities: (decided) It is a finite number, with or without a fraction; slips say what was meant",
)
@pytest.mark.parametrize(
    "priority", ["1", None, True, False, float("nan"), float("inf"), -float("inf"), 10**30, [], object(), 1j]
)
def test_a_priority_is_a_number(selector, priority):
    with pytest.raises(DefinitionError, match=r"GoalSelector.add_goal: its priority is .* Write a number, such as 1"):
        selector.add_goal(priority, Told("a"))
    assert selector.available_goals == ()


class Index:
    def __index__(self):
        return 3


@pytest.mark.states("000: Priorities: (decided) It is a finite number, with or without a fraction; slips say what ...")
@pytest.mark.parametrize(("priority", "is_now"), [(1, 1), (-2, -2), (0.5, 0.5), (Index(), 3)])
def test_numbers_that_are_priorities(selector, priority, is_now):
    goal = Told("a")
    assert selector.add_goal(priority, goal).priority == is_now
    view = selector.view()
    assert GoalSelectorView.read(JsonObject(view.as_json())) == view


@pytest.mark.states("000: Priorities: (decided) It is a finite number, with or without a fraction; slips say what ...")
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((Told("a"), 1), "the goal stands in the place of the priority. Write add_goal(1, goal)"),
        ((1, Told), "Told is a class, and a goal is an object of one body. Write Told()."),
        ((Told, 1), "1 is no goal"),
        ((1, "walk"), "'walk' is no goal"),
        ((1, None), "None is no goal"),
        ((1, GoalSelector()), "is no goal"),
    ],
)
def test_slips(selector, given, words):
    with pytest.raises(DefinitionError) as caught:
        selector.add_goal(*given)
    assert words in str(caught.value)
    assert selector.available_goals == ()


# --- ticks within ticks -----------------------------------------------------------------------------------------------

TICKS = ["tick", "ai_step", "drive", "tick_running_goals"]


@pytest.mark.states("000: Operation: (decided) A goal does not tick its own selector")
@pytest.mark.parametrize("method", TICKS)
@pytest.mark.parametrize("hook", ["can_use", "can_continue", "start", "tick", "stop"])
def test_a_goal_does_not_tick_its_selector(selector, faults, hook, method):
    """Whichever of its callbacks asks for it; the goal is out, the others go on."""
    log = []
    bad = Told("bad", log=log, when={hook: getattr(selector, method)})
    selector.add_goal(1, bad)
    selector.add_goal(1, Told("good", log=log))
    selector.tick()
    bad.use = False
    selector.tick()
    selector.tick()
    assert [(path, type(error)) for path, _, error in faults] == [("goals/bad", WrongStateError)]
    assert "does not tick its own selector" in str(faults[0][2])
    assert running(selector) == ["good"]
    assert log.count("start good") == 1
    selector.tick()


@pytest.mark.parametrize("method", TICKS)
def test_nor_when_it_is_stopped_out_of_a_tick(selector, faults, method):
    bad = Told("bad", when={"stop": getattr(selector, method)})
    selector.add_goal(1, bad)
    selector.tick()
    selector.remove_goal(bad)
    assert [type(error) for *_, error in faults] == [WrongStateError]
    selector.tick()


@pytest.mark.states("000: Operation: (decided) A goal does not tick its own selector ...")
def test_selectors_of_other_bodies_may_be_ticked_within_each_other(selector, faults):
    log = []
    other = GoalSelector(LoneBody("other"))
    other.add_goal(1, Told("inner", log=log))
    selector.add_goal(1, Told("outer", log=log, when={"tick": other.tick}))
    selector.tick()
    assert faults == []
    assert log == ["can_use outer", "start outer", "tick outer", "can_use inner", "start inner", "tick inner"]


def test_a_coroutine_of_a_goal_may_tick_by_hand(faults):
    """It runs outside of every tick; and an event that ends its wait is no tick either."""
    kernel = Kernel()
    selector = GoalSelector(LoneBody("wolf", kernel=kernel, report=lambda *one: faults.append(one)))
    go = Event()

    class Runs(Told):
        async def run(self):
            await go.wait()
            selector.tick()

    log = []
    selector.add_goal(1, Runs("runs", log=log))
    selector.tick()
    kernel.step_tick()
    go.set()
    kernel.step_tick()
    assert faults == []
    assert log.count("tick runs") == 2


# --- many -------------------------------------------------------------------------------------------------------------


@pytest.mark.states("000: Adding and Removing Goals: (ours) Removing many takes time in proportion to their number")
@pytest.mark.slow
@pytest.mark.parametrize("keep", [False, True])
def test_removing_many_takes_time_in_proportion(keep):
    class Runs(Goal):
        def can_use(self):
            return True

        async def run(self):
            await sleep_ticks(1000)

    def seconds(count):
        kernel = Kernel()
        selector = GoalSelector(LoneBody(kernel=kernel))
        for number in range(count):
            goal = Runs()
            goal.name = f"g{number}"
            selector.add_goal(1, goal)
        selector.tick()
        kernel.step_tick()
        begun = time.process_time()
        selector.remove_all_goals((lambda goal: int(goal.name[1:]) % 2) if keep else None)
        kernel.step_tick()
        took = time.process_time() - begun
        assert len(selector.available_goals) == len(selector.strands()) == (count // 2 if keep else 0)
        selector.leave("end", lambda: None)
        kernel.step_tick()
        return took

    few, many = min(seconds(250) for _ in range(3)), min(seconds(2000) for _ in range(2))
    assert many < 40 * few  # eight times as many; the square would be sixty-four


def test_goals_that_remove_each_other(selector):
    """Whoever is removed by another one's stop is stopped once, and may be added again at once."""
    log = []
    a, b = Told("a", log=log), Told("b", log=log)
    a.when["stop"] = lambda: selector.remove_goal(b)
    b.when["stop"] = lambda: selector.remove_all_goals()
    selector.add_goal(1, a)
    selector.add_goal(1, b)
    selector.tick()
    log.clear()
    selector.remove_all_goals()
    assert log == ["stop a", "stop b"]
    assert selector.available_goals == ()
    selector.add_goal(1, b)
    selector.add_goal(1, a)
    assert [one.name for one in selector.available_goals] == ["b", "a"]
    assert GoalSelector().add_goal(1, Told("c")).name == "c"


# --- an answer whose truth cannot be taken ----------------------------------------------------------------------------


class NoTruth:
    def __bool__(self):
        raise RuntimeError("neither")


@pytest.mark.parametrize("question", ["can_use", "can_continue_to_use"])
def test_an_answer_without_truth_is_the_fault_of_its_goal_alone(selector, faults, question):
    log = []
    broken, sound = Told("broken", [MOVE], log), Told("sound", [LOOK], log)
    if question == "can_use":
        broken.use = NoTruth()
    selector.add_goal(1, broken)
    selector.add_goal(2, sound)
    selector.tick()
    broken.use = NoTruth()
    del log[:]
    selector.tick()
    selector.tick()
    assert log.count("tick sound") == 2
    assert running(selector) == ["sound"]
    assert [(path, hook, str(error)) for path, hook, error in faults] == [("goals/broken", question, "neither")]
    assert list(selector.ledger.holds()) == [LOOK]


def test_nor_is_one_that_waits_for_its_flags_begun_by_it():
    class Slow(Told):
        async def stop(self):
            await sleep_ticks(3)

    faults, kernel = [], Kernel()
    body = LoneBody("wolf", kernel=kernel, report=lambda *one: faults.append(one[:2]))
    selector = GoalSelector(body, full_ticks=True)
    slow, broken, sound = Slow("slow", [MOVE]), Told("broken", [MOVE]), Told("sound", [LOOK])
    for number, goal in enumerate((slow, sound)):
        selector.add_goal(5 + number, goal)
    selector.tick()
    selector.add_goal(1, broken)
    selector.tick()
    broken.use = NoTruth()
    for _ in range(6):
        kernel.step_tick()
        selector.tick()
    assert broken.log == ["can_use broken"] + ["can_use broken"] * (len(broken.log) - 1)
    assert "sound" in running(selector)
    assert faults == [("goals/broken", "can_use")]
