"""The steps of a compound action: what an author declares, and what it is compiled into when the class is defined.

Besides the arguments it is found out what each step depends on (``reads``): the earlier steps, and the compound's own
thinking as element 0, whose outputs its arguments come from, directly or through the arguments of a step between. When
a step rejects its arguments, nobody else can have chosen them; see the module ``choosing``.

Source: seed 001, "Step declarations"; `reject`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agentrt.activity.binding import ARGUMENTS, Compiler, Resolver
from agentrt.errors import DefinitionError

if TYPE_CHECKING:
    from agentrt.activity.action import CompoundAction

__all__ = ["ACTIVITY", "CompiledStep", "Output", "Step", "check_seconds", "compile_steps"]

ACTIVITY = re.compile(r"[^\s/]+")
"""What the name of an activity is made of."""


_LONGEST = 1e9  # game seconds; more is a mistake


def check_seconds(subject: str, what: str, value: object) -> float | None:
    """Check a declared time limit.

    Args:
        subject: who declares it, for the error.
        what: what it is called.
        value: game seconds, or None for no limit.

    Raises:
        DefinitionError: it is neither.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < _LONGEST:
        raise DefinitionError(
            subject, f"{what} is {value!r}.", "Write a number of game seconds above 0, or None for no limit."
        )
    return float(value)


class Step:
    """One step of a compound action. Made by ``step``."""

    __slots__ = ("activity", "args", "name", "think_timeout")

    def __init__(
        self, activity: str, args: Mapping[str, object], name: str | None, think_timeout: float | None = None
    ) -> None:
        self.activity: str = activity
        self.args: dict[str, object] = dict(args)
        self.name: str | None = name
        self.think_timeout: float | None = think_timeout

    def __repr__(self) -> str:
        inner = "".join(f", {key}={value!r}" for key, value in self.args.items())
        return f"step({self.activity!r}{inner})"


class Output:
    """The declared think output of a compound action. Made by ``output``."""

    __slots__ = ("fields",)

    def __init__(self, fields: Mapping[str, object]) -> None:
        self.fields: dict[str, object] = dict(fields)


class CompiledStep:
    """A step with its placeholders compiled.

    Attributes:
        activity: what it performs.
        label: what paths call it: the activity, with the step's number if a step before performs the same.
        constants: arguments that never change.
        bound: arguments with the functions that resolve them.
        is_used: whether a later step, or the compound's output, reads its think output.
        reads: the elements that its arguments come from, the nearest first: numbers of earlier steps, 0 for the
            compound's own thinking, and ``ARGUMENTS`` last for the compound's arguments.
        think_timeout: in how many game seconds it has to be ready; None for no limit.
    """

    __slots__ = ("activity", "bound", "constants", "is_used", "label", "reads", "think_timeout")

    def __init__(
        self, activity: str, label: str, constants: dict[str, object], bound: tuple[tuple[str, Resolver], ...]
    ) -> None:
        self.activity: str = activity
        self.label: str = label
        self.constants: dict[str, object] = constants
        self.bound: tuple[tuple[str, Resolver], ...] = bound
        self.is_used: bool = False
        self.reads: tuple[int, ...] = ()
        self.think_timeout: float | None = None

    def bind(self, scope: Any) -> dict[str, object]:
        """The arguments of the step.

        Args:
            scope: the compound that thinks.
        """
        values = self.constants.copy()
        for field, resolve in self.bound:
            values[field] = resolve(scope)
        return values


class CompiledSteps:
    """All steps of a compound action, and its output.

    Attributes:
        steps: in order.
        output: the fields of the declared output; None if there is none.
        output_reads: the elements that the output comes from, the nearest first.
        uses: which output fields of which step are read.
    """

    __slots__ = ("output", "output_reads", "steps", "uses")

    def __init__(
        self,
        steps: tuple[CompiledStep, ...],
        output: tuple[tuple[str, Resolver | None, object], ...] | None,
        output_reads: tuple[int, ...],
        uses: dict[int, list[str]],
    ) -> None:
        self.steps: tuple[CompiledStep, ...] = steps
        self.output: tuple[tuple[str, Resolver | None, object], ...] | None = output
        self.output_reads: tuple[int, ...] = output_reads
        self.uses: dict[int, list[str]] = uses


def compile_steps(subject: str, cls: type[CompoundAction]) -> CompiledSteps:
    """Compile the steps of a compound action.

    Args:
        subject: its module and name, for errors.
        cls: the class.

    Raises:
        DefinitionError: the steps are not well formed.
        PlaceholderError: a placeholder cannot resolve.
    """
    names = _check(subject, cls)
    compiler = Compiler(subject, names, cls.Args.field_names())
    compiled: list[CompiledStep] = []
    for number, declared in enumerate(cls.steps, 1):
        compiler.reads.clear()
        constants: dict[str, object] = {}
        bound: list[tuple[str, Resolver]] = []
        for field, value in declared.args.items():
            resolver, constant = compiler.compile(number, field, value)
            if resolver is None:
                constants[field] = constant
            else:
                bound.append((field, resolver))
        is_first = all(declared.activity != other.activity for other in compiled)
        label = declared.activity if is_first else f"{declared.activity}#{number}"
        made = CompiledStep(declared.activity, label, constants, tuple(bound))
        made.reads = _all_reads(compiler.reads, compiled)
        made.think_timeout = check_seconds(subject, f"think_timeout of step {number}", declared.think_timeout)
        compiled.append(made)
    output = None
    compiler.reads.clear()
    if cls.output is not None:
        output = tuple(
            (field, *compiler.compile_output(len(compiled), field, value)) for field, value in cls.output.fields.items()
        )
    for number in compiler.uses:
        if number:
            compiled[number - 1].is_used = True
    return CompiledSteps(tuple(compiled), output, _all_reads(compiler.reads, compiled), compiler.uses)


def _all_reads(read: set[int], before: list[CompiledStep]) -> tuple[int, ...]:
    """What is read, and what that was made of. The compound's own thinking is made of its arguments."""
    reads = set(read)
    for number in read:
        reads.update(before[number - 1].reads if number > 0 else (ARGUMENTS,))
    return tuple(sorted(reads, reverse=True))


def _check(subject: str, cls: type[CompoundAction]) -> dict[str, int]:
    """Check the declarations; the numbers of the steps that have a name."""
    remedy = "Give it a list: steps = [step('activity'), ...]."
    if not isinstance(cls.steps, (list, tuple)):
        raise DefinitionError(subject, f"steps is {cls.steps!r}.", remedy)
    if not cls.steps:
        raise DefinitionError(subject, "it has no steps.", remedy)
    names: dict[str, int] = {}
    for number, declared in enumerate(cls.steps, 1):
        if not isinstance(declared, Step):
            raise DefinitionError(subject, f"step {number} is {declared!r}.", "Write step('activity', ...).")
        activity: object = declared.activity
        if not isinstance(activity, str) or not ACTIVITY.fullmatch(activity):
            raise DefinitionError(
                subject,
                f"step {number} performs {declared.activity!r}.",
                "Write an activity such as 'demo:paint'.",
            )
        if declared.name is not None and names.setdefault(declared.name, number) != number:
            raise DefinitionError(subject, f"two steps are named {declared.name!r}.", "Rename one.")
    if cls.output is not None and not isinstance(cls.output, Output):
        raise DefinitionError(subject, f"output is {cls.output!r}.", "Write output = output(field=...).")
    return names
