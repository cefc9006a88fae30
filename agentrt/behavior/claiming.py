"""Control flags of deciders: how a tree takes its part of the agent's ledger.

A decider with control flags is passed over while somebody foreign keeps one of them: it fails a check, before its
Decide is called, as if it were a precondition. What is on the path of this tree is not foreign: a child shares the
flags of its groups, and who replaces somebody takes over his.

Who would give way to this tree may need time for it. The claim then waits in the ledger, the decider is passed over in
this tick, and is chosen in the next one in which it has its flags and is asked again.

* A claim that waits is renewed by being asked; one that nobody renewed by the end of a tick is given back.
* What the ledger granted is for the next tick: if the decider is not activated in it, because it is not asked, refuses,
  or another one wins, it is given back, too. Being asked is not enough: a decider that wants nothing any more would
  keep its flags for as long as somebody asks it.
* Only while somebody below, who is to be activated together with it, waits for his flags, a decider keeps its own.
* A claim shares the flags of the active path. If the path has lost one of them by the time at which the decider is to
  be activated, the claim is worth nothing: the rest is given back, and all are claimed anew.

Source: design section 3, control flags.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt.behavior.activation import Activation, Stage
from agentrt.body.driver import note, tick_of
from agentrt.kernel.trace import Event

if TYPE_CHECKING:
    from agentrt.behavior.choices import Choice, Newcomer
    from agentrt.behavior.memory import Memory
    from agentrt.behavior.nodes import Node
    from agentrt.body.flags import Holder, Refusal

__all__ = ["abandon", "candidate", "give_back", "hand_back", "has_claimed", "is_refused", "release", "secure"]


def candidate(memory: Memory, node: Node, parent: Activation | None) -> Activation:
    """An activation for somebody who may be activated: the one that waits for its flags, if it does.

    Args:
        memory: whose.
        node: the decider.
        parent: below whom.
    """
    found = _claimant(memory, node, parent) if node.flags else None
    return Activation(memory, node, parent) if found is None else found


def is_refused(memory: Memory, node: Node, parent: Activation | None) -> bool:
    """Whether somebody foreign keeps a flag of a decider.

    Args:
        memory: whose tree.
        node: the decider.
        parent: below whom.
    """
    ledger = memory.require_body().flags
    if ledger.is_free:
        return False
    claimant = _claimant(memory, node, parent)
    if claimant is not None:
        _renew(memory, claimant)
        return claimant.stage is Stage.WAITING
    if all(_is_own(memory, flag) for flag in node.flags):
        return False
    at = Activation(memory, node, parent)
    own = [*_present(memory), *at.upward()]
    refusal = ledger.obstacle(node.flags, at, tick_of(memory.require_body()), shared_with=own)
    _tell(memory, at, refusal)
    return refusal is not None


def secure(memory: Memory, choice: Choice) -> bool:
    """Take the flags of those who are to be activated, all or none.

    Args:
        memory: whose tree.
        choice: who.

    Returns:
        Whether they have them.
    """
    claimants = [one.at for one in choice.newcomers if one.at.node.flags]
    if not claimants:
        return True
    body = memory.require_body()
    present = _present(memory)
    shared = [*present, *(one.at for one in choice.newcomers)]
    granted: list[Activation] = []
    for at in claimants:
        if at.stage is Stage.GRANTED:
            continue
        if at.stage is Stage.WAITING or not _claim(memory, at, shared):
            for other in granted:
                body.flags.release(other)
            return False
        granted.append(at)
    leaving = present if choice.base is None else present[present.index(choice.base) + 1 :]
    for index, at in enumerate(claimants):  # the outermost first: it ends last
        body.flags.hand_over(at.node.flags, at, tick_of(body), holders=[*leaving, *claimants[index + 1 :]])
        _forget(memory, at)
    return True


def hand_back(memory: Memory, newcomers: list[Newcomer], holders: list[Activation]) -> None:
    """Newcomers are not activated after all: those who go on, or clean up, have their flags again.

    Args:
        memory: whose tree.
        newcomers: to whom flags had passed on.
        holders: from whom, from the top down: the outermost ends last.
    """
    body = memory.require_body()
    chosen = [one.at for one in newcomers]
    wanted = {flag for at in chosen for flag in at.node.flags}
    for at in holders:
        flags = tuple(flag for flag in at.node.flags if flag in wanted)
        if flags:
            wanted.difference_update(flags)
            body.flags.hand_over(flags, at, tick_of(body), holders=chosen)


def give_back(memory: Memory) -> None:
    """A tick is over: give back what waits for a decider that was not asked in it, or was granted and not taken up.

    Args:
        memory: whose tree.
    """
    rare = memory.rare
    renewed, rare.renewed = rare.renewed, []
    for at in tuple(rare.waiting):
        if not any(at in other.upward() for other in renewed):
            abandon(at)


def abandon(at: Activation) -> None:
    """Give back what waits, or was granted, for a decider that is not active.

    Args:
        at: it.
    """
    at.stage = Stage.CANDIDATE
    _forget(at.memory, at)
    release(at)


def release(at: Activation) -> None:
    """Give back the flags of an activation that is over, or never came to be.

    Args:
        at: the activation.
    """
    if at.node.flags:
        at.memory.require_body().flags.release(at)


def _claim(memory: Memory, at: Activation, shared: list[Activation]) -> bool:
    body = memory.require_body()
    tick = tick_of(body)
    refusal = body.flags.obstacle(at.node.flags, at, tick, shared_with=shared)
    if refusal is None:
        refusal = body.flags.claim(at.node.flags, at, tick, shared_with=shared, wait=True)
        if refusal is not None and body.flags.is_waiting(at):
            at.stage = Stage.WAITING
            memory.rare.waiting.append(at)
            _renew(memory, at)
            memory.update()
    _tell(memory, at, refusal)
    return refusal is None


def has_claimed(memory: Memory, node: Node, parent: Activation | None) -> bool:
    """Whether a decider accepted in an earlier tick, and has waited for its flags since.

    Args:
        memory: whose tree.
        node: the decider.
        parent: below whom.
    """
    return memory.has_claims and _found(memory, node, parent) is not None


def _found(memory: Memory, node: Node, parent: Activation | None) -> Activation | None:
    for at in memory.rare.waiting:
        if at.node is node and _same_place(at.parent, parent):
            return at
    return None


def _claimant(memory: Memory, node: Node, parent: Activation | None) -> Activation | None:
    """Who waits for the flags of a decider, or was granted them and has them still."""
    if not memory.has_claims:
        return None
    at = _found(memory, node, parent)
    if at is None:
        return None
    at.parent = parent
    if at.stage is Stage.GRANTED and not all(_is_shared(at, flag) for flag in node.flags):
        abandon(at)
        return None
    return at


def _renew(memory: Memory, at: Activation) -> None:
    if at.stage is Stage.WAITING and at not in memory.rare.renewed:
        memory.rare.renewed.append(at)


def _same_place(one: Activation | None, other: Activation | None) -> bool:
    return one is other or (one is not None and other is not None and one.path == other.path)


def _forget(memory: Memory, at: Activation) -> None:
    if at in memory.rare.waiting:
        memory.rare.waiting.remove(at)


def _is_own(memory: Memory, flag: str) -> bool:
    hold = memory.require_body().flags.holder(flag)
    return hold is not None and isinstance(hold.owner, Activation) and hold.owner.memory is memory


def _present(memory: Memory) -> list[Activation]:
    """The active path, each followed by those who are to be activated below as soon as its activate has ended."""
    found: list[Activation] = []
    for at in memory.path():
        found.append(at)
        if at.work is not None:
            found.extend(one.at for one in at.work.newcomers)
    return found


def _is_shared(at: Activation, flag: str) -> bool:
    """Whether a flag is held by a claimant, on the active path, or by whom the claimant runs for."""
    hold = at.body.flags.holder(flag)
    if hold is None:
        return False
    link: Holder | None = at
    while link is not None and link is not hold.owner:
        link = link.runs_for
    return link is not None or any(hold.owner is other for other in _present(at.memory))


def _tell(memory: Memory, at: Activation, refusal: Refusal | None) -> None:
    """Put a refusal into the trace, when it is another one than before."""
    refused = memory.rare.refused
    path = at.path
    if refusal is None:
        refused.pop(path, None)
    elif refused.get(path) != (refusal.flag, refusal.holder):
        refused[path] = (refusal.flag, refusal.holder)
        note(memory.require_body(), path, Event.REFUSED, (("flag", refusal.flag), ("holder", refusal.holder)))
