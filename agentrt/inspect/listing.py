"""The list of agents: which of them, in what order, in which groups; live and in a recording.

A client says how the list is arranged (``AgentsQuery``), and is told of the rows that are on its screen. What stands in
a row is a ``Standing``: an agent in one line, what became of it lately, and what an expression comes to.

* *Filters*: a part of the name or kind, a kind, a part of what it runs; what it does, exactly; states, of which one is
  enough. An agent may be in several states: one that runs something may have aborted lately.
* *Groups*: by kind, by what they do, by state, by task groups, by an expression. Each has a row of its own, its head,
  with how many are in it; of one that is folded there is nothing else. Numbers of an expression that are many are put
  together in ranges.
* *Order*: by anything that a row shows; of equals, as they came. What has no value comes last, in either direction.

All but the order of coming, and a filter by names and kinds, needs to know all agents at once. Where their standings
come from, and how often, says ``agentrt.inspect.crowd``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, NamedTuple

from agentrt.expressions import Value
from agentrt.inspect.protocol import AgentsQuery
from agentrt.snapshot import AgentSummary

MOST_GROUPS: Final = 200
LONGEST_LABEL: Final = 80
_MOST_NUMBERS: Final = 12  # different ones, that are groups of their own
_RANGES: Final = 6  # else

_DIGITS: Final = re.compile(r"(\d{1,15})")


def label_of(text: str) -> str:
    """A kind, or what an agent does, as charts and groups call it."""
    return text if len(text) <= LONGEST_LABEL else f"{text[: LONGEST_LABEL - 1]}…"


class Standing(NamedTuple):
    """An agent, as it stands in the list."""

    summary: AgentSummary
    think: float = 0.0  # how much it thought lately: milliseconds a tick, or in a recording how many answers it had
    troubles: tuple[str, ...] = ()  # what became of it lately: ``aborted``, ``late``
    value: Value = None  # what the client's expression comes to
    problem: str = ""  # why it comes to nothing; empty if it does

    @property
    def states(self) -> tuple[str, ...]:
        """All that is to be said of it in a word, the most telling first."""
        summary = self.summary
        if not summary.alive:
            return ("ended",)
        found: list[str] = ["aborted"] if summary.aborts or "aborted" in self.troubles else []
        if "late" in self.troubles:
            found.append("late")
        if summary.waiting:
            found.append("waiting")
        if summary.running or summary.doing:
            found.append("running")
        else:
            found.append("thinking" if "plan" in summary.models else "idle")
        return tuple(found)

    def as_json(self, *, with_value: bool) -> dict[str, Any]:
        """The same as a dict of plain values."""
        told = {"value": self.value, "problem": self.problem} if with_value else {}
        return {**self.summary.as_json(), "states": list(self.states), "think": self.think, **told}


class Head(NamedTuple):
    """The head of a group."""

    label: str
    size: int  # how many agents are in it
    folded: bool


class Arranged(NamedTuple):
    """A list, as a client wants it."""

    rows: tuple[str | Head, ...]  # names, and the heads of groups
    matching: int  # how many agents
    problem: str = ""  # what is wrong with the expression, for every one of them; empty if it is not


def needs_all(query: AgentsQuery) -> bool:
    """Whether a list can be arranged only by who knows how all agents stand."""
    return bool(query.running or query.states or query.group or query.sort or query.value) or query.doing is not None


def arrange(
    names: Iterable[str],
    query: AgentsQuery,
    kind_of: Callable[[str], str],
    standings: Mapping[str, Standing],
) -> Arranged:
    """Arrange a list; ``standings`` are read only if the query needs all of them."""
    wanted = query.filter.casefold()
    found = [
        name
        for name in names
        # Names first: the kind of a recorded agent is read from the file.
        if (not query.kind or kind_of(name) == query.kind)
        and (not wanted or wanted in name.casefold() or wanted in kind_of(name).casefold())
    ]
    if not needs_all(query):
        return Arranged(tuple(found[::-1] if query.down else found), len(found))
    kept = [(name, standing) for name in found if (standing := standings.get(name)) is not None]
    kept = [one for one in kept if _fits(one[1], query)]
    ordered = _ordered(kept, query)
    problems = {standing.problem for _, standing in kept} if query.value else set()
    problem = problems.pop() if len(problems) == 1 else ""
    if not query.group:
        return Arranged(tuple([name for name, _ in ordered]), len(ordered), problem)
    return Arranged(tuple(_in_groups(ordered, query)), len(ordered), problem)


def _fits(standing: Standing, query: AgentsQuery) -> bool:
    summary, running = standing.summary, query.running.casefold()
    if running and running not in f"{summary.running}\n{summary.doing}\n{summary.status}".casefold():
        return False
    if query.doing is not None and label_of(summary.doing) != query.doing:
        return False
    return not query.states or not query.states.isdisjoint(standing.states)


# --- order ------------------------------------------------------------------------------------------------------------

_Key = tuple[int, float, Any]


def _by_text(text: str) -> _Key | None:
    """Numbers within a text count as such: ``A9`` comes before ``A10``."""
    if not text:
        return None
    parts = _DIGITS.split(text.casefold())
    return 1, 0.0, tuple([(int(part), "") if at % 2 else (-1, part) for at, part in enumerate(parts)])


def _by_value(value: Value) -> _Key | None:
    if value is None:
        return None
    return _by_text(value) if isinstance(value, str) else (0, float(value), ())


_KEYS: Final[Mapping[str, Callable[[Standing], _Key | None]]] = {
    "name": lambda one: _by_text(one.summary.name),
    "kind": lambda one: _by_text(one.summary.kind),
    "doing": lambda one: _by_text(one.summary.doing),
    "state": lambda one: _by_text(one.states[0]),
    "utility": lambda one: _by_value(one.summary.utility),
    "think": lambda one: _by_value(one.think),
    "aborts": lambda one: _by_value(one.summary.aborts),
    "value": lambda one: _by_value(one.value),
}


def _ordered(found: list[tuple[str, Standing]], query: AgentsQuery) -> list[tuple[str, Standing]]:
    if not query.sort:
        return found[::-1] if query.down else found
    key_of = _KEYS[query.sort]
    keyed = [(key, name, standing) for name, standing in found if (key := key_of(standing)) is not None]
    keyed.sort(key=lambda one: one[0], reverse=query.down)  # equals stay as they came, in either direction
    placed = [(name, standing) for _, name, standing in keyed]
    return placed + [one for one in found if key_of(one[1]) is None]


# --- groups -----------------------------------------------------------------------------------------------------------


def _in_groups(ordered: Sequence[tuple[str, Standing]], query: AgentsQuery) -> Iterable[str | Head]:
    """The heads of groups in the order of their labels, and beneath each who is in it."""
    place_of = _labels([standing for _, standing in ordered], query.group)
    groups: dict[str, list[str]] = {}
    places: dict[str, _Key] = {}
    for name, standing in ordered:
        place, label = place_of(standing)
        if label not in groups and len(groups) >= MOST_GROUPS:
            place, label = (3, 0.0, ()), "all others"
        groups.setdefault(label, []).append(name)
        places.setdefault(label, place)
    for label in sorted(groups, key=lambda one: places[one]):
        is_folded = label in query.folded
        yield Head(label, len(groups[label]), is_folded)
        if not is_folded:
            yield from groups[label]


def _labels(standings: Sequence[Standing], group: str) -> Callable[[Standing], tuple[_Key, str]]:
    """What makes the label of an agent's group, and its place among the others."""
    if group == "value":
        return _value_labels(standings)
    texts: Mapping[str, tuple[Callable[[Standing], str], str]] = {
        "kind": (lambda one: one.summary.kind, "no kind"),
        "doing": (lambda one: one.summary.doing, "nothing"),
        "state": (lambda one: one.states[0], ""),
        "tasks": (lambda one: ", ".join(one.summary.groups), "in no task group"),
    }
    text_of, otherwise = texts[group]

    def label(standing: Standing) -> tuple[_Key, str]:
        text = label_of(text_of(standing))
        return _by_text(text) or (2, 0.0, ()), text or otherwise

    return label


def _value_labels(standings: Sequence[Standing]) -> Callable[[Standing], tuple[_Key, str]]:
    values = [one.value for one in standings]
    numbers = {float(value) for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)}
    low, high = (min(numbers), max(numbers)) if numbers else (0.0, 0.0)
    width = (high - low) / _RANGES if len(numbers) > _MOST_NUMBERS else 0.0

    def label(standing: Standing) -> tuple[_Key, str]:
        value = standing.value
        if value is None:
            return (2, 0.0, ()), "no value"
        if isinstance(value, str):
            return _by_text(value) or (1, 0.0, ()), label_of(value) or '""'
        if isinstance(value, bool):
            return (0, float(value), ()), "true" if value else "false"
        if width == 0.0:
            return (0, float(value), ()), f"{value:g}"
        part = min(_RANGES - 1, int((value - low) / width))
        return (0, float(part), ()), f"{low + part * width:.3g} to {low + (part + 1) * width:.3g}"

    return label


# --- what a client is told --------------------------------------------------------------------------------------------


def agents_message(
    arranged: Arranged, query: AgentsQuery, total: int, standing_of: Callable[[str], Standing], tick: int, unit: str
) -> dict[str, Any]:
    """The part of a list that is on a client's screen.

    Args:
        total: how many agents there are.
        standing_of: called for the rows of that part alone.
        tick: of which tick it is.
        unit: of ``think``; see ``Standing``.
    """
    page = islice(arranged.rows, query.offset, query.offset + query.limit)
    with_value = bool(query.value)
    return {
        "is": "agents",
        "total": total,
        "matching": arranged.matching,
        "length": len(arranged.rows),
        "offset": query.offset,
        "tick": tick,
        "unit": unit,
        "problem": arranged.problem,
        "groups": [one.label for one in arranged.rows if isinstance(one, Head)] if query.group else [],
        "rows": [
            {"group": one.label, "count": one.size, "folded": one.folded}
            if isinstance(one, Head)
            else standing_of(one).as_json(with_value=with_value)
            for one in page
        ],
    }
