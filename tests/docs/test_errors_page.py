"""docs/reference/errors has a page for each error, which tells all of it; the list of them is that of the classes."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest
from modules import load

from agentrt import errors
from agentrt.errors import ERRORS

LIST = Path(__file__).resolve().parents[2] / "docs" / "reference" / "errors.md"
PAGES = LIST.with_suffix("")

CLASSES = [
    value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, errors.AgentRTError)
]


def page(code):
    return (PAGES / f"{code}.md").read_text(encoding="utf-8")


def test_every_class_has_its_page():
    assert sorted(file.name for file in PAGES.iterdir()) == [f"{code}.md" for code in ERRORS]
    assert [page(code).partition("\n")[0] for code in ERRORS] == [
        f"# {code} {error.__name__}" for code, error in ERRORS.items()
    ]


def test_a_code_names_one_class():
    assert sorted(ERRORS.values(), key=lambda error: error.code) == sorted(CLASSES, key=lambda error: error.code)


def test_the_list_is_that_of_the_classes():
    text = LIST.read_text(encoding="utf-8")
    assert load("tools/error_table.py").updated(text) == text, "run: python tools/error_table.py"


@pytest.mark.parametrize("code", ERRORS)
def test_every_page_says_what_to_do(code):
    assert "\n\n**What to do:**" in page(code)


@pytest.mark.parametrize("code", [code for code in ERRORS if code != "ART900"])  # nothing known raises that one
def test_every_page_has_an_example_that_raises_it(code, record_docs):
    printed = "".join(block.code for block in record_docs.blocks_of(page(code)) if block.language == "text")
    branch = [one.code for one in CLASSES if issubclass(one, ERRORS[code])]
    names = [one.__name__ for one in CLASSES if issubclass(one, ERRORS[code])]
    # What prints the fields of an error and not its text names it in the code above.
    assert any(one in printed for one in branch) or any(name in page(code).partition("```python")[2] for name in names)


def attributes(cls):
    """What the construction of a class sets, and not that of its bases."""
    made = inspect.getsource(cls.__init__) if "__init__" in vars(cls) else ""
    found = re.findall(r"^        self\.(\w+)(?:: .+?)? = ", made, flags=re.MULTILINE)
    return [name for name in found if all(name not in attributes(base) for base in cls.__mro__[1:] if base in CLASSES)]


def test_every_attribute_is_named():
    for cls in CLASSES:
        assert [name for name in attributes(cls) if f"`{name}`" not in page(cls.code)] == [], cls.__name__
    assert sum(len(attributes(cls)) for cls in CLASSES) > len(CLASSES)
