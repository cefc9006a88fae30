"""Closures: dependencies first, each once; cycles printed; faults collected or raised."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrt.errors import InvalidPackError, PackCycleError, UnknownAliasError
from agentrt.packs.closure import Closure, closure_of, survey
from agentrt.packs.loader import Reference, load_pack
from agentrt.packs.registry import Manifest, Registry


def registry_of(**packs):
    """A registry with these packs as ``m:ai_pack:NAME``; each is a text 'actions > required packs'."""
    table = {}
    for name, text in packs.items():
        actions, _, required = text.partition(">")
        table[f"ai_pack:{name}"] = {
            "actions": [f"m:actions:{action}" for action in actions.split()],
            "ai_packs": [f"m:ai_pack:{other}" for other in required.split()],
        }
    names = sorted({action.removeprefix("m:actions:") for pack in table.values() for action in pack["actions"]})
    return Registry([Manifest("m", {**table, **{f"actions:{name}": name for name in names}})])


def short(closure):
    packs = " ".join(name.removeprefix("m:ai_pack:") for name in closure.packs)
    return packs, " ".join(alias.removeprefix("m:actions:") for alias in closure.actions)


@pytest.mark.states("001: Injecting actions: Packs require other packs, recursively")
def test_dependencies_come_first():
    registry = registry_of(top="a b > mid", mid="c a > low", low="d")
    assert short(closure_of(["m:ai_pack:top"], registry)) == ("low mid top", "d c a b")


@pytest.mark.states("001: Injecting actions: Packs require other packs, recursively ...")
def test_a_diamond_is_walked_once():
    registry = registry_of(top="t > left right", left="l > base", right="r > base", base="b")
    assert short(closure_of(["m:ai_pack:top"], registry)) == ("base left right top", "b l r t")


def test_several_packs_share_one_closure():
    registry = registry_of(one="a > base", two="b > base one", base="x")
    assert short(closure_of(["m:ai_pack:two", "m:ai_pack:one"], registry)) == ("base one two", "x a b")
    assert short(closure_of(["m:ai_pack:one", "m:ai_pack:two", "m:ai_pack:one"], registry)) == ("base one two", "x a b")


@pytest.mark.states("001: Injecting actions: Packs may be written in place, and mixed in")
def test_packs_in_place_and_packs_from_code():
    registry = registry_of(base="x y")
    mine = load_pack(
        {"actions": ["m:actions:y"], "ai_packs": [{"actions": ["m:actions:x"], "ai_packs": ["m:ai_pack:base"]}]}
    )
    other = load_pack({"ai_packs": [{}, {}]})
    assert closure_of([mine, other], registry).packs == (
        "m:ai_pack:base",
        "(pack 1 from code)#/ai_packs/0",
        "(pack 1 from code)",
        "(pack 2 from code)#/ai_packs/0",
        "(pack 2 from code)#/ai_packs/1",
        "(pack 2 from code)",
    )


def test_packs_in_place_in_registered_packs_do_not_mix():
    registry = Registry(
        [
            Manifest(
                "m",
                {
                    "ai_pack:p": {"ai_packs": [{"actions": ["m:actions:p"]}]},
                    "ai_pack:q": {"ai_packs": [{"actions": ["m:actions:q"]}]},
                },
                mixins={"m:ai_pack:p": {"ai_packs": [{"actions": ["m:actions:mixed"]}]}},
            ),
            Manifest("n", {}, mixins={"m:ai_pack:p": {"ai_packs": [{"actions": ["m:actions:mixed2"]}]}}),
        ]
    )
    found = survey(["m:ai_pack:p", "m:ai_pack:q"], registry)
    assert found.actions == ("m:actions:p", "m:actions:mixed", "m:actions:mixed2", "m:actions:q")
    assert len(found.packs) == 6


@pytest.mark.states("001: Injecting actions: Packs list actions")
def test_all_kinds_and_settings():
    registry = Registry(
        [
            Manifest(
                "m",
                {
                    "ai_pack:low": {"components": {"m:components:c": {"size": 1}, "m:components:d": {}}},
                    "ai_pack:top": {
                        "actions": ["m:actions:a"],
                        "observers": ["m:observers:o"],
                        "components": {"m:components:e": {}, "m:components:c": {"size": 2}},
                        "task_groups": ["m:task_groups:g"],
                        "strategies": ["m:strategies:s"],
                        "ai_packs": ["m:ai_pack:low"],
                    },
                    "ai_pack:last": {"components": ["m:components:c"]},
                    **dict.fromkeys(
                        [
                            "actions:a",
                            "observers:o",
                            "components:c",
                            "components:d",
                            "components:e",
                            "task_groups:g",
                            "strategies:s",
                        ]
                    ),
                },
            )
        ]
    )
    closure = closure_of(["m:ai_pack:top", "m:ai_pack:last"], registry)
    assert closure == Closure(
        packs=("m:ai_pack:low", "m:ai_pack:top", "m:ai_pack:last"),
        actions=("m:actions:a",),
        observers=("m:observers:o",),
        components=("m:components:c", "m:components:d", "m:components:e"),
        task_groups=("m:task_groups:g",),
        strategies=("m:strategies:s",),
        settings={"m:components:c": {"size": 2}, "m:components:d": {}, "m:components:e": {}},
    )


def test_mixins_take_part():
    registry = registry_of(base="a", more="b", extra="c")
    registry.register_mixin("m:ai_pack:base", {"ai_packs": ["m:ai_pack:more"], "actions": ["m:actions:c"]})
    assert short(closure_of(["m:ai_pack:base"], registry)) == ("more base", "b a c")


# --- circles ----------------------------------------------------------------------------------------------------------


@pytest.mark.states("001: Injecting actions: (ours) A circle is an error that prints it")
@pytest.mark.parametrize(
    ("packs", "root", "cycle", "place"),
    [
        ({"a": "> a"}, "a", "a a", "m:ai_pack:a#/ai_packs/0"),
        ({"a": "> b", "b": "> c", "c": "> x a", "x": ""}, "a", "a b c a", "m:ai_pack:c#/ai_packs/1"),
        ({"top": "> a", "a": "> b", "b": "> a"}, "top", "a b a", "m:ai_pack:b#/ai_packs/0"),
    ],
)
def test_a_circle_is_printed_with_the_reference_that_closes_it(packs, root, cycle, place):
    with pytest.raises(PackCycleError) as caught:
        closure_of([f"m:ai_pack:{root}"], registry_of(**packs))
    names = [f"m:ai_pack:{name}" for name in cycle.split()]
    assert caught.value.cycle == tuple(names)
    assert str(caught.value) == (
        f"[ART204] {place}: these packs require each other in a circle: {' -> '.join(names)}. "
        f"Move what they share into a pack that requires neither."
    )


def test_a_circle_through_a_pack_in_place(tmp_path):
    file = tmp_path / "a.json"
    file.write_text('{"ai_packs": [{"ai_packs": ["m:ai_pack:a"]}]}')
    with pytest.raises(PackCycleError) as caught:
        closure_of(["m:ai_pack:a"], Registry([Manifest("m", {"ai_pack:a": file})]))
    assert caught.value.cycle == ("m:ai_pack:a", f"{file}#/ai_packs/0", "m:ai_pack:a")
    assert (caught.value.file, caught.value.pointer) == (str(file), "/ai_packs/0/ai_packs/0")


def test_a_survey_goes_on_around_circles():
    found = survey(["m:ai_pack:a"], registry_of(a="x > b c", b="y > a", c="z > b a"))
    assert short(found) == ("b c a", "y z x")
    assert [fault.cycle[:-1] for fault in found.faults] == [
        ("m:ai_pack:a", "m:ai_pack:b"),
        ("m:ai_pack:a", "m:ai_pack:c"),
    ]


@pytest.mark.slow
def test_chains_longer_than_the_stack():
    count = 3000
    chain = {f"p{n}": f"> p{n + 1}" for n in range(count)}
    assert len(closure_of(["m:ai_pack:p0"], registry_of(**chain, **{f"p{count}": "x"})).packs) == count + 1
    with pytest.raises(PackCycleError) as caught:
        closure_of(["m:ai_pack:p0"], registry_of(**chain, **{f"p{count}": "> p0"}))
    assert len(caught.value.cycle) == count + 2
    assert "m:ai_pack:p7 -> (2990 more) -> m:ai_pack:p2998" in str(caught.value)


# --- what is missing or broken ----------------------------------------------------------------------------------------


def test_unresolved_references():
    registry = registry_of(base="x")
    pack = load_pack(
        {"actions": ["m:actions:y", "m:actions:x", "m:actions:z"], "ai_packs": ["m:ai_pack:bass", "m:ai_pack:base"]},
        file="p.json",
    )
    closure = closure_of([pack], registry, allow_unresolved=True)
    assert closure.unresolved == (Reference("m:ai_pack:bass"), Reference("m:actions:y"), Reference("m:actions:z"))
    assert closure.actions == ("m:actions:x", "m:actions:y", "m:actions:z")
    with pytest.raises(UnknownAliasError) as caught:
        closure_of([pack], registry)
    assert str(caught.value).startswith(
        "[ART203] p.json#/ai_packs/0: nobody registered 'm:ai_pack:bass'. Did you mean 'm:ai_pack:base'?"
    )
    assert [note.partition(" Did")[0] for note in caught.value.__notes__[1:]] == [
        "[ART203] p.json#/actions/0: nobody registered 'm:actions:y'.",
        "[ART203] p.json#/actions/2: nobody registered 'm:actions:z'.",
    ]


def test_an_unknown_root():
    with pytest.raises(UnknownAliasError, match="nobody registered 'm:ai_pack:nope'"):
        closure_of(["m:ai_pack:nope"], Registry())


def test_a_broken_dependency_is_told_once_and_left_out():
    registry = registry_of(top="a > bad mid", mid="b > bad")
    registry.register("m:ai_pack:bad", {"action": []})
    found = survey(["m:ai_pack:top"], registry)
    assert short(found) == ("mid top", "b a")
    assert [type(fault) for fault in found.faults] == [InvalidPackError]
    assert found.faults[0].__notes__[1:] == ["m:ai_pack:top requires it."]
    with pytest.raises(InvalidPackError):
        closure_of(["m:ai_pack:top"], registry, allow_unresolved=True)


@pytest.mark.slow
def test_the_number_of_faults_is_bounded():
    everything = " ".join(f"p{n}" for n in range(80))
    found = survey(["m:ai_pack:p0"], registry_of(**{f"p{n}": f"> {everything}" for n in range(80)}))
    assert len(found.faults) == 50
    assert len(found.packs) == 80


@pytest.mark.slow
@given(
    st.integers(1, 8).flatmap(
        lambda count: st.lists(st.lists(st.integers(0, count - 1), max_size=4), min_size=count, max_size=count)
    )
)
def test_every_pack_comes_after_what_it_requires(edges):
    names = [f"m:ai_pack:p{n}" for n in range(len(edges))]
    registry = registry_of(
        **{f"p{n}": f"a{n} > " + " ".join(f"p{m}" for m in required) for n, required in enumerate(edges)}
    )
    found = survey(names, registry)
    assert sorted(found.packs) == sorted(names)
    closing = {(fault.cycle[-2], fault.cycle[-1]) for fault in found.faults}
    position = {name: index for index, name in enumerate(found.packs)}
    for n, required in enumerate(edges):
        for m in required:
            assert position[names[m]] < position[names[n]] or (names[n], names[m]) in closing
    assert survey(names, registry).packs == found.packs
