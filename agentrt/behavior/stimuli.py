"""Stimuli: what an agent perceives for a while.

A stimulus is a token (one bit of the stimuli flags), some data, and a timeout. It invites an agent to play, tells it
that it took a hit, or is a note to itself not to repeat something. There is one of each token; adding it again
replaces its data and its timeout.

Rules:

* Time passes in ``update``, which whoever ticks a tree by hand calls once a tick, before the tick. A stimulus is gone
  in the first update in which its timeout has run down; one of timeout 0 lasts until the next update.
* While a memory drives a body, time passes by itself (``keep_time``): in each tick, before anybody is driven, and once,
  however many trees look at the stimuli and however seldom they are ticked.
* ``all_flags`` is the word of the tokens that are there. It is kept, not computed: preconditions read it in each tick.
* Whoever is told of a change may change them in turn. What was removed, renewed or added while an update goes on is as
  that one left it: the time of the update is not its own.
* Stimuli are the agent's and not the tree's: two trees may look at one set of them, and behaviors add to it.

Source: Spore, behavior trees: "S06: Preconditions & Stimuli"; "S09: Initializing and Ticking the Behavior Tree".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from agentrt.body.driver import require_seconds
from agentrt.errors import DefinitionError
from agentrt.words import repr_of

if TYPE_CHECKING:
    from agentrt.kernel.kernel import Kernel

SLACK = 1e-9  # seconds; times are sums of binary fractions


class Stimulus(NamedTuple):
    """One thing that an agent perceives."""

    token: int  # its bit
    data: Any  # what came with it
    remaining: float | None  # seconds until it is gone; None if it stays until it is removed


class Stimuli:
    """The stimuli of one agent.

    Args:
        changed: called with a token and whether it came (True) or went (False).

    Source: Spore, behavior trees: "S06: Preconditions & Stimuli".
    """

    __slots__ = ("_changed", "_keepers", "_lose", "_now", "_there", "all_flags")

    def __init__(self, changed: Callable[[int, bool], object] | None = None) -> None:
        self.all_flags: int = 0  # the word of all tokens that are there
        self._there: dict[int, Stimulus] = {}
        self._changed = changed
        self._keepers = 0  # how many memories drive a body with these stimuli
        self._lose: Callable[[], object] | None = None
        self._now = 0.0  # up to when time has passed, while somebody keeps it

    def keep_time(self, kernel: Kernel) -> None:
        """Let time pass by itself, in each tick of a kernel before anybody is driven; ``lose_time`` ends it."""
        self._keepers += 1
        if self._lose is None:
            clock = kernel.clock
            self._now = clock.now
            self._lose = kernel.every_tick(lambda: self.pass_to(clock.now))

    def lose_time(self) -> None:
        """One of those that had time pass by itself needs it no more."""
        self._keepers -= 1
        if self._keepers == 0 and self._lose is not None:
            self._lose()
            self._lose = None

    def pass_to(self, now: float) -> None:
        """Time passes up to a moment, in game seconds; nothing happens if it has already."""
        dt = now - self._now
        if dt > 0:
            self._now = now
            self.update(dt)

    def add(self, token: int, data: object = None, timeout: float | None = None) -> None:
        """The agent perceives something.

        Args:
            token: one bit, such as a member of an ``enum.IntFlag``.
            data: anything.
            timeout: seconds until it is forgotten; None to keep it until it is removed.

        Raises:
            DefinitionError: the token is not one bit, or the timeout no number of seconds.
        """
        bit = _bit(token)
        if timeout is not None:
            require_seconds(timeout, f"stimulus {token_name(token)}", "its timeout")
        is_new = bit not in self._there
        self._there[bit] = Stimulus(token, data, timeout)
        self.all_flags |= bit
        if is_new and self._changed is not None:
            self._changed(token, True)

    def remove(self, token: int) -> None:
        """It is gone. Nothing happens if it is not there."""
        one = self._there.pop(_bit(token), None) if self._there else None
        if one is not None:
            self.all_flags &= ~_bit(token)
            if self._changed is not None:
                self._changed(one.token, False)

    def clear(self) -> None:
        """All are gone."""
        for one in list(self):
            self.remove(one.token)

    def update(self, dt: float) -> int:
        """Time passes: what has run down is gone.

        Args:
            dt: seconds since the last update.

        Returns:
            The word of those that are left.

        Raises:
            DefinitionError: it is no number of seconds; nothing happened.
        """
        require_seconds(dt, "Stimuli.update", "dt")
        there = self._there
        problem: BaseException | None = None
        for bit, one in list(there.items()) if there else ():
            if one.remaining is None or there.get(bit) is not one:
                continue  # it stays; or whoever was told of another one removed or renewed it
            remaining = one.remaining - dt
            if remaining > SLACK:
                there[bit] = one._replace(remaining=remaining)
                continue
            try:
                self.remove(one.token)
            except BaseException as error:  # of who is told; for the others, time passes all the same
                problem = problem or error
        if problem is not None:
            raise problem
        return self.all_flags

    def get(self, token: int) -> Stimulus | None:
        """What is known of a token; None if it is not there."""
        return self._there.get(_bit(token)) if self._there else None

    def data(self, token: int) -> Any:
        """What came with a token; None if it is not there."""
        one = self.get(token)
        return None if one is None else one.data

    def __contains__(self, token: int) -> bool:
        return bool(self.all_flags & _bit(token))

    def __iter__(self) -> Iterator[Stimulus]:
        return iter(list(self._there.values()))

    def __len__(self) -> int:
        return len(self._there)

    def __repr__(self) -> str:
        return f"<Stimuli: {', '.join(token_name(one.token) for one in self) or 'none'}>"


def token_name(token: int) -> str:
    """What to call a token, for people: the name of a flag, or its bits."""
    name = getattr(token, "name", None)
    return name if isinstance(name, str) else f"{int(token):#x}"


def _bit(token: int) -> int:
    given: object = token  # what stands there may be no number at all
    if not isinstance(given, int) or token <= 0 or int(token) & (int(token) - 1):
        raise DefinitionError(
            f"stimulus {repr_of(token, 80)}",
            "a token is one bit.",
            "Write a power of two, such as a member of an enum.IntFlag.",
        )
    return int(token)
