"""Films: which frames are on them, how large they become, and that taking them changes nothing."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

pytest.importorskip("crafter")

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from examples.crafter import game
from examples.crafter.film import Clip, Sheet
from examples.crafter.game import Episode


class Pretended:
    """An episode whose pictures are of one color, another one in each step."""

    def __init__(self, length, *, still=False):
        self.length, self.still = length, still
        self.step, self.is_dead, self.did = 0, False, "move_left"
        self.agent = SimpleNamespace(status_text="strolls")
        self.drawn = 0

    @property
    def is_over(self):
        return self.step >= self.length

    def picture(self, size):
        self.drawn += 1
        color = (0, 0, 0) if self.still else (self.step * 7 % 256, self.step // 256, 90)
        return np.full((size, size, 3), color, np.uint8)

    def play(self, film, achieved):
        film.take(self, [])
        while not self.is_over:
            self.step += 1
            film.take(self, achieved.get(self.step, []))


def sheet_of(length, achieved, every=0):
    """The steps whose frames are on a sheet, how many it says there are, and the picture."""
    file, episode = io.BytesIO(), Pretended(length)
    sheet = Sheet(file, every)
    episode.play(sheet, achieved)
    steps = sorted(frame.step for frame in (*sheet._spaced, *sheet._marked))
    return steps, sheet.finish(), Image.open(file), episode


def test_a_sheet_has_the_achievements_the_end_and_frames_between():
    steps, count, image, _ = sheet_of(12, {3: ["eat_cow"], 10: ["collect_wood", "wake_up"]})
    assert steps == [0, 3, 5, 10, 12]
    assert count == 5
    assert image.size == (5 * 152 + 8, 180 + 8)
    middle = [image.convert("RGB").getpixel((8 + number * 152 + 72, 8 + 72)) for number in range(5)]
    expected = [(step * 7 % 256, 0, 90) for step in steps]
    assert np.abs(np.subtract(middle, expected)).max() <= 8  # a palette of 256 colors


def test_a_sheet_has_eight_frames_in_a_row():
    steps, count, image, _ = sheet_of(40, {}, every=4)
    assert steps == list(range(0, 41, 4))
    assert count == 11
    assert image.size == (8 * 152 + 8, 2 * 180 + 8)


@pytest.mark.slow
@given(st.integers(1, 3000), st.dictionaries(st.integers(1, 3000), st.just(["wake_up"]), max_size=22))
def test_a_sheet_never_has_more_than_forty_frames(length, achieved):
    file, episode = io.BytesIO(), Pretended(length)
    sheet = Sheet(file)
    episode.play(sheet, achieved)
    steps = sorted(frame.step for frame in (*sheet._spaced, *sheet._marked))
    assert len(steps) <= 40
    assert len(set(steps)) == len(steps)
    assert {step for step in achieved if step <= length} <= set(steps)
    assert length in steps
    spaced = [frame.step for frame in sheet._spaced]
    assert length < 100 or len(spaced) >= 6
    assert episode.drawn <= 22 + 17 + 9 * 8  # those that were dropped, too


def test_with_every_a_sheet_keeps_four_hundred_frames():
    file, episode = io.BytesIO(), Pretended(1000)
    sheet = Sheet(file, 1)
    episode.play(sheet, {})
    assert len(sheet._spaced) <= 400
    assert [frame.step for frame in sheet._spaced] == list(range(0, 1000, 4))


def frames_of(length, achieved, every, *, still=False):
    file, episode = io.BytesIO(), Pretended(length, still=still)
    clip = Clip(file, every)
    episode.play(clip, achieved)
    return clip.finish(), Image.open(file)


def test_a_clip_has_a_frame_now_and_then_and_the_last_one_stays():
    count, image = frames_of(10, {}, 3)
    assert image.format == "GIF"
    assert image.size == (288, 288 + 34)
    assert (count, image.n_frames) == (5, 5)  # steps 0, 3, 6, 9, and the last, 10
    lasts, colors = [], []
    for number in range(image.n_frames):
        image.seek(number)
        lasts.append(image.info["duration"])
        colors.append(image.convert("RGB").getpixel((100, 100)))
    assert lasts == [100, 100, 100, 100, 3100]
    assert np.abs(np.subtract(colors, [(step * 7, 0, 90) for step in (0, 3, 6, 9, 10)])).max() <= 8
    assert image.info["loop"] == 0


def test_what_stays_the_same_is_not_written_again():
    """Nothing but the number of the step changes, so a frame more is a few pixels more."""
    file, episode = io.BytesIO(), Pretended(2, still=True)
    clip = Clip(file, 1)
    sizes = []
    for step in (0, 1, 1, 1, 2, 3):
        episode.step = step
        clip.take(episode, [])
        sizes.append(file.tell())
    assert sizes[0] == sizes[2] - sizes[1] == sizes[3] - sizes[2] == 0
    assert clip.finish() == 4
    image = Image.open(file)
    lasts = []
    for number in range(image.n_frames):
        image.seek(number)
        lasts.append(image.info["duration"])
    assert lasts == [100, 300, 100, 3100]


def test_a_clip_tells_what_was_achieved_for_a_while():
    gold = np.array((232, 196, 104))
    _, image = frames_of(60, {10: ["place_table"]}, 10, still=True)
    seen = []
    for number in range(image.n_frames):
        image.seek(number)
        line = np.asarray(image.convert("RGB"))[288 + 16 :].astype(int)
        seen.append(bool((np.abs(line - gold).max(axis=2) < 12).any()))
    assert seen == [False, True, True, True, True, False, False]


@pytest.fixture(scope="module")
def night(same_world):
    """Gives the digest of thirty steps of one night in which nobody does anything, while somebody looks."""

    def digest(look):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("crafter.Env", same_world(begins=190))
            patch.setattr(game, "make_mind", game.Agent)
            with Episode(3, 30) as episode:
                look(episode)
                while not episode.is_over:
                    episode.advance()
                    look(episode)
                assert episode.step == 30
                return episode.digest

    return digest


@pytest.mark.slow
def test_taking_frames_at_night_changes_nothing(night):
    films = Sheet(io.BytesIO(), 1), Clip(io.BytesIO(), 1)
    unfilmed = night(lambda episode: None)
    assert night(lambda episode: [film.take(episode, []) for film in films]) == unfilmed
    assert [film.finish() for film in films] == [31, 31]
    assert night(lambda episode: episode._game.render((144, 144))) != unfilmed  # which takes random numbers
