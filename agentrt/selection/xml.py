"""From bytes that nobody vouches for to elements that mean something where they stand; and all that is wrong with them.

A folder of selection trees may come from a stranger. This module stands between the bytes and everything else, in two
steps. ``parse`` reads XML into plain elements that know their file and line:

* Only ``InvalidSelectionError`` comes out, whatever goes in.
* A document type declaration is refused where it begins, so that there are no entities, no defaults for attributes and
  nothing external: neither a bomb nor a fetch can be written. The five entities of XML itself and characters by number
  work.
* The size is bounded before the parser sees anything (``MAX_BYTES``), depth, number of elements and length of an
  attribute while it reads; the first excess ends it. Work is linear, and memory is bounded by the file's own size.
* Text is UTF-8, with or without a byte order mark. What declares another encoding is refused, and told so.
* Elements are made without recursion; tags and names of attributes ignore case.

``shaped`` then goes over the elements once, reports whatever does not fit one table (``SHAPES``), and takes it out; so
everybody behind it can rely on the table. A ``Block`` may hold whatever a section may; what it is fit for shows where
it is spliced (see ``program``). Source texts show only the sections; the elements around them are those of the engine's
own files.

``Findings`` collects what is wrong, here and behind. Nothing stops at the first mistake; each is told once, however
many trees splice the block that it stands in. In the strict mode nearly everything is an error, since a file that means
something else than it says is worse than one that is refused; in the compatible one only that without which a tree
cannot be. Text from a file is shown shortened and escaped: a hostile file does not write to anybody's terminal.

The parser is expat, through the standard library: it is maintained, in C, on every Python, gives line numbers, and all
that is dangerous in it is behind handlers that we refuse in. Rejected: defusedxml, which puts the same refusals around
the same parser, but its trees have no line numbers; lxml, which has them, and brings a parser with network access and
more to switch off.

Source: CryEngine, selection trees: "The Behavior Selection Tree concept and anatomy", "Sharing Behavior Blocks".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Literal, NamedTuple, NoReturn
from xml.parsers import expat

from agentrt.errors import InvalidSelectionError, did_you_mean
from agentrt.folders import open_file

Mode = Literal["strict", "compatible"]
STRICT: Mode = "strict"
COMPATIBLE: Mode = "compatible"
MODES: tuple[Mode, ...] = (STRICT, COMPATIBLE)

MOST_TOLD = 100  # problems in one exception
MOST_KEPT = 1000  # problems that are collected at all
_SHOWN = 60  # characters of a name
_MOST_NEAR = 20  # problems for which near names are sought, and a few names each: comparing is slow
_NEAR_AMONG = 100


class SelectionProblem(NamedTuple):
    """One thing that is wrong."""

    file: str  # where, as the library names it
    line: int  # where in it, from 1; 0 for the file as a whole
    text: str  # what is wrong and what to write instead
    is_error: bool = True  # whether it keeps a tree from being; otherwise a warning

    @property
    def place(self) -> str:
        """File and line, as compilers write them."""
        return f"{self.file}:{self.line}" if self.line else self.file

    def __str__(self) -> str:
        return f"{self.place}: {'error' if self.is_error else 'warning'}: {self.text}"


def shown(text: str) -> str:
    """A name from a file for a sentence: quoted, escaped and not long."""
    return repr(text if len(text) <= _SHOWN else text[:_SHOWN] + "...")


class Findings:
    """Collects problems."""

    def __init__(self, mode: Mode) -> None:
        self.mode: Mode = mode
        self.omitted: int = 0  # how many problems were not kept, because there were too many
        self.errors: int = 0
        self._kept: dict[tuple[str, int, str], SelectionProblem] = {}  # by place and text

    def error(self, file: str, line: int, text: str) -> None:
        """Something without which a tree cannot be, in either mode."""
        self._add(SelectionProblem(file, line, text))

    def lenient(self, file: str, line: int, text: str) -> None:
        """An error in the strict mode, a warning in the compatible one."""
        self._add(SelectionProblem(file, line, text, self.mode == STRICT))

    def warning(self, file: str, line: int, text: str) -> None:
        """Something that works and is probably not meant."""
        self._add(SelectionProblem(file, line, text, is_error=False))

    def near(self, name: str, known: Iterable[str]) -> str:
        """The words that offer near names, as long as there are few problems."""
        return did_you_mean(name, islice(known, _NEAR_AMONG)) if len(self._kept) < _MOST_NEAR else ""

    def _add(self, problem: SelectionProblem) -> None:
        self.errors += problem.is_error
        key = problem[:3]
        if key in self._kept:
            return
        if len(self._kept) >= MOST_KEPT:
            self.omitted += 1
        else:
            self._kept[key] = problem

    def sorted(self) -> tuple[SelectionProblem, ...]:
        return tuple(sorted(self._kept.values(), key=lambda one: (one.file, one.line)))

    def raise_errors(self) -> None:
        """Raise the errors, if there are any, all in one."""
        errors = [one[:3] for one in self.sorted() if one.is_error]
        if errors:
            told = errors[:MOST_TOLD]
            raise InvalidSelectionError(told, omitted=len(errors) - len(told) + self.omitted)


MAX_BYTES = 1 << 20
MAX_DEPTH = 64
MAX_ELEMENTS = 20_000
MAX_ATTRIBUTES = 16
MAX_LENGTH = 4096  # of a tag, and of an attribute's name or value, in characters

_ENCODINGS = {"utf-8", "utf8", "us-ascii", "ascii"}


class Element:
    """One element of a document."""

    __slots__ = ("attributes", "children", "file", "line", "repeated", "tag", "text_line", "written")

    def __init__(self, written: str, attributes: dict[str, str], file: str, line: int) -> None:
        self.written: str = written  # the tag as it was written, for people
        self.tag: str = written.lower()
        self.attributes: dict[str, str] = {}  # by name in lower case
        self.repeated: str = ""  # an attribute that stands there twice, in different cases; empty if there is none
        for name, value in attributes.items():
            if name.lower() in self.attributes:
                self.repeated = name
            self.attributes.setdefault(name.lower(), value)
        self.file: str = file
        self.line: int = line  # where it begins, from 1
        self.children: list[Element] = []
        self.text_line: int = 0  # where the first text in it stands; 0 if there is none but white space

    @property
    def name(self) -> str:
        """Its attribute ``name``; empty if it has none."""
        return self.attributes.get("name", "")

    def __repr__(self) -> str:
        return f"<Element {self.written} {self.name!r} at {self.file}:{self.line}>"


def read_bytes(path: Path, file: str) -> bytes:
    """Read a file, which problems call by another name; one byte more than may be, at most."""
    try:
        if not path.is_file():
            _refuse(file, 0, "this is not a regular file. Name an XML file, or a folder of them.")
        with open_file(path) as stream:
            return stream.read(MAX_BYTES + 1)
    except OSError as error:
        _refuse(file, 0, f"it cannot be read: {error.strerror or error}.")


def parse(data: bytes, file: str) -> Element:
    """Parse the bytes of a document; ``InvalidSelectionError`` if it is not XML within the bounds."""
    _check_bytes(data, file)
    return _Parsing(file).root_of(data)


def _refuse(file: str, line: int, text: str) -> NoReturn:
    raise InvalidSelectionError([(file, line, text)])


def _check_bytes(data: bytes, file: str) -> None:
    if len(data) > MAX_BYTES:
        _refuse(file, 0, f"it is larger than {MAX_BYTES >> 20} MiB. Split it into several files of trees and blocks.")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in data[:4]:
        _refuse(file, 1, "it is written in UTF-16 or UTF-32, or is not text. Save it as UTF-8.")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        _refuse(file, line, f"it is not UTF-8: byte {error.start} cannot stand there. Save it as UTF-8.")


class _Parsing:
    """One use of the parser."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._open: list[Element] = []  # have begun and not ended, the outermost first
        self._root: Element | None = None
        self._elements = 0
        # The name of the encoding is ours: whatever the document declares, these bytes are read as what was checked.
        parser = self._parser = expat.ParserCreate("UTF-8")
        parser.XmlDeclHandler = self._declaration
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._doctype
        parser.ExternalEntityRefHandler = self._doctype
        parser.StartElementHandler = self._begin
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text

    def root_of(self, data: bytes) -> Element:
        try:
            self._parser.Parse(data, True)
        except expat.ExpatError as error:
            what = expat.ErrorString(error.code) or "unknown error"
            _refuse(self._file, error.lineno, f"it is not XML: {what}, in column {error.offset + 1}.")
        assert self._root is not None  # expat refuses a document without an element
        return self._root

    def _fail(self, text: str) -> NoReturn:
        _refuse(self._file, self._parser.CurrentLineNumber, text)

    def _declaration(self, _version: str, encoding: str | None, _standalone: int) -> None:
        if encoding is not None and encoding.lower() not in _ENCODINGS:
            self._fail(f"it declares the encoding {shown(encoding)}. Save it as UTF-8, and declare that or nothing.")

    def _doctype(self, *_declared: object) -> NoReturn:
        self._fail("it has a document type declaration, which may define entities. Remove the whole <!DOCTYPE ...>.")

    def _begin(self, tag: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        if self._elements > MAX_ELEMENTS:
            self._fail(f"it has more than {MAX_ELEMENTS} elements. Split it into several files.")
        if len(self._open) >= MAX_DEPTH:
            self._fail(f"its elements are nested deeper than {MAX_DEPTH} levels. Put the inner ones into blocks.")
        if len(attributes) > MAX_ATTRIBUTES:
            text = f"the element {shown(tag)} has {len(attributes)} attributes; no element takes so many."
            self._fail(f"{text} At most {MAX_ATTRIBUTES} are read.")
        if len(tag) > MAX_LENGTH or any(max(map(len, pair)) > MAX_LENGTH for pair in attributes.items()):
            text = f"a name or an attribute of {shown(tag)} is longer than {MAX_LENGTH} characters. Shorten"
            long = [shown(name) for name, value in attributes.items() if max(len(name), len(value)) > MAX_LENGTH]
            self._fail(f"{text} {f'the attribute {long[0]}' if long else 'the tag'}.")
        element = Element(tag, attributes, self._file, self._parser.CurrentLineNumber)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self._root = element
        self._open.append(element)

    def _end(self, _tag: str) -> None:
        self._open.pop()

    def _text(self, text: str) -> None:
        if self._open and not self._open[-1].text_line and not text.isspace():
            self._open[-1].text_line = self._parser.CurrentLineNumber


class Shape(NamedTuple):
    """What an element may have."""

    written: str  # its tag, as the documentation writes it
    required: tuple[str, ...] = ()  # attributes without which it has no meaning
    optional: tuple[str, ...] = ()
    children: tuple[str, ...] = ()  # tags, in lower case


NODES = ("priority", "leaf", "ref")  # what a tree is made of
ROOTS = ("selectiontrees", "selectiontree", "blocks")  # what a file may be

SHAPES: Mapping[str, Shape] = {
    "selectiontrees": Shape("SelectionTrees", children=("selectiontree",)),
    "selectiontree": Shape(
        "SelectionTree", ("name",), ("type",), ("variables", "signalvariables", "leaftranslations", "blocks", *NODES)
    ),
    "blocks": Shape("Blocks", children=("block",)),
    "block": Shape("Block", ("name",), (), ("variable", "signal", "map", *NODES)),
    "variables": Shape("Variables", children=("variable", "ref")),
    "signalvariables": Shape("SignalVariables", children=("signal", "ref")),
    "leaftranslations": Shape("LeafTranslations", children=("map", "ref")),
    "variable": Shape("Variable", ("name",), ("default",)),
    "signal": Shape("Signal", ("name", "variable", "value")),
    "map": Shape("Map", ("node", "target")),
    "priority": Shape("Priority", ("name",), ("condition",), NODES),
    "leaf": Shape("Leaf", ("name",), ("condition",)),
    "ref": Shape("Ref", ("name",)),
}


def shaped(root: Element, findings: Findings, stem: str) -> Element | None:
    """Check the shape of a file, and take out what does not fit; None if it cannot be used at all.

    The file's name without folder and suffix, ``stem``, is that of a tree that fills it and has none.
    """
    if root.tag not in ROOTS:
        known = [SHAPES[tag].written for tag in ROOTS]
        text = f"a file is one of {_listed(known)}, and this is {_tag(root)}.{did_you_mean(root.written, known)}"
        findings.error(root.file, root.line, text)
        return None
    if root.tag == "selectiontree" and not root.name:
        root.attributes["name"] = stem
    return root if _fits(root, findings) else None


def _fits(element: Element, findings: Findings) -> bool:
    """Check an element and all below it; the document's own bound on depth bounds the recursion."""
    shape = SHAPES[element.tag]
    _check_attributes(element, shape, findings)
    if element.text_line:
        text = f"text has no meaning here, inside {_tag(element)}. Remove it."
        findings.lenient(element.file, element.text_line, text)
    kept = []
    for child in element.children:
        if child.tag not in shape.children:
            findings.lenient(child.file, child.line, _misplaced(child, shape))
        elif _fits(child, findings):
            kept.append(child)
    element.children = kept
    missing = [name for name in shape.required if not element.attributes.get(name)]
    for name in missing:
        what = "an empty" if name in element.attributes else "no"
        findings.lenient(element.file, element.line, f"{_tag(element)} has {what} attribute '{name}'. Write it down.")
    return not missing


def _check_attributes(element: Element, shape: Shape, findings: Findings) -> None:
    known = (*shape.required, *shape.optional)
    for name in element.attributes:
        if name not in known:
            takes = f"It takes {_listed(known)}." if known else "It takes none."
            text = f"{_tag(element)} has no attribute {shown(name)}.{did_you_mean(name, known)} {takes}"
            findings.lenient(element.file, element.line, text)
    if element.repeated:
        text = f"{_tag(element)} has the attribute {shown(element.repeated)} twice: names ignore case."
        findings.lenient(element.file, element.line, f"{text} Keep one of them.")


def _misplaced(child: Element, shape: Shape) -> str:
    takes = [SHAPES[tag].written for tag in shape.children]
    may = f"It may hold {_listed(takes)}." if takes else "It holds nothing."
    if child.tag in SHAPES:
        return f"{_tag(child)} has no place in <{shape.written}>. {may}"
    known = [one.written for one in SHAPES.values()]
    return f"there is no element {_tag(child)}.{did_you_mean(child.written, known)} <{shape.written}>: {may}"


def _tag(element: Element) -> str:
    return f"<{shown(element.written)[1:-1]}>"


def _listed(words: Sequence[str]) -> str:
    return " or ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]
