"""Control flags of leaf behaviors: claimed before the constructor, given back after the destructor.

A behavior with ``flags`` is selected like any other, and then has to have them. If somebody else keeps one of them, its
leaf is passed over, as if its condition did not hold, and the search goes on behind it. The most preferred leaf of
those waits in the ledger, and the tree is evaluated as soon as it has its flags; the others are asked again at every
drive. What the current behavior holds counts as free for the next one, and passes from the one to the other with
nobody in between.

An agent whose behaviors have no flags has none of this.

Source: design section 3, control flags (ours: seed 004 has none).
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from agentrt.body.driver import note, tick_of
from agentrt.kernel.trace import Event
from agentrt.selection.program import Node, Program

if TYPE_CHECKING:
    from agentrt.body.flags import Holder
    from agentrt.selection.state import SelectionState

__all__ = ["LeafFlags", "LeafHold"]


class LeafHold:
    """A holder of control flags: a behavior that has them, or waits for them.

    Args:
        owner: whose behavior it is.
        leaf: the leaf that selects it.
        flags: what it takes, in a fixed order.

    Attributes:
        behavior: its name.
        flags: as given.
        is_granted: whether it has them.
    """

    __slots__ = ("_name", "_owner", "behavior", "flags", "is_granted")

    def __init__(self, owner: LeafFlags, leaf: Node, flags: tuple[str, ...]) -> None:
        self._owner = owner
        self._name = f"{owner.state.name}/{leaf.path}"
        self.behavior: str = leaf.behavior or ""
        self.flags: tuple[str, ...] = flags
        self.is_granted: bool = False

    @property
    def flag_name(self) -> str:
        """The path of the leaf."""
        return self._name

    @property
    def runs_for(self) -> Holder | None:
        """Nobody."""
        return None

    @property
    def precedence(self) -> int:
        """That of the driver."""
        return self._owner.state.precedence

    @property
    def is_interruptible(self) -> bool:
        """Whether the behavior gives way."""
        behavior = self._owner.state.current
        return self is not self._owner.held or behavior is None or bool(behavior.is_interruptible)

    def give_way(self, flag: str, claimant: str) -> None:
        """Somebody of higher precedence wants a flag.

        Args:
            flag: which.
            claimant: who, by name.
        """
        self._owner.give_way(self, flag, claimant)

    def flags_granted(self) -> None:
        """What it waited for is there."""
        self.is_granted = True
        self._owner.state.look_again()


class LeafFlags:
    """The control flags of one state: what its current behavior holds, and what the next one shall.

    Args:
        state: whose.

    Attributes:
        state: as given.
        held: of the current behavior; None if it has no flags.
        wanted: of the behavior that shall follow it, granted.
        waiting: of the most preferred behavior that was refused.
    """

    __slots__ = ("_refused", "held", "state", "waiting", "wanted")

    def __init__(self, state: SelectionState) -> None:
        self.state: SelectionState = state
        self.held: LeafHold | None = None
        self.wanted: LeafHold | None = None
        self.waiting: LeafHold | None = None
        self._refused: dict[str, str] = {}  # behavior -> by whom, at the last choice

    def choose(self, program: Program, leaf: Node | None, bits: int, out: Collection[str]) -> Node | None:
        """The first leaf from a selected one on that can have its flags.

        Args:
            program: what the leaf is a node of.
            leaf: the first one whose conditions hold.
            bits: the variables.
            out: behaviors that are passed over.

        Returns:
            The leaf, or None if there is none.
        """
        refused: dict[str, str] = {}
        while leaf is not None:
            holder = self._refuser(leaf, refused)
            if holder is None:
                break
            refused[leaf.behavior or ""] = holder
            leaf = program.walk(bits, {*refused, *out})
        self._refused = refused
        if self.waiting is not None and self.waiting.behavior not in refused:
            self._release(self.waiting)
            self.waiting = None
        if self.wanted is not None and (leaf is None or leaf.behavior != self.wanted.behavior):
            self._release(self.wanted)
            self.wanted = None
        return leaf

    def _refuser(self, leaf: Node, refused: dict[str, str]) -> str | None:
        """Who keeps a leaf from its control flags; None if it has them, or needs none."""
        state, held = self.state, self.held
        flags = state.flags_of(leaf)
        if not flags or (held is not None and held.behavior == leaf.behavior and not state.is_leaving):
            return None
        if self.wanted is not None and self.wanted.behavior == leaf.behavior:
            return None
        waiting = self.waiting
        if waiting is not None and waiting.behavior == leaf.behavior:
            if not waiting.is_granted:
                return self._refused.get(waiting.behavior, "")
            self.waiting = None
            self._follow(waiting)
            return None
        return self._claim(LeafHold(self, leaf, flags), wait=not refused)

    def _claim(self, hold: LeafHold, wait: bool) -> str | None:
        """Claim control flags; who keeps one of them, or None."""
        body = self.state.body
        own = tuple(one for one in (self.held, self.wanted, self.waiting) if one is not None and one is not hold)
        refusal = body.flags.claim(hold.flags, hold, tick_of(body), shared_with=own, wait=wait)
        if refusal is None:
            hold.is_granted = True
            self._follow(hold)
            return None
        if self._refused.get(hold.behavior) != refusal.holder:
            note(body, hold.flag_name, Event.REFUSED, (("flag", refusal.flag), ("holder", refusal.holder)))
        if wait and not refusal.is_final:
            if self.waiting is not None and self.waiting is not hold:
                self._release(self.waiting)
            self.waiting = hold
        else:
            self.state.look_again()  # the ledger will not tell
        return refusal.holder

    def _follow(self, hold: LeafHold) -> None:
        """A behavior that has its flags shall be next."""
        if self.wanted is not None:
            self._release(self.wanted)
        self.wanted = hold
        waiting = self.waiting
        if waiting is not None:  # what it waits for may be held by this one now, and counts as free for it
            body = self.state.body
            own = (hold,) if self.held is None else (hold, self.held)
            refusal = body.flags.claim(waiting.flags, waiting, tick_of(body), shared_with=own, wait=True)
            waiting.is_granted = refusal is None
            if refusal is None or refusal.is_final:
                self.state.look_again()
            if refusal is not None and refusal.is_final:
                self.waiting = None

    def _release(self, hold: LeafHold) -> None:
        self.state.body.flags.release(hold)

    def begin(self, behavior: str) -> None:
        """A behavior begins.

        Args:
            behavior: its name.
        """
        if self.wanted is not None and self.wanted.behavior == behavior:
            self.held, self.wanted = self.wanted, None

    def end(self) -> None:
        """The current behavior has ended: give back what it held, except what the next one takes over."""
        held, self.held = self.held, None
        if held is not None:
            body, wanted = self.state.body, self.wanted
            if wanted is not None:
                body.flags.hand_over(wanted.flags, wanted, tick_of(body), holders=(held,))
            body.flags.release(held)

    def drop(self) -> None:
        """Nobody shall follow any more."""
        for hold in (self.wanted, self.waiting):
            if hold is not None:
                self._release(hold)
        self.wanted = self.waiting = None

    def give_way(self, hold: LeafHold, flag: str, claimant: str) -> None:
        """Give up what a behavior holds.

        Args:
            hold: its hold.
            flag: what is wanted.
            claimant: who wants it, by name.
        """
        if hold is self.held:
            self.state.abandon(f"gives {flag} to {claimant}")
            return
        if hold is self.wanted:
            self.wanted = None
        elif hold is self.waiting:
            self.waiting = None
        self.state.forget_target()
        self._release(hold)
