"""The scripted model of the town: what its people think and say where no language model is asked.

It is a pure function of what was asked (``Asked``): what is seen, what may be chosen, and a stream of random numbers of
its own. So a run is the same everywhere, and needs no network. It answers after half a second to two seconds of game
time, as models do.

Lines are made of templates, by the kind of talk, who speaks and what is told. It plays by the rules that a model has to
keep to as well: it chooses from the menu that it is given, and sees of others only what they said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from agentrt.kernel import Stream
from agentrt.minds import Asked, Scripted

__all__ = ["answer", "latency", "scripted"]

_SLOWEST, _QUICKEST = 2.0, 0.5

_OPENINGS: Final[dict[str, tuple[str, ...]]] = {
    "chat": ("Good day, {partner}.", "{partner}! You look well.", "There you are, {partner}.", "A word, {partner}?"),
    "quarrel": (
        "I have had enough of you, {partner}.",
        "You owe me an apology, {partner}!",
        "Do not smile at me, {partner}.",
    ),
    "make up": (
        "{partner}, I was wrong.",
        "Let us not be cross any longer, {partner}.",
        "{partner}, I miss our talks.",
    ),
    "invite": ("{partner}, I give {topic}. Will you come?", "You must come, {partner}: {topic}!"),
}
_REPLIES: Final[dict[str, tuple[str, ...]]] = {
    "chat": (
        "Is that so?",
        "You do not say.",
        "I thought as much.",
        "My knees told me so.",
        "That is life, {partner}.",
    ),
    "quarrel": (
        "Say that again!",
        "You are one to talk.",
        "I will not hear that from you.",
        "Ask anybody whose fault it is!",
    ),
    "make up": ("I was hard on you, too.", "It is forgotten.", "Then give me your hand.", "I am glad that you came."),
    "invite": ("With pleasure!", "I would not miss it.", "I shall bring my fiddle."),
}
_REFUSALS: Final = ("That evening I wash my hair.", "To your party? No, thank you.", "I am rather tired, these days.")
_GOODBYES: Final[dict[str, tuple[str, ...]]] = {
    "chat": ("Well, I must go.", "Good day to you.", "Until next time, {partner}."),
    "quarrel": ("I have nothing more to say to you!", "We are done.", "Out of my way."),
    "make up": ("Friends, then.", "I feel better now.", "Come and see me, {partner}."),
    "invite": ("Until tonight!", "I must tell the others.", "Good day, {partner}."),
}
_NEWS: Final = (
    "Have you heard? They say that {news}.",
    "Listen: {news}.",
    "You will not believe it: {news}.",
    "Between us: {news}.",
)
_HABITS: Final[dict[str, tuple[str, ...]]] = {
    "baker": ("The dough would not rise today.", "Bread is dear this year."),
    "miller": ("The wind was with me.", "Wheels, always wheels."),
    "farmer": ("It wants to rain.", "The rye stands well."),
    "smith": ("My arms are as heavy as the anvil.", "Every horse in town needs shoes."),
    "teacher": ("The children are reading at last.", "Chalk, and more chalk."),
    "innkeeper": ("The beer is fresh.", "I had guests from over the hill."),
    "carrier": ("The buckets are heavier every day.", "One day I shall see the sea."),
    "peddler": ("Ribbons, needles, and all for a penny.", "I have been farther than this."),
}
_MOODS: Final = {
    "cheerful": "What a fine day!",
    "cross": "Leave me in peace with your weather.",
    "calm": "It is quiet today.",
}

_WHY: Final = {
    "town:chat": "I like to hear what is new", "town:quarrel": "that cannot go on", "town:make_up": "I am sorry",
    "town:stroll": "the air will do me good", "town:visit": "I have not seen them for long",
    "town:want_party": "we could do with a feast", "town:book": "it is the right place", "town:invite": "I like them",
}  # fmt: skip


def scripted() -> Scripted:
    """The model of the town, where no other one is named."""
    return Scripted(answer, latency=latency, name="townsfolk")


def latency(asked: Asked) -> float:
    """How many game seconds it takes."""
    return asked.random.uniform(_QUICKEST, _SLOWEST)


def answer(asked: Asked) -> dict[str, Any]:
    """What it answers, by the form of the answer that is wanted."""
    wanted = asked.request.schema["properties"]
    if "say" in wanted:
        return _line(asked)
    if "conclusions" in wanted:
        return {"conclusions": [_conclusion(asked)]}
    if "steps" in wanted:
        return {"steps": _steps(asked, int(wanted["steps"]["maxItems"]))}
    return _choice(asked)


def _pick(random: Stream, values: Sequence[str]) -> str:
    return values[random.below(len(values))]


# --- lines ------------------------------------------------------------------------------------------------------------


def _line(asked: Asked) -> dict[str, Any]:
    seen, random = asked.seen, asked.random
    kind, said = str(seen["kind"]), len(seen["said"])
    is_over = said >= 3 + random.below(3)
    own = dict(seen)
    own |= {name: getattr(seen[name], "text", seen[name]) for name in ("topic", "news")}
    if said == 0:
        parts = [_pick(random, _OPENINGS[kind])]
    elif is_over:
        parts = [_pick(random, _GOODBYES[kind])]
    elif kind == "invite" and said == 1 and seen["feeling"] in ("cannot stand", "does not like"):
        parts = [_pick(random, _REFUSALS)]
    else:
        parts = [_pick(random, _REPLIES[kind])]
    if seen["news"] != "none" and kind != "quarrel":
        parts.append(_pick(random, _NEWS))
    elif kind == "chat" and not is_over:
        parts.append(_pick(random, (*_HABITS[str(seen["job"])], _MOODS[str(seen["mood"])])))
    return {"say": " ".join(part.format_map(own) for part in parts), "is_over": is_over}


def _conclusion(asked: Asked) -> str:
    remembered = [str(getattr(one, "text", one)) for one in asked.seen["remembered"]]
    speakers = [str(one.by) for one in asked.seen["remembered"] if hasattr(one, "by") and one.by != asked.agent]
    if speakers and asked.random.below(2):
        who = max(dict.fromkeys(speakers), key=lambda name: (speakers.count(name), name))
        return f"I talk more with {who} than with anybody else."
    return (
        f"What stays with me: {_pick(asked.random, remembered)[:120]}" if remembered else "Nothing ever happens here."
    )


# --- choices ----------------------------------------------------------------------------------------------------------


def _choice(asked: Asked) -> dict[str, Any]:
    """Draw one of the menu, the likelier the better it fits."""
    options = {str(option["activity"]): option["args"] for option in asked.options}
    worth = {activity: _worth(activity, asked.seen) for activity in options}
    left = asked.random.below(sum(worth.values()))
    for activity, args in options.items():
        left -= worth[activity]
        if left < 0:
            return _chosen(activity, _arguments(args, asked))
    raise AssertionError("what is drawn lies below the sum")


def _worth(activity: str, seen: Mapping[str, Any]) -> int:
    if activity == "town:chat":
        return 6 + int(12 * seen["lonely"])
    if activity == "town:quarrel":
        return 5 if seen["mood"] == "cross" else 2
    if activity == "town:make_up":
        return 1 if seen["mood"] == "cross" else 3
    return {"town:stroll": 2, "town:visit": 3, "town:want_party": 3}.get(activity, 1)


def _arguments(args: Mapping[str, Any], asked: Asked) -> dict[str, Any]:
    return {name: _pick(asked.random, [str(one) for one in choices]) for name, choices in args.items()}


def _chosen(activity: str, args: dict[str, Any]) -> dict[str, Any]:
    return {"activity": activity, "args": args, "why": _WHY.get(activity, "why not")}


def _steps(asked: Asked, most: int) -> list[dict[str, Any]]:
    """A place, and then as many guests as fit, those that one likes first."""
    options = {str(option["activity"]): option["args"] for option in asked.options}
    steps = []
    if "town:book" in options:
        steps.append(_chosen("town:book", _arguments(options["town:book"], asked)))
    for who in options.get("town:invite", {}).get("who", ()):
        if len(steps) < most:
            steps.append(_chosen("town:invite", {"who": str(who)}))
    return steps or [_choice(asked)]
