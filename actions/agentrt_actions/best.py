"""Finding the best: by a filter and a rating, among more candidates than can be looked at in one tick.

``FindBest`` thinks in slices: in one tick it examines no more than ``per_tick`` candidates, and no more than the think
budget of the runtime grants, so that it never holds up a tick however many there are. What it finds out is kept in the
``Finder`` of the world and shared with whoever asks the same.

It offers nothing until all candidates were looked at once, unless it meets one that is rated 1.0, since nothing can be
better, or it was told to be ``eager``. From then on it keeps what it offers true: who changed is examined first, what
is taken by somebody else or rejected by a later step gives way to the next best at once, and a better one takes over.
An equal one does not.

Without a rating it takes the nearest; then a ``Surveyor`` is asked, if there is one and there is no filter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from agentrt import Action, ActionArgs, Context, Entity, Event, Signal, ThinkOutput
from agentrt.body import LeaseBook
from agentrt.kernel import Connection
from agentrt_actions.finding import Finder, Reading
from agentrt_actions.nearby import Nearby, expected_location, nearness, own_moves, self_reserved
from agentrt_actions.protocols import Change, Directory, Located, PathFinder, Surveyor

__all__ = ["FindBest"]

_BATCH = 64  # how many candidates are paid for and examined at a time

PER_TICK = 1000
"""How many candidates one search examines in a tick at most, unless it says otherwise."""


class _Pace:
    """So much work in a tick at most, and no more than the think budget grants."""

    __slots__ = ("_ctx", "_left", "_per_tick", "_tick")

    def __init__(self, ctx: Context[Entity], per_tick: int) -> None:
        self._ctx = ctx
        self._per_tick = max(1, per_tick)
        self._left = 0
        self._tick = -1

    async def take(self, wanted: int) -> int:
        """Wait until some work may be done; how much of it."""
        ctx = self._ctx
        if self._tick == ctx.clock.tick and not self._left:
            await ctx.next_tick()
        if self._tick != ctx.clock.tick:
            self._tick = ctx.clock.tick
            self._left = self._per_tick
        units = min(wanted, self._left)
        self._left -= units
        await ctx.work(units)
        return units


class _Choices:
    """What is offered, best first: to be asked for the next one means that the last one was rejected."""

    __slots__ = ("_is_asked", "_search")

    def __init__(self, search: _Search) -> None:
        self._search = search
        self._is_asked = False

    def __iter__(self) -> Iterator[Mapping[str, Any]]:
        return self

    def __next__(self) -> Mapping[str, Any]:
        chosen = self._search.choose(is_rejected=self._is_asked)
        self._is_asked = True
        if chosen is None:
            raise StopIteration
        return chosen


class _Search:
    """One search, for as long as its action thinks."""

    __slots__ = (
        "_again",
        "_args",
        "_best",
        "_connections",
        "_ctx",
        "_finder",
        "_gone",
        "_leases",
        "_pace",
        "_reached",
        "_reading",
        "_refused",
        "_taken",
        "_ways",
        "offered",
    )

    def __init__(self, ctx: Context[Entity], args: FindBest.Args) -> None:
        self._ctx = ctx
        self._args = args
        self._again = Event()
        self._finder = Finder()  # for who has none; nobody shares it
        self._pace = _Pace(ctx, args.per_tick)
        self._leases: LeaseBook | None = ctx.entity.get(LeaseBook)
        self._ways: PathFinder | None = ctx.entity.get(PathFinder)
        self._taken = self_reserved(ctx)
        self._refused: dict[Entity, None] = {}  # rejected by a later step, until they change
        self._reached: dict[Entity, bool] = {}  # whether a path leads there, as far as it was asked
        self._best: tuple[float, Entity] | None = None
        self.offered: tuple[float, Entity] | None = None
        self._gone: Connection | None = None  # the watch over what is offered
        self._connections: list[Connection] = []
        self._reading = self._open()
        self._connect(self._reading.ranking.changed, self._on_changed)
        if self._leases is not None:
            self._connect(self._leases.changed, self._on_lease)
        if self._ways is not None and (args.rating is None or args.reachable):
            for signal in (self._ways.changed, *own_moves(ctx)):
                self._connect(signal, self._on_moved)

    def _open(self) -> Reading:
        args, entity = self._args, self._ctx.entity
        finder: Finder = entity.get(Finder) or self._finder
        rate = self._rate_nearness if args.rating is None else None
        if args.candidates is not None:
            return finder.search_among(args.candidates, args.filter, args.rating, rate)
        directory: Directory = entity[Directory]
        reading = finder.search(directory, args.tag, args.filter, args.rating, rate)
        self._connect(directory.changed(args.tag), self._on_told)
        return reading

    def _connect(self, signal: Signal, function: Callable[[Any], object]) -> None:
        self._connections.append(signal.connect(function))

    def close(self) -> None:
        """Let go of everything; if others wait for what this one was finding out, one of them goes on."""
        self._let_go()
        for connection in self._connections:
            connection.close()
        ranking = self._reading.ranking
        if ranking.worker is self:
            ranking.worker = None
            ranking.changed.emit()
        self._reading.close()
        self._finder.close()

    # --- what happens -------------------------------------------------------------------------------------------------

    def _on_changed(self, is_stale: object) -> None:
        if is_stale is True and self.offered is not None:
            # Nobody says who changed: what is offered is looked at first.
            self._reading.ranking.sieve.note(self.offered[1])
        self._again.set()

    def _on_told(self, change: object) -> None:
        """What was rejected may be good enough now that it changed."""
        if not isinstance(change, Change):
            self._refused.clear()
        else:
            self._refused.pop(change.entity, None)

    def _on_gone(self, _entity: object) -> None:
        self._again.set()

    def _on_lease(self, thing: Any) -> None:
        rating = self._reading.ranking.rating(thing) if isinstance(thing, Entity) else None
        if rating is None or self._leases is None:
            return
        is_mine = self._leases.holder(thing) in (None, self._ctx.agent)
        if self.offered is not None and thing is self.offered[1]:
            concerns = not is_mine
        else:
            self._refused.pop(thing, None)
            concerns = is_mine and (self.offered is None or rating > self.offered[0])
        if concerns:
            self._again.set()

    def _on_moved(self, _value: object) -> None:
        self._reached.clear()
        if self._args.rating is None:
            self._reading.ranking.rate_again()
        self._again.set()

    # --- finding out --------------------------------------------------------------------------------------------------

    async def run(self) -> None:
        """Search, and keep what is offered true. Never returns."""
        while True:
            self._again.clear()
            await self._find_out()
            self._offer()
            await self._again.wait()

    async def _find_out(self) -> None:
        """Work until nothing is left to find out, or nothing better can be found, or somebody else works at it."""
        ranking = self._reading.ranking
        while True:
            await self._choose()
            if ranking.worker not in (None, self):
                return
            left = ranking.left()
            if not left or (self._is_satisfied() and not ranking.has_news):
                break
            ranking.worker = self
            ranking.advance(await self._pace.take(min(left, _BATCH)))
            if self._args.eager:
                self._offer()
        if ranking.worker is self:
            ranking.worker = None
            ranking.changed.emit()

    def _is_satisfied(self) -> bool:
        return self._best is not None and self._best[0] >= 1.0

    async def _choose(self) -> None:
        """Find the best that can be had and, if that matters, be reached; of what is not known, pay to know it."""
        passed = 0
        while True:
            self._best = self._best_known()
            # Nearness knows the way; a thing that is nowhere needs none.
            if self._ways is None or self._args.rating is None or not self._args.reachable or self._best is None:
                return
            entity = self._best[1]
            located = entity.get(Located)
            if located is None or entity in self._reached:
                return
            passed += 1
            await self._pace.take(1 + passed // _BATCH)
            costs = self._ways.costs(expected_location(self._ctx), [located.location], reach=self._args.reach)
            self._reached[entity] = costs[0] is not None

    def _best_known(self) -> tuple[float, Entity] | None:
        ranking = self._reading.ranking
        offered = None if self.offered is None else self.offered[1]
        kept = None if offered is None or not self._may_have(offered) else ranking.rating(offered)
        for rating, entity in ranking:
            if kept is not None and rating == kept:
                assert offered is not None
                return rating, offered
            if self._may_have(entity):
                return rating, entity
        return None

    def _may_have(self, entity: Entity) -> bool:
        if entity.is_destroyed or entity is self._ctx.entity or entity in self._refused:
            return False
        if self._reached.get(entity) is False or any(entity is taken for taken in self._taken):
            return False
        if self._args.reserved or self._leases is None:
            return True
        return self._leases.holder(entity) in (None, self._ctx.agent)

    def _rate_nearness(self, entities: Sequence[Entity]) -> list[float | None]:
        args = self._args
        finder: PathFinder = self._ctx.entity[PathFinder]
        places = [entity[Located].location for entity in entities]
        costs = finder.costs(expected_location(self._ctx), places, reach=args.reach)
        return [None if cost is None or (args.within and cost > args.within) else nearness(cost) for cost in costs]

    # --- offering -----------------------------------------------------------------------------------------------------

    def _offer(self) -> None:
        best = self._best
        is_known = self._args.eager or self._is_satisfied() or self._reading.ranking.is_complete
        if best is None or not is_known:
            if self.offered is not None:
                self._let_go()
                self._ctx.clear_think_output()
        elif self.offered is None or best[1] is not self.offered[1]:
            self._ctx.candidates(_Choices(self))
        elif best[0] != self.offered[0]:
            self.offered = best
            self._ctx.set_utility(best[0])

    def choose(self, *, is_rejected: bool) -> Mapping[str, Any] | None:
        """The fields of the next choice; None if there is none."""
        if is_rejected and self.offered is not None:
            self._refused[self.offered[1]] = None
            self._best = self._best_known()
            self._again.set()  # whether the next one can be reached is looked into afterwards
        best = self._best
        if best is None:
            return None
        self._let_go()
        self.offered = best
        self._gone = best[1].destroyed.connect(self._on_gone)
        self._ctx.set_utility(best[0])
        self._ctx.set_debug_progress(f"{best[1].name}, rated {best[0]:g}")
        return {"entity": best[1], "rating": best[0]}

    def _let_go(self) -> None:
        self.offered = None
        if self._gone is not None:
            self._gone.close()
            self._gone = None


class FindBest(Action):
    """Find the best of many: those that pass a filter, rated from 0 to 1; that nobody else has reserved.

    The filter and the rating are functions of a candidate, or names under which the ``Finder`` of the entity knows
    them; what was found out is shared by who asks with the same. A rating of None takes a candidate out. Without a
    rating the nearest is the best. Its utility is the rating.

    Source: Stonehearth, AI: "Overview of the AI system" (actions that find the item to act on); `reject`,
    reserve_entity.
    """

    does = "agentrt:find_best"
    name = "find best"
    utility = (0.0, 1.0)

    class Args(ActionArgs):
        """What to find.

        Attributes:
            tag: the tag in the ``Directory`` under which the candidates stand.
            candidates: the candidates themselves, instead of a tag.
            filter: who counts: a function, or the name of one.
            rating: how good a candidate is: a function, or the name of one.
            reach: how many steps before it the path may end.
            within: the greatest cost of the path when the nearest is sought; 0 for any.
            reserved: whether those that others have reserved count too.
            reachable: whether a path has to lead there.
            eager: whether to offer the best of what was looked at before all were.
            per_tick: how many candidates to examine in a tick at most.
        """

        tag: str = ""
        candidates: Sequence[Entity] | None = None
        filter: Callable[[Entity], bool] | str | None = None
        rating: Callable[[Entity], float | None] | str | None = None
        reach: int = 0
        within: int = 0
        reserved: bool = False
        reachable: bool = True
        eager: bool = False
        per_tick: int = PER_TICK

    class Output(ThinkOutput):
        """What was found.

        Attributes:
            entity: the best.
            rating: how good it is.
        """

        entity: Entity
        rating: float

    async def think(self, ctx: Context[Entity], args: Args) -> None:
        """Search, offer the best, and go on watching."""
        is_plain = args.rating is None and args.filter is None and args.candidates is None
        if is_plain and ctx.entity.get(Surveyor) is not None:
            await self._ask_surveyor(ctx, args)
            return
        search = _Search(ctx, args)
        try:
            await search.run()
        finally:
            search.close()

    async def _ask_surveyor(self, ctx: Context[Entity], args: Args) -> None:
        nearby = Nearby(ctx, args.tag, reach=args.reach, within=args.within, reserved=args.reserved)

        def fields(entity: Entity, cost: int) -> Mapping[str, Any]:
            return {"entity": entity, "rating": nearness(cost)}

        await nearby.watch(fields, nearby.accepts)
