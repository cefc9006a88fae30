"""What the site has besides the pages: tables of contents, the reference from docstrings, and drawn diagrams.

A Sphinx extension; docs/conf.py loads it.

* The index, docs/README.md, is the table of contents: its sections are the captions, its lines the entries. A page with
  a folder of its name has the pages of that folder below it. So nothing is listed twice, and no page has a directive
  that a code host would show as code.
* ``facade`` is a directive: the documentation of names of a façade, each by its kind. Beside a field stands what the
  comment beside it in the code says, although that is no docstring.
* A type in a signature leads to the façade that offers it, although it is defined elsewhere.
* A block in Mermaid is drawn when the site is built. Its colors are those of the page, light or dark (site.css).
* A link to a file that is no page, such as an example, leads to a copy of the file.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import inspect
import re
import shutil
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import mmdr
from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.ext.napoleon import Config
from sphinx.ext.napoleon.docstring import GoogleDocstring
from sphinx.pycode import ModuleAnalyzer, parser
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).resolve().parent.parent
INDEX = "docs/README"
_LINK = re.compile(r"\[([^\]]+)\]\(([\w./-]+)\)")
FACADES = (
    "agentrt",
    "agentrt.tasks",
    "agentrt.activity",
    "agentrt.body",
    "agentrt.kernel",
    "agentrt.goals",
    "agentrt.behavior",
    "agentrt.selection",
    "agentrt.strategy",
    "agentrt.bridges",
    "agentrt.minds",
    "agentrt.rebuild",
    "agentrt.testing",
    "agentrt.testing.strategies",
    "agentrt.record",
    "agentrt.ensembles",
    "agentrt.shards",
    "agentrt.snapshot",
    "agentrt.inspect",
    "agentrt.drawing",
    "agentrt.expressions",
    "agentrt.errors",
)

# --- tables of contents -----------------------------------------------------------------------------------------------


def _toctree(entries: list[str], caption: str = "") -> str:
    told = [f":caption: {caption}"] if caption else []
    return "\n".join(["\n\n```{toctree}", ":hidden:", *told, "", *entries, "```\n"])


def _contents() -> Iterator[str]:
    """The table of contents of the whole, as the index has it."""
    yield _toctree([f"The documentation </{INDEX}>"])
    index = (ROOT / f"{INDEX}.md").read_text(encoding="utf-8")
    for section in re.split(r"^## ", index, flags=re.MULTILINE)[1:]:
        caption, _, lines = section.partition("\n")
        pages = re.findall(r"^- \[([^\]]+)\]\(([^)]+)\.md\)", lines, flags=re.MULTILINE)
        yield _toctree([f"{title} </docs/{page}>" for title, page in pages], caption.partition(":")[0])
    examples = sorted(page.relative_to(ROOT).with_suffix("") for page in (ROOT / "examples").rglob("*.md"))
    more = [*(f"/{page.as_posix()}" for page in examples), "/benchmarks/README", "/CHANGELOG"]
    yield _toctree(more, "Examples and changes")


def _add_contents(app: Sphinx, name: str, source: list[str]) -> None:
    here = (ROOT / name).parent
    # A folder has no page, and no copy of it would be of use.
    source[0] = _LINK.sub(lambda link: link[1] if (here / link[2]).is_dir() else link[0], source[0])
    if name == app.config.root_doc:
        source[0] += "".join(_contents())
    elif (ROOT / name).is_dir():
        below = sorted(page.stem for page in (ROOT / name).glob("*.md"))
        source[0] += _toctree([f"{Path(name).name}/{page}" for page in below])


# --- the reference from docstrings ------------------------------------------------------------------------------------

# Sphinx takes a comment for documentation if it begins with "#:". Ours stand beside the field without the colon.
parser.comment_re = re.compile(r"^\s*#:?(?! *(?:noqa|type:|fmt:|pragma:|-{3})) ?(.*)\r?\n?$")

_GOOGLE: Any = Config(napoleon_use_ivar=True, napoleon_use_rtype=False)


def _read_docstring(app: Sphinx, kind: Any, name: str, value: object, options: object, lines: list[str]) -> None:
    """Take the sections of a docstring in Google's style; what stands beside a field is plain text and has none."""
    if kind not in ("attribute", "data", "property"):
        lines[:] = GoogleDocstring(lines, _GOOGLE, app, kind, name, value, options).lines()


class Facade(SphinxDirective):
    """The documentation of names of a façade: of those in the content, or of all that it offers."""

    has_content = True
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The nodes of all names, in the order in which they are given."""
        (facade,) = self.arguments
        names = " ".join(self.content).split() or offered(facade)
        lines = StringList()
        for name in names:
            for line in _documented(facade, name):
                lines.append(line, self.get_source_info()[0])
        found = nodes.Element()
        self.state.nested_parse(lines, self.content_offset, found)
        return list(found.children)


@functools.cache
def offered(facade: str) -> list[str]:
    """The public names of a façade; of one without a list, the classes that it defines."""
    module = importlib.import_module(facade)
    names: list[str] | None = getattr(module, "__all__", None)
    if names is None:
        names = [name for name, one in vars(module).items() if inspect.isclass(one) and one.__module__ == facade]
    return [name for name in names if not name.startswith("_")]


def _documented(facade: str, name: str) -> Iterator[str]:
    value = getattr(importlib.import_module(facade), name)
    if (home := _home(value, name)) != facade:
        yield f"* :py:obj:`{name} <{home}.{name}>`, of :doc:`{home} <{home}>`"
    elif inspect.isclass(value):
        is_error = issubclass(value, BaseException)
        yield f".. auto{'exception' if is_error else 'class'}:: {facade}.{name}"
        yield "   :members:"
        if issubclass(value, Enum):
            yield "   :undoc-members:"
        if is_error:
            yield "   :show-inheritance:"
    elif inspect.isroutine(value):
        yield f".. autofunction:: {facade}.{name}"
    else:
        yield f".. py:data:: {facade}.{name}"
        yield ""
        yield from (f"   {line}" for line in _words_about(facade, name))
    yield ""


def _home(value: object, name: str) -> str:
    """Which of the façades that offer a thing has its documentation: the one that it is defined below."""
    module = f"{getattr(value, '__module__', '')}."
    offering = [one for one in FACADES if name in offered(one)]
    return max(offering, key=lambda facade: len(facade) if module.startswith(f"{facade}.") else 0)


def _words_about(facade: str, name: str) -> list[str]:
    """What stands beside a constant where it is defined."""
    module = facade
    while name in (taken := _imports(module)):
        module = taken[name]
    return ModuleAnalyzer.for_module(module).find_attr_docs().get(("", name), [""])


@functools.cache
def _imports(module: str) -> dict[str, str]:
    """What a module takes from others, and from which."""
    body = ast.parse(inspect.getsource(importlib.import_module(module))).body
    return {one.name: str(node.module) for node in body if isinstance(node, ast.ImportFrom) for one in node.names}


@functools.cache
def _homes() -> dict[str, str]:
    """Where what a façade offers is documented: by the place where it is defined, and by its name alone."""
    homes: dict[str, str] = {}
    for facade in FACADES:
        for name in offered(facade):
            value = getattr(importlib.import_module(facade), name)
            home = f"{_home(value, name)}.{name}"
            homes.update({f"{getattr(value, '__module__', facade)}.{name}": home, name: home})
    return homes


def _lead_to_facade(
    app: Sphinx, env: BuildEnvironment, node: addnodes.pending_xref, shown: nodes.TextElement
) -> nodes.reference | None:
    target = _homes().get(node["reftarget"]) if node.get("refdomain") == "py" else None
    if target is None:
        return None
    python = env.domains.python_domain
    return python.resolve_xref(env, node["refdoc"], app.builder, node["reftype"], target, node, shown)


def _know_builtins(app: Sphinx, page: nodes.document) -> None:
    """``set`` in a signature is the type, and not the method of an Event that happens to end in that name."""
    for node in page.findall(addnodes.pending_xref):
        if node.get("refdomain") == "py" and hasattr(builtins, node["reftarget"]):
            node.attributes.pop("refspecific", None)


def _shorten_contents(app: Sphinx, domain: str, kind: str, content: addnodes.desc_content) -> None:
    """Beside a page of the reference stand its classes and functions; with all members it would be too long to read."""
    if kind in ("attribute", "method", "property", "classmethod", "staticmethod") and content.parent is not None:
        for signature in content.parent.findall(addnodes.desc_signature):
            signature["_toc_name"] = ""


# --- diagrams, files, and the first page ------------------------------------------------------------------------------


class Mermaid(SphinxDirective):
    """A diagram, drawn when the site is built, so that whoever reads it needs no script and no network."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """The diagram, as an SVG in the page."""
        number = self.env.new_serialno("mermaid")
        drawn = mmdr.render("\n".join(self.content)).svg()
        drawn = re.sub(r"<style>.*?</style>", "", drawn, flags=re.DOTALL).replace("merman", f"diagram-{number}")
        return [nodes.raw("", f'<div class="diagram">{drawn}</div>', format="html")]


def _add_index(app: Sphinx, error: Exception | None) -> None:
    """A server, and whoever opens the folder, looks for index.html: it is the first page."""
    if error is None and app.builder.format == "html":
        shutil.copyfile(Path(app.outdir) / f"{app.config.root_doc}.html", Path(app.outdir) / "index.html")


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("facade", Facade)
    app.add_directive("mermaid", Mermaid)
    app.connect("source-read", _add_contents)
    app.connect("autodoc-process-docstring", _read_docstring)
    app.connect("doctree-read", _know_builtins)
    app.connect("object-description-transform", _shorten_contents)
    app.connect("missing-reference", _lead_to_facade)
    app.connect("build-finished", _add_index)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
