"""Reports: what a replay and a branch came to, for programs and in words.

They are plain data, made when the run is over, and keep nothing alive. Words are lines of text; the first says what was
done, the last is the digest, so that two runs can be compared by a look.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from agentrt.record.differences import Difference, TraceDifference, counted

__all__ = ["BranchReport", "ReplayReport"]


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """What a replay came to.

    Attributes:
        recording: the file.
        tick: the last tick that was replayed.
        wanted: the tick that was to be reached.
        digest: of the replayed trace.
        recorded_digest: of the recorded trace at the same tick; empty if it was not kept.
        compared: how many ticks were compared.
        sent: how many inputs came in.
        answered: how many results of calls came in.
        difference: the first difference, or None.
        notes: what else there is to know.
    """

    recording: str
    tick: int
    wanted: int
    digest: str
    recorded_digest: str
    compared: int
    sent: int
    answered: int
    difference: Difference | None
    notes: tuple[str, ...]

    @property
    def is_same(self) -> bool:
        """Whether it reached the tick that was wanted, and nothing was found to differ."""
        return self.difference is None and self.tick == self.wanted

    def as_text(self) -> str:
        """It in several lines."""
        came = f"{counted(self.sent, 'input')}, {counted(self.answered, 'result')} of calls"
        lines = [f"replayed {self.recording} up to tick {self.tick} of {self.wanted}: {came}", *self.notes]
        if self.difference is not None:
            lines.append(self.difference.as_text())
        elif self.compared:
            lines.append(f"the same as recorded, compared in {counted(self.compared, 'tick')}")
        lines.append(f"digest: {self.digest}")
        if self.recorded_digest and self.recorded_digest != self.digest:
            lines.append(f"recorded: {self.recorded_digest}")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class BranchReport:
    """What a branch came to.

    Attributes:
        recording: the file that was branched.
        at: the last tick that is the same.
        tick: the last tick of the branch.
        digest: of the whole trace of the branch.
        sent: how many inputs came in, all in all.
        answered: how many results of calls came in from the recording or the script.
        late: how many of them had to wait for their call.
        left_over: how many recorded results nobody waited for.
        live: how many calls went to the outside.
        difference: how the branch differs from what was recorded; None if the recording ends where it begins.
        recorded: where it was recorded; None if it was not.
    """

    recording: str
    at: int
    tick: int
    digest: str
    sent: int
    answered: int
    late: int
    left_over: int
    live: int
    difference: TraceDifference | None
    recorded: Path | None

    def as_text(self) -> str:
        """It in several lines."""
        came = f"{counted(self.sent, 'input')}, {counted(self.answered, 'result')} of calls"
        lines = [f"branched {self.recording} after tick {self.at}, went on to tick {self.tick}: {came}"]
        for count, words in (
            (self.late, "came in later than recorded"),
            (self.left_over, "for nobody"),
            (self.live, "of calls asked for outside"),
        ):
            lines += [f"{counted(count, 'result')} {words}"] if count else []
        if self.difference is not None:
            lines.append(self.difference.as_text())
        lines += [f"recorded: {self.recorded}"] if self.recorded is not None else []
        lines.append(f"digest: {self.digest}")
        return "\n".join(lines)
