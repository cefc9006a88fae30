"""Which build is tested is the one that was meant: in a checkout the pure one, and what ``make test-compiled`` built."""

from __future__ import annotations

import gc
import importlib.util
import os
import subprocess
import sys
import tomllib

import pytest

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


class Rest(agentrt.Action):
    does = agentrt.TOP
    utility = 0.5

    async def run(self, ctx, args):
        await ctx.sleep(1.0)


def test_the_collector_is_told_once_of_what_an_object_refers_to():
    """It clears what it counts too few references to, though it is in use: a strand in the queue, say."""
    runtime = agentrt.Runtime(seed=1)
    runtime.add(agentrt.Agent(agentrt.Entity("mouse"), actions=[Rest]))
    runtime.step()
    units = [one for one in gc.get_objects() if type(one).__name__ in ("Unit", "CompoundUnit")]
    assert {type(one).__name__ for one in units} >= {"Unit"}
    for unit in units:
        for name in ("context", "output", "stepper"):
            kept, mark = getattr(unit, name), [name]
            setattr(unit, name, mark)
            assert sum(one is mark for one in gc.get_referents(unit)) == 1, name
            setattr(unit, name, kept)
    runtime.close()


@pytest.fixture(scope="module")
def hook(root):
    pytest.importorskip("hatchling")
    spec = importlib.util.spec_from_file_location("compile_core", root / "tools" / "compile_core.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_a_base_declares_is_not_declared_again_to_the_compiler(hook, tmp_path):
    (tmp_path / "a.py").write_text("class A:\n    def f(self):\n        self.x: int = 1\n        self.y: int = 2\n")
    (tmp_path / "b.py").write_text(
        "class B(A):\n    def f(self):\n        é = 1; self.x: dict[str, int] | None = {}  # why\n        self.z: int = 3\n"
        "class C(B):\n    def f(self):\n        self.z: int = 4\n        self.y: str = ''\n"
    )
    hook.declare_once([tmp_path / "b.py", tmp_path / "a.py"])
    assert (tmp_path / "a.py").read_text().count(": int") == 2
    assert (tmp_path / "b.py").read_text() == (
        "class B(A):\n    def f(self):\n        é = 1; self.x = {}  # why\n        self.z: int = 3\n"
        "class C(B):\n    def f(self):\n        self.z = 4\n        self.y = ''\n"
    )


def test_what_it_cannot_leave_out_is_told(hook, tmp_path):
    (tmp_path / "a.py").write_text("class A:\n    x: int = 1\n\nclass B(A):\n    x: int = 2\n")
    with pytest.raises(ValueError, match="declare it there alone: x: int = 2"):
        hook.declare_once([tmp_path / "a.py"])
