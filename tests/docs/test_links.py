"""Links lead somewhere: to a file that is there, and to a heading that it has. And each page has its place.

A page of docs/ stands in the group of what its reader wants (https://diataxis.fr), and the index, docs/README.md, leads
to it in one line. What links cannot say is checked as well: paths of pages that stand in code and in comments.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
GROUPS = ["tutorials", "how-to", "reference", "explanation", "coming-from"]
PAGES = [
    page.relative_to(ROOT).as_posix()
    for page in (*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md")), *sorted((ROOT / "examples").rglob("*.md")))
]
FOLDERS = ["actions", "agentrt", "benchmarks", "examples", "packs", "tests", "tools"]

_FENCED = re.compile(r"^```.*?^```$", flags=re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\(([^)#\s]+)?(?:#([^)\s]*))?\)")
_HEADING = re.compile(r"^#+ (.*)$", flags=re.MULTILINE)
_PATH = re.compile(r"\bdocs/[\w./-]+\.(?:md|png)\b")


def prose(text):
    """A page without its blocks of code, in which a comment looks like a heading, and a call like a link."""
    return _FENCED.sub("", text)


def links(text):
    """The relative links and images of a page: the file, which is empty for the page itself, and the anchor."""
    return [(file, anchor) for file, anchor in _LINK.findall(prose(text)) if ":" not in file]


def anchors(text):
    """The anchors of the headings of a page, as GitHub makes them: the second of one name gets a ``-1``."""
    seen = Counter()
    found = set()
    for heading in _HEADING.findall(prose(text)):
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        found.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
        seen[anchor] += 1
    return found


def dead(page):
    """The links of a page that lead nowhere."""
    found = []
    for file, anchor in links(page.read_text(encoding="utf-8")):
        target = page.parent / file if file else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            found.append(f"{file}#{anchor}" if anchor else file)
    return found


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    assert dead(ROOT / name) == []


@pytest.mark.slow
def test_paths_in_code_and_comments_are_those_of_pages():
    files = [ROOT / "Makefile", ROOT / "pyproject.toml"]
    files += [file for folder in FOLDERS for file in sorted((ROOT / folder).rglob("*.py"))]
    named = [
        (file.relative_to(ROOT).as_posix(), path)
        for file in files
        for path in _PATH.findall(file.read_text(encoding="utf-8"))
    ]
    assert named
    assert [(name, path) for name, path in named if not (ROOT / path).is_file()] == []


# --- the index --------------------------------------------------------------------------------------------------------


def test_every_page_stands_in_a_group():
    assert sorted({page.relative_to(DOCS).parts[0] for page in DOCS.rglob("*.md")}) == sorted(["README.md", *GROUPS])


def test_the_index_leads_to_every_page_once_under_the_heading_of_its_group():
    index = (DOCS / "README.md").read_text(encoding="utf-8")
    sections = re.split(r"^## .*$", index, flags=re.MULTILINE)[1:]
    assert len(sections) == len(GROUPS)
    for group, section in zip(GROUPS, sections, strict=True):
        lines = [line for line in section.splitlines() if line.startswith("- ")]
        told = [file for line in lines for file, _ in links(line)[:1]]
        assert len(told) == len(lines)
        assert sorted(told) == sorted(f"{group}/{page.name}" for page in (DOCS / group).glob("*.md"))


# --- what is checked ----------------------------------------------------------------------------------------------------


def test_what_is_a_link_and_what_is_none():
    text = "[a](b.md#c)\n![d\ne](../f.png) [g](#h) [i](https://j.k/l.md) [m](mailto:n@o)\n```python\np[q](r)\n```\n[s](t)\n"
    assert links(text) == [("b.md", "c"), ("../f.png", ""), ("", "h"), ("t", "")]


def test_the_anchors_of_headings():
    text = "# One: `two`, three\n```console\n# four\n```\n## Five-six\n### One: two, three\n"
    assert anchors(text) == {"one-two-three", "five-six", "one-two-three-1"}


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Here\n[a](gone.md) [b](page.md#here) [c](#there) [d](page.md)\n", encoding="utf-8")
    assert dead(page) == ["gone.md", "#there"]
