"""The eye of a shard: what there is to see of it, for who looks at all of them from where they are led.

A shard stands at its barrier when it is asked, and what is asked says all: who looks, at what, and which breakpoints
there are. So whoever lost an answer, or the shard, asks again. What one client sees of an agent, its log and its time
line is what the inspector of a single runtime shows (``LiveSource``): it is not composed a second time in here.

Both sides are texts, of JSON as the inspector writes it: what an author offers to be seen may be anything.

Rules:

* Looking changes nothing of the run, and nothing is listened to while nobody looks and no breakpoint is set.
* A breakpoint that is hit stops nothing here: the window goes on to its end, and the barrier holds all.
* What fails in here is told instead of what was asked for, and the shard goes on.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypedDict

from agentrt.errors import ENDS_PROGRAM
from agentrt.inspect.live import LiveSource
from agentrt.inspect.protocol import Command, Denial, read, write
from agentrt.inspect.sessions import Message, Session
from agentrt.words import error_words

if TYPE_CHECKING:
    from agentrt.runtime.runtime import Runtime
    from agentrt.shards.shard import Shard


class Look(TypedDict):
    """What is asked of a shard."""

    clients: dict[str, Message | None]  # who looks, and the watch of each, as clients write it; None: tell nothing now
    draws: bool  # whether somebody wants to see what the world looks like
    breakpoints: list[list[Any]]  # kind, name, agent, and whether it is enabled


class Sight(TypedDict):
    """What a shard shows."""

    problem: str  # why it shows nothing; empty if it does
    clients: dict[str, list[Message]]  # what is news to each
    state: Message  # as the inspector of one runtime tells it
    rate: float  # ticks a second
    drawing: Message | None
    corner: list[float]  # where its upper left lies in the drawing of the world
    hit: list[Any]  # of the breakpoint that was hit first since the last look: tick, why in words; empty for none


class Eye:
    """The eye of one shard."""

    def __init__(self, shard: Shard, runtime: Runtime) -> None:
        self._shard = shard
        self._runtime = runtime
        self._source = LiveSource(runtime, "", controls=True, past=0, held_by=self._held)
        self._is_open = False
        self._clients: dict[str, _Client] = {}
        self._hit: list[Any] = []

    def _held(self, reason: str) -> None:
        self._hit = self._hit or [self._runtime.tick, reason]

    def look(self, text: str) -> str:
        """What there is to see, of what is asked."""
        try:
            return write(self._look(json.loads(text)))
        except ENDS_PROGRAM:
            raise
        except BaseException as error:  # whoever looks must not stop the game
            return write({"problem": error_words(error)})

    def _look(self, look: Look) -> Sight:
        is_wanted = bool(look["clients"] or look["breakpoints"])
        if is_wanted and not self._is_open:
            self._source.attach()
        self._is_open = is_wanted
        if is_wanted:
            self._set(look["breakpoints"])
            self._welcome(look["clients"])
            self._source.serve()
        hit, self._hit = self._hit, []
        sight: Sight = {
            "problem": "",
            "clients": {name: client.taken() for name, client in self._clients.items() if look["clients"].get(name)},
            "state": self._source.state(),
            "rate": self._runtime.clock.ticks_per_second,
            "drawing": None,
            "corner": list(self._shard.corner),
            "hit": hit,
        }
        if look["draws"] and (drawing := self._runtime.draw()) is not None:
            sight["drawing"] = drawing.as_json()
        if not is_wanted:
            self._clients.clear()
            self._source.detach()
        return sight

    def _welcome(self, watches: dict[str, Message | None]) -> None:
        """Have those look who are to, at what they want to see."""
        for name in [name for name in self._clients if name not in watches]:
            self._source.close(self._clients.pop(name).session)
        for name, watch in watches.items():
            client = self._clients.get(name)
            if client is None:
                client = self._clients[name] = _Client()
                self._source.open(client.session)
            if watch is not None:
                client.look_at(watch)

    def _set(self, wanted: list[list[Any]]) -> None:
        """Have the breakpoints that are wanted, and no others."""
        points, runtime = self._source.breakpoints, self._runtime
        keys = {(kind, name, agent): is_on for kind, name, agent, is_on in wanted}
        for one in points.as_json():
            if (one["kind"], one["name"], one["agent"]) not in keys:
                points.obey("unbreak", {"id": one["id"]}, runtime)
        for kind, name, agent in keys:
            points.obey("break", {"kind": kind, "name": name, "agent": agent}, runtime)
        for one in points.as_json():
            is_on = keys.get((one["kind"], one["name"], one["agent"]), one["enabled"])
            if is_on != one["enabled"]:
                points.obey("arm", {"id": one["id"], "on": is_on}, runtime)


class _Client:
    """One who looks, as the source of this runtime has him."""

    def __init__(self) -> None:
        self._batch: list[Message] = []
        self._watch: Message = {}
        self.session: Session = Session(self._take)

    def _take(self, batch: list[Message]) -> bool:
        self._batch += batch
        return True

    def look_at(self, watch: Message) -> None:
        self.session.arrived()
        self.session.hurry()  # how often is for whoever asks: if one shard rested, the log of all would be out of order
        if watch != self._watch:
            self._watch = watch
            command = read(json.dumps({"do": "watch", **watch}))
            assert not isinstance(command, Denial), command.message  # it was checked where it came in
            self.session.submit(Command("watch", command.fields))

    def taken(self) -> list[Message]:
        """What came since the last time, but for what is told of the whole runtime."""
        batch, self._batch = self._batch, []
        return [message for message in batch if message["is"] in ("agents", "agent", "events", "timeline", "error")]
