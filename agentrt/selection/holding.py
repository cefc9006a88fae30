"""Control flags of leaf behaviors: claimed before the constructor, given back after the destructor.

A behavior with ``flags`` is selected like any other, and then has to have them. If somebody else keeps one of them, its
leaf is passed over, as if its condition did not hold, and the search goes on behind it. The most preferred leaf of
those waits in the ledger, and the tree is evaluated as soon as it has its flags; the others are asked again at every
drive.

What one leaf holds counts as free for the others, so that a grant may be a promise: the current behavior holds a flag
until it has ended, and with it whoever follows. Whatever is given back therefore goes first to those of the same tree
that were granted it, and only then to others: a behavior that begins owns all of its flags in the ledger. Who was to
begin and does not gives back all of them, too.

An agent whose behaviors have no flags has none of this.

Source: ours.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Protocol

from agentrt.body.driver import note, tick_of
from agentrt.errors import ENDS_PROGRAM
from agentrt.kernel.trace import TraceEvent
from agentrt.selection.program import Program, SelectionNode

if TYPE_CHECKING:
    from agentrt.body.driver import Body
    from agentrt.body.flags import Holder, Refusal

__all__ = ["Interruptible", "LeafFlags", "LeafHold", "LeafStage"]


class Interruptible(Protocol):
    """A behavior, for its control flags."""

    @property
    def is_interruptible(self) -> bool:
        """Whether it leaves when a claim of higher precedence wants one of its flags."""
        ...


class LeafStage(Protocol):
    """Where behaviors follow each other, for their control flags; ``state`` has it."""

    @property
    def name(self) -> str:
        """Begins the paths of the leaves."""
        ...

    @property
    def precedence(self) -> int:
        """Of all claims."""
        ...

    @property
    def body(self) -> Body:
        """Whose ledger it is."""
        ...

    @property
    def current(self) -> Interruptible | None:
        """The current behavior, if somebody registered it."""
        ...

    @property
    def is_leaving(self) -> bool:
        """Whether the current behavior was told to leave and has not ended."""
        ...

    def flags_of(self, leaf: SelectionNode) -> tuple[str, ...]:
        """The control flags that the behavior of a leaf needs, in a fixed order."""
        ...

    def abandon(self, reason: str) -> None:
        """Leave the current behavior before the next drive, which selects anew."""

    def forget_target(self) -> None:
        """Who was to follow does not; the next drive selects anew."""

    def look_again(self) -> None:
        """Evaluate at the next drive, whether or not a variable changes."""


class LeafHold:
    """A holder of control flags: a behavior that has them, or waits for them.

    Args:
        flags: what it takes, in a fixed order.
    """

    __slots__ = ("_name", "_owner", "behavior", "flags", "is_granted")

    def __init__(self, owner: LeafFlags, leaf: SelectionNode, flags: tuple[str, ...]) -> None:
        self._owner = owner
        self._name = f"{owner.stage.name}/{leaf.path}"
        self.behavior: str = leaf.behavior or ""
        self.flags: tuple[str, ...] = flags
        # whether it has them: in the ledger, or from the behavior before it, when that has ended
        self.is_granted: bool = False

    @property
    def flag_name(self) -> str:
        """The path of the leaf."""
        return self._name

    @property
    def runs_for(self) -> Holder | None:
        """For whom its tree drives the body: an action that ticks it, say."""
        return self._owner.stage.body.holder

    @property
    def precedence(self) -> int:
        """That of the driver."""
        return self._owner.stage.precedence

    @property
    def is_interruptible(self) -> bool:
        """Whether the behavior gives way. One that raises here does: the fault is its own, and not the claimant's."""
        behavior = self._owner.stage.current
        if self is not self._owner.held or behavior is None:
            return True
        try:
            return bool(behavior.is_interruptible)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self._owner.stage.body.fault(self._name, "is_interruptible", error)
            return True

    def give_way(self, flag: str, claimant: str) -> None:
        """Somebody of higher precedence wants a flag."""
        self._owner.give_way(self, flag, claimant)

    def flags_granted(self) -> None:
        """What it waited for is there."""
        self.is_granted = True
        self._owner.stage.look_again()


class LeafFlags:
    """The control flags of one state: what its current behavior holds, and what the next one shall."""

    __slots__ = ("_refused", "held", "stage", "waiting", "wanted")

    def __init__(self, stage: LeafStage) -> None:
        self.stage: LeafStage = stage
        self.held: LeafHold | None = None  # of the current behavior; None if it has no flags
        self.wanted: LeafHold | None = None  # of the behavior that shall follow it, granted
        self.waiting: LeafHold | None = None  # of the most preferred behavior that was refused
        self._refused: dict[str, str] = {}  # behavior -> by whom, at the last choice

    def choose(
        self, program: Program, leaf: SelectionNode | None, bits: int, out: Collection[str]
    ) -> SelectionNode | None:
        """The first leaf from a selected one on that can have its flags.

        Args:
            program: what the leaf is a node of.
            leaf: the first one whose conditions hold.

        Returns:
            The leaf, or None if there is none.
        """
        refused: dict[str, str] = {}
        while leaf is not None:
            holder = self._refuser(leaf, refused)
            if holder is None:
                self._keep_only(leaf, refused)
                if self._has(leaf):
                    break
                holder = ""  # who was served with what the others gave back took it away
            refused[leaf.behavior or ""] = holder
            leaf = program.walk(bits, {*refused, *out})
        self._refused = refused
        if leaf is None:
            self._keep_only(None, refused)
        return leaf

    def _keep_only(self, leaf: SelectionNode | None, refused: Collection[str]) -> None:
        """Nobody but a leaf follows, and nobody waits but for one of the refused ones."""
        waiting, wanted = self.waiting, self.wanted
        if waiting is not None and waiting.behavior not in refused:
            self.waiting = None
            self._release(waiting)
        if wanted is not None and wanted is self.wanted and (leaf is None or leaf.behavior != wanted.behavior):
            self.wanted = None
            self._release(wanted)

    def _has(self, leaf: SelectionNode) -> bool:
        """Whether a leaf has its control flags, or needs none."""
        stage, held, wanted = self.stage, self.held, self.wanted
        if held is not None and held.behavior == leaf.behavior and not stage.is_leaving:
            return True
        return (wanted is not None and wanted.behavior == leaf.behavior) or not stage.flags_of(leaf)

    def _refuser(self, leaf: SelectionNode, refused: dict[str, str]) -> str | None:
        """Who keeps a leaf from its control flags; None if it has them, or needs none."""
        if self._has(leaf):
            return None
        waiting = self.waiting
        if waiting is not None and waiting.behavior == leaf.behavior:
            if not waiting.is_granted:
                return self._refused.get(waiting.behavior, "")
            self.waiting = None
            self._follow(waiting)
            return None
        return self._claim(LeafHold(self, leaf, self.stage.flags_of(leaf)), wait=not refused)

    def _claim(self, hold: LeafHold, wait: bool) -> str | None:
        """Claim control flags; who keeps one of them, or None."""
        refusal = self._ask_for(hold, (self.held, self.wanted, self.waiting), wait)
        if refusal is None:
            self._follow(hold)
            return None
        if self._refused.get(hold.behavior) != refusal.holder:
            flag, holder = ("flag", refusal.flag), ("holder", refusal.holder)
            note(self.stage.body, hold.flag_name, TraceEvent.REFUSED, (flag, holder))
        if self.stage.body.flags.is_waiting(hold):
            before, self.waiting = self.waiting, hold
            if before is not None:
                self._release(before)
        return refusal.holder

    def _ask_for(self, hold: LeafHold, own: tuple[LeafHold | None, ...], wait: bool) -> Refusal | None:
        """Claim from the ledger. Who is refused and does not wait has nothing, and is asked again at the next drive."""
        body = self.stage.body
        shared = tuple(one for one in own if one is not None)
        refusal = body.flags.claim(hold.flags, hold, tick_of(body), shared_with=shared, wait=wait)
        hold.is_granted = refusal is None
        if refusal is not None and not body.flags.is_waiting(hold):
            self.stage.look_again()  # the ledger will not tell
            self._release(hold)  # it may have been served, and then one whose flags it shared gave way
        return refusal

    def _follow(self, hold: LeafHold) -> None:
        """A behavior that has its flags shall be next."""
        before, self.wanted = self.wanted, hold
        if self.waiting is not None:
            self._pass_on(self.waiting, hold)  # which was served while others gave way to this one
        if before is not None:
            self._release(before)
        waiting = self.waiting
        if waiting is None:
            return
        # What it waits for may be held by the next one now, and counts as free for it.
        if waiting.is_granted or self._ask_for(waiting, (self.wanted, self.held), wait=True) is None:
            self.stage.look_again()
        elif self.waiting is waiting and not self.stage.body.flags.is_waiting(waiting):
            self.waiting = None

    def _pass_on(self, hold: LeafHold, heir: LeafHold) -> None:
        """Give one leaf what another one holds of its flags."""
        body = self.stage.body
        ledger = body.flags
        flags = [flag for flag in heir.flags if (now := ledger.holder(flag)) is not None and now.owner is hold]
        if flags:
            ledger.hand_over(flags, heir, tick_of(body), holders=(hold,))

    def _release(self, hold: LeafHold) -> None:
        """Give back what a leaf holds, except what others were granted because it was in the same tree."""
        if self.wanted is not None and self.wanted is not hold:
            self._pass_on(hold, self.wanted)
        waiting = self.waiting
        if waiting is not None and waiting is not hold and waiting.is_granted:
            self._pass_on(hold, waiting)
        self.stage.body.flags.release(hold)

    def begin(self, behavior: str) -> None:
        """A behavior begins."""
        if self.wanted is not None and self.wanted.behavior == behavior:
            self.held, self.wanted = self.wanted, None

    def end(self) -> None:
        """The current behavior has ended: give back what it held, except what the next one takes over."""
        held, self.held = self.held, None
        if held is not None:
            self._release(held)

    def drop(self) -> None:
        """Nobody shall follow any more."""
        before = self.wanted, self.waiting
        self.wanted = self.waiting = None
        for hold in before:
            if hold is not None:
                self._release(hold)

    def give_way(self, hold: LeafHold, flag: str, claimant: str) -> None:
        """Give up what a behavior holds."""
        if hold is self.held:
            self.stage.abandon(f"gives {flag} to {claimant}")
            return
        if hold is self.wanted:
            self.wanted = None
        elif hold is self.waiting:
            self.waiting = None
        self.stage.forget_target()
        self._release(hold)
