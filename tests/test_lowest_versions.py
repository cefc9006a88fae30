"""The lowest versions that are declared: each dependency has one, and they are what pip is told."""

from __future__ import annotations

import tomllib

import pytest
from modules import load

lowest_versions = load("tools/lowest_versions.py")


def project(root):
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.parametrize("extras", [[], ["trio"], ["test", "bench"], ["dev"]], ids=str)
def test_every_dependency_says_its_lowest_version(root, extras):
    lines = list(lowest_versions.constraints(project(root), extras))
    assert len(lines) >= 4
    assert "anyio==4.4" in lines
    assert ("trio==0.29" in lines) == bool(extras)
    assert "uvloop==0.20 ; sys_platform != 'win32'" in lines or extras in ([], ["trio"])


def test_all_extras_are_tried_but_those_of_the_linters_the_site_and_the_compiler(root):
    tried = set(lowest_versions.constraints(project(root), ["test", "bench"]))
    others = set(lowest_versions.constraints(project(root), ["lint", "docs", "build"]))
    assert (
        set(lowest_versions.constraints(project(root), list(project(root)["optional-dependencies"]))) == tried | others
    )


def test_what_is_no_statement():
    def of(*requirements):
        return list(
            lowest_versions.constraints({"name": "x", "dependencies": requirements, "optional-dependencies": {}}, [])
        )

    assert of("a[extra]>=1.5,<3", "B.b >= 2; python_version < '4'") == ["B.b==2 ; python_version < '4'", "a==1.5"]
    with pytest.raises(ValueError, match="'a' says no lowest version: write a>="):
        of("a")
    with pytest.raises(ValueError, match="a has two lowest versions: a==1 and a==2"):
        of("a>=1", "a>=2")
