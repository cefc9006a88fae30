"""XML that nobody vouches for, read into plain elements that know their file and line.

A folder of selection trees may come from a stranger. This module stands between the bytes and everything else:

* Only ``InvalidSelectionError`` comes out, whatever goes in.
* A document type declaration is refused where it begins, so that there are no entities, no defaults for attributes and
  nothing external: neither a bomb nor a fetch can be written. The five entities of XML itself and characters by number
  work.
* The size is bounded before the parser sees anything (``MAX_BYTES``), depth, number of elements and length of an
  attribute while it reads; the first excess ends it. Work is linear, and memory is bounded by the file's own size.
* Text is UTF-8, with or without a byte order mark. What declares another encoding is refused, and told so.
* Elements are made without recursion; tags and names of attributes ignore case.

The parser is expat, through the standard library: it is maintained, in C, on every Python, gives line numbers, and all
that is dangerous in it is behind handlers that we refuse in. defusedxml puts the same refusals around the same parser,
but its trees have no line numbers; lxml has them, and brings a parser with network access and more to switch off.

Source: seed 004, "The Behavior Selection Tree concept and anatomy"; design section 10.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NoReturn
from xml.parsers import expat

from agentrt.errors import InvalidSelectionError
from agentrt.selection.findings import shown

__all__ = ["MAX_BYTES", "MAX_DEPTH", "Element", "parse", "read_bytes"]

MAX_BYTES = 1 << 20
MAX_DEPTH = 64
MAX_ELEMENTS = 20_000
MAX_ATTRIBUTES = 16
MAX_LENGTH = 4096  # of a tag, and of an attribute's name or value, in characters

_ENCODINGS = {"utf-8", "utf8", "us-ascii", "ascii"}


class Element:
    """One element of a document.

    Attributes:
        tag: in lower case.
        written: the tag as it was written, for people.
        attributes: name in lower case -> value.
        line: where it begins, from 1.
        file: in which file.
        children: the elements in it.
        text_line: where the first text in it stands; 0 if there is none but white space.
        repeated: an attribute that stands there twice, in different cases; empty if there is none.
    """

    __slots__ = ("attributes", "children", "file", "line", "repeated", "tag", "text_line", "written")

    def __init__(self, written: str, attributes: dict[str, str], file: str, line: int) -> None:
        self.written: str = written
        self.tag: str = written.lower()
        self.attributes: dict[str, str] = {}
        self.repeated: str = ""
        for name, value in attributes.items():
            lower = name.lower()
            if lower in self.attributes:
                self.repeated = name
            else:
                self.attributes[lower] = value
        self.file: str = file
        self.line: int = line
        self.children: list[Element] = []
        self.text_line: int = 0

    @property
    def name(self) -> str:
        """Its attribute ``name``; empty if it has none."""
        return self.attributes.get("name", "")

    def __repr__(self) -> str:
        return f"<Element {self.written} {self.name!r} at {self.file}:{self.line}>"


def read_bytes(path: Path, file: str) -> bytes:
    """Read a file.

    Args:
        path: the file.
        file: what problems call it.

    Returns:
        Its bytes; one more than may be, at most.

    Raises:
        InvalidSelectionError: it cannot be read.
    """
    try:
        if not path.is_file():
            _refuse(file, 0, "this is not a regular file. Name an XML file, or a folder of them.")
        with path.open("rb") as stream:
            return stream.read(MAX_BYTES + 1)
    except OSError as error:
        _refuse(file, 0, f"it cannot be read: {error.strerror or error}.")


def parse(data: bytes, file: str) -> Element:
    """Parse the bytes of a document.

    Args:
        data: XML in UTF-8.
        file: what problems call the place it came from.

    Returns:
        The outermost element.

    Raises:
        InvalidSelectionError: it is not XML within the bounds.
    """
    _check_bytes(data, file)
    return _Reader(file).read(data)


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


class _Reader:
    """One use of the parser. ``_open`` are the elements that have begun and not ended, the outermost first."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._open: list[Element] = []
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

    def read(self, data: bytes) -> Element:
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

    def _doctype(self, *_declared: Any) -> NoReturn:
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
