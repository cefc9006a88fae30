"""The town: its ground, its people, what is known, what is planned, what is in store; and what happens by itself.

It decides for nobody. What people do is in ``doing`` (rules) and ``thinking`` (thoughts); both call the methods here,
and each of these keeps the books: a loaf that is eaten was baked, who knows a rumor was told it or saw it, who is at a
party is its host or was invited.

*What is said changes things by what it is, and never by its words.* A line has a speaker, a hearer and a kind of talk
(a chat, a quarrel, ...), which were chosen from menus. By these it changes whom people like, and passes on the one
rumor that the speaker was about to tell. Its text is shown, and remembered.
"""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

from agentrt import Agent, Entity, Runtime, Signal
from agentrt.minds import Line, MemoryStream, Talks
from agentrt_examples.colony.bodies import Fear, Position
from agentrt_examples.colony.paths import GridPathFinder
from agentrt_examples.colony.terrain import Cell
from agentrt_examples.town.chart import FOR_ALL, FOR_WOLVES, PLACES, ground_for
from agentrt_examples.town.hours import BEAT, HOUR, TICKS_PER_SECOND, hour_of, is_night, next_at, told
from agentrt_examples.town.people import GOODS, Party, Person, Rumor

__all__ = ["HEARSAY", "Event", "Pace", "Saying", "Town"]

HEARSAY: Final = "the town"
"""Who says what is rumored: it may have come from outside, and is quoted as speech is."""

_KEPT: Final = 200  # events, for who looks
_MOST_RUMORS: Final = 64  # what is older is forgotten, or a town would get heavier from day to day
_MOST_PARTIES: Final = 16
_NEAR: Final = 2  # cells: who is so near hears what is said
_NOTICES: Final = 6  # cells from which a wolf is seen
_SAFE: Final = 9  # cells: who hides comes out when it is farther away
_PARTY_LASTS: Final = 5 * HOUR // 2
_NOTICE: Final = 5 * HOUR  # before a party: people have to be invited
_LONGEST: Final = 70  # characters of a line that are shown

# What one line of a kind of talk does: to how the hearer likes the speaker, the speaker the hearer, and to moods.
_FEELINGS: Final = {"chat": (3, 2, 2), "invite": (5, 2, 4), "quarrel": (-7, -5, -3), "make up": (10, 8, 3)}

_NEWS: Final = (
    ("coin", "a gold coin lay in the flour at the mill"),
    ("rider", "a rider of the king passes through on market day"),
    ("bell", "the school is to have a bell of its own"),
    ("well", "the water of the well tastes of apples"),
    ("ghost", "somebody saw a light in the empty barn at night"),
    ("calf", "a calf with two heads was born over the hill"),
    ("tax", "the tax on salt is to go up by half"),
    ("bridge", "the old bridge will not hold another winter"),
    ("fiddler", "the blind fiddler is on his way here"),
    ("wedding", "there may be a wedding before the harvest"),
)


def _grows(thousandths: int) -> int:
    """How much a need grows in a beat that grows by so much in an hour."""
    return thousandths * BEAT // HOUR


class Pace(NamedTuple):
    """How fast things come to pass here."""

    hunger: int = 100  # by how many thousandths one gets hungrier in an hour
    company: int = 80  # and lonelier
    wolf_hours: int = 24  # after about how many hours a wolf comes again
    stock: int = 16  # how much of each of the goods is there at first


class Event(NamedTuple):
    """Something that happened."""

    tick: int
    kind: str  # by which it is counted
    who: str
    text: str


class Saying(NamedTuple):
    """What somebody says just now."""

    text: str
    until: int  # the tick up to which it is shown


class Town:
    """All of it, but for what people do.

    Args:
        runtime: in which it lives.
        pace: how fast things come to pass.

    Attributes:
        runtime, pace: as given.
        finder, wolf_finder: ways over the ground, for people and for wolves.
        random: of what happens by itself.
        people: everybody, by name.
        bodies: their entities, and those of wolves while they are there, by name.
        wolves: which of them are wolves.
        rumors: all that can be known, by name, the newest last; the oldest are forgotten, by everybody at once.
        parties: the last ones that were planned, in that order.
        planner: who makes up a party at the moment; empty if nobody does.
        stock, made, used: of goods: how much is there, how much was made since the first day, and used up.
        sayings: what is being said, by the name of who says it.
        kinds: what kind of talk somebody began, by the name of who began it.
        telling: the rumor that somebody's next line is to pass on, by the speaker's name.
        events: the last ones that happened.
        counts: how often what happened, by kind.
        talks: who talks to whom.
        happened: emitted with each ``Event``.
    """

    def __init__(self, runtime: Runtime, pace: Pace = Pace()) -> None:  # noqa: B008 - it is a tuple of numbers
        self.runtime = runtime
        self.pace = pace
        self.ground = ground_for(FOR_ALL)
        self.finder = GridPathFinder(self.ground)
        self.wolf_ground = ground_for(FOR_WOLVES)
        self.wolf_finder = GridPathFinder(self.wolf_ground)
        self.random = runtime.stream("town")
        self.people: dict[str, Person] = {}
        self.bodies: dict[str, Entity] = {}
        self.wolves: dict[str, Agent] = {}
        self.rumors: dict[str, Rumor] = {}
        self.parties: list[Party] = []
        self.planner = ""
        self.stock: dict[str, int] = dict.fromkeys(GOODS, pace.stock)
        self.made: dict[str, int] = dict.fromkeys(GOODS, 0)
        self.used: dict[str, int] = dict.fromkeys(GOODS, 0)
        self.sayings: dict[str, Saying] = {}
        self.kinds: dict[str, str] = {}
        self.telling: dict[str, Rumor] = {}
        self.events: deque[Event] = deque(maxlen=_KEPT)
        self.counts: dict[str, int] = {}
        self.happened = Signal()
        self.talks = Talks.of(runtime)
        self.talks.said.connect(self._said)
        self._news_left = list(_NEWS)
        self._news_at = HOUR
        self._quarrels = 0

    @property
    def tick(self) -> int:
        """The number of the tick."""
        return self.runtime.tick

    # --- where everybody is -------------------------------------------------------------------------------------------

    def at(self, name: str) -> Cell:
        """Where somebody stands."""
        cell: Cell = self.bodies[name][Position].location
        return cell

    def distance(self, one: str, other: str) -> int:
        """How many steps two are apart, at least."""
        return self.finder.distance(self.at(one), self.at(other))

    def is_indoors(self, name: str) -> bool:
        """Whether somebody is where no wolf comes."""
        return not self.wolf_ground.cost(self.at(name))

    def spot(self, place: str, number: int) -> Cell:
        """A cell of a place; people with other numbers have other ones, as far as there are enough."""
        cells = PLACES[place]
        return cells[number * 5 % len(cells)]

    def near(self, name: str, cells: int) -> list[Person]:
        """Who is awake and no farther away, the nearest first."""
        found = [
            (self.distance(name, other), person.number, person)
            for other, person in self.people.items()
            if other != name and not person.is_asleep and self.distance(name, other) <= cells
        ]
        return [person for _, _, person in sorted(found, key=lambda one: one[:2])]

    # --- what is known ------------------------------------------------------------------------------------------------

    @property
    def newest(self) -> Rumor | None:
        """The rumor that came up last."""
        return next(reversed(self.rumors.values()), None)

    def rumor(self, name: str, text: str, *knowing: str) -> Rumor:
        """Something has come up, and somebody knows it."""
        made = self.rumors[name] = Rumor(name, text, self.tick)
        if len(self.rumors) > _MOST_RUMORS:
            self._forget(next(iter(self.rumors)))
        for one in knowing:
            self.learn(self.people[one], made)
        return made

    def _forget(self, name: str) -> None:
        del self.rumors[name]
        for person in self.people.values():
            person.knows.pop(name, None)

    def learn(self, person: Person, rumor: Rumor, by: str = "") -> bool:
        """Somebody sees or is told something; whether that is news."""
        if rumor.name in person.knows or rumor.name not in self.rumors:  # forgotten while it was being told
            return False
        person.knows[rumor.name] = self.tick
        self.bodies[person.name][MemoryStream].note(
            self.tick, rumor.text, importance=0.6, by=by or HEARSAY, kind="seen"
        )
        if by:
            self.note("news passed on", person.name, f"heard from {by} that {rumor.text}")
        else:
            self.note("news begun", person.name, f"knows that {rumor.text}")
        return True

    def news_for(self, speaker: Person, hearer: Person) -> Rumor | None:
        """What a speaker can tell that a hearer does not know: the freshest of it."""
        for name in reversed(self.rumors):
            if name in speaker.knows and name not in hearer.knows:
                return self.rumors[name]
        return None

    def _said(self, line: Line) -> None:
        speaker = self.people.get(line.speaker.name)
        hearer = self.people.get(line.conversation.partner_of(line.speaker).name)
        if speaker is None or hearer is None:
            return
        kind = self.kinds.get(line.conversation.members[0].name, "chat")
        speaker.lines += 1
        seconds = len(line.text) // 30 + 2
        self.sayings[speaker.name] = Saying(line.text[:_LONGEST], self.tick + seconds * TICKS_PER_SECOND)
        to_speaker, to_hearer, mood = _FEELINGS[kind]
        hearer.like(speaker.name, to_speaker)
        speaker.like(hearer.name, to_hearer)
        for one in (speaker, hearer):
            one.feel(mood)
            one.need(company=-60)
        self.note("lines said", speaker.name, f"to {hearer.name}: {line.text[:_LONGEST]}")
        rumor = self.telling.pop(speaker.name, None)
        if rumor is not None:
            by_ear = [one for one in self.near(speaker.name, _NEAR) if one is not hearer]
            for one in (hearer, *by_ear):
                self.learn(one, rumor, by=speaker.name)
            party = speaker.party
            if party is not None and party.rumor == rumor.name and party.host == speaker.name:
                self.invite(speaker, hearer)  # whom the host tells of it is invited

    def quarreled(self, one: Person, other: Person) -> None:
        """Two had words, and whoever stood near has something to tell."""
        self._quarrels += 1
        one.quarrels += 1
        other.quarrels += 1
        self.note("quarrels", one.name, f"quarreled with {other.name}")
        seen_by = [person.name for person in self.near(one.name, _NOTICES) if person is not other]
        self.rumor(f"quarrel {self._quarrels}", f"{one.name} and {other.name} had words", *seen_by)

    def made_up(self, one: Person, other: Person) -> None:
        """Two are friends again, if that is what came of it."""
        if min(one.likes(other.name), other.likes(one.name)) >= 0:
            self.note("made up", one.name, f"made up with {other.name}")

    # --- parties ------------------------------------------------------------------------------------------------------

    @property
    def next_party(self) -> Party | None:
        """The party that is planned or goes on."""
        return next((party for party in self.parties if not party.is_over), None)

    def plan_party(self, host: Person, place: str, hour: int) -> Party:
        """Somebody booked a place for a party."""
        tick = next_at(self.tick + _NOTICE, hour)
        party = Party(host.name, place, tick, tick + _PARTY_LASTS)
        self.parties = [*self.parties[1 - _MOST_PARTIES :], party]
        host.party = party
        self.note("parties planned", host.name, f"gives a party at the {place}, {told(tick)}")
        party.rumor = self.rumor(
            f"party {self.counts['parties planned']}", f"{host.name} gives a party at the {place}", host.name
        ).name
        return party

    def invite(self, host: Person, guest: Person) -> None:
        """A guest was spoken to about a party; who likes the host wants to come."""
        party = host.party
        if party is None or party.is_over or guest.name in party.invited:
            return
        party.invited.append(guest.name)
        comes = guest.party is None and guest.likes(host.name) >= 0
        if comes:
            guest.party = party
            party.guests.append(guest.name)
        self.bodies[guest.name][MemoryStream].note(
            self.tick, f"{host.name} invited me to a party", importance=0.8, kind="done"
        )
        self.note(
            "invitations", guest.name, f"was invited by {host.name}, and {'wants to come' if comes else 'will not'}"
        )

    def arrive(self, person: Person) -> None:
        """Somebody is at the party."""
        party = person.party
        if party is not None and person.name not in party.came:
            party.came.append(person.name)
            person.parties += 1
            person.feel(15)
            self.note("guests", person.name, f"is at the party of {party.host}")

    def _end_parties(self) -> None:
        party = self.next_party
        if party is None or self.tick < party.end:
            return
        party.is_over = True
        self.people[party.host].wants_party = False
        for person in self.people.values():
            if person.party is party:
                person.party = None
        if party.host in party.came and len(party.came) > 1:
            self.note("parties held", party.host, f"had {len(party.came) - 1} guests at the {party.place}")
        else:
            self.note("parties failed", party.host, "gave a party, and nobody came")

    # --- goods --------------------------------------------------------------------------------------------------------

    def make(self, person: Person) -> None:
        """An hour of somebody's work is done: what it made is in store, and what it took is not."""
        job = person.job
        person.worked += 1
        if not job.makes or (job.uses and not self.take(job.uses)):
            return
        amount = 3
        self.stock[job.makes] += amount
        self.made[job.makes] += amount
        self.note(f"{job.makes} made", person.name, f"made {amount} {job.makes}")

    def take(self, goods: str) -> bool:
        """Take one of some goods; whether there was one."""
        if self.stock[goods] < 1:
            return False
        self.stock[goods] -= 1
        self.used[goods] += 1
        return True

    # --- what happens by itself ---------------------------------------------------------------------------------------

    def note(self, kind: str, who: str, text: str) -> None:
        """Something happened."""
        self.counts[kind] = self.counts.get(kind, 0) + 1
        event = Event(self.tick, kind, who, text)
        self.events.append(event)
        self.happened.emit(event)

    def pass_tick(self) -> None:
        """A tick passes: people look around; at each beat needs grow, and news come up."""
        if self.wolves or self.tick % BEAT == 0:
            self._look_around()
        if self.tick % BEAT == 0:
            self._end_parties()
            self._bring_news()
            for person in self.people.values():
                self._age(person)
                person.changed.emit()
            if is_night(self.tick):
                self.planner = ""  # who did not come to plan it today may have another idea tomorrow

    def _age(self, person: Person) -> None:
        if person.is_asleep:
            person.slept += BEAT
            person.need(hunger=_grows(50), rest=-_grows(125))
        else:
            person.need(hunger=_grows(self.pace.hunger), rest=_grows(50), company=_grows(self.pace.company))
        if self.tick % (3 * BEAT) == 0:
            person.feel(-1 if person.mood > 0 else 1 if person.mood < 0 else 0)
            person.feel(-2 if person.hunger > 0.9 or person.company > 0.9 else 0)

    def _bring_news(self) -> None:
        if self.tick < self._news_at or is_night(self.tick):
            return
        self._news_at = self.tick + self.random.between(4 * HOUR, 8 * HOUR)
        if not self._news_left:
            return
        name, text = self._news_left.pop(self.random.below(len(self._news_left)))
        awake = [person.name for person in self.people.values() if not person.is_asleep]
        if awake:
            self.rumor(name, text, self.random.choice(awake))

    def _look_around(self) -> None:
        """Who sees a wolf is afraid of it: out of doors at once, and in a house as long as they hide there."""
        wolves = [self.bodies[name] for name in self.wolves]
        for name, person in self.people.items():
            fear: Fear = self.bodies[name][Fear]
            here = self.at(name)
            is_afraid = bool(fear.nearby)
            sight = _SAFE if is_afraid else 0 if person.is_asleep or self.is_indoors(name) else _NOTICES
            seen = [(self.finder.distance(here, wolf[Position].location), wolf) for wolf in wolves]
            seen = sorted((one for one in seen if one[0] <= sight), key=lambda one: (one[0], one[1].name))
            if not seen and not is_afraid:
                continue
            if seen and not is_afraid:
                self._saw(person, seen[0][1].name)
            fear.notice(tuple(wolf for _, wolf in seen), seen[0][0] if seen else 0)

    def _saw(self, person: Person, wolf: str) -> None:
        if wolf not in self.rumors:
            self.rumor(wolf, f"{person.name} saw a wolf at {hour_of(self.tick)} o'clock")
        self.learn(person, self.rumors[wolf])
        agent = self.runtime.find(person.name)
        if agent is not None and not self.talks.is_free(agent):
            self.note("talks broken off", person.name, "saw the wolf while they talked")

    def wolf_hour(self) -> int:
        """How many ticks it takes until the next wolf comes."""
        about = self.pace.wolf_hours * HOUR
        return self.random.between(about * 3 // 5, about * 6 // 5)
