"""Creatures whose Decides are switches and whose behaviors write down what is called."""

from __future__ import annotations

from agentrt.behavior import Behavior, decider, group
from agentrt.body.driver import LoneBody


class Creature:
    """Wants things; ``log`` has every call of a hook, ``asked`` every call of a Decide."""

    def __init__(self, *wants, name="creature"):
        self.name = name
        self.wants = set(wants)
        self.fails = set()
        self.raises = set()
        self.log = []
        self.asked = []

    def write(self, *words):
        self.log.append(" ".join(words))

    def taken(self):
        """What was written since the last call."""
        log, self.log = self.log, []
        return log


class Writes(Behavior):
    """Writes its hooks down; fails where its creature says so, as ``NAME.hook``."""

    def hook(self, at, hook):
        creature = at.agent
        creature.write(self.name, hook)
        if f"{self.name}.{hook}" in creature.raises:
            raise ValueError(f"{self.name}.{hook}")
        return f"{self.name}.{hook}" not in creature.fails

    def activate(self, at):
        return self.hook(at, "activate")

    def tick(self, at):
        return self.hook(at, "tick")

    def deactivate(self, at):
        return self.hook(at, "deactivate")


def wants(name):
    """A Decide: accepts while the creature wants it."""

    def decide(memory):
        creature = memory.agent
        creature.asked.append(name)
        if f"{name}.decide" in creature.raises:
            raise ValueError(f"{name}.decide")
        return name in creature.wants

    return decide


def leaf(name, **options):
    options.setdefault("decide", wants(name))
    return decider(name, Writes(name), **options)


def branch(name, *args, **options):
    options.setdefault("decide", wants(name))
    return group(name, *args, behavior=Writes(name), **options)


def memory_of(tree, creature, **options):
    reports = []
    body = LoneBody(creature, creature.name, report=lambda *report: reports.append(report))
    memory = tree.memory(body=body, **options)
    return memory, reports
