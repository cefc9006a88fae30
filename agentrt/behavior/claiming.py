"""Control flags of deciders: how a tree takes its part of the agent's ledger.

A decider with control flags is passed over while somebody foreign keeps one of them: it fails a check, before its
Decide is called, as if it were a precondition. What is on the path of this tree is not foreign: a child shares the
flags of its groups, and who replaces somebody takes over his.

Who would give way to this tree may need time for it. The claim then waits in the ledger, the decider is passed over in
this tick, and is chosen in the next one in which it has its flags and is asked again. A claim that waits is renewed by
being asked; one that nobody renewed by the end of a tick is given back.

Source: design section 3, control flags.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentrt.behavior.activation import Activation, Stage
from agentrt.body.driver import note, tick_of
from agentrt.kernel.trace import Event

if TYPE_CHECKING:
    from agentrt.behavior.choices import Choice
    from agentrt.behavior.memory import Memory
    from agentrt.behavior.nodes import Node
    from agentrt.body.flags import Refusal

__all__ = ["candidate", "give_back", "has_claimed", "is_refused", "release", "secure"]


def candidate(memory: Memory, node: Node, parent: Activation | None) -> Activation:
    """An activation for somebody who may be activated: the one that waits for its flags, if it does.

    Args:
        memory: whose.
        node: the decider.
        parent: below whom.
    """
    found = _waiting(memory, node, parent) if node.flags else None
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
    waiting = _waiting(memory, node, parent)
    if waiting is not None:
        return waiting.stage is Stage.WAITING
    if all(_is_own(memory, flag) for flag in node.flags):
        return False
    at = Activation(memory, node, parent)
    own = [*memory.path(), *at.upward()]
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
    path = list(memory.path())
    shared = [*path, *(one.at for one in choice.newcomers)]
    granted: list[Activation] = []
    for at in claimants:
        if at.stage is Stage.GRANTED:
            continue
        if at.stage is Stage.WAITING or not _claim(memory, at, shared):
            for other in granted:
                body.flags.release(other)
            return False
        granted.append(at)
    leaving = path if choice.base is None else path[path.index(choice.base) + 1 :]
    for at in claimants:
        body.flags.hand_over(at.node.flags, at, tick_of(body), holders=leaving)
        _forget(memory, at)
    return True


def give_back(memory: Memory) -> None:
    """Give back what waits, or was granted, for a decider that was not asked in this tick.

    Args:
        memory: whose tree.
    """
    rare = memory.rare
    for at in tuple(rare.waiting):
        if at not in rare.renewed:
            _forget(memory, at)
            memory.require_body().flags.release(at)
    rare.renewed.clear()


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
            memory.rare.renewed.append(at)
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


def _waiting(memory: Memory, node: Node, parent: Activation | None) -> Activation | None:
    """Who waits for the flags of a decider; its claim is renewed."""
    if not memory.has_claims:
        return None
    at = _found(memory, node, parent)
    if at is not None:
        at.parent = parent
        if at not in memory.rare.renewed:
            memory.rare.renewed.append(at)
    return at


def _same_place(one: Activation | None, other: Activation | None) -> bool:
    return one is other or (one is not None and other is not None and one.path == other.path)


def _forget(memory: Memory, at: Activation) -> None:
    if at in memory.rare.waiting:
        memory.rare.waiting.remove(at)


def _is_own(memory: Memory, flag: str) -> bool:
    hold = memory.require_body().flags.holder(flag)
    return hold is not None and isinstance(hold.owner, Activation) and hold.owner.memory is memory


def _tell(memory: Memory, at: Activation, refusal: Refusal | None) -> None:
    """Put a refusal into the trace, when it is another one than before."""
    refused = memory.rare.refused
    path = at.path
    if refusal is None:
        refused.pop(path, None)
    elif refused.get(path) != (refusal.flag, refusal.holder):
        refused[path] = (refusal.flag, refusal.holder)
        note(memory.require_body(), path, Event.REFUSED, (("flag", refusal.flag), ("holder", refusal.holder)))
