"""A town's book of task groups, and jobs."""

from __future__ import annotations

import gc
import json
import weakref
from types import SimpleNamespace

import pytest
from cast import Idle
from hypothesis import given, settings
from hypothesis import strategies as st

from agentrt import TOP, Action, Agent, Entity, Manifest, Registry
from agentrt.errors import DefinitionError, InvalidPackError, UnknownAliasError, UnknownTaskGroupError
from agentrt.tasks import TaskGroup, TaskGroupAction, TaskGroups, declare_task
from agentrt.testing import Simulation

FARMING = {"does": TOP, "utility": [0.5, 0.6], "tasks": [{"activity": "m:plant", "utility": 0.6}]}
HERDING = {"does": TOP, "utility": 0.4, "tasks": [{"activity": "m:feed", "utility": [0.1, 0.9], "multiple": True}]}
MORE = {"extends": "m:task_groups:farming", "tasks": [{"activity": "m:weed", "utility": 0.1}]}
PLAYER = {
    "type": "task_groups",
    "task_groups": {
        "m:task_groups:farming": FARMING,
        "other:task_groups:mining": {},
        "m:task_groups:herding": HERDING,
        "m:task_groups:more": MORE,
    },
}


class Mining(TaskGroupAction):
    does = TOP
    utility = 0.3
    tasks = (declare_task("other:mine", 0.5),)


class Plant(Action):
    does = "m:plant"
    utility = 0.5

    async def run(self, ctx, args):
        await ctx.sleep_ticks(2)


class Hum(Idle):
    """Under another name."""


REGISTRY = Registry(
    [
        Manifest(
            "m",
            {
                "actions:plant": Plant,
                "actions:hum": Hum,
                "ai_pack:farmer": {"actions": ["m:actions:plant"]},
                "task_groups:player": PLAYER,
            },
        ),
        Manifest("other", {"task_groups:mining": Mining}),
    ]
)

FARMER = {
    "name": "farmer",
    "abilities": {"injected_ai": {"actions": ["m:actions:plant"]}},
    "task_groups": ["m:task_groups:farming"],
}


def book(*sources):
    return TaskGroups(*(sources or (PLAYER,)), registry=REGISTRY)


def person(name="ann", **options):
    return Agent(Entity("human", name=name), registry=REGISTRY, **options)


def names(groups):
    return [group.name for group in groups]


# --- what it is made of -----------------------------------------------------------------------------------------------


@pytest.mark.states("001: Town task groups: Town groups are declared in a JSON file that others refer to")
def test_a_document_gives_its_groups_in_order(tmp_path):
    file = tmp_path / "player_task_groups.json"
    file.write_text(json.dumps(PLAYER))
    expected = ["m:task_groups:farming", "other:task_groups:mining", "m:task_groups:herding"]
    for source in (PLAYER, file, "m:task_groups:player"):
        town = book(source)
        assert names(town) == expected
        assert len(town) == 3
        assert "m:task_groups:herding" in town
        assert [one.activity for one in town.get_task_group("m:task_groups:farming").declarations] == [
            "m:plant",
            "m:weed",
        ]
        assert [len(one.declarations) for one in town.extensions] == [1]
    assert town.get_task_group("other:task_groups:mining").action is Mining


def test_other_sources():
    adhoc = TaskGroup(Mining, name="party")
    town = book("other:task_groups:mining", adhoc)
    assert names(town) == ["other:task_groups:mining", "party"]
    assert town.get_task_group("party") is adhoc


def test_a_later_document_extends_an_earlier_one():
    town = book()
    town.load({"task_groups": {"x:task_groups:yet": {"extends": "m:task_groups:herding", "tasks": MORE["tasks"]}}})
    assert [one.activity for one in town.get_task_group("m:task_groups:herding").declarations] == ["m:feed", "m:weed"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (
            {"m:task_groups:herding": HERDING},
            "#/task_groups/m:task_groups:herding: there is a group of that name already. Extend it under another alias.",
        ),
        (
            {"m:task_groups:x": {"extends": "m:task_groups:y", "tasks": []}, "m:task_groups:y": HERDING},
            "#/task_groups/m:task_groups:x: it extends 'm:task_groups:y', which is not declared before it.",
        ),
        (
            {"m:task_groups:new": HERDING, "m:task_groups:x": MORE},
            "#/task_groups/m:task_groups:x: extension of m:task_groups:farming: 'm:weed' is declared there already. "
            "Leave it out.",
        ),
    ],
)
def test_a_document_that_does_not_fit_changes_nothing(value, text):
    town = book()
    with pytest.raises(InvalidPackError) as caught:
        town.load({"task_groups": value})
    assert caught.value.text == text
    assert len(town) == 3
    assert [len(group.declarations) for group in town] == [2, 1, 1]


def test_sources_that_are_none():
    with pytest.raises(UnknownAliasError):
        book("m:task_groups:nobody")
    with pytest.raises(UnknownAliasError, match="other:task_groups:minning"):
        book({"task_groups": {"other:task_groups:minning": {}}})
    with pytest.raises(DefinitionError, match="Register a class derived from agentrt.tasks.TaskGroupAction"):
        book("m:actions:plant")
    with pytest.raises(DefinitionError, match="there is a group of that name in this book already"):
        book("other:task_groups:mining", "other:task_groups:mining")


def test_a_group_that_is_not_there():
    with pytest.raises(UnknownTaskGroupError) as caught:
        book().get_task_group("m:task_groups:farm")
    assert caught.value.text == (
        "the book of task groups has no task group 'm:task_groups:farm'. Did you mean 'm:task_groups:farming' or "
        "'m:task_groups:herding' or 'other:task_groups:mining'? There: "
        "m:task_groups:farming, other:task_groups:mining, m:task_groups:herding. Declare it in a document of task groups "
        "that the book loads, or correct the name."
    )


def test_destroyed_it_is_empty():
    town = book()
    ann = person()
    town.add(ann, ["m:task_groups:farming", "m:task_groups:herding"])
    group = town.get_task_group("m:task_groups:farming")
    task = group.create_task("m:plant").start()
    town.destroy()
    assert (len(town), ann.task_groups, task.state.value, town.extensions) == (0, (), "destroyed", ())
    town.destroy()


# --- members and jobs -------------------------------------------------------------------------------------------------


@pytest.mark.states("001: Injecting actions: Jobs have an abilities item")
def test_a_task_waits_for_whoever_gets_the_job():
    sim = Simulation()
    town = book()
    done = []
    town.get_task_group("m:task_groups:farming").create_task("m:plant").once().notify_completed(done.append).start()
    ann = sim.add(person(actions=[Hum]))
    sim.tick(2)
    job = town.employ(ann, FARMER)
    assert (job.title, job.groups, job.injection.source) == ("farmer", ("m:task_groups:farming",), "farmer")
    assert town.get_task_group("m:task_groups:farming").members == (ann,)
    sim.tick(4)
    assert len(done) == 1
    assert [tick for tick, _, path, _ in sim.events("start") if path.endswith("Plant")] == [3]
    job.end()
    job.end()
    sim.tick()
    assert (ann.task_groups, ann.actions) == ((), (Hum,))
    sim.close()


@pytest.mark.states("001: Town task groups: Job descriptions name the groups under task_groups ...")
def test_a_job_ends_in_the_middle_of_its_work():
    sim = Simulation()
    town = book()
    task = town.get_task_group("m:task_groups:farming").create_task("m:plant").start()
    ann = sim.add(person(actions=[Hum]))
    job = town.employ(ann, FARMER)
    sim.tick(2)
    assert task.workers == ("ann",)
    job.end()
    sim.tick(2)
    assert task.workers == ()
    assert sim.events("start")[-1] == (4, "ann", f"{TOP}/Hum", "start")
    sim.close()


@pytest.mark.states("001: Injecting actions: Jobs have an abilities item ...")
@pytest.mark.states("001: Town task groups: Job descriptions name the groups under task_groups")
@pytest.mark.parametrize(
    ("description", "actions", "groups"),
    [
        ({"abilities": "m:ai_pack:farmer"}, (Plant,), ()),
        (
            SimpleNamespace(task_groups=("m:task_groups:farming", "m:task_groups:farming")),
            (),
            ("m:task_groups:farming",),
        ),
        ({}, (), ()),
        (SimpleNamespace(abilities=SimpleNamespace(injected_ai=["m:ai_pack:farmer"]), task_groups=None), (Plant,), ()),
    ],
)
def test_what_a_description_may_have(description, actions, groups):
    ann = person()
    job = book().employ(ann, description, source="the job")
    assert (job.title, job.groups, ann.actions, tuple(names(ann.task_groups))) == ("the job", groups, actions, groups)
    assert repr(job) == "<Job 'the job' of 'ann'>"


@pytest.mark.parametrize(
    ("description", "error"),
    [
        ({**FARMER, "task_groups": ["m:task_groups:farm"]}, UnknownTaskGroupError),
        ({**FARMER, "task_groups": "m:task_groups:farming"}, DefinitionError),
        ({**FARMER, "abilities": {}}, DefinitionError),
        ({**FARMER, "abilities": {"injected_ai": "m:ai_pack:nobody"}}, UnknownAliasError),
    ],
)
def test_a_description_that_does_not_fit_changes_nothing(description, error):
    ann = person()
    with pytest.raises(error):
        book().employ(ann, description)
    assert (ann.actions, ann.task_groups, ann.injections) == ((), (), ())


def test_who_cannot_join_forgets_the_abilities():
    town, other = book(), book()
    ann = person()
    other.add(ann, ["m:task_groups:farming"])
    with pytest.raises(Exception, match="is in another group called m:task_groups:farming"):
        town.employ(ann, FARMER)
    assert ann.actions == ()


def test_an_agent_that_left_its_runtime_is_in_no_group_of_the_town():
    sim = Simulation()
    town = book()
    ann = sim.add(person())
    town.employ(ann, FARMER)
    town.employ(ann, FARMER)
    sim.tick()
    sim.runtime.remove(ann)
    sim.tick()
    assert town.get_task_group("m:task_groups:farming").members == ()
    sim.add(ann)
    town.add(ann, ["m:task_groups:farming"])
    town.remove(ann, ["m:task_groups:farming"])  # what was before counts no more
    assert town.get_task_group("m:task_groups:farming").members == ()
    sim.close()


def test_the_book_keeps_nobody_alive():
    sim = Simulation()
    town = book()
    ann = sim.add(person())
    town.employ(ann, FARMER)
    sim.tick()
    sim.runtime.remove(ann)
    sim.tick(2)
    gone = weakref.ref(ann)
    del ann
    sim.trace.clear()
    sim.close()
    gc.collect()
    assert gone() is None


JOBS = [
    FARMER,
    {"task_groups": ["m:task_groups:farming", "m:task_groups:herding"]},
    {"task_groups": ["m:task_groups:herding"], "abilities": "m:ai_pack:farmer"},
]


@settings(max_examples=60)
@given(st.lists(st.tuples(st.booleans(), st.integers(0, 5)), max_size=12))
def test_who_has_several_jobs_stays_until_the_last_of_them_ends(program):
    town, ann, jobs = book(), person(), []
    for gets, choice in program:
        if gets:
            jobs.append(town.employ(ann, JOBS[choice % 3]))
        elif jobs:
            jobs.pop(choice % len(jobs)).end()
    assert set(names(ann.task_groups)) == {name for job in jobs for name in job.groups}
    assert ann.actions == ((Plant,) if any(job.injection for job in jobs) else ())
    town.remove(ann)
    assert ann.task_groups == ()
