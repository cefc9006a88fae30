"""Trees in a few lines, behaviors that keep a log, and the hosts of the runtime's tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from players import plain, play, play_loop  # noqa: F401 - fixtures

from agentrt.body.driver import LoneBody
from agentrt.selection import LeafBehavior, SelectionLibrary

SECTIONS = """<SelectionTree name="Grunt">
<Variables>{variables}</Variables>
<SignalVariables>{signals}</SignalVariables>
<LeafTranslations>{maps}</LeafTranslations>
{root}
</SelectionTree>"""


@pytest.fixture(scope="session")
def examples():
    """The folder with the Grunt and the Alien."""
    return Path(__file__).resolve().parents[2] / "examples" / "selection"


@pytest.fixture(scope="session")
def tree_text():
    """A file with one tree, from its variables, nodes, and what else it has."""

    def make(root, variables="", signals="", maps=""):
        declared = "".join(f'<Variable name="{name}"/>' for name in variables.split())
        return SECTIONS.format(variables=declared, signals=signals, maps=maps, root=root)

    return make


@pytest.fixture(scope="session")
def tree_of(tree_text):
    """One tree by itself."""

    def make(root, variables="", signals="", maps="", mode="strict"):
        return SelectionLibrary.from_texts({"Grunt.xml": tree_text(root, variables, signals, maps)}, mode)["Grunt"]

    return make


class Writing(LeafBehavior):
    """Writes what is called into a log: pairs of a callback and a name."""

    def __init__(self, name, log):
        self.name = name
        self.log = log

    def constructor(self, ai):
        self.log.append(("constructor", self.name))

    def destructor(self, ai):
        self.log.append(("destructor", self.name))


@pytest.fixture(scope="session")
def writing():
    return Writing


@pytest.fixture
def log():
    return []


@pytest.fixture
def faults():
    """What was reported: triples of a path, a callback and an error."""
    return []


@pytest.fixture
def body(faults):
    return LoneBody("entity", report=lambda *told: faults.append(told))


@pytest.fixture
def state_of(body, log):
    """The state of a tree, with a writing behavior for each leaf, except those that are given."""

    def make(tree, behaviors=None, **options):
        all_of_them = {name: Writing(name, log) for name in tree.behaviors} | (behaviors or {})
        return tree.state(all_of_them, body=body, **options)

    return make
