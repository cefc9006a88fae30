"""Views of agents over time: whole ones now and then, and between them what changed.

A view is an agent's snapshot as JSON, without its time. From one to the next little changes, so that a recording keeps
the difference, as a *patch*; each so many-th view of an agent is whole, so that any view is found in few steps.

A patch of a value is one of: ``{"=": value}``, another value; ``{"~": {key: patch}, "-": [keys]}``, a dict of which
some keys changed and some are gone; ``{"#": [[index, patch], ...]}``, a list of the same length. Two values that Python
calls equal are no change.

When an agent is looked at (``ViewWriter``): at the end of each tick in which it has records, and when the boost of
something that it runs comes, which the view before tells. The values that it offers (needs, attributes, components) are
looked at once in a game second besides, since they change while it sleeps. What else changes by time alone, such as the
seconds that a stimulus has left, is as it was at the last of these moments. Where a view says until when something
sleeps, and that tick is over, it is left out when it is read (``settle``): whoever sleeps again has no record of it.
Likewise a place in a mind's queue, which others change: it is read as "in the queue".

Drawings of the world (``DrawingWriter``) are kept in the same way, as the views of nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from agentrt.errors import RecordingError
from agentrt.snapshot.offered import values_of
from agentrt.words import error_words

if TYPE_CHECKING:
    from agentrt.agent.agent import Agent
    from agentrt.drawing import Drawing
    from agentrt.record.spans import Span


TIMES = ("tick", "seconds")  # what a view leaves out: the keys of a snapshot that change in each tick
WHOLE_EVERY = 50
_LARGER = 4  # as ``_next`` takes it, for agents; drawings are read one by one
UNSEEN = "unseen_since"  # a key of a view that is older than what happened: from which tick on

_DEEPEST = 200
_DIGITS = 19
_SLEEPS = "until tick "  # how a view says that something sleeps
_MISSING = object()


def difference(old: object, new: object) -> Any:
    return None if old == new else _difference(old, new)


def _difference(old: object, new: object) -> Any:
    """As above, of what is not equal. Parts are compared before they are looked into: most of them are equal."""
    if type(old) is dict and type(new) is dict:
        changes: dict[str, Any] = {}
        for key, value in new.items():
            before = old.get(key, _MISSING)
            if before != value:
                changes[key] = {"=": value} if before is _MISSING else _difference(before, value)
        gone = [key for key in old if key not in new]
        return {"~": changes, "-": gone} if gone else {"~": changes}
    if type(old) is list and type(new) is list and len(old) == len(new):
        pairs = zip(old, new, strict=True)
        return {"#": [[at, _difference(*pair)] for at, pair in enumerate(pairs) if pair[0] != pair[1]]}
    return {"=": new}


def patched(old: object, patch: object, where: str) -> Any:
    """What a patch makes of a value, which stays as it is: ``RecordingError`` if it does not fit."""
    return _applied(old, patch, where, copies=True)


def altered(old: object, patch: object, where: str) -> Any:
    """As ``patched``, for who has the value alone: it becomes the other one, and nothing is copied."""
    return _applied(old, patch, where, copies=False)


def _applied(old: object, patch: object, where: str, *, copies: bool) -> Any:
    try:
        return _patched(old, patch, 0, copies)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise RecordingError(where, f"a view cannot be put together: {error_words(error)}") from None


def _patched(old: object, patch: object, depth: int, copies: bool) -> Any:
    if depth > _DEEPEST:
        raise ValueError("it is too deep")
    if not isinstance(patch, dict):
        raise TypeError("the patch is none")
    if "=" in patch:
        return patch["="]
    if "~" in patch:
        if not isinstance(old, dict):
            raise TypeError("it is no dict")
        made = dict(old) if copies else old
        for key in patch.get("-", ()):
            del made[key]
        for key, change in patch["~"].items():
            # most changes are of a value: that spares a call for each
            is_whole = "=" in change and depth < _DEEPEST
            made[key] = change["="] if is_whole else _patched(made.get(key), change, depth + 1, copies)
        return made
    if not isinstance(old, list):
        raise TypeError("it is no list")
    values = list(old) if copies else old
    for index, change in patch["#"]:
        values[index] = _patched(values[index], change, depth + 1, copies)
    return values


def settle(view: dict[str, Any], tick: int) -> None:
    """Take out of a view what may not be so any more in a later tick: sleep that is over, a place in a mind's queue.

    A view is kept when something of its agent changes, and others leave the queue before it without that.
    """
    frames = [view.get("plan"), *_list(view.get("performances"))]
    while frames:
        frame = frames.pop()
        for unit in _list(frame.get("units")) if isinstance(frame, dict) else ():
            if isinstance(unit, dict):
                waits = unit.get("waits")
                if isinstance(waits, str) and waits.startswith(_SLEEPS) and _is_over(waits, tick):
                    del unit["waits"]
                if unit.pop("queued", 0):
                    unit["progress"] = "in the queue"
                frames.extend(_list(unit.get("frames")))


def names(view: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The actions of a view that have names of their own, each as its path and its name."""
    frames = [view.get("plan"), *_list(view.get("performances"))]
    while frames:
        frame = frames.pop()
        for unit in _list(frame.get("units")) if isinstance(frame, dict) else ():
            if isinstance(unit, dict):
                path, name = unit.get("path", f"{frame.get('path')}/{unit.get('action')}"), unit.get("name")
                if isinstance(path, str) and isinstance(name, str) and name:
                    yield path, name
                frames.extend(_list(unit.get("frames")))


class SpanNames:
    """What the spans of an agent are called in its plan: a trace names them by the ends of their paths."""

    def __init__(self) -> None:
        self._by_path: dict[str, str] = {}
        self._by_label: dict[str, str] = {}  # of a class of actions: one name, wherever it stands

    def learn(self, view: dict[str, Any]) -> None:
        """Take the names of a view; the first name of a place stays."""
        for path, name in names(view):
            self._by_path.setdefault(path, name)
            label = path.rpartition("/")[2]
            if "#" not in label and ":" not in label:
                self._by_label.setdefault(label, name)

    def find(self, span: Span) -> str | None:
        """What a span is called; None if that is not known."""
        label = span.path.rpartition("/")[2]
        if span.name != label:
            return span.name  # a strategy, which is called by what it is tried for
        return self._by_path.get(span.path) or self._by_label.get(label)


def _is_over(waits: str, tick: int) -> bool:
    until = waits.removeprefix(_SLEEPS)
    return until.isdecimal() and len(until) < _DIGITS and int(until) <= tick


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


class _Last(NamedTuple):
    """The view, or drawing, that was written last."""

    view: dict[str, Any] | None  # None for a drawing that is there no more
    chain: int  # how many patches there were since a whole one, each for as many as it is large
    parts: int  # how large that whole one was


class ViewWriter:
    """Which agents are looked at when, each at most once in so many ticks, and what of them is written."""

    def __init__(
        self,
        find: Callable[[str], Agent | None],
        at_most_every: int = 1,
        values_every: int | None = None,
        most_kept: int | None = None,
    ) -> None:
        self._find = find
        self._every = at_most_every
        self._most_kept = most_kept  # of how many agents the last view is remembered; the next one of others is whole
        self._values_every = None if values_every is None else max(values_every, at_most_every)
        self._values_due: dict[str, int] = {}  # the tick in which the values of an agent are looked at by themselves
        self._values_at: dict[int, dict[str, None]] = {}  # whose, by that tick; some that are due at another by now
        self._last: dict[str, _Last] = {}
        self._looked: dict[str, int] = {}  # in which tick
        self._again: dict[int, dict[str, None]] = {}  # who is to be looked at in a later tick

    def forget(self) -> None:
        """The world is another one from now on: the next view of each agent is whole, whenever the last one was."""
        for known in (self._values_due, self._values_at, self._last, self._looked, self._again):
            known.clear()

    def due(self, tick: int, names: Iterable[str]) -> dict[str, None]:
        """Who is to be looked at now: those who are named, and those whose time has come."""
        wanted = dict.fromkeys(names)
        wanted.update(self._again.pop(tick, {}))
        return wanted

    def look(self, tick: int, names: Iterable[str]) -> list[tuple[str, bool, Any]]:
        """Look at agents at the end of a tick.

        Returns:
            For each whose view changed: the name, whether the view is whole, and the view or the patch.
        """
        found: list[tuple[str, bool, Any]] = []
        for name in self.due(tick, names):
            written = self.look_at(tick, name)
            if written is not None:
                found.append((name, *written))
        for name in self._values_at.pop(tick, ()):
            if self._values_due.get(name) == tick:
                written = self._write_values(name)
                if written is not None:
                    found.append((name, *written))
                self._look_again(name, tick)
        return found

    def look_at(self, tick: int, name: str) -> tuple[bool, Any] | None:
        """Look at one of them: whether the view is whole, and the view or the patch; None if there is nothing new."""
        agent = self._find(name)
        if agent is None:  # it is gone
            self._last.pop(name, None)
            self._looked.pop(name, None)
            self._values_due.pop(name, None)
            return None
        looked = self._looked.get(name)
        if looked is not None and tick - looked < self._every:
            self._again.setdefault(looked + self._every, {})[name] = None
            return None
        self._looked[name] = tick
        written = self._write(name, agent)
        if self._values_every is not None and (self._last[name].view or {}).get("values"):
            self._look_again(name, tick)
        return written

    def mark_unseen(self, name: str, tick: int) -> bool:
        """From a tick on the last view is older than what happened; whether there is one that can say so."""
        if name in self._last:
            view, chain, parts = self._last[name]
            self._last[name] = _Last({**(view or {}), UNSEEN: tick}, chain + 1, parts)
        return name in self._looked

    def _look_again(self, name: str, tick: int) -> None:
        """Look at the values of an agent a while from now, unless it is looked at itself before."""
        if self._values_every is not None:
            due = self._values_due[name] = tick + self._values_every
            self._values_at.setdefault(due, {})[name] = None

    def _write_values(self, name: str) -> tuple[bool, Any] | None:
        """The view that was written last, with the values of now."""
        agent = self._find(name)
        before = self._last.get(name)
        if agent is None or before is None:  # it is gone, as records of this tick say, or forgotten
            return None
        values, known = values_of(agent), before.view or {}
        if known.get("values", {}) == values:
            return None
        view = {key: value for key, value in known.items() if key != "values"}
        written = _next(before, {**view, "values": values} if values else view, _LARGER)
        if written is None:
            return None
        is_whole, data, self._last[name] = written
        return is_whole, data

    def _write(self, name: str, agent: Agent) -> tuple[bool, Any] | None:
        view = agent.snapshot().as_json()
        for key in TIMES:
            view.pop(key, None)
        for tick in _boosts(view):
            self._again.setdefault(tick, {})[name] = None
        written = _next(self._last.get(name), view, _LARGER)
        if written is None:
            return None
        is_whole, data, last = written
        self._last.pop(name, None)  # so that who was looked at last stands last
        self._last[name] = last
        if self._most_kept is not None and len(self._last) > self._most_kept:
            del self._last[next(iter(self._last))]
        return is_whole, data


def _next(
    before: _Last | None, view: dict[str, Any] | None, larger: int = WHOLE_EVERY
) -> tuple[bool, Any, _Last] | None:
    """What is written of a view: None if nothing changed.

    Whoever sorts a crowd reads a chain for each agent, so what has to be read for a view stays some times what it is:
    a patch counts for as many as it is large. A whole view of a small agent is hardly longer than two patches.

    Args:
        before: the one that was written last.
        view: the new one.
        larger: how many times as much as a whole one what is read for one may be, about.

    Returns:
        Whether it is whole, the view or the patch, and what was written last then.
    """
    if before is None:
        return True, view, _Last(view, 1, _parts(view))
    patch = difference(before.view, view)
    if patch is None:
        return None
    if before.chain >= WHOLE_EVERY:
        return True, view, _Last(view, 1, _parts(view))
    weight = max(1, WHOLE_EVERY * _parts(patch) // (larger * before.parts))
    return False, patch, _Last(view, before.chain + weight, before.parts)


def _parts(value: object) -> int:
    """How large a value is: how many values are in it, and 1."""
    if type(value) is dict:
        return 1 + sum(map(_parts, value.values()))
    return 1 + sum(map(_parts, value)) if type(value) is list else 1


class DrawingWriter:
    """When the world is drawn, at most once in so many ticks, and what of that is written."""

    def __init__(self, draw: Callable[[], Drawing | None], at_most_every: int = 1) -> None:
        self._draw = draw
        self._every = at_most_every
        self._last: _Last | None = None  # the drawing as JSON values
        self._drawn: int | None = None  # in which tick

    def forget(self) -> None:
        """The world is another one from now on: the next drawing is whole, whenever the last one was."""
        self._last = self._drawn = None

    def look(self, tick: int) -> tuple[bool, Any] | None:
        """Draw it at the end of a tick; whether it is whole, and the drawing or the patch, if there is news."""
        if self._drawn is not None and tick - self._drawn < self._every:
            return None
        drawing = self._draw()
        if drawing is None and self._last is None:
            return None
        self._drawn = tick
        data = None if drawing is None else drawing.as_json()
        written = _next(self._last, data)
        if written is None:
            return None
        is_whole, data_or_patch, self._last = written
        return is_whole, data_or_patch


def _boosts(view: dict[str, Any]) -> Iterator[int]:
    """The ticks in which something that is run will have its boost. Only what is elected has one."""
    frames = [view["plan"], *view["performances"]]
    while frames:
        frame = frames.pop()
        for unit in frame.get("units", ()) if frame else ():
            if "is_elected" in unit:
                if "boost_at" in unit:
                    yield unit["boost_at"]
                frames.extend(unit.get("frames", ()))
