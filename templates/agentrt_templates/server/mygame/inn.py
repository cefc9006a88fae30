"""The game itself: an inn, who is in it, and what may come in from outside.

Three inputs come from the network: ``join``, ``type`` and ``leave``, with plain values. The runtime takes them in at
its next tick, so the sockets never touch an agent; and a recording has them, so that an evening can be played again, or
go on after a crash. A client that comes back then sends again what nobody acknowledged: so it numbers what is typed,
and a number that the inn knows is passed over.
"""

from __future__ import annotations

from collections.abc import Callable

import agentrt as art

from mygame.courier import Courier


class Somebody(art.Entity):
    """A guest or the innkeeper."""

    def __init__(self, kind: str, inn: Inn, *, name: str) -> None:
        super().__init__(kind, name=name)
        self.inn = inn
        self.typed: art.Queue[str] = art.Queue(limit=20)  # what its player wants; who types too much is not heard


class Inn:
    """Who is here, and who listens."""

    def __init__(self, runtime: art.Runtime, registry: art.Registry) -> None:
        self.orders: art.Queue[tuple[str, str]] = art.Queue(limit=50)  # of whom, and what
        self.listeners: dict[str, Callable[[str], None]] = {}  # by the name of a guest: writes to its player
        self.guests: dict[str, art.Agent[Somebody]] = {}
        self.known: dict[str, int] = {}  # by the name of a guest: the highest number of what was typed
        self._runtime = runtime
        self._registry = registry
        runtime.on_input("join", self._join)
        runtime.on_input("type", self._type)
        runtime.on_input("leave", self._leave)

    def open(self, courier: Courier) -> None:
        """Let the innkeeper come."""
        self._add(Somebody("keeper", self, name="keeper")).entity.add(courier)

    def say(self, text: str) -> None:
        """Everybody here hears it."""
        self._runtime.note(text)
        for listener in list(self.listeners.values()):
            listener(text)

    def _add(self, body: Somebody) -> art.Agent[Somebody]:
        agent = art.Agent(body, packs=[f"mygame:ai_pack:{body.kind}"], registry=self._registry)
        return self._runtime.add(agent)

    def _join(self, name: str) -> None:
        if name not in self.guests:
            self.guests[name] = self._add(Somebody("guest", self, name=name))
            self.say(f"{name} comes in")

    def _type(self, name: str, text: str, number: int) -> None:
        if name in self.guests and number > self.known.get(name, 0):
            self.known[name] = number
            self.guests[name].entity.typed.put_nowait(text)

    def _leave(self, name: str) -> None:
        if name in self.guests:
            self._runtime.remove(self.guests.pop(name), "left")
            self.say(f"{name} leaves")
