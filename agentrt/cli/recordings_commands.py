"""``agentrt replay``, ``agentrt diff``, ``agentrt export``: what can be done with a recording but look at it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from agentrt.cli.groups import HOSTS, JsonOut, progress_printer, tell, tell_text
from agentrt.worlds import load_world

if TYPE_CHECKING:
    from agentrt.record.replay import Make
    from agentrt.runtime.runtime import Runtime

__all__ = ["diff", "export", "replay"]

_PATIENCE = 2.0  # seconds after which a replay says how far it has come


_path = click.Path(path_type=Path)


def _make(recording: Path, world: str | None, to: int | None) -> Make | None:
    """Makes the world that is replayed, and tells how far it has come; None if the recording names none."""
    from agentrt.record.recording import Recording

    with Recording.open(recording) as opened:
        name = world or opened.meta["world"]
        last = opened.last_tick if to is None else to
    if not name:
        return None
    known, progress = load_world(name), progress_printer(_PATIENCE)

    def make(*, seed: int, host: str) -> Runtime:
        runtime = known.make(seed=seed, host=host)
        runtime.after_tick(lambda: progress(runtime.tick, last, ""))
        return runtime

    return make


@click.command()
@click.argument("recording", type=_path)
@click.option("--to", type=click.IntRange(min=0), help="The last tick to run; with --edit, the one to branch after.")
@click.option("--verify/--no-verify", default=True, show_default=True, help="Compare it with the recording.")
@click.option("--world", metavar="NAME", help="The world to run.  [default: the one that the recording names]")
@click.option("--host", type=click.Choice(HOSTS), default=HOSTS[0], show_default=True, help="What it runs on.")
@click.option("--edit", type=_path, metavar="FILE", help="Branch: a JSON script of what comes in otherwise.")
@click.option("--ticks", type=click.IntRange(min=1), help="Branch: how many ticks to go on.")
@click.option("--record", type=_path, metavar="FILE", help="Branch: record it.")
@click.option("--live", is_flag=True, help="Branch: let calls that have no recorded result go to the outside.")
def replay(
    *,
    recording: Path,
    to: int | None,
    verify: bool,
    world: str | None,
    host: str,
    edit: Path | None,
    ticks: int | None,
    record: Path | None,
    live: bool,
) -> None:
    """Run RECORDING again from its inputs, and compare every tick.

    Nothing outside is called: results come from the recording. It stops at the first difference and prints both sides;
    the exit code is 1 then. With --to and one of --edit, --ticks and --record it is a branch: a replay up to a tick,
    which goes on otherwise from there, and the two runs are compared.
    """
    if edit is None and ticks is None and record is None and not live:
        from agentrt.record.replay import replay as run

        report = run(recording, _make(recording, world, to), to=to, host=host, verify=verify)
        tell_text(f"{report.as_text()}\n")
        sys.exit(0 if report.is_same else 1)
    from agentrt.record.branch import branch, load_edits

    if to is None:
        raise click.UsageError("a branch needs --to, the tick after which it begins.")
    if not verify:
        raise click.UsageError("a branch begins where the replay is the same: --no-verify does not go with it.")
    edits = () if edit is None else load_edits(edit)
    calls = "live" if live else "recorded"
    make = _make(recording, world, None if ticks is None else to + ticks)
    made = branch(recording, make, at=to, edits=edits, ticks=ticks, host=host, calls=calls, record=record)
    tell_text(f"{made.as_text()}\n")


@click.command()
@click.argument("one", type=_path)
@click.argument("other", type=_path)
def diff(*, one: Path, other: Path) -> None:
    """Compare the traces of two recordings: where they part, agent by agent. Exit code 1 if they differ."""
    from agentrt.record.compare import compare_recordings
    from agentrt.record.recording import Recording

    with Recording.open(one) as left, Recording.open(other) as right:
        difference = compare_recordings(left, right)
    tell_text(f"{difference.as_text()}\n")
    sys.exit(0 if difference.is_empty else 1)


@contextlib.contextmanager
def _made(path: Path) -> Iterator[TextIO]:
    """A new file to write to. If that fails, at the latest when it is closed, the half of it is not left behind."""
    is_file = path.is_file() or not path.exists()  # and no pipe or device
    with path.open("x" if is_file else "w", encoding="ascii", newline="\n") as out:
        try:
            yield out
            out.flush()
        except BaseException:
            if is_file:
                path.unlink(missing_ok=True)
            raise


@click.command()
@click.argument("recording", type=_path)
@click.option("--to", "kind", type=click.Choice(["perfetto", "otel"]), required=True, help="For whom.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, allow_dash=True), required=True, help="The file; - prints it."
)
@click.option("--first", type=click.IntRange(min=0), help="From this tick on.")
@click.option("--last", type=click.IntRange(min=0), help="Up to this tick.")
def export(*, recording: Path, kind: str, output: Path, first: int | None, last: int | None) -> None:
    """Write RECORDING for other tools.

    'perfetto' is a file of Chrome trace events, which opens in https://ui.perfetto.dev; 'otel' is OTLP in JSON, a
    request on each line, as an OpenTelemetry collector takes it.
    """
    from agentrt.record.export import write_otlp, write_perfetto
    from agentrt.record.recording import Recording

    write, what = (write_perfetto, "events") if kind == "perfetto" else (write_otlp, "spans")
    with Recording.open(recording) as opened:
        if str(output) == "-":
            write(opened, JsonOut(), first=first, last=last)
            return
        try:
            with _made(output) as out:
                count = write(opened, out, first=first, last=last)
        except FileExistsError:
            raise click.BadParameter(
                f"{output} is there already: choose another name.", param_hint="--output"
            ) from None
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise click.BadParameter(f"{output}: {why}", param_hint="--output") from None
    tell(f"{count} {what} written to {output}", err=True)
