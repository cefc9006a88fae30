"""What the people of the town think about, by a model: what to do with a free hour, what to say, how to plan a party.

Each thought is a candidate among the rules of ``doing``. While a model is asked, whoever asks does what the rules say,
and where there is no answer, goes on so: that is why free time and parties are thought about while one strolls or
dances, why who ponders walks up and down, and why a conversation in which nobody finds a word is over after a while.

A thought chooses from a closed menu: an activity, and for each argument one of the names that stand there. What another
one said stands in the prompt as speech, and what it does to the hearer is no matter of words: see ``Town``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

from agentrt import MOVE, TOP, Action, ActionArgs, Context, Entity
from agentrt.errors import ThoughtFailedError
from agentrt.minds import Attend, Consider, Conversation, Converse, MemoryStream, Option, Plan, Reflect, Said, Talks
from agentrt.minds.consider import Minded
from agentrt_actions import walk_one
from agentrt_examples.colony.bodies import Position
from agentrt_examples.town.chart import PLACES
from agentrt_examples.town.doing import goto, is_free_time, person_of, town_of
from agentrt_examples.town.hours import HOUR, TICKS_PER_SECOND, hour_of, is_night, told
from agentrt_examples.town.people import Person
from agentrt_examples.town.town import HEARSAY

__all__ = [
    "THOUGHTS", "BookPlace", "Chat", "FreeTime", "Invite", "Listen", "MakeUp", "PartyTalk", "PlanParty", "Ponder",
    "Quarrel", "StrollTo", "Visit", "WantParty",
]  # fmt: skip

_IN_REACH: Final = 10  # cells: with whom one may begin to talk
_MOST_NEAR: Final = 4  # of them stand on a menu
_WAITS: Final = 5  # game seconds, for a guest who talks with somebody
_MOST_STEPS: Final = 40  # that one walks after somebody to talk with
_WORDS_WITHIN: Final = 8.0  # game seconds: so long a pause ends a conversation
_PACE: Final = 45.0  # characters that are spoken in a game second
_MOST_GUESTS: Final = 8
_ASKABLE: Final = range(8, 18)  # hours in which somebody may get the idea of a party
_HOURS: Final = (18, 19, 20)


def _mood(person: Person) -> str:
    if abs(person.mood) < 15:
        return "calm"
    return "cheerful" if person.mood > 0 else "cross"


def _feeling(person: Person, other: str) -> str:
    liking = person.likes(other)
    for most, word in ((-40, "cannot stand"), (-10, "does not like"), (10, "knows"), (50, "likes")):
        if liking < most:
            return word
    return "is fond of"


async def _walk_about(ctx: Context[Any]) -> None:
    """Walk up and down: what one does whose next step is being thought about."""
    finder, position = town_of(ctx).finder, ctx.entity[Position]
    while True:
        await walk_one(ctx, ctx.random.choice(list(finder.neighbors(position.location))))
        await ctx.sleep_ticks(ctx.random.between(2, 10))


def _self(ctx: Context[Entity]) -> dict[str, Any]:
    """What everybody sees of themselves and of the hour."""
    person = person_of(ctx)
    return {
        "name": person.name, "character": person.who.character, "job": person.who.job,
        "hour": f"{hour_of(ctx.clock.tick)} o'clock", "mood": _mood(person),
    }  # fmt: skip


class _Person(Minded):
    """A thought of somebody who lives here."""

    system: ClassVar[str] = "You are {name}, a {job} in a small town. {character}"


# --- conversations ----------------------------------------------------------------------------------------------------


class _Speaking(_Person):
    """What both sides of a conversation see, and that a pause in it does not last for ever."""

    prompt: ClassVar[str] = (
        "It is {hour}, and you are {mood}. You talk with {partner}, whom {name} {feeling}.\n"
        "What you remember: {remembered}\nNews that you want to tell: {news}\n"
        "What it is about: {topic}\nSaid so far: {said}"
    )
    outpaced: ClassVar[Any] = "cancel"

    def sees(self, ctx: Context[Any], args: Any) -> Mapping[str, Any]:
        """Oneself, the other one, and the rumor that the next line is to pass on."""
        town, person = town_of(ctx), person_of(ctx)
        conversation = _conversation_of(ctx)
        partner = conversation.partner_of(ctx.agent).name if conversation is not None else ""
        other = town.people[partner]
        rumor = town.news_for(person, other)
        town.telling.pop(person.name, None)
        if rumor is not None:
            town.telling[person.name] = rumor
        memory: MemoryStream = ctx.entity[MemoryStream]
        return {
            **_self(ctx), "kind": _kind_of(ctx), "feeling": _feeling(person, partner),
            "news": "none" if rumor is None else Said(HEARSAY, rumor.text),
            "comes": other.party is not None and person.party is other.party,
            "remembered": memory.told(ctx.clock.tick, partner, tokens=300, ticks_per_second=TICKS_PER_SECOND),
        }  # fmt: skip

    async def ask(self, ctx: Context[Any], args: Any, *asked: Any, **more: Any) -> Any:
        """Ask for the next line, but not for ever: the other one stands there and waits."""
        which, answer = await ctx.first(super().ask(ctx, args, *asked, **more), ctx.sleep(_WORDS_WITHIN))
        if which:
            raise ThoughtFailedError("no words came in time", agent=ctx.agent.name, path=ctx.path)
        return answer


def _conversation_of(ctx: Context[Any]) -> Conversation | None:
    return Talks.of(ctx.agent.runtime).open.get(ctx.agent.name)


def _kind_of(ctx: Context[Any]) -> str:
    conversation = _conversation_of(ctx)
    return "chat" if conversation is None else town_of(ctx).kinds.get(conversation.members[0].name, "chat")


class _Talk(_Speaking, Converse):
    """Walk up to somebody and talk."""

    kind: ClassVar[str] = "chat"
    topic: ClassVar[str] = "this and that"
    flags = frozenset({MOVE})
    most_lines: ClassVar[int] = 6
    pace: ClassVar[float] = _PACE

    def about(self, ctx: Context[Any], args: Any) -> str:
        """What it is about."""
        return self.topic

    def start(self, ctx: Context[Any], args: Any) -> None:
        """Call out to the other one, who stops and waits."""
        super().start(ctx, args)
        town_of(ctx).kinds[ctx.agent.name] = self.kind
        person_of(ctx).doing = f"goes to talk with {args.who.name}"

    async def run(self, ctx: Context[Any], args: Any) -> None:
        """Go there, and talk."""
        conversation = self._conversation
        assert conversation is not None
        await self._walk_up(ctx, args.who, conversation)
        if not conversation.is_over:
            person_of(ctx).doing = f"talks with {args.who.name}"
            await super().run(ctx, args)
        self.talked(ctx, args.who, conversation)

    def talked(self, ctx: Context[Any], who: Entity, conversation: Conversation) -> None:
        """It is over, and nothing else took one away."""

    def stop(self, ctx: Context[Any], args: Any) -> None:
        """Go one's way."""
        town, conversation = town_of(ctx), self._conversation
        if self.kind == "quarrel" and conversation is not None and len(conversation.lines) > 1:
            town.quarreled(person_of(ctx), town.people[args.who.name])
        if self.kind == "make up" and conversation is not None and len(conversation.lines) > 1:
            town.made_up(person_of(ctx), town.people[args.who.name])
        town.kinds.pop(ctx.agent.name, None)
        super().stop(ctx, args)

    async def _walk_up(self, ctx: Context[Any], who: Entity, conversation: Conversation) -> None:
        finder, position = town_of(ctx).finder, ctx.entity[Position]
        for _ in range(_MOST_STEPS):
            path = finder.find(position.location, who[Position].location, reach=1)
            if conversation.is_over or path is None or not path.places:
                return
            await walk_one(ctx, path.places[0])


class Chat(_Talk):
    """Chat with somebody: pass the time, hear what is new, tell what you know."""

    does = "town:chat"
    name = "chat"
    utility = 1.0


class Quarrel(_Talk):
    """Have it out with somebody whom you do not like."""

    does = "town:quarrel"
    name = "quarrel"
    utility = 1.0
    kind: ClassVar[str] = "quarrel"
    topic: ClassVar[str] = "what you hold against them; you are angry"


class MakeUp(_Talk):
    """Make up with somebody after a quarrel."""

    does = "town:make_up"
    name = "make up"
    utility = 1.0
    kind: ClassVar[str] = "make up"
    topic: ClassVar[str] = "that you want to be friends again"


class Invite(_Talk):
    """Invite somebody to your party, by word of mouth."""

    does = "town:invite"
    name = "invite"
    utility = 1.0
    kind: ClassVar[str] = "invite"
    most_lines: ClassVar[int] = 3

    async def think(self, ctx: Context[Any], args: Any) -> None:
        """Be ready when there is a party to invite to, and the guest is awake and has time, or has soon."""
        town, party = town_of(ctx), person_of(ctx).party
        if party is None or party.host != ctx.agent.name or party.is_over:
            ctx.reject("there is no place yet: book one first")
        if ctx.clock.tick >= party.tick:
            ctx.reject("the party has begun")
        guest = ctx.agent.runtime.find(args.who.name)
        for _ in range(_WAITS):
            if guest is None or town.people[args.who.name].is_asleep:
                ctx.reject(f"{args.who.name} sleeps")
            if town.talks.is_free(guest) and town.talks.is_free(ctx.agent):
                await super().think(ctx, args)
            await ctx.sleep(1.0)
        ctx.reject(f"{args.who.name} has no time")

    def about(self, ctx: Context[Any], args: Any) -> str:
        """Where and when it is."""
        party = person_of(ctx).party
        return "a party" if party is None else f"the party of {party.host} at the {party.place}, {told(party.tick)}"

    def talked(self, ctx: Context[Any], who: Entity, conversation: Conversation) -> None:
        """The other one has heard of it, if they answered."""
        if any(line.by == who.name for line in conversation.lines):
            town_of(ctx).invite(person_of(ctx), town_of(ctx).people[who.name])


class Listen(_Speaking, Attend):
    """Stop, and talk with who speaks to one."""

    does = TOP
    name = "listen"
    utility = 0.78
    flags = frozenset({MOVE})
    most_lines: ClassVar[int] = 6
    pace: ClassVar[float] = _PACE

    def start(self, ctx: Context[Any], args: Any) -> None:
        """Turn round."""
        super().start(ctx, args)
        assert self._conversation is not None
        person_of(ctx).doing = f"listens to {self._conversation.members[0].name}"


# --- free time --------------------------------------------------------------------------------------------------------


class StrollTo(Action):
    """Go for a walk to a place of the town."""

    does = "town:stroll"
    name = "stroll there"
    utility = 1.0
    flags = frozenset({MOVE})

    class Args(ActionArgs):
        """Where."""

        place: str

    def start(self, ctx: Context[Entity], args: Args) -> None:
        """Take one's hat."""
        person_of(ctx).doing = f"goes to the {args.place}"

    async def run(self, ctx: Context[Entity], args: Args) -> None:
        """Go there, and stay for a little."""
        spots = PLACES[args.place]
        await goto(ctx, spots[ctx.random.below(len(spots))])
        await ctx.sleep_ticks(ctx.random.between(20, 60))


class Visit(Action):
    """Go and look for somebody, to be near when they have time."""

    does = "town:visit"
    name = "visit"
    utility = 1.0
    flags = frozenset({MOVE})

    class Args(ActionArgs):
        """Whom."""

        who: Entity

    def start(self, ctx: Context[Entity], args: Args) -> None:
        """Set out."""
        person_of(ctx).doing = f"goes to see {args.who.name}"

    async def run(self, ctx: Context[Entity], args: Args) -> None:
        """Go to where they are when one sets out; they may be gone."""
        await goto(ctx, args.who[Position].location)
        await ctx.sleep_ticks(TICKS_PER_SECOND)


class WantParty(Action):
    """Make up your mind to give a party, which you plan then."""

    does = "town:want_party"
    name = "want a party"
    utility = 1.0

    async def think(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Be ready if nobody else has that idea."""
        town = town_of(ctx)
        if town.planner or town.next_party is not None:
            ctx.reject("there is one already")
        ctx.set_think_output()

    async def run(self, ctx: Context[Entity], args: ActionArgs) -> None:
        """Decide it."""
        town, person = town_of(ctx), person_of(ctx)
        if town.planner or town.next_party is not None:
            return
        town.planner, person.wants_party, person.doing = person.name, True, "has an idea"
        town.note("ideas", person.name, "wants to give a party")
        await ctx.sleep_ticks(TICKS_PER_SECOND // 2)
        person.changed.emit()


class FreeTime(_Person, Consider):
    """Spend a free hour: talk with somebody, go somewhere, have an idea."""

    does = TOP
    name = "free time"
    utility = 0.5
    prompt: ClassVar[str] = (
        "It is {hour}. You are {mood}; hungry: {hunger}; lonely: {lonely}.\nNear you: {near}\nYou know: {news}\n"
        "What you remember: {remembered}\nWhat do you do now?"
    )
    max_tokens: ClassVar[int] = 150
    again: ClassVar[float] = 3.0
    patience: ClassVar[float] = 2.0

    async def think(self, ctx: Context[Any], args: Any) -> None:
        """Wait for free time, then think about it."""
        person = person_of(ctx)
        while not self.has_time(person, ctx.clock.tick):
            await person.changed.wait()
        await super().think(ctx, args)

    def has_time(self, person: Person, tick: int) -> bool:
        """Whether there is something to think about."""
        return is_free_time(person, tick)

    def sees(self, ctx: Context[Any], args: Any) -> Mapping[str, Any]:
        """Oneself, and who is near."""
        town, person = town_of(ctx), person_of(ctx)
        near = town.near(person.name, _IN_REACH)[:_MOST_NEAR]
        memory: MemoryStream = ctx.entity[MemoryStream]
        return {
            **_self(ctx), "hunger": round(person.hunger, 1), "lonely": round(person.company, 1),
            "near": {one.name: f"{one.doing}; {person.name} {_feeling(person, one.name)} them" for one in near},
            "liking": {one.name: person.likes(one.name) for one in near},
            "news": [Said(HEARSAY, town.rumors[name].text) for name in list(person.knows)[-3:]],
            "remembered": memory.told(ctx.clock.tick, tokens=400, ticks_per_second=TICKS_PER_SECOND),
        }  # fmt: skip

    def options(self, ctx: Context[Any], args: Any) -> Iterable[Option]:
        """Whom to talk with, where to go, and whether to think of a party."""
        town, person = town_of(ctx), person_of(ctx)
        near = town.near(person.name, _IN_REACH)[:_MOST_NEAR]
        bodies = {one.name: town.bodies[one.name] for one in near}
        others = [one for one in town.people if one != person.name and one not in bodies]
        found = _talks_with(person, bodies)
        found.append(Option("town:stroll", place=["square", "well", "inn", "farm", "mill", "school"]))
        found.append(Option("town:visit", who={name: town.bodies[name] for name in others}))
        is_new = not town.parties or town.parties[-1].host != person.name  # not always the same host
        if is_new and hour_of(ctx.clock.tick) in _ASKABLE and not town.planner and town.next_party is None:
            found.append(Option("town:want_party"))
        return found


def _talks_with(person: Person, bodies: Mapping[str, Entity]) -> list[Option]:
    disliked = {name: body for name, body in bodies.items() if person.likes(name) < 0}
    found = [Option("town:chat", who=bodies)] if bodies else []
    if bodies and _mood(person) == "cross":
        found.append(Option("town:quarrel", who=bodies))
    elif disliked:
        found += [Option("town:quarrel", who=disliked), Option("town:make_up", who=disliked)]
    return found


class PartyTalk(FreeTime):
    """At a party: with whom to talk. Meanwhile one dances."""

    name = "party talk"
    utility = 0.77
    prompt: ClassVar[str] = (
        "It is {hour}, you are at a party, and {mood}.\nNear you: {near}\nYou know: {news}\n"
        "What you remember: {remembered}\nWhat do you do now?"
    )

    def has_time(self, person: Person, tick: int) -> bool:
        """Whether one is there."""
        party = person.party
        return party is not None and person.name in party.came and tick < party.end

    def options(self, ctx: Context[Any], args: Any) -> Iterable[Option]:
        """Whom to talk with."""
        town, person = town_of(ctx), person_of(ctx)
        bodies = {one.name: town.bodies[one.name] for one in town.near(person.name, _IN_REACH)[:_MOST_NEAR]}
        return _talks_with(person, bodies)


# --- a party ----------------------------------------------------------------------------------------------------------


class BookPlace(Action):
    """Book the place and the hour of your party. Do this first."""

    does = "town:book"
    name = "book a place"
    utility = 1.0
    flags = frozenset({MOVE})

    class Args(ActionArgs):
        """Where and when."""

        place: str
        hour: int

    async def think(self, ctx: Context[Entity], args: Args) -> None:
        """Be ready while one has no place yet."""
        if person_of(ctx).party is not None or town_of(ctx).next_party is not None:
            ctx.reject("a party is planned already")
        ctx.set_think_output()

    async def run(self, ctx: Context[Entity], args: Args) -> None:
        """Go there, and have a word with the keeper."""
        town, person = town_of(ctx), person_of(ctx)
        person.doing = f"goes to book the {args.place}"
        await goto(ctx, town.spot(args.place, person.number))
        await ctx.sleep_ticks(TICKS_PER_SECOND // 2)
        if person.party is None and town.next_party is None:
            town.plan_party(person, args.place, args.hour)


class PlanParty(_Person, Plan):
    """Plan the party that one wants to give: a place, an hour, and whom to invite."""

    does = TOP
    name = "plan a party"
    utility = 0.68
    prompt: ClassVar[str] = (
        "It is {hour}. You want to give a party. You have: {booked}. You have invited: {invited}.\n"
        "Whom you like: {liking}\nBook a place first, if you have none, and then invite people one by one."
    )
    max_tokens: ClassVar[int] = 500
    most: ClassVar[int] = 7
    revisions: ClassVar[int] = 4
    again: ClassVar[float] = 2.0
    patience: ClassVar[float] = _WAITS + 1.0

    async def think(self, ctx: Context[Any], args: Any) -> None:
        """Wait until one has made up one's mind, and it is day."""
        town, person = town_of(ctx), person_of(ctx)
        while not person.wants_party or is_night(ctx.clock.tick):
            await person.changed.wait()
            if person.party is None and town.next_party is not None:
                person.wants_party = False  # somebody else was quicker
        await super().think(ctx, args)

    async def ask(self, ctx: Context[Any], args: Any, *asked: Any, **more: Any) -> Any:
        """Ask; and walk up and down meanwhile, if a plan that is under way has to be made anew."""
        if not self._is_under_way:
            return await super().ask(ctx, args, *asked, **more)
        which, answer = await ctx.first(
            super().ask(ctx, args, *asked, **more), _walk_about(ctx), ctx.sleep(_WORDS_WITHIN)
        )
        if which:
            raise ThoughtFailedError("no other plan came in time", agent=ctx.agent.name, path=ctx.path)
        return answer

    _is_under_way = False

    def sees(self, ctx: Context[Any], args: Any) -> Mapping[str, Any]:
        """What is done already."""
        town, person = town_of(ctx), person_of(ctx)
        party = person.party
        return {
            **_self(ctx), "booked": "no place" if party is None else f"the {party.place}, {told(party.tick)}",
            "invited": [] if party is None else list(party.invited),
            "liking": {name: person.likes(name) for name in town.people if name != person.name},
        }  # fmt: skip

    def options(self, ctx: Context[Any], args: Any) -> Iterable[Option]:
        """A place and an hour, and whom to invite: those that one likes best."""
        town, person = town_of(ctx), person_of(ctx)
        party = person.party
        found = []
        if party is None:
            hours = {f"{hour} o'clock": hour for hour in _HOURS}
            found.append(Option("town:book", place=["inn", "square"], hour=hours))
        asked = set() if party is None else {*party.invited}
        others = [one for one in town.people.values() if one is not person and one.name not in asked]
        others.sort(key=lambda one: (one.is_asleep, -person.likes(one.name), one.number))
        found.append(Option("town:invite", who={one.name: town.bodies[one.name] for one in others[:_MOST_GUESTS]}))
        return found

    async def run(self, ctx: Context[Any], args: Any) -> None:
        """Do it, step by step."""
        person = person_of(ctx)
        person.doing, self._is_under_way = "plans a party", True
        await super().run(ctx, args)
        person.wants_party = False

    def stop(self, ctx: Context[Any], args: Any) -> None:
        """Whoever was called away with enough guests invited leaves it at that."""
        self._is_under_way = False
        town, person = town_of(ctx), person_of(ctx)
        party = person.party
        if party is not None and (len(party.guests) > 2 or ctx.clock.tick > party.tick - HOUR):
            person.wants_party = False
        if not person.wants_party and town.planner == person.name:
            town.planner = ""


# --- and what it was all about ----------------------------------------------------------------------------------------


class Ponder(_Person, Reflect):
    """Think over what happened, walking up and down."""

    does = TOP
    name = "ponder"
    utility = 0.3
    flags = frozenset({MOVE})
    prompt: ClassVar[str] = "It is {hour}. What you remember, the newest last: {remembered}"
    threshold: ClassVar[float] = 8.0
    max_tokens: ClassVar[int] = 300

    def sees(self, ctx: Context[Any], args: Any) -> Mapping[str, Any]:
        """Oneself, and what is remembered."""
        return {**_self(ctx), **super().sees(ctx, args)}

    def start(self, ctx: Context[Any], args: Any) -> None:
        """Look at one's feet."""
        person_of(ctx).doing = "ponders"

    async def run(self, ctx: Context[Any], args: Any) -> None:
        """Walk until there is an answer, or none."""
        await ctx.first(super().run(ctx, args), _walk_about(ctx))


THOUGHTS: Final[tuple[type[Action], ...]] = (
    Listen, PartyTalk, PlanParty, FreeTime, Ponder, Chat, Quarrel, MakeUp, Invite, StrollTo, Visit, WantParty,
    BookPlace,
)  # fmt: skip
"""All of them, and what they choose from."""
