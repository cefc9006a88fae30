"""``play``: what it prints, what it refuses before it begins, its pace, and how it is stopped."""

from __future__ import annotations

import io
import re
import signal
from pathlib import Path

import pytest

pytest.importorskip("crafter")

from click.testing import CliRunner
from PIL import Image
from rich.console import Console

from agentrt import TOP, Action, Agent
from examples.crafter import game, legs, play
from examples.crafter.game import Episode


class Chop(Action):
    """Goes to the nearest tree, and strikes it."""

    does = TOP
    utility = 1.0
    status_text_key = "looks for trees"

    async def run(self, ctx, args):
        tree = ctx.entity.nearest("tree")
        if tree is not None:
            await legs.approach(ctx.entity, tree[0])
        await ctx.entity.act("do")


@pytest.fixture
def quick(monkeypatch, same_world):
    """Episodes in a world that is made already, with a mind that only fells trees."""
    monkeypatch.setattr("crafter.Env", same_world())
    monkeypatch.setattr(game, "make_mind", lambda player: Agent(player, name="player", actions=[Chop]))


@pytest.fixture
def no_episode(monkeypatch):
    """Whoever makes an episode fails."""

    def fail(*_):
        raise AssertionError("an episode was made")

    monkeypatch.setattr(play, "Episode", fail)


def run(*args):
    return CliRunner().invoke(play.play, list(args))


@pytest.mark.slow
def test_without_a_terminal_it_prints_achievements_and_a_summary(quick):
    result = run("--seed", "3", "--length", "40")
    lines = result.output.splitlines()
    assert result.exit_code == 0
    step = int(re.fullmatch(r"step (\d+): collect wood", lines[0])[1])
    assert lines[1] == "seed 3, 40 steps: the time was up"
    assert lines[2].startswith("bars at the end: health 9, food 8, drink ")
    assert lines[3:5] == ["achievements: 1 of 22", f"{step:>7}  collect wood"]
    assert lines[-2].startswith("digest: ")
    assert lines[-1].startswith("share of the time that is the agent's: ")
    assert run("--seed", "3", "--length", "40", "--headless").output.splitlines()[-2] == lines[-2]


def sizes(*paths):
    """Width, height and number of frames of pictures."""
    found = []
    for path in paths:
        with Image.open(path) as image:
            found.append((*image.size, getattr(image, "n_frames", 1)))
    return found


@pytest.mark.slow
def test_films_are_written_and_change_nothing(quick, tmp_path):
    sheet, clip = tmp_path / "sheet.png", tmp_path / "CLIP.GIF"
    filmed = run("--seed", "3", "--length", "20", "--sheet", str(sheet), "--video", str(clip)).output.splitlines()
    plain = run("--seed", "3", "--length", "20").output.splitlines()
    assert filmed[-2:] == [f"{sheet}: 6 frames", f"{clip}: 5 frames"]
    assert filmed[-4] == plain[-2]
    assert sizes(sheet, clip) == [(6 * 152 + 8, 188, 1), (288, 322, 5)]


def test_every_counts_for_both_films(quick, tmp_path):
    sheet, clip = tmp_path / "sheet.png", tmp_path / "clip.gif"
    lines = run("--length", "6", "--sheet", str(sheet), "--video", str(clip), "--every", "2").output.splitlines()
    assert lines[-2:] == [f"{sheet}: 4 frames", f"{clip}: 4 frames"]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["--sheet", "{tmp}/no/sheet.png"], "sheet.png cannot be written: No such file or directory."),
        (["--video", "{tmp}/no/clip.gif"], "clip.gif cannot be written: No such file or directory."),
        (["--sheet", "{tmp}/sheet.jpg"], "sheet.jpg does not end in .png, and nothing else is written."),
        (["--video", "{tmp}/clip.mp4"], "clip.mp4 does not end in .gif, and nothing else is written."),
        (["--sheet", "{tmp}"], "is a directory"),
        (["--every", "3"], "--every goes with --sheet or --video."),
        (["--speed", "0"], "a speed is more than 0."),
        (["--speed", "nan"], "a speed is more than 0."),
        (["--length", "0"], "0 is not in the range"),
        (["--seed", "-1"], "-1 is not in the range"),
    ],
)
def test_what_cannot_be_done_is_found_out_before_the_run(no_episode, tmp_path, args, says):
    result = run(*(arg.format(tmp=tmp_path) for arg in args))
    assert result.exit_code == 2
    assert says in " ".join(result.output.replace("│", " ").split())


def test_a_wrong_ending_leaves_the_other_file_alone(no_episode, tmp_path):
    sheet = tmp_path / "sheet.png"
    sheet.write_bytes(b"an older one")
    assert run("--sheet", str(sheet), "--video", str(tmp_path / "clip.mp4")).exit_code == 2
    assert sheet.read_bytes() == b"an older one"


def interrupting(monkeypatch, step):
    """Presses Ctrl-C in the middle of a step."""
    advance = Episode.advance

    def pressed(episode):
        if episode.step + 1 == step:
            signal.raise_signal(signal.SIGINT)
        advance(episode)

    monkeypatch.setattr(Episode, "advance", pressed)


def test_ctrl_c_ends_it_after_the_step(quick, monkeypatch, tmp_path):
    before = signal.getsignal(signal.SIGINT)
    interrupting(monkeypatch, 6)
    clip = tmp_path / "clip.gif"
    result = run("--seed", "3", "--video", str(clip))
    assert result.exit_code == 0
    assert result.output.splitlines()[0] == "seed 3, 6 steps: stopped"
    assert sizes(clip) == [(288, 322, 2)]  # steps 0 and 5
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_ctrl_c_does_not_wait(quick, monkeypatch):
    def pressed(_):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Episode, "advance", pressed)
    assert run("--seed", "3").exit_code == 1  # click says "Aborted!"


def test_faults_in_the_mind_are_told_at_the_end_and_not_logged(quick, monkeypatch, caplog):
    def fault(player, sight, did):
        raise ValueError("it is blind")

    monkeypatch.setattr(game.Player, "perceive", fault)
    lines = run("--length", "3").output.splitlines()  # what was seen last, nobody takes in any more
    [line] = [line for line in lines if line.startswith("faults in the mind")]
    assert line.startswith("faults in the mind: 2; the first: ")
    assert "ValueError: it is blind" in "\n".join(lines)
    assert caplog.records == []


class Clock:
    """Takes the place of the module ``time``: nobody waits, and a step takes as long as it is told."""

    def __init__(self):
        self.now, self.naps = 100.0, []

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.naps.append(seconds)
        self.now += seconds


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(play, "time", made)
    return made


def live(length, speed):
    """Plays live, and returns what the terminal got."""
    file = io.StringIO()
    console = Console(file=file, width=80, height=24, force_terminal=True, legacy_windows=False)
    with Episode(3, length) as episode:
        show = play._Show()
        show.begin(episode)
        play._run_live(show, speed, console)
        assert show.is_over
    return file.getvalue()


@pytest.mark.slow
def test_live_it_keeps_to_its_speed(quick, clock):
    output = live(20, 10.0)
    assert clock.now - 100.0 == pytest.approx(1.9, abs=0.11)  # it does not wait after the last step
    assert max(clock.naps) <= 0.05
    assert "step 19" in output
    assert output.startswith("\x1b[?1049h")
    assert output.endswith("\x1b[?1049l")


@pytest.mark.slow
def test_live_it_draws_no_more_often_than_can_be_seen(quick, clock):
    assert live(20, 10.0).count("what it does, and why") == 20
    assert live(20, 300.0).count("what it does, and why") < 6


def test_what_was_late_is_not_made_up_for(quick, clock, monkeypatch):
    advance = Episode.advance

    def slow(episode):
        clock.now += 5.0 if episode.step == 3 else 0.0
        advance(episode)

    monkeypatch.setattr(Episode, "advance", slow)
    live(10, 10.0)
    assert clock.now - 100.0 == pytest.approx(5.0 + 0.8, abs=0.11)


def test_ctrl_c_ends_the_live_view_within_a_nap(quick, clock, monkeypatch):
    class Pressed(Clock):
        def sleep(self, seconds):
            super().sleep(seconds)
            if len(self.naps) == 2:
                show.is_stopped = True

    monkeypatch.setattr(play, "time", Pressed())
    with Episode(3, 100) as episode:
        show = play._Show()
        show.begin(episode)
        play._run_live(show, 0.1, Console(file=io.StringIO(), force_terminal=True))
        assert episode.step == 1
        assert len(play.time.naps) == 2


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize(("option", "ending"), [("--video", ".gif"), ("--sheet", ".png")])
def test_a_full_disk_ends_the_film_and_not_the_episode(quick, tmp_path, option, ending):
    film = tmp_path / f"film{ending}"
    film.symlink_to("/dev/full")
    result = run("--seed", "3", "--length", "12", "--every", "1", option, str(film))
    assert result.exit_code == 0, result.output
    assert result.output.count(f"{film} cannot be written: No space left on device") == 1
    assert "frames" not in result.output
