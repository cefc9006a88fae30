"""Deciding: who is asked, by which checks, who is chosen, and how a tree takes its part of the agent's control flags.

*Asking* a decider whether it accepts is, in this order, each only if the one before passed:

    1. it is not disabled for this agent
    2. its timer: at least so many seconds since the last call of its Decide
    3. its decision flags
    4. its stimuli flags
    5. a reference: its target is not active, and not out for this tick
    6. its control flags are not kept by somebody foreign
    7. its Decide answers a number greater than 0; without one, that counts as 1.0

The timer does not count for a decider that accepted already, and has waited for its control flags since. Preconditions
are for those who are not active: what is active goes on whatever they say. A Decide that raises, or answers what is no
number, refuses, and is not asked again. ``walk`` has the same order once more, for the steady path.

*Choosing* a child of a group is a matter of its policy. A group *begins* when it has no active child: it was activated,
or it is ROOT and found nobody before. It *redecides* when its active child failed. Children that failed in this tick
are masked: they are not asked again.

    policy                 begins with                          while a child is active     redecides with
    kGroupPrioritizedList  the first in order that accepts      those before it are asked;  the first in order that
                                                                who accepts takes over      accepts
    kGroupSequential       the first in order that accepts      nobody is asked             the next that accepts; after
                                                                                            the last, the group fails
    kGroupRandom           the first drawn that accepts, each   nobody is asked             as it begins
                           as likely as the other
    kGroupShuffle          the first that accepts, in a random  nobody is asked             the next in it; after the
                           order of all                                                     last in a new order, once
    kGroupScored           the highest answer of all; of equal  nobody is asked             as it begins
                           ones the first

A new policy is a member of ``GroupPolicy`` with its words and its constant in ``declare``, a case of
``GroupRound.choose`` here, and a line of the table in docs/tutorials/behavior.md; if siblings may interrupt the active
child, also ``higher`` in ``compile``, and ``_sibling`` in ``debug``.

That an active child is not interrupted by its siblings in the last four, and that its score does not defend it, is
hysteresis: what begins a behavior is another question than what continues it.

What asking came to is a ``DeciderChoice``: usually one newcomer, to be activated below the group that asked. There are
several for a jump (all that is on the way from the active path to the target), and for a group that delegates its
decision to its children: the group, then the child that it would choose, which is not asked again when it is activated.
(Asking twice would run timers down and double the work, which are the caveats of the source.)

*Control flags*: a decider is passed over while somebody foreign keeps one of its flags: it fails a check, before its
Decide is called. What is on the path of this tree is not foreign: a child shares the flags of its groups, and who
replaces somebody takes over his. Who would give way to this tree may need time for it. The claim then waits in the
ledger, the decider is passed over, and is chosen in the next tick in which it has its flags and is asked again.

* A claim that waits is renewed by being asked; one that nobody renewed by the end of a tick is given back.
* What the ledger granted is for the next tick: if the decider is not activated in it, it is given back, too. Being
  asked is not enough: who wants nothing any more would keep its flags for as long as somebody asks.
* Only while somebody below, who is to be activated together with it, waits for his flags, a decider keeps its own.
* A claim shares the flags of the active path. If the path has lost one of them by the time at which the decider is to
  be activated, the claim is worth nothing: the rest is given back, and all are claimed anew.

Source: Spore, behavior trees: "S01: Overview"; "S03: Differences From Halo's Behavior Tree AI"; "S04: How Deciders
Decide"; "S05: Subset Rule"; "S06: Preconditions & Stimuli".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from agentrt.behavior.debug import log_of
from agentrt.behavior.declare import PRIORITIZED_LIST, RANDOM, SCORED, SEQUENTIAL, SHUFFLE
from agentrt.behavior.memory import Activation, ActivationStage, DeciderChoice, without
from agentrt.behavior.stimuli import SLACK
from agentrt.body.driver import note, tick_of
from agentrt.body.flags import chain_of
from agentrt.errors import ENDS_PROGRAM, WrongStateError
from agentrt.kernel.trace import TraceEvent
from agentrt.words import type_name

if TYPE_CHECKING:
    from agentrt.behavior.compile import DeciderNode
    from agentrt.behavior.debug import DecisionLog
    from agentrt.behavior.memory import Memory
    from agentrt.body.flags import Refusal

# --- control flags ----------------------------------------------------------------------------------------------------


def _candidate(memory: Memory, node: DeciderNode, parent: Activation | None) -> Activation:
    """An activation for somebody who may be activated: the one that waits for its flags, if it does."""
    found = _claimant(memory, node, parent) if node.flags else None
    return Activation(memory, node, parent) if found is None else found


def _is_kept(memory: Memory, node: DeciderNode, parent: Activation | None) -> bool:
    """Whether somebody foreign keeps a flag of a decider."""
    ledger = memory.state.body.flags_if_made
    if ledger is None or ledger.is_free:  # the usual case: no activation is made to ask for nothing
        return False
    claimant = _claimant(memory, node, parent)
    if claimant is not None:
        _renew(memory, claimant)
        return claimant.stage is ActivationStage.WAITING
    if all(_is_own(memory, flag) for flag in node.flags):
        return False
    at = Activation(memory, node, parent)  # only to ask by; who accepts has another one, made by ``chosen``
    own = [*_present(memory), *at.upward()]
    refusal = ledger.obstacle(node.flags, at, tick_of(memory.state.body), shared_with=own)
    _tell(memory, at, refusal)
    return refusal is not None


def secure(memory: Memory, choice: DeciderChoice) -> bool:
    """Take the flags of those who are to be activated, all or none."""
    claimants = [at for at in choice.newcomers if at.node.flags]
    if not claimants:
        return True
    body = memory.state.body
    present = _present(memory)
    shared = [*present, *choice.newcomers]
    granted: list[Activation] = []
    for at in claimants:
        if at.stage is ActivationStage.GRANTED:
            continue
        if at.stage is ActivationStage.WAITING or not _claim(memory, at, shared):
            for other in granted:  # all or none: no flag is kept for nothing while this one waits
                body.flags.release(other)
            return False
        granted.append(at)
    # Flags pass on before their holders end: given back and claimed again, somebody foreign could have them in between.
    leaving = present if choice.base is None else present[present.index(choice.base) + 1 :]
    for index, at in enumerate(claimants):  # the outermost first: it ends last
        body.flags.hand_over(at.node.flags, at, tick_of(body), holders=[*leaving, *claimants[index + 1 :]])
        _waits_no_more(memory, at)
    return True


def hand_back(memory: Memory, newcomers: list[Activation], holders: list[Activation]) -> None:
    """Newcomers, to whom flags passed on, are not activated after all: who goes on, or cleans up, has them again."""
    body = memory.state.body
    wanted = {flag for at in newcomers for flag in at.node.flags}
    for at in holders:  # from the top down: a flag that several shared is the outermost's, which ends last
        flags = tuple(flag for flag in at.node.flags if flag in wanted)
        if flags:
            wanted.difference_update(flags)
            body.flags.hand_over(flags, at, tick_of(body), holders=newcomers)


def give_back(memory: Memory) -> None:
    """A tick is over: give back what waits for a decider that was not asked in it, or was granted and not taken up."""
    rare = memory.state.rare
    renewed, rare.renewed = rare.renewed, ()
    for at in tuple(rare.waiting.values()):
        if not any(at in other.upward() for other in renewed):
            abandon(at)


def abandon(at: Activation) -> None:
    """Give back what waits, or was granted, for a decider that is not active."""
    at.stage = ActivationStage.CANDIDATE
    _waits_no_more(at.memory, at)
    release(at)


def _waits_no_more(memory: Memory, at: Activation) -> None:
    rare = memory.state.seldom
    if rare is not None:
        rare.waiting = without(rare.waiting, at.path)


def release(at: Activation) -> None:
    """Give back the flags of an activation that is over, or never came to be."""
    if at.node.flags:
        at.memory.state.body.flags.release(at)


def release_all(newcomers: list[Activation]) -> None:
    """Nobody of these is activated after all."""
    gone, newcomers[:] = newcomers[:], []  # before they are released: whom the ledger serves then may come by here
    for at in gone:
        release(at)


def _claim(memory: Memory, at: Activation, shared: list[Activation]) -> bool:
    body = memory.state.body
    tick = tick_of(body)
    # Asked first: a claim that waits would have some give way although another one keeps a flag from it for good.
    refusal = body.flags.obstacle(at.node.flags, at, tick, shared_with=shared)
    if refusal is None:
        refusal = body.flags.claim(at.node.flags, at, tick, shared_with=shared, wait=True)
        if refusal is not None and body.flags.is_waiting(at):
            at.stage = ActivationStage.WAITING
            rare = memory.state.rare
            rare.waiting = {**rare.waiting, at.path: at}
            _renew(memory, at)
            memory.state.update()
    _tell(memory, at, refusal)
    return refusal is None


def _found(memory: Memory, node: DeciderNode, parent: Activation | None) -> Activation | None:
    """Who accepted for a decider in an earlier tick, and has waited for its flags since."""
    if not memory.state.has_claims:
        return None
    # The place counts: its group may have been activated anew since.
    return memory.state.rare.waiting.get(memory.state.path_of(node, parent))


def _claimant(memory: Memory, node: DeciderNode, parent: Activation | None) -> Activation | None:
    """Who waits for the flags of a decider, or was granted them and has them still."""
    at = _found(memory, node, parent)
    if at is None:
        return None
    at.parent = parent  # which may be another activation of the group
    if at.stage is ActivationStage.GRANTED and not all(_is_shared(at, flag) for flag in node.flags):
        abandon(at)
        return None
    return at


def _renew(memory: Memory, at: Activation) -> None:
    rare = memory.state.rare
    if at.stage is ActivationStage.WAITING and at not in rare.renewed:
        rare.renewed = (*rare.renewed, at)


def _is_own(memory: Memory, flag: str) -> bool:
    hold = memory.state.body.flags.holder(flag)
    return hold is not None and isinstance(hold.owner, Activation) and hold.owner.memory is memory


def _present(memory: Memory) -> list[Activation]:
    """The active path, each followed by those who are to be activated below as soon as its activate has ended."""
    found: list[Activation] = []
    for at in memory.path():
        found.append(at)
        found.extend(at.extra.newcomers)
    return found


def _is_shared(at: Activation, flag: str) -> bool:
    """Whether a flag is held by a claimant, on the active path, or by whom the claimant runs for."""
    hold = at.body.flags.holder(flag)
    if hold is None:
        return False
    return any(hold.owner is other for other in (*chain_of(at), *_present(at.memory)))


def _tell(memory: Memory, at: Activation, refusal: Refusal | None) -> None:
    """Put a refusal into the trace, when it is another one than before."""
    path = at.path
    if refusal is None:
        if memory.state.seldom is not None:
            memory.state.seldom.refused = without(memory.state.seldom.refused, path)
        return
    rare = memory.state.rare
    if rare.refused.get(path) != (refusal.flag, refusal.holder):
        rare.refused = {**rare.refused, path: (refusal.flag, refusal.holder)}
        note(memory.state.body, path, TraceEvent.REFUSED, (("flag", refusal.flag), ("holder", refusal.holder)))


# --- asking -----------------------------------------------------------------------------------------------------------

_Trail = list[str] | None  # where to write down for the log what came of each check, if anybody reads it


def _ask(memory: Memory, parent: Activation | None, node: DeciderNode, trail: _Trail) -> DeciderChoice | None:
    """Ask a decider that is not active, for a group, or for nobody if it is ROOT."""
    if memory.state.is_disabled(node):
        _told(trail, "disabled")
        return None
    if not _passes(memory, node, parent, trail):
        return None
    jump: DeciderChoice | None = None
    if node.target is not None:
        jump = _jump(memory, node, trail)
        if jump is None:
            return None
    if _is_refused(memory, node, parent, jump):
        _told(trail, "failed ControlFlags check")
        return None
    accepted, value, dblock = call_decide(memory, node, parent, trail)
    if not accepted:
        return None
    if jump is not None:
        last = jump.newcomers[-1]
        if last.node.dblock is None:
            last.leave(dblock)
        jump.value = value
        return jump
    choice = chosen(memory, parent, node, value)
    if choice.newcomers[0].node is node:
        choice.newcomers[0].leave(dblock)
    return choice


def chosen(memory: Memory, parent: Activation | None, node: DeciderNode, value: float) -> DeciderChoice:
    """Who is to be activated for a decider that accepted."""
    remembered = memory.state.remembered(node, parent)
    if remembered is None:
        return DeciderChoice(value, node, parent, [_candidate(memory, node, parent)])
    at, inner = remembered
    choice = DeciderChoice(value, node, parent, [at])
    return choice if inner is None else choice.and_then(inner, value)


def call_decide(
    memory: Memory, node: DeciderNode, parent: Activation | None, trail: _Trail = None
) -> tuple[bool, float, Any]:
    """Call the Decide of a decider; returns whether it accepts, its answer, and the DBlock that it filled."""
    if node.timer >= 0:
        memory.timers[node.timer] = memory.time  # whatever it answers, and if it raises: it was called
    memory.state.asked, memory.state.asked_by = node, parent
    dblock = None
    hook = "dblock"
    try:
        if node.dblock is not None:
            dblock = node.dblock()
        hook = "decide"
        if node.decide is None:
            value = 1.0
        elif node.dblock is None:
            value = node.decide(memory)
        else:
            value = node.decide(memory, dblock)
        accepted = bool(value > 0.0)
        if trail is not None:
            trail.append("no Decide, 1.000000" if node.decide is None else f"Decide returned {float(value):.6f}")
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        memory.state.fault(node, memory.state.path_of(node, parent), hook, error)
        _told(trail, f"Decide raised {type_name(error)}")
        return False, 0.0, None
    finally:
        memory.state.asked = None  # outside of a Decide ``delegate`` is an error, by this
    return accepted, value, dblock


def _passes(memory: Memory, node: DeciderNode, parent: Activation | None, trail: _Trail) -> bool:
    told = len(trail) if trail is not None else 0
    if node.timer >= 0:
        is_early = memory.time - memory.timers[node.timer] < node.every - SLACK
        if is_early and _found(memory, node, parent) is None:
            _told(trail, "failed Time check")
            return False
        _told(trail, "passed Time check")
    if node.decision is not None:
        if not node.decision.holds(memory.decision_flags):
            _told(trail, "failed DecisionFlags check")
            return False
        _told(trail, "passed DecisionFlags check")
    if node.stimuli is not None:
        if not node.stimuli.holds(memory.stimuli_flags):
            _told(trail, "failed StimuliFlags check")
            return False
        _told(trail, "passed StimuliFlags check")
    if trail is not None and len(trail) == told:
        trail.append("has no preconditions")
    return True


def _is_refused(memory: Memory, node: DeciderNode, parent: Activation | None, jump: DeciderChoice | None) -> bool:
    """Whether somebody foreign keeps a control flag of a decider, or of those to whom it leads."""
    if jump is None:
        return bool(node.flags) and _is_kept(memory, node, parent)
    return any(at.node.flags and _is_kept(memory, at.node, at.parent) for at in jump.newcomers)


def _jump(memory: Memory, node: DeciderNode, trail: _Trail) -> DeciderChoice | None:
    """Who is to be activated for a reference: everybody on the way from the active path to its target."""
    base = memory.root
    newcomers: list[Activation] = []
    way = list(node.way)
    if base is None:
        newcomers.append(_candidate(memory, memory.tree.nodes[0], None))
    else:
        if any(at.node is node.target for at in _present(memory)):
            _told(trail, "target is active")
            return None
        # As far as the path leads that way it stays as it is, unless it has failed in this tick.
        while base.child is not None and base.child.node is way[0] and not base.extra.mask >> base.index & 1:
            base = base.child
            way.pop(0)
        if base.extra.mask >> base.node.children.index(way[0]) & 1:
            _told(trail, "target is masked")
            return None
    parent = newcomers[-1] if newcomers else base
    for step in way:
        parent = _candidate(memory, step, parent)
        if memory.state.is_disabled(step):
            _told(trail, "target is disabled")
            return None
        newcomers.append(parent)
    return DeciderChoice(1.0, node, base, newcomers)


def _told(trail: _Trail, text: str) -> None:
    if trail is not None:
        trail.append(text)


def attempt(
    memory: Memory, parent: Activation | None, node: DeciderNode, log: DecisionLog | None, *, secures: bool = True
) -> DeciderChoice | None:
    """Ask one decider, for its group, and its children if it delegates; and take the control flags of who accepted.

    ``secures`` is False where the answer alone is wanted.
    """
    trail: _Trail = [] if log is not None and log.wants_all else None
    choice = _ask(memory, parent, node, trail)
    # Not if its own Decide asked the children: they are among the newcomers then.
    if choice is not None and node.delegates and choice.newcomers[-1].node is node:
        inner = GroupRound(memory, choice.newcomers[-1], log, secures=False).choose(-1)
        choice = None if inner is None else choice.and_then(inner, inner.value)
        if trail is not None:
            trail.append(f"children returned {0.0 if choice is None else choice.value:.6f}")
    if choice is not None and secures and not secure(memory, choice):
        choice = None
        _told(trail, "failed ControlFlags check")
    if log is not None and trail is not None:
        log.child(parent, node, trail)
    return choice


def delegate(memory: Memory) -> float:
    """Within the Decide of a group: ask its children, and remember whom it would choose."""
    node, parent = memory.state.asked, memory.state.asked_by
    if node is None or not node.children:
        raise WrongStateError(
            "Memory.delegate_decide_to_children",
            "no Decide of a group is being called",
            "Call it within the Decide of a group decider.",
        )
    rare = memory.state.rare
    redeciding, rare.redeciding = rare.redeciding, None  # a group among the children that delegates, too, only begins
    at = _candidate(memory, node, parent) if redeciding is None else redeciding
    choice = GroupRound(memory, at, log_of(memory), secures=False).choose(-1 if redeciding is None else at.index)
    # Again: the children's Decides were asked meanwhile, and this one may delegate once more.
    memory.state.asked, memory.state.asked_by, rare.redeciding = node, parent, redeciding
    rare.delegated = (at, choice)
    memory.state.is_plain = False  # it is forgotten when the tick is over
    return 0.0 if choice is None else choice.value


# --- choosing ---------------------------------------------------------------------------------------------------------


class GroupRound:
    """One decision of a group."""

    __slots__ = ("_at", "_children", "_log", "_memory", "_secures")

    def __init__(self, memory: Memory, at: Activation, log: DecisionLog | None, *, secures: bool = True) -> None:
        self._memory = memory
        self._at = at
        self._children = at.node.children
        self._log = log
        self._secures = secures  # whether to take the control flags of who is chosen

    def interrupting(self, first: int = 0) -> DeciderChoice | None:
        """Who takes over from the active child, if anybody does."""
        return self._first(range(first, len(self._at.node.higher[self._at.index])))

    def choose(self, failed: int) -> DeciderChoice | None:
        """Choose among all: to begin (-1), or to redecide because a child failed (its number)."""
        policy = self._at.node.policy
        count = len(self._children)
        if policy is PRIORITIZED_LIST:
            return self._first(range(count))
        if policy is SEQUENTIAL:
            return self._first(range(failed + 1, count))
        if policy is RANDOM:
            return self._drawn()
        if policy is SCORED:
            return self._best()
        if policy is SHUFFLE:
            return self._shuffled(failed)
        raise NotImplementedError(f"nothing chooses by the policy {policy!r}")

    def _try(self, index: int, *, secures: bool) -> DeciderChoice | None:
        at = self._at
        node = self._children[index]
        if at.extra.mask >> index & 1:
            if self._log is not None:
                self._log.child(at, node, ["masked"])
            return None
        return attempt(self._memory, at, node, self._log, secures=secures)

    def _first(self, indices: Iterable[int]) -> DeciderChoice | None:
        for index in indices:
            choice = self._try(index, secures=self._secures)
            if choice is not None:
                return choice
        return None

    def _drawn(self) -> DeciderChoice | None:
        pool = [index for index in range(len(self._children)) if not self._at.extra.mask >> index & 1]
        while pool:
            # One draw for each that is asked: a recording counts on how many there are.
            choice = self._try(pool.pop(self._memory.random.below(len(pool))), secures=self._secures)
            if choice is not None:
                return choice
        return None

    def _shuffled(self, failed: int) -> DeciderChoice | None:
        order = self._at.extra.order
        if failed >= 0 and order is not None:
            choice = self._first(order[order.index(failed) + 1 :])
            if choice is not None:
                return choice
        order = list(range(len(self._children)))
        self._memory.random.shuffle(order)
        # Who failed in this tick comes last, so that nobody loses the turn of a round.
        order.sort(key=lambda index: self._at.extra.mask >> index & 1)
        self._at.more().order = order
        return self._first(order)

    def _best(self) -> DeciderChoice | None:
        # None takes its flags before all have answered: it would have others give way, and then another one may win.
        choices = [self._try(index, secures=False) for index in range(len(self._children))]
        accepted = [choice for choice in choices if choice is not None]
        for choice in sorted(accepted, key=lambda one: -one.value):  # stable: of equals the first
            if not self._secures or secure(self._memory, choice):
                return choice
        return None
