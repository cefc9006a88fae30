"""Rebuilding after loading: packs, groups and tasks go through JSON and come back; what is gone has its place told."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt import TOP, Action, ActionArgs, Agent, Entity, Manifest, Registry, load_pack
from agentrt.errors import AgentRTError, DefinitionError, RebuildError
from agentrt.rebuild import (
    read,
    restore_groups,
    restore_packs,
    restore_tasks,
    save_groups,
    save_packs,
    save_tasks,
    write,
)
from agentrt.tasks import (
    TaskGroup,
    TaskGroupAction,
    TaskGroups,
    declare_multiple_tasks,
    declare_permanent_task,
    declare_task,
)
from agentrt.testing import Simulation


class Idle(Action):
    does = TOP
    utility = 0.01

    async def run(self, ctx, args):
        await ctx.sleep(1000)


class Feed(Action):
    does = "m:feed"
    utility = 0.5

    class Args(ActionArgs):
        pasture: Entity
        portions: int = 1

    async def run(self, ctx, args):
        await ctx.sleep_ticks(3)


class Play(Idle):
    utility = 0.02


class Needs(TaskGroupAction):
    does = TOP
    utility = (0, 0.3)
    tasks = (declare_multiple_tasks("m:eat", 0.5), declare_permanent_task("m:rest", {}, 0.2))


class Herding(TaskGroupAction):
    does = TOP
    utility = 0.5
    tasks = (declare_multiple_tasks("m:feed", 0.5), declare_task("m:shear", (0.1, 0.2)))


TOWN = {
    "task_groups": {
        "m:task_groups:herding": {},
        "m:task_groups:more": {"extends": "m:task_groups:herding", "tasks": [{"activity": "m:milk", "utility": 1}]},
    }
}

REGISTRY = Registry(
    [
        Manifest(
            "m",
            {
                "actions:idle": Idle,
                "actions:feed": Feed,
                "actions:play": Play,
                "task_groups:solo:needs": Needs,
                "task_groups:herding": Herding,
                "ai_pack:core": {"actions": ["m:actions:idle"], "task_groups": ["m:task_groups:solo:needs"]},
                "ai_pack:play": {"actions": ["m:actions:play"]},
            },
        )
    ]
)


def through_json(saved):
    return json.loads(json.dumps(saved))


class World:
    """A small game: two shepherds, a pasture, a town. Its own things, it saves itself."""

    def __init__(self):
        self.sim = Simulation()
        self.pastures = {number: Entity("pasture", id=number) for number in (1, 2)}
        self.people = {}
        for name in ("ann", "bob"):
            entity = Entity("human", name=name, ai_packs=["m:ai_pack:core"])
            self.people[name] = self.sim.add(Agent(entity, actions=[Feed], registry=REGISTRY))
        self.town = TaskGroups(TOWN, registry=REGISTRY)

    @property
    def herding(self):
        return self.town.get_task_group("m:task_groups:herding")

    def encode(self, value):
        return {"pasture": value.id}

    def decode(self, value):
        return self.pastures[value["pasture"]]

    def save(self):
        """What stands in the saved game about agents."""
        return through_json(
            {
                "packs": {name: save_packs(agent) for name, agent in self.people.items()},
                "groups": save_groups(self.town),
                "tasks": save_tasks(self.town, self.encode),
                "own": {name: save_tasks(agent) for name, agent in self.people.items()},
            }
        )

    def load(self, saved):
        for name, packs in saved["packs"].items():
            restore_packs(self.people[name], packs)
        restore_groups(self.town, saved["groups"], self.sim.runtime.agents)
        tasks = restore_tasks(self.town, saved["tasks"], self.decode)
        for name, own in saved["own"].items():
            tasks += restore_tasks(self.people[name], own)
        return tasks


@pytest.fixture
def world():
    made = []

    def make():
        made.append(World())
        return made[-1]

    yield make
    for one in made:
        one.sim.close()


@pytest.mark.states("001: Persistence: AI state is not saved: nobody resumes what it did")
def test_a_world_is_saved_in_the_middle_of_its_work_and_goes_on(world):
    old = world()
    old.town.add(old.people["ann"], ["m:task_groups:herding"])
    old.town.add(old.people["bob"], ["m:task_groups:herding"])
    old.people["bob"].inject("m:ai_pack:play", source="a toy")
    old.herding.declare_task("m:count", (0.2, 0.3))
    pasture = old.pastures[2]
    old.herding.create_task("m:feed", pasture=pasture, portions=2).times(3).max_workers(1).set_annotation(
        "hungry"
    ).set_source(pasture).start()
    old.herding.create_task("m:shear")
    old.people["ann"].get_task_group("m:task_groups:solo:needs").create_task(
        "m:eat", food=("hay", {"kg": 1.5})
    ).once().start()
    old.sim.tick(5)
    saved = old.save()
    assert saved == {
        "packs": {"ann": [], "bob": [{"source": "a toy", "packs": ["m:ai_pack:play"]}]},
        "groups": {
            "m:task_groups:herding": {
                "members": ["ann", "bob"],
                "extensions": [
                    [{"activity": "m:count", "utility": [0.2, 0.3], "multiple": False, "permanent": False, "args": {}}]
                ],
            }
        },
        "tasks": [
            {
                "group": "m:task_groups:herding",
                "activity": "m:feed",
                "args": {"pasture": {"encoded": {"pasture": 2}}, "portions": 2},
                "state": "started",
                "times": 2,
                "max_workers": 1,
                "annotation": "hungry",
                "source": {"encoded": {"pasture": 2}},
            },
            {"group": "m:task_groups:herding", "activity": "m:shear", "args": {}, "state": "paused"},
        ],
        "own": {
            "ann": [
                {
                    "group": "m:task_groups:solo:needs",
                    "activity": "m:eat",
                    "args": {"food": {"tuple": ["hay", {"map": {"kg": 1.5}}]}},
                    "state": "started",
                    "times": 1,
                }
            ],
            "bob": [],
        },
    }
    new = world()
    tasks = new.load(saved)
    assert new.save() == saved
    feed, shear, eat = tasks
    assert (feed.args["pasture"], feed.source) == (new.pastures[2], new.pastures[2])
    assert (feed.state, shear.state, eat.args) == ("started", "paused", {"food": ("hay", {"kg": 1.5})})
    told = []
    feed.notify_completed(told.append)
    new.sim.tick(10)
    assert told == [feed]


def test_jobs_may_be_given_again_before_or_after(world):
    old = world()
    description = {"name": "shepherd", "task_groups": ["m:task_groups:herding"]}
    old.town.employ(old.people["ann"], description)
    saved = through_json(save_groups(old.town))
    for is_before in (True, False):
        new = world()
        if not is_before:
            restore_groups(new.town, saved, new.sim.runtime.agents)
        job = new.town.employ(new.people["ann"], description)
        if is_before:
            restore_groups(new.town, saved, new.sim.runtime.agents)
        assert new.herding.members == (new.people["ann"],)
        job.end()
        assert new.herding.members == ()


# --- packs ------------------------------------------------------------------------------------------------------------


def agent_of(**options):
    return Agent(Entity("ann"), registry=REGISTRY, **options)


def test_what_an_agent_was_taught_is_plain_json():
    agent = agent_of(packs=["m:ai_pack:core"])
    agent.inject("m:ai_pack:play", Feed, {"actions": ["m:actions:idle"]}, source="magic")
    agent.inject_from({"name": "collar", "injected_ai": {"ai_packs": ["m:ai_pack:play"]}})
    agent.inject(load_pack({"_why": 1, "actions": ["m:actions:play"]})).revoke()
    saved = through_json(save_packs(agent))
    assert saved == [
        {
            "source": "magic",
            "packs": ["m:ai_pack:play", {"actions": ["m:actions:feed"]}, {"actions": ["m:actions:idle"]}],
        },
        {"source": "collar", "packs": [{"ai_packs": ["m:ai_pack:play"]}]},
    ]
    assert through_json(save_packs(agent, bearers=False)) == saved[:1]
    again = agent_of(packs=["m:ai_pack:core"])
    injections = restore_packs(again, saved)
    assert [one.source for one in injections] == ["magic", "collar"]
    assert again.actions == agent.actions
    assert through_json(save_packs(again)) == saved


def test_an_action_that_nobody_registered_cannot_be_saved():
    class Secret(Action):
        does = TOP
        utility = 0.5

    agent = agent_of()
    agent.inject(Secret)
    with pytest.raises(
        DefinitionError, match=r"Secret: it was injected, but nobody registered it.*Agent\(actions=\[...\]\)"
    ):
        save_packs(agent)


@pytest.mark.parametrize(
    ("saved", "text"),
    [
        (
            [{"source": "x", "packs": ["m:ai_pack:play"]}, {"source": "y", "packs": ["m:ai_pack:plai"]}],
            "#/1/packs/0: what 'ann' was taught: nobody registered 'm:ai_pack:plai'. Did you mean 'm:ai_pack:play' or 'm:ai_pack:core'? Register it in a "
            "manifest of the entry-point groups 'agentrt.actions', 'agentrt.strategies' or 'agentrt.packs', or correct the reference.",
        ),
        ([{"source": "x"}], "#/0: the saved game: 'packs' is missing."),
        ([{"source": 1, "packs": []}], "#/0/source: the saved game: this is the number 1, and not a text."),
        (
            [{"source": "x", "packs": [7]}],
            "#/0/packs/0: what 'ann' was taught: this is the number 7, and no pack. Write its alias, or the pack in place.",
        ),
        ([3], "#/0: the saved game: this is the number 3, and not an object."),
        ({}, "the saved game: this is an object, and not a list."),
    ],
)
def test_packs_that_cannot_come_back(saved, text):
    agent = agent_of()
    with pytest.raises(RebuildError) as caught:
        restore_packs(agent, saved)
    assert caught.value.text == text
    assert agent.injections == ()


def test_what_is_lost_is_told_and_the_rest_comes_back():
    lost = []
    agent = agent_of()
    saved = [{"source": "x", "packs": ["m:ai_pack:plai"]}, {"source": "y", "packs": ["m:ai_pack:play"]}]
    injections = restore_packs(agent, saved, lost=lost.append)
    assert [one.source for one in injections] == ["y"]
    assert [(type(one), one.pointer) for one in lost] == [(RebuildError, "/0/packs/0")]


# --- groups -----------------------------------------------------------------------------------------------------------


def test_groups_of_every_kind():
    ann = agent_of(packs=["m:ai_pack:core"])
    party = TaskGroup(Herding, name="party")
    party.add(ann)
    own = ann.get_task_group("m:task_groups:solo:needs")
    own.declare_permanent_task("m:bask", {"where": (1, 2)}, 0.1)
    saved = through_json([save_groups(ann), save_groups(party), save_groups([party, own])])
    declared = {
        "activity": "m:bask",
        "utility": 0.1,
        "multiple": False,
        "permanent": True,
        "args": {"where": {"tuple": [1, 2]}},
    }
    solo = {"m:task_groups:solo:needs": {"members": [], "extensions": [[declared]]}}
    assert saved == [
        solo,
        {"party": {"members": ["ann"], "extensions": []}},
        {"party": {"members": ["ann"], "extensions": []}, **solo},
    ]
    again = agent_of(packs=["m:ai_pack:core"])
    restore_groups(again, saved[0], {})
    bask = again.get_task_group("m:task_groups:solo:needs").tasks[-1]
    assert (bask.activity, bask.args, bask.is_permanent, bask.state) == ("m:bask", {"where": (1, 2)}, True, "started")
    other = TaskGroup(Herding, name="party")
    restore_groups([other], saved[1], {"ann": again})
    assert other.members == (again,)
    with pytest.raises(DefinitionError, match="party: two task groups have this name"):
        save_groups([party, other])


@pytest.mark.parametrize(
    ("saved", "text"),
    [
        (
            {"m:task_groups:herding": {"members": ["ann", "anne"], "extensions": []}},
            "#/m:task_groups:herding/members/1: the member 'anne' of 'm:task_groups:herding': there is no agent of that name. "
            "Did you mean 'ann'? Make it before you restore groups.",
        ),
        (
            {"m:task_groups:hording": {"members": [], "extensions": []}},
            "#/m:task_groups:hording: the task group 'm:task_groups:hording': there is none of that name. "
            "Did you mean 'm:task_groups:herding'? There: m:task_groups:herding.",
        ),
        (
            {
                "m:task_groups:herding": {
                    "members": ["bob"],
                    "extensions": [
                        [{"activity": "m:feed", "utility": 1, "multiple": False, "permanent": False, "args": {}}]
                    ],
                }
            },
            "#/m:task_groups:herding/extensions/0: what was added to 'm:task_groups:herding': extension of "
            "m:task_groups:herding: 'm:feed' is declared there already. Leave it out.",
        ),
        (
            {"m:task_groups:herding": {"members": [], "extensions": [[{"activity": "m:x", "args": {}}]]}},
            "#/m:task_groups:herding/extensions/0/0: the saved game: 'multiple' is missing.",
        ),
        ([], "the saved game: this is a list, and not an object."),
    ],
)
def test_groups_that_cannot_come_back(world, saved, text):
    new = world()
    with pytest.raises(RebuildError) as caught:
        restore_groups(new.town, saved, new.sim.runtime.agents)
    assert caught.value.text == text
    assert new.herding.members == ()
    lost = []
    restore_groups(new.town, saved, new.sim.runtime.agents, lost=lost.append) if isinstance(saved, dict) else None
    assert [one.text for one in lost] == ([text] if isinstance(saved, dict) else [])


# --- tasks ------------------------------------------------------------------------------------------------------------


def test_a_value_that_json_cannot_say(world):
    old = world()
    old.herding.create_task("m:feed", pasture=old.pastures[1])
    with pytest.raises(DefinitionError) as caught:
        save_tasks(old.town)
    assert caught.value.text == (
        "task 1 of m:task_groups:herding, argument 'pasture': it is <Entity 'pasture 1'>, a Entity, which JSON cannot say. "
        "Give an 'encode' that makes plain JSON of it, such as its id, and to the restoring call a 'decode'."
    )
    with pytest.raises(
        DefinitionError, match=r"encode made \{1\} of it: at / there is \{1\}, a set, which JSON cannot say"
    ):
        save_tasks(old.town, lambda value: {1})


GOOD = {"group": "m:task_groups:herding", "activity": "m:shear", "args": {}, "state": "started"}
FEED = {**GOOD, "activity": "m:feed", "args": {"pasture": {"encoded": {"pasture": 9}}}}


@pytest.mark.parametrize(
    ("entry", "text"),
    [
        (FEED, "#/1/args/pasture: an encoded value: it is gone: 9"),
        (
            {**GOOD, "activity": "m:sheer"},
            "#/1: the task: m:task_groups:herding: the activity 'm:sheer' is not declared there. Did you mean 'm:shear' or 'm:feed'? "
            "Declare it in the group, or with group.declare_task; declared: m:feed, m:shear, m:milk.",
        ),
        (
            {**GOOD, "group": "m:task_groups:hording"},
            "#/1/group: the task group 'm:task_groups:hording': there is none of that name. Did you mean "
            "'m:task_groups:herding'? There: m:task_groups:herding.",
        ),
        ({**GOOD, "state": "destroyed"}, "#/1/state: the task: its state is 'destroyed'."),
        ({**GOOD, "times": 0}, "#/1/times: the task: 'times' is 0, and not 1 or more."),
        ({**GOOD, "times": True}, "#/1/times: the saved game: this is true, and not a whole number."),
        ({**GOOD, "args": []}, "#/1/args: the saved game: this is a list, and not an object."),
        (
            {**GOOD, "args": {"x": {"y": 1}}},
            "#/1/args/x: the saved game: this object is none of map, tuple and encoded.",
        ),
    ],
)
def test_tasks_that_cannot_come_back(world, entry, text):
    new = world()
    saved = [{**GOOD, "activity": "m:milk"}, entry]
    with pytest.raises(RebuildError) as caught:
        restore_tasks(new.town, saved, new.decode)
    assert caught.value.text == text
    assert new.herding.tasks == ()
    lost = []
    assert [task.activity for task in restore_tasks(new.town, saved, new.decode, lost=lost.append)] == ["m:milk"]
    assert [one.text for one in lost] == [text]


def test_a_second_task_where_there_may_be_one(world):
    new = world()
    with pytest.raises(
        RebuildError, match="#/1: the task: m:task_groups:herding: there is a task that does 'm:shear' already"
    ):
        restore_tasks(new.town, [GOOD, GOOD])


def test_values_go_to_json_and_back_unchanged():
    value = {"a": [1, 2.5, None, True, "x"], "b": (1, (2,)), "encoded": {"encoded": 1}}
    written = json.loads(json.dumps(write(value, None, "value")))
    assert read(written, None, "") == value
    with pytest.raises(RebuildError, match="there is no 'decode' that finds it again"):
        read({"encoded": 1}, None, "/x")


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.sampled_from(["a", "map", "tuple", "encoded"]), inner, max_size=3)
    ),
    max_leaves=5,
)


@settings(max_examples=30)
@given(_VALUES)
def test_any_value_comes_back(value):
    assert read(json.loads(json.dumps(write(value, None, "value"))), None, "") == value


_TASKS = st.lists(
    st.fixed_dictionaries(
        {"args": st.dictionaries(st.sampled_from(["a", "b"]), _VALUES, max_size=2), "starts": st.booleans()},
        optional={
            "times": st.integers(1, 9),
            "workers": st.integers(1, 9),
            "annotation": st.text(max_size=5),
            "source": st.sampled_from([None, "x", Idle, ("y", 1)]),
        },
    ),
    max_size=5,
)


@pytest.mark.states(
    "001: Persistence: After loading, tasks are created again by whoever is responsible; (ours) one call for packs, "
    "groups and tasks each",
)
@settings(max_examples=25)
@given(_TASKS)
def test_any_tasks_come_back_as_they_were(drawn):
    def encode(value):
        return value.__name__

    old, new = TaskGroup(Herding, name="party"), TaskGroup(Herding, name="party")
    for one in drawn:
        task = (
            old.create_task("m:feed", one["args"])
            .set_annotation(one.get("annotation", ""))
            .set_source(one.get("source"))
        )
        if "times" in one:
            task.times(one["times"])
        if "workers" in one:
            task.max_workers(one["workers"])
        if one["starts"]:
            task.start()
    saved = through_json(save_tasks(old, encode))
    restored = restore_tasks(new, saved, {"Idle": Idle}.__getitem__)
    told = ("activity", "args", "state", "remaining", "worker_limit", "annotation", "source")
    assert [[getattr(task, name) for name in told] for task in restored] == [
        [getattr(task, name) for name in told] for task in old.tasks
    ]
    assert save_tasks(new, encode) == save_tasks(old, encode)


_SAVED = st.recursive(
    st.none()
    | st.integers(-1, 2)
    | st.sampled_from(["party", "m:shear", "m:feed", "started", "ann", "m:ai_pack:play"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "group",
                    "activity",
                    "args",
                    "state",
                    "times",
                    "party",
                    "members",
                    "extensions",
                    "source",
                    "packs",
                    "map",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=16,
)


@settings(max_examples=60)
@given(_SAVED, st.booleans())
def test_whatever_was_saved_only_our_errors_come_out(saved, tells):
    agent = agent_of(actions=[Idle])
    party = TaskGroup(Herding, name="party")
    lost = (lambda error: None) if tells else None
    for restore in (
        lambda: restore_packs(agent, saved, lost=lost),
        lambda: restore_groups(party, saved, [agent], lost=lost),
        lambda: restore_tasks(party, saved, lost=lost),
    ):
        try:
            restore()
        except AgentRTError:
            pass


def test_what_is_nested_too_deep():
    deep = []
    for _ in range(100):
        deep = [deep]
    with pytest.raises(RebuildError, match="nested deeper than 64 levels"):
        read(deep, None, "")
    with pytest.raises(DefinitionError, match="nested deeper than 64 levels"):
        write(deep, None, "it")
