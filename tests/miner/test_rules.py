"""The data: they fit together, and everything up to the diamond pickaxe can be made of what the world has."""

from __future__ import annotations

import json

import jsonschema
import pytest

from agentrt_examples.miner import rules
from agentrt_examples.miner.rules import BLOCK_NUMBERS, BLOCKS, ITEMS, MOBS, RECIPES, SMELTS, dig_ticks, harvests

NATURAL = ("stone", "dirt", "grass", "sand", "oak_log", "leaves", "coal_ore", "iron_ore", "diamond_ore")


def reachable():
    """Every item that can be had from an empty inventory, with the rules applied again and again."""
    have: set[str] = set()
    while True:
        tiers = {(ITEMS[item].tool, ITEMS[item].tier) for item in have if ITEMS[item].tool}
        more = {
            drop.item
            for name in NATURAL
            for drop in BLOCKS[BLOCK_NUMBERS[name]].drops
            if BLOCKS[BLOCK_NUMBERS[name]].tier == 0
            or any(
                tool == BLOCKS[BLOCK_NUMBERS[name]].tool and tier >= BLOCKS[BLOCK_NUMBERS[name]].tier
                for tool, tier in tiers
            )
        }
        more |= {
            recipe.makes
            for recipe in RECIPES
            if all(need in have for need in recipe.needs) and (not recipe.at or recipe.at in have)
        }
        more |= {made for raw, made in SMELTS.items() if raw in have and "furnace" in have}
        more |= {drop.item for mob in MOBS.values() for drop in mob.drops if not mob.is_hostile}
        if more <= have:
            return have
        have |= more


def test_everything_up_to_the_diamond_pickaxe_can_be_made():
    missing = sorted(
        set(ITEMS) - reachable() - {"ember_rock", "obsidian", "diamond_block"}
    )  # of the nether, of portals, and what somebody put there
    assert missing == []


def test_the_chain_of_pickaxes_is_needed():
    log, stone, iron, diamond, obsidian = (
        BLOCKS[BLOCK_NUMBERS[name]] for name in ("oak_log", "stone", "iron_ore", "diamond_ore", "obsidian")
    )
    pickaxes = [
        None,
        *(ITEMS[f"{kind}_pickaxe"] for kind in ("wooden", "stone", "iron", "diamond")),
    ]
    table = [[harvests(tool, block) for block in (log, stone, iron, diamond, obsidian)] for tool in pickaxes]
    assert table == [
        [True, False, False, False, False],
        [True, True, False, False, False],
        [True, True, True, False, False],
        [True, True, True, True, False],
        [True, True, True, True, True],
    ]


def test_a_better_tool_digs_faster_and_the_wrong_one_as_a_hand_does():
    stone = BLOCKS[BLOCK_NUMBERS["stone"]]
    ticks = [
        dig_ticks(tool, stone)
        for tool in (
            None,
            ITEMS["stone_axe"],
            ITEMS["wooden_pickaxe"],
            ITEMS["stone_pickaxe"],
            ITEMS["iron_pickaxe"],
            ITEMS["diamond_pickaxe"],
        )
    ]
    assert ticks == [200, 200, 50, 25, 17, 13]
    iron = BLOCKS[BLOCK_NUMBERS["iron_ore"]]
    assert dig_ticks(ITEMS["wooden_pickaxe"], iron) == iron.dig  # too low a tier: as slowly as by hand


def test_numbers_are_the_order_of_the_file():
    assert [kind.number for kind in BLOCKS] == list(range(len(BLOCKS)))
    assert [BLOCKS[0].name, BLOCKS[3].name, BLOCKS[9].name] == ["air", "stone", "oak_log"]


@pytest.mark.parametrize(
    "data",
    [
        {"blocks": {"air": {"digs": 3}}},
        {"items": {"stick": {"fuel": -1}}},
        {"recipes": [{"makes": "stick", "count": 0, "needs": {"planks": 2}}]},
        {"mobs": {"cow": {"health": 8, "pace": 24}}},
    ],
    ids=["unknown-field", "negative", "makes-nothing", "nowhere"],
)
def test_data_that_does_not_fit_the_schema_is_refused(data, tmp_path, monkeypatch):
    schema = (rules._DATA / "schema.json").read_text(encoding="utf-8")
    (tmp_path / "schema.json").write_text(schema, encoding="utf-8")
    (tmp_path / "bad.json").write_text(json.dumps(data), encoding="utf-8")
    monkeypatch.setattr(rules, "_DATA", tmp_path)
    with pytest.raises(jsonschema.ValidationError):
        rules._read("bad")
