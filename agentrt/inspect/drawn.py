"""The world's drawing, as clients are told of it, live and in a recording.

A client has a drawing, and is told how it comes to the next one: what stands still only if that is another one, and of
the marks those that changed and those that are gone. What it was told last is the drawing itself, which nothing
changes. A client that has none, or lost what it was told, gets all of it.
"""

from __future__ import annotations

from collections.abc import Iterator

from agentrt.drawing import Drawing
from agentrt.inspect.sessions import Message, Session

_KIND = "drawing"


def drawing_messages(session: Session, tick: int, drawing: Drawing | None, problem: str = "") -> Iterator[Message]:
    """What a client is told of the drawing of a tick, if that is news.

    Args:
        drawing: None if there is none.
        problem: why there is none, if there should be one.
    """
    told = session.told.get(_KIND)
    if not session.is_news(_KIND, problem if drawing is None else drawing):
        return
    message: Message = {"is": _KIND, "tick": tick, "offered": drawing is not None, "problem": problem}
    if drawing is not None:
        before = told if isinstance(told, Drawing) else None
        known = {} if before is None else before.marks
        message["marks"] = {key: mark.as_json() for key, mark in drawing.marks.items() if known.get(key) != mark}
        message["gone"] = [key for key in known if key not in drawing.marks]
        message["whole"] = before is None
        if before is None or _still(before) != _still(drawing):
            message["still"] = drawing.still()
    yield message


def _still(drawing: Drawing) -> tuple[object, ...]:
    return drawing.width, drawing.height, drawing.tiles, drawing.image
