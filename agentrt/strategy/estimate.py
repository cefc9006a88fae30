"""Estimating: what a dependency would cost, what it would bring about, and what it would use up; nothing is done.

``Estimator`` asks every provider of a dependency, and they may ask what they would need in turn: an expected cost is
the cheapest provider's, whose own is what it says, plus that of its needs. How deep that goes is the *look-ahead*:
below it a need counts with the constant that its providers declare. Rules:

* **A circle costs infinity.** A provider that is being asked, or run, for the same thing is not asked again below that.
* **The memo** (``Scenario``), which a failure empties. While something is being asked an ``_Asking`` collects what it
  reads and prices, and hands that on to whoever asked it: an answer rests on all that the answers below it rest on.
* **Assumptions.** In look-ahead the state is CURRENT with what earlier needs bring about, one layer above the other:
  what the needs of the provider bring about that would be chosen (of its likeliest branch), what that branch expects
  besides, and what the dependency itself says (``assume``). A dependency that is met leaves the world as it is. Each
  such scenario is made once and kept in the table of the dependency in the one before it; so two strategies that need
  the same things look into the same future.
* **No decision takes too long.** One decision asks ``most_asks`` times at most; after that look-ahead ends, and
  constants count, for this decision only.
* An author's hook that raises, whatever it raises, or says no number, means "cannot", and is reported once.
* With ``corrects`` what a strategy says is corrected by what it took before (``Records``), constants too.

Source: prismarine-gameplay: "Heuristic Based Task Selection", questions 2 to 5; "Planning Ahead Using Probability".
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from agentrt.activity.author.expected import Current, has_changes
from agentrt.errors import ENDS_PROGRAM
from agentrt.strategy.declare import LONGEST_COST, Offer, Provider
from agentrt.strategy.dependency import Ask, Branch, Cannot, Dependency, Kept, Scenario, label_of, told_path
from agentrt.strategy.supplies import Amounts, mixed, together
from agentrt.words import error_words, repr_of, words_of

if TYPE_CHECKING:
    from agentrt.kernel.clock import Clock
    from agentrt.strategy.dependency import Expect, LeftOut, Need, Params, Table
    from agentrt.strategy.state import GameplayOwner, State

T = TypeVar("T")


class Priced(NamedTuple):
    """An offer, with what the strategy foresees."""

    offer: Offer  # what it said
    branches: tuple[Branch, ...] = ()  # what may come of it; empty if it does not foresee anything
    # if it cannot since it needs itself, the needs from what it was asked for down to what is needed again
    circle: tuple[Dependency[Any], ...] = ()


class Cheapest(NamedTuple):
    """What a dependency costs, and by whom."""

    cost: float  # the expected game seconds; 0 if it is met, infinity if nobody can provide it
    by: Priced | None = None  # the cheapest offer; None if it is met, if nobody can, and where look-ahead ends
    is_met: bool = False  # whether it holds
    # if nobody can since each would need itself, the needs from it down to what is needed again
    circle: tuple[Dependency[Any], ...] = ()


class _Asking:
    """What an answer will rest on, while it is asked for: a provider's, or the choice between providers."""

    __slots__ = ("branches", "circle", "lack", "needs", "topics")

    def __init__(self) -> None:
        self.topics: dict[str, int] | None = {}  # what was read; None once somebody did not say what he reads
        self.needs: set[Need] = set()  # what was priced
        self.branches: tuple[Branch, ...] = ()  # what the provider foresees
        self.lack: Dependency[Any] | None = None  # the last need of the provider that turned out to be impossible
        # if that is since it needs itself, the needs from it down to what is needed again
        self.circle: tuple[Dependency[Any], ...] = ()


_AS_BEFORE: AbstractContextManager[None] = nullcontext()
_ANYWHERE: LeftOut = frozenset()
_NOBODY: Mapping[Provider, int] = {}

# Who is being run above, for what: nobody of them is asked for the same again.
Chain = Iterable[tuple["Provider", "Dependency[Any]"]]


class Estimator:
    """Asks the providers of one agent, under one set of global parameters."""

    def __init__(self, state: State, params: Params) -> None:
        self.state: State = state
        self.agent: GameplayOwner = state.agent
        self.params: Params = params
        self.world: Scenario = Scenario()  # the world as it is
        self.asked: int = 0  # how many times an author's hook was asked, ever
        self.epoch: int = 0  # how many times everything was forgotten
        self._decision = 0  # the number of the present one, or of the last
        self._nested = 0  # how many ``deciding`` there are, one within the other
        self._limit = 0  # of asked, in this decision
        self._stack: list[_Asking] = []  # who is being asked, each by the one before
        self._open: dict[Need, dict[Provider, int]] = {}  # who is asked or run for what, how often

    # --- what an ask is given -----------------------------------------------------------------------------------------

    @property
    def clock(self) -> Clock:
        """The clock of the runtime."""
        return self.state.kernel.clock

    def layer(self, world: Scenario) -> Current:
        """A new layer of CURRENT in a world."""
        return self.state.layer(world.state)

    def read_words(self, topics: Collection[str]) -> str:
        """Whoever is being asked reads topics; says what is wrong with them, or nothing."""
        wrong = self.state.topics.is_read(topics)
        if not wrong:
            self.read(topics)
        return wrong

    def need(self, wanted: Dependency[Any], world: Scenario, depth: int) -> float:
        """What a need of whoever is being asked would cost; if nobody can provide it, that is why he cannot."""
        found = self.choose(wanted, world, depth)
        if found.cost == inf and self._stack:
            self._stack[-1].lack, self._stack[-1].circle = wanted, found.circle
        return found.cost

    def foreseen(self, branches: Iterable[Branch]) -> tuple[Branch, ...]:
        """What whoever is being asked foresees; raises ``TypeError`` or ``ValueError`` if that is no branches."""
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
        if self._stack:
            self._stack[-1].branches = found
        return found

    def forget(self) -> None:
        """Everything may be otherwise now: ask anew."""
        self.epoch += 1
        self.world.tables.clear()

    # --- the decision -------------------------------------------------------------------------------------------------

    def deciding(self, chain: Chain = ()) -> AbstractContextManager[None]:
        """Ask several things as one decision: nothing changes meanwhile, and nobody is asked twice."""
        return _AS_BEFORE if self._nested and not chain else self._deciding(chain)

    @contextmanager
    def _deciding(self, chain: Chain) -> Iterator[None]:
        above = [(self.need_of(one), provider) for provider, one in chain]  # which may raise, so it comes first
        if self._nested == 0:  # else the decision around it goes on, with its limit
            self._decision += 1
            self._limit = self.asked + self.state.most_asks
        self._nested += 1
        for who in above:
            self._enter(who).topics = None  # no answer of theirs is kept, so what is read below need not be noted
        try:
            yield
        finally:
            for who in reversed(above):
                self._leave(who)
            self._nested -= 1

    def offers(
        self, wanted: Dependency[Any], among: Collection[Provider] | None = None, chain: Chain = ()
    ) -> list[Offer]:
        """What each of these providers says, or each there is, the cheapest first; those that cannot come last."""
        chain = tuple(chain)
        with self.deciding(chain):
            asked = self.state.catalog.of(type(wanted)) if among is None else among
            prices = self._prices(wanted, asked, self.world, self.state.lookahead)
            found = [self._told(one, chain) if one.circle else one.offer for one in prices]
        found.sort(key=lambda offer: (offer.cost, offer.provider.number))
        return found

    def _told(self, priced: Priced, chain: Chain) -> Offer:
        """The offer of a strategy that cannot since it needs itself, with the circle in words."""
        path = [*(wanted for _, wanted in chain), *priced.circle]
        needs = [self.need_of(one) for one in path]
        circle = f"a circle: {told_path(path[needs.index(needs[-1]) :])}"
        return priced.offer._replace(circle=circle)

    def price(
        self, provider: Provider, wanted: Dependency[Any], world: Scenario, chain: Chain = ()
    ) -> tuple[Priced, bool]:
        """What one provider says and foresees, and whether that is kept beyond this decision."""
        with self.deciding(chain):
            depth = self.state.lookahead
            table = world.table(wanted, depth)  # before they are asked: an ask may clear the tables of the world
            [found] = self._prices(wanted, (provider,), world, depth)
            entries = table.get(provider, ())
        return found, any(kept.topics is not None for kept in entries)

    def choose(self, wanted: Dependency[Any], world: Scenario, depth: int) -> Cheapest:
        """What a dependency costs in a world, and by whom, if so many levels are looked ahead."""
        if self._nested:  # not through a context that does nothing: needs are priced more often than anything else
            return self._remembered(Estimator._chosen, wanted, world, depth)
        with self.deciding():
            return self._remembered(Estimator._chosen, wanted, world, depth)

    def cost(self, wanted: Dependency[Any], world: Scenario | None = None, depth: int | None = None) -> float:
        """The expected game seconds of solving a dependency; 0 if it is met, infinity if nobody can."""
        return self.choose(wanted, world or self.world, self.state.lookahead if depth is None else depth).cost

    def is_met(self, wanted: Dependency[Any], world: Scenario | None = None) -> bool:
        """Whether a dependency holds already, in the world as it is if no other is given."""
        kind = type(wanted)
        if not kind.has_condition():
            return False
        self.read(kind.reads)
        try:
            return bool(wanted.is_met(Ask(self, world or self.world, 0)))
        except Cannot:
            return False
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.state.fault(kind.activity, "is_met", error)
            return False

    def need_of(self, wanted: Dependency[Any]) -> Need:
        """What must not be asked for again below whoever solves it; raises what its ``guard_key`` raises."""
        try:
            need = (type(wanted), wanted.guard_key())
            hash(need)
        except (Exception, *ENDS_PROGRAM):
            raise
        except BaseException as error:  # it would be taken for the end of whoever asks
            raise RuntimeError(f"guard_key raised {error_words(error)}") from error
        return need

    # --- asking -------------------------------------------------------------------------------------------------------

    def _chosen(self, wanted: Dependency[Any], world: Scenario, depth: int) -> Cheapest:
        self.read(("strategies",))
        if self.is_met(wanted, world):
            return Cheapest(0.0, None, True)
        if self.asked >= self._limit:
            self.read(None)  # it is rougher than the next decision may be: it must not outlive this one
            depth = 0
        providers = self.state.catalog.of(type(wanted))
        need = self.need_of(wanted)
        self._stack[-1].needs.add(need)  # even if nobody is left out here: elsewhere somebody may be
        if depth <= 0:
            return Cheapest(self._constant(wanted, need, providers))
        best: Priced | None = None
        prices = self._prices(wanted, providers, world, depth - 1)
        # Not ``min`` with a key: this is the innermost loop of look-ahead. A tie goes to the first.
        for one in prices:
            if best is None or one.offer.cost < best.offer.cost:
                best = one
        if best is None or best.offer.cost == inf:
            return Cheapest(inf, circle=best.circle if best is not None and all(one.circle for one in prices) else ())
        return Cheapest(best.offer.cost, best)

    def _constant(self, wanted: Dependency[Any], need: Need, providers: Iterable[Provider]) -> float:
        """Where look-ahead ends: the least that anybody declares."""
        running = self._open.get(need, _NOBODY)
        least = inf
        for provider in providers:
            if provider not in running:
                spec = provider.spec
                declared = spec.cls.cost
                if declared is None:
                    least = min(least, type(wanted).cost)
                else:
                    least = min(least, declared if spec.asks else self._corrected(provider, declared))
        return least

    def _prices(
        self, wanted: Dependency[Any], providers: Iterable[Provider], world: Scenario, depth: int
    ) -> list[Priced]:
        table = world.table(wanted, depth)
        need = self.need_of(wanted)
        running = self._open.get(need, _NOBODY)
        ask = Ask(self, world, depth, wanted)
        found: list[Priced] = []
        for provider in providers:
            if provider in running:
                found.append(Priced(Offer(provider, inf, "it would need itself"), (), (wanted,)))
                continue
            kept: Kept[Priced] | None = self._known(table, provider)
            if kept is None:
                level = self._enter((need, provider))
                try:
                    said, reason = self._asked(provider, wanted, ask)
                    cost = self._corrected(provider, said) if self.state.corrects else said
                finally:
                    self._leave((need, provider))
                offer = Offer(provider, cost, reason, None if cost == said else said)
                circle = (wanted, *level.circle) if cost == inf and level.circle else ()
                kept = self._keep(table, provider, level, Priced(offer, level.branches, circle))
            found.append(kept.value)
        return found

    def _asked(self, provider: Provider, wanted: Dependency[Any], ask: Ask) -> tuple[float, str]:
        spec = provider.spec
        if not spec.asks:  # nothing is read for it, so this holds until all is forgotten
            return float(spec.cls.cost or 0.0), ""
        self.read(spec.cls.reads)
        self.asked += 1
        try:
            cost: Any = provider.oracle.estimate(ask, wanted)
            # An ``estimate`` of its own need not price what it foresees; look-ahead goes by that all the same.
            if spec.foresees and not self._stack[-1].branches and cost is not None:
                self.foreseen(provider.oracle.foresee(ask, wanted))
            if cost is None:
                return inf, "it says that it cannot"
            if isinstance(cost, (int, float)) and 0 <= cost <= LONGEST_COST:
                return float(cost), ""
            if cost == inf:
                lack = self._stack[-1].lack
                return inf, f"nobody can provide {'what it needs' if lack is None else label_of(lack)}"
        except Cannot as cannot:
            return inf, words_of(cannot.reason)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.state.fault(spec.label, "estimate", error)
            return inf, f"estimate raised {error_words(error)}"
        told = repr_of(cost, 200)
        wrong = ValueError(f"the estimate of {spec.subject} is {told}: it takes game seconds, 0 or more, or None")
        self.state.fault(spec.label, "estimate", wrong)
        return inf, f"its estimate is {told}, which is no cost"

    def _corrected(self, provider: Provider, said: float) -> float:
        """What a strategy says, corrected by what it took before, if the agent wants that."""
        if not self.state.corrects or said == inf:
            return said
        self.read(("accuracy",))
        return min(LONGEST_COST, self.state.records.corrected(provider.spec, said))

    # --- levels and the memo ------------------------------------------------------------------------------------------

    def _remembered(
        self,
        find: Callable[[Estimator, Dependency[Any], Scenario, int], T],
        wanted: Dependency[Any],
        world: Scenario,
        depth: int,
    ) -> T:
        """What was found out before, if it still holds; else what a method of this class finds out now."""
        table = world.table(wanted, depth)
        kept: Kept[T] | None = self._known(table, find)
        if kept is None:
            level = self._enter(None)
            try:
                value = find(self, wanted, world, depth)
            finally:
                self._leave(None)
            kept = self._keep(table, find, level, value)
        return kept.value

    def _enter(self, who: tuple[Need, Provider] | None) -> _Asking:
        level = _Asking()
        self._stack.append(level)
        if who is not None:
            running = self._open.setdefault(who[0], {})
            running[who[1]] = running.get(who[1], 0) + 1
        return level

    def _leave(self, who: tuple[Need, Provider] | None) -> None:
        self._stack.pop()
        if who is not None:
            running = self._open[who[0]]
            running[who[1]] -= 1
            if not running[who[1]]:
                del running[who[1]]
                if not running:
                    del self._open[who[0]]

    def read(self, topics: Collection[str] | None) -> None:
        """Whoever is being asked reads topics; None if nobody knows which."""
        if self._stack:
            into = self._stack[-1]
            if topics is None:
                into.topics = None
            elif into.topics is not None:
                versions = self.state.versions
                for topic in topics:
                    into.topics[topic] = versions.get(topic, 0)

    def _known(self, table: Table, key: object) -> Kept[Any] | None:
        entries = table.get(key)
        if entries:
            decision, stamp, versions = self._decision, self.state.stamp, self.state.versions
            for kept in entries:
                if kept.fits(self._open):
                    if not kept.holds(decision, stamp, versions):
                        entries.remove(kept)  # what replaces it stands for the same context
                        return None
                    self._pass_on(kept)
                    return kept
        return None

    def _pass_on(self, found: Kept[Any]) -> None:
        """Whoever asked has read, and priced, what the one that he asked did."""
        if self._stack:
            into = self._stack[-1]
            into.needs.update(found.needs)
            if found.topics is None:
                into.topics = None
            elif into.topics is not None:
                into.topics.update(found.topics)

    def _keep(self, table: Table, key: object, level: _Asking, value: T) -> Kept[T]:
        topics = None if level.topics is None else tuple(level.topics.items())
        needs = level.needs
        context = _ANYWHERE
        if needs and self._open:
            context = frozenset((need, one) for need, running in self._open.items() if need in needs for one in running)
        kept = Kept(value, topics, needs, context, self._decision, self.state.stamp)
        self._pass_on(kept)
        kept.keep_in(table, key)
        return kept

    # --- assuming -----------------------------------------------------------------------------------------------------

    def after(self, need: Dependency[Any], world: Scenario, depth: int) -> Scenario:
        """The world in which a dependency has been met: the same, if it is met, or if nobody says what holds then."""
        with self.deciding():
            return self._remembered(Estimator._met, need, world, depth)

    def _met(self, need: Dependency[Any], world: Scenario, depth: int) -> Scenario:
        self.read(type(need).reads)
        choice = self.choose(need, world, depth)
        if choice.is_met:
            return world
        branches = likeliest(choice.by.branches) if choice.by is not None else []
        branch = branches[0] if branches else None
        return self.outcome(need, branch, () if branch is None else branch.needs, world, depth - 1)

    def outcome(
        self, need: Dependency[Any], branch: Branch | None, left: Iterable[Dependency[Any]], world: Scenario, depth: int
    ) -> Scenario:
        """The world in which a branch has come true (None if none was foreseen), with its needs that are left."""
        for one in left:
            world = self.after(one, world, depth)
        if branch is not None and branch.expect:
            expect = branch.expect
            world = self.layered(world, need, "foresee", lambda state: _write(state, expect))
        if type(need).has_effect():
            world = self.layered(world, need, "assume", need.assume)
        return world

    def layered(self, world: Scenario, need: Dependency[Any], hook: str, write: Callable[[Current], None]) -> Scenario:
        """A world with a layer more: the same world, if nothing was written, or if the author's hook raises."""
        layer = self.state.layer(world.state)
        failed = object()
        if self.state.contained(type(need).activity, hook, failed, write, layer) is failed:
            return world
        # Where nothing was written the same scenario goes on, and with it all that was found out in it.
        return Scenario(layer) if has_changes(layer, world.state) else world

    def when(self, expect: Expect, world: Scenario) -> Scenario:
        """The world in which fields of CURRENT have other values."""
        layer = self.state.layer(world.state)
        _write(layer, expect)
        return Scenario(layer)

    # --- supplies -----------------------------------------------------------------------------------------------------

    def amounts_of(self, needs: Iterable[Dependency[Any]], world: Scenario, depth: int) -> Amounts:
        """What dependencies will use up, one after the other, down to where look-ahead ends."""
        total: Amounts = {}
        for need in needs:
            total = together(total, self._remembered(Estimator._uses, need, world, depth))
            world = self.after(need, world, depth)
        return total

    def _uses(self, need: Dependency[Any], world: Scenario, depth: int) -> Amounts:
        choice = self.choose(need, world, depth)
        if choice.by is None:
            return {}
        with self.deciding(((choice.by.offer.provider, need),)):
            return self.amounts_left([(one, one.needs) for one in choice.by.branches], world, depth - 1)

    def amounts_left(
        self, shares: Iterable[tuple[Branch, Sequence[Dependency[Any]]]], world: Scenario, depth: int
    ) -> Amounts:
        """What will be used up if one of several branches comes true, each with what is left of its needs."""
        found: list[tuple[float, Amounts]] = []
        for branch, needs in shares:
            if branch.probability > 0:
                own = {name: ((float(amount), 1.0),) for name, amount in branch.uses.items()}
                found.append((branch.probability, together(own, self.amounts_of(needs, world, depth))))
        return mixed(found)


def likeliest(branches: Iterable[Branch]) -> list[Branch]:
    """The branches that are likely at all, the likeliest first, those that fail last; of equals, the first."""
    return sorted((one for one in branches if one.probability > 0), key=lambda one: (one.fails, -one.probability))


def _write(state: Current, expect: Expect) -> None:
    if isinstance(expect, Mapping):
        for name, value in expect.items():
            setattr(state, name, value)
    else:
        expect(state)
