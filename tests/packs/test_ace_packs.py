"""17 packs of a large mod, read as they are: written by people who never saw this project.

They come from StonehearthACE-team/stonehearth_ace (MIT; the license stands beside them).
"""

from __future__ import annotations

import pytest

from agentrt.packs.closure import check_files, find_files, survey
from agentrt.packs.loader import load_pack, mix
from agentrt.packs.registry import Manifest, Registry

COUNTS = {  # file: actions, task groups, required packs
    "carrying": (6, 0, 0),
    "citizen_rescue": (1, 0, 0),
    "core": (1, 0, 0),
    "departing": (4, 1, 0),
    "eating": (11, 0, 0),
    "farming_planting": (7, 0, 3),
    "healing": (2, 0, 0),
    "hunting": (3, 1, 0),
    "magic_healing": (2, 0, 0),
    "movement": (1, 0, 0),
    "periodic_interaction": (4, 1, 3),
    "place_summon_stones": (2, 1, 0),
    "ranged_combat": (1, 0, 0),
    "sleeping": (2, 0, 0),
    "tend_planters": (2, 1, 2),
    "transform": (5, 1, 0),
    "underfarming": (7, 0, 3),
}


@pytest.fixture
def load(ace_packs):
    return lambda name: load_pack(ace_packs / f"{name}_ai_pack.json")


def test_all_of_them_are_packs(ace_packs):
    report = check_files(find_files([ace_packs]), Registry(), allow_unresolved=True)
    assert report.ok
    assert {
        file.file.removeprefix(f"{ace_packs}/").removesuffix("_ai_pack.json"): (
            len(file.pack.actions),
            len(file.pack.task_groups),
            len(file.pack.ai_packs),
        )
        for file in report.files
    } == COUNTS
    assert list(report.as_text())[-1] == "17 files: 17 ok, 0 failed; 70 unresolved aliases"


def test_one_of_them_in_full(load):
    pack = load("periodic_interaction")
    assert [(reference.alias, reference.pointer) for reference in pack.actions] == [
        ("stonehearth_ace:actions:periodic_interaction", "/actions/0"),
        ("stonehearth_ace:actions:periodic_interaction_current", "/actions/1"),
        ("stonehearth_ace:actions:periodic_interaction_entity", "/actions/2"),
        ("stonehearth_ace:actions:periodic_interaction_adjacent", "/actions/3"),
    ]
    assert [reference.alias for reference in pack.ai_packs] == [
        "stonehearth:ai_pack:core",
        "stonehearth:ai_pack:movement",
        "stonehearth:ai_pack:carrying",
    ]
    assert [reference.alias for reference in pack.task_groups] == ["stonehearth_ace:task_groups:periodic_interaction"]


def test_an_alias_may_have_more_colons(load):
    assert [reference.alias for reference in load("ranged_combat").actions] == ["stonehearth:actions:combat:idle:ready"]


def test_the_eating_pack_overrides_what_it_is_mixed_into(load):
    mixin = load("eating")
    assert mixin.mixintypes == {"actions": "override"}
    base = load_pack({"actions": ["stonehearth:actions:eat_raw"], "observers": ["stonehearth:observers:hunger"]})
    mixed = mix(base, mixin)
    assert mixed.actions == mixin.actions
    assert [reference.alias for reference in mixed.observers] == ["stonehearth:observers:hunger"]


def test_the_healing_pack_appends(load):
    base = load_pack({"actions": ["stonehearth:actions:health:heal_entity"]})
    assert [reference.alias for reference in mix(base, load("healing")).actions] == [
        "stonehearth:actions:health:heal_entity",
        "stonehearth_ace:actions:health:find_healing_item",
        "stonehearth_ace:actions:health:pickup_healing_item",
    ]


def test_they_resolve_as_their_own_mod_would_register_them(ace_packs, load):
    """The mod mixes its files into the packs of the game itself."""
    mixed_into = ("core", "movement", "carrying")
    registry = Registry(
        [
            Manifest("stonehearth", {f"ai_pack:{name}": {} for name in mixed_into}),
            Manifest(
                "stonehearth_ace",
                {"ai_pack:farming_planting": ace_packs / "farming_planting_ai_pack.json"},
                mixins={f"stonehearth:ai_pack:{name}": ace_packs / f"{name}_ai_pack.json" for name in mixed_into},
            ),
        ]
    )
    found = survey(["stonehearth_ace:ai_pack:farming_planting"], registry)
    assert found.packs == (
        "stonehearth:ai_pack:core",
        "stonehearth:ai_pack:movement",
        "stonehearth:ai_pack:carrying",
        "stonehearth_ace:ai_pack:farming_planting",
    )
    assert found.actions == (
        "stonehearth_ace:actions:reserve_entity_if_condition",
        "stonehearth_ace:actions:find_best_close_reachable_entity_by_type",
        "stonehearth_ace:actions:dont_drop_already_carrying_item",
        "stonehearth_ace:actions:drop_and_pickup_item",
        "stonehearth_ace:actions:drop_and_pickup_item_type",
        "stonehearth_ace:actions:drop_and_pickup_item_type_from_storage",
        "stonehearth_ace:actions:drop_nothing_and_pickup_item",
        "stonehearth_ace:actions:material_to_filter_fn_for_pickup",
        "stonehearth:actions:till_entire_field",
        "stonehearth:actions:till_field_adjacent",
        "stonehearth:actions:plant_crop",
        "stonehearth:actions:plant_field_adjacent",
        "stonehearth:actions:register_farm_field_worker",
        "stonehearth_ace:actions:fertilize_field",
        "stonehearth_ace:actions:fertilize_crop_adjacent",
    )
    assert found.faults == ()
