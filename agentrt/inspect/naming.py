"""What the spans of an agent in a recording are called: as its plan calls them.

A trace names what runs by the end of its path (``TaskAction#3``), a plan by its name (``task 3: harvest``). The plan
at the begin of a span has the name; to look there costs a view, so each round looks for as long as it was given, and
what was looked for in vain once is not looked for again.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence

from agentrt.errors import DataFault
from agentrt.record.recording import Recording
from agentrt.record.spans import Span
from agentrt.record.views import SpanNames

__all__ = ["LineNames"]


class LineNames:
    """The names of one agent's spans in one recording, as far as they were found out; its clock gives real seconds."""

    __slots__ = ("_clock", "_looked", "_names")

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._names: SpanNames = SpanNames()
        self._looked: set[tuple[str, int]] = set()  # where a name was looked for

    def name(self, recording: Recording, agent: str, spans: Sequence[Span], seconds: float) -> tuple[list[Span], bool]:
        """The spans with their names, and whether that is all that can be found out; the rest needs another round."""
        begin = self._clock()
        found = []
        is_whole = True
        for span in spans:
            name = self._names.find(span)
            if name is None and (span.path, span.begin) not in self._looked:
                if self._clock() - begin > seconds:
                    is_whole = False
                else:
                    self._looked.add((span.path, span.begin))
                    with contextlib.suppress(DataFault):  # who looks there is told
                        self._names.learn(recording.view(agent, span.begin) or {})
                    name = self._names.find(span)
            found.append(span if name is None else span._replace(name=name))
        return found, is_whole
