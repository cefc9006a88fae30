"""A recording, or a range of its ticks, as one file of HTML: the inspector's page with what it shows, without a server.

The file opens wherever there is a browser, from a disk, too. It holds the same page, its scripts and styles, and what
a server would send: the views of all agents with their explanations, the trace, the time lines, the drawings. The page
puts messages together from that (``static/filesource.js``), so that nothing above the connection knows the difference.

How it is made:

* Ticks come in *chunks*, each packed by itself and unpacked when somebody looks there. In a chunk an agent's first view
  is whole, and each later one is the patch that the recording keeps. An explanation is made where a view changes, and
  where it says until when something lasts and that tick comes; the time that passes in between is put in by the page.
* What an agent offers is put into groups here, and what is watched over time is evaluated: the page knows no grammar,
  and what was not watched when the file was made needs a server.
* Time lines are folded here and packed for each agent: one looks at long ranges of them.
* How it stands with thoughts is folded here, too: in a chunk it is told where it changes, as numbers of rows. What was
  answered (and asked, if the recording has that) is in the file only if whoever makes it says so.
* The page's modules become one script: each is a function that gives what it exports, called in the order in which they
  import each other. They write their imports and exports in few ways, and any other is an error here.
* All of it is ASCII. Packed data is in base64, in elements that no browser runs; whatever was recorded is in there, and
  the title, which is escaped. The file's own policy lets run the one script whose hash it says, and fetch nothing.
* It is bounded: what would be larger than ``max_bytes`` is an error that says up to which tick it fits.

Rejected: the SQLite file with a reader in WebAssembly. It would be a second reader of hostile files, larger than most
recordings, and explanations would have to be written a second time.
"""

from __future__ import annotations

import base64
import html
import json
import re
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agentrt.drawing import Drawing
from agentrt.errors import DataFault, RecordingError
from agentrt.inspect.begun import began_before_first
from agentrt.inspect.pins import readings
from agentrt.inspect.protocol import Pin, hello, reloads_message, span_rows, write
from agentrt.inspect.thoughts import recorded_message, recorded_text
from agentrt.record.recording import Stay
from agentrt.record.spans import FOLDED, Span, SpanBuilder
from agentrt.record.thoughtfold import EVENTS, ThoughtFold, prices_of
from agentrt.record.views import SpanNames, difference, settle
from agentrt.snapshot import AgentSnapshot, explain
from agentrt.snapshot.offered import offered
from agentrt.words import words_of

if TYPE_CHECKING:
    from _typeshed import SupportsWrite

    from agentrt.record.lines import TickRecords
    from agentrt.record.recording import Recording

MOST_BYTES = 64 * 1024 * 1024  # of one file; a browser opens that in about a second

_CHUNK_TICKS = 512
_CHUNK_AGENTS = 50  # from so many on, chunks have fewer ticks
_SHORTEST_CHUNK = 32
_FOR_CHUNKS = 0.85  # of the bytes: time lines and the index come after the chunks
_LARGEST_CHUNK = 64 * 1024 * 1024  # characters, before they are packed: a browser holds some chunks at a time


_NO_WORLD = (
    "This page is a file, without a server, and no world runs in it. Open the recording that it was made of: "
    "agentrt inspect FILE --controls."
)


class OneFile(NamedTuple):
    """What was written."""

    bytes: int  # how large the file is
    first: int  # the first tick that is in it
    last: int  # the last one
    agents: int  # how many agents are in it


def write_html(
    recording: Recording,
    out: SupportsWrite[str],
    *,
    first: int | None = None,
    last: int | None = None,
    title: str = "",
    max_bytes: int = MOST_BYTES,
    pins: Sequence[tuple[str, str]] = (),
    answers: bool = False,
) -> OneFile:
    """Write a recording as one file of HTML, which shows it without a server.

    Args:
        recording: what is written.
        out: takes the text, which is ASCII.
        first, last: which ticks; None for all that are kept.
        title: what the page calls it; by default the name of its file.
        max_bytes: how large the file may become.
        pins: what is watched in it over time: each an agent, and an expression over its values.
        answers: whether it holds what models answered, and what they were asked if the recording has that: it may be
            what players wrote.

    Returns:
        How large it is, and what is in it.

    Raises:
        RecordingError: the recording cannot be read, has none of these ticks, or becomes larger than it may.

    Source: ours.
    """
    kept, final = recording.first_tick, recording.last_tick
    low = kept if first is None else max(first, kept)
    high = final if last is None else min(last, final)
    if low > high:
        raise RecordingError(recording.where, f"it has no such ticks: it has {kept} to {final}")
    writer = _Writer(recording, out, low, high, max_bytes, [Pin(*one) for one in pins])
    if answers:
        writer.texts = {}
    return writer.write(title or recording.path.name)


class _Writer:
    """Writes one file."""

    def __init__(
        self, recording: Recording, out: SupportsWrite[str], first: int, last: int, most: int, pins: Sequence[Pin]
    ) -> None:
        self._recording = recording
        self._pins = pins
        self._out = out
        self._first = first
        self._last = last
        self._most = most
        self._bytes = 0
        self._fits: int | None = None  # up to which tick a file would not become too large, as far as it is known
        self._stays = list(recording.stays(first, last))
        self._names: dict[str, SpanNames] = {}  # of what agents run
        self._thoughts = ThoughtFold(prices_of(recording.meta), recording.first_tick)
        self.texts: dict[str, list[list[Any]]] | None = None  # answers, by thought; None if they are for nobody

    def write(self, title: str) -> OneFile:
        script, style, icon = _page()
        policy = (
            f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; img-src data:; "
            "base-uri 'none'; form-action 'none'"
        )
        self._put(
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">\n'
            f"<title>{_escaped(title)}</title>\n"
            f'<link rel="icon" href="data:image/svg+xml;base64,{icon}" type="image/svg+xml">\n'
            f"<style>{style}</style>\n</head>\n<body>\n<noscript>The inspector needs JavaScript.</noscript>\n"
        )
        self._bytes += len(script)  # which comes last
        page = self._bytes
        chunks: list[list[int]] = []
        kinds: dict[int, str] = {}
        for low, high in self._ranges():
            self._put_packed(f"chunk-{len(chunks)}", self._chunk(low, high, kinds))
            chunks.append([low, high])
            if high < self._last and self._bytes - page < _FOR_CHUNKS * (self._most - page):
                self._fits = high
        lines = self._lines()
        if self.texts is not None:
            self._put_packed("texts", write(self.texts))
        self._put_packed("recorded", write(self._index(title, chunks, kinds, lines)))
        self._bytes -= len(script)
        self._put(f"<script>{script}</script>\n</body>\n</html>\n")
        return OneFile(self._bytes, self._first, self._last, len({one.name for one in self._stays}))

    # --- bytes --------------------------------------------------------------------------------------------------------

    def _put(self, text: str) -> None:
        self._bytes += len(text)
        if self._bytes > self._most:
            ticks = f"ticks {self._first} to {self._last}"
            problem = f"{ticks} make a file of more than {self._most / 1e6:.0f} MB"
            if self._fits is None:
                raise RecordingError(self._recording.where, problem, "Choose fewer ticks.")
            raise RecordingError(self._recording.where, problem, f"Up to tick {self._fits} it fits.")
        self._out.write(text)

    def _put_packed(self, name: str, text: str) -> None:
        packer = zlib.compressobj(6, zlib.DEFLATED, 31)  # as gzip, without a time in it: equal runs give equal files
        packed = packer.compress(text.encode("ascii")) + packer.flush()
        data = base64.b64encode(packed).decode("ascii")
        self._put(f'<script type="application/gzip" id="{name}">{data}</script>\n')

    # --- what is in it ------------------------------------------------------------------------------------------------

    def _ranges(self) -> Iterator[tuple[int, int]]:
        there = max(1, len(self._stays))
        ticks = max(_SHORTEST_CHUNK, min(_CHUNK_TICKS, _CHUNK_TICKS * _CHUNK_AGENTS // there))
        for low in range(self._first, self._last + 1, ticks):
            yield low, min(low + ticks - 1, self._last)

    def _index(
        self, title: str, chunks: list[list[int]], kinds: dict[int, str], lines: dict[str, int]
    ) -> dict[str, Any]:
        recording, reach = self._recording, (self._first, self._last)
        rate = recording.meta["ticks_per_second"]
        greeting = hello(
            "recording", title, rate, controls=True, tick=self._first, reach=reach, unreplayable=recording.unreplayable,
            what_if=_NO_WORLD,
        )  # fmt: skip
        reloads = [one for one in recording.reloads() if one.tick <= self._last]
        return {
            "hello": {**greeting, "file": True, "pins": [pin._asdict() for pin in self._pins]},
            "pins": [[*pin, readings(recording, pin, self._first, self._last)] for pin in self._pins],
            "chunks": chunks,
            "agents": [[one.name, kinds.get(one.number, ""), one.first, one.last] for one in self._stays],
            "lines": [[agent, number] for agent, number in lines.items()],
            "drawn": recording.has_drawings,
            "texts": self.texts is not None,
            "reloads": reloads_message(reloads),
        }

    def _lines(self) -> dict[str, int]:
        """Write the time line of each agent; returns the numbers under which they stand."""
        builder = SpanBuilder(keep=0)
        lines: dict[str, list[Span]] = {}
        # What began before the first tick is shown, too: it is folded from the beginning, as a server does. What began
        # before that of the recording is in its first view.
        for stay in self._stays:
            if stay.first <= self._recording.first_tick:
                for record in began_before_first(self._recording, stay.name):
                    builder.feed(record)
        for batch in self._recording.batches(FOLDED, None, self._last):
            for _, record in batch.placed:
                for span in builder.feed(record):
                    if span.end is None or span.end >= self._first:
                        lines.setdefault(span.agent, []).append(span)
        for agent in builder.agents:
            lines.setdefault(agent, []).extend(builder.open_spans(agent))
        wanted = {one.name for one in self._stays}
        numbers: dict[str, int] = {}
        for agent, spans in lines.items():
            if agent in wanted and spans:
                numbers[agent] = len(numbers)
                names = self._names.get(agent) or SpanNames()
                called = [span._replace(name=names.find(span) or span.name) for span in spans]
                self._put_packed(f"line-{numbers[agent]}", write({"spans": span_rows(called, len(called))}))
        return numbers

    def _chunk(self, low: int, high: int, kinds: dict[int, str]) -> str:
        """What happened in some ticks, as JSON."""
        texts, rows, trees, values = _Numbers(), _Numbers(), _Numbers(), _Numbers()
        parts: list[str] = []
        length = 0
        for index, stay in enumerate(self._stays):
            if stay.first > high or (stay.last is not None and stay.last <= low):
                continue
            found = list(self._views(stay, low, high, kinds, _Tables(texts, rows, trees, values)))
            if found:
                parts.append(write({"agent": index, "views": found}))
                length += len(parts[-1])
                if length > _LARGEST_CHUNK:
                    raise RecordingError(self._recording.where, f"its views in ticks {low} to {high} are too large")
        lines = _Numbers()
        records: list[list[Any]] = []
        for tick, agent, path, event, detail in self._recording.records(low, high):
            if not records or records[-1][0] != tick:
                records.append([tick, []])
            records[-1][1].append(lines.of(write({"is": [agent, path, event.value, dict(detail)]})))
        thoughts = _Numbers()
        minds = list(self._minds(low, high, thoughts))
        told = {"first": low, "last": high, "texts": list(texts.known), "records": records, "minds": minds}
        rest = write({**told, "drawings": list(self._drawings(low, high))})
        return (
            f'{rest[:-1]},"views":[{",".join(parts)}],"rows":[{",".join(rows.known)}],"trees":[{",".join(trees.known)}],'
            f'"lines":[{",".join(lines.known)}],"values":[{",".join(values.known)}],'
            f'"thoughts":[{",".join(thoughts.known)}]}}'
        )

    def _views(self, stay: Stay, low: int, high: int, kinds: dict[int, str], tables: _Tables) -> Iterator[list[Any]]:
        """The views of an agent.

        Each has its tick, the patch or the view, whether it is whole, and numbers: of its row in the list, of its
        explanations, of its outlines, of what the agent offers.
        """
        recording = self._recording
        rate = recording.meta["ticks_per_second"]
        changes = list(recording.patches(stay, low, high))
        outlined: object = None
        names = self._names.setdefault(stay.name, SpanNames())
        for at, (tick, patch, view) in enumerate(changes):
            if not isinstance(view, dict):
                raise RecordingError(recording.where, f"the view of {stay.name[:40]!r} in tick {tick} is none")
            until = changes[at + 1][0] - 1 if at + 1 < len(changes) else high
            names.learn(view)
            explained: list[list[Any]] = []
            row = -1
            for moment in [tick, *sorted(one for one in _moments(view) if tick < one <= until)]:
                snapshot = self._snapshot(stay, view, moment, rate)
                head = f"{snapshot.name} at tick {moment}: "
                said = explain(snapshot).removeprefix(head).split("\n")
                explained.append([moment, [tables.texts.of(one) for one in said]])
                if moment == tick:
                    row = tables.rows.of(write(snapshot.summary().as_json()))
                    kinds.setdefault(stay.number, snapshot.kind)
            drivers = [one for one in _list(view.get("drivers")) if isinstance(one, dict)]
            known = [(one.get("name"), one.get("outline")) for one in drivers]
            tree = -1
            if known != outlined:
                outlined = known
                tree = tables.trees.of(write(recording.outlines(stay.name, tick)))
            offers = tables.values.of(write({"is": [list(group) for group in offered(view)]}))
            yield [tick, view if patch is None else patch, patch is None, row, explained, tree, offers]

    def _snapshot(self, stay: Stay, view: dict[str, Any], tick: int, rate: float) -> AgentSnapshot:
        try:
            seen: dict[str, Any] = json.loads(json.dumps(view))  # views share their parts, and this one is settled
            settle(seen, tick)
            return AgentSnapshot.from_json({**seen, "tick": tick, "seconds": tick / rate})
        except (DataFault, RecursionError) as error:
            problem = f"the view of {stay.name[:40]!r} in tick {tick} is broken: {error}"
            raise RecordingError(self._recording.where, problem) from None

    def _minds(self, low: int, high: int, rows: _Numbers) -> Iterator[list[Any]]:
        """How it stands with thoughts at the first tick, and wherever that changes."""
        fold, is_told = self._thoughts, False
        for batch in self._recording.batches(EVENTS, fold.tick + 1, high):
            if batch.tick > low and not is_told:
                is_told = True
                yield [low, self._mind(rows)]
            has_changed = [fold.feed(record) for _, record in batch.placed]
            if batch.tick >= low and any(has_changed):
                is_told = True
                yield [batch.tick, self._mind(rows)]
                self._read_answers(batch)
        if not is_told:
            yield [low, self._mind(rows)]
        fold.tick = high

    def _mind(self, rows: _Numbers) -> dict[str, Any]:
        """How it stands now, with numbers of rows: most of them are told again and again."""
        message = recorded_message(self._thoughts, "")
        for group in message["groups"]:
            group["rows"] = [rows.of(write(row)) for row in group["rows"]]
        message["agents"] = [rows.of(write({"is": row})) for row in message["agents"]]
        return message

    def _read_answers(self, batch: TickRecords) -> None:
        """Keep what came in for thoughts in a tick, if that is to be in the file."""
        if self.texts is None:
            return
        for _, record in batch.placed:
            told = dict(record.detail)
            number = told.get("thought")
            thought = self._thoughts.find(number) if type(number) is int and "call" in told else None
            if thought is not None:
                text = recorded_text(self._recording, thought)
                self.texts.setdefault(str(thought.number), []).append([batch.tick, text])

    def _drawings(self, low: int, high: int) -> Iterator[list[Any]]:
        """The drawings: tick, patch or drawing, whether it is whole, and what is wrong if there is none."""
        before: object = None
        try:
            for tick, _, view in self._recording.patches(None, low, high):
                # What is written was checked, and no page has to do that again.
                drawing = None if view is None else Drawing.from_json(view).as_json()
                patch = None if before is None or drawing is None else difference(before, drawing)
                if drawing != before:
                    yield [tick, drawing if patch is None else patch, patch is None, ""]
                before = drawing
        except DataFault as error:  # only this is broken
            yield [low, None, True, words_of(error)]


class _Numbers:
    """Numbers for texts, in the order in which they came up."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def of(self, text: str) -> int:
        return self.known.setdefault(text, len(self.known))


class _Tables(NamedTuple):
    """What the views of a chunk share."""

    texts: _Numbers
    rows: _Numbers
    trees: _Numbers
    values: _Numbers


def _moments(view: dict[str, Any]) -> set[int]:
    """The ticks from which on something that a view tells is over, so that it is explained in other words."""
    found = {_whole(view.get("again"))}
    frames = [view.get("plan"), *_list(view.get("performances"))]
    while frames:
        frame = frames.pop()
        for unit in _list(frame.get("units")) if isinstance(frame, dict) else ():
            if isinstance(unit, dict):
                found.add(_whole(unit.get("again")))
                waits = unit.get("waits")
                found |= {int(one) for one in _UNTIL.findall(waits)} if isinstance(waits, str) else set()
                frames.extend(_list(unit.get("frames")))
    return found


_UNTIL = re.compile(r"\Auntil tick ([0-9]{1,18})\Z", re.ASCII)


def _whole(value: object) -> int:
    return value if type(value) is int else -1


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


# --- the page ---------------------------------------------------------------------------------------------------------

_STATIC = Path(__file__).parent / "static"
_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w-]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function\*?|class|const) (\w+)", re.MULTILINE)
_LEFT = re.compile(r"^(import|export)\b.*$", re.MULTILINE)


@lru_cache(maxsize=1)
def _page() -> tuple[str, str, str]:
    """The page's script, its styles, and its icon in base64; ASCII."""
    parts: dict[str, str] = {}
    _bundle("app.js", parts, ())
    script = '"use strict";\n' + "\n".join(parts.values()) + "\n"
    index = (_STATIC / "index.html").read_text(encoding="utf-8")
    icon = base64.b64encode((_STATIC / "icon.svg").read_bytes()).decode("ascii")
    sheets = re.findall(r'<link rel="stylesheet" href="/static/([\w-]+\.css)"', index)
    style = "\n".join((_STATIC / name).read_text(encoding="utf-8") for name in sheets)
    style = style.replace('url("icon.svg")', f'url("data:image/svg+xml;base64,{icon}")')
    script, style = _ascii(script, "\\u{:04x}"), _ascii(style, "\\{:06x} ")
    for text, end in ((script, "</script"), (script, "<!--"), (style, "</style")):
        if end in text.lower():
            raise ValueError(f"the page's sources have {end!r} in them")
    return script, style, icon


def _bundle(name: str, parts: dict[str, str], above: tuple[str, ...]) -> None:
    """Put a module, and those that it imports before it, as functions that give what they export."""
    if name in above:
        raise ValueError(f"the page's modules import each other: {' > '.join((*above, name))}")
    if name in parts:
        return
    source = (_STATIC / name).read_text(encoding="utf-8")
    for _, other in _IMPORT.findall(source):
        _bundle(other, parts, (*above, name))
    exported = [one for _, one in _EXPORT.findall(source)]
    source = _IMPORT.sub(lambda found: f"const {{{found[1].replace(' as ', ': ')}}} = {_variable(found[2])};", source)
    source = _EXPORT.sub(r"\1 \2", source)
    left = _LEFT.search(source)
    if left is not None:
        raise ValueError(f"{name} imports or exports in a way that is not known here: {left[0]}")
    parts[name] = f"const {_variable(name)} = (() => {{\n{source}\nreturn {{ {', '.join(exported)} }};\n}})();"


def _variable(name: str) -> str:
    return "module_" + re.sub(r"\W", "_", name.removesuffix(".js"))


def _ascii(text: str, form: str) -> str:
    """A source with what is not ASCII as its escapes: it stands in texts, patterns and comments only."""
    return "".join(one if one.isascii() else _escapes(one, form) for one in text)


def _escapes(sign: str, form: str) -> str:
    if form.startswith("\\u"):
        data = sign.encode("utf-16-be")
        return "".join(form.format(int.from_bytes(data[at : at + 2])) for at in range(0, len(data), 2))
    return form.format(ord(sign))


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(sha256(text.encode('ascii')).digest()).decode('ascii')}"


def _escaped(text: str) -> str:
    return html.escape(text).encode("ascii", "xmlcharrefreplace").decode("ascii")
