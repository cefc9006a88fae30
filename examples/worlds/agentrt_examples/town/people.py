"""The people of the town: who they are, what they need, whom they like, what they know. Data, and nothing that decides.

Rules, as in the colony: every number is whole (needs in thousandths, feelings in hundredths), every change goes through
a method that keeps the bounds, and ``changed`` is fired for whoever thinks about it.

Who knows a rumour is a fact of the game, by the rumour's name. No text that anybody says makes somebody know anything.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from agentrt import Signal
from agentrt_examples.colony.terrain import Cell

__all__ = ["BY_NAME", "FULL", "GOODS", "JOBS", "PEOPLE", "Job", "Party", "Person", "Rumor", "Townsman"]

FULL: Final = 1000
_MOST_FEELING: Final = 100
_NOON: Final = 12


class Job(NamedTuple):
    """What somebody does for a living."""

    place: str  # where
    first: int  # the hour at which it begins
    last: int  # the hour at which it is over
    makes: str = ""  # what a while of work makes, if it makes something that is counted
    uses: str = ""  # and what that takes

    def goes_on(self, hour: int) -> bool:
        """Whether one works at an hour; at noon nobody does."""
        return self.first <= hour < self.last and hour != _NOON


GOODS: Final = ("grain", "flour", "bread")

JOBS: Final[dict[str, Job]] = {
    "farmer": Job("farm", 7, 14, "grain"),
    "miller": Job("mill", 7, 14, "flour", "grain"),
    "baker": Job("bakery", 6, 13, "bread", "flour"),
    "smith": Job("smithy", 8, 15),
    "teacher": Job("school", 8, 13),
    "innkeeper": Job("inn", 11, 17),
    "carrier": Job("well", 8, 14),
    "peddler": Job("square", 9, 15),
}


class Townsman(NamedTuple):
    """Somebody who lives here, as the first day finds them."""

    name: str
    job: str
    home: str  # the letter of the bed in the chart
    character: str  # in a sentence


PEOPLE: Final = (
    Townsman("Alma", "baker", "1", "Alma is warm and curious, and knows everybody's business."),
    Townsman("Bertil", "miller", "2", "Bertil is slow to speak, and never forgets a wrong."),
    Townsman("Cilla", "teacher", "3", "Cilla is exact, a little proud, and fond of a good argument."),
    Townsman("Didrik", "smith", "4", "Didrik is loud and generous, and quick to anger."),
    Townsman("Elna", "innkeeper", "5", "Elna loves company and cannot keep a secret."),
    Townsman("Folke", "farmer", "6", "Folke worries about the weather and about wolves."),
    Townsman("Greta", "farmer", "7", "Greta works hard, laughs easily and holds no grudge."),
    Townsman("Henrik", "carrier", "8", "Henrik dreams of the sea, which he has never seen."),
    Townsman("Ida", "peddler", "9", "Ida has been everywhere and believes half of what she hears."),
    Townsman("Jonas", "smith", "a", "Jonas is shy, and brave when nobody looks."),
    Townsman("Karin", "baker", "b", "Karin is thrifty and sharp-tongued, and loyal to her friends."),
    Townsman("Lars", "carrier", "c", "Lars is lazy and charming, and likes a feast."),
)

BY_NAME: Final = {one.name: one for one in PEOPLE}


class Rumor(NamedTuple):
    """Something that can be known, and passed on."""

    name: str
    text: str  # for people and for models; decides nothing
    tick: int  # since when


class Party:
    """A feast that somebody planned.

    Attributes:
        host: who gives it.
        place: where.
        tick: when it begins.
        end: when it is over.
        invited: who was spoken to about it, in that order.
        guests: who of them wants to come.
        came: who was there, the host included.
        is_over: whether it was.
        rumor: the name of the rumor that there is one.
    """

    __slots__ = ("came", "end", "guests", "host", "invited", "is_over", "place", "rumor", "tick")

    def __init__(self, host: str, place: str, tick: int, end: int) -> None:
        self.host = host
        self.place = place
        self.tick = tick
        self.end = end
        self.invited: list[str] = []
        self.guests: list[str] = []
        self.came: list[str] = []
        self.is_over = False
        self.rumor = ""


class Person:
    """What is peculiar to somebody of the town. A component.

    Attributes:
        who: as the first day finds them.
        number: which of the town's people, from 0.
        bed: where they sleep.
        job: what they do.
        mood: from -100 to 100.
        liking: how they like others, by name, from -100 to 100.
        knows: since which tick they know a rumour, by its name, in the order in which they heard of them.
        is_asleep: whether they sleep.
        wants_party: whether they made up their mind to give one.
        party: the party that they give, or were invited to and want to see.
        doing: what they do, in a word or two.
        meals, slept, worked, lines, parties, quarrels, bites: what they did so far; ``slept`` in ticks.
        changed: fired at each beat, and when something of all that changed in between.
    """

    __slots__ = (
        "_company", "_hunger", "_rest", "bed", "bites", "changed", "doing", "is_asleep", "job", "knows", "liking",
        "lines", "meals", "mood", "number", "parties", "party", "quarrels", "slept", "wants_party", "who", "worked",
    )  # fmt: skip

    def __init__(self, who: Townsman, number: int, bed: Cell) -> None:
        self.who = who
        self.number = number
        self.bed = bed
        self.job = JOBS[who.job]
        self.mood = 0
        self.liking: dict[str, int] = {}
        self.knows: dict[str, int] = {}
        self.is_asleep = False
        self.wants_party = False
        self.party: Party | None = None
        self.doing = "is there"
        self.meals = self.slept = self.worked = self.lines = self.parties = self.quarrels = self.bites = 0
        self.changed = Signal()
        self._hunger = self._rest = self._company = 0

    @property
    def name(self) -> str:
        """What they are called."""
        return self.who.name

    @property
    def hunger(self) -> float:
        """From 0.0, sated, to 1.0, starving."""
        return self._hunger / FULL

    @property
    def rest(self) -> float:
        """How much rest they need: from 0.0, wide awake, to 1.0."""
        return self._rest / FULL

    @property
    def company(self) -> float:
        """How much company they need: from 0.0 to 1.0, lonely."""
        return self._company / FULL

    def need(self, *, hunger: int = 0, rest: int = 0, company: int = 0) -> None:
        """Change what they need, within its bounds."""
        self._hunger = min(FULL, max(0, self._hunger + hunger))
        self._rest = min(FULL, max(0, self._rest + rest))
        self._company = min(FULL, max(0, self._company + company))

    def feel(self, mood: int) -> None:
        """Cheer up, or be cast down."""
        self.mood = min(_MOST_FEELING, max(-_MOST_FEELING, self.mood + mood))

    def likes(self, name: str) -> int:
        """How much they like somebody, from -100 to 100."""
        return self.liking.get(name, 0)

    def like(self, name: str, more: int) -> None:
        """Like somebody better, or less."""
        if name != self.name:
            self.liking[name] = min(_MOST_FEELING, max(-_MOST_FEELING, self.likes(name) + more))

    def offers(self) -> dict[str, object]:
        """What they show to whoever watches."""
        return {
            "hunger": self.hunger, "rest": self.rest, "company": self.company, "mood": self.mood / _MOST_FEELING,
            "is_asleep": self.is_asleep, "rumors": len(self.knows), "doing": self.doing,
            "liking": {name: worth / _MOST_FEELING for name, worth in sorted(self.liking.items())},
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"<Person {self.name}>"
