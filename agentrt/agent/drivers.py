"""The drivers of an agent: the models that drive it besides its plan, from when they are attached until they have left.

A driver is one model at work on one agent: a goal selector, the memory of a behavior tree, the state of a selection
tree, or whatever else fulfills ``agentrt.body.driver.Driver``. Rules:

* The drivers of an agent come in the order of their ranks (selection tree, target selector, goal selector, behavior
  tree), those of one rank in the order in which they were attached. Who has them drive in each tick is the runtime,
  which keeps those of all its agents in one list.
* A driver may have a cadence of its own: with ``every=4`` it drives in each fourth tick. Which of the four that is
  depends on the agent's number, so that a crowd does not think in one tick and rest in the three others.
* What is attached or detached while the agent lives takes effect at the next intake, since the drivers' phase must not
  change while it runs.
* A driver belongs to one agent, from when it is attached until it has left: see ``give`` in ``body.driver``. It has
  left when it was detached and nothing of it runs, or when its agent has ended. An agent that is added again takes its
  drivers up again, if nobody else has them by then.
* A driver that is detached stops all that runs; its coroutines clean up in the same tick, or as long as they take. It
  can be attached again, here or elsewhere, when it has left.
* A driver that raises is reported once, and the next one drives. One that raises when it is to join never drove, and
  is not attached any more; one that raises when it is to leave has left, and its coroutines are told to stop.
* An agent leaves its runtime when all of them have left, those too that were detached before.

An action may hand the body on to a driver of its own for a while (``lend``); that one is no attachment: the action has
it drive and has it leave, and here is only kept whose coroutines the action waits for.

Source: ours, and section 3, "Body".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from agentrt.behavior.tree import BehaviorTree
from agentrt.body.driver import Body, give, given_to, number_in, take
from agentrt.errors import ENDS_PROGRAM, DefinitionError, WrongStateError
from agentrt.goals.goal import Goal
from agentrt.selection.library import SelectionLibrary
from agentrt.selection.state import SelectionTree
from agentrt.words import error_words, repr_of, words_of

if TYPE_CHECKING:
    from agentrt.body.driver import Driver
    from agentrt.kernel.strand import Strand

__all__ = ["Attachment", "Driven", "Drivers", "AgentHome", "Rounds"]


class Rounds(Protocol):
    """Who has the drivers of many agents drive, in each tick."""

    def change(self) -> None:
        """Somebody came or went."""


class AgentHome(Protocol):
    """Who runs an agent, as its drivers see it."""

    round: Rounds  # has the drivers of all its agents drive

    def post(self, fn: Callable[..., object], *args: object) -> None:
        """Call a function at the next intake; from any thread."""


class Driven(Body, Protocol):
    """An agent, as its drivers see it: a body that has attachments."""

    is_ending: bool  # whether it was told to end
    drivers: Drivers  # what drives it besides its plan

    @property
    def runtime(self) -> AgentHome | None:
        """Who runs it, or nobody."""
        ...

    @property
    def is_alive(self) -> bool:
        """Whether it is in a runtime and has not ended."""
        ...


@dataclass(eq=False, slots=True)
class Attachment:
    """A driver of an agent. Made by ``agent.attach``."""

    agent: Driven  # whom it drives
    driver: Driver
    every: int  # it drives in each tick whose number this divides, shifted by the agent's number
    is_live: bool = True  # whether it was not detached
    _has_joined: bool = False
    _then: list[Callable[[], object]] | None = None  # while it leaves: who is to be told

    @property
    def drives(self) -> bool:
        """Whether it drives the agent now: it was attached, and not told to leave."""
        return self._has_joined and self._then is None

    @property
    def is_leaving(self) -> bool:
        """Whether it was told to leave, and its coroutines still clean up."""
        return self._then is not None

    def detach(self, reason: str = "detached") -> None:
        """Take the driver from its agent, at the next intake if that one lives. A second call does nothing."""
        if self.is_live:
            self.is_live = False
            self.agent.drivers.detach(self, words_of(reason))

    def join(self) -> bool:
        """The agent lives: begin to drive it, unless it was detached meanwhile; False if it is attached no more."""
        if self.is_live and not self._has_joined:
            self._has_joined = True
            try:
                self.driver.join(self.agent)
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self._has_joined = self.is_live = False
                self.agent.fault(self.driver.name, "join", error)
                return False
        return True

    def leave(self, reason: str, then: Callable[[], object]) -> None:
        """Stop driving; ``then`` is called when all has stopped."""
        if self._then is not None:
            self._then.append(then)
        elif not self._has_joined:
            then()
        else:
            self._then = [then]
            try:
                self.driver.leave(reason, self._left)
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self.agent.fault(self.driver.name, "leave", error)
                try:
                    for strand in self.driver.strands():
                        strand.stop(reason)
                finally:
                    self._left()

    def drive_in_turn(self) -> None:
        """Have it drive, if this tick is one of its own."""
        kernel = self.agent.kernel
        if kernel is not None and (kernel.clock.tick + self.agent.number) % self.every == 0:
            self.driver.drive()

    def _left(self) -> None:
        """It has left; a driver that says so twice is heard once."""
        told, self._then = self._then, None
        if told is not None:
            self._has_joined = False
            self.agent.flags.forget_refusals(self.driver.name)
            for then in told:
                then()

    def __repr__(self) -> str:
        state = "driving" if self.drives else "leaving" if self.is_leaving else "attached" if self.is_live else "off"
        return f"<Attachment of {self.driver.name!r} to {self.agent.name!r}: {state}>"


class Drivers:
    """The drivers of one agent."""

    __slots__ = ("_agent", "_lent_to", "attachments")

    def __init__(self, agent: Driven) -> None:
        self._agent = agent
        self.attachments: tuple[Attachment, ...] = ()  # in the order of a tick
        self._lent_to: tuple[Driver, ...] = ()

    def attach_all(self, drivers: object) -> None:
        """Attach what an agent is made with, or nothing."""
        if not isinstance(drivers, Iterable) or isinstance(drivers, (str, type)):
            raise DefinitionError(
                "Agent(drivers=...)", f"{repr_of(drivers, 80)} is no list.", "Write drivers=[driver]."
            )
        try:
            for driver in drivers:
                self.attach(driver)
        except BaseException:
            self._give_back()  # nobody gets this agent, so they are nobody's
            raise

    def attach(self, driver: Driver, every: int = 1, precedence: int | None = None) -> Attachment:
        """Have a driver drive the agent. See ``Agent.attach``."""
        if precedence is not None:
            number_in(precedence, "agent.attach", "precedence")
        name, rank = _require_driver(driver)
        cadence: object = every
        if not isinstance(cadence, (int, float)) or not cadence >= 1 or cadence % 1 != 0:
            raise WrongStateError(
                "agent.attach", f"every is {repr_of(every, 80)}", "Give a number of ticks, 1 or more."
            )
        attachments = self.attachments
        for other in attachments:
            if other.driver is driver or (other.is_live and other.driver.name == name):
                raise WrongStateError(
                    "agent.attach",
                    f"{self._agent.name!r} has a driver called {name!r}",
                    "Detach that one first and let it leave, or give this one a name of its own.",
                )
        give(driver, self._agent, "agent.attach")
        index = len(attachments)
        while index and attachments[index - 1].driver.rank > rank:
            index -= 1
        attachment = Attachment(self._agent, driver, every)
        self.attachments = (*attachments[:index], attachment, *attachments[index:])
        if precedence is not None:
            driver.precedence = precedence
        if self._agent.runtime is not None:
            self._agent.runtime.post(self.join)
        return attachment

    def take_up(self) -> None:
        """The agent is to live: they are its own again, if it had ended before; all of them, or it raises."""
        agent = self._agent
        for attachment in self.attachments:
            other = given_to(attachment.driver)
            if other is not None and other is not agent:
                whom = words_of(getattr(other, "name", other), 80)
                raise WrongStateError(
                    "runtime.add",
                    f"its driver {attachment.driver.name!r} drives {whom} by now",
                    "Detach it here, attachment.detach(), or there, and let it leave.",
                )
        for attachment in self.attachments:
            give(attachment.driver, agent, "runtime.add")

    def join(self) -> None:
        """The agent lives: those that were attached since begin to drive it."""
        if self.attachments and self._agent.is_alive and not self._agent.is_ending:
            for attachment in self.attachments:
                if not attachment.join():
                    self._discard(attachment)
            self.change()

    def detach(self, attachment: Attachment, reason: str) -> None:
        """A driver was detached: it leaves at the next intake; at once while the agent does not live."""

        def left() -> None:
            self._discard(attachment)
            self.change()

        runtime = self._agent.runtime
        if runtime is None:
            left()
        else:
            runtime.post(attachment.leave, reason, left)
            runtime.post(self.change)

    def leave(self, reason: str, then: Callable[[], object]) -> None:
        """The agent ends: all stop driving, the last one first, since those that drive first decide for the others.

        ``then`` is called when all have left.
        """
        open_ones = [one for one in reversed(self.attachments) if one.drives or one.is_leaving]
        count = len(open_ones) + 1  # and this call, so that it comes to an end where nobody has to leave, too

        def left() -> None:
            nonlocal count
            count -= 1
            if count == 0:
                self._give_back()
                # Some may have been detached just now, by what left with them: a selection leaf detaches its own.
                self.attachments = tuple([one for one in self.attachments if one.is_live])
                then()

        for attachment in open_ones:
            attachment.leave(reason, left)
        left()

    def change(self) -> None:
        """Somebody came or went: who has them drive must know."""
        if self._agent.runtime is not None:
            self._agent.runtime.round.change()

    def _discard(self, attachment: Attachment) -> None:
        self.attachments = tuple([one for one in self.attachments if one is not attachment])
        take(attachment.driver, self._agent)

    def _give_back(self) -> None:
        """The agent does not live, or not any more: its drivers may be given to others."""
        for attachment in self.attachments:
            take(attachment.driver, self._agent)

    def strands(self) -> list[Strand]:
        """The strands of the drivers that have not ended, in the order in which they began."""
        return [strand for attachment in self.attachments for strand in attachment.driver.strands()]

    # --- what an action hands the body on to --------------------------------------------------------------------------

    def lend(self, driver: Driver) -> None:
        """An action hands the body on to a driver, which has joined it."""
        self._lent_to = (*self._lent_to, driver)

    def take_back(self, driver: Driver) -> None:
        """A driver to which an action handed the body has left it."""
        self._lent_to = tuple([one for one in self._lent_to if one is not driver])

    def lent_strands(self) -> list[Strand]:
        """The strands of those drivers; the actions cannot end before these."""
        return [strand for driver in self._lent_to for strand in driver.strands()]

    def __repr__(self) -> str:
        return f"<Drivers of {self._agent.name!r}: {', '.join(one.driver.name for one in self.attachments) or 'none'}>"


_HOOKS = ("join", "drive", "leave")


class _NoDriver(DefinitionError, AttributeError):
    """What has nothing of a driver; also what Python says of an object that lacks what is asked for."""


def _require_driver(driver: object) -> tuple[str, float]:
    """The name and the rank of a driver; tell an author who slipped what was meant."""
    what = repr_of(driver, 80)
    if isinstance(driver, type):
        raise DefinitionError(
            "agent.attach", f"{driver.__name__} is a class.", f"Attach an object of it: {driver.__name__}(...)."
        )
    try:
        meant = _meant(driver)
        name: object = getattr(driver, "name", None)
        rank: object = getattr(driver, "rank", None)
        is_one = isinstance(name, str) and all(callable(getattr(driver, hook, None)) for hook in _HOOKS)
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        raise DefinitionError(
            "agent.attach", f"{what} cannot be asked: {error_words(error, 80)}.", "See agentrt.body.driver.Driver."
        ) from error
    if meant:
        raise DefinitionError("agent.attach", f"{what} is no driver.", meant)
    if not is_one:
        raise _NoDriver(
            "agent.attach",
            f"{what} is no driver.",
            "Give a goal selector, the memory of a behavior tree, the state of a selection tree, or what has the name, "
            "the rank and the methods of agentrt.body.driver.Driver.",
        )
    return str(name), number_in(rank, "agent.attach", f"the rank of {what}")


def _meant(driver: object) -> str:
    """What to write for something that is near to a driver; empty if it is not."""
    if isinstance(driver, BehaviorTree):
        return "A tree is shared by all; attach a memory of it: tree.memory()."
    if isinstance(driver, SelectionTree):
        return "A tree is shared by all; attach a state of it: tree.state(behaviors)."
    if isinstance(driver, SelectionLibrary):
        return 'Attach a state of one of its trees: library["Name"].state(behaviors).'
    if isinstance(driver, Goal):
        return "Add it to a selector, selector.add_goal(1, goal), and attach that."
    if callable(getattr(driver, "attach", None)):
        return "An agent drives its own entity: runtime.add(agent)."
    if isinstance(driver, (list, tuple)):
        return "Attach one after the other, or write Agent(..., drivers=[...])."
    return ""
