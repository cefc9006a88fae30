"""The site of the documentation is built without a warning, and its links lead to what is there, anchors too."""

from __future__ import annotations

import importlib
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from agentrt.errors import ERRORS

pytest.importorskip("sphinx", reason="the site needs the extra 'docs'")

ROOT = Path(__file__).resolve().parents[2]
API = "docs/reference/api"

pytestmark = [pytest.mark.slow, pytest.mark.checkout]


class Page(HTMLParser):
    """What a page can be led to, where it leads, and what it loads."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded, self.diagrams = set(), [], [], 0
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        self.diagrams += given.get("class") == "diagram"
        if tag == "a":
            self.links.append(given.get("href") or "")
        elif tag in ("img", "script", "iframe"):
            self.loaded.append(given.get("src") or "")
        elif tag == "link" and given.get("rel") == "stylesheet":
            self.loaded.append(given.get("href") or "")

    handle_startendtag = handle_starttag


def dead(pages, folder):
    """The links that lead nowhere: from which page, and where to."""
    found = []
    for name, page in pages.items():
        for link in (*page.links, *page.loaded):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (folder / name).parent / unquote(parts.path) if parts.path else folder / name
            target = target.resolve()
            there = pages.get(target.relative_to(folder).as_posix()) if target.is_relative_to(folder) else None
            if not target.is_file() or (parts.fragment and there and unquote(parts.fragment) not in there.anchors):
                found.append((name, link))
    return found


def read(folder):
    files = sorted(folder.rglob("*.html"))
    return {file.relative_to(folder).as_posix(): Page(file.read_text(encoding="utf-8")) for file in files}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Built as ``make docs`` builds it."""
    made = tmp_path_factory.mktemp("site").resolve()
    words = ["-q", "-W", "--keep-going", "-c", "docs", "-d", str(made / "trees"), ".", str(made / "site")]
    build = [sys.executable, "-m", "sphinx", *words]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return made / "site"


@pytest.fixture(scope="module")
def pages(folder):
    return read(folder)


def test_links_lead_somewhere(folder, pages):
    assert dead(pages, folder) == []
    assert sum(len(page.links) for page in pages.values()) > 10_000


def test_all_pages_are_there(pages):
    written = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
    names = {page.relative_to(ROOT).with_suffix(".html").as_posix() for page in written}
    assert sorted(names - set(pages)) == []
    assert "index.html" in pages
    assert [code for code in ERRORS if f"docs/reference/errors/{code}.html" not in pages] == []


def test_nothing_is_loaded_from_elsewhere(pages):
    assert [(name, one) for name, page in pages.items() for one in page.loaded if urlsplit(one).netloc] == []


def test_every_diagram_is_drawn(pages):
    for name, page in pages.items():
        text = (ROOT / name).with_suffix(".md")
        if text.is_file():
            assert page.diagrams == text.read_text(encoding="utf-8").count("```mermaid"), name


def test_every_name_of_every_facade_is_documented(pages):
    """On the page of its façade; or there is a link to where it is, since another façade offers it, too."""
    for file in sorted((ROOT / API).glob("*.md")):
        facade, page = importlib.import_module(file.stem), pages[f"{API}/{file.stem}.html"]
        names = getattr(facade, "__all__", None) or [error.__name__ for error in ERRORS.values()]
        led = {link.rpartition(".")[2] for link in page.links}
        told = {anchor.rpartition(".")[2] for anchor in page.anchors if anchor.startswith(f"{file.stem}.")} | led
        assert [name for name in names if not name.startswith("_") and name not in told] == [], file.stem


def test_what_stands_beside_a_field_is_told(folder, pages):
    text = (folder / API / "agentrt.errors.html").read_text(encoding="utf-8")
    assert "agentrt.errors.RunFault.tick" in pages[f"{API}/agentrt.errors.html"].anchors
    assert "the tick in which it happened, or None when no clock was running" in text


def test_types_in_signatures_lead_to_their_facade(pages):
    assert "agentrt.html#agentrt.Agent" in pages[f"{API}/agentrt.rebuild.html"].links  # agentrt.agent.agent.Agent


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    folder = tmp_path.resolve()
    (folder / "a").mkdir()
    (folder / "a" / "b.html").write_text('<p id="here"><a href="#here"></a><a href="#gone"></a><img src="c.png"/></p>')
    (folder / "d.html").write_text('<a href="a/b.html#here"></a><a href="e.html"></a><a href="https://f.g/h#i"></a>')
    assert dead(read(folder), folder) == [("a/b.html", "#gone"), ("a/b.html", "c.png"), ("d.html", "e.html")]
