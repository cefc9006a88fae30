"""How it stands with the mind of a runtime that lives: figures, thoughts, what each agent has used.

* Composed only for who watches it, twice a second at most, and so much at most: of the thoughts under way, of those
  that wait, of those that are over, and of the agents. Whatever is left out is counted. What the chosen agent asks is
  never left out for what others ask.
* What was asked and what was answered may hold what players wrote, or what a game hides from them. So it is in none of
  this: it is told of one thought at a time, to whoever has controls and asks by its number; who may, ``live`` knows.
* The key of an API is in neither: a mind has no key, and a model knows only the name of a variable.

Looking changes nothing: a snapshot of the mind is all that is asked for.

One module reads this one, ``live``: it is a room because of its rule about who may read what.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from agentrt.inspect.sessions import Message, Session
from agentrt.words import repr_of, words_of

if TYPE_CHECKING:
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
            return {"is": "thought", "id": number, "problem": why, "parts": [], "why": ""}
        parts = [
            ("system", found.system),
            ("prompt", found.prompt),
            ("schema", _written(found.schema)),
            ("untaken", "" if found.untaken is None else _written(found.untaken)),
            ("answer", "" if found.answer is None else _written(found.answer)),
        ]
        # Of each: the beginning, and how many characters are left out.
        told = [[name, text[:_LONGEST_TEXT], max(0, len(text) - _LONGEST_TEXT)] for name, text in parts if text]
        return {"is": "thought", "id": number, "problem": "", "parts": told, "why": _cut(found.why, _LONGEST_WORDS)}


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
