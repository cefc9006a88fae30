"""Aliases: the names by which packs refer to things.

An alias is words joined by colons: the mod, the kind, then the name, which may have colons of its own
(``agentrt:actions:wander``, ``stonehearth_ace:actions:combat:hunt_animal``). It is looked up in a registry and nowhere
else: it never becomes an import path or a file name, so that a pack cannot reach code which nobody registered.

The one table here, ``KIND_OF_KEY``, ties the keys of a pack to the kinds of alias that stand under them. Its order is
the order in which everything in this package is listed. The patterns in ``pack.schema.json`` say the same as
``ALIAS``; a test keeps the two in step.

A registered alias always has one of the six kinds. An alias in a foreign pack may have another second word, or only
two words: it is well formed, and simply unknown here.
"""

from __future__ import annotations

import re

from agentrt.words import printable

KIND_OF_KEY = {
    "actions": "actions",
    "observers": "observers",
    "components": "components",
    "task_groups": "task_groups",
    "strategies": "strategies",
    "ai_packs": "ai_pack",
}
KEYS = tuple(KIND_OF_KEY)
KINDS = tuple(KIND_OF_KEY.values())

LONGEST_ALIAS = 200
ALIAS = re.compile(r"[A-Za-z0-9_.-]+(?::[A-Za-z0-9_.-]+)+")

LONGEST_SHOWN = 80


def is_alias(text: str) -> bool:
    """Whether a text is a well-formed alias: at least two words, joined by colons."""
    return len(text) <= LONGEST_ALIAS and ALIAS.fullmatch(text) is not None


def kind_of(alias: str) -> str:
    """The kind that an alias names, one of ``KINDS``; empty if its second word is none of them."""
    words = alias.split(":", 2)
    return words[1] if len(words) == 3 and words[1] in KINDS else ""


def pointer_to(path: tuple[str | int, ...]) -> str:
    """A path into a document as a JSON pointer (RFC 6901) that is safe to print: escaped, long keys cut."""
    parts = (str(part) if isinstance(part, int) else _printable(part) for part in path)
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)


def shown(value: object) -> str:
    """A value of a document as it can stand in an error: quoted, printable, cut when long."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return f"'{_printable(value)}'"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"the number {str(value)[:40]}"


def _printable(text: str) -> str:
    if len(text) > LONGEST_SHOWN:
        text = text[:LONGEST_SHOWN] + "..."
    return printable(text)
