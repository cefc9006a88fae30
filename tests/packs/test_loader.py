"""Packs as values: what is loaded, what is frozen, how mixins merge."""

from __future__ import annotations

import dataclasses
import json
from importlib.resources import files
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrt.errors import AgentRTError, InvalidPackError, ManifestError
from agentrt.packs.loader import Pack, Reference, load_pack, mix

WHOLE = {
    "type": "ai_pack",
    "_note": "ignored",
    "actions": ["m:actions:a", "m:actions:b"],
    "observers": ["m:observers:o"],
    "components": {"m:components:c": {"size": 3}, "_why": 1, "m:components:d": {}},
    "task_groups": ["m:task_groups:solo:g"],
    "ai_packs": ["m:ai_pack:core", {"actions": ["m:actions:x"], "ai_packs": [{"components": ["m:components:e"]}]}],
    "mixintypes": {"actions": "override", "_why": "because"},
}


@pytest.mark.states('001: Injecting actions: A pack is JSON, with `"type": "ai_pack"` ((decided) or without), and ...')
def test_a_whole_pack_from_a_file(tmp_path):
    file = tmp_path / "p.json"
    file.write_text(json.dumps(WHOLE))
    name = str(file)
    assert load_pack(file, alias="m:ai_pack:p") == Pack(
        alias="m:ai_pack:p",
        file=name,
        actions=(Reference("m:actions:a"), Reference("m:actions:b")),
        observers=(Reference("m:observers:o"),),
        components=(
            Reference("m:components:c", settings={"size": 3}),
            Reference("m:components:d", settings={}),
        ),
        task_groups=(Reference("m:task_groups:solo:g"),),
        ai_packs=(
            Reference("m:ai_pack:core"),
            Pack(
                file=name,
                pointer="/ai_packs/1",
                actions=(Reference("m:actions:x"),),
                ai_packs=(
                    Pack(file=name, pointer="/ai_packs/1/ai_packs/0", components=(Reference("m:components:e"),)),
                ),
            ),
        ),
        mixintypes={"actions": "override"},
    )


def test_each_reference_knows_its_place(tmp_path):
    file = tmp_path / "p.json"
    file.write_text(json.dumps(WHOLE))
    pack = load_pack(file)
    inner = pack.ai_packs[1]
    assert [
        (reference.file == str(file), reference.pointer)
        for reference in (
            *pack.actions,
            *pack.components,
            pack.ai_packs[0],
            *inner.actions,
            *inner.ai_packs[0].components,
        )
    ] == [
        (True, "/actions/0"),
        (True, "/actions/1"),
        (True, "/components/m:components:c"),
        (True, "/components/m:components:d"),
        (True, "/ai_packs/0"),
        (True, "/ai_packs/1/actions/0"),
        (True, "/ai_packs/1/ai_packs/0/components/0"),
    ]


@pytest.mark.parametrize(
    ("pack", "name"),
    [
        (Pack(alias="m:ai_pack:p", file="p.json"), "m:ai_pack:p"),
        (Pack(file="p.json"), "p.json"),
        (Pack(file="p.json", pointer="/ai_packs/0"), "p.json#/ai_packs/0"),
        (Pack(), "(a pack from code)"),
    ],
)
def test_names(pack, name):
    assert pack.name == name


def test_a_pack_from_another_document_is_named_by_its_place():
    pack = load_pack({"actions": ["m:actions:a"]}, file="collar.json", pointer="/equipment/injected_ai")
    assert pack.name == "collar.json#/equipment/injected_ai"
    assert pack.actions[0].pointer == "/equipment/injected_ai/actions/0"
    with pytest.raises(InvalidPackError, match=r"collar\.json#/equipment/injected_ai#/action: a pack has no key"):
        load_pack({"action": []}, file="collar.json", pointer="/equipment/injected_ai")


def test_packs_are_frozen():
    source = {"components": {"m:components:c": {"size": 3}}}
    pack = load_pack(source)
    source["components"]["m:components:c"]["size"] = 4
    assert pack.components[0].settings == {"size": 3}
    with pytest.raises(TypeError):
        pack.components[0].settings["size"] = 5
    with pytest.raises(TypeError):
        pack.mixintypes["actions"] = "append"
    with pytest.raises(dataclasses.FrozenInstanceError):
        pack.actions = ()
    assert hash(pack) == hash(load_pack({"components": {"m:components:c": {"size": 3}}}))


def test_a_resource_of_a_package():
    with pytest.raises(InvalidPackError, match="a pack has no key"):
        load_pack(files("agentrt.packs") / "pack.schema.json")


class Odd:
    @property
    def is_file(self):
        raise ValueError("not so")


@pytest.mark.parametrize("source", ["packs/core.json", b"{}", None, 1, ["m:actions:a"], Path, dict, Odd()])
def test_a_text_is_never_a_file_nor_is_anything_else(source):
    with pytest.raises(ManifestError, match="a pack is loaded from a Path, a resource or a mapping, and this is a"):
        load_pack(source)


# --- mixins -----------------------------------------------------------------------------------------------------------

BASE = {
    "actions": ["m:actions:a", "m:actions:b"],
    "components": {"m:components:c": {"size": 1}, "m:components:d": {}},
    "task_groups": ["m:task_groups:g"],
    "ai_packs": ["m:ai_pack:core"],
}


def mixed(mixin):
    result = mix(load_pack(BASE), load_pack(mixin))
    return {
        "actions": [reference.alias for reference in result.actions],
        "observers": [reference.alias for reference in result.observers],
        "components": {reference.alias: reference.settings for reference in result.components},
        "task_groups": [reference.alias for reference in result.task_groups],
        "ai_packs": [item.alias or [action.alias for action in item.actions] for item in result.ai_packs],
    }


UNCHANGED = {
    "actions": ["m:actions:a", "m:actions:b"],
    "observers": [],
    "components": {"m:components:c": {"size": 1}, "m:components:d": {}},
    "task_groups": ["m:task_groups:g"],
    "ai_packs": ["m:ai_pack:core"],
}


@pytest.mark.parametrize(
    ("mixin", "changes"),
    [
        ({}, {}),
        ({"actions": ["m:actions:c", "m:actions:a"]}, {"actions": ["m:actions:a", "m:actions:b", "m:actions:c"]}),
        (
            {"actions": ["m:actions:c", "m:actions:a"], "mixintypes": {"actions": "append"}},
            {"actions": ["m:actions:a", "m:actions:b", "m:actions:c"]},
        ),
        (
            {"actions": ["m:actions:c", "m:actions:a"], "mixintypes": {"actions": "override"}},
            {"actions": ["m:actions:c", "m:actions:a"]},
        ),
        ({"mixintypes": {"actions": "override"}}, {}),
        ({"observers": ["m:observers:o"]}, {"observers": ["m:observers:o"]}),
        (
            {"components": ["m:components:c", "m:components:e"]},
            {"components": {"m:components:c": {"size": 1}, "m:components:d": {}, "m:components:e": None}},
        ),
        (
            {"components": {"m:components:c": {"size": 2}}},
            {"components": {"m:components:c": {"size": 2}, "m:components:d": {}}},
        ),
        (
            {"components": {"m:components:e": {}}, "mixintypes": {"components": "override"}},
            {"components": {"m:components:e": {}}},
        ),
        (
            {"ai_packs": [{"actions": ["m:actions:x"]}, "m:ai_pack:core"]},
            {"ai_packs": ["m:ai_pack:core", ["m:actions:x"]]},
        ),
        ({"ai_packs": ["m:ai_pack:other"], "mixintypes": {"ai_packs": "override"}}, {"ai_packs": ["m:ai_pack:other"]}),
    ],
)
def test_mixing(mixin, changes):
    assert mixed(mixin) == {**UNCHANGED, **changes}


def test_a_mixed_pack_keeps_its_name_and_its_own_rules():
    base = load_pack({"mixintypes": {"observers": "override"}}, alias="m:ai_pack:base")
    result = mix(
        base, load_pack({"actions": ["m:actions:a"], "mixintypes": {"actions": "override"}}, file="mixin.json")
    )
    assert (result.alias, result.mixintypes) == ("m:ai_pack:base", {"observers": "override"})
    assert result.actions[0].file == "mixin.json"


# --- whatever goes in -------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    ["type", "ai_pack", "actions", "observers", "components", "task_groups", "ai_packs", "mixintypes", "append",
     "m:actions:a", "m:ai_pack:p", "m:components:c", "_x", "", "action"]
) | st.text(max_size=5)  # fmt: skip
NEARLY_PACKS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.slow
@given(st.dictionaries(WORDS, NEARLY_PACKS, max_size=5))
def test_only_our_errors_come_out_of_mappings(value):
    try:
        pack = load_pack(value)
    except AgentRTError as error:
        str(error).encode("utf-8")
    else:
        assert mix(pack, pack).actions == tuple(dict.fromkeys(pack.actions))


@pytest.mark.slow
@given(st.data())
def test_only_our_errors_come_out_of_broken_files(data):
    text = bytearray(json.dumps(WHOLE).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        text[start : start + data.draw(st.integers(0, 8))] = data.draw(st.binary(max_size=4))
    from agentrt.packs import schema
    from agentrt.packs.document import lines_of, parse
    from agentrt.packs.loader import _from_value

    try:
        document = parse(bytes(text))
        schema.check(document, schema.PACK)
        _from_value(document.value, "", "x.json", "", (), lines_of(document.text))
    except AgentRTError as error:
        str(error).encode("utf-8")
