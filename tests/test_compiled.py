"""Which build is tested is the one that was meant: in a checkout the pure one, and what ``make test-compiled`` built."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib

import agentrt

IS_MEANT = os.environ.get("AGENTRT_COMPILED") == "1"


def test_this_is_the_build_that_is_meant():
    assert agentrt.__compiled__ is IS_MEANT


def test_child_processes_have_the_same(root):
    code = "import agentrt; print(agentrt.__compiled__)"
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == f"{IS_MEANT}\n"


def test_all_modules_that_are_listed_are_compiled(root):
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    for path in settings["tool"]["hatch"]["build"]["targets"]["wheel"]["hooks"]["custom"]["modules"]:
        assert (root / path).is_file()
        module = sys.modules[path.removesuffix(".py").replace("/", ".")]
        assert module.__file__.endswith(".py") is not IS_MEANT, path


def test_the_command_line_says_which_it_is():
    done = subprocess.run(
        [sys.executable, "-m", "agentrt.cli", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"agentrt {agentrt.__version__} ({'compiled' if IS_MEANT else 'pure Python'})\n"
