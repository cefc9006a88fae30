"""Schemas for an editor: packs that say which schema they follow, so that what is written is checked while it is typed.

``write_schemas`` does three things in a project, and all of them may be done again without any harm:

* The JSON Schemas of packs and of task groups are written into the folder ``.agentrt`` of the project.
* Each pack gets a first line ``"$schema"`` with the way there, unless it has one. Nothing else of the file is changed:
  it is not read and written again as JSON, but a line is put in.
* ``.vscode/settings.json`` says the same for all files of the folders in which packs lie: it holds for new ones, too.
  Settings that are there already are kept; those that are no plain JSON (editors allow comments there) are left alone.

What is a pack is judged by its keys and not by whether it is right: those that are wrong need a schema the most.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from agentrt.errors import DataFault
from agentrt.packs.document import read
from agentrt.packs.schema import KINDS_OF_DOCUMENTS, schema, schema_text
from agentrt.packs.task_groups import looks_like

_FOLDER: Final = ".agentrt"
_SETTINGS: Final = Path(".vscode") / "settings.json"
_KEY: Final = "$schema"
_LINE: Final = re.compile(r"\s*\n[ \t]*")  # what stands before the first key of a document that has lines


@dataclass(slots=True)
class Written:
    """What became of it."""

    changed: list[Path] = field(default_factory=list)  # files that were made or changed
    passed: list[tuple[Path, str]] = field(default_factory=list)  # files that were left alone, and why


def write_schemas(root: Path, files: Iterable[Path]) -> Written:
    """Have the packs among some files say which schema they follow.

    Args:
        root: the folder of the project.
        files: which; what is no pack is passed over.

    Raises:
        OSError: something cannot be written.
    """
    written = Written()
    found: dict[str, list[Path]] = {kind: [] for kind in KINDS_OF_DOCUMENTS}
    for file in files:
        try:
            kind = _kind_of(read(file).value)
        except DataFault as error:
            written.passed.append((file, error.text))
            continue
        if not kind:
            written.passed.append((file, f"{file}: it is no pack, nor a document of task groups."))
            continue
        found[kind].append(file)
    for kind in filter(found.get, found):
        _write(root / _FOLDER / f"{kind}.schema.json", schema_text(kind), written)
    for kind, packs in found.items():
        for file in packs:
            _write(file, _with_schema(file, _way(file, root, kind)), written)
    _write_settings(root / _SETTINGS, _settings_of(root, found), written)
    return written


def _kind_of(value: object) -> str:
    """What a document means to be; an empty string for neither."""
    if looks_like(value):
        return "task_groups"
    if not isinstance(value, dict):
        return ""
    known = schema("ai_pack")["$defs"]["pack"]["properties"].keys() - {"type", _KEY}
    return "ai_pack" if value.get("type") == "ai_pack" or known & value.keys() else ""


def _way(file: Path, root: Path, kind: str) -> str:
    """How a document names its schema: the way there from its own folder."""
    target = (root / _FOLDER / f"{kind}.schema.json").absolute()
    try:
        return Path(os.path.relpath(target, file.absolute().parent)).as_posix()
    except ValueError:  # on another drive of Windows there is none
        return target.as_uri()


def _with_schema(file: Path, way: str) -> str:
    """The text of a document with the line, set in the way of its other lines."""
    text = _text_of(file)
    value: dict[str, Any] = json.loads(text)
    if _KEY in value:
        return text
    begin = text.index("{") + 1
    line = _LINE.match(text, begin)
    entry = f"{line[0] if line else ''}{json.dumps(_KEY)}: {json.dumps(way)}{',' if value else ''}"
    gap = " " if value and not text[begin].isspace() else ""
    return text[:begin] + entry + gap + text[begin:]


def _text_of(file: Path) -> str:
    with file.open(encoding="utf-8", newline="") as stream:  # its line ends stay as they are
        return stream.read()


def _write(file: Path, text: str, written: Written) -> None:
    """Write a file if that changes anything."""
    if file.is_file() and _text_of(file) == text:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="")
    written.changed.append(file)


def _settings_of(root: Path, found: dict[str, list[Path]]) -> list[dict[str, Any]]:
    """Which files follow which schema: all that lie where packs lie, and the documents of task groups by name."""
    inside = {
        kind: [file.absolute().relative_to(root.absolute()) for file in files if _is_below(file, root)]
        for kind, files in found.items()
    }
    groups = [f"/{file.as_posix()}" for file in inside["task_groups"]]
    folders = dict.fromkeys(file.parent for file in inside["ai_pack"])
    packs = [f"/{(folder / '*.json').as_posix()}" for folder in folders]
    matches = {"ai_pack": [*packs, *(f"!{group}" for group in groups)] if packs else [], "task_groups": groups}
    return [{"fileMatch": files, "url": f"./{_FOLDER}/{kind}.schema.json"} for kind, files in matches.items() if files]


def _is_below(file: Path, root: Path) -> bool:
    return file.absolute().is_relative_to(root.absolute())


def _settings_in(file: Path) -> dict[str, Any] | None:
    """The settings that are there; None for what is no plain JSON."""
    if not file.is_file():
        return {}
    try:
        settings: object = json.loads(_text_of(file))
    except ValueError:
        return None
    return settings if isinstance(settings, dict) else None


def _write_settings(file: Path, ours: list[dict[str, Any]], written: Written) -> None:
    if not ours:
        return
    settings = _settings_in(file)
    known = None if settings is None else settings.get("json.schemas", [])
    if settings is None or not isinstance(known, list):
        told = f'{file}: it is no plain JSON. Put in yourself: "json.schemas": {json.dumps(ours)}'
        written.passed.append((file, told))
        return
    urls = [one["url"] for one in ours]
    wanted = [*(one for one in known if not (isinstance(one, dict) and one.get("url") in urls)), *ours]
    if known != wanted:
        settings["json.schemas"] = wanted
        _write(file, json.dumps(settings, indent=2) + "\n", written)
