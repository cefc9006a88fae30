"""However the library came here, it records, says its version, and names a command that brings an extra."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import agentrt
from agentrt import installed
from agentrt.errors import MissingExtraError, UnknownWorldError
from agentrt.installed import called

USE = """
import sys
from importlib import metadata
def unknown(*_):
    raise metadata.PackageNotFoundError("agentrt")
metadata.distribution = metadata.version = unknown
ours = {root!r}
sys.path[:] = [{folder!r}, *[path for path in sys.path if "site-packages" in path or not path.startswith(ours)]]
import agentrt
assert agentrt.__file__.startswith({folder!r}), agentrt.__file__
runtime = agentrt.Runtime(host="plain")
with runtime.record({file!r}) as recorder:
    runtime.step()
runtime.close()
from agentrt.record import Recording
with Recording.open({file!r}) as opened:
    print(opened.meta["agentrt"], opened.last_tick)
from agentrt.cli import main
try:
    main(["--version"])
except SystemExit as end:
    assert not end.code
from agentrt.errors import MissingExtraError
print(MissingExtraError("inspect", "starlette"))
"""


def run(root, folder, tmp_path):
    code = USE.format(folder=str(folder), root=str(root), file=str(tmp_path / "run.sqlite"))
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.states(
    "tools: Outside: A copy that pip does not know (vendored, in a zip file) records and says its version; hints name "
    "commands that work where the library came from",
)
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["vendored", "zipped"])
@pytest.mark.checkout
def test_a_copy_that_pip_does_not_know(root, tmp_path, kind):
    place = tmp_path / "place"
    if kind == "vendored":
        shutil.copytree(root / "agentrt", place / "agentrt", ignore=shutil.ignore_patterns("__pycache__"))
    else:
        place = tmp_path / "place.zip"
        with zipfile.ZipFile(place, "w") as archive:
            for file in sorted((root / "agentrt").rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    archive.write(file, file.relative_to(root))
    recorded, version, hint = run(root, place, tmp_path)
    assert recorded == f"{agentrt.__version__} 1"
    assert version == f"agentrt {agentrt.__version__} (pure Python)"
    assert "Install 'starlette': this copy of agentrt was not installed by pip" in hint


@pytest.fixture
def shell(monkeypatch, tmp_path):
    """A folder with an environment in it, and a shell there: with a PATH, and how the program was started."""
    scripts = tmp_path / "game" / ".venv" / "bin"
    scripts.mkdir(parents=True)
    for name in ("python", "pip", "agentrt"):
        (scripts / name).touch(mode=0o755)
    monkeypatch.chdir(tmp_path / "game")
    monkeypatch.setattr(sys, "executable", str(scripts / "python"))

    def shell(*path, started="-c"):
        monkeypatch.setenv("PATH", os.pathsep.join(map(str, path)))
        monkeypatch.setattr(sys, "argv", [str(started)])
        return scripts

    return shell


# The files that stand for programs are none that Windows would find.
@pytest.mark.skipif(os.name == "nt", reason="a shell of Unix")
class TestTheCommand:
    def test_in_an_environment_that_is_active(self, shell):
        scripts = shell()
        shell(scripts, started=scripts / "agentrt")
        assert called("inspect", "run.sqlite") == "agentrt inspect run.sqlite"

    def test_in_an_environment_that_only_is_there(self, shell):
        shell("/nowhere", started=".venv/bin/agentrt")
        assert called("inspect", Path("a run.sqlite")) == ".venv/bin/agentrt inspect 'a run.sqlite'"
        shell("/nowhere")
        assert called() == ".venv/bin/agentrt"  # a test, or a script of somebody's

    def test_from_another_folder(self, shell, monkeypatch, tmp_path):
        scripts = shell("/nowhere")
        monkeypatch.chdir(tmp_path)
        assert called() == "game/.venv/bin/agentrt"
        monkeypatch.chdir(scripts)
        assert called() == str(scripts / "agentrt")  # a shell does not look for a bare name where it is
        monkeypatch.chdir("/")
        assert called() == str(scripts / "agentrt").lstrip("/")

    def test_where_another_one_is_on_the_path(self, shell, tmp_path):
        other = tmp_path / "other"
        other.mkdir()
        (other / "agentrt").touch(mode=0o755)
        shell(other)
        assert called() == ".venv/bin/agentrt"

    def test_installed_for_a_user(self, shell, monkeypatch, tmp_path):
        scripts = shell()
        monkeypatch.setattr(sys, "executable", "/usr/bin/python3.11")
        shell(scripts, started=scripts / "agentrt")
        assert called() == "agentrt"

    def test_without_a_script(self, shell):
        scripts = shell("/nowhere")
        (scripts / "agentrt").unlink()
        assert called("demo") == ".venv/bin/python -m agentrt.cli demo"

    def test_in_a_folder_that_is_gone_and_embedded(self, shell, monkeypatch, tmp_path):
        shell("/nowhere")
        gone = tmp_path / "gone"
        gone.mkdir()
        monkeypatch.chdir(gone)
        gone.rmdir()
        assert called() == str(tmp_path / "game" / ".venv" / "bin" / "agentrt")
        monkeypatch.setattr(sys, "executable", None)
        monkeypatch.chdir("/")
        assert called() == "/python -m agentrt.cli"
        assert installed._pip(Path("/")) == "pip"

    def test_pip_is_that_of_the_environment(self, shell, tmp_path):
        scripts = shell("/nowhere")
        assert installed._pip(tmp_path / "game") == ".venv/bin/python -m pip"
        assert installed._pip(tmp_path / "elsewhere") == f"{scripts / 'python'} -m pip"
        shell(scripts)
        assert installed._pip(tmp_path / "elsewhere") == "pip"


def test_on_windows_a_path_with_spaces_has_double_quotes(monkeypatch):
    monkeypatch.setattr(installed.os, "name", "nt")
    assert installed._line("agentrt", "inspect", "C:\\My runs\\a.sqlite") == 'agentrt inspect "C:\\My runs\\a.sqlite"'


@pytest.mark.checkout
def test_in_a_clone_the_hint_names_the_clone(root, monkeypatch):
    monkeypatch.setattr(installed, "_pip", lambda folder: "pip")
    assert installed.how_to_add("demo") == f"In the folder of the clone, {root}, run: pip install -e '.[demo]'"
    assert str(MissingExtraError("demo", "tcod")).endswith(installed.how_to_add("demo"))
    assert str(UnknownWorldError("colony", [])).endswith(installed.how_to_add("demo"))


class Books:
    def __init__(self, text):
        self.text = text

    def read_text(self, name):
        assert name == "direct_url.json"
        return self.text


@pytest.mark.states("tools: Outside: A copy that pip does not know (vendored, in a zip file) records and says its ...")
@pytest.mark.parametrize(
    ("books", "hint"),
    [
        (None, "Run: pip install 'agentrt[demo]'"),
        ("", "Run: pip install 'agentrt[demo]'"),
        ('{"url": "file:///home/a/agentrt"}', "Run: pip install 'agentrt[demo] @ file:///home/a/agentrt'"),
        (
            '{"url": "https://a.example/agentrt", "vcs_info": {"vcs": "git"}}',
            "Run: pip install 'agentrt[demo] @ git+https://a.example/agentrt'",
        ),
        ("no json", "Install 'tcod': this copy of agentrt was not installed by pip, which so knows no extras of it."),
        ("[]", "Install 'tcod': this copy of agentrt was not installed by pip, which so knows no extras of it."),
    ],
)
def test_a_copy_that_pip_installed(monkeypatch, books, hint):
    monkeypatch.setattr(installed, "_pip", lambda folder: "pip")
    monkeypatch.setattr(installed, "_checkout", lambda: None)
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: Books(books))
    assert installed.how_to_add("demo", "tcod") == hint


def test_only_the_project_itself_is_a_clone_of_it(monkeypatch, tmp_path):
    monkeypatch.setattr(installed, "__file__", str(tmp_path / "agentrt" / "installed.py"))
    assert installed._checkout() is None
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "a-game"\n')
    assert installed._checkout() is None
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "agentrt"\n')
    assert installed._checkout() == tmp_path


def test_no_hint_names_what_an_index_does_not_have(root):
    for folder in ("agentrt", "docs", "examples"):
        for file in (root / folder).rglob("*"):
            if file.suffix in (".py", ".md") and file.name != "installed.py":
                assert "pip install agentrt" not in file.read_text(encoding="utf-8"), file
                assert "agentrt[" not in file.read_text(encoding="utf-8"), file
