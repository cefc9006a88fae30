"""The state print and the decision log: the samples of the text to the letter, then every message and every level.

The text was stored without its line breaks and indents, so its samples are compared word by word, and the indents have
tests of their own.
"""

from __future__ import annotations

import pytest

from agentrt.behavior import SCORED, SHUFFLE, Behavior, BehaviorTree, Check, behavior, decider, group, reference
from agentrt.body.driver import LoneBody
from agentrt.kernel.rng import Stream

AGENT = 0x026DBE38


class Nest:
    """Who guards it: the behavior that is to go on, by the name of its decider."""

    def __init__(self):
        self.does = "GUARD_NEST_GROWL"


def does(name):
    return lambda memory: float(memory.agent.does == name)


def acts(name, number):
    class Acts(Behavior):
        def tick(self, at):
            return at.agent.does == at.name

    one = Acts(name)
    one.id = number
    return one


class GuardNest(Behavior):
    """Tells the nest when the guarding begins and when it ends."""

    name = "GUARD_NEST_GROUP"
    id = 0x2C20C25

    def activate(self, at):
        at.agent.is_guarded = True

    def deactivate(self, at):
        at.agent.is_guarded = False


def guarding(name, number, behavior, *, flags=0, stimuli=None, decide=True):
    choose = does(name) if decide else None
    return decider(name, behavior, decide=choose, stimuli=stimuli, behavior_flags=flags, id=number)


def other(name):
    return decider(name, lambda at: True, decide=lambda memory: False)


NEST = BehaviorTree(
    group("ROOT", id=0x2D5E207)[
        decider("DIE", lambda at: True, decision=Check(all_set=0x1), id=0x2D5E211),
        group("GUARD_NEST_GROUP", behavior=GuardNest, call_decide_on_redecide=True, id=0x2D5E200)[
            guarding("GUARD_NEST_HELP", 0x2D5E212, acts("HELP", 0x2C20C26), stimuli=Check(all_clear=0x1)),
            guarding("GUARD_NEST_FIGHT", 0x2D5E201, acts("FIGHT", 0x2C20C21), flags=0x3),
            guarding("GUARD_NEST_GROWL", 0x2D5E202, acts("GROWL", 0x2C20C22)),
            guarding("GUARD_NEST_PATROL", 0x2D5E203, acts("PATROL", 0x2C20C23)),
            guarding("GUARD_NEST_IDLE", 0x2D5E204, acts("IDLE_WALK", 0x2C20C24), flags=0x2, decide=False),
        ],
        other("FLEE"),
        other("FIGHT"),
        other("EAT"),
        other("PLAY"),
        other("IDLE"),
    ],
    id=0x00918CD0,
)


class Guard:
    """One guard of the nest. ``lines`` is the log since it was read last."""

    def __init__(self, level=0):
        self._lines = []
        self.memory = NEST.memory(body=LoneBody(Nest(), number=AGENT))
        NEST.debug_output.function = self._lines.append
        NEST.debug_output.level = level

    def tick(self, time, does, dt=0.065555):
        self.memory.agent.does = does
        self.memory.tick(dt, 0, 0, time=time)

    @property
    def lines(self):
        lines = [line for text in self._lines for line in text.splitlines()]
        self._lines.clear()
        return lines


@pytest.fixture(autouse=True)
def quiet():
    yield
    NEST.debug_output.level = 0
    NEST.debug_output.function = None
    NEST.debug_output.agent = None


def words(lines):
    return [" ".join(line.split()) for line in lines]


# --- the samples of the text ------------------------------------------------------------------------------------------


@pytest.mark.states("002: S09: The state can be printed after a tick")
@pytest.mark.states("002: S11, 1: The sample of it")
def test_the_state_print_of_the_text():
    guard = Guard()
    guard.tick(10.0, "GUARD_NEST_GROWL")
    guard.tick(39.81, "GUARD_NEST_PATROL")
    guard.tick(44.32, "GUARD_NEST_PATROL")
    assert words(guard.memory.debug_print_state().splitlines()) == [
        "*0:ROOT/0x2d5e207 (kGroup, kGroupPrioritizedList 0x0) time: 34.32 [(no group behavior)] idx: 1",
        "*1:GUARD_NEST_GROUP/0x2d5e200 (kGroup, kGroupPrioritizedList 0x1) time: 34.32 [GUARD_NEST_GROUP/0x2c20c25] "
        "(0x00000000 0) idx: 3",
        "*3:GUARD_NEST_PATROL/0x2d5e203 (kBehavior 0x0) time: 4.51 [PATROL/0x2c20c23] (0x00000000 0)",
    ]


@pytest.mark.states("002: S11, 2: The sample of level 1")
def test_the_log_of_the_text_at_level_1():
    guard = Guard(level=1)
    guard.tick(105.9, "GUARD_NEST_IDLE")
    guard.lines.clear()
    for time, does in (
        (106.017, "GUARD_NEST_GROWL"),
        (106.3, "GUARD_NEST_GROWL"),
        (106.728, "GUARD_NEST_FIGHT"),
        (110.0, "GUARD_NEST_FIGHT"),
        (110.266, "GUARD_NEST_PATROL"),
        (110.3, "GUARD_NEST_PATROL"),
    ):
        guard.tick(time, does)
    assert words(guard.lines) == [
        "BTDBO(1) 0x026DBE38 @ 106.017: activating behavior GROWL/0x2c20c22 with flags 0x0, "
        "in decider GUARD_NEST_GROWL/0x2d5e202",
        "BTDBO(1) 0x026DBE38 @ 106.728: activating behavior FIGHT/0x2c20c21 with flags 0x3, "
        "in decider GUARD_NEST_FIGHT/0x2d5e201",
        "BTDBO(1) 0x026DBE38 @ 110.266: activating behavior PATROL/0x2c20c23 with flags 0x0, "
        "in decider GUARD_NEST_PATROL/0x2d5e203",
    ]


LEVEL_5 = """\
BTDBO(3) 0x026DBE38 @ 149.267: **************** starting tree @ 0x00918CD0 for 0x026DBE38 ****************
BTDBO(3) 0x026DBE38 @ 149.267: dt: 0.065555, DecisionFlags: 0x00000000, StimuliAllFlags: 0x00000000
BTDBO(5) 0x026DBE38 @ 149.267: processing decider ROOT/0x2d5e207, flags: 0x0, new: 0, mask: 0x00000000, redecide: 0, \
block id: 0x02d5e207
BTDBO(4) 0x026DBE38 @ 149.267: visiting current kGroup decider ROOT/0x2d5e207, kGroupPrioritizedList, 7 children, \
active child 1, duration 145.434
BTDBO(5) 0x026DBE38 @ 149.267: child 0 (DIE/0x2d5e211)...failed DecisionFlags check
BTDBO(5) 0x026DBE38 @ 149.267: ChildrenDecide returned with RunIdx -1, ShuffleIdx -1
BTDBO(4) 0x026DBE38 @ 149.267: continuing child 1 GUARD_NEST_GROUP/0x2d5e200, duration: 145.433682
BTDBO(5) 0x026DBE38 @ 149.267: next_decider_push GUARD_NEST_GROUP/0x2d5e200
BTDBO(5) 0x026DBE38 @ 149.267: processing decider GUARD_NEST_GROUP/0x2d5e200, flags: 0x1, new: 0, mask: 0x00000000, \
redecide: 0, block id: 0x02d5e200
BTDBO(4) 0x026DBE38 @ 149.267: visiting current kGroup decider GUARD_NEST_GROUP/0x2d5e200, kGroupPrioritizedList, \
5 children, active child 4, duration 145.434
BTDBO(5) 0x026DBE38 @ 149.267: child 0 (GUARD_NEST_HELP/0x2d5e212)...passed StimuliFlags check...Decide returned \
0.000000
BTDBO(5) 0x026DBE38 @ 149.267: child 1 (GUARD_NEST_FIGHT/0x2d5e201)...has no preconditions...Decide returned 0.000000
BTDBO(5) 0x026DBE38 @ 149.267: child 2 (GUARD_NEST_GROWL/0x2d5e202)...has no preconditions...Decide returned 0.000000
BTDBO(5) 0x026DBE38 @ 149.267: child 3 (GUARD_NEST_PATROL/0x2d5e203)...has no preconditions...Decide returned 0.000000
BTDBO(5) 0x026DBE38 @ 149.267: ChildrenDecide returned with RunIdx -1, ShuffleIdx -1
BTDBO(4) 0x026DBE38 @ 149.267: continuing child 4 GUARD_NEST_IDLE/0x2d5e204, duration: 145.433682
BTDBO(5) 0x026DBE38 @ 149.267: next_decider_push GUARD_NEST_IDLE/0x2d5e204
BTDBO(5) 0x026DBE38 @ 149.267: processing decider GUARD_NEST_IDLE/0x2d5e204, flags: 0x0, new: 0, mask: 0x00000000, \
redecide: 0, block id: 0x02d5e204
BTDBO(4) 0x026DBE38 @ 149.267: visiting current kBehavior decider GUARD_NEST_IDLE/0x2d5e204, duration 7.904
BTDBO(3) 0x026DBE38 @ 149.267: ticking behavior IDLE_WALK/0x2c20c24 @ 149.266829 (dt: 0.065555) with flags 0x2, \
duration 7.904
BTDBO(3) 0x026DBE38 @ 149.267: current behavior IDLE_WALK/0x2c20c24 with flags 0x2, in decider \
GUARD_NEST_IDLE/0x2d5e204
BTDBO(3) 0x026DBE38 @ 149.267: **************** finished tree for 0x026DBE38, depth 3 ****************
"""


def in_the_state_of_the_text():
    guard = Guard()
    guard.tick(3.833147, "GUARD_NEST_PATROL")
    guard.tick(141.362829, "GUARD_NEST_IDLE")
    return guard


@pytest.mark.states("002: S11, 2: The sample of level 5")
def test_the_log_of_the_text_at_level_5():
    """The duration of a "continuing" line is that of the group; the group behavior has no Tick and no line."""
    guard = in_the_state_of_the_text()
    NEST.debug_output.level = 5
    guard.tick(149.266829, "GUARD_NEST_IDLE")
    assert words(guard.lines) == LEVEL_5.splitlines()


# --- levels and masks -------------------------------------------------------------------------------------------------


def level_of(line):
    return int(line[len("BTDBO(")])


def lines_of_a_while(level):
    guard = Guard(level=level)
    for time, does in ((1.0, "GROWL"), (2.0, "GROWL"), (3.0, "FIGHT"), (4.0, "IDLE"), (5.0, "IDLE"), (6.0, "PATROL")):
        guard.tick(time, f"GUARD_NEST_{does}")
    return guard.lines


@pytest.mark.states("002: S02, 3: The whole tree and the active path can be shown; five levels of output, from ...")
@pytest.mark.states(
    "002: S11, 2: Level 0 is silent; 1 and 2 write only when the active state changes; 3 to 5 in every tick",
)
def test_what_each_level_adds():
    everything = lines_of_a_while(5)
    assert {level_of(line) for line in everything} == {1, 2, 3, 4, 5}
    for level in range(6):
        assert lines_of_a_while(level) == [line for line in everything if level_of(line) <= level]


@pytest.mark.states("002: S11, 2: Level 0 is silent; 1 and 2 write only when the active state changes; 3 to 5 in ...")
@pytest.mark.parametrize("level", [1, 2])
def test_levels_one_and_two_are_silent_while_nothing_changes(level):
    guard = in_the_state_of_the_text()
    NEST.debug_output.level = level
    for time in (150.0, 151.0, 152.0):
        guard.tick(time, "GUARD_NEST_IDLE")
    assert guard.lines == []
    guard.tick(153.0, "GUARD_NEST_GROWL")
    assert len(guard.lines) == level


@pytest.mark.parametrize("level", [3, 4, 5])
def test_levels_three_to_five_write_in_every_tick(level):
    guard = in_the_state_of_the_text()
    NEST.debug_output.level = level
    for time in (150.0, 151.0):
        guard.tick(time, "GUARD_NEST_IDLE")
        assert guard.lines[0].endswith("**************** starting tree @ 0x00918CD0 for 0x026DBE38 ****************")


@pytest.mark.states("002: S11, 2: One agent may be singled out")
def test_one_agent_may_be_singled_out():
    lines = []
    ann, ben = (NEST.memory(body=LoneBody(Nest(), number=number)) for number in (1, 2))
    NEST.debug_output.function = lines.append
    NEST.debug_output.level = 1
    for agent, expected in ((None, [1, 2]), (ann, [1]), (2, [2]), (ben, [2]), (3, [])):
        NEST.debug_output.agent = agent
        for memory in (ann, ben):
            memory.agent.does = {"GUARD_NEST_GROWL": "GUARD_NEST_FIGHT"}.get(memory.agent.does, "GUARD_NEST_GROWL")
            memory.tick(1.0)
        assert [int(line.split()[1], 16) for line in lines if "in decider GUARD_NEST_GROUP" not in line] == expected
        lines.clear()


@pytest.mark.states("002: S11, 2: What is current can be asked in the output function, for masks of one's own")
def test_the_function_can_ask_what_is_current():
    seen = []
    output = NEST.debug_output
    guard = Guard(level=5)

    def mask(line):
        assert level_of(line) == output.current_level
        assert f"@ {output.current_time:.3f}:" in line
        assert output.current_memory is guard.memory
        if output.current_decider == "GUARD_NEST_GROWL" and output.current_level == 1:
            seen.append(" ".join(line.split()))

    output.function = mask
    guard.tick(1.0, "GUARD_NEST_GROWL")
    guard.tick(2.0, "GUARD_NEST_FIGHT")
    assert seen == [
        "BTDBO(1) 0x026DBE38 @ 1.000: activating behavior GROWL/0x2c20c22 with flags 0x0, in decider "
        "GUARD_NEST_GROWL/0x2d5e202"
    ]


def test_a_function_that_raises_is_dropped_and_reported():
    reports = []
    memory = NEST.memory(body=LoneBody(Nest(), report=lambda *report: reports.append(report)))

    def broken(line):
        raise ValueError(line)

    NEST.debug_output.function = broken
    NEST.debug_output.level = 5
    assert memory.tick(1.0) is True
    assert memory.tick(1.0) is True
    assert [(path, hook) for path, hook, _ in reports] == [("tree", "debug_output")]
    assert NEST.debug_output.function is None


@pytest.mark.states("002: S08: For example it tells the nest that it is guarded, and that it no longer is")
def test_the_nest_is_told():
    """The group behavior of the text: the nest knows as long as it is guarded, whatever the guard does meanwhile."""
    guard = Guard()
    guard.tick(1.0, "GUARD_NEST_GROWL")
    assert guard.memory.agent.is_guarded is True
    guard.tick(2.0, "GUARD_NEST_FIGHT")
    assert guard.memory.agent.is_guarded is True
    guard.memory.tick(1.0, decision_flags=0x1)  # it dies
    assert guard.memory.active_path == ("ROOT", "DIE")
    assert guard.memory.agent.is_guarded is False


# --- every message ----------------------------------------------------------------------------------------------------


def refuses(memory):
    return False


def goes_on(at):
    return True


def leaf(name, number, **fields):
    """A decider whose behavior has its name, and a number 0x80 higher."""
    tick = fields.pop("tick", goes_on)
    return decider(name, behavior(name, tick=tick, id=0x80 + number), id=number, **fields)


MESSAGES = BehaviorTree(
    group("ROOT", id=0x1)[
        leaf(
            "TIMED",
            0x2,
            tick=lambda at: False,
            every=5.0,
            decision=Check(all_clear=1),
            stimuli=Check(all_clear=2),
        ),
        group("TIDY", SCORED, delegate_decide_to_children=True, id=0x3)[
            leaf("LOW", 0x4, decide=refuses),
            leaf("HIGH", 0x5, decide=lambda memory: 0.5 * (memory.time == 1), tick=lambda at: at.time < 2),
        ],
        reference("JUMP", "LAST", decide=lambda memory: memory.time >= 3, id=0x6),
        leaf("MOVES", 0x7, decide=refuses, flags="MOVE"),
        leaf("BROKEN", 0x8, decide=lambda memory: 1 / 0),
        group("BAG", SHUFFLE, behavior=behavior("OWN", id=0x89), call_decide_on_redecide=True, id=0x9)[
            leaf("FIRST", 0xA),
            leaf("LAST", 0xB),
        ],
    ],
    id=0xC,
)


def messages(level):
    """Three ticks, in a list for each; somebody else holds MOVE."""
    lines = []
    body = LoneBody(None, number=0xFF, report=lambda *report: None)
    body.flags.claim(("MOVE",), Foreigner(), 0)
    memory = MESSAGES.memory(body=body, stream=Stream(1))
    MESSAGES.debug_output.function = lines.append
    MESSAGES.debug_output.level = level
    ticks = []
    for time in (1.0, 2.0, 3.0):
        memory.tick(1.0)
        begin = f"BTDBO(#) 0x000000FF @ {time:.3f}: "
        assert all(line.replace(line[6], "#", 1).startswith(begin) for line in lines)
        ticks.append([f"{line[6]} {line[len(begin) :]}" for line in lines])
        lines.clear()
    return memory, ticks


class Foreigner:
    flag_name = "somebody"
    precedence = 1
    is_interruptible = False
    runs_for = None


def test_every_message_of_a_new_path():
    """At 1 s TIMED begins and fails at once; then TIDY is chosen by what its children say."""
    assert messages(5)[1][0] == [
        "3 **************** starting tree @ 0x0000000C for 0x000000FF ****************",
        "3 dt: 1.000000, DecisionFlags: 0x00000000, StimuliAllFlags: 0x00000000",
        "5 child 0 (ROOT/0x1)...has no preconditions...no Decide, 1.000000",
        "5 next_decider_push ROOT/0x1",
        "5 processing decider ROOT/0x1, flags: 0x0, new: 1, mask: 0x00000000, redecide: 0, block id: 0x00000001",
        "5 child 0 (TIMED/0x2)...passed Time check...passed DecisionFlags check...passed StimuliFlags check"
        "...no Decide, 1.000000",
        "5 ChildrenDecide returned with RunIdx 0, ShuffleIdx -1",
        "5 next_decider_push TIMED/0x2",
        "5  processing decider TIMED/0x2, flags: 0x0, new: 1, mask: 0x00000000, redecide: 0, block id: 0x00000002",
        "1  activating behavior TIMED/0x82 with flags 0x0, in decider TIMED/0x2",
        "3  ticking behavior TIMED/0x82 @ 1.000000 (dt: 1.000000) with flags 0x0, duration 0.000",
        "2  kBehavior decider TIMED/0x2 failed",
        "2 redeciding ROOT/0x1, mask: 0x00000001",
        "5 processing decider ROOT/0x1, flags: 0x0, new: 0, mask: 0x00000001, redecide: 1, block id: 0x00000001",
        "5 child 0 (TIMED/0x2)...masked",
        "5  child 0 (LOW/0x4)...has no preconditions...Decide returned 0.000000",
        "5  child 1 (HIGH/0x5)...has no preconditions...Decide returned 0.500000",
        "5 child 1 (TIDY/0x3)...has no preconditions...no Decide, 1.000000...children returned 0.500000",
        "5 ChildrenDecide returned with RunIdx 1, ShuffleIdx -1",
        "2  deactivating behavior TIMED/0x82 with flags 0x0, in decider TIMED/0x2",
        "5 next_decider_push TIDY/0x3",
        "5  processing decider TIDY/0x3, flags: 0x2, new: 1, mask: 0x00000000, redecide: 0, block id: 0x00000003",
        "5  next_decider_push HIGH/0x5",
        "5   processing decider HIGH/0x5, flags: 0x0, new: 1, mask: 0x00000000, redecide: 0, block id: 0x00000005",
        "1   activating behavior HIGH/0x85 with flags 0x0, in decider HIGH/0x5",
        "3   ticking behavior HIGH/0x85 @ 1.000000 (dt: 1.000000) with flags 0x0, duration 0.000",
        "3   current behavior HIGH/0x85 with flags 0x0, in decider HIGH/0x5",
        "3 **************** finished tree for 0x000000FF, depth 3 ****************",
    ]


def test_every_message_of_a_failure_that_pops_up():
    """At 2 s HIGH fails, nobody else in TIDY wants to, ROOT asks its others; the timer of TIMED runs."""
    assert messages(5)[1][1][8:] == [
        "5  processing decider TIDY/0x3, flags: 0x2, new: 0, mask: 0x00000000, redecide: 0, block id: 0x00000003",
        "4  visiting current kGroup decider TIDY/0x3, kGroupScored, 2 children, active child 1, duration 1.000",
        "5  ChildrenDecide returned with RunIdx -1, ShuffleIdx -1",
        "4  continuing child 1 HIGH/0x5, duration: 1.000000",
        "5  next_decider_push HIGH/0x5",
        "5   processing decider HIGH/0x5, flags: 0x0, new: 0, mask: 0x00000000, redecide: 0, block id: 0x00000005",
        "4   visiting current kBehavior decider HIGH/0x5, duration 1.000",
        "3   ticking behavior HIGH/0x85 @ 2.000000 (dt: 1.000000) with flags 0x0, duration 1.000",
        "2   kBehavior decider HIGH/0x5 failed",
        "2  redeciding TIDY/0x3, mask: 0x00000002",
        "5  processing decider TIDY/0x3, flags: 0x2, new: 0, mask: 0x00000002, redecide: 1, block id: 0x00000003",
        "5  child 0 (LOW/0x4)...has no preconditions...Decide returned 0.000000",
        "5  child 1 (HIGH/0x5)...masked",
        "5  ChildrenDecide returned with RunIdx -1, ShuffleIdx -1",
        "2  kGroup decider TIDY/0x3 failed",
        "2 redeciding ROOT/0x1, mask: 0x00000002",
        "5 processing decider ROOT/0x1, flags: 0x0, new: 0, mask: 0x00000002, redecide: 1, block id: 0x00000001",
        "5 child 0 (TIMED/0x2)...failed Time check",
        "5 child 1 (TIDY/0x3)...masked",
        "5 child 2 (JUMP/0x6)...has no preconditions...Decide returned 0.000000",
        "5 child 3 (MOVES/0x7)...has no preconditions...failed ControlFlags check",
        "5 child 4 (BROKEN/0x8)...has no preconditions...Decide raised ZeroDivisionError",
        "5 child 5 (BAG/0x9)...has no preconditions...no Decide, 1.000000",
        "5 ChildrenDecide returned with RunIdx 5, ShuffleIdx -1",
        "2   deactivating behavior HIGH/0x85 with flags 0x0, in decider HIGH/0x5",
        "5 next_decider_push BAG/0x9",
        "5  processing decider BAG/0x9, flags: 0x1, new: 1, mask: 0x00000000, redecide: 0, block id: 0x00000009",
        "1  activating behavior OWN/0x89 with flags 0x0, in decider BAG/0x9",
        "5  child 0 (FIRST/0xa)...has no preconditions...no Decide, 1.000000",
        "5  ChildrenDecide returned with RunIdx 0, ShuffleIdx 0",
        "5  next_decider_push FIRST/0xa",
        "5   processing decider FIRST/0xa, flags: 0x0, new: 1, mask: 0x00000000, redecide: 0, block id: 0x0000000a",
        "1   activating behavior FIRST/0x8a with flags 0x0, in decider FIRST/0xa",
        "3   ticking behavior FIRST/0x8a @ 2.000000 (dt: 1.000000) with flags 0x0, duration 0.000",
        "3   current behavior FIRST/0x8a with flags 0x0, in decider FIRST/0xa",
        "3 **************** finished tree for 0x000000FF, depth 3 ****************",
    ]


def test_every_message_of_a_jump():
    """BAG stays, and is visited on the way."""
    assert messages(5)[1][2][4:] == [
        "5 child 0 (TIMED/0x2)...failed Time check",
        "5  child 0 (LOW/0x4)...has no preconditions...Decide returned 0.000000",
        "5  child 1 (HIGH/0x5)...has no preconditions...Decide returned 0.000000",
        "5 child 1 (TIDY/0x3)...has no preconditions...no Decide, 1.000000...children returned 0.000000",
        "5 child 2 (JUMP/0x6)...has no preconditions...Decide returned 1.000000",
        "5 ChildrenDecide returned with RunIdx 2, ShuffleIdx -1",
        "5  processing decider BAG/0x9, flags: 0x1, new: 0, mask: 0x00000000, redecide: 0, block id: 0x00000009",
        "4  visiting current kGroup decider BAG/0x9, kGroupShuffle, 2 children, active child 0, duration 1.000",
        "2   deactivating behavior FIRST/0x8a with flags 0x0, in decider FIRST/0xa",
        "5  next_decider_push LAST/0xb",
        "5   processing decider LAST/0xb, flags: 0x0, new: 1, mask: 0x00000000, redecide: 0, block id: 0x0000000b",
        "1   activating behavior LAST/0x8b with flags 0x0, in decider LAST/0xb",
        "3   ticking behavior LAST/0x8b @ 3.000000 (dt: 1.000000) with flags 0x0, duration 0.000",
        "3   current behavior LAST/0x8b with flags 0x0, in decider LAST/0xb",
        "3 **************** finished tree for 0x000000FF, depth 3 ****************",
    ]


# --- indents ----------------------------------------------------------------------------------------------------------


@pytest.mark.states("002: S11, 1: The state print is an indented view of the active deciders")
def test_the_state_print_is_indented():
    guard = in_the_state_of_the_text()
    assert [len(line) - len(line.lstrip()) for line in guard.memory.debug_print_state().splitlines()] == [0, 2, 4]


@pytest.mark.states(
    "002: S02, 3: The whole tree and the active path can be shown; five levels of output, from changes of the active "
    "state to the result of every decision",
)
@pytest.mark.states("002: S11, 1: Or of the whole tree")
def test_the_whole_tree():
    """What is active has a star. The rest has a blank, and nothing that belongs to an agent."""
    memory, _ = messages(0)
    assert memory.debug_print_state(whole_tree=True).splitlines() == [
        "*0:ROOT/0x1 (kGroup, kGroupPrioritizedList 0x0) time: 2.00 [(no group behavior)] idx: 5",
        "   0:TIMED/0x2 (kBehavior 0x0) [TIMED/0x82]",
        "   1:TIDY/0x3 (kGroup, kGroupScored 0x2) [(no group behavior)]",
        "     0:LOW/0x4 (kBehavior 0x0) [LOW/0x84]",
        "     1:HIGH/0x5 (kBehavior 0x0) [HIGH/0x85]",
        "   2:JUMP/0x6 (kReference 0x0) [-> LAST/0xb]",
        "   3:MOVES/0x7 (kBehavior 0x0) [MOVES/0x87]",
        "   4:BROKEN/0x8 (kBehavior 0x0) [BROKEN/0x88]",
        "  *5:BAG/0x9 (kGroup, kGroupShuffle 0x1) time: 1.00 [OWN/0x89] (0x00000000 0) idx: 1",
        "     0:FIRST/0xa (kBehavior 0x0) [FIRST/0x8a]",
        "    *1:LAST/0xb (kBehavior 0x0) time: 0.00 [LAST/0x8b] (0x00000000 0)",
    ]


def test_nobody_is_active_before_the_first_tick():
    memory = MESSAGES.memory()
    assert memory.debug_print_state() == ""
    assert memory.debug_print_state(whole_tree=True).startswith(" 0:ROOT/0x1 (kGroup, kGroupPrioritizedList 0x0) [(no")


@pytest.mark.states(
    "002: S11, 2: A line has its level, the agent, the time of the tick, as many spaces as the tree is deep there, "
    "and the message",
)
def test_spaces_tell_the_depth():
    """One for each decider above the place."""
    guard = in_the_state_of_the_text()
    NEST.debug_output.level = 5
    guard.tick(149.266829, "GUARD_NEST_IDLE")
    spaces = {}
    for line in guard.lines:
        text = line.split(": ", 1)[1]
        if text.lstrip().startswith(("processing", "visiting", "ticking")):
            spaces.setdefault(text.split("/")[0].split()[-1], set()).add(len(text) - len(text.lstrip()))
    assert spaces == {"ROOT": {0}, "GUARD_NEST_GROUP": {1}, "GUARD_NEST_IDLE": {2}, "IDLE_WALK": {2}}
