"""The registry: one alias, one thing; one order of discovery; errors that name the origin."""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import sys
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest

from agentrt import TOP, Action, Agent, Entity
from agentrt.errors import DuplicateAliasError, InvalidPackError, ManifestError, UnknownAliasError
from agentrt.packs import registry as registry_module
from agentrt.packs.registry import Manifest, Registry, default_registry


class Wander(Action):
    does = TOP
    utility = 0.5


class Unsaid(Exception):
    def __str__(self):
        raise ValueError


class Sleep:
    pass


@pytest.mark.states("001: Writing actions: Actions are registered in a manifest and injected by packs")
def test_a_manifest_fills_the_registry():
    registry = Registry(
        [
            Manifest("m", {"actions:wander": Wander, "observers:o": "an observer", "ai_pack:core": {}}),
            Manifest("other", {"actions:combat:idle": Sleep}),
        ]
    )
    assert registry.get("m:actions:wander") is Wander
    assert registry.get("other:actions:combat:idle") is Sleep
    assert registry.aliases() == ("m:actions:wander", "m:ai_pack:core", "m:observers:o", "other:actions:combat:idle")
    assert registry.aliases("actions") == ("m:actions:wander", "other:actions:combat:idle")
    assert "m:observers:o" in registry
    assert "m:observers:p" not in registry
    assert len(registry) == 4
    assert registry.origin("m:observers:o") == "the manifest of 'm'"


def test_code_registers_things_itself():
    registry = Registry()
    registry.register("game:actions:sleep", Sleep)
    assert registry.get("game:actions:sleep") is Sleep
    assert registry.origin("game:actions:sleep") == "code"


def test_a_duplicate_names_both_origins_and_changes_nothing():
    registry = Registry([Manifest("m", {"actions:b": Wander})])
    with pytest.raises(DuplicateAliasError) as caught:
        registry.add(Manifest("m", {"actions:a": Sleep, "actions:b": Sleep}), origin="my plugin")
    assert str(caught.value) == (
        "[ART103] the alias 'm:actions:b' is registered by the manifest of 'm' and again by my plugin. "
        "Rename one of them: an alias names one thing."
    )
    assert registry.aliases() == ("m:actions:b",)
    with pytest.raises(DuplicateAliasError):
        registry.register("m:actions:b", Wander)


def test_an_unknown_alias_is_told_with_its_place_and_the_nearest_names():
    registry = Registry([Manifest("m", {"actions:wander": Wander, "ai_pack:wander": {}})])
    with pytest.raises(UnknownAliasError) as caught:
        registry.get("m:actions:wonder", file="p.json", pointer="/actions/0")
    assert str(caught.value) == (
        "[ART203] p.json#/actions/0: nobody registered 'm:actions:wonder'. Did you mean 'm:actions:wander'? Register it "
        "in a manifest of the entry-point groups 'agentrt.actions', 'agentrt.strategies' or 'agentrt.packs', or correct the reference."
    )


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: Manifest("my mod", {}),
            "[ART106] the manifest of 'my mod': this is no name for a mod. Use letters, digits, '_', '.' and '-'.",
        ),
        (
            lambda: Manifest("a:b", {}),
            "[ART106] the manifest of 'a:b': this is no name for a mod. Use letters, digits, '_', '.' and '-'.",
        ),
        (
            lambda: Manifest("m", {"action:wander": Wander}),
            "[ART106] the manifest of 'm': 'action:wander' does not make an alias 'mod:kind:name'. Did you mean 'actions'? "
            "The kinds are actions, observers, components, task_groups, strategies, ai_pack; a manifest writes 'kind:name', code writes "
            "all three.",
        ),
        (
            lambda: Manifest("m", {"m:actions:wander": Wander}),
            "[ART106] the manifest of 'm': 'm:actions:wander' does not make an alias 'mod:kind:name'. "
            "The kinds are actions, observers, components, task_groups, strategies, ai_pack; a manifest writes 'kind:name', code writes "
            "all three.",
        ),
        (
            lambda: Manifest("m", {}, mixins={"m:actions:x": {}}),
            "[ART106] the manifest of 'm': 'm:actions:x' is not the alias of a pack. A mixin goes into 'mod:ai_pack:name'.",
        ),
        (
            lambda: Registry().register_mixin("m:actions:x", {}),
            "[ART106] code: 'm:actions:x' is not the alias of a pack. A mixin goes into 'mod:ai_pack:name'.",
        ),
        (
            lambda: Registry().register("wander", Wander),
            "[ART106] code: 'wander' does not make an alias 'mod:kind:name'. "
            "The kinds are actions, observers, components, task_groups, strategies, ai_pack; a manifest writes 'kind:name', code writes "
            "all three.",
        ),
    ],
)
def test_manifests_that_are_not_well_formed(make, text):
    with pytest.raises(ManifestError) as caught:
        make()
    assert str(caught.value) == text


def test_a_manifest_does_not_change_afterwards():
    aliases = {"actions:wander": Wander}
    manifest = Manifest("m", aliases)
    aliases["actions:sleep"] = Sleep
    assert list(manifest.aliases) == ["actions:wander"]
    with pytest.raises(TypeError):
        manifest.aliases["actions:sleep"] = Sleep


def test_packs_are_loaded_once(tmp_path):
    file = tmp_path / "p.json"
    file.write_text('{"actions": ["m:actions:a"]}')
    registry = Registry([Manifest("m", {"ai_pack:p": file})])
    pack = registry.pack("m:ai_pack:p")
    file.unlink()
    assert registry.pack("m:ai_pack:p") is pack
    assert pack.alias == "m:ai_pack:p"
    assert registry.alias_of(tmp_path / "." / "p.json") == "m:ai_pack:p"
    assert registry.alias_of(tmp_path / "q.json") == ""


def test_only_packs_are_packs():
    registry = Registry([Manifest("m", {"actions:p": Wander, "ai_pack:p": {}, "ai_pack:q": "p.json"})])
    with pytest.raises(InvalidPackError) as caught:
        registry.pack("m:actions:p", file="x.json", pointer="/ai_packs/0")
    assert str(caught.value) == (
        "[ART202] x.json#/ai_packs/0: 'm:actions:p' is not the alias of a pack. Write 'mod:ai_pack:name'."
    )
    with pytest.raises(ManifestError, match=r"m:ai_pack:q: a pack is loaded from a Path, a resource or a mapping"):
        registry.pack("m:ai_pack:q")


def test_mixins_are_merged_in_the_order_of_registration(tmp_path):
    first = tmp_path / "first.json"
    first.write_text(json.dumps({"actions": ["x:actions:only"], "mixintypes": {"actions": "override"}}))
    registry = Registry(
        [
            Manifest("x", {}, mixins={"m:ai_pack:p": first, "absent:ai_pack:p": {}}),
            Manifest("m", {"ai_pack:p": {"actions": ["m:actions:a"]}}),
            Manifest("y", {}, mixins={"m:ai_pack:p": {"actions": ["y:actions:more"]}}),
        ]
    )
    assert [(ref.alias, ref.file) for ref in registry.pack("m:ai_pack:p").actions] == [
        ("x:actions:only", str(first)),
        ("y:actions:more", "(mixin 2 of m:ai_pack:p)"),
    ]
    registry.register_mixin("m:ai_pack:p", {"actions": ["z:actions:late"]})
    assert [ref.alias for ref in registry.pack("m:ai_pack:p").actions][-1] == "z:actions:late"
    registry.register_mixin("m:ai_pack:p", {"action": []})
    with pytest.raises(InvalidPackError, match=r"\(mixin 4 of m:ai_pack:p\)#/action: a pack has no key"):
        registry.pack("m:ai_pack:p")


# --- discovery --------------------------------------------------------------------------------------------------------


@pytest.fixture
def install(monkeypatch):
    """Pretend that packages are installed: ``install(group, name, object)``, in any order."""
    points = []
    module = ModuleType("pretended")
    monkeypatch.setitem(sys.modules, "pretended", module)
    monkeypatch.setattr(
        importlib.metadata, "entry_points", lambda *, group: [point for point in points if point.group == group]
    )

    def install(group, name, thing):
        attribute = f"thing_{len(points)}"
        setattr(module, attribute, thing)
        points.append(EntryPoint(name, f"pretended:{attribute}", group))

    return install


def test_discovery_goes_by_group_and_name(install):
    both = Manifest("both", {"actions:x": Wander})
    install("agentrt.packs", "a", Manifest("m", {"ai_pack:first": {}}))
    install("agentrt.actions", "z", both)
    install("agentrt.actions", "b", Manifest("n", {"actions:x": Sleep}))
    install("agentrt.packs", "z", both)
    install("agentrt.other", "x", "not ours")
    registry = Registry.discover()
    assert list(registry._entries) == ["n:actions:x", "both:actions:x", "m:ai_pack:first"]
    assert registry.origin("n:actions:x") == "the entry point 'b' of 'agentrt.actions' (pretended:thing_2)"


def test_two_packages_with_one_alias(install):
    install("agentrt.actions", "b", Manifest("m", {"actions:x": Wander}))
    install("agentrt.actions", "a", Manifest("m", {"actions:x": Wander}))
    with pytest.raises(DuplicateAliasError) as caught:
        Registry.discover()
    assert str(caught.value).startswith(
        "[ART103] the alias 'm:actions:x' is registered by the entry point 'a' of 'agentrt.actions' (pretended:thing_1) "
        "and again by the entry point 'b' of 'agentrt.actions' (pretended:thing_0)."
    )


def test_an_entry_point_that_is_no_manifest(install):
    install("agentrt.packs", "a", {"ai_pack:x": {}})
    with pytest.raises(ManifestError) as caught:
        Registry.discover()
    assert str(caught.value) == (
        "[ART106] the entry point 'a' of 'agentrt.packs' (pretended:thing_0): it is a dict and not an agentrt.Manifest. "
        "Point it at a Manifest object, as in 'my_mod:manifest'."
    )


def test_an_entry_point_that_cannot_be_imported(monkeypatch):
    point = EntryPoint("a", "no_such_module_anywhere:manifest", "agentrt.actions")
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda *, group: [point] if group == point.group else [])
    with pytest.raises(ManifestError) as caught:
        Registry.discover()
    assert str(caught.value) == (
        "[ART106] the entry point 'a' of 'agentrt.actions' (no_such_module_anywhere:manifest): loading it raised "
        "ModuleNotFoundError: No module named 'no_such_module_anywhere'. Repair or uninstall that package."
    )
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


def test_the_default_registry_is_discovered_once(install):
    default_registry.cache_clear()
    install("agentrt.actions", "a", Manifest("m", {"actions:x": Wander}))
    try:
        assert default_registry() is default_registry()
        assert default_registry().aliases() == ("m:actions:x",)
    finally:
        default_registry.cache_clear()


class Whose:
    name = "bad-mod"


class Breaks(EntryPoint):
    """An entry point of a distribution, whose module raises something when it is imported."""

    dist = Whose()
    raised: list[BaseException] = []

    def load(self):
        raise self.raised[0]


def broken_point(monkeypatch, group, raised):
    monkeypatch.setattr(Breaks, "raised", [raised])
    found = importlib.metadata.entry_points
    point = Breaks("aaa", "bad_mod:manifest", group)
    monkeypatch.setattr(
        importlib.metadata,
        "entry_points",
        lambda *, group: [point, *found(group=group)] if group == point.group else found(group=group),
    )


@pytest.mark.states(
    "tools: Outside: A package whose entry point raises whatever while it is loaded, `SystemExit` too, is an error "
    "with its distribution's name, and the others are there",
    source="design 11, 12",
)
@pytest.mark.parametrize("group", registry_module.ENTRY_POINT_GROUPS)
@pytest.mark.parametrize(
    "raised",
    [
        SystemExit(3),
        SystemExit("\x1b[31m"),
        GeneratorExit(),
        asyncio.CancelledError(),
        BaseException("x"),
        Unsaid(),
        ValueError("v"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_an_entry_point_that_raises_whatever_hurts_nobody_else(install, monkeypatch, group, raised):
    install("agentrt.actions", "a", Manifest("m", {"actions:x": Wander}))
    install("agentrt.packs", "b", Manifest("n", {"ai_pack:y": {"actions": ["m:actions:x"]}}))
    broken_point(monkeypatch, group, raised)
    with pytest.raises(ManifestError) as caught:
        Registry.discover()
    assert str(caught.value).startswith(
        f"[ART106] the entry point 'aaa' of '{group}' (bad_mod:manifest, from bad-mod): loading it raised "
        f"{type(raised).__name__}: "
    )
    assert caught.value.__cause__ is raised
    registry = Registry.discover(strict=False)
    assert registry.aliases() == ("m:actions:x", "n:ai_pack:y")
    assert [str(error) for error in registry.broken] == [str(caught.value)]
    with pytest.raises(UnknownAliasError) as unknown:
        registry.get("bad:actions:z")
    assert unknown.value.__notes__[1:] == [f"Passed over: {caught.value}"]


def test_ctrl_c_while_an_entry_point_is_loaded_is_no_manifest(install, monkeypatch):
    broken_point(monkeypatch, "agentrt.packs", KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        Registry.discover(strict=False)


def test_a_manifest_of_aliases_that_are_taken_is_passed_over_whole(install):
    install("agentrt.actions", "b", Manifest("m", {"actions:x": Sleep, "actions:y": Sleep}))
    install("agentrt.actions", "a", Manifest("m", {"actions:x": Wander}))
    install("agentrt.packs", "a", {})
    registry = Registry.discover(strict=False)
    assert registry.aliases() == ("m:actions:x",)
    assert registry.get("m:actions:x") is Wander
    assert [type(error) for error in registry.broken] == [DuplicateAliasError, ManifestError]


def test_agents_go_without_what_is_broken_and_it_is_logged_once(install, monkeypatch, caplog):
    default_registry.cache_clear()
    install("agentrt.actions", "a", Manifest("m", {"actions:x": Wander}))
    broken_point(monkeypatch, "agentrt.packs", SystemExit(1))
    try:
        agents = [Agent(Entity("human"), packs=[{"actions": ["m:actions:x"]}]) for _ in range(3)]
        assert [agent.actions for agent in agents] == [(Wander,)] * 3
        (record,) = caplog.records
        assert "a package is passed over" in record.getMessage()
        assert "bad-mod" in record.getMessage()
    finally:
        default_registry.cache_clear()


@pytest.mark.states("003: Packs: Developers add strategies of their own as plugins: a class, a function, a package ...")
def test_groups_are_public():
    assert registry_module.ENTRY_POINT_GROUPS == ("agentrt.actions", "agentrt.strategies", "agentrt.packs")
