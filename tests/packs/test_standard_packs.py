"""The packs that come with agentrt: found by entry points, whole, and without anything unresolved."""

from __future__ import annotations

import pytest

from agentrt.packs.closure import check_files, closure_of, find_files
from agentrt.packs.registry import Registry


@pytest.fixture(scope="module")
def installed():
    return Registry.discover(examples=True)


def test_the_standard_packs_are_registered(installed):
    assert [alias for alias in installed.aliases("ai_pack") if alias.startswith("agentrt:")] == [
        "agentrt:ai_pack:basic_needs",
        "agentrt:ai_pack:carrying",
        "agentrt:ai_pack:core",
        "agentrt:ai_pack:free_time",
        "agentrt:ai_pack:idling",
        "agentrt:ai_pack:movement",
        "agentrt:ai_pack:pursuit",
    ]


def test_every_installed_pack_resolves(installed):
    for alias in installed.aliases("ai_pack"):
        assert closure_of([alias], installed).packs[-1] == alias


@pytest.mark.parametrize("folder", ["packs/agentrt_packs", "examples/worlds/agentrt_examples/colony/packs"])
@pytest.mark.checkout
def test_every_file_is_registered_and_right(root, installed, folder):
    report = check_files(find_files([root / folder]), installed)
    assert [line for file in report.files for line in map(str, file.faults)] == []
    assert [file.file for file in report.files if not file.pack.alias] == []


def test_every_standard_action_is_in_a_standard_pack(installed):
    packs = [alias for alias in installed.aliases("ai_pack") if alias.startswith("agentrt:")]
    known = set(closure_of(packs, installed).actions)
    assert [
        alias for alias in installed.aliases("actions") if alias.startswith("agentrt:") and alias not in known
    ] == []
