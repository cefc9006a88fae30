"""What every think needs of an author's side: what an action's class declares, and where its answers go.

Three bases, each of one class: ``Declared`` of ``ActionSpec``, ``AnsweringSeat`` of the planner's unit,
``AnsweringContext`` of ``Context``. They stand here because this module is compiled with the planner
(``docs/how-to/builds.md``), and what is made of them is not, or is not known here. Compiled code reads a field of a
compiled class at once; it looks up that of any other by its name, which costs more than the interpreter pays.
"""

from __future__ import annotations

from types import CodeType
from typing import TYPE_CHECKING, Any, Final, NoReturn

from agentrt.activity.author.utility import DECIMALS
from agentrt.activity.states import READY
from agentrt.kernel.thinker import Thinker
from agentrt.native import mypyc_attr

if TYPE_CHECKING:
    from agentrt.activity.author.arguments import ThinkOutput
    from agentrt.activity.author.steps import CompiledStep, Resolver

# By name, for whoever copies a spec: the compiled class does not know its slots.
FIELDS: Final = (
    "activity", "boost", "cls", "composes", "flags", "gives", "has_filter", "has_on_reject", "has_run", "has_start",
    "has_stop", "has_stop_thinking", "has_think", "high", "is_filter", "is_plain", "is_range", "keeps", "kind", "label",
    "low", "must_stop_think", "name", "output", "output_label", "output_reads", "output_type", "run_code",
    "scheduler_priority", "span", "steps", "subject", "takes_none", "takes_plain", "think_code", "think_timeout",
    "uses", "weight",
)  # fmt: skip

# What there is to look at in an answer: one of these, or a context. That is put there while the think that has it is
# stepped in a round that nobody watches, and nothing rare is known of it: then the first answer of a leaf through it
# means no more than that it is noted. Until the round is over nobody looks at it; who begins to listen to the trace in
# the middle of a round hears of answers from the next one on.
NO_NEWS: Final = None
FRESH: Final = True  # it was set since it was compared with others, or, if it is elected, since its owner was told


@mypyc_attr(allow_interpreted_subclasses=True)
class Declared:
    """What the class of an action says of itself, as data."""

    __slots__ = FIELDS

    cls: type[Any]  # the class, an ``Action``
    subject: str  # its module and name, for errors
    label: str  # what paths and records call it: the name of the class
    kind: str  # what a unit of it is: ``leaf``, ``compound``, ``group`` or ``task``
    name: str  # what the action calls itself
    activity: str  # what it performs
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
    # whether it is a leaf with a think that nobody limits, nobody is told when that stops, and no answer of it is kept,
    # as of most
    is_plain: bool
    # whether more is to be done when its thinking stops than to forget it; always for who has steps
    must_stop_think: bool
    takes_none: bool  # whether its activity takes no arguments
    takes_plain: bool  # whether no entity can be among them
    output_type: type[ThinkOutput] | None
    gives: type[ThinkOutput] | None  # what a compound gives, if its activity is declared and says so
    output_label: str  # what errors call its think output
    steps: tuple[CompiledStep, ...] | None  # a compound's steps; None for a leaf
    output: tuple[tuple[str, Resolver | None, object], ...] | None  # a compound's declared output fields
    output_reads: tuple[int, ...]  # the elements that they come from, the nearest first; see ``CompiledStep.reads``
    uses: dict[int, list[str]]  # which output fields of which step a compound reads
    composes: bool
    keeps: int  # what of its thinking goes on over the end of plans; see ``plan.tree``


@mypyc_attr(allow_interpreted_subclasses=True)
class AnsweringSeat(Thinker):
    """What an action at one place of a plan has answered."""

    __slots__ = ("context", "news", "output", "spec", "state", "utility")

    def __init__(self, spec: Declared, state: int) -> None:
        Thinker.__init__(self)
        self.spec: Declared = spec  # what the action declares
        self.state: int = state  # one of the constants of the module ``states``
        self.utility: float = spec.low  # within its activity, without any boost
        # While it is ready or later: a dict of its fields until somebody looks at it, and None for its arguments. While
        # it is not possible why it says that the arguments are to blame, if it does
        self.output: Any = None
        # What the hooks of one thinking and one run are called with, or None: a ``Context``, which is not known here.
        self.context: Any = None
        self.news: object = NO_NEWS  # whether others have yet to look at the output; see above

    def hear_output(self, context: object, output: object) -> bool:
        """Take a think output, if nothing is wrong with it, and with the moment; whether it is taken.

        Args:
            context: through which it was given.
            output: what was given; None for the arguments.
        """
        raise NotImplementedError

    def hear_utility(self, context: object, utility: float) -> bool:
        """Take a utility, if that is all that is to be done; whether it is taken."""
        raise NotImplementedError


@mypyc_attr(allow_interpreted_subclasses=True)
class AnsweringContext:
    """How an author's think answers."""

    __slots__ = ("_seat",)

    def __init__(self, seat: AnsweringSeat) -> None:
        self._seat: AnsweringSeat = seat  # whose it is

    def set_think_output(self, /, **fields: Any) -> None:
        """The action is ready; again while it is ready: its output changed.

        Args:
            fields: the fields of the declared ``Output``; without any, the output is the action's arguments.

        Raises:
            WrongStateError: the action does not think.
            ArgumentError: the fields do not fit the declaration.

        Source: Stonehearth, AI: `set_think_output`.
        """
        seat = self._seat
        kind = seat.spec.output_type
        if kind is not None and kind._fits(fields):
            if seat.news is self:
                seat.state = READY
                seat.output = fields  # it becomes a record when somebody looks at it
                seat.news = NO_NEWS
            elif not seat.hear_output(self, fields):
                self._give(fields)
        elif kind is None and not fields and seat.news is self:
            seat.state = READY
            seat.news = NO_NEWS
        elif kind is not None or fields or not seat.hear_output(self, None):
            self._give(fields)

    def set_utility(self, utility: float) -> None:
        """Place the utility within the declared range.

        Args:
            utility: from 0 (the low end of the range) to 1 (the high end).

        Raises:
            WrongStateError: the action declares one number and not a range.
            ValueError: it is not a number from 0 to 1.

        Source: Stonehearth, AI: `set_utility`.
        """
        seat = self._seat
        spec = seat.spec
        if not 0.0 <= utility <= 1.0:
            self._refuse_utility(utility)
        if spec.span == 1.0:
            placed = utility
        elif spec.is_range:
            placed = round(spec.low + utility * spec.span, DECIMALS)
        else:
            self._refuse_utility(utility)
        if seat.news is self:
            seat.utility = placed
        elif not seat.hear_utility(self, placed):
            self._place(placed, utility)

    def _give(self, fields: dict[str, Any]) -> None:
        """Set an output, whatever that means."""
        raise NotImplementedError

    def _refuse_utility(self, utility: float) -> NoReturn:
        """It is not in the declared range, or none is declared."""
        raise NotImplementedError

    def _place(self, placed: float, utility: float) -> None:
        """Set the utility, whatever that means: where it is placed, and what it was called with."""
        raise NotImplementedError


def moved(utility: float, before: Declared, after: Declared) -> float:
    """Where a utility stands in another range, at the same place as in the one before."""
    place = (utility - before.low) / before.span if before.span else 0.0
    return round(after.low + min(max(place, 0.0), 1.0) * after.span, DECIMALS)
