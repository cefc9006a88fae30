"""How things show themselves in a notebook: ``_repr_html_``, made of a few pieces that know only words.

Rules, since a notebook shows it beside its own pages, and keeps it in a file:

* Every text is escaped, whatever it is, and what does not print is masked. There is no script, no style sheet, no id
  and no address in it: styles stand on the elements, and reach nothing else.
* Its size has a bound, and it says what was left out.
* Colors go with a light and with a dark page: text has the page's own, weaker where it matters less; the others are of
  a middle brightness.

Source: IPython, "Integrating your objects with IPython": rich display.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import islice
from typing import Final, Literal, NamedTuple, TypeAlias
from zlib import crc32

from agentrt.words import counted, masked

Tone: TypeAlias = Literal["", "active", "weak", "bad"]

_MOST_LINES: Final = 200
_MOST_BARS: Final = 50  # in one row of a time line
_MOST_ROWS: Final = 40
_LONGEST: Final = 300  # characters of one text
_DEEPEST: Final = 24  # levels of indentation

_BOX: Final = (
    "font-family:ui-monospace,Menlo,Consolas,monospace;font-size:12px;line-height:1.5;text-align:left;"
    "border:1px solid rgba(128,128,128,.4);border-radius:4px;padding:6px 10px;margin:4px 0;overflow-wrap:anywhere"
)
_TONES: Final[dict[Tone, str]] = {
    "": "",
    "active": "font-weight:bold;color:#2f81d7",
    "weak": "opacity:.6",
    "bad": "font-weight:bold;color:#d9483b",
}
_CELL: Final = "border:none;background:none;text-align:left;padding:0 8px 0 0;white-space:nowrap;font-size:12px"
_TRACK: Final = (
    "position:relative;height:18px;background:rgba(128,128,128,.15);color:#fff;font-size:11px;white-space:nowrap"
)
_BAR: Final = (
    "position:absolute;top:1px;bottom:1px;box-sizing:border-box;overflow:hidden;text-overflow:ellipsis;padding:0 3px;"
    "border-right:1px solid rgba(255,255,255,.6)"
)


# One line of a box: how far it is indented, what it says, what is said beside it, weaker, and its tone. A plain tuple,
# since this module is loaded when somebody looks, and not by who has something to show.
Line: TypeAlias = tuple[int, str, str, Tone]


class Bar(NamedTuple):
    """One thing that lasted, in a row of a time line."""

    begin: int  # a tick
    end: int  # the tick before which it ended
    name: str
    note: str = ""  # shown when the pointer is on it


class Row(NamedTuple):
    """One row of a time line; its bars in the order in which they began."""

    name: str
    bars: Sequence[Bar]


def box(title: str, note: str, lines: Iterable[Line], rows: Sequence[Row] = (), ticks: tuple[int, int] = (0, 0)) -> str:
    """A titled box with lines, and below them a time line of some ticks, if there are rows for it."""
    parts = [f'<div><b>{_text(title)}</b> <span style="opacity:.7">{_text(note)}</span></div>']
    every = iter(lines)
    parts += [_line(line) for line in islice(every, _MOST_LINES)]
    left = sum(1 for _ in every)
    if left:
        parts.append(_line((0, f"... and {counted(left, 'more line')}", "", "weak")))
    if rows:
        parts += _timeline(rows, *ticks)
    if len(rows) > _MOST_ROWS:
        parts.append(_line((0, f"... and {counted(len(rows) - _MOST_ROWS, 'more row')}", "", "weak")))
    return f'<div style="{_BOX}">{"".join(parts)}</div>'


def _text(text: str) -> str:
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST - 3]}..."
    return escape(masked(text).replace("\n", " "))


def _line(line: Line) -> str:
    depth, text, note, tone = line
    said = f'<span style="{_TONES[tone]}">{_text(text)}</span>' if tone else _text(text)
    beside = f' <span style="opacity:.7">{_text(note)}</span>' if note else ""
    return f'<div style="padding-left:{1.5 * min(depth, _DEEPEST):g}em">{said}{beside}</div>'


def _timeline(rows: Sequence[Row], first: int, last: int) -> Iterator[str]:
    """A table: names, and beside each its bars, the newest; below it, the first and the last tick."""
    yield '<table style="width:100%;border-collapse:collapse;border:none;margin:4px 0 0"><tbody>'
    for row in rows[:_MOST_ROWS]:
        bars = "".join(_bar(bar, first, last) for bar in row.bars[-_MOST_BARS:])
        yield (
            f'<tr style="background:none"><td style="{_CELL};width:1%">{_text(row.name)}</td>'
            f'<td style="{_CELL};padding:1px 0"><div style="{_TRACK}">{bars}</div></td></tr>'
        )
    span = f'<span style="opacity:.7">tick {first}</span><span style="float:right;opacity:.7">{last}</span>'
    yield f'<tr style="background:none"><td style="{_CELL}"></td><td style="{_CELL};padding:0">{span}</td></tr>'
    yield "</tbody></table>"


def _bar(bar: Bar, first: int, last: int) -> str:
    """Ticks are columns: what began and ended in one takes the width of one."""
    width = 100 / (last - first + 1)
    begin, end = max(bar.begin, first), min(max(bar.end, bar.begin + 1), last + 1)
    place = f"left:{(begin - first) * width:.2f}%;width:{(end - begin) * width:.2f}%"
    color = f"hsl({crc32(bar.name.encode(errors='replace')) % 360},45%,42%)"  # one name, one color, in every run
    told = f"{bar.name}: tick {bar.begin} to {bar.end}" + (f", {bar.note}" if bar.note else "")
    return f'<div style="{_BAR};{place};background:{color}" title="{_text(told)}">{_text(bar.name)}</div>'
