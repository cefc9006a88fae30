"""The site of the documentation: ``make docs`` builds it from the Markdown of the repository, into build/docs.

The pages are those that a code host shows, with the links that it follows; what a site needs besides (the tables of
contents, the reference from docstrings, drawn diagrams) is made in tools/docs_site.py.
"""

from __future__ import annotations

import gc
import sys
from pathlib import Path

gc.set_threshold(100_000, 50)  # pages are trees of nodes, and hardly any is garbage: a quarter of the time went there

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT)]

project = "agentrt"
author = "the agentrt maintainers"
copyright = "the agentrt maintainers"  # noqa: A001 - the name that Sphinx reads
release = version = ""
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "docs_site"]
root_doc = "README"
include_patterns = ["*.md", "docs/*.md", "docs/**/*.md", "examples/**/*.md", "benchmarks/*.md"]
exclude_patterns = [".*", "build", "dist", "tests", "**/node_modules", "**/__pycache__"]
nitpicky = False

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
myst_fence_as_directive = ["mermaid"]

autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints_format = "short"
add_module_names = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 120

html_theme = "furo"
html_title = "agentrt"
html_static_path = ["site"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
pygments_style = "friendly"
pygments_dark_style = "monokai"
copybutton_selector = "div:not(.highlight-text) > div.highlight > pre"
copybutton_prompt_text = "$ "
copybutton_only_copy_prompt_lines = False
