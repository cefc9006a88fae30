"""The library as a whole: every action is offered, every pack resolves, everything is written on the facades alone."""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path

import agentrt_actions
import agentrt_packs
from agentrt import Action, Registry
from agentrt.packs.closure import closure_of
from agentrt.tasks import TaskGroupAction

FOLDER = Path(agentrt_actions.__file__).parent


def test_every_action_is_offered_under_its_own_name():
    actions = {key: thing for key, thing in agentrt_actions.manifest.aliases.items() if key.startswith("actions:")}
    offered = set(actions.values())
    exported = {
        thing
        for name in agentrt_actions.__all__
        if isinstance(thing := getattr(agentrt_actions, name), type)
        and issubclass(thing, Action)
        and not issubclass(thing, TaskGroupAction)
    }
    assert offered == exported
    for alias, action in actions.items():
        words = "".join(word.capitalize() for word in alias.removeprefix("actions:").split("_"))
        assert words == action.__name__


def test_the_standard_packs_hold_every_action_and_nothing_else():
    registry = Registry([agentrt_actions.manifest, agentrt_packs.manifest])
    closure = closure_of(registry.aliases("ai_pack"), registry)
    assert not closure.unresolved
    held = [*closure.actions, *closure.observers, *closure.task_groups]
    assert sorted(held) == sorted(f"agentrt:{alias}" for alias in agentrt_actions.manifest.aliases)


def test_only_facades_are_imported():
    for file in sorted(FOLDER.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "agentrt":
                offered = getattr(import_module(node.module), "__all__", ())
                for name in node.names:
                    assert name.name in offered, f"{file.name} imports {name.name} from {node.module}"
