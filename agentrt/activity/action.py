"""Actions: what authors write.

An action is a class. Its metadata and hooks are read once, when the class is defined, into an ``ActionSpec``;
whatever is wrong is an error at that moment. An instance belongs to one place in the plan tree of one agent, so that
an author may keep things on ``self`` between the hooks.

Hooks, in the order in which they are called::

    should_start_thinking -> think ... -> start -> stop_thinking -> run ... -> stop

and ``on_reject`` while it is ready, when what was made of its output was rejected. ``think`` and ``run`` are
coroutines, the others are plain methods. ``start`` is always paired with ``stop``, and ``think`` with
``stop_thinking``.

Source: seed 001, "Writing actions".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from agentrt.activity.fields import ActionArgs, ThinkOutput
from agentrt.activity.spec import ActionSpec, default_hook
from agentrt.activity.steps import Output, Step
from agentrt.activity.utility import DEFAULT_BOOST, UtilityRange

if TYPE_CHECKING:
    from agentrt.activity.context import Context

__all__ = ["Action", "CompoundAction", "output", "step"]


class Action:
    """One way to perform an activity.

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
        asks: when it is asked anew: ``"with each plan"``, whenever one has ended; or ``"when changed"``: its thinking
            goes on over the end of plans that it did not win, until its arguments are others. For slow thoughts.
        Args: the arguments of the activity, if it has any; the same for all actions that perform it.
        Output: what thinking finds out, if that is not just the arguments.

    Source: seed 001, "Leaf action example", Metadata.
    """

    does: ClassVar[str] = ""
    name: ClassVar[str] = ""
    utility: ClassVar[float | UtilityRange]
    sunk_cost_boost: ClassVar[float] = DEFAULT_BOOST
    weight: ClassVar[float] = 1
    scheduler_priority: ClassVar[float] = 1
    status_text_key: ClassVar[str | None] = None
    flags: ClassVar[Collection[str]] = ()
    think_timeout: ClassVar[float | None] = None
    asks: ClassVar[str] = "with each plan"

    Args: ClassVar[type[ActionArgs]] = ActionArgs
    Output: ClassVar[type[ThinkOutput] | None] = None

    spec: ClassVar[ActionSpec]
    _spec_type: ClassVar[type[ActionSpec]] = ActionSpec

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.__dict__.get("name"):
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", cls.__name__).lower()
        if cls.does:
            cls.spec = cls._spec_type(cls)

    @default_hook
    def should_start_thinking(self, ctx: Context, args: Any) -> bool:
        """Whether the activity may be considered at all; False from any action blocks all actions of the activity.

        Args:
            ctx: the context of the action.
            args: the arguments of the activity.

        Returns:
            True to let it be.
        """
        return True

    @default_hook
    async def think(self, ctx: Context, args: Any) -> None:
        """Find out whether the action can be run, and say so with ``ctx.set_think_output``.

        Without this hook the action is ready at once. Ending without an output means "not possible now". The coroutine
        is cancelled when thinking stops, so its ``finally`` blocks clean up.

        Args:
            ctx: the context of the action.
            args: the arguments of the activity.
        """

    @default_hook
    def stop_thinking(self, ctx: Context, args: Any) -> None:
        """Thinking stopped, for whatever reason. When the action was elected, this comes right after ``start``.

        Args:
            ctx: the context of the action.
            args: the arguments of the activity.
        """

    @default_hook
    def on_reject(self, ctx: Context, args: Any, reason: str) -> None:
        """What was made of its think output was rejected by all actions of a later step, while it is ready.

        It may offer something else with ``ctx.set_think_output``: then only the steps after it think again, at once.
        If it does nothing, its choices of ``ctx.candidates`` are gone through, then the next earlier one is asked from
        whose output the rejected arguments came. When nobody offers anything else, the compound thinks again.

        Args:
            ctx: the context of the action.
            args: the arguments of the activity.
            reason: what the rejecting actions said.
        """

    @default_hook
    def start(self, ctx: Context, args: Any) -> None:
        """The action was elected. In a plan of several steps all are started before the first runs.

        Args:
            ctx: the context of the action.
            args: the arguments of the activity.
        """

    @default_hook
    async def run(self, ctx: Context, args: Any) -> None:
        """Do it. The action is finished when this returns.

        Args:
            ctx: the context of the action.
            args: the arguments of the activity.
        """

    @default_hook
    def stop(self, ctx: Context, args: Any) -> None:
        """The action ended: it finished, was aborted or was interrupted. Always comes if ``start`` was called.

        Args:
            ctx: the context of the action.
            args: the arguments of the activity.
        """


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

    Source: seed 001, "Compound action example".
    """

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
