"""``agentrt new``: each template runs, passes its own tests and its own pack check, and is typed; nothing is overwritten.

The projects are made once, for all tests that look at them.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from children import finding
from click.testing import CliRunner

from agentrt.cli import main
from agentrt.cli.new import TEMPLATES, make_project, problem_of

TICKS = 600


def agentrt(*args):
    return CliRunner().invoke(main, list(args))


@pytest.fixture(scope="module")
def projects(tmp_path_factory):
    """A project of each template, which is called after it."""
    folder = tmp_path_factory.mktemp("projects")
    for template in TEMPLATES:
        make_project(f"my_{template}", template, folder / f"my_{template}")
    return folder


@pytest.fixture(params=TEMPLATES)
def project(projects, request, monkeypatch):
    """One of them, in which commands are given."""
    name = f"my_{request.param}"
    monkeypatch.chdir(projects / name)
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield name
    for module in [one for one in sys.modules if one == name or one.startswith(f"{name}.")]:
        del sys.modules[module]


# --- what is made -----------------------------------------------------------------------------------------------------


def test_it_says_what_it_made_and_the_next_commands(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = agentrt("new", "meadow")
    assert result.exit_code == 0
    assert [line.replace("\\", "/") for line in result.stdout.splitlines()] == [
        "made meadow/pyproject.toml",
        "made meadow/README.md",
        "made meadow/meadow/__init__.py",
        "made meadow/meadow/__main__.py",
        "made meadow/meadow/dog.py",
        "made meadow/meadow/meadow.py",
        "made meadow/meadow/packs/dog.json",
        "made meadow/meadow/packs/sheep.json",
        "made meadow/meadow/program.py",
        "made meadow/meadow/sheep.py",
        "made meadow/tests/test_meadow.py",
        "made meadow/.agentrt/ai_pack.schema.json",
        "made meadow/.vscode/settings.json",
        "  cd meadow",
        "  agentrt run",
        "  pytest",
    ]
    assert result.stderr == "Look around, and then:\n"


def test_the_placeholder_is_nowhere_left(projects):
    files = [file for file in projects.rglob("*") if file.is_file()]
    assert files
    assert [file for file in files if "mygame" in str(file) or "mygame" in file.read_text(encoding="utf-8")] == []


def test_packs_name_their_schema(projects):
    packs = sorted(projects.glob("*/*/packs/*.json"))
    assert len(packs) >= len(TEMPLATES)
    for pack in packs:
        lines = pack.read_text(encoding="utf-8").splitlines()
        assert lines[1] == '  "$schema": "../../.agentrt/ai_pack.schema.json",'
        schema = json.loads((pack.parent / json.loads(pack.read_text())["$schema"]).read_text())
        assert schema["title"] == "AI pack"


def test_lines_fit_and_end_as_they_should(projects):
    for file in projects.rglob("*"):
        if file.is_file() and ".agentrt" not in file.parts:
            text = file.read_bytes().decode()
            assert "\r" not in text
            assert text.endswith("\n")
            assert [line for line in text.splitlines() if len(line) > 120] == [], file


def test_it_says_in_the_readme_which_files_there_are(projects):
    for template in TEMPLATES:
        folder = projects / f"my_{template}"
        readme = (folder / "README.md").read_text(encoding="utf-8")
        named = [name for line in re.findall(r"^\| (`.*?) \|", readme, flags=re.MULTILINE) for name in line.split(", ")]
        assert len(named) > 4
        for name in named:
            assert list(folder.glob(name.strip("`"))) != [], name


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "my-game",
            "'my-game' is no name of a package: small letters, digits and '_', and a letter first. Did you mean ",
        ),
        ("MyGame", "Did you mean 'mygame'?"),
        ("2048", "a letter first."),
        ("../elsewhere", "Did you mean 'elsewhere'?"),
        ("a/b", "Did you mean 'a_b'?"),
        ("", "'' is no name of a package"),
        ("spiel_ä", "Did you mean 'spiel'?"),
        ("x" * 60, "x' is no name of a package"),
        ("1" * 60, "1' is no name of a package"),
        ("Level2", "Did you mean 'level2'?"),
        ("a\x1b[31m", "is no name of a package"),
        ("class", "'class' is a word of Python. Choose another name."),
        (
            "random",
            "there is a package 'random' already, which yours would hide. Choose another name: 'random_game', say.",
        ),
        ("agentrt", "there is a package 'agentrt' already"),
        ("tests", "there is a package 'tests' already"),
    ],
)
def test_what_is_no_name_of_a_package(tmp_path, monkeypatch, name, words):
    monkeypatch.chdir(tmp_path)
    result = agentrt("new", name)
    assert result.exit_code == 2
    assert words in result.output
    assert "\x1b" not in result.output
    assert list(tmp_path.iterdir()) == []


def test_a_name_that_is_offered_is_one():
    assert problem_of("my_game") == ""
    assert "Did you mean 'my_game'?" in problem_of("my-game")
    assert "Did you mean" not in problem_of("2048")
    assert "Did you mean" not in problem_of("Random")


def test_nothing_is_overwritten(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "diary.txt").write_text("dear diary")
    (tmp_path / "file").write_text("a file")
    (tmp_path / "empty").mkdir()
    for name in ("full", "file"):
        result = agentrt("new", name)
        assert result.exit_code == 2
        assert f"{name}: something is there already: choose another name, or another place\n" in result.output
    assert sorted(str(file.relative_to(tmp_path)) for file in tmp_path.rglob("*")) == [
        "empty",
        "file",
        "full",
        str(Path("full") / "diary.txt"),
    ]
    assert agentrt("new", "empty").exit_code == 0
    assert agentrt("new", "empty").exit_code == 2


@pytest.mark.skipif(os.name == "nt" or getattr(os, "geteuid", lambda: 0)() == 0, reason="whoever is root may write all")
def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(0o500)
    result = agentrt("new", "meadow")
    tmp_path.chmod(0o700)
    assert result.exit_code == 2
    assert "Permission denied" in result.output


def test_a_disk_that_is_full_is_said(tmp_path, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "write_text", fail)
    result = agentrt("new", "meadow")
    assert result.exit_code == 2
    assert "meadow: No space left on device" in result.output


# --- what they are ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_project_runs_and_the_same_seed_gives_the_same_digest(project):
    def run(*options):
        return agentrt("run", "--headless", "--ticks", str(TICKS), "--digest", *options)

    first, second, other = run("--seed", "7"), run("--seed", "7"), run("--seed", "8")
    assert (first.exit_code, first.stdout) == (0, second.stdout)
    assert first.stdout.splitlines()[0] == f"{project}: {TICKS} ticks, seed 7, plain host"
    assert re.fullmatch(r"digest: [0-9a-f]{32}", first.stdout.splitlines()[-1])
    if project != "my_server":  # where nothing is drawn, and nobody comes, all seeds are alike
        assert other.stdout.splitlines()[-1] != first.stdout.splitlines()[-1]


@pytest.mark.slow
def test_the_packs_of_a_project_are_right(project):
    result = agentrt("packs", "check", project, "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.output)
    assert all(file["alias"].startswith(f"{project}:ai_pack:") for file in report["files"])
    assert agentrt("packs", "check", ".").exit_code == 0


@pytest.mark.slow
def test_a_recording_of_a_project_is_replayed(project):
    told = agentrt("run", "--headless", "--ticks", "400", "--record", f"{project}.sqlite")
    assert told.exit_code == 0
    replayed = agentrt("replay", f"{project}.sqlite")
    assert replayed.exit_code == 0, replayed.output
    Path(f"{project}.sqlite").unlink()


@pytest.mark.slow
def test_the_tests_of_a_project_pass(project):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:cacheprovider", "-p", "agentrt.testing.plugin"],
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},  # those of this environment take long to start
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_a_server_whose_port_is_taken_says_so_without_a_traceback(projects):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code = f"""
import asyncio, agentrt, my_server.server as server
server.PORT = {taken.getsockname()[1]}
asyncio.run(server.serve(agentrt.Runtime()))
"""
        done = subprocess.run(
            [sys.executable, "-c", code], cwd=projects / "my_server", env=finding(projects / "my_server"),
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("the inn stays shut: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.slow
def test_the_style_of_all_projects_is_right(projects):
    pytest.importorskip("ruff")
    for command in (["check", "--no-cache"], ["format", "--check", "--no-cache"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command], cwd=projects, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_types_of_all_projects_are_right_for_mypy(projects):
    pytest.importorskip("mypy")
    folders = [str(folder) for name in sorted(projects.iterdir()) for folder in (name / name.name, name / "tests")]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=", "--strict", "--cache-dir=.mypy_cache", *folders],
        cwd=projects,
        env={**os.environ, "MYPYPATH": os.pathsep.join(map(str, sorted(projects.iterdir())))},
        capture_output=True,
        text=True,
        check=False,
    )
    shutil.rmtree(projects / ".mypy_cache", ignore_errors=True)
    assert (done.returncode, done.stdout.splitlines()[-1][:7]) == (0, "Success"), done.stdout + done.stderr


@pytest.mark.slow
def test_the_types_of_all_projects_are_right_for_pyright(projects):
    pytest.importorskip("pyright")
    settings = {"include": ["."], "executionEnvironments": [{"root": name.name} for name in sorted(projects.iterdir())]}
    (projects / "pyrightconfig.json").write_text(json.dumps(settings))
    done = subprocess.run(
        [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--warnings"],
        cwd=projects,
        capture_output=True,
        text=True,
        check=False,
    )
    (projects / "pyrightconfig.json").unlink()
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-1].startswith("0 errors, 0 warnings"), done.stdout
