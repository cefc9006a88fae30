"""Ticking a behavior tree, as the text tells it: slow, plain, and written without a look into the package.

A tree is described by ``Decider`` and ``Behavior``, which hold no code: what their functions answer comes from a
``Script``, by name, and each call is a line of the script's log. ``Model`` ticks such a tree; ``test_properties.py``
makes a tree of the package from the same description, with the same kind of script, and the logs have to be equal.

The model is one function that calls itself, ``_visit``: it handles a decider that is active, and says whether a
behavior was ticked below it, or whether the decider failed. Whoever called it then asks its other children.

Source: seed 002, "Overview" (the walk through Figure 1), "How Deciders Decide", "Subset Rule", "Preconditions &
Stimuli", "Behaviors". Where those are silent: docs/explanation/sources.md.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from zlib import crc32

PRIORITIZED, SEQUENTIAL, RANDOM, SHUFFLE, SCORED = "PrioritizedList", "Sequential", "Random", "Shuffle", "Scored"
POLICIES = (PRIORITIZED, SEQUENTIAL, RANDOM, SHUFFLE, SCORED)


class TooManyRedecidesError(Exception):
    """The guard of the Subset Rule."""


# --- what a tree is ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Checks:
    """What bits of a word of flags have to be: ``all`` of these, and one of ``any`` if there are any: (bit, value)."""

    all: tuple[tuple[int, int], ...] = ()
    any: tuple[tuple[int, int], ...] = ()

    def hold(self, word):
        def is_so(bit, value):
            return (word >> bit) & 1 == value

        return all(is_so(*one) for one in self.all) and (not self.any or any(is_so(*one) for one in self.any))


@dataclass(frozen=True)
class Behavior:
    """``functions``: which of activate, tick and deactivate it has, by their first letters."""

    name: str
    functions: str = "atd"
    control: frozenset[str] = frozenset()


@dataclass(eq=False, repr=False)
class Decider:
    """A group decider if it has a policy, a reference decider if it has a target, else a behavior decider."""

    name: str
    behavior: Behavior | None = None
    policy: str = ""
    children: tuple[Decider, ...] = ()
    target: Decider | None = None
    has_decide: bool = True
    on_redecide: bool = False
    delegates: bool = False
    every: float = 0.0
    decision: Checks = field(default_factory=Checks)
    stimuli: Checks = field(default_factory=Checks)

    def _repr_pretty_(self, printer, _cycle):
        """For hypothesis: the tree in one line, with what differs from the defaults."""
        printer.text(repr(self))

    def __repr__(self):
        marks = {
            self.behavior and f"{self.behavior.name}:{self.behavior.functions}{sorted(self.behavior.control) or ''}": 1,
            "always": not self.has_decide,
            "again": self.on_redecide,
            "delegates": self.delegates,
            f"every {self.every}": self.every,
            f"{self.decision} of decision": self.decision != Checks(),
            f"{self.stimuli} of stimuli": self.stimuli != Checks(),
            f"-> {self.target and self.target.name}": self.target,
        }
        told = ", ".join(mark for mark, is_told in marks.items() if mark and is_told)
        return f"{self.name} {self.policy}({told})" + (str(list(self.children)) if self.policy else "")


class Script:
    """Answers to the functions, and the log of their calls.

    An answer depends on the seed, the tick, the name, and how often that one was called in this tick; never on what
    the tree made of the answers before. The seed says how often refusals and failures are, too; ``faults`` are of a
    hundred.
    """

    def __init__(self, seed, faults=0):
        self.seed = seed
        self.refusals = seed % 7  # of ten
        self.failures = seed // 7 % 5
        self.faults = faults
        self.log = []
        self.now = 0
        self._calls = {}

    def begin(self):
        self.now += 1
        self._calls = {}
        self.log.append(f"--- {self.now}")

    def _draw(self, name):
        number = self._calls[name] = self._calls.get(name, 0) + 1
        draw = crc32(f"{self.seed}/{self.now}/{name}/{number}".encode()) >> 7
        if draw % 100 < self.faults:
            self.log.append(f"{name} raises")
            raise ValueError(name)
        return draw // 100 % 10

    def decide(self, name):
        value = max(0, self._draw(f"{name}.decide") + 1 - self.refusals) / 4
        self.log.append(f"{name}.decide {value}")
        return value

    def call(self, name, function):
        """``activate`` and ``tick``: whether it goes on. ``deactivate`` answers nothing."""
        draw = self._draw(f"{name}.{function}")
        answer = {"activate": draw > self.failures // 2, "tick": draw >= self.failures, "deactivate": None}[function]
        self.log.append(f"{name}.{function}" if answer is None else f"{name}.{function} {answer}")
        return answer


# --- what an agent does in it -----------------------------------------------------------------------------------------


@dataclass
class Choice:
    """A child that accepted.

    ``inner`` is whom it chose already, if it delegates its decision to its children, or where to jump. ``order`` is
    that of a group that shuffles.
    """

    index: int
    value: float
    inner: Choice | Decider | None = None
    order: list[int] | None = None


@dataclass
class Entry:
    """An active decider. ``order`` is that of a shuffling group, ``masked`` counts for this tick."""

    decider: Decider
    index: int
    has_begun: bool = True
    masked: set[int] = field(default_factory=set)
    order: list[int] | None = None


@dataclass
class Jump:
    """A reference was chosen: the way to its target, as indexes from the root."""

    way: list[int]
    depth: int = 0


class Model:
    """One agent in one tree."""

    def __init__(self, root, script, stream=None, limit=100):
        self.root = root
        self.script = script
        self.stream = stream
        self.limit = limit
        self.path = []
        self.timers = {}
        self.disabled = set()
        self.foreign = frozenset()  # control flags that somebody else holds
        self.redecides = 0

    def names(self):
        return [entry.decider.name for entry in self.path]

    def tick(self, dt, decision=0, stimuli=0):
        """Whether a behavior was ticked."""
        self.decision, self.stimuli, self.redecides = decision, stimuli, 0
        self.timers = {name: left - dt for name, left in self.timers.items()}
        self.script.begin()
        for entry in self.path:
            entry.masked = set()
        if self.path:
            alive = self._visit(0)
        else:
            value, inner = self._asked(self.root)
            if value <= 0:
                return False
            alive = self._enter(0, self.root, 0, self._place(inner) if isinstance(inner, Decider) else inner)
        if alive is None:
            self._deactivate(0)
        return bool(alive)

    # --- along the path: True if a behavior was ticked, False if nobody wants to, None if the decider failed ----------

    def _enter(self, depth, decider, index, forced):
        entry = Entry(decider, index)
        self.path.append(entry)
        if not self._call(decider, "activate"):
            entry.has_begun = False
            return None
        return self._visit(depth, forced)

    def _visit(self, depth, forced=None):
        """``forced``: which child is to be entered, if that is settled: a choice, a jump, or the rest of its way."""
        entry = self.path[depth]
        decider = entry.decider
        if not self._call(decider, "tick"):
            return None
        if not decider.policy:
            return True
        active = self.path[depth + 1].index if len(self.path) > depth + 1 else None
        choice = forced
        if choice is None:
            choice = self._begins(entry) if active is None else self._interrupts(decider, active)
        while True:
            if isinstance(choice, Jump):
                outcome = choice
            elif choice is not None:
                outcome = self._switch(depth, choice)
            elif active is not None:
                outcome = self._visit(depth + 1)
            else:
                return self._nobody(depth)
            while isinstance(outcome, Jump) and outcome.depth >= depth:
                is_here = outcome.depth == depth
                outcome = self._switch(depth, outcome.way) if is_here else self._visit(depth + 1, outcome)
            if outcome is not None:
                return outcome
            failed = self.path[depth + 1].index
            entry.masked.add(failed)
            active = None
            self.redecides += 1
            if self.redecides > self.limit:
                self._deactivate(depth + 1)
                raise TooManyRedecidesError
            if decider.on_redecide and self._value(decider) <= 0:
                return None
            choice = self._goes_on(entry, failed)

    def _nobody(self, depth):
        """No child wants to: the group fails, but the root stays, without a child."""
        if depth:
            return None
        self._deactivate(1)
        return False

    def _switch(self, depth, forced):
        """Leave the path below a group for another child."""
        entry = self.path[depth]
        if isinstance(forced, Choice):
            index, rest = forced.index, forced.inner
            entry.order = forced.order or entry.order
        else:
            index, rest = forced[0], forced[1:] or None
        if isinstance(rest, Decider):
            way = self._place(rest)
            shared = self._shared(way)
            return Jump(way[shared:], shared)
        self._deactivate(depth + 1)
        return self._enter(depth + 1, entry.decider.children[index], index, rest)

    def _deactivate(self, depth):
        """Leave the path from its end up to a depth: inner first."""
        while len(self.path) > depth:
            entry = self.path[-1]
            if entry.has_begun:
                self._call(entry.decider, "deactivate")
            self.path.pop()

    def _call(self, decider, function):
        behavior = decider.behavior
        if behavior is None or function[0] not in behavior.functions:
            return True
        try:
            return self.script.call(f"{decider.name}:{behavior.name}", function)
        except ValueError:
            self.disabled.add(decider.name)
            return False

    # --- jumps --------------------------------------------------------------------------------------------------------

    def _place(self, target):
        """The way from the root to the first place of a decider, in the order of declaration."""

        def search(decider):
            for index, child in enumerate(decider.children):
                if child is target:
                    return [index]
                if (rest := search(child)) is not None:
                    return [index, *rest]
            return None

        return search(self.root)

    def _shared(self, way):
        """How many steps of a way the active path has, too; what failed in this tick does not count."""
        shared = 0
        while shared + 1 < len(self.path) and self.path[shared + 1].index == way[shared]:
            if way[shared] in self.path[shared].masked:
                break
            shared += 1
        return shared

    def _may_jump(self, target):
        if any(entry.decider is target for entry in self.path):
            return False
        way = self._place(target)
        shared = self._shared(way)
        if self.path and way[shared] in self.path[shared].masked:
            return False
        return not any(one.name in self.disabled or self._is_refused(one) for one in self._newcomers(target))

    def _newcomers(self, target):
        """Who is to be activated for a jump, from the top down."""
        way = self._place(target)
        shared = self._shared(way)
        found = [self.path[shared].decider if self.path else self.root]
        for index in way[shared:]:
            found.append(found[-1].children[index])
        return found[1:] if self.path else found

    # --- choosing -----------------------------------------------------------------------------------------------------

    def _interrupts(self, decider, active):
        """Only a prioritized list lets somebody take over from the active child: those before it."""
        return self._first(decider, range(active)) if decider.policy == PRIORITIZED else None

    def _begins(self, entry):
        candidates = [i for i in range(len(entry.decider.children)) if i not in entry.masked]
        return self._chosen(entry.decider, candidates)

    def _goes_on(self, entry, failed):
        """A child failed: who of the others is to be activated."""
        decider = entry.decider
        everybody = range(len(decider.children))
        if decider.policy == SEQUENTIAL:
            return self._first(decider, [i for i in everybody if i > failed and i not in entry.masked])
        if decider.policy == SHUFFLE and entry.order is not None:
            rest = entry.order[entry.order.index(failed) + 1 :]
            if found := self._first(decider, [i for i in rest if i not in entry.masked]):
                return found
        return self._chosen(decider, [i for i in everybody if i not in entry.masked])

    def _chosen(self, decider, candidates):
        if decider.policy in {PRIORITIZED, SEQUENTIAL}:
            return self._first(decider, candidates)
        if decider.policy == SCORED:
            return self._best(decider, candidates)
        if decider.policy == RANDOM:
            return self._drawn(decider, candidates)
        order = list(range(len(decider.children)))
        self.stream.shuffle(order)
        order.sort(key=lambda index: index not in candidates)  # whose turn cannot be now has it at the end
        if found := self._first(decider, [i for i in order if i in candidates]):
            found.order = order
        return found

    def _first(self, decider, indexes):
        for index in indexes:
            value, inner = self._asked(decider.children[index])
            if value > 0:
                return Choice(index, value, inner)
        return None

    def _best(self, decider, candidates):
        best, found = 0.0, None
        for index in candidates:
            value, inner = self._asked(decider.children[index])
            if value > best:
                best, found = value, Choice(index, value, inner)
        return found

    def _drawn(self, decider, candidates):
        pool = list(candidates)
        while pool:
            index = pool.pop(self.stream.below(len(pool)))
            if found := self._first(decider, [index]):
                return found
        return None

    # --- asking -------------------------------------------------------------------------------------------------------

    def _asked(self, decider):
        """What a decider answers, and what it chose for it: 0 if a precondition fails, 1 without a Decide."""
        refused = (
            decider.name in self.disabled
            or self.timers.get(decider.name, 0) > 0
            or not decider.decision.hold(self.decision)
            or not decider.stimuli.hold(self.stimuli)
            or (not self._may_jump(decider.target) if decider.target else self._is_refused(decider))
        )
        value = 0.0 if refused else self._value(decider)
        if value <= 0:
            return 0.0, None
        if decider.target is not None:
            return value, decider.target
        if not decider.delegates:
            return value, None
        choice = self._chosen(decider, range(len(decider.children)))
        if choice is None:
            return 0.0, None
        return choice.value, choice.inner if isinstance(choice.inner, Decider) else choice

    def _is_refused(self, decider):
        return decider.behavior is not None and bool(decider.behavior.control & self.foreign)

    def _value(self, decider):
        if decider.every:
            self.timers[decider.name] = decider.every
        if not decider.has_decide:
            return 1.0
        try:
            return self.script.decide(decider.name)
        except ValueError:
            self.disabled.add(decider.name)
            return 0.0
