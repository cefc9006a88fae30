"""How the packages of the bridge come to this machine, with a node and an npm that are only scripts."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path

import pytest

from agentrt_examples.minecraft import packages
from agentrt_examples.minecraft.packages import BRIDGE, Unavailable


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A PATH with nothing on it but what a test puts there: ``path("node", "echo v20.1.0")``."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", str(programs))

    def put(name, script):
        program = programs / name
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        return str(program)

    return put


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTRT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def folders(cache):
    return sorted(each.name for each in cache.iterdir())


@pytest.mark.parametrize("version", ["v18.0.0", "v20.20.2", "v100.1.0"])
def test_a_node_that_is_new_enough(path, version):
    program = path("node", f"echo {version}")
    assert packages.node() == program


@pytest.mark.states("003: A real server: Its packages are pinned by checksum, installed once, complete or not at ...")
def test_no_node(path):
    with pytest.raises(Unavailable, match=r"node is not installed: the real server needs Node\.js 18 or later"):
        packages.node()


@pytest.mark.parametrize("said", ["v17.9.1", "nonsense", ""])
def test_a_node_that_is_too_old(path, said):
    program = path("node", f"echo {said}")
    with pytest.raises(
        Unavailable, match=re.escape(f"{program} says it is {said or 'nothing'}: the real server needs")
    ):
        packages.node()


def test_packages_are_installed_once_from_what_is_pinned(path, cache):
    path("npm", "echo $@ > arguments; echo done >> count; : > node_modules")
    said = []
    folder = packages.modules(said.append)
    assert (folder / "arguments").read_text().startswith("ci --ignore-scripts --no-audit --no-fund ")
    assert (folder / "package-lock.json").read_bytes() == (BRIDGE / "package-lock.json").read_bytes()
    assert said == [f"installing the packages of the Minecraft bridge into {folder} (about 320 MB, once)", "installed"]
    assert packages.modules(said.append) == folder
    assert len(said) == 2
    assert (folder / "count").read_text() == "done\n"
    assert folders(cache) == [folder.name]


def test_other_versions_are_another_folder(path, cache, tmp_path, monkeypatch):
    path("npm", ":")
    first = packages.modules(lambda text: None)
    bridge = tmp_path / "bridge"
    bridge.mkdir()
    for name in ("package.json", "package-lock.json"):
        (bridge / name).write_bytes((BRIDGE / name).read_bytes() + b"\n")
    monkeypatch.setattr(packages, "BRIDGE", bridge)
    second = packages.modules(lambda text: None)
    assert folders(cache) == sorted([first.name, second.name])
    assert first != second


def test_no_npm(path, cache):
    with pytest.raises(Unavailable, match="npm is not installed"):
        packages.modules(lambda text: None)


@pytest.mark.states("003: A real server: Its packages are pinned by checksum, installed once, complete or not at ...")
def test_a_failed_installation_says_what_npm_said_and_leaves_nothing(path, cache):
    path("npm", "for i in 1 2 3 4 5 6 7 8 9; do echo line $i; done; echo no network >&2; exit 1")
    with pytest.raises(Unavailable, match=r"is the npm registry reachable\?\n  line 3\n(.*\n)*  no network$"):
        packages.modules(lambda text: None)
    assert folders(cache) == []


def test_a_long_installation_is_seen_to_go_on_and_has_an_end(path, cache, monkeypatch):
    monkeypatch.setattr(packages, "_PATIENCE", 0.02)
    monkeypatch.setattr(packages, "_ROUND", 0.01)
    path("npm", "exec /bin/sleep 60")
    said = []
    with pytest.raises(Unavailable, match=r"'npm ci' did not end within 0\.02 s"):
        packages.modules(said.append)
    assert said[1:] == ["still installing (0.01 s)", "still installing (0.02 s)"]
    assert folders(cache) == []


def test_somebody_else_may_be_quicker(path, cache):
    said = []

    def say(text):
        said.append(text)
        if len(said) == 1:  # meanwhile, another program begins and ends
            packages.modules(lambda text: None)

    path("npm", ":")
    assert packages.modules(say).is_dir()
    assert len(folders(cache)) == 1


def test_a_cache_that_cannot_be_written(path, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("AGENTRT_CACHE", str(tmp_path / "file" / "cache"))
    path("npm", ":")
    with pytest.raises(Unavailable, match="cannot write to .*Set AGENTRT_CACHE to a folder of yours"):
        packages.modules(lambda text: None)


def test_where_the_cache_is(monkeypatch):
    monkeypatch.delenv("AGENTRT_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert packages._cache() == Path("/somewhere/agentrt")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/of/mine")
    assert packages._cache() == Path("/home/of/mine/.cache/agentrt")


@pytest.mark.states(
    "003: A real server: Its packages are pinned by checksum, installed once, complete or not at all; where that "
    "cannot be, it says what is missing",
    source="(ours)",
)
def test_every_package_is_pinned_with_a_checksum():
    """Nothing comes from anywhere but a registry, and nothing is left to the day of the installation."""
    lock = json.loads((BRIDGE / "package-lock.json").read_text())
    own, *others = lock["packages"].items()
    assert own[0] == ""
    assert [name for name, package in others if not package.get("integrity", "").startswith("sha512-")] == []
    assert [name for name, package in others if "git" in package.get("resolved", "")] == []
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in own[1]["dependencies"].values())
