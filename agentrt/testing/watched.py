"""What the pytest plugin keeps an eye on: a runtime of a test, its newest records, and its recording.

A watched runtime is listened to from the moment it is made; nothing of that can be seen in the run. When its test
fails, ``sections`` says in words what happened last, what the agents do and why, and where the recording lies. When it
passes, the recording is thrown away.

A recording that cannot be made is no reason for a test to fail: the section says why there is none.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from agentrt.errors import ENDS_PROGRAM, AgentRTError
from agentrt.kernel.trace import TraceRecord
from agentrt.words import error_words, printable, printable_lines

if TYPE_CHECKING:
    from pathlib import Path

    from agentrt.agent.agent import Agent
    from agentrt.runtime.intake import RunRecorder
    from agentrt.runtime.runtime import Runtime

__all__ = ["Watched"]

_TOLD = 6  # how many agents are explained
_COMMIT_EVERY = 10_000  # ticks: what a test writes is looked at when it has ended, and a commit costs more than a tick


class Watched:
    """One runtime of a test.

    Args:
        runtime: the runtime; it has not been driven, or the recording cannot be replayed.
        tail: how many records are kept to be shown.
    """

    def __init__(self, runtime: Runtime, tail: int) -> None:
        self.runtime: Runtime = runtime
        self.recording: Path | None = None  # where its recording lies; None if there is none
        self._recorder: RunRecorder | None = None
        self._problem = ""
        self._world = ""
        self._told: list[str] = []
        self._count = 0
        self._tail: deque[TraceRecord] = deque(maxlen=max(tail, 0))
        self._close: Callable[[], None] = runtime.trace.listen(self._take)

    def _take(self, record: TraceRecord) -> None:
        self._count += 1
        self._tail.append(record)

    # --- its recording ------------------------------------------------------------------------------------------------

    def record(self, path: Path, world: str = "") -> None:
        """Write a recording from now on.

        Args:
            path: a file that does not exist.
            world: the name of the world that it is; empty for one that only the test can make.
        """
        try:
            self._recorder = self.runtime.record(path, world=world, commit_every=_COMMIT_EVERY)
        except (AgentRTError, OSError) as error:
            self._problem = str(error)
        else:
            self.recording = path
            self._world = world

    def finish(self, *, keep: bool) -> None:
        """Stop listening and recording."""
        self._close()
        if self._recorder is not None:
            self._recorder.close()
            self._recorder = None
        if self.recording is not None and not keep:
            for suffix in ("", "-wal", "-shm"):
                self.recording.with_name(self.recording.name + suffix).unlink(missing_ok=True)
            self.recording = None

    # --- in words -----------------------------------------------------------------------------------------------------

    def sections(self) -> list[tuple[str, str]]:
        """What happened, as pairs of a heading and a text."""
        tick, seed = self.runtime.tick, self.runtime.kernel.seed
        found = []
        if self._tail:
            heading = f"agentrt trace: the last {len(self._tail)} of {self._count} records, tick {tick}, seed {seed!r}"
            found.append((heading, "\n".join(record.line() for record in self._tail)))
        told = self._told or self._explanations()
        if told:
            found.append((f"agentrt explain: tick {tick}", "\n".join(told)))
        if self.recording is not None:
            found.append(("agentrt recording", "\n".join(self._words())))
        elif self._problem:
            found.append(("agentrt recording", f"there is none: {self._problem}"))
        return [(printable(heading), printable_lines(text)) for heading, text in found]

    def explain_now(self) -> None:
        """Keep what the agents do: they will have ended when somebody asks."""
        self._told = self._explanations()

    def _explanations(self) -> list[str]:
        """Of those agents of whom the trace told last."""
        agents = {agent.name: agent for agent in self.runtime.agents}
        newest = dict.fromkeys([*(record.agent for record in reversed(self._tail)), *agents])
        chosen = [agents[name] for name in newest if name in agents][:_TOLD]
        more = len(agents) - len(chosen)
        return [_explained(agent) for agent in chosen] + ([f"and {more} more agents"] if more else [])

    def _words(self) -> list[str]:
        words = [str(self.recording), f"look at it: agentrt inspect {self.recording}"]
        if self._world:
            words.append(f"run it again: agentrt replay {self.recording}")
        return words


def _explained(agent: Agent) -> str:
    try:
        return agent.explain()
    except ENDS_PROGRAM:
        raise
    except BaseException as error:  # a report must come out, whatever an author's view raised
        return f"{agent!r}: explaining it raised {error_words(error)}"
