"""How this library came here: which version it is, what brings an extra of it, and where its pages about errors lie.

It may be installed from an index, from a folder or a repository, or for editing; it may lie in somebody's tree or in a
zip file, with no word of it in the books of pip. Nothing here raises, and a hint names a command that works here.
"""

from __future__ import annotations

import sys
from typing import Any

_NAME = "agentrt"


def library_version() -> str:
    """The version of the code that runs, which is not what pip knows if it lies in somebody's tree."""
    return str(getattr(sys.modules.get(_NAME), "__version__", "unknown"))


def how_to_add(extra: str, package: str = "") -> str:
    """What to do to get an extra, or a package of it: a sentence with the command."""
    folder = _checkout()
    if folder is not None:
        return f"In the folder of the clone, {folder}, run: pip install -e '.[{extra}]'"
    origin = _origin()
    if origin is None:
        wanted = f"'{package}'" if package else f"what the extra '{extra}' names in the pyproject.toml of {_NAME}"
        return f"Install {wanted}: this copy of {_NAME} was not installed by pip, which so knows no extras of it."
    return f"Run: pip install '{_NAME}[{extra}]{f' @ {origin}' if origin else ''}'"


def error_page(code: str) -> str:
    """The page about an error, as Markdown: a wheel carries them beside this file, a clone has them in docs."""
    from pathlib import Path  # slow to import, as all of this: few programs ever ask

    package = Path(__file__).absolute().parent
    for folder in (package / "error_pages", package.parent / "docs" / "reference" / "errors"):
        try:
            return (folder / f"{code}.md").read_text(encoding="utf-8")
        except OSError:
            continue
    return f"{code}: the pages about errors are missing from this copy of {_NAME}.\n"


def _checkout() -> str | None:
    """The folder of the clone that this runs from; None if it runs from elsewhere."""
    from pathlib import Path

    folder = Path(__file__).absolute().parent.parent
    try:
        is_ours = f'\nname = "{_NAME}"\n' in (folder / "pyproject.toml").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    return str(folder) if is_ours else None


def _origin() -> str | None:
    """Where pip got it: an address, or nothing for an index; None if pip knows nothing of it."""
    import json
    from importlib.metadata import distribution

    try:
        text = distribution(_NAME).read_text("direct_url.json")
        told: Any = json.loads(text) if text else {}
        address, system = told.get("url", ""), told.get("vcs_info", {}).get("vcs", "")
    except (ImportError, OSError, ValueError, LookupError, AttributeError, TypeError):  # no books, or broken ones
        return None
    return f"{system}+{address}" if system else str(address)
