"""The house rules that a linter does not know: what a floor may import, how long things are, what is shipped.

The floors themselves (who imports whom inside agentrt) are contracts of import-linter, in pyproject.toml. What a module
and a class must be to exist, and circles, are in test_rooms.py.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib

import pytest
from library import PACKAGES, ROOT, source_of

pytestmark = pytest.mark.untraced

PURE = ("words.py", "errors.py", "kernel", "body", "activity", "goals", "behavior", "selection", "strategy", "packs")
PURE_STDLIB = {
    "__future__", "abc", "bisect", "collections", "contextlib", "contextvars", "copy", "dataclasses", "difflib", "enum",
    "fractions", "functools", "hashlib", "heapq", "inspect", "itertools", "json", "keyword", "math", "operator", "re", "string",
    "struct", "sys", "traceback", "types", "typing", "warnings", "weakref",
}  # fmt: skip
ALSO = {  # what single places (paths that start so) may import beyond that, and why
    "agentrt/body/codec.py": {"ast"},  # reads the types of fields
    "agentrt/body/entity.py": {"typing_extensions"},  # never at run time: what type checkers know of it
    "agentrt/packs/": {"importlib", "os", "pathlib"},  # reads files, finds entry points
    "agentrt/selection/": {"pathlib", "xml"},  # reads trees from files
    "agentrt/strategy/tools.py": {"dis"},  # reads the code of strategies, for tools
    "agentrt/packs/schema.py": {"jsonschema"},  # inside the function that makes the validator
    "agentrt/kernel/strand.py": {"ctypes"},  # keeps what refuses to end, beyond the end of the interpreter
    "agentrt/kernel/traps.py": {"threading"},  # which kernel is running, in each thread
    "agentrt/kernel/foreign.py": {"threading", "time"},
    "agentrt/kernel/hosts/asyncio_": {"asyncio", "gc", "threading", "time"},  # gc: what a coroutine holds
    "agentrt/activity/author/action.py": {"dis"},  # whether a hook can suspend
    "agentrt/body/slips.py": {"dis"},  # calls that are dropped, when a class is defined
    "agentrt/activity/author/steps.py": {"dis"},  # whether somebody looks one up, when a class is defined
    "agentrt/kernel/hosts/loops.py": {"anyio", "asyncio", "time", "trio"},
    "agentrt/kernel/hosts/watchdog.py": {"ctypes", "functools", "os", "signal", "sysconfig", "threading", "time"},
    "agentrt/kernel/hosts/trio_": {"outcome", "threading", "time", "trio"},
}
LONGEST_MODULE = 800  # above that its header says why it is one, and it is named below
LONGEST_FUNCTION = 40
ONLY_EXCEPTIONS = {  # where ``except Exception`` is meant, and why
    "agentrt/packs/registry.py",
    "agentrt/worlds.py",
    "agentrt/strategy/tools.py",  # reads annotations, for a tool
    "agentrt/strategy/solve.py",
    "agentrt/minds/mind.py",  # around a call outside, of which an intake delivers nothing else
    "agentrt/minds/model.py",  # on an event loop, where a cancellation has to pass
}
LONG_ON_PURPOSE = {
    "agentrt/errors.py",  # a catalog: every exception in one place
    "agentrt/activity/author/context.py",  # all that an action can call, in one place
    "agentrt/activity/plan/tree.py",  # units and frames: one machine
    "agentrt/activity/tasks/group.py",  # a group, its tasks and their places in plans keep each other's books
    "agentrt/cli/commands.py",  # the commands: each is a few lines of options, and they share who serves a page
    "agentrt/agent/agent.py",  # an agent and what drives it begin and end together
    "agentrt/agent/knowledge.py",  # what is taught, the receipt for it, and what is had because of it
    "agentrt/behavior/memory.py",  # a memory and its activations name each other
    "agentrt/goals/selector.py",  # a selector, its goals and their locks know each other
    "agentrt/selection/state.py",  # a state and the behaviors that are given it name each other
    "agentrt/kernel/hosts/asyncio_.py",  # a strand makes tasks, which are strands that strands await
    "agentrt/runtime/runtime.py",  # what a game calls, on one object
    "agentrt/kernel/kernel.py",  # what each tick passes
    "agentrt/worlds.py",  # what a world has, what it is made with, and the two roads that lead to one
    "agentrt/reload.py",  # what a module says, how one thing takes over another, and a reload, which is both at once
    "agentrt/strategy/ask.py",  # what is asked, who is asked, and who asks: authors' signatures go round
    "agentrt/strategy/solve.py",  # a request, its attempts, and what interrupts them are one run
    "_drive",  # the body of a trio task: one generator, since each further one is a frame on every wake
    "drain",  # the kernel's main loop: a call less for each step is what the wake target is made of
}


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def imported(nodes):
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


@pytest.fixture(scope="module")
def modules():
    """All that is written in each module, by its path."""
    sources = [source_of(name) for name in PACKAGES]
    return {source.paths[module]: nodes for source in sources for module, nodes in source.nodes.items()}


@pytest.fixture(scope="module")
def texts(modules):
    return {path: path.read_text(encoding="utf-8") for path in modules}


def test_the_lower_floors_import_only_what_they_may(modules):
    wrong = []
    for path, nodes in modules.items():
        inside = path.relative_to(PACKAGES["agentrt"]) if path.is_relative_to(PACKAGES["agentrt"]) else None
        if inside is None or inside.parts[0] not in PURE:
            continue
        name = name_of(path)
        allowed = PURE_STDLIB | {"agentrt"}
        for place, more in ALSO.items():
            if name.startswith(place):
                allowed |= more
        wrong += [f"{name} imports {module}" for module in imported(nodes) if module not in allowed]
    assert wrong == []


def test_nothing_is_excepted_from_the_floors():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    (floors,) = (contract for contract in settings["contracts"] if contract["id"] == "floors")
    assert settings["exclude_type_checking_imports"] is False
    assert "ignore_imports" not in floors, "Put what both need below both, or declare there what the upper one is."


def test_every_module_opens_with_its_theory(modules):
    assert [name_of(path) for path, (tree, *_) in modules.items() if not ast.get_docstring(tree)] == []


def test_modules_are_short(texts):
    assert [
        f"{name_of(path)}: {lines} lines"
        for path, text in texts.items()
        if (lines := len(text.splitlines())) > LONGEST_MODULE and name_of(path) not in LONG_ON_PURPOSE
    ] == []


def test_functions_are_short(modules, texts):
    """Lines from the first statement after the docstring to the last, without those that are a comment."""
    wrong = []
    for path, nodes in modules.items():
        text = texts[path].splitlines()
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                told = text[body[0].lineno - 1 : body[-1].end_lineno] if body else []
                lines = sum(not line.lstrip().startswith("#") for line in told)
                if lines > LONGEST_FUNCTION and node.name not in LONG_ON_PURPOSE:
                    wrong.append(f"{name_of(path)}:{node.lineno} {node.name}: {lines} lines")
    assert wrong == []


def test_whatever_an_author_raises_is_contained_and_not_only_exceptions(modules):
    """``except Exception`` lets through what ``result()`` of a cancelled future raises; see ``errors.ENDS_PROGRAM``."""
    found = [
        f"{name_of(path)}:{node.lineno}"
        for path, nodes in modules.items()
        if path.is_relative_to(PACKAGES["agentrt"])
        for node in nodes
        if isinstance(node, ast.ExceptHandler) and isinstance(node.type, ast.Name) and node.type.id == "Exception"
    ]
    assert [place for place in found if place.rpartition(":")[0] not in ONLY_EXCEPTIONS] == []


def test_text_of_an_error_is_made_by_one_function(texts):
    """``words.error_words``, which never raises; whoever writes it by hand is left with half of its bookkeeping."""
    by_hand = re.compile(r"\{type\((\w+)\)\.__name__\}: \{\1")
    assert [name_of(path) for path, text in texts.items() if by_hand.search(text)] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_is_typed(package):
    assert (PACKAGES[package] / "py.typed").is_file()


def test_the_wheel_ships_all_packages_but_the_examples_that_are_run_from_a_clone():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    shipped = settings["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    packages = [PACKAGES[name] for name in PACKAGES if not name.startswith("examples.")]
    assert [ROOT / path for path in shipped] == [*packages, ROOT / "templates" / "agentrt_templates"]  # which is data


def _loaded_by(code):
    """What a new process has loaded after some code that it had not before: the names of modules."""
    told = "import sys; before = set(sys.modules)\n" + code + "\nprint(*sorted(set(sys.modules) - before))"
    return subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True).stdout.split()


def test_importing_agentrt_imports_nothing_heavy():
    loaded = {name.partition(".")[0] for name in _loaded_by("import agentrt")}
    assert loaded - sys.stdlib_module_names - {"agentrt", "agentrt__mypyc"} == set()  # and what is compiled
    slow = {
        "asyncio", "difflib", "email", "json", "logging", "pathlib", "random", "socket", "sqlite3", "ssl",
        "subprocess", "traceback", "urllib", "xml", "zipfile",
    }  # fmt: skip
    assert loaded & slow == set()


def test_importing_agentrt_loads_what_a_tick_needs_and_no_more():
    loaded = [name for name in _loaded_by("import agentrt") if name.startswith("agentrt.")]
    assert sorted({name.split(".")[1] for name in loaded}) == [
        "activity", "agent", "body", "errors", "kernel", "native", "runtime", "words",
    ]  # fmt: skip
    assert {"agentrt.activity.tasks.views", "agentrt.body.codec", "agentrt.body.views"}.isdisjoint(loaded)
    assert len(loaded) <= 60, (
        "One more costs each program that starts: load it with what needs it, or raise this on purpose."
    )


def test_the_first_ticks_load_nothing():
    code = """import agentrt
class Walk(agentrt.Action):
    does, utility = "demo:walk", 1.0
    async def run(self, ctx, args):
        await agentrt.sleep_ticks(2)
class Live(agentrt.CompoundAction):
    does, utility, steps = agentrt.TOP, 1.0, [agentrt.step("demo:walk")]
before = set(sys.modules)
runtime = agentrt.Runtime(host="plain", seed=1)
runtime.add(agentrt.Agent(object(), actions=[Live, Walk]))
for _ in range(9):
    runtime.step()
assert runtime.tick == 9"""
    assert _loaded_by(code) == []
