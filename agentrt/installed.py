"""How this library came here: its version, how its command is called, what brings an extra, its pages about errors.

It may be installed from an index, from a folder or a repository, or for editing; it may lie in somebody's tree or in a
zip file, with no word of it in the books of pip. Its environment may be active in the shell or, as the one that
``make`` makes, only be there. Nothing here raises, and a hint names a command that works here.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

_NAME = "agentrt"


def library_version() -> str:
    """The version of the code that runs, which is not what pip knows if it lies in somebody's tree."""
    return str(getattr(sys.modules.get(_NAME), "__version__", "unknown"))


def called(*args: object) -> str:
    """The command line that runs ``agentrt`` with these arguments, from the folder and the shell that this runs in."""
    return _line(*_command(), *map(str, args))


def _command() -> tuple[str, ...]:
    import shutil

    # How this was started, if it is the command; else where pip puts it.
    for known in (Path(sys.argv[0]), Path(sys.executable or "").parent / _NAME):
        script = shutil.which(known) if known.name in (_NAME, f"{_NAME}.exe") else None
        if script is not None:
            return (_NAME if _is_same(shutil.which(_NAME), script) else _from(_here(), script),)
    return (_from(_here(), sys.executable or "python"), "-m", f"{_NAME}.cli")


def how_to_add(extra: str, package: str = "") -> str:
    """What to do to get an extra, or a package of it: a sentence with the command."""
    folder = _checkout()
    if folder is not None:
        return f"In the folder of the clone, {folder}, run: {_pip(folder)} install -e '.[{extra}]'"
    origin = _origin()
    if origin is None:
        wanted = f"'{package}'" if package else f"what the extra '{extra}' names in the pyproject.toml of {_NAME}"
        return f"Install {wanted}: this copy of {_NAME} was not installed by pip, which so knows no extras of it."
    return f"Run: {_pip(_here())} install '{_NAME}[{extra}]{f' @ {origin}' if origin else ''}'"


def _pip(folder: Path) -> str:
    """What installs into the environment that runs this."""
    import shutil

    found = shutil.which("pip")
    if not sys.executable or (found and _is_same(str(Path(found).parent), str(Path(sys.executable).parent))):
        return "pip"
    return _line(_from(folder, sys.executable), "-m", "pip")


def _is_same(one: str | None, other: str) -> bool:
    try:
        return one is not None and Path(one).samefile(other)
    except OSError:
        return False


def _here() -> Path:
    try:
        return Path.cwd()
    except OSError:  # somebody removed it
        return Path()


def _from(folder: Path, file: str) -> str:
    """A path to a program as a shell in the folder takes it."""
    path = Path(file).absolute()
    within = path.relative_to(folder) if path.is_relative_to(folder) else path
    return str(within if len(within.parts) > 1 else path)  # a name alone is looked for on the PATH


def _line(*words: str) -> str:
    """A command line: quoted as this system's shell wants it."""
    if os.name == "nt":
        from subprocess import list2cmdline

        return list2cmdline(words)
    import shlex

    return shlex.join(words)


def error_page(code: str) -> str:
    """The page about an error, as Markdown: a wheel carries them beside this file, a clone has them in docs."""
    package = Path(__file__).absolute().parent
    for folder in (package / "error_pages", package.parent / "docs" / "reference" / "errors"):
        try:
            return (folder / f"{code}.md").read_text(encoding="utf-8")
        except OSError:
            continue
    return f"{code}: the pages about errors are missing from this copy of {_NAME}.\n"


def _checkout() -> Path | None:
    """The folder of the clone that this runs from; None if it runs from elsewhere."""
    folder = Path(__file__).absolute().parent.parent
    try:
        is_ours = f'\nname = "{_NAME}"\n' in (folder / "pyproject.toml").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    return folder if is_ours else None


def _origin() -> str | None:
    """Where pip got it: an address, or nothing for an index; None if pip knows nothing of it."""
    from importlib.metadata import distribution

    try:
        text = distribution(_NAME).read_text("direct_url.json")
        told: Any = json.loads(text) if text else {}
        address, system = told.get("url", ""), told.get("vcs_info", {}).get("vcs", "")
    except (ImportError, OSError, ValueError, LookupError, AttributeError, TypeError):  # no books, or broken ones
        return None
    return f"{system}+{address}" if system else str(address)
