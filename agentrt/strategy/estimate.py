"""Estimating: what a dependency would cost, before anything is done.

``Estimator`` asks every provider of a dependency, and they may ask what they would need in turn: an expected cost is
the cheapest provider's, whose own is what it says, plus that of its needs. How deep that goes is the *look-ahead*:
below it a need counts with the constant that its providers declare. Rules:

* **A circle costs infinity.** A provider that is being asked, or run, for the same thing is not asked again below that.
  What was found out by pricing a need holds where the same providers of it are being asked, or run.
* **The memo** (``worlds``). What a provider said is kept while all the *topics* that it read are unchanged (``reads``,
  ``ask.reads``); whoever declares none is asked anew in each decision, and asked once in it. A failure empties it.
* **Assumptions.** In look-ahead the state is CURRENT with what earlier needs bring about: what the likeliest branch of
  the provider that would be chosen brings about (its needs, then what it expects), and then what the dependency says.
* **No decision takes too long.** One decision asks ``gameplay.most_asks`` times at most; after that look-ahead ends,
  and constants count, for this decision only.
* An author's hook that raises, whatever it raises, or says no number, means "cannot", and is reported once.
* If ``gameplay.corrects``, what a strategy says is corrected by what it took (``records``), constants too.

Source: seed 003, "Heuristic Based Task Selection", questions 2 to 5; design section 6, "recursion guard and cost memo".

Offers: what strategies say when they are asked to provide a dependency, and who is chosen.

An offer is what people and parents see (``rank``, ``gameplay.offers``). With what the strategy foresees it is what
estimates and look-ahead work on. A parent's say (``ranked``) is checked: what it picks is something that it was
offered, or nobody would ever be tried and nobody be told why.

Source: seed 003, "Global Dependency Lists".

What a strategy finds when it is asked: the world as it is or as it is assumed, and what else would cost.

An ``Ask`` belongs to one question and is not kept. It never changes anything.

Source: seed 003, "Planning Ahead Using Probability", assuming the most likely state of the world.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from math import inf
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, final

from agentrt.errors import ENDS_PROGRAM, ArgumentError
from agentrt.strategy import worlds
from agentrt.strategy.declare import LONGEST_COST, label_of, required
from agentrt.strategy.tree import told_path
from agentrt.strategy.worlds import Context, Kept, Level, Need, Table, World, amounts_of, checked, enough
from agentrt.words import error_words, repr_of, words_of

if TYPE_CHECKING:
    from agentrt.activity.author.expected import Current
    from agentrt.kernel.clock import Clock
    from agentrt.strategy.catalog import Provider
    from agentrt.strategy.declare import Branch, Dependency, Expect, Params
    from agentrt.strategy.gameplay import Gameplay

__all__ = ["Choice", "Offer", "Priced", "Rank", "check_rank", "ranked", "Ask", "Cannot", "Chain", "Estimator"]


class Offer(NamedTuple):
    """What a strategy said when it was asked to provide a dependency.

    Attributes:
        provider: it.
        cost: the expected game seconds; infinity if it cannot.
        reason: why it cannot; empty if it can.
        said: the game seconds that it said, before that was corrected; None if nothing was.
        circle: the circle of needs because of which it cannot, in words; empty if there is none.
    """

    provider: Provider
    cost: float
    reason: str = ""
    said: float | None = None
    circle: str = ""


Rank = Callable[[Sequence[Offer]], Iterable[Offer]]
"""How a parent has a say: from the offers of those that can, the cheapest first, to those that it will have tried."""


def check_rank(method: str, rank: object) -> None:
    """Check what was given as a parent's say.

    Args:
        method: what was called, for the error.

    Raises:
        ArgumentError: it is no function, or one that waits.
    """
    if rank is not None and (not callable(rank) or inspect.iscoroutinefunction(rank)):
        meant = "Write a plain function: rank=lambda offers: offers[:2]."
        raise ArgumentError(method, "rank", f"takes a function of the offers, not {repr_of(rank)}. {meant}")


def ranked(rank: Rank, offers: Sequence[Offer], failed: Collection[Provider]) -> list[Offer]:
    """What a parent says to offers.

    Args:
        offers: of those that can, and of those that cannot.
        failed: who has failed already; a parent may have kept their offers.

    Returns:
        Those that are to be tried, in the parent's order, and then all others, which cannot or were left out.

    Raises:
        ArgumentError: it gave something that is no offer of anybody who was asked.
    """
    able = {offer.provider: offer for offer in offers if offer.cost < inf}
    asked = {*failed, *(offer.provider for offer in offers)}
    picked = _several(rank(tuple(able.values())))
    chosen: dict[Provider, Offer] = {}
    for one in picked:
        if not isinstance(one, Offer) or one.provider not in asked:
            raise ArgumentError(
                "ctx.solve",
                "rank",
                f"gave {repr_of(one, 200)}, which is none of the offers. Let it return a list of those that it was "
                "given: rank=lambda offers: [one for one in offers if one.cost < 20].",
            )
        if one.provider in able:
            chosen[one.provider] = able[one.provider]
    left = [offer for offer in offers if offer.provider not in chosen]
    return [*chosen.values(), *(one._replace(cost=inf, reason=one.reason or "it was left out") for one in left)]


def _several(given: object) -> list[Any]:
    """What an author's function gave as several; what is none is one that is no offer."""
    if inspect.iscoroutine(given):
        given.close()
        return [given]
    if isinstance(given, (str, bytes, Offer)) or not isinstance(given, Iterable):
        return [repr_of(given, 200) if isinstance(given, Offer) else given]
    return list(given)


class Priced(NamedTuple):
    """An offer, with what the strategy foresees."""

    offer: Offer  # what it said
    branches: tuple[Branch, ...] = ()  # what may come of it; empty if it does not foresee anything
    # if it cannot since it needs itself, the needs from what it was asked for down to what is needed again
    circle: tuple[Dependency[Any], ...] = ()


class Choice(NamedTuple):
    """What a dependency costs, and by whom."""

    cost: float  # the expected game seconds; 0 if it is met, infinity if nobody can provide it
    by: Priced | None = None  # the cheapest offer; None if it is met, if nobody can, and where look-ahead ends
    is_met: bool = False  # whether it holds
    # if nobody can since each would need itself, the needs from it down to what is needed again
    circle: tuple[Dependency[Any], ...] = ()


@final
class Cannot(BaseException):
    """What ``ask.cannot`` raises. Control flow; let it pass."""

    def __init__(self, reason: str) -> None:
        self.reason: Final = words_of(reason)
        super().__init__(self.reason)


class Ask:
    """What ``estimate``, ``foresee``, ``is_met`` get as their first argument.

    Args:
        estimator: who asks.
        world: the world as it is assumed.
        depth: how many levels further it may be looked ahead.
        wanted: the dependency that it is about; None outside ``estimate`` and ``foresee``.

    Attributes:
        world, depth, wanted: as given.
    """

    __slots__ = ("_estimator", "_state", "depth", "wanted", "world")

    def __init__(self, estimator: Estimator, world: World, depth: int, wanted: Dependency[Any] | None = None) -> None:
        self._estimator: Estimator = estimator
        self.world: World = world
        self.depth: int = depth
        self.wanted: Dependency[Any] | None = wanted
        self._state: Current | None = None

    # --- the world ----------------------------------------------------------------------------------------------------

    @property
    def agent(self) -> Any:
        """The agent."""
        return self._estimator.gameplay.agent

    @property
    def entity(self) -> Any:
        """The entity, as it is."""
        return self._estimator.gameplay.agent.entity

    @property
    def params(self) -> Params:
        """The global parameters."""
        return self._estimator.params

    @property
    def clock(self) -> Clock:
        """The clock of the runtime."""
        return self._estimator.gameplay.kernel.clock

    @property
    def CURRENT(self) -> Current:  # noqa: N802 - the seed's name for it
        """The state that the entity has, or is assumed to have. What is written to it is lost."""
        if self._state is None:
            self._state = self._estimator.gameplay.layer(self.world.state)
        return self._state

    @property
    def is_assumed(self) -> bool:
        """Whether the world is not as it is, but as look-ahead assumes it."""
        return self.world.state is not None

    def reads(self, *topics: str) -> None:
        """What is said depends on topics, besides those that are declared.

        Args:
            topics: their names; see ``agent.gameplay.changed``.

        Raises:
            ArgumentError: nothing is called so that changes, and something is called nearly so.
        """
        wrong = self._estimator.gameplay.topics.is_read(topics)
        if wrong:
            raise ArgumentError("ask.reads", "topics", f"are not right: {wrong}")
        self._estimator.read(topics)

    # --- costs --------------------------------------------------------------------------------------------------------

    def cannot(self, reason: str) -> NoReturn:
        """It cannot be provided now.

        Args:
            reason: why, in words; shown in trees and errors.

        Raises:
            Cannot: always; let it pass.
        """
        raise Cannot(reason)

    def is_met(self, wanted: Dependency[Any]) -> bool:
        """Whether a dependency holds.

        Args:
            wanted: the dependency.
        """
        return self._estimator.is_met(wanted, self.world)

    def cost(self, wanted: Dependency[Any]) -> float:
        """What a dependency would cost.

        Args:
            wanted: the dependency.

        Returns:
            The expected game seconds: 0 if it is met, infinity if nobody can provide it.
        """
        required("ask.cost", wanted)
        choice = self._estimator.choose(wanted, self.world, self.depth)
        if choice.cost == inf:
            self._estimator.lacks(wanted, choice.circle)
        return choice.cost

    def can(self, wanted: Dependency[Any]) -> bool:
        """Whether anybody can provide a dependency, or it is met.

        Args:
            wanted: the dependency.
        """
        return self.cost(wanted) < inf

    def total(self, needs: Iterable[Dependency[Any]]) -> float:
        """What several dependencies would cost, one after the other, each in the world that the ones before it leave.

        Args:
            needs: the dependencies, in order.

        Returns:
            The expected game seconds; infinity if one of them cannot be provided.
        """
        total, world = 0.0, self.world
        last: Dependency[Any] | None = None
        with self._estimator.deciding():
            for need in needs:
                required("ask.total", need)
                if last is not None:
                    world = worlds.after(self._estimator, last, world, self.depth)
                choice = self._estimator.choose(need, world, self.depth)
                if choice.cost == inf:
                    self._estimator.lacks(need, choice.circle)
                    return inf
                total += choice.cost
                last = need
        return total

    def option(self, wanted: Dependency[Any], then: Sequence[Dependency[Any]]) -> float:
        """What something would cost with or without an optional dependency before it, whichever is less.

        Args:
            wanted: the optional dependency.
            then: what is to be done anyway.

        Returns:
            The expected game seconds of the cheaper way.

        Source: seed 003, "Optional Dependencies": calculated twice, the smaller is selected.
        """
        with self._estimator.deciding():
            return min(self.total(then), self.total((wanted, *then)))

    def expected(self, branches: Iterable[Branch]) -> float:
        """The expected cost of what may come of a strategy.

        It is the mean over the branches of their own costs and those of their needs. A branch that fails, or that needs
        what nobody can provide, costs its own, and what the next best strategy would cost; with nobody else it counts
        as tried again until it succeeds.

        Args:
            branches: what it foresees.

        Returns:
            The expected game seconds; infinity if no branch can succeed.

        Source: seed 003, "Planning Ahead Using Probability".
        """
        found = worlds.checked(branches)
        total = shares = lost = succeeds = 0.0
        with self._estimator.deciding():
            self._estimator.foresees(found)
            for branch in found:
                if branch.probability > 0:
                    shares += branch.probability
                    needs = self.total(branch.needs)
                    total += branch.probability * (branch.cost + (needs if needs < inf else 0.0))
                    if branch.fails or needs == inf:
                        lost += branch.probability
                    else:
                        succeeds += branch.probability
            if not succeeds:
                return inf
            if lost and self.wanted is not None:
                instead = self.cost(self.wanted)  # whoever asks is in a circle there: this is what all others cost
                if instead < inf:
                    return (total + lost * instead) / shares
        return total / succeeds

    def supplies(self, *wanted: Dependency[Any], confidence: float = 0.9) -> dict[str, float]:
        """How much will be used up for dependencies, one after the other.

        Args:
            wanted: the dependencies.
            confidence: how certain it has to be that it is enough, from 0 to less than 1.

        Returns:
            The least amounts that are enough, by name; without those of which nothing is needed.

        Raises:
            ArgumentError: the confidence is out of its range.

        Source: seed 003, "Planning Ahead Using Probability".
        """
        with self._estimator.deciding():
            return enough(amounts_of(self._estimator, wanted, self.world, self.depth), confidence)

    # --- assuming -----------------------------------------------------------------------------------------------------

    def after(self, need: Dependency[Any], world: World | None = None) -> World:
        """The world in which a dependency has been met.

        Args:
            need: the dependency.
            world: the world before; None for that of this question.

        Returns:
            The same world, if it is met, or if nobody says what holds then.
        """
        return worlds.after(self._estimator, need, world or self.world, self.depth)

    def when(self, expect: Expect, world: World | None = None) -> World:
        """The world in which fields of CURRENT have other values.

        Args:
            expect: the fields, or a function that writes them.
            world: the world before; None for that of this question.

        Raises:
            ExpectedStateError: there is no such field, or it takes another type.
        """
        before = world or self.world
        layer = self._estimator.gameplay.layer(before.state)
        worlds.write_expected(layer, expect)
        return World(layer)

    def within(self, world: World) -> Ask:
        """The same questions in another world: ``ask.within(ask.after(Collect("axe"))).cost(Collect("log"))``.

        Args:
            world: the world, as ``after`` or ``when`` made it.
        """
        return Ask(self._estimator, world, self.depth, self.wanted)


_CHOICE = "choice"
_AS_BEFORE: AbstractContextManager[None] = nullcontext()
_ANYWHERE: Context = frozenset()
_NOBODY: Mapping[Provider, int] = {}

Chain = Iterable[tuple["Provider", "Dependency[Any]"]]
"""Who is being run above, for what: nobody of them is asked for the same again."""


class Estimator:
    """Asks the providers of one agent, under one set of global parameters."""

    __slots__ = ("_decision", "_levels", "_limit", "_nested", "_open", "asked", "epoch", "gameplay", "params", "world")

    def __init__(self, gameplay: Gameplay, params: Params) -> None:
        self.gameplay: Gameplay = gameplay
        self.params: Params = params
        self.world: World = World()  # the world as it is
        self.asked: int = 0  # how many times an author's hook was asked, ever
        self.epoch: int = 0  # how many times everything was forgotten
        self._decision = 0
        self._nested = 0
        self._limit = 0  # of asked, in this decision
        self._levels: list[Level] = []
        self._open: dict[Need, dict[Provider, int]] = {}  # who is asked or run for what, how often

    def forget(self) -> None:
        """Everything may be otherwise now: ask anew."""
        self.epoch += 1
        self.world.forget()

    # --- the decision -------------------------------------------------------------------------------------------------

    def deciding(self, chain: Chain = ()) -> AbstractContextManager[None]:
        """Ask several things as one decision: nothing changes meanwhile, and nobody is asked twice."""
        return _AS_BEFORE if self._nested and not chain else self._deciding(chain)

    @contextmanager
    def _deciding(self, chain: Chain) -> Iterator[None]:
        if self._nested == 0:
            self._decision += 1
            self._limit = self.asked + self.gameplay.most_asks
        self._nested += 1
        above = [(self.need_of(one), provider) for provider, one in chain]
        for who in above:
            self._enter(who).topics = None
        try:
            yield
        finally:
            for who in reversed(above):
                self._leave(who)
            self._nested -= 1

    def offers(
        self,
        wanted: Dependency[Any],
        among: Collection[Provider] | None = None,
        chain: Chain = (),
        depth: int | None = None,
        world: World | None = None,
    ) -> list[Offer]:
        """What each provider of a dependency says, the cheapest first; those that cannot come last.

        Args:
            among: whom to ask; None for all.
            chain: who is being run above, for what: nobody of them is asked for the same again.
            depth: how many levels to look ahead; None for what the agent looks.
            world: the world as it is assumed; None for the world as it is.
        """
        chain = tuple(chain)
        with self.deciding(chain):
            asked = self.gameplay.catalog.of(type(wanted)) if among is None else among
            depth = self.gameplay.lookahead if depth is None else depth
            prices = self._prices(wanted, asked, world or self.world, depth)
            found = [self._told(one, chain) if one.circle else one.offer for one in prices]
        found.sort(key=_rank)
        return found

    def _told(self, priced: Priced, chain: Chain) -> Offer:
        """The offer of a strategy that cannot since it needs itself, with the circle in words."""
        path = [*(wanted for _, wanted in chain), *priced.circle]
        needs = [self.need_of(one) for one in path]
        circle = f"a circle: {told_path(path[needs.index(needs[-1]) :])}"
        return priced.offer._replace(circle=circle)

    def price(
        self,
        provider: Provider,
        wanted: Dependency[Any],
        chain: Chain = (),
        depth: int | None = None,
        world: World | None = None,
    ) -> tuple[Priced, bool]:
        """What one provider says and foresees, and whether that is kept beyond this decision.

        Args:
            depth: how many levels to look ahead; None for what the agent looks.
            world: the world as it is assumed; None for the world as it is.
        """
        with self.deciding(chain):
            depth = self.gameplay.lookahead if depth is None else depth
            table = (world or self.world).table(wanted, depth)
            [found] = self._prices(wanted, (provider,), world or self.world, depth)
            entries = table.kept.get(provider, ())
        return found, any(kept.topics is not None for kept in entries)

    def choose(self, wanted: Dependency[Any], world: World | None = None, depth: int | None = None) -> Choice:
        """What a dependency costs, and by whom.

        Args:
            world: the world as it is assumed; None for the world as it is.
            depth: how many levels to look ahead; None for what the agent looks.
        """
        if self._nested:
            return self._choose(wanted, world or self.world, self.gameplay.lookahead if depth is None else depth)
        with self.deciding():
            return self._choose(wanted, world or self.world, self.gameplay.lookahead if depth is None else depth)

    def cost(self, wanted: Dependency[Any], world: World | None = None, depth: int | None = None) -> float:
        """The expected game seconds of solving a dependency; 0 if it is met, infinity if nobody can.

        Args:
            world: the world as it is assumed; None for the world as it is.
            depth: how many levels to look ahead; None for what the agent looks.
        """
        return self.choose(wanted, world, depth).cost

    def is_met(self, wanted: Dependency[Any], world: World | None = None) -> bool:
        """Whether a dependency holds already.

        Args:
            world: the world as it is assumed; None for the world as it is.
        """
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
            self.gameplay.fault(kind.activity, "is_met", error)
            return False

    def need_of(self, wanted: Dependency[Any]) -> Need:
        """What must not be asked for again below whoever solves a dependency.

        Raises:
            Exception: its ``guard_key`` raised, or gave what cannot be hashed: nobody can tell what it is.
        """
        try:
            need = (type(wanted), wanted.guard_key())
            hash(need)
        except (Exception, *ENDS_PROGRAM):
            raise
        except BaseException as error:  # it would be taken for the end of whoever asks
            raise RuntimeError(f"guard_key raised {error_words(error)}") from error
        return need

    # --- asking -------------------------------------------------------------------------------------------------------

    def _choose(self, wanted: Dependency[Any], world: World, depth: int) -> Choice:
        found: Choice = self.remembered(world.table(wanted, depth), _CHOICE, self._chosen, wanted, world, depth)
        return found

    def _chosen(self, wanted: Dependency[Any], world: World, depth: int) -> Choice:
        self.read(("strategies",))
        if self.is_met(wanted, world):
            return Choice(0.0, None, True)
        if self.asked >= self._limit:
            self.read(None)
            depth = 0
        providers = self.gameplay.catalog.of(type(wanted))
        need = self.need_of(wanted)
        self._levels[-1].needs.add(need)
        if depth <= 0:
            return Choice(self._constant(wanted, need, providers))
        best: Priced | None = None
        prices = self._prices(wanted, providers, world, depth - 1)
        for one in prices:
            if best is None or one.offer.cost < best.offer.cost:
                best = one
        if best is None or best.offer.cost == inf:
            return Choice(inf, circle=best.circle if best is not None and all(one.circle for one in prices) else ())
        return Choice(best.offer.cost, best)

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

    def _prices(self, wanted: Dependency[Any], providers: Iterable[Provider], world: World, depth: int) -> list[Priced]:
        table = world.table(wanted, depth)
        need = self.need_of(wanted)
        running = self._open.get(need, _NOBODY)
        ask = Ask(self, world, depth, wanted)
        found: list[Priced] = []
        for provider in providers:
            if provider in running:
                found.append(Priced(Offer(provider, inf, "it would need itself"), (), (wanted,)))
                continue
            kept = self._known(table, provider)
            if kept is None:
                level = self._enter((need, provider))
                try:
                    said, reason = self._asked(provider, wanted, ask)
                    cost = self._corrected(provider, said) if self.gameplay.corrects else said
                finally:
                    self._leave((need, provider))
                offer = Offer(provider, cost, reason, None if cost == said else said)
                circle = (wanted, *level.circle) if cost == inf and level.circle else ()
                kept = self._keep(table, provider, level, Priced(offer, level.branches, circle))
            found.append(kept.value)
        return found

    def _asked(self, provider: Provider, wanted: Dependency[Any], ask: Ask) -> tuple[float, str]:
        spec = provider.spec
        if not spec.asks:
            return float(spec.cls.cost or 0.0), ""
        self.read(spec.cls.reads)
        self.asked += 1
        try:
            cost: Any = provider.oracle.estimate(ask, wanted)
            if spec.foresees and not self._levels[-1].branches and cost is not None:
                self.foresees(checked(provider.oracle.foresee(ask, wanted)))
            if cost is None:
                return inf, "it says that it cannot"
            if isinstance(cost, (int, float)) and 0 <= cost <= LONGEST_COST:
                return float(cost), ""
            if cost == inf:
                lack = self._levels[-1].lack
                return inf, f"nobody can provide {'what it needs' if lack is None else label_of(lack)}"
        except Cannot as cannot:
            return inf, words_of(cannot.reason)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.gameplay.fault(spec.label, "estimate", error)
            return inf, f"estimate raised {error_words(error)}"
        told = repr_of(cost, 200)
        wrong = ValueError(f"the estimate of {spec.subject} is {told}: it takes game seconds, 0 or more, or None")
        self.gameplay.fault(spec.label, "estimate", wrong)
        return inf, f"its estimate is {told}, which is no cost"

    def _corrected(self, provider: Provider, said: float) -> float:
        """What a strategy says, corrected by what it took before, if the agent wants that."""
        if not self.gameplay.corrects or said == inf:
            return said
        self.read(("accuracy",))
        return min(LONGEST_COST, self.gameplay.records.corrected(provider.spec, said))

    def lacks(self, need: Dependency[Any], circle: tuple[Dependency[Any], ...] = ()) -> None:
        """Whoever is being asked needs something that turned out to be impossible.

        Args:
            circle: if that is since it needs itself, the needs down to what is needed again.
        """
        if self._levels:
            self._levels[-1].lack, self._levels[-1].circle = need, circle

    def foresees(self, branches: tuple[Branch, ...]) -> None:
        """What whoever is being asked foresees."""
        if self._levels:
            self._levels[-1].branches = branches

    # --- levels and the memo ------------------------------------------------------------------------------------------

    def remembered(self, table: Table, key: object, find: Callable[..., Any], *args: Any) -> Any:
        """What was found out before, if it still holds; else what is found out now."""
        kept = self._known(table, key)
        if kept is None:
            level = self._enter(None)
            try:
                value = find(*args)
            finally:
                self._leave(None)
            kept = self._keep(table, key, level, value)
        return kept.value

    def _enter(self, who: tuple[Need, Provider] | None) -> Level:
        level = Level()
        self._levels.append(level)
        if who is not None:
            running = self._open.setdefault(who[0], {})
            running[who[1]] = running.get(who[1], 0) + 1
        return level

    def _leave(self, who: tuple[Need, Provider] | None) -> None:
        self._levels.pop()
        if who is not None:
            running = self._open[who[0]]
            running[who[1]] -= 1
            if not running[who[1]]:
                del running[who[1]]
                if not running:
                    del self._open[who[0]]

    def read(self, topics: Collection[str] | None) -> None:
        """Whoever is being asked reads topics.

        Args:
            topics: them; None if that is not known.
        """
        if self._levels:
            into = self._levels[-1]
            if topics is None:
                into.topics = None
            elif into.topics is not None:
                versions = self.gameplay.versions
                for topic in topics:
                    into.topics[topic] = versions.get(topic, 0)

    def _known(self, table: Table, key: object) -> Kept | None:
        entries = table.kept.get(key)
        if entries:
            decision, stamp, versions = self._decision, self.gameplay.stamp, self.gameplay.versions
            for kept in entries:
                if kept.fits(self._open):
                    if not kept.holds(decision, stamp, versions):
                        entries.remove(kept)
                        return None
                    self._pass_on(kept)
                    return kept
        return None

    def _pass_on(self, found: Kept) -> None:
        """Whoever asked has read, and priced, what the one that he asked did."""
        if self._levels:
            into = self._levels[-1]
            into.needs.update(found.needs)
            if found.topics is None:
                into.topics = None
            elif into.topics is not None:
                into.topics.update(found.topics)

    def _keep(self, table: Table, key: object, level: Level, value: Any) -> Kept:
        topics = None if level.topics is None else tuple(level.topics.items())
        needs = level.needs
        context = _ANYWHERE
        if needs and self._open:
            context = frozenset((need, one) for need, running in self._open.items() if need in needs for one in running)
        kept = Kept(value, topics, needs, context, self._decision, self.gameplay.stamp)
        self._pass_on(kept)
        table.add(key, kept)
        return kept


def _rank(offer: Offer) -> tuple[float, int]:
    return (offer.cost, offer.provider.number)
