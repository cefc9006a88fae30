"""What mypy and pyright say of code that uses the library, in their strict modes.

Each module beside this one is such code. A line that has to be wrong is marked with the rules by which the two find it::

    ctx.entity.helth  # wrong: attr-defined reportAttributeAccessIssue

that is a rule of mypy, and one of pyright or several with commas between. All other lines have to be right: what is found is compared with what is marked, line by line. The code of the page
about types is looked at with them. The modules are imported,
too, so that what a type checker takes is nothing that Python refuses; what Python would refuse stands in functions that
nobody calls.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "how-to" / "types.md"
CODE = sorted(file.name for file in HERE.glob("*.py") if file != Path(__file__))
MARK = re.compile(r"# wrong: (?P<mypy>\S+) (?P<pyright>\S+)$")


def marked(checker):
    """The lines that are marked, with the rule by which a checker finds each."""
    return sorted(
        (name, number, rule)
        for name in CODE
        for number, line in enumerate((HERE / name).read_text().splitlines(), 1)
        if (mark := MARK.search(line))
        for rule in mark[checker].split(",")
    )


def ends_well(done):
    """Whether a checker came to its end: it found nothing (0), or something (1)."""
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def copies(tmp_path):
    """A folder with the modules, and with what the page has."""
    for name in CODE:
        shutil.copy(HERE / name, tmp_path)
    blocks = re.findall(r"(?ms)^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"))
    assert len(blocks) > 4
    (tmp_path / "page.py").write_text("\n".join(blocks), encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", CODE)
def test_the_code_runs(name):
    spec = importlib.util.spec_from_file_location(f"typing_{name[:-3]}", HERE / name)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[spec.name]


@pytest.mark.slow
@pytest.mark.checkout  # the types are those of the sources
def test_mypy_finds_what_is_wrong_and_nothing_else(copies):
    pytest.importorskip("mypy")
    options = ("--config-file=", "--strict", "--no-error-summary", "--output=json")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *options, "."], cwd=copies, capture_output=True, text=True, check=False
    )
    told = [json.loads(line) for line in ends_well(done).splitlines()]
    errors = {(one["file"], one["line"], one["code"]) for one in told if one["severity"] == "error"}
    assert sorted(errors) == marked("mypy"), done.stdout


@pytest.mark.slow
@pytest.mark.checkout
def test_pyright_finds_what_is_wrong_and_nothing_else(copies):
    pytest.importorskip("pyright")
    quiet = dict.fromkeys(("reportUnusedExpression", "reportUnusedFunction", "reportUnusedClass"), False)
    settings = {"include": ["."], "typeCheckingMode": "strict", **quiet}
    (copies / "pyrightconfig.json").write_text(json.dumps(settings))
    command = (sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson")
    done = subprocess.run(command, cwd=copies, capture_output=True, text=True, check=False)
    told = json.loads(ends_well(done))["generalDiagnostics"]
    found = {(Path(one["file"]).name, one["range"]["start"]["line"] + 1, one.get("rule", "")) for one in told}
    wrong = {one[:2] for one in marked("pyright")}
    found -= {one for one in found if one[:2] in wrong and one[2].startswith("reportUnknown")}  # what follows of it
    assert sorted(found) == marked("pyright"), "\n".join(f"{one['file']}: {one['message']}" for one in told)
