"""Attachments: the drivers of an agent, and the phase of a tick in which they drive it.

A driver is one model at work on one agent: a goal selector, the memory of a behavior tree, the state of a selection
tree, or whatever else fulfills ``agentrt.body.driver.Driver``. Rules:

* In each tick every agent's drivers come in the order of their ranks (selection tree, target selector, goal selector,
  behavior tree), those of one rank in the order in which they were attached; agents in the order in which they were
  added. The plan comes after all of them, in the phase of the strands.
* A driver may have a cadence of its own: with ``every=4`` it drives in each fourth tick. Which of the four that is
  depends on the agent's number, so that a crowd does not think in one tick and rest in the three others.
* What is attached or detached while the agent lives takes effect at the next intake; the drivers' phase itself never
  changes while it runs.
* A driver belongs to one agent, from when it is attached until it has left: see ``give`` in ``body.driver``. It has
  left when it was detached and nothing of it runs, or when its agent has ended. An agent that is added again takes its
  drivers up again, if nobody else has them by then.
* A driver that is detached stops all that runs; its coroutines clean up in the same tick, or as long as they take. It
  can be attached again, here or elsewhere, when it has left.
* A driver that raises is reported once, and the next one drives. One that raises when it is to join never drove, and
  is not attached any more; one that raises when it is to leave has left, and its coroutines are told to stop.
* An agent leaves its runtime when all of them have left, those too that were detached before.

``Round`` keeps the drivers of all agents of a runtime in one flat list, so that a tick costs a call for each of them
and nothing else.

Source: design section 2, "A tick", and section 3, "Body".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from agentrt.behavior.tree import BehaviorTree
from agentrt.body.driver import give, given_to, number_in
from agentrt.errors import ENDS_PROGRAM, DefinitionError, WrongStateError
from agentrt.goals.goal import Goal
from agentrt.selection.library import SelectionLibrary
from agentrt.selection.tree import SelectionTree
from agentrt.words import error_words, repr_of, words_of

if TYPE_CHECKING:
    from agentrt.agent.agent import Agent
    from agentrt.body.driver import Driver
    from agentrt.kernel.kernel import Kernel

__all__ = ["Attachment", "Round", "attach", "leave_all", "take_up"]


class Attachment:
    """A driver of an agent. Made by ``agent.attach``.

    Attributes:
        agent: whom it drives.
        driver: as given.
        every: it drives in each tick whose number is divisible by this, shifted by the agent's number.
    """

    __slots__ = ("_has_joined", "_is_wanted", "_then", "agent", "driver", "every")

    def __init__(self, agent: Agent, driver: Driver, every: int) -> None:
        self.agent: Agent = agent
        self.driver: Driver = driver
        self.every: int = every
        self._is_wanted = True
        self._has_joined = False
        self._then: list[Callable[[], object]] | None = None  # while it leaves: who is to be told

    @property
    def is_live(self) -> bool:
        """Whether it was not detached."""
        return self._is_wanted

    @property
    def drives(self) -> bool:
        """Whether it drives the agent now: it was attached, and not told to leave."""
        return self._has_joined and self._then is None

    @property
    def is_leaving(self) -> bool:
        """Whether it was told to leave, and its coroutines still clean up."""
        return self._then is not None

    def detach(self, reason: str = "detached") -> None:
        """Take the driver from its agent, at the next intake if that one lives. A second call does nothing.

        Args:
            reason: why, in words.
        """
        if self._is_wanted:
            self._is_wanted = False
            self.agent.detached(self, words_of(reason))

    def join(self) -> bool:
        """The agent lives: begin to drive it, unless it was detached meanwhile.

        Returns:
            False if the driver raised; then it is attached no more.
        """
        if self._is_wanted and not self._has_joined:
            self._has_joined = True
            try:
                self.driver.join(self.agent)
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                self._has_joined = self._is_wanted = False
                self.agent.fault(self.driver.name, "join", error)
                return False
        return True

    def leave(self, reason: str, then: Callable[[], object]) -> None:
        """Stop driving.

        Args:
            reason: why, in words.
            then: called when all has stopped.
        """
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
        state = "driving" if self.drives else "leaving" if self.is_leaving else "attached" if self._is_wanted else "off"
        return f"<Attachment of {self.driver.name!r} to {self.agent.name!r}: {state}>"


def attach(attachments: tuple[Attachment, ...], agent: Agent, driver: Driver, every: int) -> tuple[Attachment, int]:
    """Make the attachment of a driver.

    Args:
        attachments: what the agent has already, in the order of a tick.

    Returns:
        The attachment, and its place among the others.

    Raises:
        DefinitionError: it is no driver.
        WrongStateError: another one of its name is attached, it is another agent's, or the cadence is not a number of
            ticks.
    """
    name, rank = _require_driver(driver)
    cadence: object = every
    if not isinstance(cadence, (int, float)) or not cadence >= 1 or cadence % 1 != 0:
        raise WrongStateError("agent.attach", f"every is {repr_of(every, 80)}", "Give a number of ticks, 1 or more.")
    for other in attachments:
        if other.driver is driver or (other.is_live and other.driver.name == name):
            raise WrongStateError(
                "agent.attach",
                f"{agent.name!r} has a driver called {name!r}",
                "Detach that one first and let it leave, or give this one a name of its own.",
            )
    give(driver, agent, "agent.attach")
    index = len(attachments)
    while index and attachments[index - 1].driver.rank > rank:
        index -= 1
    return Attachment(agent, driver, every), index


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


def take_up(agent: Agent) -> None:
    """An agent is to live: its drivers are its own again, if it had ended before.

    Raises:
        WrongStateError: one of them drives somebody else by now; then none was taken.
    """
    for attachment in agent.attachments:
        other = given_to(attachment.driver)
        if other is not None and other is not agent:
            raise WrongStateError(
                "runtime.add",
                f"its driver {attachment.driver.name!r} drives {words_of(getattr(other, 'name', other), 80)} by now",
                "Detach it here, attachment.detach(), or there, and let it leave.",
            )
    for attachment in agent.attachments:
        give(attachment.driver, agent, "runtime.add")


def leave_all(attachments: tuple[Attachment, ...], reason: str, then: Callable[[], object]) -> None:
    """The agent ends: all stop driving, the last one first, since those that drive first decide for the others.

    Args:
        attachments: all of them, in the order of a tick.
    """
    open_ones = [attachment for attachment in reversed(attachments) if attachment.drives or attachment.is_leaving]
    count = len(open_ones)

    def left() -> None:
        nonlocal count
        count -= 1
        if count == 0:
            then()

    for attachment in open_ones:
        attachment.leave(reason, left)
    if not open_ones:
        then()


class Round:
    """The drivers of all agents of one runtime, in the order in which they drive.

    Args:
        kernel: who calls it in each tick.
        agents: gives the agents, in their order.
    """

    __slots__ = ("_agents", "_attachments", "_drives", "_is_stale", "_kernel")

    def __init__(self, kernel: Kernel, agents: Callable[[], tuple[Agent, ...]]) -> None:
        self._agents = agents
        self._attachments: list[Attachment] = []
        self._drives: list[Callable[[], object]] = []  # bound once; beside the attachments, index by index
        self._is_stale = False
        self._kernel = kernel
        kernel.drive(self._drive)

    def change(self) -> None:
        """Somebody came or went."""
        self._is_stale = True

    def _drive(self) -> None:
        if self._is_stale:
            self._is_stale = False
            self._attachments = [one for agent in self._agents() for one in agent.attachments if one.drives]
            self._drives = [one.driver.drive if one.every == 1 else one.drive_in_turn for one in self._attachments]
        kernel = self._kernel
        for index, drive in enumerate(self._drives):
            kernel.calling = drive  # who hangs, if one does
            try:
                drive()
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                attachment = self._attachments[index]
                attachment.agent.fault(attachment.driver.name, "drive", error)
