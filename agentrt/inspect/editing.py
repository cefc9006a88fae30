"""Editing in the page: which files of a world may be edited, how they are checked as one types, and how they are saved.

Packs, documents of task groups and selection trees are data, so a page may change them: behind ``controls``, and if the
inspector was given the ``Reloader`` that takes up what is saved. A page is hostile until it is shown otherwise, so:

* **A client names no path.** It names an entry of a table, which holds what the world has loaded from files below the
  reloader's folder. What is not in there does not exist, whatever it is called.
* **Nothing leaves the folder.** A file is reached from there by descriptors, a folder after the other, and no link is
  followed on the way, also if one is put there meanwhile. Only regular files are read, and only so many bytes of them.
* **Nothing is lost.** What is saved names the version that was opened; if there is another one on the disk by now, that
  is told, and nothing is written. (Who writes between that look and the renaming, a few microseconds, loses: there is
  no lock that all editors keep to.) A file is written beside the old one and then takes its place, with its
  permissions: there is never half a file. What does not let itself be written is left alone.
* **Nothing broken is saved.** The loaders and checks of the world itself say what is wrong, with the text in the place
  of the file. What they cannot know without the running agents, the reload finds, and then the world stays as it was.
* A file stays what it is for people and for version control: what is saved is the text that was opened, with the
  changes. Line ends and a byte order mark, which a page cannot see, are put back.

A request (``POST /api/edit``) is one JSON object, and so is what comes of it:

* ``{"do": "open", "file": …}``: a ``document`` with its ``text``, its ``version``, what is wrong with it (``problems``:
  ``file``, which is empty for this one, ``line``, ``pointer``, ``text``, ``is_error``), why it may not be saved
  (``why_not``), the ``schema`` or the ``shapes`` that it follows, and ``names`` that may stand in it, by kind;
* ``{"do": "check", "file": …, "text": …}``: ``checked``, with ``problems`` and whether it is ``ok``;
* ``{"do": "save", "file": …, "text": …, "version": …}``: ``saved``, with its new ``version`` and how many lines were
  ``removed`` and ``added``;
* or a ``refusal`` with a ``code`` and a ``message``: ``changed`` has the ``text`` and the ``version`` that are on the
  disk, ``mistakes`` the ``problems``.

Over the socket come ``files`` (rows of file, kind, and what it holds) and ``places`` (of one agent: rows of kind, name,
file, line, link), to who watches ``editing``; and in each ``state`` which edits are ``waiting`` for a tick.

The table is made on the runtime's thread, in ``look``, when somebody has the page open; a request is answered on any
thread, from that table, and one at a time. So neither a large folder nor a slow disk takes a tick any time.

Where Python things are written (goals, trees, actions) is told as a file below the folder and a line, never as a path
of this machine, and as a link to an editor only if the author has named one.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import quote

from agentrt.behavior.memory import Memory
from agentrt.errors import ENDS_PROGRAM, InspectorError
from agentrt.folders import HeldFile, OnDisk, is_below
from agentrt.goals.selector import GoalSelector
from agentrt.inspect.sessions import Message, Session
from agentrt.packs.alias import KINDS, kind_of
from agentrt.packs.closure import check_document, problems_of
from agentrt.packs.registry import Registry
from agentrt.packs.schema import schema
from agentrt.packs.task_groups import looks_like
from agentrt.selection.library import SelectionLibrary
from agentrt.selection.state import SelectionState
from agentrt.selection.xml import SHAPES
from agentrt.words import words_of

if TYPE_CHECKING:
    from agentrt.agent.agent import Agent
    from agentrt.reload import Reloader

MOST_BYTES: Final = 256 * 1024  # of a file that is edited
MOST_ASKED: Final = 2 * 1024 * 1024  # bytes of a request: JSON may need six for a character
_MOST_FILES = 500
_MOST_NAMES = 2000
_MOST_PROBLEMS = 100
_MOST_PLACES = 300
_LOOK_SECONDS = 1.0

READ_ONLY: Final = "this inspector only shows: it was made without controls"
NO_RELOADER: Final = (
    "nothing takes up what is saved: edit a project's world (agentrt dev --controls), or give the inspector its "
    "reloader: Inspector(runtime, controls=True, editing=Reloader(runtime, folder))"
)

# The kinds of addresses that run something in a page, or show one, and open no editor.
_NO_EDITORS = frozenset(("javascript", "data", "vbscript", "blob", "about", "file", "view-source"))
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.ASCII)


def checked_editor(template: str) -> str:
    """A template of links to an editor, as it was given; ``InspectorError`` if it is none."""
    found = _SCHEME.match(template)
    if template and (found is None or found[1] in _NO_EDITORS or not ("{path}" in template or "{file}" in template)):
        raise InspectorError(
            f"its editor is {template[:80]!r}",
            "Write the address that opens one, with {path} or {file} and {line}: 'vscode://file/{path}:{line}'.",
        )
    return template


class Answer(NamedTuple):
    """What comes of a request."""

    status: int  # of HTTP
    message: Message


class _Refusal(Exception):
    """Nothing comes of a request; turned into an ``Answer``."""

    def __init__(self, status: int, code: str, words: str, **more: object) -> None:
        super().__init__(words)
        self.answer = Answer(status, {"is": "refusal", "code": code, "message": words, **more})


# --- files ------------------------------------------------------------------------------------------------------------


_BOM: Final = b"\xef\xbb\xbf"
_LINE_END: Final = re.compile(r"\r\n|\r|\n")


def shown_text(data: bytes) -> str:
    """What a page shows of a file: without a byte order mark, and with one kind of line ends."""
    return _LINE_END.sub("\n", data.removeprefix(_BOM).decode("utf-8"))


def written_text(text: str, before: bytes) -> bytes:
    """What is written of a text that was shown: as far as lines are the same, with the line ends that they had.

    Lines that are new end as most of the old ones do.
    """
    mark = _BOM if before.startswith(_BOM) else b""
    old = before.removeprefix(_BOM).decode("utf-8")
    ends = _LINE_END.findall(old)
    if "\r" not in old:
        return mark + text.encode()
    ours, theirs = _LINE_END.split(old), text.split("\n")
    first = 0
    while first < min(len(ours), len(theirs)) and ours[first] == theirs[first]:
        first += 1
    last = 0
    while last < min(len(ours), len(theirs)) - first and ours[-1 - last] == theirs[-1 - last]:
        last += 1
    usual = Counter(ends).most_common(1)[0][0]
    # ``ends`` has one less than there are lines; the same is true of those that are made.
    made = len(theirs) - 1
    kept_first, kept_last = min(first, made, len(ends)), min(last, made, len(ends))
    kept_last = min(kept_last, made - kept_first)
    chosen = [*ends[:kept_first], *[usual] * (made - kept_first - kept_last), *ends[len(ends) - kept_last :]]
    return mark + "".join(map("".join, zip(theirs, [*chosen, ""], strict=True))).encode()


def _changed_lines(before: str, after: str) -> tuple[int, int]:
    """How many lines went and how many came; one that only moved is neither, unless nothing else was done."""
    ours, theirs = Counter(before.split("\n")), Counter(after.split("\n"))
    moved = int(ours == theirs and before != after)
    return (ours - theirs).total() + moved, (theirs - ours).total() + moved


# --- documents --------------------------------------------------------------------------------------------------------


class _Edited(NamedTuple):
    """A file that may be edited."""

    file: str  # from the folder on
    kind: str  # pack, task_groups or selection
    holds: tuple[str, ...]  # aliases, or names of trees
    registries: tuple[Registry, ...] = ()  # who reads it; copies, so that any thread may look into them
    library: SelectionLibrary | None = None  # likewise; what is asked of it changes nothing
    called: str = ""  # what that library calls it
    behaviors: tuple[str, ...] = ()  # what its leaves may select

    def names(self) -> dict[str, list[str]]:
        """What may be written there, by kind."""
        if self.library is not None:
            return {"behaviors": list(self.behaviors[:_MOST_NAMES])}
        known = dict.fromkeys(alias for one in self.registries for alias in one.aliases())
        found: dict[str, list[str]] = {kind: [] for kind in KINDS}
        for alias in list(known)[:_MOST_NAMES]:
            found.setdefault(kind_of(alias), []).append(alias)
        return found


class Workbench:
    """What clients may edit of one world.

    Args:
        reloader: takes up what is saved; its folder is that of the world.
        controls: whether anything may be edited.
        editor: how a link to an editor is made, with ``{path}`` or ``{file}`` and ``{line}``; empty for none.
    """

    def __init__(self, reloader: Reloader | None, *, controls: bool, editor: str = "") -> None:
        self._reloader = reloader
        self._editor = checked_editor(editor)
        self.refusal: str = READ_ONLY if not controls else NO_RELOADER if reloader is None else ""  # why nothing may be
        self._table: Mapping[str, _Edited] = {}  # replaced as a whole; what any thread reads
        self._outside = 0  # files that were loaded from elsewhere
        self._looked = -_LOOK_SECONDS
        self._one_at_a_time = threading.Lock()

    # --- on the runtime's thread --------------------------------------------------------------------------------------

    def waiting(self) -> list[str]:
        """Files that were edited and wait for a tick."""
        return [] if self._reloader is None else list(self._reloader.waiting[:_MOST_FILES])

    def messages(self, session: Session, agent: Agent | None, now: float) -> Iterator[Message]:
        """What a client is told who has the page of edits open."""
        if self.refusal or self._reloader is None:
            return
        if now - self._looked >= _LOOK_SECONDS:
            self._looked = now
            self._look(self._reloader)
        rows = [[one.file, one.kind, list(one.holds)] for one in self._table.values()]
        told: Message = {"is": "files", "rows": rows, "outside": self._outside}
        if session.is_news("files", told):
            yield told
        if agent is not None and session.at_most_every(_LOOK_SECONDS, "places", now):
            places: Message = {"is": "places", "agent": agent.name, **self._places(agent, self._reloader)}
            if session.is_news("places", places):
                yield places

    def _look(self, reloader: Reloader) -> None:
        """See which files the world has loaded."""
        found: dict[str, _Edited] = {}
        outside = 0
        copies = [one.reading() for one in reloader.registries]
        for one in copies:
            for path, aliases in one.documents().items():
                if not path.endswith(".json"):
                    continue
                file = self._file(path)
                outside += not file
                before = found.get(file) or _Edited(file, "", ())
                holds = tuple(dict.fromkeys((*before.holds, *aliases)))
                is_groups = all(kind_of(alias) == "task_groups" for alias in holds)
                kind = "task_groups" if is_groups else "pack"
                found[file] = _Edited(file, kind, holds, (*before.registries, one))
        for agent in reloader.runtime.agents:
            for path in agent.pack_files():
                file = self._file(path)
                if file not in found and path.endswith(".json"):
                    found[file] = _Edited(file, "pack", (), tuple(copies[:1]) or (Registry(),))
        for library, states in reloader.libraries.items():
            behaviors = tuple(dict.fromkeys(name for state in states for name in state.behaviors))
            trees: dict[str, list[str]] = {}
            for tree in library:
                trees.setdefault(tree.file, []).append(tree.name)
            for name, where in library.files.items():
                path = os.path.realpath(where)
                file = self._file(path)
                outside += not file
                found[file] = _Edited(file, "selection", tuple(trees.get(name, ())), (), library, name, behaviors)
        found.pop("", None)
        self._outside = outside
        self._table = {file: found[file] for file in sorted(found)[:_MOST_FILES]}

    def _file(self, path: str) -> str:
        """A real path from the folder on; empty if it is not below it, or passed over there."""
        assert self._reloader is not None
        folder = self._reloader.folder
        return Path(path).relative_to(folder).as_posix() if is_below(folder, Path(path)) else ""

    def _places(self, agent: Agent, reloader: Reloader) -> Message:
        """Where what drives an agent is written in Python."""
        try:
            found: dict[tuple[str, str, int], tuple[str, str]] = {}
            for kind, name, thing in _things(agent):
                place = reloader.place_of(thing)
                if place is not None and len(found) < _MOST_PLACES:
                    found.setdefault((name, *place), (kind, name))
            rows = [[kind, name, file, line, self._href(file, line)] for (_, file, line), (kind, name) in found.items()]
        except ENDS_PROGRAM:
            raise
        except BaseException as error:  # a class of an author's need not be sane
            return {"rows": [], "error": f"it could not be shown: {words_of(error)}"}
        return {"rows": rows, "error": ""}

    def _href(self, file: str, line: int) -> str:
        if not self._editor or self._reloader is None:
            return ""
        path = quote((self._reloader.folder / file).as_posix(), safe="/:")
        made = self._editor.replace("/{path}", f"/{path.removeprefix('/')}").replace("{path}", path)
        return made.replace("{file}", quote(file)).replace("{line}", str(line)).replace("{column}", "1")

    # --- on any thread ------------------------------------------------------------------------------------------------

    def answer(self, body: bytes) -> Answer:
        """Do what a client asks for: open a file, check a text, or save it."""
        try:
            if self.refusal or self._reloader is None:
                raise _Refusal(403, "read_only", self.refusal)
            asked = _read(body)
            edited = self._table.get(asked["file"])
            if edited is None:
                raise _Refusal(404, "unknown_file", "the world has loaded no such file from its folder")
            with self._one_at_a_time:
                return Answer(200, self._do(asked, edited, self._reloader))
        except _Refusal as refusal:
            return refusal.answer

    def _do(self, asked: Mapping[str, str], edited: _Edited, reloader: Reloader) -> Message:
        do, text = asked["do"], asked["text"]
        if do == "check":
            problems = self._problems(edited, _encoded(text))
            return {"is": "checked", "file": edited.file, "problems": problems, "ok": _is_fine(problems)}
        try:
            with HeldFile(reloader.folder, edited.file) as place:
                on_disk = _now(place)
                if do == "open":
                    return self._opened(edited, on_disk)
                return self._saved(edited, place, on_disk, text, asked["version"], reloader)
        except OSError as error:
            reason = error.strerror or str(error)
            raise _Refusal(409, "no_file", f"{edited.file} cannot be reached: {reason}") from None

    def _opened(self, edited: _Edited, on_disk: OnDisk) -> Message:
        text = shown_text(on_disk.data)
        problems = self._problems(edited, on_disk.data)
        more: Message = {"shapes": _shapes()}
        if edited.library is None:
            more = {"schema": schema("task_groups" if _is_of_groups(edited, on_disk.data) else "ai_pack")}
        return {
            "is": "document",
            "file": edited.file,
            "kind": edited.kind,
            "text": text,
            "version": on_disk.version,
            "why_not": _why_not(on_disk),
            "problems": problems,
            "ok": _is_fine(problems),
            "names": edited.names(),
            "href": self._href(edited.file, 1),
            **more,
        }

    def _saved(
        self, edited: _Edited, place: HeldFile, on_disk: OnDisk, text: str, version: str, reloader: Reloader
    ) -> Message:
        def changed(now: OnDisk) -> _Refusal:
            words = f"{edited.file} was changed on the disk since it was opened; nothing was written"
            return _Refusal(409, "changed", words, version=now.version, text=shown_text(now.data))

        if on_disk.version != version:
            raise changed(on_disk)
        if why_not := _why_not(on_disk):
            raise _Refusal(409, "no_file", why_not)
        _encoded(text)
        data = written_text(text, on_disk.data)
        if len(data) > MOST_BYTES:
            raise _Refusal(413, "too_large", _too_large(edited.file))
        problems = self._problems(edited, data)
        if not _is_fine(problems):
            words = "it has mistakes, and nothing was written"
            raise _Refusal(422, "mistakes", words, problems=problems)
        if data != on_disk.data:
            if not place.replace(data, on_disk, secrets.token_hex(6)):
                raise changed(_now(place))
            reloader.reload([reloader.folder / edited.file])
        removed, added = _changed_lines(shown_text(on_disk.data), text)
        return {
            "is": "saved",
            "file": edited.file,
            "version": OnDisk(data, on_disk.mode).version,
            "problems": problems,
            "removed": removed,
            "added": added,
        }

    def _problems(self, edited: _Edited, data: bytes) -> list[Message]:
        """What the loaders of the world say of a text in the place of a file: first what is wrong in that file."""
        assert self._reloader is not None
        with self._reloader.inside.reading():
            found = list(self._problems_of(edited, data, self._reloader))
        unique = list({json.dumps(one): one for one in found}.values())
        return sorted(unique, key=lambda one: (one["file"] != "", not one["is_error"], one["line"]))[:_MOST_PROBLEMS]

    def _problems_of(self, edited: _Edited, data: bytes, reloader: Reloader) -> Iterator[Message]:
        if edited.library is not None:
            for one in edited.library.check(edited.called, data):
                where = "" if one.file == edited.called else self._shown(one.file)
                yield _problem(where, one.line, "", one.text, is_error=one.is_error)
        folder = f"{reloader.folder}{os.sep}"
        for registry in edited.registries:
            path = str(reloader.folder / edited.file)
            for fault in check_document(data, edited.file, path, registry).faults:
                for told in problems_of(fault):
                    file = told["file"]
                    if Path(file).is_absolute():
                        file = reloader.inside.name_of(file) or file
                    where = "" if file in ("", edited.file) else self._shown(file)
                    words, pointer = str(told["text"]).replace(folder, ""), told["pointer"]
                    if where and file not in self._table:  # whatever may lie there by now, no page has its words
                        words, pointer = "something is wrong in there: look at that file in an editor", ""
                    yield _problem(where, told["line"], pointer, words, is_error=True)

    def _shown(self, file: str) -> str:
        """Another file, as a page may know it: from the folder on, or by its name alone."""
        return (self._file(os.path.realpath(file)) if Path(file).is_absolute() else file) or PurePosixPath(file).name


def _problem(file: str, line: int, pointer: str, text: str, *, is_error: bool) -> Message:
    return {"file": file, "line": line, "pointer": pointer, "text": text[:_LONGEST_PROBLEM], "is_error": is_error}


_LONGEST_PROBLEM = 2000  # characters
_LONGEST_NAME = 1000  # of a file


def _is_fine(problems: list[Message]) -> bool:
    return not any(one["is_error"] for one in problems)


def _too_large(file: str) -> str:
    return f"{file} is larger than {MOST_BYTES >> 10} KiB: edit it in an editor"


def _now(place: HeldFile) -> OnDisk:
    on_disk = place.read(MOST_BYTES)
    if len(on_disk.data) > MOST_BYTES:
        raise _Refusal(413, "too_large", _too_large("the file"))
    try:
        on_disk.data.decode("utf-8")
    except UnicodeDecodeError:
        raise _Refusal(409, "no_text", "it is not UTF-8: save it as that in an editor") from None
    return on_disk


def _why_not(on_disk: OnDisk) -> str:
    """Why a file may be looked at and not saved; empty if it may."""
    return "" if on_disk.mode.st_mode & 0o222 else "it is read-only: nobody may write it"


def _encoded(text: str) -> bytes:
    try:
        data = text.encode()
    except UnicodeEncodeError:
        raise _Refusal(400, "bad_message", "the text has halves of characters in it") from None
    if len(data) > MOST_BYTES:
        raise _Refusal(413, "too_large", _too_large("the text"))
    return data


def _is_of_groups(edited: _Edited, data: bytes) -> bool:
    if edited.kind == "task_groups":
        return True
    try:
        return looks_like(json.loads(data))
    except (ValueError, RecursionError):
        return False


def _shapes() -> Message:
    return {
        tag: {"tag": one.written, "required": one.required, "optional": one.optional, "children": one.children}
        for tag, one in SHAPES.items()
    }


def _read(body: bytes) -> Mapping[str, str]:
    """What a client asks for; of whatever it sent."""
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        raise _Refusal(400, "bad_message", "the request is no JSON") from None
    if type(asked) is not dict or asked.get("do") not in ("open", "check", "save"):
        raise _Refusal(400, "bad_message", "'do' has to be one of open, check, save")
    fields = {name: asked.get(name, "") for name in ("do", "file", "text", "version")}
    if not all(type(one) is str for one in fields.values()) or len(fields["file"]) > _LONGEST_NAME:
        raise _Refusal(400, "bad_message", "'file', 'text' and 'version' have to be texts")
    return fields


def _things(agent: Agent) -> Iterator[tuple[str, str, object]]:
    """What drives an agent: what each is, its name, and the thing that is written somewhere."""
    for driver in agent.drivers.all:
        if isinstance(driver, GoalSelector):
            for wrapped in driver.available_goals:
                yield "goal", str(wrapped.goal.name), type(wrapped.goal)
        elif isinstance(driver, Memory):
            yield "behavior tree", driver.tree.name, driver.tree
            for node in driver.tree.nodes:
                if node.behavior is not None:
                    yield "behavior", type(node.behavior).__name__, type(node.behavior)
        elif isinstance(driver, SelectionState):
            for name, source in driver.behaviors.items():
                cls = source if isinstance(source, type) else type(source)
                yield "leaf behavior", str(name), cls
    for group in agent.task_groups:
        yield "task group", group.action.__name__, group.action
    for action in agent.actions:
        yield "action", action.__name__, action
