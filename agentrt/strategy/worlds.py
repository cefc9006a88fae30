"""Worlds, as they are and as look-ahead assumes them, and what was found out in each: the memo of estimates.

A ``World`` is CURRENT with a layer of assumptions; the one without is the world as it is. In each stand *tables*, one
for a dependency at a depth of look-ahead, and in a table stands what each provider said, who is chosen, and the world
in which the dependency has been met. So a world that follows from another by meeting a need is made once, and what was
found out in it is found again.

Each entry (``Kept``) remembers the topics that were read for it, with their versions, and it holds while none of them
has another. Whoever did not say what he reads is believed during one decision only. It also remembers which needs were
priced for it, and who was left out there because he is being run or asked for the same: it is found again wherever that
makes no difference, so that circles, of which there are many, do not empty the memo.

*Taking over.* When the world turns out as it was assumed (every field that is written in the layer has that value in
reality), what was found out in the assumed world holds in the real one. Its topics have changed meanwhile, or nothing
would have come true; so a topic that has the name of a field that was assumed stands for that field, and is as good as
its value. All other topics must be unchanged.

Rejected: comparing whole states to find out whether an estimate still holds. It costs more than asking anew.

Source: seed 003, "Heuristic Based Task Selection", question 3; "Planning Ahead Using Probability".

Assuming: the world in which a dependency has been met, as look-ahead expects it.

Three things make it, one layer of CURRENT above the other: what the needs of the provider bring about that would be
chosen (of its likeliest branch), what that branch expects besides, and what the dependency itself says (``assume``). A
dependency that is met leaves the world as it is. A hook that raises is reported, and leaves no layer.

Each such world is made once and kept in the table of the dependency in the world before it, as long as what was read
for it holds (see ``worlds``); so two strategies that need the same things look into the same future.

Source: seed 003, "Planning Ahead Using Probability": the most likely state of the world at each position.

Supplies: how much of what will be used up, so that enough can be taken along.

Strategies say what each branch uses up (``Branch.uses``). What a dependency will use is then a distribution: over the
branches of who would be chosen for it, with what their needs use, down to where look-ahead ends. The answer is the
least amount that is enough with a given confidence. Rules:

* Amounts are added and mixed exactly, but for rounding to a billionth, so that five times 0.2 is one. A distribution
  of more than 256 amounts is made coarser, upwards.
* What two needs use up is taken to be independent of each other.
* Only + - * / and comparisons: the same amounts on every host.

``tries_for`` is the same question for something that is tried until it succeeded often enough.

Source: seed 003, "Planning Ahead Using Probability": "how many pickaxes to bring into a mine".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Final

from agentrt.activity.author.expected import Current, ExpectedStorage, expected_fields, has_changes
from agentrt.errors import ENDS_PROGRAM, ArgumentError
from agentrt.strategy.declare import Branch, Dependency
from agentrt.words import repr_of

if TYPE_CHECKING:
    from agentrt.strategy.catalog import Provider
    from agentrt.strategy.declare import Expect
    from agentrt.strategy.estimate import Estimator
    from agentrt.strategy.lookahead import Outlook

__all__ = [
    "MOST_TABLES",
    "Context",
    "Kept",
    "Level",
    "Need",
    "Table",
    "Topics",
    "World",
    "is_as_assumed",
    "take_over",
    "after",
    "checked",
    "layered",
    "likeliest",
    "outcome",
    "write_expected",
    "MOST_TRIES",
    "Amounts",
    "amounts_left",
    "amounts_of",
    "enough",
    "together",
    "tries_for",
]

MOST_TABLES: Final = 1024
"""How many tables a world keeps; then it begins with none."""

_MOST_CONTEXTS: Final = 8

Topics = tuple[tuple[str, int], ...]
"""What was read, with the versions."""


Need = tuple[type, object]
"""A class of dependencies, and its ``guard_key``."""


Context = frozenset[tuple[Need, "Provider"]]
"""Who is being asked or run for what, as far as it matters."""


class Kept:
    """Something that was found out, and when it holds.

    Args:
        topics: what was read for it; None if that is not known.
        context: who of those who provide one of these needs was being asked or run for it, so that he was left out.
        decision: the number of the decision in which it was found out.
        stamp: how many changes there had been.
    """

    __slots__ = ("context", "decision", "needs", "stamp", "topics", "value")

    def __init__(
        self, value: Any, topics: Topics | None, needs: Set[Need], context: Context, decision: int, stamp: int
    ) -> None:
        self.value: Any = value
        self.topics: Topics | None = topics
        self.needs: Set[Need] = needs
        self.context: Context = context
        self.decision: int = decision
        self.stamp: int = stamp

    def holds(self, decision: int, stamp: int, versions: Mapping[str, int]) -> bool:
        """Whether it still holds, in its context.

        Args:
            decision: the number of the present decision.
            stamp: how many changes there were up to now.
        """
        if self.decision == decision:
            return True
        topics = self.topics
        if topics is None:
            return False
        if self.stamp != stamp:
            for topic, version in topics:
                if versions.get(topic, 0) != version:
                    return False
            self.stamp = stamp
        return True

    def fits(self, running: Mapping[Need, Mapping[Provider, int]]) -> bool:
        """Whether it was found out in a context that makes no difference.

        Args:
            running: who is being asked or run for what.
        """
        needs, context = self.needs, self.context
        if not needs or not running:
            return not context
        met = 0
        for need in running:
            if need in needs:
                for provider in running[need]:
                    if (need, provider) not in context:
                        return False
                    met += 1
        return met == len(context)


class Table:
    """What was found out about one dependency at one depth: by provider, and by what it is."""

    __slots__ = ("kept",)

    def __init__(self) -> None:
        self.kept: dict[object, list[Kept]] = {}  # the entries, one for each context, the latest last

    def add(self, key: object, kept: Kept) -> None:
        """Keep something."""
        entries = self.kept.setdefault(key, [])
        if len(entries) >= _MOST_CONTEXTS:
            del entries[0]
        entries.append(kept)


class World:
    """The world as it is, or as look-ahead assumes it.

    Args:
        state: a layer of CURRENT with what is assumed; None for the world as it is.
    """

    __slots__ = ("state", "tables")

    def __init__(self, state: Current | None = None) -> None:
        self.state: Current | None = state
        self.tables: dict[tuple[Dependency[Any], int], Table] = {}  # what was found out in it

    def table(self, wanted: Dependency[Any], depth: int) -> Table:
        """The table of a dependency; made if there is none.

        Args:
            depth: how many levels are looked ahead.
        """
        key = (wanted, depth)
        found = self.tables.get(key)
        if found is None:
            if len(self.tables) >= MOST_TABLES:
                self.tables.clear()
            found = self.tables[key] = Table()
        return found

    def forget(self) -> None:
        """Nothing holds any more."""
        self.tables.clear()


class Level:
    """One level of asking: a provider for a dependency, or the choice between providers."""

    __slots__ = ("branches", "circle", "lack", "needs", "topics")

    def __init__(self) -> None:
        self.topics: dict[str, int] | None = {}  # what was read; None once somebody did not say what he reads
        self.needs: set[Need] = set()  # what was priced
        self.branches: tuple[Branch, ...] = ()  # what the provider foresees
        self.lack: Dependency[Any] | None = None  # the last need of the provider that turned out to be impossible
        # if that is since it needs itself, the needs from it down to what is needed again
        self.circle: tuple[Dependency[Any], ...] = ()


def is_as_assumed(state: Current, real: Current) -> Collection[str] | None:
    """Whether the world is as it was assumed.

    Args:
        real: a layer on the world as it is.

    Returns:
        The names of the fields that were assumed; None if one of them has another value.
    """
    assumed = expected_fields(state)
    for name, value in assumed.items():
        try:
            found = getattr(real, name)
            if isinstance(value, ExpectedStorage) and isinstance(found, ExpectedStorage):
                value, found = dict(value.items), dict(found.items)
            if not bool(value == found):
                return None
        except ENDS_PROGRAM:
            raise
        except BaseException:  # an author's type that cannot be compared: nobody knows
            return None
    return assumed.keys()


def take_over(source: World, into: World, fields: Collection[str], versions: Mapping[str, int], stamp: int) -> int:
    """Let what was found out in an assumed world hold in another one.

    Args:
        fields: those that were assumed, and are so.
        stamp: how many changes there were up to now.
    """
    count = 0
    for (wanted, depth), table in source.tables.items():
        target = into.table(wanted, depth)
        for key, entries in table.kept.items():
            for kept in entries:
                topics = _as_of_now(kept.topics, fields, versions)
                if topics is not None and not isinstance(kept.value, World):  # its layers would hide what changes
                    target.add(key, Kept(kept.value, topics, kept.needs, kept.context, -1, stamp))
                    count += 1
    return count


def _as_of_now(topics: Topics | None, fields: Collection[str], versions: Mapping[str, int]) -> Topics | None:
    if topics is None:
        return None
    now: list[tuple[str, int]] = []
    for topic, version in topics:
        present = versions.get(topic, 0)
        if present != version and topic not in fields:
            return None
        now.append((topic, present))
    return tuple(now)


_AFTER = "after"


def likeliest(branches: Iterable[Branch]) -> list[Branch]:
    """Branches by their probability, the likeliest first, those that fail last; of equals, the first.

    Args:
        branches: as a strategy foresees them; those without any probability are left out.
    """
    return sorted((one for one in branches if one.probability > 0), key=lambda one: (one.fails, -one.probability))


def checked(branches: Iterable[Branch]) -> tuple[Branch, ...]:
    """What an author's hook foresees, if it is that.

    Raises:
        TypeError: something else than branches, or a need that is no dependency.
        ValueError: a probability that is none.
    """
    found = tuple(branches)
    for one in found:
        given: object = one
        if not isinstance(given, Branch):
            raise TypeError(f"it foresees {repr_of(given, 200)}: write Branch(probability, cost, needs)")
        if not one.probability >= 0:
            raise ValueError(f"the probability of a branch is {repr_of(one.probability, 200)}: write 0 or more")
        for need in one.needs:
            wanted: object = need
            if not isinstance(wanted, Dependency):
                raise TypeError(f"a branch needs {repr_of(wanted, 200)}: write dependencies")
    return found


def after(estimator: Estimator, need: Dependency[Any], world: World, depth: int) -> World:
    """The world in which a dependency has been met.

    Args:
        depth: how many levels it is looked ahead for what the provider brings about besides.

    Returns:
        The same world, if it is met, or if nobody says what holds then.
    """
    with estimator.deciding():
        table = world.table(need, depth)
        found: World = estimator.remembered(table, _AFTER, _met, estimator, need, world, depth)
    return found


def _met(estimator: Estimator, need: Dependency[Any], world: World, depth: int) -> World:
    estimator.read(type(need).reads)
    choice = estimator.choose(need, world, depth)
    if choice.is_met:
        return world
    branches = likeliest(choice.by.branches) if choice.by is not None else []
    branch = branches[0] if branches else None
    return outcome(estimator, need, branch, () if branch is None else branch.needs, world, depth - 1)


def outcome(
    estimator: Estimator,
    need: Dependency[Any],
    branch: Branch | None,
    left: Iterable[Dependency[Any]],
    world: World,
    depth: int,
) -> World:
    """The world in which a strategy has provided a dependency.

    Args:
        branch: what came of the strategy; None if it foresees nothing.
        left: which needs of the branch are not met yet.
        depth: how many levels it is looked ahead for the needs.
    """
    for one in left:
        world = after(estimator, one, world, depth)
    if branch is not None and branch.expect:
        expect = branch.expect
        world = layered(estimator, world, need, "foresee", lambda state: write_expected(state, expect))
    if type(need).has_effect():
        world = layered(estimator, world, need, "assume", need.assume)
    return world


def write_expected(state: Current, expect: Expect) -> None:
    """Write into CURRENT what is expected.

    Args:
        expect: fields and their values, or a function that writes them.
    """
    if isinstance(expect, Mapping):
        for name, value in expect.items():
            setattr(state, name, value)
    else:
        expect(state)


def layered(
    estimator: Estimator, world: World, need: Dependency[Any], hook: str, write: Callable[[Current], None]
) -> World:
    """A world with a layer more.

    Args:
        need: the dependency that is concerned, for reports.

    Returns:
        The world below, if nothing was written, or if the hook raises.
    """
    layer = estimator.gameplay.layer(world.state)
    try:
        write(layer)
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        estimator.gameplay.fault(type(need).activity, hook, error)
        return world
    return World(layer) if has_changes(layer, world.state) else world


MOST_TRIES: Final = 100_000
"""More tries than that are no plan."""

_MOST_AMOUNTS: Final = 256
_DIGITS: Final = 9
_SLACK: Final = 1e-12

Amounts = Mapping[str, Sequence[tuple[float, float]]]
"""By name: amounts, ascending, with their probabilities."""

_USES: Final = "uses"
_NONE: Final = ((0.0, 1.0),)


def tries_for(successes: int, probability: float, confidence: float = 0.9) -> int:
    """How many tries it takes until something succeeded often enough.

    Args:
        successes: how often it has to succeed.
        probability: with which each try succeeds, apart from all others.
        confidence: how certain that has to be, from 0 to less than 1.

    Returns:
        The least number of tries, at most 100,000.

    Raises:
        ArgumentError: a number is out of its range.

    Source: seed 003, "Planning Ahead Using Probability".
    """
    _require("tries_for", "successes", successes, successes >= 0, "0 or more")
    _require("tries_for", "probability", probability, 0 < probability <= 1, "more than 0, and 1 at most")
    _require("tries_for", "confidence", confidence, 0 <= confidence < 1, "from 0 to less than 1")
    lacking = [1.0] + [0.0] * (successes - 1) if successes else []  # how likely it is to have had so many
    tries = 0
    while sum(lacking) > 1.0 - confidence + _SLACK and tries < MOST_TRIES:
        tries += 1
        for had in range(successes - 1, 0, -1):
            lacking[had] = lacking[had] * (1.0 - probability) + lacking[had - 1] * probability
        lacking[0] *= 1.0 - probability
    return tries


def _require(call: str, name: str, value: object, is_right: bool, wanted: str) -> None:
    if not is_right:
        raise ArgumentError(call, name, f"is {repr_of(value)}. Give it {wanted}.")


def enough(amounts: Amounts, confidence: float) -> dict[str, float]:
    """The least amounts that are enough.

    Args:
        confidence: how certain that has to be, from 0 to less than 1.

    Returns:
        By name, in the order of names; without those of which nothing is needed.

    Raises:
        ArgumentError: the confidence is out of its range.
    """
    _require("supplies", "confidence", confidence, 0 <= confidence < 1, "from 0 to less than 1")
    found: dict[str, float] = {}
    for name in sorted(amounts):
        certain = 0.0
        for amount, probability in amounts[name]:
            certain += probability
            if certain + _SLACK >= confidence:
                if amount > 0:
                    found[name] = amount
                break
    return found


def amounts_of(estimator: Estimator, needs: Iterable[Dependency[Any]], world: World, depth: int) -> Amounts:
    """What dependencies will use up, one after the other.

    Args:
        depth: how many levels it is looked ahead.
    """
    total: Amounts = {}
    for need in needs:
        total = together(
            total, estimator.remembered(world.table(need, depth), "uses", _of, estimator, need, world, depth)
        )
        world = after(estimator, need, world, depth)
    return total


def _of(estimator: Estimator, need: Dependency[Any], world: World, depth: int) -> Amounts:
    choice = estimator.choose(need, world, depth)
    if choice.by is None:
        return {}
    with estimator.deciding(((choice.by.offer.provider, need),)):
        return _mixed(estimator, [(one, one.needs) for one in choice.by.branches], world, depth - 1)


def amounts_left(estimator: Estimator, outlook: Outlook, world: World, depth: int) -> Amounts:
    """What an attempt that runs will still use up.

    Args:
        depth: how many levels it is looked ahead.
    """
    return _mixed(estimator, outlook.shares(), world, depth)


def _mixed(
    estimator: Estimator,
    branches: Iterable[tuple[Branch, Sequence[Dependency[Any]]]],
    world: World,
    depth: int,
) -> Amounts:
    """One of several branches comes true."""
    found: list[tuple[float, Amounts]] = []
    for branch, needs in branches:
        if branch.probability > 0:
            own = {name: ((float(amount), 1.0),) for name, amount in branch.uses.items()}
            found.append((branch.probability, together(own, amounts_of(estimator, needs, world, depth))))
    total = 0.0
    for share, _ in found:
        total += share
    mixed: dict[str, Sequence[tuple[float, float]]] = {}
    for name in sorted({name for _, amounts in found for name in amounts}):
        points: dict[float, float] = {}
        for share, amounts in found:
            for amount, probability in amounts.get(name, _NONE):
                points[amount] = points.get(amount, 0.0) + probability * share / total
        mixed[name] = _coarser(points)
    return mixed


def together(one: Amounts, other: Amounts) -> Amounts:
    """What is used up by two things."""
    if not one or not other:
        return one or other
    total = dict(one)
    for name, amounts in other.items():
        points: dict[float, float] = {}
        for first, chance in total.get(name, _NONE):
            for second, probability in amounts:
                amount = round(first + second, _DIGITS)
                points[amount] = points.get(amount, 0.0) + chance * probability
        total[name] = _coarser(points)
    return total


def _coarser(points: Mapping[float, float]) -> Sequence[tuple[float, float]]:
    amounts = sorted(points.items())
    size = -(-len(amounts) // _MOST_AMOUNTS)
    if size <= 1:
        return tuple(amounts)
    groups = [amounts[first : first + size] for first in range(0, len(amounts), size)]
    return tuple((group[-1][0], sum(probability for _, probability in group)) for group in groups)
