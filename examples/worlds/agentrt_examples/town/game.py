"""A run of the town: a runtime, a town, those who live there, their mind, and what comes in from outside.

All that is random comes from streams of the runtime's seed, and all that happens goes into the trace as a note, so that
one digest covers a whole run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agentrt import Agent, Entity, Runtime
from agentrt.kernel import TraceEvent, TraceRecord
from agentrt.minds import Budget, MemoryStream, Mind, Model, Scripted
from agentrt.worlds import Value
from agentrt_actions import Located, Mover, PathFinder, Threats
from agentrt_examples.colony.bodies import Fear, Legs, Position
from agentrt_examples.town.chart import PLACES
from agentrt_examples.town.doing import RULES, WALK
from agentrt_examples.town.drafter import Drafter
from agentrt_examples.town.hours import DAY, TICKS_PER_SECOND, is_night
from agentrt_examples.town.people import FULL, PEOPLE, Person, Townsman
from agentrt_examples.town.script import scripted
from agentrt_examples.town.setting import PARAMETERS, WORTH
from agentrt_examples.town.thinking import THOUGHTS
from agentrt_examples.town.town import Event, Pace, Town
from agentrt_examples.town.wolves import bring_wolf

__all__ = ["TownGame"]

# What everybody together, each, and the summing up may use, in any of so many game seconds. The scripted model has the
# same bounds: so one sees what a model would cost before it is asked.
_OF_ALL: Final = Budget(tokens=400_000, per=60.0)
_EACH_PER: Final = 60.0
_TO_PONDER: Final = Budget(calls=24, per=DAY / TICKS_PER_SECOND)

_LATER: Final = 400  # ticks that the first wolf may be late
_MOST_WOLVES: Final = 3
_LONGEST_NEWS: Final = 80


class TownGame:
    """A town, ready to run.

    Args:
        seed: of all that is random.
        host: what the runtime runs on: plain, asyncio or trio.
        model: what its people think by; the script of this package by default.
        params: what is not as by default, by the names of ``setting.PARAMETERS``.

    Attributes:
        host: as given.
        is_scripted: whether its people think by a function of the game, and no server is asked.
        runtime: runs it; step it, or await its ``run``.
        town: the world.
        mind: what its people think by.
        agents: who lives there.
        drafter: draws it.
    """

    def __init__(
        self,
        seed: int | str = 7,
        host: str = "plain",
        *,
        model: Model | Scripted | None = None,
        params: Mapping[str, Value] | None = None,
    ) -> None:
        given: dict[str, Any] = {name: one.default for name, one in PARAMETERS.items()} | dict(params or {})
        self.host = host
        self.is_scripted = not isinstance(model, Model)
        self.runtime = Runtime(seed=seed, ticks_per_second=TICKS_PER_SECOND, host=host)
        self.runtime.game = self
        pace = Pace(given["hunger"], given["company"], given["wolf_hours"], given["stock"])
        self.town = Town(self.runtime, pace)
        self.town.happened.connect(self._note)
        self.mind = Mind(
            self.runtime, scripted() if model is None else model,
            budget=_OF_ALL, each=Budget(calls=given["calls"], per=_EACH_PER), purposes={"reflect": _TO_PONDER},
            stand_in=scripted(),
        )  # fmt: skip
        self._told = 0  # how many news came in from outside, which have no names of their own
        people = PEOPLE[: given["people"]]
        self.agents = [self._settle(who, number, people) for number, who in enumerate(people)]
        for name in params or ():
            if name in WORTH:
                for agent in self.agents:
                    agent.tune(WORTH[name], utility=given[name])
        self._wolf_at = self.town.random.between(given["first_wolf"], given["first_wolf"] + _LATER)
        self.runtime.on_input("wolf", self.wolf)
        self.runtime.on_input("news", self.news)
        self.drafter = Drafter(self.town)
        self.runtime.drawing = self.drafter.draw
        self.runtime.every_tick(self._tick)

    def _settle(self, who: Townsman, number: int, people: tuple[Townsman, ...]) -> Agent:
        town, random = self.town, self.town.random
        body = Entity("townsman", name=who.name, id=number + 1)
        person = Person(who, number, PLACES[f"home {who.home}"][0])
        position = Position(person.bed)
        body.add(position, Located)
        body.add(Legs(position, town.ground, WALK), Mover)
        body.add(Fear("wolf", 0), Threats)
        body.add(town.finder, PathFinder)
        body.add(MemoryStream(120, half_life=DAY / TICKS_PER_SECOND))
        body.add(person)
        body.add(town)
        person.need(hunger=random.between(0, FULL // 2), rest=random.between(0, FULL // 8), company=FULL // 3)
        person.feel(random.between(-20, 20))
        for other in people:
            person.like(other.name, random.between(-25, 25))
        town.people[who.name], town.bodies[who.name] = person, body
        agent = Agent(body, actions=[*RULES, *THOUGHTS])
        agent.values = person.offers
        return self.runtime.add(agent)

    # --- what happens -------------------------------------------------------------------------------------------------

    def _tick(self) -> None:
        tick = self.runtime.tick
        if tick >= self._wolf_at and not is_night(tick):
            self._wolf_at = tick + self.town.wolf_hour()
            self.wolf()
        self.town.pass_tick()

    def wolf(self) -> None:
        """A wolf comes out of the woods; also as an input."""
        if len(self.town.wolves) >= _MOST_WOLVES:
            raise ValueError(f"there are {len(self.town.wolves)} wolves, which are enough")
        bring_wolf(self.town)

    def news(self, who: str, text: str) -> None:
        """Somebody comes to know something: an input.

        Args:
            who: the name of somebody in town.
            text: what, in up to 80 characters.
        """
        person = self.town.people.get(who)
        if person is None:
            raise ValueError(f"nobody here is called {who!r}; there are {', '.join(self.town.people)}")
        given: object = text  # whoever sends it may send anything
        if not isinstance(given, str) or not 0 < len(text) <= _LONGEST_NEWS:
            raise ValueError(f"news are a text of up to {_LONGEST_NEWS} characters")
        self._told += 1
        self.town.rumor(f"told {self.town.tick} {self._told}", text, who)

    def _note(self, event: Event) -> None:
        if self.runtime.trace.on:
            detail = (("kind", event.kind), ("text", event.text))
            self.runtime.trace.emit(TraceRecord(event.tick, event.who, "world", TraceEvent.NOTE, detail))
