"""The tutorial of the first project, done as it says: each command is run, each file is changed, and output compared.

A line of a console block that begins with ``$`` is a command; what follows up to the next one is what it prints, with
``...`` for what differs from run to run. ``record`` writes down what is printed now::

    python -c "import sys; sys.path.append('tests/docs'); import test_first_project as page; page.record()"
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner

from agentrt.cli import main

PAGE = Path(__file__).resolve().parents[2] / "docs" / "tutorials" / "first-project.md"

_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"`(meadow/[\w/]+\.\w+|tests/\w+\.py)`")


class Reader:
    """Somebody who does what the page says, in a folder of its own."""

    def __init__(self, text, folder):
        self.text = text
        self.home = self.folder = folder

    def follow(self):
        """Do it; yields each command with what the page says that it prints, and what it printed."""
        for block in _BLOCK.finditer(self.text):
            language, code = block.groups()
            before = self.text[: block.start()]
            if language == "console":
                for piece in re.split(r"^\$ ", code, flags=re.MULTILINE)[1:]:
                    command, _, said = piece.partition("\n")
                    yield command, said, self.run(command)
            elif language == "python":
                file = self.folder / _NAMED.findall(before)[-1]
                text = file.read_text(encoding="utf-8")
                new = [line for line in code.splitlines() if not line.startswith("import ") or line not in text]
                file.write_text("\n".join([text, "", *new]).rstrip() + "\n", encoding="utf-8")
            elif language == "json":
                (self.folder / _NAMED.findall(before)[-1]).write_text(code, encoding="utf-8")
            self.insert(self.text[block.end() :].partition("```")[0])

    def insert(self, prose):
        """Where the page says: in FILE, put CODE below the line of OTHER."""
        found = re.search(r"In `(\S+)`,\s+put\s+`([^`]+)`\s+below\s+the\s+line\s+of\s+`([^`]+)`", prose)
        if found:
            file = self.folder / found[1]
            lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
            (number,) = (number for number, line in enumerate(lines) if found[3] in line)
            lines.insert(number + 1, f"        {found[2]}\n")
            file.write_text("".join(lines), encoding="utf-8")

    def run(self, command):
        program, *words = shlex.split(command)
        if program == "cd":
            self.folder /= words[0]
            return ""
        if program == "agentrt":
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(self.folder)
                patch.setattr(sys, "path", [*sys.path])
                patch.setattr("agentrt.cli.commands.called", lambda *args: " ".join(("agentrt", *map(str, args))))
                # How far it has come is said where it takes long, and whether it does so is the machine's.
                patch.setattr("agentrt.cli.groups.time", SimpleNamespace(monotonic=lambda: 0.0))
                result = CliRunner().invoke(main, words)
            for name in [name for name in sys.modules if name == "meadow" or name.startswith("meadow.")]:
                del sys.modules[name]
            return result.output.replace(str(self.home), "/home/ann").replace("\\", "/")
        assert program == "pytest"
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *words, "-p", "agentrt.testing.plugin", "-p", "no:cacheprovider"],
            cwd=self.folder,
            env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # those of this environment take long to start
            capture_output=True,
            text=True,
            check=False,
        )
        return re.sub(r" in [\d.]+s", " in ...", done.stdout)


def fits(said, printed):
    return re.fullmatch(re.escape(said).replace(re.escape("..."), ".*"), printed, flags=re.DOTALL)


def record():
    """Write down what the commands print now."""
    text = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        done = list(Reader(text, Path(folder).resolve()).follow())
    place = 0
    for command, said, printed in done:
        place = text.index(f"$ {command}\n", place) + len(f"$ {command}\n")
        if not fits(said, printed):
            text = text[:place] + printed + text[place + len(said) :]
            said = printed
        place += len(said)
    PAGE.write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_whoever_follows_the_page_sees_what_it_says(tmp_path):
    done = list(Reader(PAGE.read_text(encoding="utf-8"), tmp_path).follow())
    assert len(done) > 8
    for command, said, printed in done:
        assert fits(said, printed), f"{command} printed:\n{printed}"
