"""``agentrt explain``: the page of an error, by its code, its number or its class; and how an error leads there."""

from __future__ import annotations

import traceback

import pytest
from click.testing import CliRunner

from agentrt import Agent, AgentRTError, Entity, Registry, installed
from agentrt.cli import main
from agentrt.errors import ERRORS, LivelockError


def run(*args):
    return CliRunner().invoke(main, ["explain", *args])


@pytest.mark.checkout  # a wheel that was built without docs has no pages
@pytest.mark.parametrize("code", ["ART302", "art302", "302", "[ART302]", "LivelockError", "livelockerror"])
def test_a_page(code):
    result = run(code)
    assert result.exit_code == 0
    assert result.output.startswith("# ART302 LivelockError\n")
    assert "**What to do:**" in result.output


def test_the_list():
    lines = run().output.splitlines()
    assert [line.split()[0] for line in lines] == list(ERRORS)
    assert lines[0] == "ART000  AgentRTError: The root of all errors that agentrt raises."


@pytest.mark.parametrize(
    ("code", "near"),
    [
        ("LivelokError", " Did you mean 'LivelockError'"),
        ("999", ""),
        ("../../pyproject", ""),
        ("ART302/../ART303", ""),
        ("", ""),
        ("\x1b[31m", ""),
    ],
)
def test_what_no_error_has(code, near):
    result = run(code)
    assert result.exit_code == 2
    assert f"no error of agentrt has it.{near}" in result.output
    assert result.output.endswith("All are listed by: agentrt explain\n")
    assert "\x1b" not in result.output


def test_a_copy_without_pages(tmp_path, monkeypatch):
    monkeypatch.setattr(installed, "__file__", str(tmp_path / "agentrt" / "installed.py"))
    assert run("ART302").output == "ART302: the pages about errors are missing from this copy of agentrt.\n"
    pages = tmp_path / "agentrt" / "error_pages"  # where a wheel has them
    pages.mkdir(parents=True)
    (pages / "ART302.md").write_text("# from the wheel\n", encoding="utf-8")
    assert run("302").output == "# from the wheel\n"


def test_an_error_leads_there():
    with pytest.raises(AgentRTError) as caught:
        Agent(Entity("wolf"), packs=["woods:ai_pack:wolf"], registry=Registry())
    assert "".join(traceback.format_exception(caught.value)).endswith("\nMore about it: agentrt explain ART203\n")


def test_an_error_of_somebody_elses_does_not():
    class Flood(LivelockError):
        code = "WOODS1"

    assert not hasattr(Flood(3), "__notes__")
    assert LivelockError(3).__notes__ == ["More about it: agentrt explain ART302"]
