"""``python -m examples.crafter play``: play one episode, watch it, film it.

In a terminal it shows the screen and keeps to the speed that was asked for; otherwise it goes as fast as it can and
prints a line for each achievement. Either way it ends with a summary. Watching and filming change nothing: an episode
has the same digest in each of these ways.

The files of films are opened before the world is made, so that a mistake in a path costs no episode. Ctrl-C lets the
step that is under way end, so that the world, the films and the summary are whole; a second one does not wait.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

import click
from rich.console import Console
from rich.live import Live

from agentrt.cli.groups import tell, tell_text
from examples.crafter.faults import Faults
from examples.crafter.film import CLIP_ENDING, SHEET_ENDING, Clip, Sheet
from examples.crafter.game import LENGTH, Episode
from examples.crafter.options import thinking_options, thoughts_of
from examples.crafter.screen import Screen
from examples.crafter.story import Story, words

__all__ = ["play"]

_DRAWS: Final = 30  # a second, at most
_NAP: Final = 0.05  # seconds after which it looks whether it was told to stop


@click.command()
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="The seed of the world and of the agent.",
)
@click.option(
    "--length", type=click.IntRange(min=1), default=LENGTH, show_default=True, help="How long it is at most, in steps."
)
@click.option("--speed", type=float, default=15.0, show_default=True, help="In a terminal: steps a second.")
@click.option(
    "--sheet",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"Write a contact sheet of frames into this file; its name ends in {SHEET_ENDING}.",
)
@click.option(
    "--video",
    type=click.Path(dir_okay=False, path_type=Path),
    help=f"Write an animated picture into this file; its name ends in {CLIP_ENDING}.",
)
@click.option(
    "--every",
    type=click.IntRange(min=1),
    help="Steps from one frame to the next. By default 5 for a video; a sheet has all achievements, and about a dozen "
    "frames besides.",
)
@click.option("--headless", is_flag=True, help="Show nothing while it plays, even in a terminal.")
@thinking_options
def play(
    *,
    seed: int,
    length: int,
    speed: float,
    sheet: Path | None,
    video: Path | None,
    every: int | None,
    headless: bool,
    **thinking: Any,
) -> None:
    """Play one episode, and show it: the map as the agent knows it, what it does and why.

    Without a terminal it plays as fast as it can, and prints a line for each achievement. Ctrl-C ends it.
    """
    if not speed > 0:
        raise click.BadParameter("a speed is more than 0.", param_hint="--speed")
    if every is not None and sheet is None and video is None:
        raise click.UsageError("--every goes with --sheet or --video.")
    _check_ending(sheet, SHEET_ENDING, "--sheet")
    _check_ending(video, CLIP_ENDING, "--video")
    thoughts = thoughts_of(**thinking)
    with ExitStack() as stack:
        show = _Show()
        if sheet is not None:
            show.films.append((sheet, Sheet(_open(stack, sheet, "--sheet"), every or 0)))
        if video is not None:
            show.films.append((video, Clip(_open(stack, video, "--video"), every or 5)))
        show.begin(stack.enter_context(Episode(seed, length, thoughts)))
        with _told_to_stop(show):
            if headless or not sys.stdout.isatty():
                _run_headless(show)
            else:
                _run_live(show, speed, Console())
        for line in show.end():
            tell_text(f"{line}\n")


def _check_ending(path: Path | None, ending: str, option: str) -> None:
    if path is not None and path.suffix.lower() != ending:
        raise click.BadParameter(f"{path} does not end in {ending}, and nothing else is written.", param_hint=option)


def _open(stack: ExitStack, path: Path, option: str) -> BinaryIO:
    try:
        file = path.open("wb")
    except OSError as error:
        raise click.BadParameter(f"{path} cannot be written: {error.strerror}.", param_hint=option) from None
    stack.callback(_close, file)
    return file


def _close(file: BinaryIO) -> None:
    with contextlib.suppress(OSError):  # what was not written was told when the film was finished
        file.close()


@dataclass(slots=True)
class _Show:
    """An episode that is played, and all who look at it."""

    films: list[tuple[Path, Sheet | Clip]] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    story: Story = field(init=False)
    faults: Faults = field(init=False)
    is_stopped: bool = field(init=False, default=False)

    def begin(self, episode: Episode) -> None:
        self.story, self.faults = Story(episode), Faults(episode.runtime)
        self._film([])

    @property
    def is_over(self) -> bool:
        return self.is_stopped or self.story.episode.is_over

    def advance(self) -> list[str]:
        """Play a step.

        Returns:
            What was achieved in it for the first time.
        """
        self.story.episode.advance()
        new = self.story.note()
        self._film(new)
        return new

    def _film(self, new: list[str]) -> None:
        for one in tuple(self.films):
            try:
                one[1].take(self.story.episode, new)
            except OSError as error:  # a disk that is full ends the film and not the episode
                self.films.remove(one)
                self.broken.append(f"{one[0]} cannot be written: {error.strerror}")

    def end(self) -> Iterator[str]:
        """Finish the films, and tell what happened in lines of text."""
        yield from self.story.summary()
        for path, film in self.films:
            try:
                yield f"{path}: {film.finish()} frames"
            except OSError as error:
                self.broken.append(f"{path} cannot be written: {error.strerror}")
        yield from self.broken
        if self.faults.count:
            yield f"faults in the mind: {self.faults.count}; the first: {self.faults.first}"


@contextlib.contextmanager
def _told_to_stop(show: _Show) -> Iterator[None]:
    """The first Ctrl-C stops the show after its step; the second one is as always."""
    before = signal.getsignal(signal.SIGINT)

    def stop(*_: Any) -> None:
        show.is_stopped = True
        signal.signal(signal.SIGINT, before)

    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _run_headless(show: _Show) -> None:
    while not show.is_over:
        for name in show.advance():
            tell(f"step {show.story.episode.step}: {words(name)}")


def _run_live(show: _Show, speed: float, console: Console) -> None:
    episode = show.story.episode
    screen = Screen(episode.player, episode.agent, show.story.achieved, f"Crafter, seed {episode.seed}")
    with Live(screen, console=console, screen=True, auto_refresh=False) as live:
        due = drawn = time.monotonic()
        while not show.is_over:
            show.advance()
            screen.did = episode.did
            now = time.monotonic()
            if now - drawn >= 1 / _DRAWS:
                live.refresh()
                drawn = now
            due = max(due + 1 / speed, now)  # what was late is not made up for
            _sleep_until(due, show)


def _sleep_until(due: float, show: _Show) -> None:
    while not show.is_over and (left := due - time.monotonic()) > 0:
        time.sleep(min(left, _NAP))
