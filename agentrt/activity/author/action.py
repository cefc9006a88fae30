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

import copy
import dis
import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Generic, NamedTuple, TypeVar, overload

from agentrt.activity.author.answering import FIELDS, Declared
from agentrt.activity.author.arguments import ACTIVITY, ActionArgs, Activity, ThinkOutput, given_to, holds_plain
from agentrt.activity.author.steps import Output, Step, check_seconds, compile_steps, has_placeholder
from agentrt.activity.author.utility import DEFAULT_BOOST, UtilityRange, parse_range
from agentrt.body.driver import P
from agentrt.body.entity import E_contra
from agentrt.body.slips import check_class
from agentrt.errors import DefinitionError, did_you_mean
from agentrt.words import class_name, repr_of

if TYPE_CHECKING:
    from typing import Self

    from agentrt.activity.author.context import Context
    from agentrt.activity.author.steps import CompiledStep, Resolver


_ASKS: Final = ("with each plan", "when answered", "when changed")  # when an action can be asked anew

# What of its thinking goes on over the end of a plan, by the word with the same number.
NOTHING: Final = 0
WAITS: Final = 1  # a thought that has no answer yet
ANSWERS: Final = 2  # and an answer, until it takes that back

_STRANGE: Final = {  # words that authors bring along, and what they are here
    "Arguments": "Args", "Params": "Args", "Outputs": "Output",
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


class Numbers(NamedTuple):
    """Numbers of an action that are to be others than its class declares; None for what stays as it is declared."""

    utility: float | UtilityRange | None = None
    weight: float | None = None
    sunk_cost_boost: float | None = None


class ActionSpec(Declared):
    """What an action class declares, checked and compiled."""

    __slots__ = ()

    def __init__(self, cls: type[Action]) -> None:
        self.cls: type[Action] = cls
        self.subject: str = class_name(cls)
        self.label: str = cls.__name__
        self.kind: str = "compound" if hasattr(cls, "steps") else "leaf"
        self._check_names()
        self._check_init()
        self.name: str = cls.name
        self.activity: str = str(cls.does)  # that of a declared one is its name
        (low, high), is_range = parse_range(self.subject, cls.utility)
        self.low: float = low
        self.high: float = high
        self.is_range: bool = is_range
        self.span: float = self.high - self.low
        self.boost: float = self._number("sunk_cost_boost", cls.sunk_cost_boost)
        self.weight: float = self._number("weight", cls.weight)
        self.scheduler_priority: float = self._number("scheduler_priority", cls.scheduler_priority)
        self.think_timeout: float | None = check_seconds(self.subject, "think_timeout", cls.think_timeout)
        self.flags: tuple[str, ...] = self._flag_names(cls.flags)
        self._check_made_of(cls.made_of)
        self._read_hooks(cls)
        self.output_type: type[ThinkOutput] | None = cls.Output
        self.output_label: str = f"{self.activity} (think output)"
        self.steps: tuple[CompiledStep, ...] | None = None
        self.output: tuple[tuple[str, Resolver | None, object], ...] | None = None
        self.output_reads: tuple[int, ...] = ()
        self.uses: dict[int, list[str]] = {}
        self.composes: bool = False
        self._check_output()
        if hasattr(cls, "steps"):
            self._compile_steps(cls)  # type: ignore[arg-type]
        self.gives: type[ThinkOutput] | None = None
        if cls._declared_activity is not None:
            self._check_declared(cls._declared_activity)
        self.keeps: int = self._keeps(cls.asks)
        self.is_plain: bool = (
            self._is_leaf and self.has_think and self.keeps != ANSWERS
            and not self.has_stop_thinking and self.think_timeout is None
        )  # fmt: skip

    def __copy__(self) -> Self:
        kinds = [kind for kind in type(self).__mro__ if kind is not Declared]
        own = [slot for kind in kinds for slot in kind.__dict__.get("__slots__", ())]
        made = type(self).__new__(type(self))
        for slot in (*FIELDS, *own):
            setattr(made, slot, getattr(self, slot))
        return made

    def with_numbers(self, numbers: Numbers) -> Self:
        """The same with other numbers; ``DefinitionError`` if one of them does not fit."""
        made = copy.copy(self)
        if numbers.utility is not None:
            (low, high), is_range = parse_range(self.subject, numbers.utility)
            if is_range and not self.is_range:  # its think never places itself, so it would stay at the low end
                raise self._wrong("it declares one number as its utility, and no range.", "Give it one number.")
            made.low, made.span = low, high - low
            made.high = self.high if self.composes else high
        if numbers.weight is not None:
            made.weight = self._number("weight", numbers.weight)
        if numbers.sunk_cost_boost is not None:
            made.boost = self._number("sunk_cost_boost", numbers.sunk_cost_boost)
        return made

    def barred(self) -> Self:
        """The same as one that stands in its place and cannot be performed: it is out by somebody's hand.

        To the planner it is a filter that forbids nothing: impossible as soon as it is asked. None of its code runs.
        """
        made = copy.copy(self)
        made.is_filter, made.has_filter = True, False
        made.has_think = made.has_stop_thinking = made.must_stop_think = False
        made.think_code = made.think_timeout = made.steps = None
        return made

    @property
    def _is_leaf(self) -> bool:
        """Whether it has no steps. Not asked of ``kind``, which groups and tasks set when all this has been read."""
        return type(self) is ActionSpec and not hasattr(self.cls, "steps")

    def _read_hooks(self, cls: type[Action]) -> None:
        # A new hook is read here, called by a function of its own in ``plan.tree``, and named in HOOKS of
        # tests/chaos/hostile.py; what a frame must know of its actions' hooks, ``plan.tree.learn`` notes.
        self.has_filter: bool = self._hook("should_start_thinking")
        self.has_think: bool = self._hook("think", is_async=True)
        self.has_stop_thinking: bool = self._hook("stop_thinking")
        self.has_on_reject: bool = self._hook("on_reject", ("ctx", "args", "reason"))
        self.has_start: bool = self._hook("start")
        if hasattr(cls, "steps") and not hasattr(cls.run, "is_default_hook"):  # before its kind is asked for
            remedy = "Move what it does into a step, or into start."
            raise self._wrong("a compound action has no run of its own.", remedy)
        self.has_run: bool = self._hook("run", is_async=True)
        self.has_stop: bool = self._hook("stop")
        self.think_code: CodeType | None = code_without_waits(cls.think) if self.has_think else None
        self.run_code: CodeType | None = code_without_waits(cls.run) if self.has_run else None
        self.is_filter: bool = self.has_filter and not (
            self.has_think or self.has_start or self.has_run or self.has_stop or hasattr(cls, "steps")
        )
        self.must_stop_think: bool = self.has_stop_thinking or not self._is_leaf
        self.takes_none: bool = cls.Args is ActionArgs
        self.takes_plain: bool = holds_plain(cls.Args)

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
        name: object = cls.name
        if not isinstance(name, str):
            raise self._wrong(f"name is {repr_of(name, 80)}.", "Write what debugging tools are to call it: a string.")
        if not hasattr(cls, "utility"):
            raise self._wrong("utility is missing.", "Write a number from 0 to 1, or a pair (low, high).")
        if cls._declared_activity is not None and cls.Args is not cls._declared_activity.args:
            raise self._wrong(
                f"it has Args of its own, and performs {cls._declared_activity!r}.",
                f"Leave them out: {cls._declared_activity.args.__qualname__} are the arguments of whoever performs it.",
            )
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

    def _check_init(self) -> None:
        """Whether an instance can be made, which happens for each place in a plan."""
        init: object = self.cls.__init__
        try:
            if isinstance(init, FunctionType):
                inspect.signature(init).bind("self")
        except TypeError as error:
            raise self._wrong(
                f"its __init__ cannot be called: {error}.",
                "It is called without arguments, for each place in a plan anew: take what it needs from the entity, "
                "or from Args.",
            ) from None

    def _check_output(self) -> None:
        if self.output_type is not None and not self.has_think:
            raise self._wrong(
                "it declares an Output, but has no 'think' that could set it.",
                "Write 'async def think(self, ctx, args)', or leave Output out: the output is the arguments then.",
            )

    def _check_declared(self, activity: Activity[..., Any]) -> None:
        """Whether it gives what its activity is declared to give."""
        if activity.output is None:
            if self.output is not None or (self.output_type is not None and self.steps is None):
                raise self._wrong(
                    f"it gives an output, and {activity!r} is declared without one.",
                    f"Declare it there: Activity({activity.name!r}, {activity.args.__qualname__}, Output).",
                )
            return
        if self.steps is None and self.output_type is not None and not issubclass(self.output_type, activity.output):
            raise self._wrong(
                f"it has an Output of its own, and performs {activity!r}.",
                f"Leave it out, or derive it from {activity.output.__qualname__}.",
            )
        has, wanted = self.output_fields(), activity.output.field_names()
        missing = next((name for name in wanted if name not in has), None)
        if missing is not None:
            how = "Write 'async def think(self, ctx, args)', which gives it to ctx.set_think_output."
            if self.steps is not None:
                how = f"Write output = output({', '.join(f'{name}=...' for name in wanted)})."
            raise self._wrong(
                f"it gives no '{missing}', which {activity!r} is declared to give.{did_you_mean(missing, has)}", how
            )
        extra = next((name for name in has if name not in wanted), None)
        if self.output is not None and extra is not None:
            raise self._wrong(
                f"it gives '{extra}', which {activity!r} is not declared to give.{did_you_mean(extra, wanted)}",
                f"Declare it in {activity.output.__qualname__}; declared: {', '.join(wanted)}.",
            )
        self.gives = None if self.output is None else activity.output

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

    def _check_made_of(self, names: object) -> None:
        is_list = isinstance(names, Collection) and not isinstance(names, str)
        if not is_list or not all(isinstance(one, str) and one for one in names):  # type: ignore[attr-defined]
            raise self._wrong(f"made_of is {names!r}.", 'Write the names of values: made_of = ("hunger",).')

    def _hook(
        self, name: str, parameters: tuple[str, ...] = ("ctx", "args"), *, is_async: bool = False, whose: str = ""
    ) -> bool:
        hook = getattr(self.cls, name)
        if getattr(hook, "is_default_hook", False):
            return False
        if inspect.iscoroutinefunction(hook) is not is_async:
            raise self._wrong(*wrong_kind(name, ("self", *parameters), is_async=is_async))
        try:
            takes = inspect.signature(hook)
            takes.bind("self", *parameters)
        except TypeError as error:
            raise self._wrong(
                f"{name}{whose} cannot be called: {error}.", f"Write {name}(self, {', '.join(parameters)})."
            ) from error
        if [*takes.parameters][1:3] == ["args", "ctx"]:
            raise self._wrong(f"{name} takes 'args' before 'ctx'.", f"Write {name}(self, {', '.join(parameters)}).")
        return True

    def _compile_steps(self, cls: type[CompoundAction]) -> None:
        compiled = compile_steps(self.subject, cls.steps, cls.output, cls.Args)
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


def _take(cls: type[Action], activity: Activity[..., Any]) -> None:
    """Have a class take from its activity what that declares, where it says nothing of its own."""
    own = cls.__dict__
    cls.does = activity.name
    if "Args" not in own:
        cls.Args = activity.args
    # A compound gives what it puts together; an Output is that of its own thinking.
    if "Output" not in own and not hasattr(cls, "steps") and not hasattr(cls.think, "is_default_hook"):
        cls.Output = activity.output


class Action(Generic[E_contra]):
    """One way to perform an activity. Each hook is given the context of the action and the arguments of the activity.

    Attributes:
        does: the activity that it performs, such as ``"stonehearth:paint"``; or an ``Activity``, from which it takes
            ``Args`` and ``Output``. A class without one is a base class.
        name: what debugging tools call it; the class's name in words by default.
        utility: how good it is at performing the activity, from 0 to 1: a number, or a range (low, high) within which
            ``ctx.set_utility`` places it; the low end counts until then.
        sunk_cost_boost: what is added to its utility once it has run for half a second of game time. With 1.0 nothing
            that performs the same activity interrupts it.
        weight: how likely it is drawn among actions of the same utility.
        scheduler_priority: a multiplier on the share of search resources of the agent while it runs.
        status_text_key: a key under which the game finds words for what the agent does.
        flags: control flags that it holds while it runs.
        made_of: the names of what its utility is made of, for whoever looks: ``("hunger",)``. Each is what it keeps
            under that name in ``ctx.get_debug_info_datastore()``, else what its agent offers; see ``Agent.values``.
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

    does: ClassVar[Any] = ""  # a name or an ``Activity``, of which the name is left when the class is defined
    name: ClassVar[str] = ""
    utility: ClassVar[float | UtilityRange]
    sunk_cost_boost: ClassVar[float] = DEFAULT_BOOST
    weight: ClassVar[float] = 1
    scheduler_priority: ClassVar[float] = 1
    status_text_key: ClassVar[str | None] = None
    flags: ClassVar[Collection[str]] = ()
    made_of: ClassVar[Collection[str]] = ()
    think_timeout: ClassVar[float | None] = None
    asks: ClassVar[str] = "when answered"

    Args: ClassVar[type[ActionArgs]] = ActionArgs
    Output: ClassVar[type[ThinkOutput] | None] = None

    spec: ClassVar[ActionSpec]
    _declared_activity: ClassVar[Activity[..., Any] | None] = None  # what ``does`` was when the class was written
    _spec_type: ClassVar[type[ActionSpec]] = ActionSpec

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        check_class(cls, class_name(cls), _STRANGE, is_base=not cls.does)
        if not cls.__dict__.get("name"):
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", cls.__name__).lower()
        if "does" in cls.__dict__:
            does = cls.does
            cls._declared_activity = does if isinstance(does, Activity) else None
        if cls._declared_activity is not None:
            _take(cls, cls._declared_activity)
        if cls.does:
            cls.spec = cls._spec_type(cls)

    @default_hook
    def should_start_thinking(self, ctx: Context[E_contra], args: Any) -> bool:
        """Whether the activity may be considered at all; False from any action blocks all actions of the activity."""
        return True

    @default_hook
    async def think(self, ctx: Context[E_contra], args: Any) -> None:
        """Find out whether the action can be run, and say so with ``ctx.set_think_output``.

        Without this hook the action is ready at once. Ending without an output means "not possible now". The coroutine
        is cancelled when thinking stops, so its ``finally`` blocks clean up.
        """

    @default_hook
    def stop_thinking(self, ctx: Context[E_contra], args: Any) -> None:
        """Thinking stopped, for whatever reason. When the action was elected, this comes right after ``start``."""

    @default_hook
    def on_reject(self, ctx: Context[E_contra], args: Any, reason: str) -> None:
        """What was made of its think output was rejected by all actions of a later step, while it is ready.

        It may offer something else with ``ctx.set_think_output``: then only the steps after it think again, at once.
        If it does nothing, its choices of ``ctx.candidates`` are gone through, then the next earlier one is asked from
        whose output the rejected arguments came. When nobody offers anything else, the compound thinks again.

        Args:
            ctx, args: as for each hook.
            reason: what the rejecting actions said.
        """

    @default_hook
    def start(self, ctx: Context[E_contra], args: Any) -> None:
        """The action was elected. In a plan of several steps all are started before the first runs."""

    @default_hook
    async def run(self, ctx: Context[E_contra], args: Any) -> None:
        """Do it. The action is finished when this returns."""

    @default_hook
    def stop(self, ctx: Context[E_contra], args: Any) -> None:
        """The action ended: it finished, was aborted or was interrupted. Always comes if ``start`` was called."""


@overload
def step(activity: Activity[P, Any], /, *args: P.args, **more: P.kwargs) -> Step: ...
@overload
def step(
    activity: Activity[..., Any],
    args: Mapping[str, object],
    /,
    *,
    name: str | None = None,
    think_timeout: float | None = None,
) -> Step: ...
@overload
def step(
    activity: str,
    args: Mapping[str, object] | None = None,
    /,
    *,
    name: str | None = None,
    think_timeout: float | None = None,
    **more: object,
) -> Step: ...


def step(  # type: ignore[misc]  # fields have names, so nothing else is given by its place
    activity: str | Activity[..., Any],
    args: Mapping[str, object] | None = None,
    /,
    *,
    name: str | None = None,
    think_timeout: float | None = None,
    **more: object,
) -> Step:
    """Declare a step of a compound action.

    Args:
        activity: what is to be performed: its name, or a declared one, whose arguments are checked.
        args: its arguments, values or placeholders; needed only for arguments that are called ``name`` or
            ``think_timeout``, and beside these two where the activity is a declared one.
        name: what later steps call it in ``OUT["name"]``.
        think_timeout: in how many game seconds an action of it has to be ready; else its arguments count as rejected.
            None for no limit.
        more: its arguments, values or placeholders.

    Returns:
        The step, for the list ``steps``.
    """
    given = given_to(activity, args, more)
    if not isinstance(activity, Activity):
        return Step(activity, given, name, think_timeout)
    if args is None:  # all that is given is an argument, if the activity takes one of that name
        declared = activity.args.field_names()
        if "name" in declared and name is not None:
            given["name"], name = name, None
        if "think_timeout" in declared and think_timeout is not None:
            given["think_timeout"], think_timeout = think_timeout, None
    bound = [field for field, value in given.items() if has_placeholder(value)]
    constants = {field: value for field, value in given.items() if field not in bound}
    activity.args.check_call(activity.name, constants, bound)
    return Step(activity.name, given, name, think_timeout)


def output(**fields: object) -> Output:
    """Declare what a compound action gives as its think output; without it, that is its arguments.

    Args:
        fields: values or placeholders.

    Returns:
        The declaration, for the attribute ``output``.
    """
    return Output(fields)


class CompoundAction(Action[E_contra]):
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
        self, entity: E_contra, self_utility: float, child_utilities: Any, current_activity: str | None
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
