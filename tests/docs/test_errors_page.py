"""docs/reference/errors.md has a section for every error class, under its code, and for nothing else."""

from __future__ import annotations

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
    assert sorted(cls.__name__ for cls in CLASSES) == sorted(set(errors.__all__) - {"ENDS_PROGRAM", "did_you_mean"})


def test_every_section_says_what_to_do():
    branches = {"AuthorError", "DataFault", "RunFault"}
    assert [
        name
        for (_, name), body in sections().items()
        if "**What to do:**" not in " ".join(body.split()) and name not in branches
    ] == []


def test_the_attributes_that_are_named_exist():
    """Those of a class are described in its docstring; the page names them all."""
    for cls in CLASSES:
        described = re.findall(r"^        (\w+): ", (cls.__doc__ or "").partition("Attributes:")[2], flags=re.MULTILINE)
        body = PAGE.read_text(encoding="utf-8") if cls.__subclasses__() else sections()[cls.code, cls.__name__]
        assert [name for name in described if f"`{name}`" not in body] == [], cls.__name__
