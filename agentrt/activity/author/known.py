"""What an agent knows: its actions by activity, in an index that agents share who know the same.

All actions of one activity take the same arguments. What a compound gives a step must fit them, as far as it is known
before anything runs; what it reads of a step's think output must be declared by every known action of that step. All of
it is checked when actions are learned, the earliest moment at which it can be known.

Source: Stonehearth, AI: "Injecting actions".
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from agentrt.errors import ArgumentError, DefinitionError, PlaceholderError, did_you_mean

if TYPE_CHECKING:
    from agentrt.activity.author.action import Action, ActionSpec

__all__ = ["check_group", "index_actions"]

Known = Mapping[str, tuple["ActionSpec", ...]]
"""Activity to the actions that perform it, in the order in which they were learned."""

_MOST_INDEXES = 1024

_indexes: dict[tuple[type[Action], ...], Known] = {}
_relabels: dict[tuple[ActionSpec, str], ActionSpec] = {}


def index_actions(actions: Iterable[type[Action]]) -> Known:
    """Sort actions by activity and check them against each other. Agents that know the same share one index.

    Raises:
        DefinitionError: actions of one activity take different arguments.
        PlaceholderError: a step is given arguments that its activity does not take, or a compound reads a field that an
            action of the step does not give.
    """
    key = tuple(dict.fromkeys(actions))
    found = _indexes.get(key)
    if found is None:
        index: dict[str, list[ActionSpec]] = {}
        for cls in key:
            spec = getattr(cls, "spec", None)
            if spec is None:
                raise DefinitionError(
                    f"{cls.__module__}.{cls.__qualname__}", "it has no 'does'.", "Name the activity that it performs."
                )
            if spec.kind not in ("leaf", "compound"):
                raise DefinitionError(
                    spec.subject,
                    f"it is a {spec.kind}, and nothing to be known as an action.",
                    "Make a TaskGroup of a task group action and add the agent to it, or name it in a pack under "
                    "'task_groups'.",
                )
            index.setdefault(spec.activity, []).append(spec)
        found = {activity: _told_apart(specs) for activity, specs in index.items()}
        for specs in found.values():
            _check_args(specs)
        for specs in found.values():
            for spec in specs:
                _check_calls(spec, found)
                _check_outputs(spec, found)
        if len(_indexes) >= _MOST_INDEXES:
            _indexes.clear()  # classes that are made at run time must not be kept for ever
        _indexes[key] = found
    return found


def _told_apart(specs: list[ActionSpec]) -> tuple[ActionSpec, ...]:
    """Two classes of one name perform one activity: give the later one a label of its own, since paths are ids."""
    labels: dict[str, int] = {}
    apart: list[ActionSpec] = []
    for spec in specs:
        number = labels[spec.label] = labels.get(spec.label, 0) + 1
        apart.append(spec if number == 1 else _relabeled(spec, f"{spec.label}#{number}"))
    return tuple(apart)


def _relabeled(spec: ActionSpec, label: str) -> ActionSpec:
    """The same with another label; the same object each time, so that who learns more does not lose what it runs."""
    found = _relabels.get((spec, label))
    if found is None:
        if len(_relabels) >= _MOST_INDEXES:
            _relabels.clear()
        found = _relabels[spec, label] = copy.copy(spec)
        found.label = label
    return found


def _check_args(specs: tuple[ActionSpec, ...]) -> None:
    first = specs[0]
    for other in specs[1:]:
        if other.cls.Args.signature() != first.cls.Args.signature():
            raise DefinitionError(
                other.subject,
                f"it performs '{first.activity}' with the arguments {other.cls.Args.describe()}, but {first.subject} "
                f"with {first.cls.Args.describe()}.",
                "All actions of one activity take the same arguments: share one Args class.",
            )


def _check_calls(spec: ActionSpec, index: Known) -> None:
    """What a compound gives its steps, as far as it is known now."""
    for number, step in enumerate(spec.steps or (), 1):
        performers = index.get(step.activity)
        if not performers:
            continue
        try:
            performers[0].cls.Args.check_call(step.activity, step.constants, [field for field, _ in step.bound])
        except ArgumentError as error:
            raise PlaceholderError(
                spec.subject,
                number,
                error.argument,
                f"the activity does not take it: {error.text}",
                "Correct the step.",
            ) from error


def _check_outputs(spec: ActionSpec, index: Known) -> None:
    for number, fields in spec.uses.items():
        if number == 0 or spec.steps is None:
            continue
        step = spec.steps[number - 1]
        for performer in index.get(step.activity, ()):
            given = performer.output_fields()
            for field in fields:
                if field and field not in given:
                    raise PlaceholderError(
                        spec.subject,
                        number,
                        field,
                        f"a later step reads it, but {performer.subject}, which performs '{step.activity}', gives no "
                        f"such output.{did_you_mean(field, given)}",
                        f"Declare it in its Output; it gives: {', '.join(given) or 'nothing'}.",
                    )


def check_group(index: Known, spec: ActionSpec) -> None:
    """A task group takes no arguments: nor may the actions that perform the same activity.

    Raises:
        DefinitionError: they take some.
    """
    _check_args((spec, *index.get(spec.activity, ())))
