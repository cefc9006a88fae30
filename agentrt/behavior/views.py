"""What a tree does on one agent, as plain values: for snapshots, the inspector, and whoever asks why.

They hold no object of a running tree, and are read back from what they wrote; ``debug`` makes them.

Source: ours; Spore, behavior trees: "S11: Debugging", 1.
"""

from __future__ import annotations

from typing import ClassVar

from agentrt.body.codec import View, told, view
from agentrt.body.views import ModelView


@view()
class AskedView(View):
    """A decider that is not active, though its group is."""

    path: str
    name: str
    # not_asked, after (it comes after the active child), disabled, time, decision_flags, stimuli_flags, target (it is
    # active), control_flags or refused (by its Decide)
    verdict: str
    reason: str  # the same in words


@view()
class DeciderView(View):
    """A decider that is active."""

    name: str
    path: str  # its place, as in the trace
    kind: str  # ``kGroup`` or ``kBehavior``
    policy: str  # of a group; an empty string for a behavior decider
    index: int  # its number among its siblings
    behavior: str | None  # the name of its behavior, or None
    since: float  # game seconds at which it was activated
    flags: tuple[str, ...]  # the control flags that it holds or shares
    is_waiting: bool = told(missing=False)  # whether a coroutine of its ``activate`` has not ended


@view()
class StimulusView(View):
    """A stimulus that is there."""

    token: str  # its name
    remaining: float | None  # seconds until it is gone; None if it stays


@view()
class TreeView(ModelView):
    """What a tree does on one agent."""

    model: ClassVar[str] = "behavior"

    name: str  # of the memory
    tree: str  # of the tree
    path: tuple[DeciderView, ...]  # the active deciders, from ROOT down
    asked: tuple[AskedView, ...]  # the deciders that are not active though their group is, and why not
    stimuli: tuple[StimulusView, ...]  # in the order in which they came
    decision_flags: int  # the word of the last tick
    stimuli_flags: int  # the word of what is perceived
    disabled: tuple[str, ...]  # the paths at which deciders were disabled for this agent
    waiting: tuple[str, ...]  # the paths of those that wait for control flags
    is_cleaning_up: bool  # whether coroutines of what was deactivated have not ended
    print: str  # the active path as ``debug_print_state`` prints it

    @property
    def outline_id(self) -> str:
        """The tree's name: a tree never changes."""
        return self.tree

    def active(self) -> tuple[str, ...]:
        """The paths of the active deciders, from ROOT down."""
        return tuple(one.path for one in self.path)

    def doing(self) -> str:
        """The name of the last active decider below ROOT."""
        return self.path[-1].name if len(self.path) > 1 else ""

    def lines(self) -> list[str]:
        """The view as text: a line for each active decider, indented, then what else there is to say."""
        lines = ["cleaning up"] if self.is_cleaning_up else []
        for depth, one in enumerate(self.path):
            text = f"{'  ' * depth}{one.name}"
            if one.behavior is not None:
                text += f" [{one.behavior}]"
            if one.is_waiting:
                text += ", activating"
            if one.flags:
                text += f", with {', '.join(one.flags)}"
            lines.append(text)
        for stimulus in self.stimuli:
            left = "" if stimulus.remaining is None else f" for {stimulus.remaining:.2f} s"
            lines.append(f"perceives {stimulus.token}{left}")
        lines += [f"waits for control flags: {path}" for path in self.waiting]
        lines += [f"disabled: {path}" for path in self.disabled]
        return lines or ["not active"]

    def reasons(self) -> list[str]:
        """Why the others are not active: a line for each that was considered, and one for those that were not."""
        lines = [f"not {one.name}: {one.reason}" for one in self.asked if one.verdict not in ("after", "not_asked")]
        passed: dict[str, list[str]] = {}
        for one in self.asked:
            if one.verdict in ("after", "not_asked"):
                passed.setdefault(one.reason, []).append(one.name)
        for reason, names in passed.items():
            words = reason if len(names) == 1 else reason.replace("it comes after", "they come after")
            lines.append(f"not {', '.join(names)}: {words}")
        return lines
