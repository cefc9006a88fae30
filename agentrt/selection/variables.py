"""The variables of one agent: one integer with a bit for each, and the tree that says which is which.

Rules:

* Setting a variable evaluates nothing; it marks the state as *stale*, and only if the value is another one.
* The program is that of the tree when it was looked at last. Whoever sets or asks takes a new one over first
  (``adopt``): values stay by name, what is new has its default.
* Names ignore case. One that the tree does not declare is an error; in the compatible mode it is false and stays so.

Source: seed 004, "Selection Variables", "each AI instance gets a copy of the selection variables".
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

from agentrt.body.driver import Body, note
from agentrt.body.reading import Fields
from agentrt.errors import ENDS_PROGRAM, DataFault, DefinitionError
from agentrt.kernel.trace import Event
from agentrt.words import error_words, repr_of

if TYPE_CHECKING:
    from agentrt.selection.program import Program
    from agentrt.selection.tree import SelectionTree

__all__ = ["TreeVariables"]


class TreeVariables:
    """What an agent has of a tree.

    Args:
        tree: the tree.
        name: of the driver, for traces.

    Attributes:
        tree: as given.
        name: as given.
    """

    __slots__ = ("_bits", "_body", "_program", "_stale", "name", "tree")

    def __init__(self, tree: SelectionTree, name: str) -> None:
        self.tree: SelectionTree = tree
        self.name: str = name
        self._program: Program = tree.program
        self._bits: int = tree.program.defaults
        self._body: Body | None = None
        self._stale: bool = True  # to be evaluated at the next drive

    @property
    def variables(self) -> dict[str, bool]:
        """The variables by name, in the order of declaration; a copy."""
        program, old = self.tree.program, self._program
        return program.values(self._bits if program is old else program.translated(self._bits, old))

    @property
    def is_stale(self) -> bool:
        """Whether the tree is evaluated at the next drive."""
        return self._stale or self._program is not self.tree.program

    def is_set(self, name: str) -> bool:
        """Whether a variable is true.

        Args:
            name: in any case.

        Raises:
            UnknownVariableError: the tree declares no such variable; in the compatible mode it is false.
        """
        program = self._adopt()
        return self._bits & program.mask(name) != 0

    def set_variable(self, name: str, value: bool) -> bool:
        """Turn a variable on or off; the tree is evaluated at the next drive.

        Args:
            name: in any case.
            value: what it is from now on.

        Returns:
            Whether it was different before.

        Raises:
            UnknownVariableError: the tree declares no such variable; in the compatible mode nothing happens.
            DefinitionError: the value is neither True nor False.

        Source: seed 004, "Selection Variables": "externally by both the AI system and the behaviors themselves".
        """
        given: object = value
        if given is not True and given is not False:
            value = _boolean(given, name)
        program = self._program
        if program is not self.tree.program:
            program = self._adopt()
        mask = program.masks.get(name)
        if mask is None:
            mask = program.mask(name)
            if not mask and self._body is not None:
                note(self._body, self.name, Event.IGNORED, (("variable", name),))
        return self._put(mask, value, "")

    def save(self) -> dict[str, Any]:
        """What has to be kept of it, as JSON values: the tree's name and the variables. The behavior follows."""
        return {"tree": self.tree.name, "variables": self.variables}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Take saved variables over; those that the tree does not declare any more are left out.

        What is not there keeps its value. Whatever is given, either all of it is taken over or nothing.

        Args:
            saved: what ``save`` returned, of a tree of the same name.

        Raises:
            DataFault: it is nothing that ``save`` returns, it is of another tree, or there is far too much of it.
        """
        program = self._adopt()
        found = _saved_variables(saved, program.name)
        changes: dict[int, bool] = {}
        for name, value in found:
            mask = program.masks.get(str.lower(name), 0)
            if changes.setdefault(mask, value) is not value and mask:
                text = f"the variable {repr_of(name, 80)} stands here twice, as true and as false. Remove one of them."
                raise DataFault(text, pointer="/variables")
        for mask, value in changes.items():
            self._put(mask, value, "")

    # --- for the state ------------------------------------------------------------------------------------------------

    def _adopt(self) -> Program:
        """Take the tree's program over if it is another one."""
        program, old = self.tree.program, self._program
        if program is not old:
            self._bits = program.translated(self._bits, old)
            self._program = program
            self._stale = True
            if self._body is not None:
                note(self._body, self.name, Event.NOTE, (("reloaded", program.name), ("version", self.tree.version)))
            self._adopted()
        return program

    def _adopted(self) -> None:
        """A new program was taken over."""

    def _put(self, mask: int, value: bool, signal: str) -> bool:
        old = self._bits
        bits = old | mask if value else old & ~mask
        if bits == old:
            return False
        self._bits = bits
        self._stale = True
        body = self._body
        if body is not None:
            kernel = body.kernel
            if kernel is not None and kernel.trace.on:
                (name,) = (one.name for one in self._program.variables if one.mask == mask)
                detail = (("variable", name), ("value", bits > old), ("signal", signal or None))
                note(body, self.name, Event.VARIABLE, detail)
        return True


MOST_SAVED = 10_000  # variables of one saved state; a tree has no more parts than that
_LONGEST_SAVED = 4096  # characters of a name, as in a file


def _boolean(value: object, name: str) -> bool:
    """A value of an author that may stand for a boolean: 0, 1, and what other libraries have in place of them.

    A text from a file or a console would be true whatever it says.

    Args:
        value: neither True nor False.
        name: of the variable, for the error.
    """
    try:
        is_one = value in (False, True)
    except ENDS_PROGRAM:
        raise
    except BaseException:  # it cannot even be compared
        is_one = False
    if is_one:
        return bool(value)
    raise DefinitionError(
        f"variable {repr_of(name, 80)}", f"it cannot be set to {repr_of(value, 80)}.", "Write True or False."
    )


def _saved_variables(saved: object, tree: str) -> list[tuple[str, bool]]:
    """What stands in a saved state, read before anything is changed.

    Args:
        saved: anything.
        tree: the name of the tree that it has to be of.
    """
    plain = _plain_dict(saved)
    of = Fields(plain).text("tree")
    if str.lower(of) != tree.lower():
        text = f"it was saved of the tree {repr_of(of, 80)}, and this is {repr_of(tree, 80)}. Restore it into a state"
        raise DataFault(f"{text} of that tree.", pointer="/tree")
    inner = _plain_dict(plain.get("variables") if isinstance(plain, dict) else None)
    variables = Fields(inner, "/variables")
    names = variables.names()
    if any(len(name) > _LONGEST_SAVED for name in names):
        raise DataFault(f"a name here is longer than {_LONGEST_SAVED} characters.", pointer="/variables")
    return [(name, variables.flag(name)) for name in names]


def _plain_dict(given: object) -> object:
    """A mapping as a dict, so that what somebody else wrote is asked once and not believed afterwards."""
    if not isinstance(given, Mapping):
        return given
    try:
        if len(given) > MOST_SAVED:
            raise DataFault(f"it has more than {MOST_SAVED} entries, and no tree has so many. It is no saved state.")
        return dict(islice(given.items(), MOST_SAVED))
    except ENDS_PROGRAM:
        raise
    except DataFault:
        raise
    except BaseException as error:
        raise DataFault(f"it cannot be read: {error_words(error, 80)}. Give what save() returned.") from None
