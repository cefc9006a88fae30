"""How it stands with the mind of a runtime, that lives or was recorded: figures, thoughts, what each agent has used.

* Composed only for who watches it, twice a second at most, and so much at most: of the thoughts under way, of those
  that wait, of those that are over, and of the agents. Whatever is left out is counted. What the chosen agent asks is
  never left out for what others ask.
* What was asked and what was answered may hold what players wrote, or what a game hides from them. So it is in none of
  this: it is told of one thought at a time, to whoever has controls and asks by its number; who may, ``live`` knows.
* The key of an API is in neither: a mind has no key, and a model knows only the name of a variable.

Looking changes nothing: a snapshot of the mind is all that is asked for.

*Of a recording* the same is told, folded from its trace (see ``thoughtfold``): little by little, up to the tick
that is looked at, with some folds kept on the way, so that nobody waits and going back is quick. What it does not hold
is not told as if it were 0: the message says that it is of a recording. Answers are among its inputs, and what was
asked is beside them only if the mind was told to keep that; who may read them is the same as of one that lives.
"""

from __future__ import annotations

import bisect
import json
import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from agentrt.inspect.sessions import Message, Session
from agentrt.record.thoughtfold import EVENTS, FoldedThought, ThoughtFold, prices_of
from agentrt.words import repr_of, words_of

if TYPE_CHECKING:
    from agentrt.record.recording import Recording
    from agentrt.runtime.runtime import Runtime
    from agentrt.snapshot.views import MindView, ThoughtView

_SECONDS: Final = 0.5
_MOST_RUNNING: Final = 40
_MOST_WAITING: Final = 40
_MOST_OVER: Final = 64  # as many as a mind keeps
_MOST_AGENTS: Final = 100
_MOST_MODELS: Final = 20
_LONGEST_WORDS: Final = 400  # characters
_LONGEST_NAME: Final = 500  # as long as a name that can be asked for
_LONGEST_TEXT: Final = 16_000  # of a prompt, say

_GROUPS: Final = (
    ("running", frozenset({"called"}), _MOST_RUNNING),
    ("waiting", frozenset({"queued"}), _MOST_WAITING),
    ("over", frozenset({"answered", "failed", "outpaced"}), _MOST_OVER),
)


class LiveThoughts:
    """The mind of one runtime, for clients. Used on the runtime's thread alone."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def messages(self, session: Session, now: float) -> Iterator[Message]:
        """What a client is told, if it is news."""
        mind = self._runtime.mind
        if mind is None or not session.watch.thoughts or not session.at_most_every(_SECONDS, "mind", now):
            return
        message = _mind_message(mind.snapshot(), session.watch.agent or "")
        if session.is_news("mind", message):
            yield message

    def text(self, number: int) -> Message:
        """What was asked and answered in one thought, for who may read it."""
        mind = self._runtime.mind
        found = None if mind is None else mind.text_of(number)
        if found is None:
            why = "the runtime has no mind" if mind is None else "it is not kept any more"
            return _text_message(number, (), problem=why)
        parts = [
            ("system", found.system),
            ("prompt", found.prompt),
            ("schema", _written(found.schema)),
            ("untaken", "" if found.untaken is None else _written(found.untaken)),
            ("answer", "" if found.answer is None else _written(found.answer)),
        ]
        return _text_message(number, parts, why=_cut(found.why, _LONGEST_WORDS))


_FOLD_TICKS: Final = 200  # read in one go
_FOLD_SECONDS: Final = 0.03  # spent on it in one round
_MOST_FOLDS: Final = 32  # kept on the way


class RecordedThoughts:
    """The thoughts of one recording, for clients. Used on the recording's thread alone."""

    def __init__(self, recording: Recording, clock: Callable[[], float] = time.perf_counter) -> None:
        self._recording = recording
        self._clock = clock
        self._first = recording.first_tick
        self._folds: list[ThoughtFold] = [self._begun()]  # by their ticks, which ascend; nobody feeds these
        self._apart = _FOLD_TICKS  # so many ticks at least lie between two of them

    def _begun(self) -> ThoughtFold:
        return ThoughtFold(prices_of(self._recording.meta), self._first)

    def messages(self, session: Session, tick: int, now: float) -> Iterator[Message]:
        """What a client is told, if it is news, as soon as it is read."""
        if not session.watch.thoughts:
            return
        if session.told.get("mind at") == (tick, session.watch.agent):
            return
        fold = self._at(tick, session)
        if fold is None or not session.at_most_every(_SECONDS, "mind", now):
            return
        session.told["mind at"] = (tick, session.watch.agent)
        message = recorded_message(fold, session.watch.agent or "")
        if session.is_news("mind", message):
            yield message

    def text(self, number: int, tick: int, session: Session) -> Message:
        """What was answered in one thought up to a tick, and what was asked if that was kept."""
        fold = self._at(tick, session)
        found = None if fold is None else fold.find(number)
        if found is None:
            return _text_message(
                number, (), problem="it is not among the thoughts of this tick, as far as they are read"
            )
        return recorded_text(self._recording, found)

    def _at(self, tick: int, session: Session) -> ThoughtFold | None:
        """How it stood at the end of a tick; None while that is being read."""
        begin, first = self._clock(), self._recording.first_tick
        if first != self._first:  # it has dropped what was before
            self._first, self._folds = first, []
            self._folds.append(self._begun())
        nearest = self._folds[bisect.bisect_right(self._folds, tick, key=lambda one: one.tick) - 1]
        last = session.told.get("fold")  # where this client was
        if isinstance(last, ThoughtFold) and last.first == first and nearest.tick <= last.tick <= tick:
            nearest = last
        fold = nearest.copy()
        while fold.tick < tick:
            to = min(fold.tick + _FOLD_TICKS, tick)
            for batch in self._recording.batches(EVENTS, fold.tick + 1, to):
                for _, record in batch.placed:
                    fold.feed(record)
            fold.tick = to
            self._keep(fold)
            if fold.tick < tick and self._clock() - begin > _FOLD_SECONDS:
                break
        session.told["fold"] = fold
        return fold if fold.tick >= tick else None

    def _keep(self, fold: ThoughtFold) -> None:
        """Keep it as a place to begin at, if there is none near; of too many every second one goes."""
        place = bisect.bisect_right(self._folds, fold.tick, key=lambda one: one.tick)
        if fold.tick - self._folds[place - 1].tick < self._apart:
            return
        self._folds.insert(place, fold.copy())
        if len(self._folds) > _MOST_FOLDS:
            del self._folds[1::2]
            self._apart *= 2


def recorded_message(fold: ThoughtFold, agent: str) -> Message:
    """How it stood with the mind of a recording, as clients are told."""
    return {**_mind_message(fold.view(), agent), "recorded": True, "since": fold.first}


_NO_ANSWER: Final = (
    "The recording holds no answer of this one: it was given by a script, came from the cache, or never."
)


def recorded_text(recording: Recording, thought: FoldedThought) -> Message:
    """What was answered in a recorded thought, and what was asked if the mind was told to keep it."""
    parts: dict[str, str] = {}
    why = ""
    for came in thought.replies:
        for one in recording.inputs(came.tick, came.tick):
            if one.kind == "answered" and one.number == came.call and isinstance(one.value, dict):
                parts |= _asked_and_answered(one.value, is_answer=not came.untaken)
                why = came.untaken.partition(": ")[2] if came.untaken and "kind" not in one.value else why
    order = ("system", "prompt", "schema", "untaken", "answer")
    found = [(name, parts[name]) for name in order if name in parts]
    return _text_message(thought.number, found, problem="" if found else _NO_ANSWER, why=_cut(why, _LONGEST_WORDS))


def _asked_and_answered(reply: dict[str, Any], *, is_answer: bool) -> dict[str, str]:
    parts: dict[str, str] = {}
    asked = reply.get("asked")
    if isinstance(asked, dict):
        parts = {name: str(asked.get(name, "")) for name in ("system", "prompt")}
        parts["schema"] = _written(asked.get("schema"))
    if "kind" not in reply:  # else it is a failure, which has its reason
        parts["answer" if is_answer else "untaken"] = _written(reply.get("value"))
    return parts


def _text_message(number: int, parts: Sequence[tuple[str, str]], *, problem: str = "", why: str = "") -> Message:
    """Texts of a thought: of each the beginning, and how many characters are left out."""
    told = [[name, text[:_LONGEST_TEXT], max(0, len(text) - _LONGEST_TEXT)] for name, text in parts if text]
    return {"is": "thought", "id": number, "problem": problem, "parts": told, "why": why}


def unread(number: int, problem: str = "") -> Message:
    """What is told of a thought that cannot be read; by default since who asks may not."""
    return _text_message(number, (), problem=problem or _WITHOUT_CONTROLS)


_WITHOUT_CONTROLS: Final = (
    "What was asked and answered is shown only with controls, since it may hold what players wrote: start the "
    "inspector with --controls."
)


def _mind_message(view: MindView, agent: str) -> Message:
    return {
        "is": "mind",
        "models": [_cut(name, _LONGEST_NAME) for name in view.models[:_MOST_MODELS]],
        **{name: getattr(view, name) for name in _FIGURES},
        "groups": [_group(name, [one for one in view.thoughts if one.state in states], most, agent)
                   for name, states, most in _GROUPS],
        **_agents(view, agent),
    }  # fmt: skip


_FIGURES: Final = (
    "at_once", "running", "waiting", "calls", "hits", "tokens", "tokens_left", "calls_left", "money", "rests_until",
    "overruns",
)  # fmt: skip


def _group(name: str, thoughts: Sequence[ThoughtView], most: int, agent: str) -> Message:
    """The thoughts of a group in their order, those of the chosen agent before all if there are too many."""
    shown = thoughts
    if len(thoughts) > most:
        own = [one for one in thoughts if one.agent == agent][:most]
        others = [one for one in thoughts if one.agent != agent][: most - len(own)]
        kept = {one.number for one in (*own, *others)}
        shown = [one for one in thoughts if one.number in kept]
    return {"name": name, "rows": [_row(one) for one in shown], "more": len(thoughts) - len(shown)}


def _row(thought: ThoughtView) -> dict[str, Any]:
    texts = {name: _cut(getattr(thought, name), _LONGEST_NAME) for name in ("agent", "path", "purpose", "model")}
    return {**thought._asdict(), **texts, "words": _cut(thought.words, _LONGEST_WORDS)}


def _agents(view: MindView, agent: str) -> Message:
    """What each has used: who used most comes first."""
    rows = [(name, used["calls"], used["tokens"], used["money"]) for name, used in view.by_agent.items()]
    rows.sort(key=lambda row: (-row[2], row[0]))
    shown = [row for place, row in enumerate(rows) if place < _MOST_AGENTS or row[0] == agent]
    return {"agents": [list(row) for row in shown], "more_agents": len(rows) - len(shown)}


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _written(value: object) -> str:
    """A value as JSON for people; an author's script may answer anything."""
    try:
        return json.dumps(value, ensure_ascii=False, indent=2, default=words_of)
    except (TypeError, ValueError, RecursionError):
        return repr_of(value, _LONGEST_TEXT)
