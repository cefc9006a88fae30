"""The command as it is installed."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points, version

import pytest
from click.testing import CliRunner

from agentrt.cli import main


def test_version():
    assert CliRunner().invoke(main, ["--version"]).output.startswith(f"agentrt {version('agentrt')} (")


def test_the_entry_point():
    (script,) = entry_points(group="console_scripts", name="agentrt")
    assert script.load() is main


def test_help_lists_the_commands():
    result = CliRunner().invoke(main, ["--help"])
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.output.partition("Commands:\n")[2].splitlines()] == [
        "check",
        "demo",
        "dev",
        "diff",
        "explain",
        "export",
        "inspect",
        "new",
        "packs",
        "replay",
        "resume",
        "run",
        "selection",
        "serve",
        "strategies",
        "sweep",
        "tune",
    ]


@pytest.mark.slow
def test_help_imports_nothing_heavy():
    code = (
        "import sys; from agentrt.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'jsonschema', 'asyncio', 'anyio', 'trio', 'structlog', 'textual', 'agentrt_actions', 'agentrt_examples'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr == "[]\n"
