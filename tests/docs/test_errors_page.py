"""docs/reference/errors.md has a section for every error class, under its code, and for nothing else."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from agentrt import errors

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "errors.md"

CLASSES = [
    value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, errors.AgentRTError)
]


def sections():
    """Code and class of each section, and its text."""
    text = PAGE.read_text(encoding="utf-8")
    parts = re.split(r"^### (ART\d{3}) (\w+)$", text, flags=re.MULTILINE)[1:]
    return {(code, name): body for code, name, body in zip(parts[::3], parts[1::3], parts[2::3], strict=True)}


def test_every_class_has_its_section_in_the_order_of_the_codes():
    expected = sorted((cls.code, cls.__name__) for cls in CLASSES if cls is not errors.AgentRTError)
    assert list(sections()) == expected


def test_a_code_names_one_class():
    codes = [cls.code for cls in CLASSES]
    assert sorted(set(codes)) == sorted(codes)


def test_every_section_says_what_to_do():
    branches = {"AuthorError", "DataFault", "RunFault"}
    assert [
        name
        for (_, name), body in sections().items()
        if "**What to do:**" not in " ".join(body.split()) and name not in branches
    ] == []


def attributes(cls):
    """What the construction of a class sets, and not that of its bases."""
    made = inspect.getsource(cls.__init__) if "__init__" in vars(cls) else ""
    found = re.findall(r"^        self\.(\w+)(?:: .+?)? = ", made, flags=re.MULTILINE)
    return [name for name in found if all(name not in attributes(base) for base in cls.__mro__[1:] if base in CLASSES)]


def test_every_attribute_is_named():
    for cls in CLASSES:
        body = PAGE.read_text(encoding="utf-8") if cls.__subclasses__() else sections()[cls.code, cls.__name__]
        assert [name for name in attributes(cls) if f"`{name}`" not in body] == [], cls.__name__
    assert sum(len(attributes(cls)) for cls in CLASSES) > len(CLASSES)
