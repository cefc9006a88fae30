"""Modules are rooms: one meaning for a name, a reason for each room, no circle. What still falls short may only shrink.

A table says what stands today. Its test fails for what is new, and just as well for a figure that is too high, since
what was mended must not come back. Tables count by package where they can: a module may move inside of it, and one that
moves to another package takes its share along. A failure prints the places.
"""

from __future__ import annotations

import ast
from collections import defaultdict

import pytest
from library import PACKAGES, Source, circles, largest_circle
from ratchet import only_shrinks

pytestmark = pytest.mark.untraced


@pytest.fixture(scope="module")
def sources():
    return {name: Source(name) for name in PACKAGES}


@pytest.fixture(scope="module")
def library(sources):
    return sources["agentrt"]


# --- circles ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PACKAGES)
def test_what_is_imported_at_run_time_goes_in_no_circle(sources, name):
    """Inside functions, too."""
    assert circles(sources[name], with_types=False) == {}


@pytest.mark.parametrize("name", PACKAGES)
def test_imports_for_types_go_in_no_circle(sources, name):
    advice = "Declare the type below both who use it: as a protocol, or as plain data."
    assert circles(sources[name], with_types=True) == {}, advice


def test_the_modules_of_the_library_go_in_no_circle_whatever_their_packages(library):
    assert largest_circle({(one, other) for one, other, _ in library.imports}) == []


def test_circles_are_found():
    edges = {("a", "b"), ("b", "c"), ("c", "b"), ("c", "d"), ("d", "e"), ("e", "c"), ("x", "y"), ("y", "x")}
    assert largest_circle(edges) == ["b", "c", "d", "e"]
    assert largest_circle({("a", "b"), ("b", "c"), ("a", "c")}) == []


@pytest.mark.parametrize(
    ("found", "standing", "said"),
    [
        ({"one": ["here", "there"]}, {"one": 1}, "Mend it. .*\none: 2, not 1: here, there$"),
        ({"one": ["here"]}, {}, "\none: 1, not 0: here$"),
        ({"one": ["here"]}, {"one": 2}, "Lower it.*\none: 1, not 2$"),
        ({}, {"one": 1}, "take out what is 0:\none: 0, not 1$"),
    ],
)
def test_a_table_may_only_shrink_and_must(found, standing, said):
    with pytest.raises(AssertionError, match=said):
        only_shrinks(found, standing, "Mend it.")


# --- names --------------------------------------------------------------------------------------------------------------

FIELD_MODULES = {  # names of modules that the field itself uses in several packages, and why
    "kernel": "a package is opened by the module of its name",
    "agent": "a package is opened by the module of its name",
    "runtime": "a package is opened by the module of its name",
    "tasks": "a package is opened by the module of its name, which adds what a town shares",
    "schema": "the JSON Schema of a package's documents",
    "declare": "what authors declare for a model",
    "tree": "the tree of a model",
    "views": "what a snapshot shows of a package",
}
MODULES_TO_RENAME: dict[str, int] = {}
FIELD_CLASSES = {  # names of classes that the field itself uses twice, and why
    "Budget": "what may be used of something: of steps outside in a tick, and of a model's tokens",
    "Condition": "what one waits for until it is notified, as in asyncio; and what a selection tree checks",
}
CLASSES_TO_RENAME: dict[str, int] = {}  # how many classes have that name


def _doubled(names, field, standing):
    """A name stands once, unless the field doubles it or it is on the list of those that are to be renamed."""
    places = defaultdict(list)
    for name in names:
        places[name.rpartition(".")[2]].append(name)
    twice = {name: there for name, there in places.items() if len(there) > 1}
    assert field.keys() - twice.keys() == set(), "These stand once by now: take them out of the table of the field."
    only_shrinks(
        {name: there for name, there in twice.items() if name not in field},
        standing,
        "Give the new one a name of its own. A name that the field itself uses for both goes into the table of the field,"
        " with the reason.",
    )


def test_a_module_has_a_name_of_its_own(library):
    _doubled(library.nodes, FIELD_MODULES, MODULES_TO_RENAME)


def test_a_class_has_a_name_of_its_own(library):
    _doubled(library.classes, FIELD_CLASSES, CLASSES_TO_RENAME)


# --- a reason for each room ---------------------------------------------------------------------------------------------

ENTERED_FROM_OUTSIDE = {  # modules that are a door themselves
    "agentrt.bridges",  # a facade
    "agentrt.cli.__main__",  # python -m agentrt.cli
    "agentrt.inspect.child",  # python -m agentrt.inspect.child, for each branch
    "agentrt.kernel.hosts.asyncio_",  # loaded by the name of an event loop, when there is to be one
    "agentrt.kernel.hosts.trio_",  # likewise; it imports what need not be installed
    "agentrt.rebuild",  # a facade
    "agentrt.reload",  # a facade
    "agentrt.tasks",  # a facade
    "agentrt.testing.plugin",  # pytest loads it
}
ONE_READER = {  # modules that one other imports, and nothing that a facade shows: why each is a room all the same
    "agentrt.behavior.walk": "what a tick does, beside the tree that it walks: a loop of three steps to be read alone",
    "agentrt.inspect.branches": "processes, their threads and files: what a recording's own thread only asks about",
    "agentrt.inspect.past": "what lives on the thread of those who look back",
    "agentrt.inspect.server": "what lives on the server's thread",
    "agentrt.record.forms": "reads signatures of authors' functions: a grammar of types with bounds of its own",
    "agentrt.runtime.driving": "who runs the ticks and closes it all; the runtime itself is a face",
    "agentrt.shards.eye": "what a place with shards loads only when somebody looks at them",
    "agentrt.shards.joined": "what several shards show, put together: nothing in it asks, waits or knows a client",
    "agentrt.shards.overview": "what who leads shards loads only when an inspector looks at them",
    "agentrt.strategy.tools": "what the command line shows of strategies, and no command",
}
ROOTS = {  # classes of which one other is made, and why they are two
    "AnsweringContext": "the part of Context that is compiled: authors' names for arguments forbid that of all of it",
    "Thinker": "what the kernel has of a unit, which stands four rooms above it, and is an entry of its queue",
    "AnsweringSeat": "what compiled code writes of a unit, which stands above the author's side",
    "ControlFlow": "the kernel lets pass what only the planner, two floors above, knows and raises",
    "SimpleWorld": "what most worlds are, whole as it is; a world in shards is one whose runtime is one part of it",
    "Declared": "the data of ActionSpec, for compiled code; reading an author's class cannot be compiled",
}
ONE_HEIR: set[str] = set()  # classes that nothing makes, no facade shows, and one class inherits from
CASTS: dict[str, int] = {}  # calls of cast
ANYS = {  # attributes and parameters that are declared as Any
    "activity": 68,
    "agent": 11,
    "agentrt": 7,
    "behavior": 6,
    "body": 18,
    "cli": 1,
    "goals": 6,
    "inspect": 3,
    "kernel": 26,
    "packs": 3,
    "record": 8,
    "runtime": 1,
    "snapshot": 1,
    "strategy": 31,
    "testing": 25,
}


def _by_room(library, places):
    rooms = defaultdict(list)
    for place in places:
        rooms[library.room(place.partition(":")[0])].append(place)
    return rooms


def test_a_module_has_two_importers_or_a_public_name(library):
    importers = defaultdict(set)
    for module, imported, _ in library.imports:
        importers[imported].add(module)
    few = [
        module
        for module in library.nodes
        if len(importers[module]) < 2 and not importers[module] & library.facades
        if module not in library.packages and module not in ENTERED_FROM_OUTSIDE
    ]
    assert sorted(few) == sorted(ONE_READER), (
        "What has one reader stands where it is read, or has a reason in the table."
    )


def test_no_class_is_there_for_one_heir(library):
    heirs, made, protocols = defaultdict(list), set(), set()
    for module, nodes in library.nodes.items():
        known = library.meanings(module)
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
                for name in _names(bases, known):
                    heirs[name].append(node.name)
                if any(isinstance(base, ast.Name) and base.id == "Protocol" for base in bases):
                    protocols.add(f"{module}.{node.name}")  # says what is there, and is half of nothing
            elif isinstance(node, ast.Call):
                made.update(_names([node.func], known))
            elif isinstance(node, ast.Dict):  # a table of what is made
                made.update(_names(node.values, known))
    shown = {name for facade in library.facades for name in library.meanings(facade).values()}
    halves = [name for name in library.classes if len(heirs[name]) == 1 and name not in made | shown | protocols]
    found = {name.rpartition(".")[2]: [name] for name in halves}
    assert ROOTS.keys() - found.keys() == set(), "These have several heirs by now, or none: take them out."
    only_shrinks(
        {name: places for name, places in found.items() if name not in ROOTS},
        dict.fromkeys(ONE_HEIR, 1),
        "Half of a class is no class: its heir holds an object that does this, or is one with it.",
    )


def _names(nodes, known):
    return [known[node.id] for node in nodes if isinstance(node, ast.Name) and node.id in known]


def test_types_are_declared_and_not_cast(library):
    places = [
        f"{module}:{node.lineno}"
        for module, nodes in library.nodes.items()
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "cast"
    ]
    only_shrinks(_by_room(library, places), CASTS, "Declare what is handed in as what it is, if need be as a protocol.")


def test_objects_of_our_own_have_a_type(library):
    places = [
        f"{module}:{node.lineno}"
        for module, nodes in library.nodes.items()
        for node in nodes
        if isinstance(node, ast.AnnAssign | ast.arg) and getattr(node, "arg", "") != "args"  # an author's, in each hook
        if isinstance(node.annotation, ast.Name) and node.annotation.id == "Any"
    ]
    only_shrinks(_by_room(library, places), ANYS, "Say what it is: a protocol; object for what only passes through.")
