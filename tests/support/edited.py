"""A world whose packs, task groups and selection trees are files that can be edited."""

from __future__ import annotations

from agentrt import TOP, Action, Agent, Entity, Manifest, Registry, Runtime, sleep_ticks
from agentrt.goals import Goal
from agentrt.reload import Reloader
from agentrt.selection import LeafBehavior, SelectionLibrary

PACK = """{
  "_about": "what a wolf knows",
  "actions": [
    "mod:actions:howl",
    "mod:actions:nap"
  ],
  "ai_packs": ["mod:ai_pack:base"]
}
"""
TREE = """<SelectionTrees>
  <!-- of wolves -->
  <SelectionTree name="Wolf" type="BehaviorSelectionTree">
    <Variables>
      <Variable name="Late"/>
    </Variables>
    <Priority name="Root">
      <Leaf name="Sleep" condition="Late"/>
      <Leaf name="Roam"/>
    </Priority>
  </SelectionTree>
</SelectionTrees>
"""
GROUPS = """{
  "task_groups": {
    "mod:task_groups:chores": {
      "does": "mod:top",
      "utility": [0.2, 0.4],
      "tasks": [
        { "activity": "mod:nap", "utility": 0.5 }
      ]
    }
  }
}
"""


class Howl(Action):
    does = TOP
    utility = 0.5

    async def run(self, ctx, args):
        await sleep_ticks(3)


class Nap(Action):
    does = "mod:nap"
    utility = 0.5

    async def run(self, ctx, args):
        await sleep_ticks(3)


class Idle(LeafBehavior):
    pass


class Elsewhere(Goal):
    def can_use(self):
        return False


class Den:
    """A folder, and a runtime with a wolf that has what is in it.

    Args:
        folder: of the world; it is made.
        outside: where a pack lies that is none of its own.
        more: aliases of further packs that the wolf takes.
    """

    def __init__(self, folder, outside, things=None, drivers=()):
        self.folder = folder
        self.outside = outside / "outside.json"
        self.outside.write_text("{}")
        for name in ("packs", "trees"):
            (folder / name).mkdir(parents=True)
        self.write("packs/wolf.json", PACK)
        self.write("packs/base.json", '{"actions": []}\n')
        self.write("packs/other.json", '{"actions": []}\n')  # which nobody loads
        self.write("packs/groups.json", GROUPS)
        self.write("trees/wolf.xml", TREE)
        known = {
            "actions:howl": Howl,
            "actions:nap": Nap,
            "ai_pack:wolf": folder / "packs/wolf.json",
            "ai_pack:base": folder / "packs/base.json",
            "ai_pack:outside": self.outside,
            "task_groups:chores": folder / "packs/groups.json",
            **(things or {}),
        }
        self.registry = Registry([Manifest("mod", known)])
        self.library = SelectionLibrary.load(folder / "trees")
        self.runtime = Runtime(seed=1, host="plain")
        self.runtime.log_level = "off"
        state = self.library["Wolf"].state({"Sleep": Idle, "Roam": Idle})
        self.agent = self.runtime.add(
            Agent(
                Entity("wolf", name="Akela"),
                registry=self.registry,
                packs=["mod:ai_pack:wolf"],
                drivers=[state, *drivers],
            )
        )
        self.reloader = Reloader(self.runtime, folder)

    def write(self, name, text):
        (self.folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return self.folder / name

    def read(self, name):
        return (self.folder / name).read_bytes()
