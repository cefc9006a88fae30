"""Changes by hand, between clients and a runtime that lives; and the marks of such changes in a recording.

What can be changed, and what it means, is ``agentrt.record.hands``: each change is one input of the run. Here it comes
from a client. Rules:

* Only with controls; and until somebody changes something, the runtime has no such input at all.
* What is wrong with the shape of a change, or with the arguments of an input, is told at once, with the field. The rest
  shows at the intake that takes it; then whoever asked is told what came of it.
* While the runtime is paused changes wait for its next tick; of each client so many at most.
* What is in force and where the run was touched is told to everybody who looks. What can be changed of an agent, and
  which inputs the world takes, only to those who have controls and ask for it.
* When the inspector leaves the runtime, what its clients have put in force is freed, by an input like any other: nobody
  could free it afterwards.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from agentrt.errors import AgentRTError, EditError, RecordingError
from agentrt.inspect.sessions import Message, Session
from agentrt.record.hands import (
    HAND,
    Touch,
    check_sent,
    forms_of,
    hand_words,
    hands_of,
    lay_hands,
    offers_of,
    read_hand,
    why_words,
)
from agentrt.runtime.intake import RESERVED
from agentrt.words import words_of

if TYPE_CHECKING:
    from agentrt.record.recording import Recording
    from agentrt.runtime.runtime import Runtime

_MOST_WAITING: Final = 64  # changes of one client that no intake has taken
_MOST_SHOWN: Final = 300  # things in force
_MOST_MARKS: Final = 300
_OFFER_SECONDS: Final = 0.5
_READ_TICKS: Final = 2000
_READ_SECONDS: Final = 0.02
_LONGEST_WORDS: Final = 200


class _Asked(NamedTuple):
    """A change that waits for its intake."""

    session: Session
    id: int
    edit: dict[str, Any]
    tick: int  # the one that was over when it was asked for


class LiveHands:
    """The changes of the clients of one inspector. Used on the runtime's thread alone."""

    def __init__(self, runtime: Runtime, *, controls: bool) -> None:
        self._runtime = runtime
        self._controls = controls
        self._asked: list[_Asked] = []
        self._ours: dict[tuple[str, str, str], None] = {}  # kind, name and agent of what they have put in force
        self._forget: Callable[[], None] | None = None

    def obey(self, session: Session, fields: dict[str, Any]) -> None:
        """A client, which may, asks for a change."""
        number, edit = fields["id"], fields["edit"]
        if sum(one.session is session for one in self._asked) >= _MOST_WAITING:
            problem = "too much waits for the next tick; let it run first"
            session.notify({"is": "hand", "id": number, "ok": False, "message": problem, "field": ""})
            return
        try:
            given = read_hand(edit)
            if "send" in given:
                check_sent(self._runtime, given)
            if self._forget is None:
                failed = lay_hands(self._runtime).failed
                failed.append(self._failed)
                self._forget = lambda: failed.remove(self._failed)
            self._runtime.send(HAND, edit=given)
        except AgentRTError as error:
            session.notify(_refused(number, error))
            return
        self._asked.append(_Asked(session, number, given, self._runtime.tick))
        if "force" in given or "disable" in given:
            kind = given.get("force") or given.get("disable")
            self._ours[str(kind), given["of"], given["agent"]] = None

    def _failed(self, edit: dict[str, Any], error: BaseException) -> None:
        """An intake took a change, and nothing came of it."""
        for one in self._asked:
            if one.edit == edit:
                one.session.notify(_refused(one.id, error))
                self._asked.remove(one)
                return

    def settle(self) -> None:
        """Tell who asked that it was done; what failed was told."""
        if not self._asked:
            return
        tick = self._runtime.tick
        done = [one for one in self._asked if one.tick < tick]
        self._asked = [one for one in self._asked if one.tick >= tick and one.session.is_open]
        for one in done:
            message = f"tick {one.tick + 1}: {hand_words(one.edit)}"
            one.session.notify({"is": "hand", "id": one.id, "ok": True, "message": message, "field": ""})

    def detach(self) -> None:
        """Free what the clients have put in force, and listen to nobody."""
        self._asked.clear()
        hands = hands_of(self._runtime)
        if hands is not None and self._ours:
            there = {(kind, name) for _, _, kind, name, _ in hands.in_force()}
            for kind, name, agent in self._ours:
                if (kind, name) in there and (not agent or self._runtime.find(agent) is not None):
                    self._runtime.send(HAND, edit={"free": kind, "of": name, "agent": agent})
        self._ours.clear()
        if self._forget is not None:
            self._forget()
            self._forget = None

    # --- telling ------------------------------------------------------------------------------------------------------

    def messages(self, session: Session, now: float) -> Iterator[Message]:
        """What a client is told, if it is news."""
        hands = hands_of(self._runtime)
        if hands is not None:
            force = hands.in_force()
            if session.is_news("hands", (hands.touched, force)):
                rows = [list(row) for row in force[:_MOST_SHOWN]]
                yield _hands_message(rows, len(force) - len(rows), list(hands.marks))
        if session.watch.hands and self._controls and session.at_most_every(_OFFER_SECONDS, "offers", now):
            agent = None if session.watch.agent is None else self._runtime.find(session.watch.agent)
            message: Message = {
                "is": "offers",
                "agent": session.watch.agent,
                "offers": {} if agent is None else offers_of(agent),
                "forms": [
                    {**form._asdict(), "fields": [field._asdict() for field in form.fields]}
                    for form in forms_of(self._runtime)
                ],
            }
            if session.is_news("offers", message):
                yield message


def _refused(number: int, error: BaseException) -> Message:
    field = error.pointer if isinstance(error, EditError) else ""
    return {"is": "hand", "id": number, "ok": False, "message": why_words(error), "field": field}


def _hands_message(force: list[list[Any]], more: int, marks: list[Touch]) -> Message:
    return {"is": "hands", "force": force, "more": more, "marks": [list(one) for one in marks[-_MOST_MARKS:]]}


# --- a recording ------------------------------------------------------------------------------------------------------


class RecordedHands:
    """The marks of what came in, in one recording: read little by little, the newest are kept."""

    def __init__(self, recording: Recording, clock: Callable[[], float] = time.perf_counter) -> None:
        self._recording = recording
        self._clock = clock
        self._marks: deque[Touch] = deque(maxlen=_MOST_MARKS)
        self._unread = 0
        self._touched = 0
        self._failed: dict[int, dict[str, str]] = {}  # by tick, of changes of which nothing came: why not

    def messages(self, session: Session, last: int) -> Iterator[Message]:
        """What a client is told of them, if it is news; the recording reaches up to ``last``."""
        begin = self._clock()
        while self._unread <= last and self._clock() - begin < _READ_SECONDS:
            to = min(self._unread + _READ_TICKS - 1, last)
            try:
                for one in self._recording.inputs(self._unread, to):
                    if one.kind == "sent":
                        self._marks.append(_mark(one.tick, one.name, one.args))
                        self._touched += 1
            except RecordingError:  # whoever needs what came in is told; marks are shown as far as they can be read
                to = last
            self._unread = to + 1
        ticks = {mark.tick for mark in self._marks}
        for tick in ticks - self._failed.keys():  # only those that are kept, and a few in a round
            self._failed[tick] = self._why(tick)
            if self._clock() - begin > _READ_SECONDS:
                break
        for tick in self._failed.keys() - ticks:
            del self._failed[tick]
        if self._touched and session.is_news("hands", (self._touched, len(self._failed))):
            marks = [one._replace(problem=self._why_not(one)) for one in self._marks]
            yield _hands_message([], 0, marks)

    def _why_not(self, mark: Touch) -> str:
        return mark.problem or self._failed.get(mark.tick, {}).get(mark.words, "")

    def _why(self, tick: int) -> dict[str, str]:
        """Of which changes of a tick nothing came, and why: the trace has it."""
        try:
            details = [dict(one.detail) for one in self._recording.records(tick, tick, events=["hand"])]
        except AgentRTError:  # as above
            return {}
        return {str(one["does"]): str(one["failed"]) for one in details if "does" in one and "failed" in one}


def _mark(tick: int, name: str, args: dict[str, Any]) -> Touch:
    if name == HAND:
        try:
            edit = read_hand(args.get("edit"))
        except EditError as error:  # of a file, which says what it likes
            return Touch(tick, "", words_of(args, _LONGEST_WORDS), why_words(error))
        return Touch(tick, edit.get("agent", ""), hand_words(edit))
    words = name.removeprefix(RESERVED) + (f" {args}" if args else "")
    return Touch(tick, str(args.get("agent", "")) if name.startswith(RESERVED) else "", words_of(words, _LONGEST_WORDS))
