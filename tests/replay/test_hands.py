"""Changes by hand of what lives: what each does to each model, when it ends, that a replay does it again, and forms."""

from __future__ import annotations

import json
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrt import LOOK, MOVE, TOP, Action, Agent, Entity, Manifest, Registry, Runtime
from agentrt.behavior import Behavior, BehaviorTree, Check, decider, group
from agentrt.errors import EditError
from agentrt.goals import Goal, GoalSelector
from agentrt.kernel.trace import TraceEvent
from agentrt.kernel.traps import park, sleep_ticks
from agentrt.record.branch import branch, parse_edits
from agentrt.record.forms import checked, form_of
from agentrt.record.hands import HAND, KINDS, MOST_OFFERED, hands_of, lay_hands, offers_of, read_hand
from agentrt.record.recording import Recording
from agentrt.record.replay import replay
from agentrt.selection import LeafBehavior, SelectionLibrary


class Eat(Action):
    does = TOP
    utility = 0.6

    async def run(self, ctx, args):
        await ctx.sleep_ticks(10)


class Nap(Action):
    does = TOP
    utility = 0.3

    async def run(self, ctx, args):
        await ctx.sleep_ticks(4)


class Sing(Action):
    does = TOP
    utility = 0.9

    async def run(self, ctx, args):
        await ctx.sleep_ticks(2)


class Stare(Goal):
    name = "Stare"
    flags = {LOOK}

    def can_use(self):
        return True


class Blink(Stare):
    name = "Blink"


class Walk(Stare):
    name = "Walk"
    flags = {MOVE}


class Hum(Behavior):
    async def run(self, at):
        await sleep_ticks(3)


class Wait(LeafBehavior):
    async def run(self, ai):
        await park()


SEEN = 1


def registry():
    table = Registry()
    table.add(Manifest("mod", {"actions:sing": Sing, "ai_pack:song": {"actions": ["mod:actions:sing"]}}))
    return table


def make_world(*, seed=3, host="plain"):
    runtime = Runtime(seed, host=host)
    for name in ("Ann", "Bob"):
        agent = runtime.add(Agent(Entity("human", name=name), actions=[Eat, Nap], registry=registry()))
        selector = GoalSelector()
        for number, goal in enumerate((Stare(), Blink(), Walk()), 1):
            selector.add_goal(number, goal)
        agent.attach(selector)
        awake = decider("AWAKE", Hum("HUM"), stimuli=Check(all_clear=SEEN))
        agent.attach(BehaviorTree(group("ROOT")[awake, decider("ASLEEP", Hum("SNORE"))]).memory())
    runtime.on_input("knock", lambda who="nobody", times=1: runtime.note("knock", who=who, times=times))
    return runtime


class World:
    def __init__(self, runtime):
        self.runtime = runtime
        self.hands = lay_hands(runtime)
        self.failed = []
        self.hands.failed.append(lambda edit, error: self.failed.append(error.text))

    def hand(self, **edit):
        self.runtime.send(HAND, edit=edit)

    def tick(self, ticks=1):
        for _ in range(ticks):
            self.runtime.step()

    def does(self, name="Ann"):
        snapshot = self.runtime.find(name).snapshot()
        return snapshot.running.rpartition("/")[2], [driver.state.doing() for driver in snapshot.drivers]


@pytest.fixture
def world():
    runtime = make_world()
    yield World(runtime)
    runtime.close()


@pytest.mark.states("tools: Hands: An action, goal, decider or leaf that is disabled is out until it is freed")
def test_disable_and_free(world):
    world.tick(3)
    assert world.does() == ("Eat", ["Stare + Walk", "AWAKE"])
    world.hand(disable="action", of="Eat", agent="Ann")
    world.hand(disable="goal", of="Stare", agent="Ann")
    world.hand(disable="decider", of="AWAKE", agent="Ann")
    world.tick(3)
    assert world.does() == ("Nap", ["Blink + Walk", "ASLEEP"])
    assert world.does("Bob") == ("Eat", ["Stare + Walk", "AWAKE"])
    assert [row[:4] for row in world.hands.in_force()] == [
        ("Ann", "disable", "action", "Eat"), ("Ann", "disable", "goal", "Stare"), ("Ann", "disable", "decider", "AWAKE"),
    ]  # fmt: skip
    plan = world.runtime.find("Ann").snapshot().plan
    assert [(unit.action, unit.state, unit.reason) for unit in plan.units if unit.action == "Eat"] == [
        ("Eat", "impossible", "it is out by hand: disabled, or another one is forced")
    ]
    for kind, of in (("action", "Eat"), ("goal", "Stare"), ("decider", "AWAKE")):
        world.hand(free=kind, of=of, agent="Ann")
    world.tick(8)
    assert world.does() == ("Eat", ["Stare + Walk", "AWAKE"])
    assert world.hands.in_force() == []
    assert world.failed == []


@pytest.mark.states(
    "tools: Hands: What is forced has its place for itself: what competes with it is out until it is freed"
)
def test_force(world):
    world.tick(3)
    world.hand(force="action", of="Nap")
    world.hand(force="goal", of="Blink", agent="Ann")
    world.hand(force="decider", of="ASLEEP", agent="Ann")
    world.tick(4)
    assert world.does() == ("Nap", ["Blink + Walk", "ASLEEP"])  # goals that use other flags go on
    assert world.does("Bob") == ("Nap", ["Stare + Walk", "AWAKE"])
    world.hand(inject="mod:ai_pack:song", agent="Ann")  # what is learned later is out, too
    world.tick(8)
    assert world.does()[0] == "Nap"
    world.hand(free="action", of="Nap")
    world.tick(6)
    assert world.does()[0] == "Sing"


def test_one_that_is_forced_still_says_itself_whether_it_can(world):
    class Never(Stare):
        name = "Never"

        def can_use(self):
            return False

    selector = world.runtime.find("Ann").attachments[0].driver
    selector.add_goal(4, Never())
    world.tick(2)
    world.hand(force="goal", of="Never", agent="Ann")
    world.tick(3)
    assert world.does()[1][0] == "Walk"
    assert world.does("Bob")[1][0] == "Stare + Walk"


@pytest.mark.states("tools: Hands: What is forced holds for goals that are added later, too")
def test_a_goal_that_comes_later_is_out_while_a_rival_is_forced(world):
    class Gape(Stare):
        name = "Gape"

    selector = world.runtime.find("Ann").attachments[0].driver
    world.hand(force="goal", of="Blink", agent="Ann")
    world.hand(disable="goal", of="Yawn", agent="Ann")
    world.tick(3)
    assert world.does()[1][0] == "Blink + Walk"
    late = selector.add_goal(0, Gape())
    world.tick(3)
    assert (world.does()[1][0], "disabled" in repr(late)) == ("Blink + Walk", True)
    selector.remove_goal(next(one.goal for one in selector.available_goals if one.goal.name == "Blink"))
    world.tick(2)  # what is forced is there no more
    assert world.does()[1][0] == "Walk + Gape"


def test_a_goal_that_is_forced_and_added_anew_has_its_flags_for_itself_again(world):
    selector = world.runtime.find("Ann").attachments[0].driver
    world.hand(force="goal", of="Blink", agent="Ann")
    world.tick(2)
    selector.remove_all_goals(lambda goal: goal.name == "Blink")
    world.tick(2)
    assert world.does()[1][0] == "Stare + Walk"
    selector.add_goal(9, Blink())
    world.tick(2)
    assert world.does()[1][0] == "Walk + Blink"
    world.hand(free="goal", of="Blink", agent="Ann")
    world.tick(2)
    assert world.does()[1][0] == "Stare + Walk"


def test_goals_that_come_and_go_while_they_are_asked(world):
    class Fickle(Stare):
        name = "Fickle"
        added = 0

        def can_use(self):
            if Fickle.added < 4:
                Fickle.added += 1
                selector.add_goal(0, Walk() if Fickle.added % 2 else Stare())
                selector.remove_all_goals(lambda goal: goal.name == "Walk")
            return True

    selector = world.runtime.find("Ann").attachments[0].driver
    selector.add_goal(0, Fickle())
    world.hand(force="goal", of="Fickle", agent="Ann")
    world.tick(6)
    assert (world.does()[1][0], Fickle.added) == ("Fickle", 4)


@pytest.mark.states("tools: Hands: What is in force ends with the agent")
def test_it_ends_with_the_agent(world):
    runtime = world.runtime
    ann = runtime.find("Ann")
    world.hand(force="action", of="Nap", agent="Ann")
    world.hand(disable="goal", of="Stare", agent="Ann")
    world.hand(disable="decider", of="AWAKE", agent="Ann")
    world.tick(4)
    runtime.remove(ann)
    world.tick(3)
    assert world.hands.in_force() == []
    runtime.add(ann)
    world.tick(4)
    assert world.does(ann.name) == ("Eat", ["Stare + Walk", "AWAKE"])


def test_a_goal_that_raised_stays_out_when_it_is_freed(world):
    class Broken(Walk):
        name = "Broken"

        def can_use(self):
            raise RuntimeError("broken")

    runtime = world.runtime
    selector = runtime.find("Ann").attachments[0].driver
    wrapped = selector.add_goal(9, Broken())
    selector.remove_goal(next(one.goal for one in selector.available_goals if one.goal.name == "Walk"))
    runtime.on_fault(lambda fault: None)
    world.tick(3)
    world.hand(disable="goal", of="Broken", agent="Ann")
    world.tick(2)
    world.hand(free="goal", of="Broken", agent="Ann")
    world.tick(2)
    assert "disabled" in repr(wrapped)


@pytest.mark.states("tools: Hands: A stimulus is set, a plan is aborted without counting as a failure")
def test_stimuli_aborts_and_packs(world):
    world.tick(2)
    world.hand(set="stimulus", of="0x1", to=True, agent="Ann")  # a bit that has no name is called by its number
    world.hand(set="stimulus", of="HEARD", to=True, agent="Ann")
    world.tick(2)
    assert world.failed == ["#/of: nobody perceives a stimulus 'HEARD'. There are 0x1."]
    memory = world.runtime.find("Ann").attachments[1].driver
    assert [(one.token, one.remaining) for one in memory.perceived()] == [(SEEN, None)]
    world.hand(set="stimulus", of="0x1", to=False, agent="Ann")
    world.tick(2)
    assert memory.perceived() == []
    world.hand(set="stimulus", of="0x1", to=0.2, agent="Ann")
    world.tick(2)
    assert [one.remaining for one in memory.perceived()] == [pytest.approx(0.1)]
    heard = []
    world.runtime.trace.listen(heard.append)
    for _ in range(12):
        world.hand(abort="plan", agent="Ann")
        world.tick(2)
    aborts = [one for one in heard if one.event is TraceEvent.ABORT]
    assert [one.agent for one in aborts] == ["Ann"] * 12
    assert world.runtime.find("Ann").error is None


def world_file(tmp_path):
    path = tmp_path / "run.sqlite"
    runtime = make_world()
    world = World(runtime)
    with runtime.record(path, world="by hand"):
        world.tick(3)
        world.hand(force="action", of="Nap")
        world.hand(disable="goal", of="Stare", agent="Bob")
        world.hand(force="decider", of="ASLEEP", agent="Ann")
        world.tick(5)
        world.hand(set="utility", of="Nap", to=0.9, agent="Ann")
        world.hand(set="priority", of="Blink", to=0)
        world.hand(inject="mod:ai_pack:song", agent="Bob")
        world.hand(send="knock", args={"who": "a king", "times": 2})
        world.hand(send="knock", args={"times": "often"})
        world.hand(disable="action", of="Nobody")
        world.hand(abort="plan")
        world.tick(5)
        world.hand(free="action", of="Nap")
        world.hand(revoke="mod:ai_pack:song", agent="Bob")
        world.tick(10)
    runtime.close()
    return path, world


@pytest.mark.states("tools: Hands: Each change is an input: recorded, and done again by a replay on every host")
@pytest.mark.parametrize("host", ["plain", "asyncio", "trio"])
def test_a_replay_does_it_again(tmp_path, host):
    path, world = world_file(tmp_path)
    assert len(world.failed) == 2
    report = replay(path, make_world, host=host)
    assert report.is_same, report.as_text()
    assert report.recorded_digest == report.digest
    assert report.sent == 12


def test_marks_and_records(tmp_path):
    runtime = make_world()
    world = World(runtime)
    heard = []
    runtime.trace.listen(heard.append)
    world.hand(disable="action", of="Eats", agent="Ann")
    world.hand(send="knock", args={"who": "x"})
    world.tick()
    told = [one for one in heard if one.event is TraceEvent.HAND]
    problem = "nobody has an action 'Eats'. Did you mean 'Eat'? There are Eat, Nap."
    assert [(one.tick, one.agent, one.detail) for one in told] == [
        (1, "Ann", (("does", "disable action Eats of Ann"),)),
        (1, "Ann", (("does", "disable action Eats of Ann"), ("failed", problem))),
        (1, "", (("does", "send knock with {'who': 'x'}"),)),
    ]
    assert [tuple(mark) for mark in world.hands.marks] == [
        (1, "Ann", "disable action Eats of Ann", problem),
        (1, "", "send knock with {'who': 'x'}", ""),
    ]
    runtime.close()


def test_a_selection_tree():
    text = (
        '<SelectionTree name="Wolf"><Variables><Variable name="Alert"/></Variables><Priority name="Root">'
        '<Leaf name="Hunt" condition="Alert"/><Leaf name="Roam"/></Priority></SelectionTree>'
    )
    runtime = Runtime(3)
    state = SelectionLibrary.from_texts({"wolf.xml": text})["Wolf"].state({"Hunt": Wait, "Roam": Wait})
    state.set_variable("Alert", True)
    runtime.add(Agent(Entity("wolf", name="Ann"), drivers=[state]))
    world = World(runtime)
    world.tick(2)
    assert state.leaf == "Root/Hunt"
    world.hand(disable="leaf", of="Hunt")
    world.tick(2)
    assert state.leaf == "Root/Roam"
    world.hand(free="leaf", of="Hunt")
    world.hand(force="leaf", of="Roam")
    world.tick(2)
    assert state.leaf == "Root/Roam"
    assert offers_of(runtime.find("Ann"))["leaf"] == ["Hunt", "Roam"]
    world.hand(free="leaf", of="Roam")
    world.tick(2)
    assert state.leaf == "Root/Hunt"
    world.hand(set="variable", of="alert", to=False)
    world.tick(2)
    assert state.leaf == "Root/Roam"
    assert world.failed == []
    runtime.close()


# --- shapes -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edit", "field", "text"),
    [
        (3, "", "a change is an object"),
        ({}, "", "it does nothing"),
        ({"force": "action", "free": "action"}, "", "it does force and free"),
        ({"force": "thing", "of": "x"}, "/force", "not one of action, goal, decider, leaf"),
        ({"force": "goal"}, "/of", "the name of the goal"),
        ({"force": "goal", "of": "x" * 501}, "/of", "the name of the goal"),
        ({"force": "goal", "of": "x", "agent": 3}, "/agent", "the name of an agent"),
        ({"force": "goal", "of": "x", "to": 3}, "", "a key 'to'"),
        ({"set": "utility", "of": "x", "to": 3}, "/to", "a utility is a number"),
        ({"set": "utility", "to": 0.3}, "/of", "'of' is missing"),
        ({"set": "stimulus", "of": "x", "to": -1}, "/to", "a stimulus is true, false"),
        ({"set": "stimulus", "of": "x", "to": float("inf")}, "/to", "a stimulus is true, false"),
        ({"abort": "all"}, "/abort", "'abort' is 'all'"),
        ({"send": "agentrt:set", "args": {}}, "/send", "reserved"),
        ({"send": "x", "args": []}, "", "'args' are an object"),
        ({"send": "x", "args": {"a": [float("inf")]}}, "/args", "too large"),
        ({"inject": ""}, "/of", "takes the alias of a pack"),
    ],
)
def test_what_is_wrong_with_a_change(edit, field, text):
    with pytest.raises(EditError) as caught:
        read_hand(edit)
    assert text in caught.value.text
    assert caught.value.pointer == field


anything = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
keys = st.sampled_from(
    ["force", "disable", "free", "set", "inject", "revoke", "abort", "send", "of", "to", "agent", "args"]
)
values = anything | st.sampled_from(["action", "goal", "utility", "stimulus", "plan", "knock"])


@given(st.dictionaries(keys, values, max_size=4) | anything)
def test_whatever_comes_is_a_change_or_an_edit_error(edit):
    try:
        read = read_hand(edit)
    except EditError:
        return
    assert read_hand(read) == read
    json.dumps(read, allow_nan=False)


# --- forms ------------------------------------------------------------------------------------------------------------


def test_a_form_is_made_of_a_signature():
    def order(
        what: str, count: int | None = 2, *, price: float = 1, hot: bool = False, size: Literal["s", "l"] = "s",
        more: list | None = None, rest: dict[str, int] = {}, odd=object(),  # noqa: B006, B008
    ):  # fmt: skip
        """Somebody orders something.

        And more.
        """

    form = form_of("order", order)
    assert (form.about, form.takes_more, form.problem) == ("Somebody orders something.", False, "")
    assert [tuple(field) for field in form.fields] == [
        ("what", "text", True, None, (), False),
        ("count", "int", False, 2, (), True),
        ("price", "float", False, 1, (), False),
        ("hot", "bool", False, False, (), False),
        ("size", "text", False, "s", ("s", "l"), False),
        ("more", "list", False, None, (), True),
        ("rest", "object", False, {}, (), False),
        ("odd", "any", False, None, (), True),
    ]
    assert checked(form, {"what": "tea", "price": 3, "count": None}) == {"what": "tea", "price": 3.0, "count": None}
    for args, field in (
        ({}, "/args/what"),
        ({"what": 3}, "/args/what"),
        ({"what": "tea", "count": 1.5}, "/args/count"),
        ({"what": "tea", "count": True}, "/args/count"),
        ({"what": "tea", "size": "m"}, "/args/size"),
        ({"what": "tea", "sice": "s"}, "/args/sice"),
    ):
        with pytest.raises(EditError) as caught:
            checked(form, args)
        assert caught.value.pointer == field


def test_a_callable_whose_signature_raises_takes_anything():
    class Odd:
        @property
        def __signature__(self):
            raise RuntimeError("no")

        def __call__(self, **args):
            return args

    form = form_of("odd", Odd())
    assert form.takes_more
    assert "cannot be read" in form.problem
    assert checked(form, {"a": 1}) == {"a": 1}


def test_what_an_agent_offers_is_bounded(world):
    world.tick(2)
    offers = offers_of(world.runtime.find("Ann"))
    assert offers["action"] == ["Eat", "Nap"]
    assert offers["goal"] == ["Stare", "Blink", "Walk"]
    assert offers["decider"] == ["AWAKE", "ASLEEP"]
    assert offers["inject"] == ["mod:ai_pack:song"]
    assert set(KINDS) < set(offers)
    assert all(len(names) <= MOST_OFFERED for names in offers.values())
    assert hands_of(Runtime(1)) is None


# --- in a script ------------------------------------------------------------------------------------------------------


DONE = [
    (3, {"disable": "action", "of": "Eat", "agent": "Ann"}),
    (4, {"force": "goal", "of": "Blink", "agent": ""}),
    (5, {"set": "stimulus", "of": "0x1", "to": 2.5, "agent": "Bob"}),
    (7, {"disable": "decider", "of": "AWAKE", "agent": "Ann"}),
    (9, {"abort": "plan", "agent": "Bob"}),
    (11, {"free": "action", "of": "Eat", "agent": "Ann"}),
    (12, {"set": "stimulus", "of": "0x1", "to": False, "agent": "Bob"}),
]


def recorded(path, done, ticks=20):
    runtime = make_world()
    lay_hands(runtime)
    with runtime.record(path):
        for tick in range(1, ticks + 1):
            for when, edit in done:
                if when == tick:
                    runtime.send(HAND, edit=edit)
            runtime.step()
    runtime.close()
    return path


@pytest.mark.states("tools: Hands: A script does what hands do, and gives the same digest", source="design 7")
def test_what_was_done_by_hand_as_a_script_gives_the_same_digest(tmp_path):
    stimulus = next(iter(offers_of(make_world().find("Ann"))["stimulus"]))
    done = [(tick, {**edit, "of": stimulus} if edit.get("set") else edit) for tick, edit in DONE]
    by_hand = recorded(tmp_path / "hands.sqlite", done)
    untouched = recorded(tmp_path / "none.sqlite", [])
    script = [{"tick": tick, **edit} for tick, edit in done]
    made = branch(untouched, make_world, at=2, edits=parse_edits(script), record=tmp_path / "branch.sqlite")
    with Recording.open(by_hand) as recording:
        assert made.digest == recording.digest()
    assert replay(tmp_path / "branch.sqlite", make_world).digest == made.digest
    dropped = [{"tick": tick, "drop": HAND} for tick, _ in done]
    back = branch(by_hand, make_world, at=2, edits=parse_edits(dropped))
    with Recording.open(untouched) as recording:
        assert back.digest == recording.digest()


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        ({"disable": "action", "of": "Eta"}, r"nobody has an action 'Eta', in tick 5. Did you mean 'Eat'"),
        ({"force": "goal", "of": "Blink", "agent": "An"}, r"no agent is called 'An', in tick 5. Did you mean 'Ann'"),
        ({"free": "goal", "of": "Blink"}, "nothing is in force on goal 'Blink', in tick 5"),
        ({"set": "stimulus", "of": "fear", "to": True}, "nobody perceives a stimulus 'fear', in tick 5"),
    ],
)
def test_a_hand_of_a_script_that_finds_nothing_is_an_error(tmp_path, edit, said):
    path = recorded(tmp_path / "none.sqlite", [])
    with pytest.raises(EditError, match=said) as caught:
        branch(path, make_world, at=2, edits=parse_edits([{"tick": 4, "abort": "plan"}, {"tick": 5, **edit}]))
    assert caught.value.pointer == "/1"


def test_a_hand_of_the_recorded_run_that_finds_nothing_any_more_is_none(tmp_path):
    path = recorded(tmp_path / "hands.sqlite", [(3, DONE[0][1]), (8, DONE[5][1])])
    made = branch(path, make_world, at=2, edits=parse_edits([{"tick": 3, "drop": HAND}]))
    assert made.tick == 20
