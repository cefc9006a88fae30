"""What was edited is taken up while a world runs; what is wrong changes nothing."""

from __future__ import annotations

import gc
import importlib
import json
import re
import sys
import textwrap
import weakref

import pytest

from agentrt import TOP, Agent, Entity, Registry, Runtime
from agentrt.activity.author.action import ActionSpec
from agentrt.kernel.trace import TraceDigest, TraceEvent
from agentrt.packs.loader import load_pack
from agentrt.record.recording import Recording
from agentrt.record.replay import replay
from agentrt.reload import Reloader
from agentrt.selection import SelectionLibrary
from agentrt.tasks import TaskGroup

WOLVES = '''
    from __future__ import annotations

    from agentrt import TOP, Action, sleep_ticks

    seen = []


    class Wolf:
        """A component."""

        def __init__(self, entity):
            self.howls = 0

        def voice(self):
            return "owoo"


    class Howl(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            seen.append("howl")
            await sleep_ticks(3)

        def stop(self, ctx, args):
            seen.append("stop")
'''


class Project:
    """A folder with modules that are imported from there."""

    def __init__(self, folder):
        self.folder = folder

    def write(self, name, text):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text), encoding="utf-8")
        return file

    def edit(self, name, before, after):
        file = self.folder / name
        text = file.read_text(encoding="utf-8")
        assert before in text
        file.write_text(text.replace(before, after), encoding="utf-8")
        return file

    def module(self, name, text):
        self.write(f"{name}.py", text)
        importlib.invalidate_caches()
        return importlib.import_module(name)


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    before = set(sys.modules)
    yield Project(tmp_path)
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", "")).startswith(str(tmp_path)):
            del sys.modules[name]


def world(project, *actions, **more):
    """One agent that knows some actions, in a runtime that runs already, and who reloads."""
    runtime = Runtime(seed=1, host="plain")
    agent = runtime.add(Agent(Entity("wolf"), actions=actions, **more))
    reloader = Reloader(runtime, project.folder)
    runtime.step()
    return runtime, agent, reloader


def taken(runtime, reloader, *files):
    """Reload some files at the next tick; what came of it."""
    found = []
    close = reloader.on_reload(found.append)
    reloader.reload(files)
    runtime.step()
    close()
    (report,) = found
    assert reloader.reports[-1] is report
    return report


# --- declared activities ------------------------------------------------------------------------------------------------

SONGS = """
    from __future__ import annotations

    from agentrt import TOP, Action, ActionArgs, Activity, ThinkOutput


    class SongArgs(ActionArgs):
        loud: int = 1


    class Song(ThinkOutput):
        text: str


    SING = Activity("wolf:sing", SongArgs, Song)
"""

SINGERS = """
    from __future__ import annotations

    from agentrt import TOP, Action, sleep_ticks
    from songs import SING, SongArgs

    seen = []


    class Sing(Action):
        does = SING
        utility = 0.5

        async def think(self, ctx, args):
            ctx.set_think_output(text=f"owoo {args}")


    class Howl(Action):
        does = TOP
        utility = 0.5

        async def run(self, ctx, args):
            seen.append((await ctx.execute(SING, loud=2)).text)
            await sleep_ticks(1)
"""


def test_what_a_declared_activity_takes_is_taken_up_by_who_performs_it(project):
    songs = project.module("songs", SONGS)
    singers = project.module("singers", SINGERS)
    sing, args = songs.SING, songs.SongArgs
    runtime, _agent, reloader = world(project, singers.Sing, singers.Howl)
    file = project.edit("songs.py", "loud: int = 1", "loud: int = 1\n    long: int = 3")
    report = taken(runtime, reloader, file)
    assert (report.error, report.changed) == ("", ("SongArgs", "SING", "Sing"))
    runtime.step()
    assert (songs.SING, singers.SING, songs.SongArgs, singers.Sing.Args) == (sing, sing, args, args)
    assert singers.Sing.spec.cls.Args.field_names() == ("loud", "long")
    file = project.edit("songs.py", "wolf:sing", "wolf:howl")
    report = taken(runtime, reloader, file)
    assert (report.error, report.changed, singers.Sing.does) == ("", ("SING", "Sing"), "wolf:howl")
    runtime.step()
    assert sorted(set(singers.seen)) == ["owoo SongArgs(loud=2)", "owoo SongArgs(loud=2, long=3)"]
    runtime.close()


# --- actions ------------------------------------------------------------------------------------------------------------


def test_an_action_that_runs_is_revoked_and_taken_up_anew(project):
    wolves = project.module("wolves", WOLVES)
    howl = wolves.Howl
    runtime, agent, reloader = world(project, howl)
    assert wolves.seen == ["howl"]
    file = project.edit("wolves.py", 'seen.append("howl")', 'seen.append("HOWL")')
    report = taken(runtime, reloader, file)
    assert report[1:] == (("wolves.py",), ("Howl",), (), ("wolf",), "", (), ("class",))
    assert str(report) == "reloaded wolves.py: Howl; 1 agent took it up"
    runtime.step()
    assert wolves.seen == ["howl", "stop", "HOWL"]  # the list is what it was
    assert wolves.Howl is howl
    assert agent.actions == (howl,)
    assert howl.spec.cls is howl
    runtime.close()


@pytest.mark.parametrize("holds", ["before", "meanwhile"])
def test_who_holds_the_injection_of_an_agent_holds_it_still(project, monkeypatch, holds):
    wolves = project.module("wolves", WOLVES + "\n    class Sleep(Howl):\n        utility = 0.1\n")
    runtime, agent, reloader = world(project, wolves.Howl, wolves.Sleep)
    held = list(agent.injections) if holds == "before" else []
    relearn = Agent.relearn

    def relearn_and_look(agent, renewed):
        commit = relearn(agent, renewed)
        held.extend(agent.injections if holds == "meanwhile" else ())
        return commit

    monkeypatch.setattr(Agent, "relearn", relearn_and_look)
    text = project.folder.joinpath("wolves.py").read_text()
    project.write("wolves.py", text.partition("class Sleep")[0])
    taken(runtime, reloader, project.folder / "wolves.py")
    assert [one is agent.injections[0] for one in held] == [True]
    assert held[0].actions == held[0].loaded == agent.actions == (wolves.Howl,)
    held[0].revoke()
    runtime.step()
    assert agent.actions == ()


def test_what_reads_as_before_goes_on(project):
    wolves = project.module("wolves", WOLVES)
    runtime, _agent, reloader = world(project, wolves.Howl)
    spec = wolves.Howl.spec
    file = project.edit("wolves.py", "owoo", "woof")
    report = taken(runtime, reloader, file)
    assert (report.changed, report.agents) == (("Wolf",), ())
    for _ in range(6):
        runtime.step()
    assert wolves.seen[:3] == ["howl", "stop", "howl"]  # it came to its end
    assert wolves.Howl.spec is spec
    runtime.close()


def test_instances_that_are_held_have_the_new_code_and_their_state(project):
    wolves = project.module("wolves", WOLVES)
    runtime, agent, reloader = world(project, wolves.Howl)
    wolf = wolves.Wolf(agent.entity)
    wolf.howls = 7
    agent.entity.add(wolf)
    taken(runtime, reloader, project.edit("wolves.py", '"owoo"', 'f"woof {self.howls}"'))
    assert wolf.voice() == "woof 7"
    assert agent.entity.get(wolves.Wolf) is wolf
    runtime.close()


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("def stop(self, ctx, args):", "def stop(self, ctx, args:", r"wolves\.py:\d+: "),
        ("utility = 0.5", "utility = 5", r"wolves\.py:19: .*utility"),
        ("utility = 0.5", "utility = nothing", r"wolves\.py:21: .*NameError.*nothing"),
        ("seen = []", "import no_such_module", r"wolves\.py:6: ModuleNotFoundError"),
        ("seen = []", "raise SystemError('no')", r"wolves\.py:6: SystemError: no"),
        ("seen = []", "return 1", r"wolves\.py:6: 'return' outside function"),
    ],
)
def test_what_is_wrong_changes_nothing(project, before, after, told):
    wolves = project.module("wolves", WOLVES)
    runtime, _agent, reloader = world(project, wolves.Howl)
    names, code = dict(vars(wolves)), wolves.Wolf.voice.__code__
    project.edit("wolves.py", "owoo", "woof")
    report = taken(runtime, reloader, project.edit("wolves.py", before, after))
    assert not report.ok
    assert report.changed == report.agents == ()

    assert re.search(told, report.error), report.error
    assert {name: value for name, value in vars(wolves).items() if name != "__builtins__"} == {
        name: value for name, value in names.items() if name != "__builtins__"
    }
    assert wolves.Wolf.voice.__code__ is code
    for _ in range(4):
        runtime.step()
    assert wolves.seen[:3] == ["howl", "stop", "howl"]
    report = taken(runtime, reloader, project.edit("wolves.py", after, before))  # it is mended
    assert (report.error, report.changed) == ("", ("Wolf",))
    runtime.close()


def test_actions_that_do_not_fit_together_change_nothing(project):
    wolves = project.module(
        "wolves",
        """
        from agentrt import TOP, Action, ActionArgs, CompoundAction, step

        class Bite(Action):
            does = "w:bite"
            utility = 1
            class Args(ActionArgs):
                depth: int

        class Snap(Action):
            does = "w:bite"
            utility = 1
            Args = Bite.Args

        class Hunt(CompoundAction):
            does = TOP
            utility = 1
            steps = [step("w:bite", depth=1)]
        """,
    )
    runtime, agent, reloader = world(project, wolves.Bite, wolves.Snap, wolves.Hunt)
    args = wolves.Bite.Args
    report = taken(runtime, reloader, project.edit("wolves.py", "depth: int", "deep: int"))
    assert "argument 'depth': the activity does not take it" in report.error
    assert wolves.Bite.Args is wolves.Snap.Args is args
    project.edit("wolves.py", "depth=1", "deep=1")
    report = taken(runtime, reloader, project.folder / "wolves.py")
    assert (report.error, report.changed) == ("", ("Bite", "Snap", "Hunt"))
    assert agent.is_alive
    runtime.close()


def test_a_class_that_is_gone_is_forgotten_and_a_new_name_is_another_class(project):
    wolves = project.module("wolves", WOLVES)
    runtime, agent, reloader = world(project, wolves.Howl)
    report = taken(runtime, reloader, project.edit("wolves.py", "class Howl", "class Yowl"))
    assert (report.removed, report.agents, agent.actions) == (("Howl",), ("wolf",), ())
    assert str(report) == "reloaded wolves.py: Yowl; gone: Howl; 1 agent took it up"
    runtime.step()
    assert wolves.seen == ["howl", "stop"]
    assert agent.is_alive
    runtime.close()


def test_who_derives_from_a_class_is_read_again_in_other_modules_too(project):
    project.module("beasts", "from agentrt import TOP, Action\nclass Beast(Action):\n    utility = 0.25\n")
    wolves = project.module(
        "wolves",
        """
        import beasts
        from beasts import Beast

        class Howl(Beast):
            does = beasts.TOP

        class Yowl(beasts.Beast):
            does = beasts.TOP
        """,
    )
    runtime, _agent, reloader = world(project, wolves.Howl, wolves.Yowl)
    report = taken(runtime, reloader, project.edit("beasts.py", "0.25", "0.75"))
    assert (report.changed, report.agents) == (("Beast", "Howl", "Yowl"), ("wolf",))
    assert (wolves.Howl.spec.low, wolves.Yowl.spec.low) == (0.75, 0.75)
    runtime.close()


def test_super_finds_the_class_and_bases_may_change(project):
    wolves = project.module(
        "wolves",
        """
        class Beast:
            def voice(self):
                return "grr"

        class Bird:
            def voice(self):
                return "tweet"

        class Wolf(Beast):
            def voice(self):
                return "wolf " + super().voice()
        """,
    )
    wolf = wolves.Wolf()
    runtime, _agent, reloader = world(project)
    taken(runtime, reloader, project.edit("wolves.py", '"wolf "', '"WOLF "'))
    assert wolf.voice() == "WOLF grr"
    assert taken(runtime, reloader, project.edit("wolves.py", "Wolf(Beast)", "Wolf(Bird)")).ok
    assert wolf.voice() == "WOLF tweet"
    report = taken(runtime, reloader, project.edit("wolves.py", "class Wolf(Bird):", "class Wolf(int):"))
    assert "do not fit" in report.error
    assert wolf.voice() == "WOLF tweet"
    runtime.close()


def test_what_is_computed_of_what_changed_is_computed_again_and_nothing_else(project):
    rules = project.module("rules", "def far(): return 3\nLIMIT = 5\nstate = {'days': 0}\n")
    wolves = project.module(
        "wolves",
        """
        import rules
        from rules import LIMIT, far

        REACH = far() + 1
        TWICE = LIMIT * 2
        ALSO = rules.LIMIT
        kept = {"howls": 0}
        ways = [far]

        def reach():
            return REACH
        """,
    )
    rules.state["days"] = wolves.kept["howls"] = 9
    runtime, _agent, reloader = world(project)
    function = rules.far
    project.edit("rules.py", "return 3", "return 30")
    report = taken(runtime, reloader, project.edit("rules.py", "LIMIT = 5", "LIMIT = 6"))
    assert report.changed == ("far", "LIMIT", "REACH", "TWICE", "ALSO")
    assert (wolves.REACH, wolves.reach(), wolves.TWICE, wolves.ALSO, wolves.LIMIT) == (31, 31, 12, 6, 6)
    assert wolves.ways == [function]
    assert wolves.far is rules.far is function
    assert (rules.state, wolves.kept) == ({"days": 9}, {"howls": 9})
    runtime.close()


# --- packs, groups, components, observers -------------------------------------------------------------------------------

PACKED = """
    from pathlib import Path

    from agentrt import TOP, Action, Manifest, sleep_ticks
    from agentrt.tasks import TaskGroupAction, declare_multiple_tasks, declare_task

    HERE = Path(__file__).parent
    seen = []


    class Howl(Action):
        does = TOP
        utility = 0.1


    class Dig(Action):
        does = "w:dig"
        utility = 1

        async def run(self, ctx, args):
            await sleep_ticks(100)


    class Chores(TaskGroupAction):
        does = TOP
        utility = 0.5
        tasks = [declare_multiple_tasks("w:dig", 0.5)]


    class Fur:
        def __init__(self, entity, color="gray"):
            self.color, self.days = color, 0


    async def watch(agent):
        seen.append("watch")
        try:
            await sleep_ticks(1000)
        finally:
            seen.append("over")


    manifest = Manifest(
        "w",
        {
            "actions:howl": Howl,
            "actions:dig": Dig,
            "components:fur": Fur,
            "observers:watch": watch,
            "task_groups:chores": Chores,
            "task_groups:more": HERE / "groups.json",
            "ai_pack:core": HERE / "core.json",
        },
    )
"""
CORE = {
    "actions": ["w:actions:howl", "w:actions:dig"],
    "components": {"w:components:fur": {"color": "gray"}},
    "observers": ["w:observers:watch"],
    "task_groups": ["w:task_groups:chores", "w:task_groups:more"],
}
GROUPS = {
    "task_groups": {
        "w:task_groups:more": {
            "does": TOP,
            "utility": 0.4,
            "tasks": [{"activity": "w:dig", "utility": 0.5, "multiple": True}],
        }
    }
}


def packed(project):
    project.write("core.json", json.dumps(CORE))
    project.write("groups.json", json.dumps(GROUPS))
    wolves = project.module("wolves", PACKED)
    runtime = Runtime(seed=1, host="plain")
    agent = runtime.add(Agent(Entity("wolf"), packs=["w:ai_pack:core"], registry=Registry([wolves.manifest])))
    reloader = Reloader(runtime, project.folder)
    runtime.step()
    return wolves, runtime, agent, reloader


def test_a_pack_is_taken_up_by_who_has_it(project):
    wolves, runtime, agent, reloader = packed(project)
    fur = agent.entity.get(wolves.Fur)
    fur.days = 3
    file = project.write("core.json", json.dumps({**CORE, "actions": ["w:actions:dig"]}))
    report = taken(runtime, reloader, file)
    assert report[1:] == (("core.json",), ("core.json",), (), ("wolf",), "", (), ("pack",))
    assert agent.actions == (wolves.Dig,)
    assert agent.entity.get(wolves.Fur) is fur
    assert wolves.seen == ["watch"]  # it goes on
    settings = {**CORE, "components": {"w:components:fur": {"color": "white"}}}
    taken(runtime, reloader, project.write("core.json", json.dumps(settings)))
    assert (agent.entity.get(wolves.Fur).color, agent.entity.get(wolves.Fur).days) == ("white", 0)  # made anew
    taken(runtime, reloader, project.write("core.json", json.dumps({})))
    assert agent.actions == ()
    assert agent.entity.get(wolves.Fur) is None
    assert wolves.seen == ["watch", "over"]
    assert agent.task_groups == ()
    runtime.close()


@pytest.mark.parametrize(
    "text", ["{", '{"actions": ["w:actions:nobody"]}', '{"actions": 3}', "", '{"ai_packs": ["w:ai_pack:core"]}']
)
def test_a_pack_that_is_wrong_changes_nothing(project, text):
    wolves, runtime, agent, reloader = packed(project)
    file = project.write("core.json", text)
    report = taken(runtime, reloader, file)
    assert "core.json" in report.error
    assert agent.actions == (wolves.Howl, wolves.Dig)
    assert agent.registry.pack("w:ai_pack:core").actions[0].alias == "w:actions:howl"  # what was read before
    runtime.close()


def test_a_manifest_that_changed_is_registered_anew(project):
    wolves, runtime, agent, reloader = packed(project)
    project.edit("wolves.py", "class Howl(Action)", "class Yowl(Action)")
    report = taken(runtime, reloader, project.edit("wolves.py", '"actions:howl": Howl', '"actions:howl": Yowl'))
    assert report.error == ""
    assert report.removed == ("Howl",)
    assert agent.actions == (wolves.Yowl, wolves.Dig)
    project.edit("wolves.py", '"actions:dig": Dig,', "")
    report = taken(runtime, reloader, project.folder / "wolves.py")
    assert "w:actions:dig" in report.error
    assert agent.actions == (wolves.Yowl, wolves.Dig)
    assert agent.registry.get("w:actions:dig") is wolves.Dig
    runtime.close()


def test_an_observer_that_changed_begins_anew(project):
    wolves, runtime, _agent, reloader = packed(project)
    report = taken(runtime, reloader, project.edit("wolves.py", 'append("watch")', 'append("WATCH")'))
    assert (report.changed, report.agents) == (("watch",), ("wolf",))
    runtime.step()
    assert wolves.seen == ["watch", "over", "WATCH"]
    runtime.close()


def test_task_groups_keep_the_tasks_that_they_still_declare(project):
    _wolves, runtime, agent, reloader = packed(project)
    chores = agent.get_task_group("w:task_groups:chores")
    more = agent.get_task_group("w:task_groups:more")
    one = chores.create_task("w:dig").start()
    two = more.create_task("w:dig").start()
    for _ in range(3):
        runtime.step()
    assert one.workers == ("wolf",)
    report = taken(runtime, reloader, project.edit("wolves.py", "utility = 0.5", "utility = 0.3"))
    assert (report.error, report.changed, report.agents) == ("", ("Chores",), ("wolf",))
    for _ in range(3):
        runtime.step()
    assert agent.get_task_group("w:task_groups:chores") is chores
    assert (one.is_over, one.workers, two.workers) == (False, (), ("wolf",))
    groups = json.loads(json.dumps(GROUPS).replace("0.4", "0.2"))
    report = taken(runtime, reloader, project.write("groups.json", json.dumps(groups)))
    assert (report.error, report.agents) == ("", ("wolf",))
    for _ in range(3):
        runtime.step()
    assert agent.get_task_group("w:task_groups:more") is more
    assert (two.is_over, one.workers, two.workers) == (False, ("wolf",), ())
    groups["task_groups"]["w:task_groups:more"]["tasks"][0]["activity"] = "w:bury"
    taken(runtime, reloader, project.write("groups.json", json.dumps(groups)))
    runtime.step()
    assert (one.is_over, two.is_over) == (False, True)
    runtime.close()


def test_shared_groups_and_packs_from_files_too(project):
    wolves = project.module("wolves", PACKED)
    file = project.write("own.json", '{"actions": ["w:actions:howl"]}')
    runtime = Runtime(seed=1, host="plain")
    registry = Registry([wolves.manifest])
    group = TaskGroup(wolves.Chores)
    agents = [
        runtime.add(Agent(Entity("wolf"), packs=[load_pack(file)], actions=[wolves.Dig], registry=registry))
        for _ in "ab"
    ]
    for agent in agents:
        group.add(agent)
    reloader = Reloader(runtime, project.folder)
    task = group.create_task("w:dig").start()
    for _ in range(3):
        runtime.step()
    report = taken(runtime, reloader, project.edit("wolves.py", "utility = 0.5", "utility = 0.6"))
    assert report.agents == ("wolf", "wolf 2")
    for _ in range(3):
        runtime.step()
    assert len(task.workers) == 2
    report = taken(runtime, reloader, project.write("own.json", '{"actions": []}'))
    assert (report.error, report.agents) == ("", ("wolf", "wolf 2"))
    assert [agent.actions for agent in agents] == [(wolves.Dig,)] * 2
    runtime.close()


# --- the other models ---------------------------------------------------------------------------------------------------

MODELS = """
    from agentrt import sleep_ticks
    from agentrt.behavior import Behavior, BehaviorTree, decider, group
    from agentrt.goals import Goal
    from agentrt.selection import LeafBehavior

    seen = []


    class Sniff(Goal):
        flags = ["MOVE"]

        def __init__(self):
            self.times = 0

        def can_use(self):
            return True

        def start(self):
            self.times += 1
            seen.append(("sniff", self.times))

        def stop(self):
            seen.append("sniffed")


    class Run(Behavior):
        def activate(self, at):
            seen.append("run")

        def deactivate(self, at):
            seen.append("ran")


    class Rest(LeafBehavior):
        def constructor(self, ai):
            seen.append("rest")

        def destructor(self, ai):
            seen.append("rested")


    def tired(memory):
        return 1.0


    TREE = BehaviorTree(group("ROOT")[decider("RUN", Run, decide=tired)])
"""
XML = """
    <SelectionTrees><SelectionTree name="Wolf" type="BehaviorSelectionTree">
      <Variables><Variable name="Late"/></Variables>
      <Priority name="Root"><Leaf name="{first}" condition="Late"/><Leaf name="{second}"/></Priority>
    </SelectionTree></SelectionTrees>
"""


def driven(project, driver):
    runtime = Runtime(seed=1, host="plain")
    runtime.add(Agent(Entity("wolf"), drivers=[driver]))
    reloader = Reloader(runtime, project.folder)
    runtime.step()
    return runtime, reloader


def test_a_goal_that_runs_is_stopped_and_begins_anew_with_its_state(project):
    from agentrt.goals import GoalSelector

    models = project.module("models", MODELS)
    selector = GoalSelector(full_ticks=True)
    wrapped = selector.add_goal(1, models.Sniff())
    runtime, reloader = driven(project, selector)
    project.edit("models.py", '["MOVE"]', '["LOOK"]')
    report = taken(runtime, reloader, project.edit("models.py", '("sniff",', '("SNIFF",'))
    assert (report.error, report.changed, report.agents) == ("", ("Sniff",), ("wolf",))
    assert models.seen == [("sniff", 1), "sniffed", ("SNIFF", 2)]
    assert wrapped.flags == ("LOOK",)
    assert tuple(selector.locked_flags) == ("LOOK",)
    runtime.close()


def test_models_to_which_actions_hand_the_body_are_taken_up_too(project):
    from agentrt.bridges import DriverAction
    from agentrt.goals import GoalSelector

    models = project.module("models", MODELS)
    project.write("wolf.xml", XML.format(first="Sleep", second="Rest"))
    library = SelectionLibrary.load(project.folder)

    class Lends(DriverAction):
        does = TOP
        utility = 0.5

        def make_driver(self, ctx, args):
            selector = GoalSelector(full_ticks=True)
            selector.add_goal(1, models.Sniff())
            return {
                "goals": lambda: selector,
                "tree": models.TREE.memory,
                "selection": lambda: library["Wolf"].state({"Rest": models.Rest, "Roam": models.Rest()}),
            }[ctx.entity.name]()

    runtime = Runtime(seed=1, host="plain")
    for name in ("goals", "tree", "selection"):
        runtime.add(Agent(Entity(name, name=name), actions=[Lends]))
    reloader = Reloader(runtime, project.folder)
    runtime.step()
    assert models.seen == [("sniff", 1), "run", "rest"]
    for before, after in (('("sniff",', '("SNIFF",'), ('append("run")', 'append("RUN")'), ('"rest"', '"REST"')):
        project.edit("models.py", before, after)
    report = taken(runtime, reloader, project.folder / "models.py")
    assert (report.error, report.agents) == ("", ("goals", "tree", "selection"))
    assert sorted(models.seen[3:], key=str) == [("SNIFF", 2), "REST", "RUN", "ran", "rested", "sniffed"]
    report = taken(runtime, reloader, project.write("wolf.xml", XML.format(first="Sleep", second="Roam")))
    assert (report.changed, report.agents) == (("Wolf",), ("selection",))
    runtime.close()


def test_each_of_two_runtimes_has_a_reloader_of_its_own(project):
    wolves = project.module("wolves", WOLVES)
    worlds = [world(project, wolves.Howl) for _ in range(2)]
    file = project.edit("wolves.py", 'append("howl")', 'append("HOWL")')
    for runtime, _, reloader in worlds:
        report = taken(runtime, reloader, file)
        assert (report.error, report.changed, report.agents) == ("", ("Howl",), ("wolf",))
        runtime.step()
    assert wolves.seen == ["howl", "howl", "stop", "HOWL", "stop", "HOWL"]


def test_a_tree_and_its_behaviors_are_taken_up(project):
    models = project.module("models", MODELS)
    tree = models.TREE
    memory = tree.memory()
    runtime, reloader = driven(project, memory)
    report = taken(runtime, reloader, project.edit("models.py", 'append("run")', 'append("RUN")'))
    assert (report.error, report.changed, report.agents) == ("", ("Run",), ("wolf",))
    assert models.seen == ["run", "ran", "RUN"]
    report = taken(runtime, reloader, project.edit("models.py", 'decider("RUN", Run', 'decider("FLEE", Run, every=1.0'))
    assert (report.error, report.changed, report.agents) == ("", ("TREE",), ("wolf",))
    assert models.TREE is tree
    assert memory.active_path == ("ROOT", "FLEE")
    assert len(memory.timers) == 1
    report = taken(runtime, reloader, project.edit("models.py", "return 1.0", "return 0.0"))
    assert (report.changed, report.agents) == (("tired",), ())
    report = taken(runtime, reloader, project.edit("models.py", 'group("ROOT")[', 'group("ROOT")["NOBODY", '))
    assert "NOBODY" in report.error
    assert memory.active_path == ("ROOT", "FLEE")
    runtime.close()


def test_a_selection_tree_and_its_behaviors_are_taken_up(project, caplog):
    models = project.module("models", MODELS)
    file = project.write("wolf.xml", XML.format(first="Sleep", second="Rest"))
    library = SelectionLibrary.load(project.folder)
    state = library["Wolf"].state({"Rest": models.Rest, "Roam": models.Rest()})
    runtime, reloader = driven(project, state)
    report = taken(runtime, reloader, project.edit("models.py", 'append("rest")', 'append("REST")'))
    assert (report.error, report.changed, report.agents) == ("", ("Rest",), ("wolf",))
    assert models.seen == ["rest", "rested", "REST"]
    report = taken(runtime, reloader, project.write("wolf.xml", XML.format(first="Sleep", second="Roam")))
    assert (report.changed, report.agents, report.notes) == (("Wolf",), ("wolf",), ())
    assert state.behavior == "Roam"
    file.write_text("<SelectionTrees><Sel")
    code = project.edit("models.py", 'append("REST")', 'append("Rest")')
    report = taken(runtime, reloader, file, code)
    assert report.error.startswith("[ART220] wolf.xml:1: it is not XML"), report.error
    assert (report.changed, report.agents) == ((), ())  # all or nothing
    (logged,) = [record.getMessage() for record in caplog.records]
    assert "not reloaded wolf.xml, models.py, the old code goes on: [ART220] wolf.xml:1: it is not XML" in logged
    assert (state.behavior, models.seen[-1]) == ("Roam", "REST")
    # Other edits are taken meanwhile; that of the tree, and what came with it, when it is mended.
    other = project.write("hare.xml", XML.format(first="Sleep", second="Rest").replace('"Wolf"', '"Hare"'))
    report = taken(runtime, reloader, other)
    assert (report.error, report.files, report.changed) == ("", ("hare.xml",), ("Hare",))
    report = taken(runtime, reloader, project.write("wolf.xml", XML.format(first="Sleep", second="Rest")))
    assert (report.error, report.files) == ("", ("models.py", "wolf.xml"))
    assert report.changed == ("Rest", "Wolf")
    assert (state.behavior, models.seen[-1]) == ("Rest", "Rest")
    runtime.close()


def test_a_block_that_others_lack_is_refused(project):
    models = project.module("models", MODELS)
    project.write("wolf.xml", XML.format(first="Sleep", second="Rest").replace("<Leaf", '<Ref name="More"/><Leaf', 1))
    more = '<Blocks><Block name="{}"><Leaf name="Roam" condition="Late"/></Block></Blocks>'
    blocks = project.write("blocks.xml", more.format("More"))
    library = SelectionLibrary.load(project.folder, mode="compatible")
    tree = library["Wolf"]
    state = tree.state({"Rest": models.Rest, "Roam": models.Rest()})
    runtime, reloader = driven(project, state)
    program = tree.program
    report = taken(runtime, reloader, project.write("blocks.xml", "<Blocks><Block>"))
    assert report.error.startswith("[ART220] blocks.xml:1: "), report.error
    assert tree.program is program
    assert blocks.is_file()
    runtime.close()


def test_what_was_edited_while_it_is_paused_waits_and_is_told(project):
    wolves = project.module("wolves", WOLVES)
    runtime, _agent, reloader = world(project, wolves.Howl)
    runtime.gate.pause()
    reloader.reload([project.edit("wolves.py", "owoo", "one"), project.folder / "notes.txt"])
    runtime.step()
    assert reloader.waiting == ("wolves.py",)
    runtime.gate.step()
    runtime.step()
    assert reloader.waiting == ()
    assert reloader.reports[-1].changed == ("Wolf",)
    runtime.close()


def test_a_document_that_is_told_of_and_watched_is_taken_up_once(project):
    models = project.module("models", MODELS)
    file = project.write("wolf.xml", XML.format(first="Sleep", second="Rest"))
    state = SelectionLibrary.load(project.folder)["Wolf"].state({"Rest": models.Rest, "Roam": models.Rest()})
    runtime, reloader = driven(project, state)
    file.write_text("<SelectionTrees><Sel")
    reloader.reload([file])
    reloader._post([file], is_watched=True)
    runtime.step()
    assert len(reloader.reports) == 1
    file.write_text("<SelectionTrees>")
    reloader._post([file], is_watched=True)
    runtime.step()
    assert len(reloader.reports) == 2
    runtime.close()


def test_it_knows_where_things_are_written(project):
    models = project.module(
        "models",
        MODELS
        + """
    class Outer:
        class Inner:
            pass
    """,
    )
    runtime, reloader = driven(project, models.TREE.memory())
    lines = (project.folder / "models.py").read_text().splitlines()

    def line(begin):
        return next(number for number, one in enumerate(lines, 1) if one.lstrip().startswith(begin))

    assert reloader.place_of(models.Rest) == ("models.py", line("class Rest"))
    assert reloader.place_of(models.Outer.Inner) == ("models.py", line("class Inner"))
    assert reloader.place_of(models.TREE) == ("models.py", line("TREE"))
    assert reloader.place_of(Agent) is None
    assert reloader.place_of(object()) is None
    runtime.close()


def test_strategies_and_dependencies_are_taken_up(project):
    ways = project.module(
        "ways",
        """
        from agentrt.strategy import Dependency, Strategy

        class Warm(Dependency):
            pass

        class Fire(Strategy):
            provides = Warm
            cost = 1.0
            async def run(self, ctx, wanted):
                return "fire"
        """,
    )
    runtime, agent, reloader = world(project)
    agent.gameplay.add_strategy(ways.Fire)
    answers = []

    async def ask():
        answers.append(await agent.gameplay.warm())

    runtime.spawn(ask)
    for _ in range(4):
        runtime.step()
    report = taken(runtime, reloader, project.edit("ways.py", '"fire"', '"FIRE"'))
    assert (report.error, report.changed, report.agents) == ("", ("Fire",), ("wolf",))
    taken(runtime, reloader, project.edit("ways.py", "cost = 1.0", "cost = 8.0"))
    assert agent.gameplay.cost(ways.Warm()) == 8.0
    runtime.spawn(ask)
    for _ in range(4):
        runtime.step()
    assert answers == ["fire", "FIRE"]
    runtime.close()


# --- files --------------------------------------------------------------------------------------------------------------


def test_an_empty_file_is_half_written_and_one_that_is_gone_stays(project):
    wolves = project.module("wolves", WOLVES)
    runtime, agent, reloader = world(project, wolves.Howl)
    file = project.folder / "wolves.py"
    text = file.read_text()
    file.write_text("")
    assert "half written" in taken(runtime, reloader, file).error
    file.unlink()
    reloader.reload([file])
    runtime.step()
    assert agent.actions == (wolves.Howl,)
    file.write_text(text.replace("owoo", "woof"))
    assert taken(runtime, reloader, file).changed == ("Wolf",)
    runtime.close()


def test_other_files_and_files_outside_are_passed_over(project, tmp_path_factory):
    wolves = project.module("wolves", WOLVES)
    runtime, _agent, reloader = world(project, wolves.Howl)
    outside = tmp_path_factory.mktemp("outside") / "wolves.py"
    outside.write_text("raise SystemError")
    hidden = project.write(".venv/lib/site-packages/x.py", "raise SystemError")
    notes = project.write("notes.txt", "no")
    saved = project.write("saved.json", "{}")  # no pack of anybody's
    unknown = project.write("nobody.py", "raise SystemError")
    reloader.reload([outside, hidden, notes, saved, unknown, project.folder / "no.py", project.folder])
    reloader.reload([])
    reloader.reload([project.folder / "wolves.py"])  # it is as it was
    runtime.step()
    assert list(reloader.reports) == []
    runtime.close()


def test_a_new_module_is_imported_by_who_is_edited_and_forgotten_if_that_fails(project):
    wolves = project.module("wolves", WOLVES)
    runtime, _agent, reloader = world(project, wolves.Howl)
    project.write("pack.py", "x = 1\n")
    importlib.invalidate_caches()
    project.edit("wolves.py", "seen = []", "seen = []\nimport pack\nassert pack.x == 2")
    assert "AssertionError" in taken(runtime, reloader, project.folder / "wolves.py").error
    assert "pack" not in sys.modules
    project.write("pack.py", "x = 2\n")
    importlib.invalidate_caches()
    assert taken(runtime, reloader, project.folder / "wolves.py").ok
    assert wolves.pack.x == 2
    runtime.close()


def test_two_quick_edits_and_one_while_paused(project):
    wolves = project.module("wolves", WOLVES)
    runtime, _agent, reloader = world(project, wolves.Howl)
    file = project.edit("wolves.py", "owoo", "one")
    reloader.reload([file])
    project.edit("wolves.py", "one", "two")
    reloader.reload([file])
    runtime.step()
    assert [report.changed for report in reloader.reports] == [("Wolf",)]  # the second found nothing new
    runtime.gate.pause()
    reloader.reload([project.edit("wolves.py", "two", "three")])
    runtime.step()
    assert len(reloader.reports) == 1
    runtime.gate.resume()
    runtime.step()
    assert len(reloader.reports) == 2
    reloader.reload([project.edit("wolves.py", "three", "four")])
    runtime.close()
    assert wolves.Wolf(None).voice() in ("three", "four")


# --- recordings ---------------------------------------------------------------------------------------------------------


def makes_a_wolf(wolves):
    def make(*, seed, host):
        runtime = Runtime(seed=seed, host=host)
        runtime.add(Agent(Entity("wolf"), actions=[wolves.Howl]))
        return runtime

    return make


def test_a_recording_notes_it_and_a_replay_ends_there(project, tmp_path):
    wolves = project.module("wolves", WOLVES)

    make = makes_a_wolf(wolves)
    runtime = make(seed=1, host="plain")
    reloader = Reloader(runtime, project.folder)
    path = tmp_path / "run.agrt"
    with runtime.record(path):
        for _ in range(5):
            runtime.step()
        taken(runtime, reloader, project.edit("wolves.py", "sleep_ticks(3)", "sleep_ticks(2)"))
        runtime.step()
    runtime.close()
    with Recording.open(path) as recording:
        (one,) = recording.inputs()
        assert (one.tick, one.place, one.kind, one.name) == (6, 0, "reloaded", "wolves.py")
        assert one.args["changed"] == ["Howl"]
        assert len(one.args["files"]["wolves.py"]) == 32
        assert recording.unreplayable == ["in tick 6 its code was changed (wolves.py): it ends before that"]
    project.edit("wolves.py", "sleep_ticks(2)", "sleep_ticks(3)")
    del sys.modules["wolves"]
    importlib.invalidate_caches()
    report = replay(path, makes_a_wolf(importlib.import_module("wolves")))
    assert (report.tick, report.wanted, report.compared) == (5, 7, 5)
    assert "the code was changed here: wolves.py (Howl)" in report.as_text()


@pytest.mark.states(
    "tools: Recording: An edit that was refused, or taken back, is kept to be shown, and is no part of the run: a "
    "replay goes on",
)
def test_a_recording_keeps_what_was_refused_and_a_replay_goes_on(project, tmp_path):
    wolves = project.module("wolves", WOLVES)

    make = makes_a_wolf(wolves)
    runtime = make(seed=1, host="plain")
    reloader = Reloader(runtime, project.folder)
    path = tmp_path / "run.agrt"
    with runtime.record(path):
        runtime.step()
        refused = taken(runtime, reloader, project.edit("wolves.py", "utility = 0.5", "utility = 5"))
        runtime.step()
        mended = taken(runtime, reloader, project.edit("wolves.py", "utility = 5", "utility = 0.5"))
        taken(runtime, reloader, project.edit("wolves.py", "seen = []", "seen = []  # by day"))
        for _ in range(5):
            runtime.step()
    runtime.close()
    assert re.match(r"wolves\.py:1\d: .*utility is 5", refused.error), refused.error
    assert (mended.tick, mended.files, mended.error, mended.changes_code) == (4, ("wolves.py",), "", False)
    with Recording.open(path) as recording:
        assert recording.unreplayable == []
        assert [(one.tick, one.kind, one.name) for one in recording.inputs()] == [
            (2, "edited", "wolves.py"), (4, "edited", "wolves.py"),
        ]  # fmt: skip
        assert recording.reloads() == [refused, mended]
    report = replay(path, make)
    assert (report.is_same, report.tick, report.wanted) == (True, 10, 10)


def test_an_edit_that_is_taken_back_is_told_of_once(project):
    wolves = project.module("wolves", WOLVES)
    runtime, _agent, reloader = world(project, wolves.Howl)
    taken(runtime, reloader, project.edit("wolves.py", "owoo", "owoo("))  # fine, to begin with
    file = project.edit("wolves.py", "seen = []", "seen = [")
    assert not taken(runtime, reloader, file).ok
    project.edit("wolves.py", "seen = [", "seen = []")
    report = taken(runtime, reloader, file)
    assert (report.ok, report.files, report.changed, report.agents) == (True, ("wolves.py",), (), ())
    reloader.reload([file])
    runtime.step()
    assert reloader.reports[-1] is report
    assert list(runtime.reloads) == list(reloader.reports)
    runtime.close()


def test_what_was_saved_with_a_mistake_is_taken_when_that_is_mended(project):
    wolves = project.module("wolves", WOLVES)
    cats, lone = project.module("cats", WOLVES), project.module("lone", WOLVES)
    runtime, _agent, reloader = world(project, wolves.Howl)
    wolf, cat = project.edit("wolves.py", "seen = []", "seen = ["), project.edit("cats.py", "owoo", "meow")
    report = taken(runtime, reloader, wolf, cat)
    assert re.match(r"wolves\.py:\d+: '\[' was never closed", report.error), report.error
    assert report.files == ("wolves.py", "cats.py")
    assert cats.Wolf(None).voice() == "owoo"
    # Others are taken meanwhile, and what is refused waits on.
    report = taken(runtime, reloader, project.edit("lone.py", "owoo", "woof"))
    assert (report.error, report.files, report.changed) == ("", ("lone.py",), ("Wolf",))
    assert (lone.Wolf(None).voice(), cats.Wolf(None).voice()) == ("woof", "owoo")
    project.edit("wolves.py", "seen = [", "seen = []")
    report = taken(runtime, reloader, wolf)
    assert (report.error, report.files, report.changed) == ("", ("cats.py", "wolves.py"), ("Wolf",))
    assert cats.Wolf(None).voice() == "meow"
    runtime.close()


def test_it_says_what_kind_of_thing_changed(project):
    models = project.module("models", MODELS)
    runtime, reloader = driven(project, models.TREE.memory())
    project.edit("models.py", "return 1.0", "return 0.5")
    project.edit("models.py", 'append("run")', 'append("RUN")')
    project.edit("models.py", 'decider("RUN", Run', 'decider("FLEE", Run')
    project.edit("models.py", "seen = []", "seen = ['']")
    report = taken(runtime, reloader, project.folder / "models.py")
    kinds = dict(zip(report.changed, report.kinds, strict=True))
    assert {"tired": "function", "Run": "class", "TREE": "tree", "seen": "value"}.items() <= kinds.items()
    runtime.close()


def test_a_comment_is_told_and_is_no_part_of_the_run(project, tmp_path):
    wolves = project.module("wolves", WOLVES)
    runtime, _agent, reloader = world(project, wolves.Howl)
    with runtime.record(tmp_path / "run.agrt"):
        report = taken(runtime, reloader, project.edit("wolves.py", "seen = []", "seen = []  # by day"))
    assert str(report) == "reloaded wolves.py: nothing that is known changed; 0 agents took it up"
    with Recording.open(tmp_path / "run.agrt") as recording:
        assert list(recording.inputs()) == []
    runtime.close()


def digest(project, actions, edits, reloads):
    runtime = Runtime(seed=1, host="plain")
    runtime.add(Agent(Entity("wolf"), actions=actions))
    trace = TraceDigest(runtime.trace)
    records = []
    runtime.trace.listen(records.append)
    if reloads:
        reloader = Reloader(runtime, project.folder)
    for _ in range(20):
        runtime.step()
        if reloads and edits:
            reloader.reload(edits)
    runtime.close()
    return trace.hexdigest(), len(records), [one for one in records if one.event is TraceEvent.NOTE]


def test_a_run_without_edits_is_the_same(project):
    wolves = project.module("wolves", WOLVES)
    plain = digest(project, [wolves.Howl], [], False)
    assert digest(project, [wolves.Howl], [], True) == plain
    assert digest(project, [wolves.Howl], [project.folder / "wolves.py"], True) == plain


# --- leaks --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_nothing_is_left_of_two_hundred_edits(project):
    wolves = project.module("wolves", WOLVES)
    runtime, agent, reloader = world(project, wolves.Howl)
    text = (project.folder / "wolves.py").read_text()

    def edit(number):
        file = project.write(
            "wolves.py", text.replace("sleep_ticks(3)", f"sleep_ticks({number % 5 + 1})").replace("owoo", str(number))
        )
        assert taken(runtime, reloader, file).ok
        runtime.step()

    def counts():
        gc.collect()
        objects = gc.get_objects()
        return (
            sum(isinstance(one, ActionSpec) for one in objects),
            sum(isinstance(one, type) for one in objects),
            len(sys.modules),
        )

    for number in range(10):
        edit(number)
    before = counts()
    for number in range(10, 210):
        edit(number)
    assert counts() == before
    assert agent.is_alive
    gone = weakref.ref(reloader._sources["wolves"])
    edit(1)
    gc.collect()
    assert gone() is None
    runtime.close()


def test_paths_may_be_links(project, tmp_path):
    wolves = project.module("wolves", WOLVES)
    runtime, _agent, reloader = world(project, wolves.Howl)
    file = project.edit("wolves.py", "owoo", "woof")
    link = tmp_path.parent / f"{tmp_path.name}-link"
    try:
        link.symlink_to(tmp_path, target_is_directory=True)
    except OSError:
        pytest.skip("no links here")
    assert taken(runtime, reloader, link / file.name).files == ("wolves.py",)
    runtime.close()
