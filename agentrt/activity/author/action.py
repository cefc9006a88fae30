"""Actions: what authors write, and what is made of it when the class is defined.

An action is a class. Its metadata and hooks are read once, when the class is defined, into an ``ActionSpec``, which all
agents share that know the action: the utility range, which hooks there are, the compiled placeholders of each step.
Whatever is wrong is an error at that moment, which names the class, the step and the field. Nothing is looked up on the
class while a plan is thought.

An instance belongs to one place in the plan tree of one agent, so that an author may keep things on ``self`` between
the hooks. These are called in this order::

    should_start_thinking -> think ... -> start -> stop_thinking -> run ... -> stop

and ``on_reject`` while it is ready, when what was made of its output was rejected. ``think`` and ``run`` are
coroutines, the others are plain methods. ``start`` is always paired with ``stop``, and ``think`` with
``stop_thinking``. A hook counts as present when it is not the base class's own, which is marked as a default: who has
none is not called, and that is most of what makes a plan cheap.

Source: Stonehearth, AI: "Writing actions".
"""

from __future__ import annotations

import dis
import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeVar

from agentrt.activity.author.arguments import ActionArgs, ThinkOutput, holds_plain
from agentrt.activity.author.steps import ACTIVITY, CompiledStep, Output, Step, check_seconds, compile_steps
from agentrt.activity.author.utility import DEFAULT_BOOST, UtilityRange, parse_range
from agentrt.body.slips import check_class
from agentrt.errors import DefinitionError, did_you_mean
from agentrt.words import class_name, repr_of

if TYPE_CHECKING:
    from agentrt.activity.author.context import Context
    from agentrt.activity.author.steps import Resolver


_ASKS: Final = ("with each plan", "when answered", "when changed")  # when an action can be asked anew

# What of its thinking goes on over the end of a plan, by the word with the same number.
NOTHING: Final = 0
WAITS: Final = 1  # a thought that has no answer yet
ANSWERS: Final = 2  # and an answer, until it takes that back

_STRANGE: Final = {  # words that authors bring along, and what they are here
    "activity": "does", "args": "Args", "arguments": "Args", "boost": "sunk_cost_boost", "control_flags": "flags",
    "execute": "run", "on_run": "run", "on_start": "start", "on_stop": "stop", "on_think": "think", "params": "Args",
    "priority": "utility", "start_thinking": "", "status_text": "status_text_key", "tick": "run",
    "timeout": "think_timeout", "update": "run",
}  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])


def default_hook(hook: F) -> F:
    """Mark a hook of a base class as one that does nothing."""
    hook.is_default_hook = True  # type: ignore[attr-defined]
    return hook


def wrong_kind(name: str, parameters: Sequence[str], *, is_async: bool) -> tuple[str, str]:
    """What is wrong with a hook that has to be a coroutine function or must not be one; and what to write instead."""
    word = "an 'async def'" if is_async else "a plain 'def', not 'async def'"
    return f"{name} has the wrong kind.", f"Make it {word}: {'async ' * is_async}def {name}({', '.join(parameters)})."


_WAITS: Final = dis.opmap["SEND"]  # what every await, ``async for`` and ``async with`` is compiled to
# Who names one of these may ask on which task, or in which scope, it runs.
_ASKS_WHERE: Final = frozenset((
    "CancelScope", "anyio", "asyncio", "current_strand", "current_task", "fail_after", "move_on_after", "sniffio",
    "trio",
))  # fmt: skip


def code_without_waits(hook: object) -> CodeType | None:
    """The code of a coroutine function that cannot suspend; None if it may, or nobody knows."""
    code = hook.__code__ if isinstance(hook, FunctionType) else None
    if code is None or not code.co_flags & inspect.CO_COROUTINE or _WAITS in code.co_code[::2]:
        return None
    return code if _ASKS_WHERE.isdisjoint((*code.co_names, *code.co_freevars)) else None


class ActionSpec:
    """What an action class declares, checked and compiled."""

    cls: type[Action]
    subject: str  # its module and name, for errors
    label: str  # what paths and records call it: the name of the class
    kind: str  # what a unit of it is: ``leaf``, ``compound``, ``group`` or ``task``
    name: str
    activity: str
    low: float  # the least utility
    high: float  # the greatest utility; 1 for a compound that composes it
    is_range: bool  # whether ``ctx.set_utility`` may be called
    span: float  # the width of the declared range
    boost: float
    weight: float
    scheduler_priority: float  # what the agent's share of the think budget is multiplied with while it runs
    think_timeout: float | None  # in how many game seconds it has to be ready; None for no limit
    flags: tuple[str, ...]
    has_filter: bool  # whether it has a hook ``should_start_thinking``; likewise the others
    has_think: bool
    has_stop_thinking: bool
    has_on_reject: bool
    has_start: bool
    has_run: bool
    has_stop: bool
    # the code of such a hook if it cannot suspend: then it is stepped where it stands; None if it can
    think_code: CodeType | None
    run_code: CodeType | None
    is_filter: bool  # whether it has no other hook than ``should_start_thinking``: then it is never run
    # whether it is a leaf with a think that nobody limits, and nobody is told when that stops, as most are
    is_plain: bool
    # whether more is to be done when its thinking stops than to forget it; always for who has steps
    must_stop_think: bool
    takes_none: bool  # whether its activity takes no arguments
    takes_plain: bool  # whether no entity can be among them
    output_type: type[ThinkOutput] | None
    output_label: str
    steps: tuple[CompiledStep, ...] | None  # a compound's steps; None for a leaf
    output: tuple[tuple[str, Resolver | None, object], ...] | None  # a compound's declared output fields
    output_reads: tuple[int, ...]  # the elements that they come from, the nearest first; see ``CompiledStep.reads``
    uses: dict[int, list[str]]  # which output fields of which step a compound reads
    composes: bool
    keeps: int  # what of its thinking goes on over the end of plans; see ``plan.tree``

    __slots__ = tuple(__annotations__)

    def __init__(self, cls: type[Action]) -> None:
        self.cls = cls
        self.subject = class_name(cls)
        self.label = cls.__name__
        self.kind = "compound" if hasattr(cls, "steps") else "leaf"
        self.name = cls.name
        self.activity = cls.does
        self._check_names()
        (self.low, self.high), self.is_range = parse_range(self.subject, cls.utility)
        self.span = self.high - self.low
        self.boost = self._number("sunk_cost_boost", cls.sunk_cost_boost)
        self.weight = self._number("weight", cls.weight)
        self.scheduler_priority = self._number("scheduler_priority", cls.scheduler_priority)
        self.think_timeout = check_seconds(self.subject, "think_timeout", cls.think_timeout)
        self.flags = self._flag_names(cls.flags)
        self._read_hooks(cls)
        self.output_type = cls.Output
        self.output_label = f"{cls.does} (think output)"
        self.steps = self.output = None
        self.output_reads, self.uses = (), {}
        self.composes = False
        self._check_output()
        if hasattr(cls, "steps"):
            self._compile_steps(cls)  # type: ignore[arg-type]
        self.keeps = self._keeps(cls.asks)

    @property
    def _is_leaf(self) -> bool:
        """Whether it has no steps. Not asked of ``kind``, which groups and tasks set when all this has been read."""
        return type(self) is ActionSpec and not hasattr(self.cls, "steps")

    def _read_hooks(self, cls: type[Action]) -> None:
        # A new hook is read here, called by a function of its own in ``plan.tree``, and named in HOOKS of
        # tests/chaos/hostile.py; what a frame must know of its actions' hooks, ``plan.tree.learn`` notes.
        self.has_filter = self._hook("should_start_thinking")
        self.has_think = self._hook("think", is_async=True)
        self.has_stop_thinking = self._hook("stop_thinking")
        self.has_on_reject = self._hook("on_reject", ("ctx", "args", "reason"))
        self.has_start = self._hook("start")
        if hasattr(cls, "steps") and not hasattr(cls.run, "is_default_hook"):  # before its kind is asked for
            remedy = "Move what it does into a step, or into start."
            raise self._wrong("a compound action has no run of its own.", remedy)
        self.has_run = self._hook("run", is_async=True)
        self.has_stop = self._hook("stop")
        self.think_code = code_without_waits(cls.think) if self.has_think else None
        self.run_code = code_without_waits(cls.run) if self.has_run else None
        self.is_filter = self.has_filter and not (
            self.has_think or self.has_start or self.has_run or self.has_stop or hasattr(cls, "steps")
        )
        self.is_plain = self._is_leaf and self.has_think and not self.has_stop_thinking and self.think_timeout is None
        self.must_stop_think = self.has_stop_thinking or not self._is_leaf
        self.takes_none = cls.Args is ActionArgs
        self.takes_plain = holds_plain(cls.Args)

    def _wrong(self, problem: str, remedy: str) -> DefinitionError:
        return DefinitionError(self.subject, problem, remedy)

    def output_fields(self) -> tuple[str, ...]:
        """The fields of the think output that later steps may read."""
        if self.output is not None:
            return tuple(field for field, _, _ in self.output)
        if self.steps is None and self.output_type is not None:
            return self.output_type.field_names()
        return self.cls.Args.field_names()

    def _check_names(self) -> None:
        cls = self.cls
        does: object = cls.does
        if not isinstance(does, str) or not ACTIVITY.fullmatch(does):
            raise self._wrong(f"does is {cls.does!r}.", "Write an activity such as 'demo:paint'.")
        if not hasattr(cls, "utility"):
            raise self._wrong("utility is missing.", "Write a number from 0 to 1, or a pair (low, high).")
        for attribute, base in (("Args", ActionArgs), ("Output", ThinkOutput)):
            declared = getattr(cls, attribute)
            if declared is None and base is ThinkOutput:
                continue
            if not (isinstance(declared, type) and issubclass(declared, base)):
                raise self._wrong(
                    f"{attribute} is {declared!r}.", f"Write a nested class {attribute}({base.__name__})."
                )
        if hasattr(cls, "start_thinking"):
            raise self._wrong("start_thinking is called think here.", "Write 'async def think(self, ctx, args)'.")
        if type(self) is ActionSpec and not hasattr(cls, "output"):
            for attribute in ("steps", "compose_utility"):
                if hasattr(cls, attribute):
                    raise self._wrong(
                        f"a leaf action has no {attribute}.",
                        "Derive it from CompoundAction, or call it something else.",
                    )

    def _check_output(self) -> None:
        if self.output_type is not None and not self.has_think:
            raise self._wrong(
                "it declares an Output, but has no 'think' that could set it.",
                "Write 'async def think(self, ctx, args)', or leave Output out: the output is the arguments then.",
            )

    def _keeps(self, asks: object) -> int:
        if asks not in _ASKS:
            hint = did_you_mean(asks, _ASKS) if isinstance(asks, str) else ""
            raise self._wrong(
                f"asks is {repr_of(asks, 80)}.{hint}", f"Write {', '.join(map(repr, _ASKS[:-1]))} or {_ASKS[-1]!r}."
            )
        # Who does not think has nothing to keep; in a compound and in a group it is what is below that thinks.
        return _ASKS.index(str(asks)) if self.has_think or not self._is_leaf else NOTHING

    def _number(self, what: str, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not value >= 0:
            raise self._wrong(f"{what} is {value!r}.", "Write a number that is not negative.")
        return float(value)

    def _flag_names(self, flags: object) -> tuple[str, ...]:
        if (
            isinstance(flags, str)
            or not isinstance(flags, Collection)
            or not all(isinstance(one, str) for one in flags)
        ):
            raise self._wrong(f"flags is {flags!r}.", "Write a set of names: flags = {MOVE}.")
        return tuple(sorted(flags))

    def _hook(
        self, name: str, parameters: tuple[str, ...] = ("ctx", "args"), *, is_async: bool = False, whose: str = ""
    ) -> bool:
        hook = getattr(self.cls, name)
        if getattr(hook, "is_default_hook", False):
            return False
        if inspect.iscoroutinefunction(hook) is not is_async:
            raise self._wrong(*wrong_kind(name, ("self", *parameters), is_async=is_async))
        try:
            inspect.signature(hook).bind("self", *parameters)
        except TypeError as error:
            raise self._wrong(
                f"{name}{whose} cannot be called: {error}.", f"Write {name}(self, {', '.join(parameters)})."
            ) from error
        return True

    def _compile_steps(self, cls: type[CompoundAction]) -> None:
        compiled = compile_steps(self.subject, cls.steps, cls.output, cls.Args.field_names())
        self.steps = compiled.steps
        self.output = compiled.output
        self.output_reads = compiled.output_reads
        self.uses = compiled.uses
        self._check_own_output(cls)
        self.composes = self._hook("compose_utility", ("entity", "self_utility", "child_utilities", "current_activity"))
        if self.composes:
            self.high = 1.0

    def _check_own_output(self, cls: type[CompoundAction]) -> None:
        """Element 0 is known here: what the compound's own think gives."""
        kind = cls.Output if self.has_think and cls.Output is not None else cls.Args
        whose = "a class Args of it" if kind is ActionArgs else kind.__qualname__
        for field in self.uses.get(0, ()):
            if field and field not in kind.field_names():
                raise self._wrong(
                    f"a step reads '{field}' of this action's own think output, which has no such field."
                    f"{did_you_mean(field, kind.field_names())}",
                    f"Declare it in {whose}; declared: {', '.join(kind.field_names()) or 'none'}. PREV in "
                    f"the first step, and BACK(n) in step n, mean that output: no step stands before.",
                )


class Action:
    """One way to perform an activity. Each hook is given the context of the action and the arguments of the activity.

    Attributes:
        does: the activity that it performs, such as ``"stonehearth:paint"``. A class without one is a base class.
        name: what debugging tools call it; the class's name in words by default.
        utility: how good it is at performing the activity, from 0 to 1: a number, or a range (low, high) within which
            ``ctx.set_utility`` places it; the low end counts until then.
        sunk_cost_boost: what is added to its utility once it has run for half a second of game time. With 1.0 nothing
            that performs the same activity interrupts it.
        weight: how likely it is drawn among actions of the same utility.
        scheduler_priority: a multiplier on the share of search resources of the agent while it runs.
        status_text_key: a key under which the game finds words for what the agent does.
        flags: control flags that it holds while it runs.
        think_timeout: in how many game seconds after its thinking began it has to be ready; else it is not possible
            now, until its branch is thought again. None for no limit.
        asks: when it is asked anew. ``"when answered"``: with the next plan after it has answered; a thought that still
            waits when a plan has run to its end goes on, if its place, its arguments and CURRENT are the same in the
            next. ``"when changed"``: its answer goes on too, until it takes it back. ``"with each plan"``: always.
        Args: the arguments of the activity, if it has any; the same for all actions that perform it.
        Output: what thinking finds out, if that is not just the arguments.

    Source: Stonehearth, AI: "Leaf action example", Metadata.
    """

    __slots__ = ()  # so that a class of an author's that keeps nothing of its own can do without room for it

    does: ClassVar[str] = ""
    name: ClassVar[str] = ""
    utility: ClassVar[float | UtilityRange]
    sunk_cost_boost: ClassVar[float] = DEFAULT_BOOST
    weight: ClassVar[float] = 1
    scheduler_priority: ClassVar[float] = 1
    status_text_key: ClassVar[str | None] = None
    flags: ClassVar[Collection[str]] = ()
    think_timeout: ClassVar[float | None] = None
    asks: ClassVar[str] = "when answered"

    Args: ClassVar[type[ActionArgs]] = ActionArgs
    Output: ClassVar[type[ThinkOutput] | None] = None

    spec: ClassVar[ActionSpec]
    _spec_type: ClassVar[type[ActionSpec]] = ActionSpec

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        check_class(cls, class_name(cls), _STRANGE, is_base=not cls.does)
        if not cls.__dict__.get("name"):
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", cls.__name__).lower()
        if cls.does:
            cls.spec = cls._spec_type(cls)

    @default_hook
    def should_start_thinking(self, ctx: Context, args: Any) -> bool:
        """Whether the activity may be considered at all; False from any action blocks all actions of the activity."""
        return True

    @default_hook
    async def think(self, ctx: Context, args: Any) -> None:
        """Find out whether the action can be run, and say so with ``ctx.set_think_output``.

        Without this hook the action is ready at once. Ending without an output means "not possible now". The coroutine
        is cancelled when thinking stops, so its ``finally`` blocks clean up.
        """

    @default_hook
    def stop_thinking(self, ctx: Context, args: Any) -> None:
        """Thinking stopped, for whatever reason. When the action was elected, this comes right after ``start``."""

    @default_hook
    def on_reject(self, ctx: Context, args: Any, reason: str) -> None:
        """What was made of its think output was rejected by all actions of a later step, while it is ready.

        It may offer something else with ``ctx.set_think_output``: then only the steps after it think again, at once.
        If it does nothing, its choices of ``ctx.candidates`` are gone through, then the next earlier one is asked from
        whose output the rejected arguments came. When nobody offers anything else, the compound thinks again.

        Args:
            ctx, args: as for each hook.
            reason: what the rejecting actions said.
        """

    @default_hook
    def start(self, ctx: Context, args: Any) -> None:
        """The action was elected. In a plan of several steps all are started before the first runs."""

    @default_hook
    async def run(self, ctx: Context, args: Any) -> None:
        """Do it. The action is finished when this returns."""

    @default_hook
    def stop(self, ctx: Context, args: Any) -> None:
        """The action ended: it finished, was aborted or was interrupted. Always comes if ``start`` was called."""


def step(
    activity: str,
    args: Mapping[str, object] | None = None,
    /,
    *,
    name: str | None = None,
    think_timeout: float | None = None,
    **more: object,
) -> Step:
    """Declare a step of a compound action.

    Args:
        activity: what is to be performed.
        args: its arguments, values or placeholders; needed only for arguments that are called ``name`` or
            ``think_timeout``.
        name: what later steps call it in ``OUT["name"]``.
        think_timeout: in how many game seconds an action of it has to be ready; else its arguments count as rejected.
            None for no limit.
        more: its arguments, values or placeholders.

    Returns:
        The step, for the list ``steps``.
    """
    return Step(activity, {**(args or {}), **more}, name, think_timeout)


def output(**fields: object) -> Output:
    """Declare what a compound action gives as its think output; without it, that is its arguments.

    Args:
        fields: values or placeholders.

    Returns:
        The declaration, for the attribute ``output``.
    """
    return Output(fields)


class CompoundAction(Action):
    """An action that is a list of steps, each an activity.

    It thinks first, then its steps in order, each with what the ones before it found; it is ready when all are. It
    has no ``run`` of its own.

    Attributes:
        steps: the steps, in order.
        output: what it gives as think output: ``output(path=PREV.path)``.

    Source: Stonehearth, AI: "Compound action example".
    """

    __slots__ = ()

    steps: ClassVar[Sequence[Step]] = ()
    output: ClassVar[Output | None] = None

    @default_hook
    def compose_utility(
        self, entity: Any, self_utility: float, child_utilities: Any, current_activity: str | None
    ) -> float:
        """Derive the utility from that of the steps. Called when a step's utility changes and at each step change.

        Args:
            entity: the entity that acts.
            self_utility: what ``ctx.set_utility`` made of it.
            child_utilities: the steps' utilities, by activity name or number from 1: ``child_utilities["demo:paint"]``.
            current_activity: the activity of the running step, or None.

        Returns:
            A number from 0 to 1.
        """
        return self_utility
