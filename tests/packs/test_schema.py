"""The schema and its sentences: all problems of a document, each with a pointer, in the document's order."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from agentrt.errors import InvalidPackError
from agentrt.packs import schema
from agentrt.packs.alias import KEYS, KIND_OF_KEY, LONGEST_ALIAS
from agentrt.packs.document import parse


def problems(value):
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    try:
        schema.check(parse(data, "x.json"), schema.PACK)
    except InvalidPackError as error:
        return list(error.problems)
    return []


def test_the_schema_is_a_schema():
    Draft202012Validator.check_schema(schema.schema())


def test_the_schema_and_the_table_of_kinds_say_the_same():
    pack = schema.schema()["$defs"]["pack"]
    assert tuple(pack["properties"]) == ("$schema", "type", *KEYS, "mixintypes")
    assert tuple(pack["properties"]["mixintypes"]["properties"]) == KEYS
    for key, kind in KIND_OF_KEY.items():
        rules = pack["properties"][key]["items"]
        others = "|".join(other for other in KIND_OF_KEY.values() if other != kind)
        assert f"(?!(?:{others}):)" in rules["pattern"]
        assert rules["maxLength"] == LONGEST_ALIAS


def test_there_is_a_sentence_for_each_keyword():
    def keywords(node):
        if isinstance(node, dict):
            for key, value in node.items():
                if key in ("properties", "patternProperties", "$defs"):
                    for inner in value.values():
                        yield from keywords(inner)
                else:
                    yield key
                    yield from keywords(value)

    plain = {
        "$schema",
        "$id",
        "$ref",
        "$defs",
        "title",
        "description",
        "items",
        "propertyNames",
        "additionalProperties",
    }
    assert set(keywords(schema.schema())) - plain == set(schema._SENTENCES)


@pytest.mark.states(
    '001: Injecting actions: A pack is JSON, with `"type": "ai_pack"` ((decided) or without), and lists of all that '
    "follows",
)
def test_everything_that_a_pack_may_hold():
    assert (
        problems(
            {
                "type": "ai_pack",
                "_comment": {"any": ["thing", 1]},
                "actions": ["m:actions:a", "m:actions:combat:idle:ready", "other_mod-2.0:abilities:x", "two:words"],
                "observers": [],
                "components": {"m:components:c": {"deep": [{"x": 1}]}, "_note": "free"},
                "task_groups": ["m:task_groups:solo:unit_control"],
                "strategies": ["m:strategies:mine"],
                "ai_packs": ["m:ai_pack:core", {"_why": 1, "components": ["m:components:d"]}],
                "mixintypes": {"actions": "override", "ai_packs": "append", "_why": "because"},
            }
        )
        == []
    )
    assert problems({}) == []


@pytest.mark.parametrize(
    ("value", "pointer", "text"),
    [
        ([], "", 'a pack is a JSON object, and this is a list. Write { "actions": [...] }.'),
        ("x", "", "a pack is a JSON object, and this is 'x'. Write { \"actions\": [...] }."),
        (0, "", 'a pack is a JSON object, and this is the number 0. Write { "actions": [...] }.'),
        (None, "", 'a pack is a JSON object, and this is null. Write { "actions": [...] }.'),
        (
            {"action": []},
            "/action",
            "a pack has no key 'action'. Did you mean 'actions'? The keys are type, actions, observers, components, "
            "task_groups, strategies, ai_packs, mixintypes; keys that start with '_' are ignored.",
        ),
        ({"type": "pack"}, "/type", "'type' is \"ai_pack\" or left out, and this is 'pack'."),
        (
            {"actions": "m:actions:a"},
            "/actions",
            "'actions' is a list of aliases, and this is 'm:actions:a'. Put square brackets around it.",
        ),
        (
            {"components": True},
            "/components",
            "'components' is a list of aliases or an object from alias to settings, and this is true. "
            "Put square brackets around it.",
        ),
        (
            {"observers": [7]},
            "/observers/0",
            'this is a list of aliases, and the number 7 is none. Write "mod:observers:name".',
        ),
        (
            {"actions": ["os.system"]},
            "/actions/0",
            "'os.system' is not an alias. Write \"mod:actions:name\", with letters, digits, '_', '.' and '-'.",
        ),
        (
            {"actions": ["m:actions:a\n"]},
            "/actions/0",
            "'m:actions:a\\n' is not an alias. Write \"mod:actions:name\", with letters, digits, '_', '.' and '-'.",
        ),
        (
            {"actions": ["m:task_groups:g"]},
            "/actions/0",
            "'m:task_groups:g' is of the kind 'task_groups', and this is 'actions'. Move it to 'task_groups'.",
        ),
        (
            {"task_groups": ["m:ai_pack:g"]},
            "/task_groups/0",
            "'m:ai_pack:g' is of the kind 'ai_pack', and this is 'task_groups'. Move it to 'ai_packs'.",
        ),
        ({"actions": ["m:" + "a" * 300]}, "/actions/0", "an alias has at most 200 characters."),
        (
            {"components": {"m:components:c": 1}},
            "/components/m:components:c",
            "the settings of a component are a JSON object, and this is the number 1. Write {} for none.",
        ),
        (
            {"components": {"not/an~alias": {}}},
            "/components/not~1an~0alias",
            "'not/an~alias' is not an alias. Write \"mod:components:name\", with letters, digits, '_', '.' and '-'.",
        ),
        (
            {"ai_packs": [3]},
            "/ai_packs/0",
            "a required pack is an alias or a pack written in place, and this is the number 3.",
        ),
        (
            {"mixintypes": "override"},
            "/mixintypes",
            "'mixintypes' is a JSON object, and this is 'override'. Write { \"actions\": \"override\" }.",
        ),
        (
            {"mixintypes": {"actions": "overide"}},
            "/mixintypes/actions",
            "this is \"append\" or \"override\", and not 'overide'. Did you mean 'override'?",
        ),
        (
            {"mixintypes": {"actions": 1}},
            "/mixintypes/actions",
            'this is "append" or "override", and not the number 1.',
        ),
        (
            {"mixintypes": {"task_group": "append"}},
            "/mixintypes/task_group",
            "'mixintypes' has no key 'task_group'. Did you mean 'task_groups'? The keys are actions, observers, components, "
            "task_groups, strategies, ai_packs; keys that start with '_' are ignored.",
        ),
        (
            {"ai_packs": [{"ai_packs": [{"actoins": []}]}]},
            "/ai_packs/0/ai_packs/0/actoins",
            "a pack has no key 'actoins'. Did you mean 'actions'? The keys are type, actions, observers, components, "
            "task_groups, strategies, ai_packs, mixintypes; keys that start with '_' are ignored.",
        ),
    ],
)
def test_sentences(value, pointer, text):
    assert problems(value) == [(pointer, text)]


def test_all_problems_in_the_order_of_the_document():
    data = b"""{
        "zzz": 1,
        "actions": ["m:actions:a", 1, "bad", "m:actions:b", {}],
        "ai_packs": [{"b": 1, "a": 1, "actions": ["x"], "a": 2}],
        "mixintypes": {"actions": "no"},
        "type": 1,
        "actions2": [],
        "zzz": 2
    }"""
    assert [pointer for pointer, _text in problems(data)] == [
        "/zzz",
        "/zzz",
        "/actions/1",
        "/actions/2",
        "/actions/4",
        "/ai_packs/0/b",
        "/ai_packs/0/a",
        "/ai_packs/0/a",
        "/ai_packs/0/actions/0",
        "/mixintypes/actions",
        "/type",
        "/actions2",
    ]


def test_the_whole_message():
    with pytest.raises(InvalidPackError) as caught:
        schema.check(parse(b'{"action": [], "type": "x"}', "packs/a.json"), schema.PACK)
    assert str(caught.value) == (
        "[ART202] packs/a.json: 2 problems in this pack:\n"
        "  line 1 #/action: a pack has no key 'action'. Did you mean 'actions'? The keys are type, actions, observers, components, "
        "task_groups, strategies, ai_packs, mixintypes; keys that start with '_' are ignored.\n"
        "  line 1 #/type: 'type' is \"ai_pack\" or left out, and this is 'x'."
    )


def test_only_the_first_problems_are_told_and_the_others_counted():
    with pytest.raises(InvalidPackError) as caught:
        schema.check(parse(json.dumps({"actions": list(range(120))}).encode()), schema.PACK)
    error = caught.value
    assert [pointer for pointer, _text in error.problems] == [f"/actions/{index}" for index in range(50)]
    assert error.omitted == 70
    assert str(error).startswith("[ART202] 120 problems in this pack:\n")
    assert str(error).endswith("\n  and 70 more")


def test_what_is_shown_can_be_printed():
    pointer, text = problems({"\ud800\x1b[31m" + "k" * 200: 1})[0]
    assert pointer == "/\\ud800\\x1b[31m" + "k" * 74 + "..."
    text.encode("utf-8")
    assert text.startswith("a pack has no key '\\ud800\\x1b[31mkkk")


def test_packs_in_place_at_the_greatest_depth():
    value = {}
    for _ in range(31):
        value = {"ai_packs": [value]}
    assert problems(value) == []
    inner = {"nope": 1}
    for _ in range(31):
        inner = {"ai_packs": [inner]}
    assert [pointer for pointer, _text in problems(inner)] == ["/ai_packs/0" * 31 + "/nope"]


def test_a_caller_whose_own_stack_is_nearly_full(monkeypatch):
    class Full:
        def __init__(self, _kind):
            pass

        def iter_errors(self, _value):
            raise RecursionError

    monkeypatch.setattr(schema, "_validator", Full)
    assert problems({}) == [("", "is nested too deep to be checked here.")]


def test_the_patterns_are_linear():
    assert problems({"actions": ["a" * 100_000 + ":" + "b" * 100_000 + "!"]}) == [
        ("/actions/0", "an alias has at most 200 characters."),
        (
            "/actions/0",
            "'"
            + "a" * 80
            + "...' is not an alias. Write \"mod:actions:name\", with letters, digits, '_', '.' and '-'.",
        ),
    ]
