"""A shard: one part of a world, which is a runtime of its own, and what passes over its borders.

A world in shards is cut into parts by its author. All parts run windows of the same number of ticks; between two
windows, at the *barrier*, they tell each other what concerns others, and nothing passes at any other time. So a shard
needs nobody while a window runs, and what a shard does depends on its part, its seed and what came in, never on where
or when the others run. Here is the world's side of it; who brings the shards together stands in ``barrier``.

What passes, all of it plain data, as JSON writes it:

* *Messages*, to a shard or to an agent wherever it is. One is due at least a window after it was sent, since the
  receiver may run that window at the same time. Those that are due come before the agents in their tick, in the order
  (due tick, source, number), and go to the input of their name (``runtime.on_input``). One to an agent that has moved
  on goes after it: with it if it was waiting when the agent left, else at the next barrier.
* *Agents that move*. In the last tick of the window one is ended: its plan is unwound and every ``stop`` runs. Then its
  part exports it. At the next barrier its new part adopts it, under the same name, and its stream of random numbers
  goes on; it thinks anew. In between it is nowhere: nothing can happen to it.
* A *halo*: what the border of a part looked like at the barrier, for its neighbors to read. It is one window old at
  most, and nobody writes into it.

Rules:

* All that a barrier brings is *one* input of the runtime (``agentrt:window``). A recording of a shard therefore holds
  all there is to know of the others, and is replayed alone.
* What leaves is copied when it leaves, by JSON, wherever the receiver is: a tuple arrives as a list everywhere.
* What leaves stays here until the next window opens, and asking for it changes nothing: whoever lost the answer asks
  again.
* Where a part is rebuilt in epochs (``Runtime.rebuild_every``), what its shard has is in the save beside what the part
  says; who was about to move is, if the part makes an agent of that name again.
* ``Tally`` counts messages, and agents that move, by number and by a sum over their marks: the totals of all shards
  must agree at every barrier. One that is lost, or comes twice, shows there.

Rejected: a message that is due within the window if the receiver is the same shard (what a world does would depend on
how it is cut in one more way); exporting when the agent asks to move (its stops would not have run).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence, Set
from hashlib import blake2b
from heapq import heapify, heappop, heappush
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypedDict

from agentrt.agent.agent import Agent
from agentrt.errors import ENDS_PROGRAM, DefinitionError, ShardError, ShardHostError
from agentrt.words import error_words, repr_of, type_name
from agentrt.worlds import Parameter, SimpleWorld, made_runtime

if TYPE_CHECKING:
    from agentrt.kernel.rng import Stream
    from agentrt.runtime.runtime import Runtime
    from agentrt.worlds import Value

WINDOW_INPUT: Final = "agentrt:window"
_MOST: Final = (1 << 64) - 1

Message: TypeAlias = "tuple[int, int, int, int | str, str, dict[str, object]]"
"""Due tick, source, number (of its source, from 0), to whom, name of the input, arguments. No two agree in all of the
first three, so that sorting never looks at the rest."""
Row: TypeAlias = "list[Any]"
"""One thing that passes, as JSON has it. A message is as above; an agent that moves is: from where (at its source: to
where), its name, where its random numbers stand, its state; a halo: from where (to where), what it shows."""


class Inbound(TypedDict):
    """What a barrier brings to a shard: the arguments of its input."""

    number: int  # of the window that it opens, from 0
    halo: list[Row]
    arrivals: list[Row]
    messages: list[Row]
    dead: list[Row]  # messages that it handed on, to agents that are nowhere


class Outbound(TypedDict):
    """What a shard tells at a barrier."""

    shard: int
    windows: int  # how many are over
    tick: int
    count: int  # of its agents
    came: list[str]  # the names of its agents that were not told before
    went: list[str]  # those that were told or brought, and are not here any more
    is_whole: bool  # whether all names are told, and not only what changed
    leaving: list[Row]
    messages: list[Row]
    halo: list[Row]
    tallies: list[list[int]]  # messages sent, taken, dead, waiting here; agents left, came: number and sum of marks
    digest: str  # of its run so far


class Part(Protocol):
    """What the author of a world writes of one part of it.

    It is made with ``(shard, part, seed=, host=, params=)``: the shard that it is, and what ``partition`` gave for it.
    All of its methods are called between the agents' steps, and what they do is part of the run.
    """

    @property
    def runtime(self) -> Runtime:
        """The runtime of this part, made with the seed and the host that it was given."""
        ...

    def export(self, agent: Agent) -> object:
        """What an agent that leaves takes along, as plain data; it is stopped, and out of the runtime.

        Take what belongs to it out of this part. None says that it does not go: it is gone.
        """
        ...

    def adopt(self, name: str, state: object) -> Agent:
        """Make an agent that has come, of what its export gave there; the library adds it, under its name."""
        ...

    def halo(self) -> Mapping[int, object]:
        """What others may read of this part, by shard, as plain data; it changes nothing."""
        ...


class MakesPart(Protocol):
    """Makes a part: a class of the author's, as a rule."""

    def __call__(self, shard: Shard, part: object, *, seed: int, host: str, params: Mapping[str, Value]) -> Part: ...


class Tally:
    """How many messages or agents there were, and the sum of their marks: equal for equal sets, in any order."""

    __slots__ = ("count", "total")

    def __init__(self) -> None:
        self.count: int = 0
        self.total: int = 0  # of the marks, modulo 2**64

    def add(self, *what: object) -> None:
        """Count one thing; what it is called is the same at both ends."""
        mark = blake2b(repr(what).encode("utf-8", "surrogatepass"), digest_size=8).digest()
        self.count += 1
        self.total = (self.total + int.from_bytes(mark, "big")) & _MOST

    def as_json(self) -> list[int]:
        return [self.count, self.total]

    @classmethod
    def read(cls, row: list[int]) -> Tally:
        """The one that ``as_json`` gave."""
        one = cls()
        one.count, one.total = row
        return one


class Shard:
    """One shard, as the author of its part sees it; the library makes it.

    Args:
        number: which one it is, from 0.
        shards: how many there are.
        window: how many ticks a window has.
    """

    def __init__(self, number: int, shards: int, window: int) -> None:
        self.number: int = number
        self.shards: int = shards
        self.window: int = window
        self.halo: dict[int, object] = {}  # what the others showed at the last barrier, by shard
        self.windows: int = 0  # how many have been opened
        # Where the upper left of its drawing (``Runtime.drawing``) lies in that of the whole world, in cells: the part
        # says so when it is made.
        self.corner: tuple[float, float] = (0.0, 0.0)
        self.problem: str = ""  # what must not go on, in words: an agent would be lost
        self._part: Part | None = None
        self._runtime: Runtime | None = None
        self._number = 0  # of the next message
        self._waiting: list[Message] = []  # here, until they are due: a heap
        self._outbox: list[Message] = []  # for the next barrier
        self._movers: dict[Agent, int] = {}
        self._ending: dict[Agent, int] = {}  # those of them that unwind, until they are exported
        self._leaving: list[Row] = []
        self._arrived: list[str] = []  # for the window that is open
        self._sent, self._taken, self._dead = Tally(), Tally(), Tally()  # messages
        self._left, self._came = Tally(), Tally()  # agents
        self._world_save: Callable[[Runtime], object] | None = None  # what the part declared, if it is rebuilt
        self._world_load: Callable[[Runtime, object], object] | None = None

    # --- for authors --------------------------------------------------------------------------------------------------

    def send(self, name: str, /, *, to: int | str, delay: int | None = None, **args: object) -> None:
        """Send a message, in a tick or while the world is made; it comes in at the input of that name.

        Args:
            name: of the input (``runtime.on_input``) that takes it there.
            to: a shard, by number; or an agent, by name, wherever it is by then. Its input is told: ``to=NAME``.
            delay: ticks until it is due, a window at least; None for just that.
            args: what it says, as plain data.

        Raises:
            ShardError: there is no such shard, the delay is too short, or what it says is no plain data.
        """
        self._require_tick("send")
        ticks = self.window if delay is None else delay
        if type(ticks) is not int:  # NaN is neither less nor more: it would hold up all that waits behind it
            raise self._error(f"the message {name!r} has a delay of {repr_of(ticks, 80)}. Give a number of ticks.")
        if ticks < self.window:
            remedy = f"Wait for {self.window} ticks, or make windows shorter."
            raise self._error(f"the message {name!r} has a delay of {ticks}, which is less than a window. {remedy}")
        if not isinstance(to, str):
            self._require_shard(to)
        said = copied(args, f"the message {name!r} of shard {self.number}")
        assert isinstance(said, dict)
        message = (self._now + ticks, self.number, self._number, to, name, said)
        self._number += 1
        self._sent.add(*message[1:3])
        is_here = to == self.number if isinstance(to, int) else self.shards == 1 or self._finds(to, stays=True)
        if is_here:
            heappush(self._waiting, message)
        else:
            self._outbox.append(message)

    def move(self, agent: Agent, to: int) -> None:
        """Have one of the agents move to another shard at the end of this window; it acts on until then.

        The last word counts, and its own shard means that it stays. One that ends before that does not go.
        """
        self._require_tick("move")
        self._require_shard(to)
        if to == self.number:
            self._movers.pop(agent, None)
        elif agent.runtime is self._home:
            self._movers[agent] = to

    def _require_tick(self, method: str) -> None:
        """From outside of a tick it would be no part of the run, and missing in a replay."""
        if self._now and not self._home.kernel.in_tick:
            raise self._error(
                f"shard.{method} was called between two ticks. Call it in one: post it, or send an input."
            )

    def _require_shard(self, to: int) -> None:
        if problem := no_shard(to, self.shards):
            raise self._error(problem)

    def _error(self, problem: str) -> ShardError:
        return ShardError(self.number, problem, tick=self._now)

    @property
    def _now(self) -> int:
        return 0 if self._runtime is None else self._runtime.tick  # while its part is made, there is none yet

    @property
    def _home(self) -> Runtime:
        if self._runtime is None:
            raise ShardError(self.number, "it has no runtime yet. Use it when its part is made.")
        return self._runtime

    # --- in the run ---------------------------------------------------------------------------------------------------

    def join(self, part: Part, runtime: Runtime) -> None:
        """Belong to a part that was made."""
        self._part = part
        self._runtime = runtime
        runtime.on_input(WINDOW_INPUT, self._open)  # it stays when the world is rebuilt, as all of the library's own
        self._take_part()

    def _take_part(self) -> None:
        """After the part has put up all of its own, whenever the world is made."""
        runtime = self._home
        if runtime.game is None:
            runtime.game = self._part
        runtime.every_tick(self._tick)
        epochs = runtime.epochs
        if epochs.save is not None and epochs.load is not None and epochs.save != self._save:
            self._world_save, self._world_load = epochs.save, epochs.load
            epochs.declare(epochs.every, self._save, self._load)

    # What a shard has is in the world's save, beside what its part declared (``Runtime.rebuild_every``).

    def _save(self, runtime: Runtime) -> object:
        assert self._world_save is not None
        return {"part": self._world_save(runtime), **self._as_json()}

    def _as_json(self) -> dict[str, object]:
        tallies = (self._sent, self._taken, self._dead, self._left, self._came)
        movers = {**self._movers, **self._ending}
        return {
            "windows": self.windows,
            "halo": [[source, shown] for source, shown in self.halo.items()],
            "problem": self.problem,
            "number": self._number,
            "waiting": [list(message) for message in sorted(self._waiting, key=in_order)],
            "outbox": [list(message) for message in self._outbox],
            "movers": [[agent.name, to] for agent, to in movers.items()],
            "leaving": self._leaving,
            "arrived": self._arrived,
            "tallies": [one.as_json() for one in tallies],
        }

    def _load(self, runtime: Runtime, saved: dict[str, Any]) -> None:
        assert self._world_load is not None
        self.windows, self.problem, self._number = saved["windows"], saved["problem"], saved["number"]
        self.halo = {source: shown for source, shown in saved["halo"]}  # noqa: C416 - rows are lists
        self._waiting = [_message(row) for row in saved["waiting"]]  # sorted, so it is a heap
        self._outbox = [_message(row) for row in saved["outbox"]]
        self._leaving, self._arrived = saved["leaving"], saved["arrived"]
        self._sent, self._taken, self._dead, self._left, self._came = map(Tally.read, saved["tallies"])
        self._movers, self._ending = {}, {}
        self._world_load(runtime, saved["part"])
        self._take_part()
        agents = ((runtime.find(name), to) for name, to in saved["movers"])
        self._movers = {agent: to for agent, to in agents if agent is not None}

    def _open(
        self,
        number: int,
        halo: list[Row],
        arrivals: list[Row],
        messages: list[Row],
        dead: list[Row],
    ) -> None:
        """A barrier is over: take what it brings."""
        self.windows = number + 1
        self._outbox.clear()
        self._leaving.clear()
        self._arrived = [name for _, name, _, _ in arrivals]
        self.halo = {source: shown for source, shown in halo}  # noqa: C416 - rows are lists
        for row in dead:
            self._bury(_message(row))
        for row in arrivals:
            self._adopt(*row)
        for row in messages:
            heappush(self._waiting, _message(row))

    def _adopt(self, source: int, name: str, random: int, state: object) -> None:
        assert self._part is not None
        try:
            agent: object = self._part.adopt(name, state)
            if not isinstance(agent, Agent):
                raise DefinitionError("adopt", f"it gave {repr_of(agent, 80)}.", "Give the agent that it made.")
            agent.name = name
            self._home.add(agent, returns=True)
            agent.random.state = random
            self._came.add(name, self.windows - 1)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.problem = f"{name!r}, who came from shard {source}, was not adopted: {error_words(error)}"
            raise

    def _tick(self) -> None:
        tick = self._home.tick
        while self._waiting and self._waiting[0][0] <= tick:
            self._deliver(heappop(self._waiting))
        if self._movers and (tick + 1) % self.window == 0:  # they end in the intake of the window's last tick
            movers, self._movers = self._movers, {}
            for agent, to in movers.items():
                if agent.runtime is self._home and not agent.is_ending:
                    self._ending[agent] = to
                    self._home.remove(agent, f"moves to shard {to}")
                    self._home.spawn(self._detach, agent, to, agent.random, name=f"{agent.name} moves")

    def _deliver(self, message: Message) -> None:
        _, _, _, to, name, args = message
        if isinstance(to, str) and not self._finds(to):
            if self.shards > 1:
                self._outbox.append(message)  # the directory knows where it is
            else:
                self._bury(message)
            return
        self._taken.add(*message[1:3])
        given = {**args, "to": to} if isinstance(to, str) else dict(args)
        self._home.kernel.guarded(self._home.intake.take, (name, given, False))

    def _finds(self, name: str, *, stays: bool = False) -> bool:
        """Whether an agent is here, and, if that is asked, has not said that it moves."""
        agent = None if self._runtime is None else self._runtime.find(name)
        return agent is not None and not agent.is_ending and not (stays and agent in self._movers)

    def _bury(self, message: Message) -> None:
        self._dead.add(*message[1:3])
        self._home.note("a message finds nobody", name=message[4], to=message[3], number=message[2])

    async def _detach(self, agent: Agent, to: int, random: Stream) -> None:
        """Export an agent as soon as it has ended, and send after it what waits for it here."""
        assert self._part is not None
        assert agent.has_ended is not None
        await agent.has_ended.wait()
        self._ending.pop(agent, None)
        if agent.error is not None or self._home.kernel.is_aside:  # it ends with all others, and is made again
            return
        name = agent.name
        try:
            state = self._part.export(agent)
            plain = copied(state, f"the state of {name!r}")
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.problem = f"{name!r}, who moves to shard {to}, was not exported: {error_words(error)}"
            raise
        if state is None:
            return
        self._leaving.append([to, name, random.state, plain])
        self._left.add(name, self.windows)
        self._outbox += [message for message in self._waiting if message[3] == name]
        self._waiting = [message for message in self._waiting if message[3] != name]
        heapify(self._waiting)

    # --- at the barrier -----------------------------------------------------------------------------------------------

    def report(self, digest: str, known: Set[str]) -> Outbound:
        """What it tells at the barrier where it stands, to somebody who knows some names of its agents."""
        if self.problem:
            raise self._error(self.problem)
        assert self._part is not None
        halo: object = self._part.halo()
        if not isinstance(halo, Mapping):
            raise self._error(f"its halo is {repr_of(halo, 80)}. Give a dict, by shard what that one may read.")
        shown: dict[int, object] = {**halo}
        for to in shown:
            self._require_shard(to)
        waiting = Tally()
        for message in (*self._waiting, *self._outbox):
            waiting.add(*message[1:3])
        tallies = (self._sent, self._taken, self._dead, waiting, self._left, self._came)
        names = {agent.name: None for agent in self._home.agents}
        return {
            "shard": self.number,
            "windows": self.windows,
            "tick": self._home.tick,
            "count": len(names),
            "came": [name for name in names if name not in known],
            "went": sorted({*known, *self._arrived}.difference(names)),
            "is_whole": not known,
            "leaving": sorted(self._leaving, key=lambda row: row[:2]),
            "messages": [list(message) for message in sorted(self._outbox, key=in_order)],
            "halo": [[to, copied(shown[to], f"the halo of shard {self.number}")] for to in sorted(shown)],
            "tallies": [one.as_json() for one in tallies],
            "digest": digest,
        }


def no_shard(to: object, shards: int) -> str:
    """Why there is no such shard, in words; empty if there is."""
    if type(to) is int and 0 <= to < shards:
        return ""
    return f"there is no shard {repr_of(to, 80)}. Name one from 0 to {shards - 1}."


def in_order(message: Message | Row) -> tuple[int, int, int]:
    """Where a message stands among others: due tick, source, number."""
    return message[0], message[1], message[2]


def _message(row: Row) -> Message:
    due, source, number, to, name, args = row
    return due, source, number, to, name, args


def copied(value: object, what: str) -> object:
    """A copy of plain data, as JSON makes it; so nobody holds what another one changes.

    Raises:
        DefinitionError: it is none.
    """
    try:
        plain: object = json.loads(json.dumps(value))
    except (TypeError, ValueError, RecursionError) as error:
        remedy = "Say it with numbers, texts, lists and dicts."
        raise DefinitionError(what, f"it is no plain data: {error}.", remedy) from None
    return plain


# --- a world of parts -------------------------------------------------------------------------------------------------


class ShardedWorld(SimpleWorld):
    """A world that can be run in shards, and as any other world, then as one shard.

    One shard of it is a world, too: the parameters ``shard`` and ``shards`` say which. So a recording of a shard is
    replayed as any other, alone.

    Args:
        name: what commands and recordings call it.
        part: makes one part: a class with what ``Part`` lists.
        partition: called with the number of shards and the parameters; says what each of them begins with.
        window: how many ticks a window has. It is part of the world: another window is another run.
        summary: what there is to see, in a line.
        parameters: what else it can be made with, by name.
        measure: see ``SimpleWorld``; of one shard.

    Raises:
        DefinitionError: the window is no number of ticks, or a parameter is called as one of the two.
    """

    def __init__(
        self,
        name: str,
        part: MakesPart,
        partition: Callable[[int, Mapping[str, Value]], Sequence[object]],
        *,
        window: int,
        summary: str = "",
        parameters: Mapping[str, Parameter] | None = None,
        measure: Callable[[Runtime], Mapping[str, int | float | str]] | None = None,
    ) -> None:
        if type(window) is not int or window < 1:
            raise DefinitionError(
                f"the world '{name}'", f"its window is {repr_of(window, 80)}.", "Give it 1 tick or more."
            )
        own = {
            "shards": Parameter(1, "into how many shards the world is cut", low=1),
            "shard": Parameter(0, "which of them this is, from 0", low=0),
        }
        for one in own:
            if one in (parameters or {}):
                problem = f"it has a parameter '{one}', which says which shard is made."
                raise DefinitionError(f"the world '{name}'", problem, "Choose another name.")

        def make(*, seed: int, host: str, params: Mapping[str, Value]) -> Runtime:
            return self.shard(seed=seed, host=host, params=params)[1]

        super().__init__(name, make, summary=summary, parameters={**own, **(parameters or {})}, measure=measure)
        self.window: int = window
        self._part = part
        self._partition = partition

    def shard(self, *, seed: int, host: str, params: Mapping[str, Value]) -> tuple[Shard, Runtime]:
        """Make one shard.

        Args:
            seed: of all that is random; each shard is given the same, and what is to differ has another name.
            host: what it runs on: plain, asyncio or trio.
            params: a value for each parameter, checked.

        Returns:
            The shard, and the runtime that it is.

        Raises:
            DefinitionError: the world was not cut into so many parts, or its part has no runtime.
            ShardHostError: its runtime is on another host.
        """
        number, shards = int(params["shard"]), int(params["shards"])
        parts: object = self._partition(shards, params)
        where = f"the world '{self.name}'"
        if not isinstance(parts, Sequence):
            raise DefinitionError(where, f"its partition gives {repr_of(parts, 80)}.", "Give a list, one part each.")
        if len(parts) != shards:
            raise DefinitionError(
                where, f"its partition gives {len(parts)} parts for {shards} shards.", "Give one each."
            )
        if number >= shards:
            raise DefinitionError(
                where, f"there is no shard {number} of {shards}.", f"Name one from 0 to {shards - 1}."
            )
        shard = Shard(number, shards, self.window)
        part = self._part(shard, parts[number], seed=seed, host=host, params=params)
        if not callable(getattr(part, "export", None)):
            raise DefinitionError(where, f"its part is a {type_name(part)}.", "Give what agentrt.shards.Part lists.")
        runtime = made_runtime(self, part.runtime)
        if runtime.host != host:  # it would depend on where it is made what a shard waits for, and in which tick
            raise ShardHostError(number, runtime.host, host)
        shard.join(part, runtime)
        return shard, runtime
