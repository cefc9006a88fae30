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
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from math import inf
from typing import TYPE_CHECKING, Any

from agentrt.errors import ENDS_PROGRAM
from agentrt.strategy.asking import Ask, Cannot
from agentrt.strategy.assuming import checked
from agentrt.strategy.dependency import label_of
from agentrt.strategy.offers import Choice, Offer, Priced
from agentrt.strategy.story import told_path
from agentrt.strategy.strategy import LONGEST_COST
from agentrt.strategy.worlds import Context, Kept, Level, Need, Table, World
from agentrt.words import error_words, repr_of, words_of

if TYPE_CHECKING:
    from agentrt.strategy.catalog import Provider
    from agentrt.strategy.dependency import Dependency
    from agentrt.strategy.gameplay import Gameplay
    from agentrt.strategy.params import Params
    from agentrt.strategy.strategy import Branch

__all__ = ["Chain", "Estimator"]

_CHOICE = "choice"
_AS_BEFORE: AbstractContextManager[None] = nullcontext()
_ANYWHERE: Context = frozenset()
_NOBODY: Mapping[Provider, int] = {}

Chain = Iterable[tuple["Provider", "Dependency[Any]"]]
"""Who is being run above, for what: nobody of them is asked for the same again."""


class Estimator:
    """Asks the providers of one agent, under one set of global parameters.

    Args:
        gameplay: whose.
        params: the global parameters.

    Attributes:
        gameplay, params: as given.
        world: the world as it is.
        asked: how many times an author's hook was asked, ever.
        epoch: how many times everything was forgotten.
    """

    __slots__ = ("_decision", "_levels", "_limit", "_nested", "_open", "asked", "epoch", "gameplay", "params", "world")

    def __init__(self, gameplay: Gameplay, params: Params) -> None:
        self.gameplay: Gameplay = gameplay
        self.params: Params = params
        self.world: World = World()
        self.asked: int = 0
        self.epoch: int = 0
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
        """Ask several things as one decision: nothing changes meanwhile, and nobody is asked twice.

        Args:
            chain: who is being run above.
        """
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
            wanted: the dependency.
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
            provider: it.
            wanted: the dependency.
            chain: who is being run above.
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
            wanted: the dependency.
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
            wanted: the dependency.
            world: the world as it is assumed; None for the world as it is.
            depth: how many levels to look ahead; None for what the agent looks.
        """
        return self.choose(wanted, world, depth).cost

    def is_met(self, wanted: Dependency[Any], world: World | None = None) -> bool:
        """Whether a dependency holds already.

        Args:
            wanted: the dependency.
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

        Args:
            wanted: the dependency.

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
            need: what.
            circle: if that is since it needs itself, the needs down to what is needed again.
        """
        if self._levels:
            self._levels[-1].lack, self._levels[-1].circle = need, circle

    def foresees(self, branches: tuple[Branch, ...]) -> None:
        """What whoever is being asked foresees.

        Args:
            branches: what may come of it.
        """
        if self._levels:
            self._levels[-1].branches = branches

    # --- levels and the memo ------------------------------------------------------------------------------------------

    def remembered(self, table: Table, key: object, find: Callable[..., Any], *args: Any) -> Any:
        """What was found out before, if it still holds; else what is found out now.

        Args:
            table: where it is kept.
            key: under what.
            find: finds it out.
            args: for it.
        """
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
