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

from agentrt.errors import ENDS_PROGRAM, WrongStateError
from agentrt.words import words_of

if TYPE_CHECKING:
    from agentrt.agent import Agent
    from agentrt.body.driver import Driver
    from agentrt.kernel.kernel import Kernel

__all__ = ["Attachment", "Round", "attach", "leave_all"]


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
        agent: whom it drives.
        driver: it.
        every: its cadence, in ticks.

    Returns:
        The attachment, and its place among the others.

    Raises:
        WrongStateError: another one of its name is attached, or the cadence is not a number of ticks.
    """
    if every < 1 or every % 1 != 0:
        raise WrongStateError("agent.attach", f"every is {every!r}", "Give a number of ticks, 1 or more.")
    name, rank = driver.name, driver.rank  # now, so that what is no driver at all is found here
    for other in attachments:
        if other.driver is driver or (other.is_live and other.driver.name == name):
            raise WrongStateError(
                "agent.attach",
                f"{agent.name!r} has a driver called {name!r}",
                "Detach that one first and let it leave, or give this one a name of its own.",
            )
    index = len(attachments)
    while index and attachments[index - 1].driver.rank > rank:
        index -= 1
    return Attachment(agent, driver, every), index


def leave_all(attachments: tuple[Attachment, ...], reason: str, then: Callable[[], object]) -> None:
    """The agent ends: all stop driving, the last one first, since those that drive first decide for the others.

    Args:
        attachments: all of them, in the order of a tick.
        reason: why, in words.
        then: called when all have stopped.
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

    __slots__ = ("_agents", "_attachments", "_drives", "_is_stale")

    def __init__(self, kernel: Kernel, agents: Callable[[], tuple[Agent, ...]]) -> None:
        self._agents = agents
        self._attachments: list[Attachment] = []
        self._drives: list[Callable[[], object]] = []  # bound once; beside the attachments, index by index
        self._is_stale = False
        kernel.drive(self._drive)

    def change(self) -> None:
        """Somebody came or went."""
        self._is_stale = True

    def _drive(self) -> None:
        if self._is_stale:
            self._is_stale = False
            self._attachments = [one for agent in self._agents() for one in agent.attachments if one.drives]
            self._drives = [one.driver.drive if one.every == 1 else one.drive_in_turn for one in self._attachments]
        for index, drive in enumerate(self._drives):
            try:
                drive()
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                attachment = self._attachments[index]
                attachment.agent.fault(attachment.driver.name, "drive", error)
