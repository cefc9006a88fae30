"""Films of an episode: a contact sheet as one picture, and an animated picture. Frames are the game's own pictures.

Taking a frame changes nothing: ``Episode.picture`` puts back the random numbers that drawing a night takes. Memory is
bounded, however long an episode is:

* a ``Sheet`` keeps a frame for each achievement, the last one, and frames at even distances; when there are too many of
  these, every second one is dropped and the distance doubled;
* a ``Clip`` writes each frame as soon as the next one is there, and of that one only what has changed.

Both write into a file that was opened before the run, so that a path that cannot be written is found out before it.

Rejected: mp4, which needs ffmpeg beside Python, and animated webp, for which Pillow wants all frames at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, BinaryIO, Final, NamedTuple

from PIL import Image, ImageChops, ImageDraw, ImageFont
from PIL.GifImagePlugin import getdata, getheader

from examples.crafter.rules import ACHIEVEMENTS
from examples.crafter.story import words

if TYPE_CHECKING:
    from examples.crafter.game import Episode

__all__ = ["CLIP_ENDING", "SHEET_ENDING", "Clip", "Sheet"]

SHEET_ENDING: Final = ".png"
CLIP_ENDING: Final = ".gif"

_SIDE: Final = 144  # pixels: sixteen for each of nine cells, which is what the game's pictures are drawn in
_GAP: Final = 8
_LINE: Final = 14  # pixels of a line of text
_FONT: Final = 11
_COLUMNS: Final = 8
_BACK, _TEXT, _FAINT, _GOLD = "#0d1117", "#e6edf3", "#8b949e", "#e8c468"
_RED: Final = "#ff7b72"
_CUT: Final = "\N{HORIZONTAL ELLIPSIS}"


class _Frame(NamedTuple):
    step: int
    image: Image.Image
    caption: str
    color: str


class Sheet:
    """A contact sheet.

    Args:
        file: where it is written to, when it is finished.
        every: so many steps from one frame to the next, as long as that makes no more than 400; 0 for as few as suit
            the length of the episode.
    """

    def __init__(self, file: BinaryIO, every: int = 0) -> None:
        self._file = file
        self._apart = every or 5
        self._most = 400 if every else 16
        self._spaced: list[_Frame] = []
        self._marked: list[_Frame] = []

    def take(self, episode: Episode, new: Sequence[str]) -> None:
        """Take a frame, if one is due.

        Args:
            episode: of it.
            new: what was achieved in this step.
        """
        if new:
            self._marked.append(_frame(episode, ", ".join(map(words, new)), _GOLD))
        elif episode.is_over:
            self._marked.append(_frame(episode, "dead" if episode.is_dead else "the end", _RED))
        elif episode.step % self._apart == 0:
            self._spaced.append(_frame(episode, episode.agent.status_text or words(episode.did), _FAINT))
            if len(self._spaced) > self._most:
                self._apart *= 2
                self._spaced = [frame for frame in self._spaced if frame.step % self._apart == 0]

    def finish(self) -> int:
        """Write the file.

        Returns:
            How many frames are on it.
        """
        frames = sorted(self._spaced + self._marked)
        columns = max(1, min(_COLUMNS, len(frames)))
        rows = -(-len(frames) // columns)
        across, down = _SIDE + _GAP, _SIDE + _GAP + 2 * _LINE
        sheet = Image.new("RGB", (columns * across + _GAP, max(1, rows) * down + _GAP), _BACK)
        pen = ImageDraw.Draw(sheet)
        for number, frame in enumerate(frames):
            x, y = _GAP + number % columns * across, _GAP + number // columns * down
            if frame.color != _FAINT:
                pen.rectangle((x - 2, y - 2, x + _SIDE + 1, y + _SIDE + 1), outline=frame.color, width=2)
            sheet.paste(frame.image, (x, y))
            _write(pen, (x, y + _SIDE + 2), f"step {frame.step}", _TEXT)
            _write(pen, (x, y + _SIDE + 2 + _LINE), frame.caption, frame.color)
        sheet.quantize(256, dither=Image.Dither.NONE).save(self._file, "PNG", optimize=True)
        self._file.flush()  # a disk that is full says so here, and not when the file is closed
        return len(frames)


class Clip:
    """An animated picture, ten frames a second.

    Args:
        file: where it is written to.
        every: so many steps from one frame to the next.
    """

    _SCALE: Final = 2
    _SHOWN: Final = 40  # steps for which an achievement is told
    _LASTS: Final = 100  # milliseconds
    _LAST: Final = 3000
    _COLORS: Final = 128
    _METHOD: Final = Image.Quantize.FASTOCTREE  # a quarter of the time of the others, and half of the size at night

    def __init__(self, file: BinaryIO, every: int = 5) -> None:
        self._file = file
        self._every = every
        self._count = 0
        self._shown: Image.Image | None = None
        self._waits = 0  # milliseconds for which the last frame is shown, which is not written yet
        self._corner = (0, 0)
        self._part: Image.Image | None = None
        self._news: list[str] = []
        self._achieved = 0
        self._told = -self._SHOWN

    def take(self, episode: Episode, new: Sequence[str]) -> None:
        """Take a frame, if one is due.

        Args:
            episode: of it.
            new: what was achieved in this step.
        """
        if new:
            self._news, self._told = [words(name) for name in new], episode.step
            self._achieved += len(new)
        if episode.step % self._every == 0 or episode.is_over:
            self._add(self._draw(episode))

    def _draw(self, episode: Episode) -> Image.Image:
        side = _SIDE * self._SCALE
        image = Image.new("RGB", (side, side + 2 * _LINE + 6), _BACK)
        image.paste(_picture(episode).resize((side, side), Image.Resampling.NEAREST))
        pen = ImageDraw.Draw(image)
        count = f"step {episode.step}   {self._achieved} of {len(ACHIEVEMENTS)} achieved"
        is_new = episode.step - self._told < self._SHOWN
        caption = ", ".join(self._news) if is_new else episode.agent.status_text
        _write(pen, (_GAP // 2, side + 2), count, _TEXT, side - _GAP)
        _write(pen, (_GAP // 2, side + 2 + _LINE), caption, _GOLD if is_new else _FAINT, side - _GAP)
        return image

    def _add(self, image: Image.Image) -> None:
        box: tuple[int, int, int, int] | None = (0, 0, *image.size)
        if self._shown is not None:
            box = ImageChops.difference(self._shown, image).getbbox()
        if box is None:
            self._waits += self._LASTS
            return
        self._flush()
        self._shown, self._corner, self._waits = image, (box[0], box[1]), self._LASTS
        self._part = image.crop(box).quantize(self._COLORS, self._METHOD, dither=Image.Dither.NONE)

    def _flush(self) -> None:
        """Write the last frame: from now on it is known for how long it is shown."""
        if self._part is None:
            return
        if self._count == 0:
            header, _ = getheader(self._part.copy(), info={"loop": 0, "duration": self._waits})
            self._file.writelines(header)
        self._file.writelines(
            getdata(self._part, self._corner, duration=self._waits, include_color_table=True, disposal=1)
        )
        self._count += 1

    def finish(self) -> int:
        """Write what is left of the file.

        Returns:
            How many frames it has; those that differ from the one before.
        """
        self._waits += self._LAST
        self._flush()
        self._file.write(b";")
        self._file.flush()
        return self._count


def _frame(episode: Episode, caption: str, color: str) -> _Frame:
    return _Frame(episode.step, _picture(episode), caption, color)


def _picture(episode: Episode) -> Image.Image:
    return Image.fromarray(episode.picture(_SIDE))


@cache
def _font() -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(_FONT)


def _write(pen: ImageDraw.ImageDraw, corner: tuple[int, int], text: str, color: str, width: int = _SIDE) -> None:
    """Write a line, and cut it where there is no more room."""
    font = _font()
    if font.getlength(text) > width:
        while text and font.getlength(text + _CUT) > width:
            text = text[:-1]
        text += _CUT
    pen.text(corner, text, color, font)
