"""Documents of task groups: strict, bounded, all problems in one error; what is made of them; the report on them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agentrt.errors import AgentRTError, DefinitionError, InvalidPackError, ManifestError, UnknownAliasError
from agentrt.packs import schema
from agentrt.packs.closure import check_files
from agentrt.packs.loader import load_pack
from agentrt.packs.registry import Manifest, Registry, task_group_of
from agentrt.packs.task_groups import TASK_GROUPS, load_task_groups, looks_like, sense
from agentrt.tasks import TaskGroupAction

FARMING = {
    "does": "colony:work",
    "utility": [0.5, 0.6],
    "sunk_cost_boost": 0.1,
    "tasks": [
        {"activity": "colony:plant", "utility": 0.6},
        {"activity": "colony:eat", "utility": [0.4, 1.0], "multiple": True},
        {"activity": "colony:rest", "utility": 0.2, "permanent": True, "args": {"hours": 2}},
    ],
}


def document(**groups):
    return {"type": "task_groups", "task_groups": {f"m:task_groups:{name}": group for name, group in groups.items()}}


def problems(value):
    try:
        load_task_groups(value, file="g.json")
    except InvalidPackError as error:
        return list(error.problems)
    return []


# --- what a document may be -------------------------------------------------------------------------------------------


def test_the_schema_is_a_schema():
    Draft202012Validator.check_schema(schema.schema("task_groups"))


def test_there_is_a_sentence_for_each_keyword():
    def keywords(node):
        if isinstance(node, dict):
            for key, value in node.items():
                if key in ("properties", "patternProperties", "$defs"):
                    for inner in value.values():
                        yield from keywords(inner)
                elif key == "if":
                    yield key  # what fails there fails nothing
                else:
                    yield key
                    yield from keywords(value)

    structure = {
        "$schema", "$id", "$ref", "$defs", "title", "description", "items", "propertyNames", "additionalProperties",
        "if", "then", "else",
    }  # fmt: skip
    assert set(keywords(schema.schema("task_groups"))) - structure == set(TASK_GROUPS.sentences)


@pytest.mark.states("001: Town task groups: Town groups are declared in a JSON file that others refer to ...")
def test_everything_that_a_document_may_hold():
    loaded = load_task_groups(
        {
            "_comment": 1,
            "task_groups": {
                "_note": 1,
                "m:task_groups:farming": {**FARMING, "name": "farming", "weight": 2, "_why": "because"},
                "other:task_groups:known_elsewhere": {"_why": "the other mod declares it"},
                "m:task_groups:more": {
                    "extends": "m:task_groups:farming",
                    "tasks": [{"activity": "m:weed", "utility": 0}],
                },
                "m:task_groups:solo:empty": {
                    "does": "m:work",
                    "utility": 1,
                    "scheduler_priority": 2,
                    "status_text_key": "k",
                },
            },
        }
    )
    assert [
        (entry.alias, dict(entry.metadata), entry.extends, entry.is_reference, [one.activity for one in entry.tasks])
        for entry in loaded.groups.values()
    ] == [
        (
            "m:task_groups:farming",
            {"does": "colony:work", "utility": [0.5, 0.6], "name": "farming", "sunk_cost_boost": 0.1, "weight": 2},
            "",
            False,
            ["colony:plant", "colony:eat", "colony:rest"],
        ),
        ("other:task_groups:known_elsewhere", {}, "", True, []),
        ("m:task_groups:more", {}, "m:task_groups:farming", False, ["m:weed"]),
        (
            "m:task_groups:solo:empty",
            {"does": "m:work", "utility": 1, "scheduler_priority": 2, "status_text_key": "k"},
            "",
            False,
            [],
        ),
    ]


def test_what_is_made_of_a_group():
    made = load_task_groups(document(farming=FARMING)).groups["m:task_groups:farming"].make_class()
    assert issubclass(made, TaskGroupAction)
    assert (made.__name__, made.name, made.does, made.spec.low, made.spec.high, made.spec.boost) == (
        "Farming", "m:task_groups:farming", "colony:work", 0.5, 0.6, 0.1,
    )  # fmt: skip
    assert [(one.activity, one.low, one.high, one.is_multiple, one.is_permanent, one.args) for one in made.tasks] == [
        ("colony:plant", 0.6, 0.6, False, False, {}),
        ("colony:eat", 0.4, 1.0, True, False, {}),
        ("colony:rest", 0.2, 0.2, False, True, {"hours": 2}),
    ]


def test_a_document_is_told_from_a_pack():
    assert looks_like({"task_groups": {}})
    assert looks_like({"type": "task_groups"})
    assert not looks_like({"task_groups": ["m:task_groups:g"]})
    assert not looks_like([])


EXAMPLE = 'Write { "task_groups": { "mod:task_groups:name": {} } }.'
GROUP_KEYS = "does, utility, name, sunk_cost_boost, weight, scheduler_priority, status_text_key, extends, tasks"


@pytest.mark.parametrize(
    ("value", "pointer", "text"),
    [
        ({}, "", f"'task_groups' is missing. {EXAMPLE}"),
        ({"task_groups": []}, "/task_groups", f"task groups are a JSON object, and this is a list. {EXAMPLE}"),
        (
            {"type": "ai_pack", "task_groups": {}},
            "/type",
            "'type' is \"task_groups\" or left out, and this is 'ai_pack'.",
        ),
        (
            {"task_groups": {}, "task_group": 1},
            "/task_group",
            "a document of task groups has no key 'task_group'. Did you mean 'task_groups'? The keys are type, "
            "task_groups; keys that start with '_' are ignored.",
        ),
        (
            {"task_groups": {"m:actions:x": {}}},
            "/task_groups/m:actions:x",
            "'m:actions:x' is of the kind 'actions', and this names a task group. Write \"mod:task_groups:name\".",
        ),
        (
            {"task_groups": {"os.system": {}}},
            "/task_groups/os.system",
            "'os.system' is not the alias of a task group. Write \"mod:task_groups:name\", with letters, digits, '_', "
            "'.' and '-'.",
        ),
        (
            document(g=1),
            "/task_groups/m:task_groups:g",
            "a task group is a JSON object, and this is the number 1. Write {} for one that is registered elsewhere.",
        ),
        (
            document(g={"tasks": []}),
            "/task_groups/m:task_groups:g",
            "this group lacks 'does' and 'utility'. An object without keys refers to a group that is registered elsewhere.",
        ),
        (
            document(g={"does": "m:work", "utility": 0.5, "priority": 1}),
            "/task_groups/m:task_groups:g/priority",
            f"a task group has no key 'priority'. Did you mean 'scheduler_priority'? The keys are {GROUP_KEYS}; keys that start with '_' are ignored.",
        ),
        (
            document(g={"does": "m work", "utility": 0.5}),
            "/task_groups/m:task_groups:g/does",
            "'m work' is no activity. Write \"mod:verb\", without spaces and '/'.",
        ),
        (
            document(g={"does": "m:work", "utility": 1.5}),
            "/task_groups/m:task_groups:g/utility",
            "a utility is from 0 to 1, and this is the number 1.5.",
        ),
        (
            document(g={"does": "m:work", "utility": "high"}),
            "/task_groups/m:task_groups:g/utility",
            "a utility is a number from 0 to 1, or a pair of them, and this is 'high'. Write [0.2, 0.6].",
        ),
        (
            document(g={"does": "m:work", "utility": [0.1, True]}),
            "/task_groups/m:task_groups:g/utility/1",
            "a utility is a number from 0 to 1, or a pair of them, and this is true. Write [0.2, 0.6].",
        ),
        (
            document(g={"does": "m:work", "utility": [0.1]}),
            "/task_groups/m:task_groups:g/utility",
            "a range is a pair [low, high], and this list has the length 1.",
        ),
        (
            document(g={"does": "m:work", "utility": [0.6, 0.5]}),
            "/task_groups/m:task_groups:g/utility",
            "the range falls from 0.6 to 0.5. Write [low, high].",
        ),
        (
            document(g={"does": "m:work", "utility": 0.5, "weight": -1}),
            "/task_groups/m:task_groups:g/weight",
            "'weight' is not negative, and this is the number -1.",
        ),
        (
            document(g={"does": "m:work", "utility": 0.5, "tasks": {}}),
            "/task_groups/m:task_groups:g/tasks",
            "'tasks' is a list, and this is an object. Put square brackets around it.",
        ),
        (
            document(g={"does": "m:work", "utility": 0.5, "tasks": ["m:plant"]}),
            "/task_groups/m:task_groups:g/tasks/0",
            'a task is a JSON object, and this is \'m:plant\'. Write { "activity": "mod:verb", "utility": 0.5 }.',
        ),
        (
            document(g={"does": "m:work", "utility": 0.5, "tasks": [{"activity": "m:plant"}]}),
            "/task_groups/m:task_groups:g/tasks/0",
            "this task lacks 'utility'.",
        ),
        (
            document(g={"does": "m:w", "utility": 0.5, "tasks": [{"activity": "m:a", "utility": 0, "multipel": True}]}),
            "/task_groups/m:task_groups:g/tasks/0/multipel",
            "a task has no key 'multipel'. Did you mean 'multiple'? The keys are activity, utility, multiple, permanent, "
            "args; keys that start with '_' are ignored.",
        ),
        (
            document(g={"does": "m:w", "utility": 0.5, "tasks": [{"activity": "m:a", "utility": 0, "multiple": 1}]}),
            "/task_groups/m:task_groups:g/tasks/0/multiple",
            "'multiple' is true or false, and this is the number 1.",
        ),
        (
            document(
                g={
                    "does": "m:w",
                    "utility": 0.5,
                    "tasks": [{"activity": "m:a", "utility": 0, "multiple": True, "permanent": True}],
                }
            ),
            "/task_groups/m:task_groups:g/tasks/0/multiple",
            "a task is multiple or permanent, and not both. Leave one of them out.",
        ),
        (
            document(g={"does": "m:w", "utility": 0.5, "tasks": [{"activity": "m:a", "utility": 0, "args": {}}]}),
            "/task_groups/m:task_groups:g/tasks/0/args",
            "only a permanent task has arguments here; the others get them when they are created.",
        ),
        (
            document(
                g={
                    "does": "m:w",
                    "utility": 0.5,
                    "tasks": [{"activity": "m:a", "utility": 0}, {"activity": "m:a", "utility": 1}],
                }
            ),
            "/task_groups/m:task_groups:g/tasks/1/activity",
            "the activity 'm:a' is declared twice. Keep one of the two.",
        ),
        (
            document(g={"extends": "m:task_groups:f"}),
            "/task_groups/m:task_groups:g",
            "this extension lacks 'tasks'.",
        ),
        (
            document(g={"extends": "m:task_groups:f", "tasks": [], "does": "m:w"}),
            "/task_groups/m:task_groups:g/does",
            "an extension has 'extends' and 'tasks', and no 'does': that is the group's own.",
        ),
        (
            document(g={"extends": "m:task_groups:g", "tasks": []}),
            "/task_groups/m:task_groups:g/extends",
            "a group cannot extend itself. Give the extension an alias of its own.",
        ),
        (
            document(g={"extends": "m:ai_pack:g", "tasks": []}),
            "/task_groups/m:task_groups:g/extends",
            "'m:ai_pack:g' is of the kind 'ai_pack', and this names a task group. Write \"mod:task_groups:name\".",
        ),
    ],
)
def test_sentences(value, pointer, text):
    assert problems(value) == [(pointer, text)]


def test_all_problems_come_in_one_error_in_the_order_of_the_document():
    value = document(
        first={"does": 1, "utility": [0.9, 0.1], "tasks": [{"utility": 2}, 3]},
        second={"extends": "m:task_groups:first", "weight": 1},
    )
    with pytest.raises(InvalidPackError) as caught:
        load_task_groups(value, file="g.json")
    assert str(caught.value) == (
        "[ART202] g.json: 7 problems in this document of task groups:\n"
        "  #/task_groups/m:task_groups:first/does: 'does' is a text, and this is the number 1.\n"
        "  #/task_groups/m:task_groups:first/utility: the range falls from 0.9 to 0.1. Write [low, high].\n"
        "  #/task_groups/m:task_groups:first/tasks/0: this task lacks 'activity'.\n"
        "  #/task_groups/m:task_groups:first/tasks/0/utility: a utility is from 0 to 1, and this is the number 2.\n"
        "  #/task_groups/m:task_groups:first/tasks/1: a task is a JSON object, and this is the number 3. "
        'Write { "activity": "mod:verb", "utility": 0.5 }.\n'
        "  #/task_groups/m:task_groups:second: this extension lacks 'tasks'.\n"
        "  #/task_groups/m:task_groups:second/weight: an extension has 'extends' and 'tasks', and no 'weight': "
        "that is the group's own."
    )


def test_it_is_read_from_files_alone(tmp_path):
    file = tmp_path / "groups.json"
    file.write_text(json.dumps(document(farming=FARMING)))
    assert load_task_groups(file).file == str(file)
    with pytest.raises(ManifestError, match=r"task groups are loaded from a Path.*this is a str"):
        load_task_groups("groups.json")
    with pytest.raises(InvalidPackError, match="does not exist"):
        load_task_groups(tmp_path / "absent.json")


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1, 2)
    | st.floats(allow_nan=False)
    | st.sampled_from(["m:task_groups:g", "m:plant", "type", "task_groups", "", "a b"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "task_groups",
                    "m:task_groups:g",
                    "does",
                    "utility",
                    "tasks",
                    "extends",
                    "activity",
                    "_x",
                    "args",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@settings(max_examples=50)
@given(_JSON)
def test_whatever_it_holds_only_our_errors_come_out(value):
    list(sense(value))
    if isinstance(value, dict):
        try:
            for entry in load_task_groups(value).groups.values():
                entry.make_class() if entry.metadata else None
        except AgentRTError:
            pass


# --- what an alias stands for -----------------------------------------------------------------------------------------


class Needs(TaskGroupAction):
    does = "m:top"
    utility = (0, 0.3)


@pytest.fixture
def registry():
    both = document(
        farming=FARMING,
        more={"extends": "m:task_groups:farming", "tasks": [{"activity": "m:weed", "utility": 0.1}]},
        itself={},
    )
    return Registry(
        [
            Manifest(
                "m",
                {
                    "task_groups:solo:needs": Needs,
                    "task_groups:farming": both,
                    "task_groups:more": both,
                    "task_groups:itself": both,
                    "task_groups:typo": both,
                    "task_groups:wrong": object,
                    "task_groups:broken": {"task_groups": 1},
                },
            )
        ]
    )


@pytest.mark.states("001: Issuing tasks: Task groups are declared in the aliases of a manifest")
def test_an_alias_stands_for_a_class_a_declared_group_or_an_extension(registry):
    assert task_group_of("m:task_groups:solo:needs", registry) is Needs
    farming = task_group_of("m:task_groups:farming", registry)
    assert farming.does == "colony:work"
    assert task_group_of("m:task_groups:farming", registry) is farming  # all agents share it
    assert task_group_of("m:task_groups:more", registry).extends == "m:task_groups:farming"


@pytest.mark.parametrize(
    ("name", "error", "text"),
    [
        (
            "typo",
            InvalidPackError,
            "m:task_groups:typo#/task_groups: it is registered as 'm:task_groups:typo', but declares no group of that name. "
            "Did you mean 'm:task_groups:more' or 'm:task_groups:itself' or 'm:task_groups:farming'? It declares: m:task_groups:farming, "
            "m:task_groups:more, m:task_groups:itself.",
        ),
        (
            "itself",
            InvalidPackError,
            "m:task_groups:itself#/task_groups/m:task_groups:itself: the group is registered elsewhere, it says, but "
            "'m:task_groups:itself' is registered to this very document. Declare the group here.",
        ),
        (
            "wrong",
            DefinitionError,
            "m:task_groups:wrong: it names <class 'object'>. Register a class derived from agentrt.tasks.TaskGroupAction, or a "
            "JSON document.",
        ),
        (
            "broken",
            InvalidPackError,
            f"m:task_groups:broken#/task_groups: task groups are a JSON object, and this is the number 1. {EXAMPLE}",
        ),
        (
            "nobody",
            UnknownAliasError,
            "p.json#/task_groups/0: nobody registered 'm:task_groups:nobody'. Did you mean "
            "'m:task_groups:broken' or 'm:task_groups:typo' or 'm:task_groups:more'? Register it in a manifest of the entry-point "
            "groups 'agentrt.actions', 'agentrt.strategies' or 'agentrt.packs', or correct the reference.",
        ),
    ],
)
def test_an_alias_that_stands_for_no_group(registry, name, error, text):
    with pytest.raises(error) as caught:
        task_group_of(f"m:task_groups:{name}", registry, file="p.json", pointer="/task_groups/0")
    assert caught.value.text == text


# --- the report -------------------------------------------------------------------------------------------------------


def test_the_report_on_a_document(tmp_path, monkeypatch, registry):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "groups.json"
    value = document(
        herding={"does": "m:work", "utility": 0.5},
        later={"extends": "m:task_groups:hearding", "tasks": []},
        known={"extends": "m:task_groups:farming", "tasks": []},
    )
    value["task_groups"]["m:task_groups:solo:needs"] = {}
    value["task_groups"]["m:task_groups:absent"] = {}
    file.write_text(json.dumps(value))
    report = check_files([file.relative_to(tmp_path)], registry)
    assert (
        "\n".join(report.as_text())
        == """\
groups.json: FAILED
  error: [ART203] groups.json:1#/task_groups/m:task_groups:later/extends: nobody registered 'm:task_groups:hearding'. \
Did you mean 'm:task_groups:herding' or 'm:task_groups:farming' or 'm:task_groups:wrong'? \
Register it in a manifest of the entry-point groups 'agentrt.actions', \
'agentrt.strategies' or 'agentrt.packs', or correct the reference.
  error: [ART203] groups.json:1#/task_groups/m:task_groups:absent: nobody registered 'm:task_groups:absent'. \
Did you mean 'm:task_groups:broken' or 'm:task_groups:itself' or 'm:task_groups:typo'? \
Register it in a manifest of the entry-point groups 'agentrt.actions', 'agentrt.strategies' or 'agentrt.packs', or correct the reference.
  task groups (1)
    m:task_groups:herding
  registered elsewhere (2)
    m:task_groups:solo:needs
    m:task_groups:absent
  extends (2)
    m:task_groups:hearding
    m:task_groups:farming
  unresolved (2)
    m:task_groups:hearding
    m:task_groups:absent

1 file: 0 ok, 1 failed; 2 unresolved aliases"""
    )
    assert check_files([file], registry, allow_unresolved=True).ok
    assert report.as_json()["files"][0]["groups"] == list(value["task_groups"])


def test_the_report_on_a_broken_document(tmp_path):
    file = tmp_path / "groups.json"
    file.write_text('{"type": "task_groups", "groups": {}}')
    report = check_files([file], Registry()).files[0]
    assert (report.ok, report.groups, report.pack) == (False, None, None)
    assert [problem["pointer"] for problem in report.as_json()["problems"]] == ["", "/groups"]


# --- a pack as a document again ---------------------------------------------------------------------------------------


def test_a_pack_is_written_as_it_was_read():
    written = {
        "actions": ["m:actions:a"],
        "observers": ["m:observers:o"],
        "components": {"m:components:c": {"deep": [{"x": 1}]}},
        "task_groups": ["m:task_groups:g"],
        "ai_packs": ["m:ai_pack:core", {"actions": ["m:actions:b"]}],
        "mixintypes": {"actions": "override"},
    }
    assert load_pack(written).as_json() == written
    assert load_pack({"type": "ai_pack", "_why": 1, "components": ["m:components:c"]}).as_json() == {
        "components": {"m:components:c": {}}
    }
    assert load_pack({}).as_json() == {}
