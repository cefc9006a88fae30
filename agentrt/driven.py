"""Being driven: the part of an agent that other models attach to, and that performs what coroutines ask of it.

``attachments`` has the drivers and the phase of the tick in which they drive; ``learning`` has what the agent knows,
``agent`` how it lives.

Source: design section 2, "A tick", and section 3, "Body".
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, cast

from agentrt.activity.performing import perform
from agentrt.attachments import Attachment, attach, leave_all
from agentrt.body.driver import number_in, take
from agentrt.errors import DefinitionError, NotRunningError
from agentrt.kernel.calls import ControlFlow
from agentrt.kernel.traps import at_once
from agentrt.learning import Learner
from agentrt.loops import wait_outside
from agentrt.words import repr_of, type_name

if TYPE_CHECKING:
    from agentrt.activity.planner import Planner
    from agentrt.agent import Agent
    from agentrt.body.driver import Driver
    from agentrt.body.flags import Holder
    from agentrt.kernel.kernel import Kernel
    from agentrt.kernel.strand import Strand
    from agentrt.strategy.gameplay import Gameplay

__all__ = ["Driven"]


class Driven(Learner, ABC):
    """An agent, as its drivers know it: a ``Body``. The base class of ``Agent`` alone.

    Attributes:
        number: its entity's ``id``, if that is a number, else the number of its arrival in its runtime, from 1; 0
            before.
        precedence: of its plan's claims for control flags.
        is_ending: whether it was told to end.
    """

    __slots__ = ("_attachments", "_lent_to", "is_ending", "number", "precedence")

    def _begin_driven(self, drivers: Iterable[Driver], precedence: int) -> None:
        """Set up the drivers. Not ``__init__``: what an agent knows comes first, and takes other arguments."""
        self.number: int = 0
        number_in(precedence, "Agent", "precedence")
        self.precedence: int = precedence
        self.is_ending: bool = False
        self._attachments: tuple[Attachment, ...] = ()
        self._lent_to: tuple[Driver, ...] = ()
        try:
            for driver in _each(drivers):
                self.attach(driver)
        except BaseException:
            self._give_up_drivers()  # nobody gets this agent, so they are nobody's
            raise

    @property
    @abstractmethod
    def is_alive(self) -> bool:
        """Whether it is part of a runtime and has not ended."""

    @abstractmethod
    def planner_fault(self, text: str, path: str, error: BaseException, is_new: bool = True) -> None:
        """A hook raised: tell of it with its place."""

    @property
    def holder(self) -> Holder | None:
        """None: an agent acts for nobody."""
        return None

    @property
    def kernel(self) -> Kernel | None:
        """Who steps its coroutines and keeps its time; None while it is in no runtime."""
        return None if self.runtime is None else self.runtime.kernel

    @property
    def gameplay(self) -> Gameplay:
        """Its strategies, and a call for everything that can be asked of them; made when it is first asked for."""
        if self._gameplay is None:
            from agentrt.strategy.gameplay import Gameplay  # most agents have no strategies

            self._gameplay = Gameplay(cast("Agent", self))
            if self.is_alive and not self.is_ending:
                self._gameplay.triggers.begin()
        return self._gameplay

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The drivers that it has besides its plan, in the order in which they drive it in a tick."""
        return self._attachments

    def attach(self, driver: Driver, *, every: int = 1, precedence: int | None = None) -> Attachment:
        """Have another model drive it, besides its plan; from the next intake on if it lives.

        Drivers come in the order of their ranks (selection tree, target selector, goal selector, behavior tree), then
        in the order in which they were attached, all of them before the plan.

        Args:
            driver: a goal selector, the memory of a behavior tree, the state of a selection tree, or another one.
            every: it drives in each so many-th tick.
            precedence: of its claims for control flags, the higher one wins; None leaves it as the driver has it.

        Returns:
            The attachment, which can be detached.

        Raises:
            DefinitionError: it is no driver.
            WrongStateError: it has a driver of that name, or the driver is another agent's.

        Source: design section 2, "A tick", and section 3, "Body".
        """
        if precedence is not None:
            number_in(precedence, "agent.attach", "precedence")
        attachments = self._attachments
        attachment, index = attach(attachments, cast("Agent", self), driver, every)
        self._attachments = (*attachments[:index], attachment, *attachments[index:])
        if precedence is not None:
            driver.precedence = precedence
        if self.runtime is not None:
            self.runtime.post(self._join_drivers)
        return attachment

    def _join_drivers(self) -> None:
        if self._attachments and self.is_alive and not self.is_ending:
            for attachment in self._attachments:
                if not attachment.join():
                    self._discard(attachment)
            self._round_changed()

    def detached(self, attachment: Attachment, reason: str) -> None:
        """A driver was detached; called by the attachment.

        Args:
            attachment: it.
            reason: why, in words.
        """

        def left() -> None:
            self._discard(attachment)
            self._round_changed()

        if self.runtime is None:
            left()
        else:
            self.runtime.post(attachment.leave, reason, left)
            self.runtime.post(self._round_changed)

    def _discard(self, attachment: Attachment) -> None:
        self._attachments = tuple(one for one in self._attachments if one is not attachment)
        take(attachment.driver, self)

    def _give_up_drivers(self) -> None:
        """It does not live, or not any more: its drivers may be given to others."""
        for attachment in self._attachments:
            take(attachment.driver, self)

    def _round_changed(self) -> None:
        if self.runtime is not None:
            self.runtime.round.change()

    def perform(
        self, activity: str, args: Mapping[str, Any] | None = None, holder: Holder | None = None, /, **more: Any
    ) -> Awaitable[Any]:
        """Perform an activity once, beside its plan. Await it in any coroutine that the runtime steps.

        Args:
            activity: what to perform.
            args: its arguments.
            holder: for whom: a goal or a behavior, whose control flags are shared.
            more: further arguments.

        Returns:
            An awaitable for the think output of the action that performed it. It raises ``ActivityImpossibleError`` if
            no action can perform it now, ``ActivityAbortedError`` if it was aborted or the agent ended.

        Raises:
            NotRunningError: it is in no runtime, or ends; also when it is awaited, if that is so by then.

        Source: design section 3, "Bridges".
        """
        self.require_life(activity)
        return self._perform(activity, {**(args or {}), **more}, holder)

    async def _perform(self, activity: str, args: Mapping[str, Any], holder: Holder | None) -> Any:
        await at_once()
        return await perform(self.require_life(activity), activity, args, holder)

    def require_life(self, activity: str) -> Planner:
        """Its planner, while it lives.

        Args:
            activity: what is to be performed.

        Raises:
            NotRunningError: it is in no runtime, or ends.
        """
        if self.planner is None or not self.is_alive or self.is_ending:
            raise NotRunningError(
                f"{self.name!r} cannot perform {activity!r}: it is in no runtime, or ends. Add it first: "
                f"runtime.add(agent)."
            )
        return self.planner

    def post(self, fn: Callable[..., object], *args: Any) -> None:
        """Call a function at the next intake of its runtime, if it is in one. Safe from any thread.

        Args:
            fn: a plain function.
            args: what to call it with.
        """
        if self.runtime is not None:
            self.runtime.post(fn, *args)

    async def wait_outside(self, connect: Callable[[Callable[[], None]], object]) -> None:
        """Wait in a task of an event loop, and not in a coroutine that a runtime steps.

        Args:
            connect: given the function that ends the wait, which may be called in any thread.

        Raises:
            NotRunningError: no event loop steps the coroutine either.
        """
        await wait_outside(connect)

    def driver_strands(self) -> list[Strand]:
        """The strands of its drivers that have not ended, in the order in which they began."""
        return [strand for attachment in self._attachments for strand in attachment.driver.strands()]

    def lend(self, driver: Driver) -> None:
        """An action hands the body on to a driver.

        Args:
            driver: it; it has joined the body.
        """
        self._lent_to = (*self._lent_to, driver)

    def take_back(self, driver: Driver) -> None:
        """A driver to which an action handed the body has left it.

        Args:
            driver: it.
        """
        self._lent_to = tuple(one for one in self._lent_to if one is not driver)

    def lent_strands(self) -> list[Strand]:
        """The strands of the drivers to which actions handed the body; those actions cannot end before these."""
        return [strand for driver in self._lent_to for strand in driver.strands()]

    def fault(self, path: str, hook: str, error: BaseException) -> None:
        """A callback of a driver, or of whatever else has no place in the plan, raised: report it.

        Args:
            path: the place.
            hook: the callback.
            error: what it raised.
        """
        if isinstance(error, ControlFlow):
            error.send_on()  # an action drives it by hand, and is what was to be ended
        elif self.planner is None:
            self.planner_fault(f"{hook} raised {type_name(error)}", path, error)
        else:
            self.planner.report(path, hook, error)

    def _leave_drivers(self, reason: str, then: Callable[[], object]) -> None:
        def left() -> None:
            self._give_up_drivers()
            self._attachments = tuple(one for one in self._attachments if one.is_live)  # a leaf may have detached some
            then()

        leave_all(self._attachments, reason, left)


def _each(drivers: object) -> list[Any]:
    """The drivers that an agent is made with."""
    if isinstance(drivers, Iterable) and not isinstance(drivers, (str, type)):
        return list(drivers)
    raise DefinitionError("Agent(drivers=...)", f"{repr_of(drivers, 80)} is no list.", "Write drivers=[driver].")
