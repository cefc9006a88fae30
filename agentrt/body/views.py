"""What the views of all tick-driven models have in common: how they are shown, written as JSON, and read again.

A driver's ``view()`` may be any dataclass. Those of the models of this library derive from ``ModelView``: they say what
is active by paths, why the rest is not, and can be written as JSON and read again, so that a tick of a recording is
explained by the same code as the present one. An ``Outline`` is the static half: a whole tree as it was declared, with
the same paths as the trace and as ``active``. It is made once for each tree and shared; a view says by ``outline_id``
which one it belongs to.

What is read was written by somebody else: a snapshot out of a recording, or one that came over a socket. A ``Fields``
stands for one JSON object and says where it stands. Each question names a key and the kind of value that has to be
there; what is not of that kind is a ``DataFault`` with the place, as a JSON pointer. Nothing else ever comes out of it,
whatever it is given: depth is bounded, numbers are finite, and nothing in the data is looked up as code. A key that is
not there has its default, if the question names one. Keys that nobody asks for are passed over, so that a newer writer
may add some.

Source: design section 7, "Snapshot"; section 10; seed 002, "S11: Debugging", 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from math import isfinite
from typing import Any, ClassVar, NamedTuple, TypeVar

from agentrt.errors import DataFault

__all__ = ["MOST_LEVELS", "Fields", "ModelView", "Outline"]

MOST_LEVELS = 300
"""How deep objects and lists may lie in each other."""

_LONGEST_POINTER = 500  # characters
_GREATEST = 2**63 - 1  # what a database or another language can hold, too

T = TypeVar("T")


class Fields:
    """One JSON object that is read.

    Args:
        pointer: where, as a JSON pointer; empty for the outermost value.
        level: in how many objects it lies.

    Raises:
        DataFault: it is no object, or lies too deep.
    """

    __slots__ = ("_data", "_level", "_pointer")

    def __init__(self, data: object, pointer: str = "", level: int = 0) -> None:
        self._pointer = pointer
        self._level = level
        if not isinstance(data, dict):
            raise self._fault("", data, "an object")
        if level > MOST_LEVELS:
            raise DataFault("it is nested too deep. Write no more levels than a plan has.", pointer=self._place(""))
        self._data: dict[Any, Any] = data

    def _place(self, name: str) -> str:
        pointer = f"{self._pointer}/{name.replace('~', '~0').replace('/', '~1')}" if name else self._pointer
        return pointer if len(pointer) <= _LONGEST_POINTER else f"...{pointer[-_LONGEST_POINTER:]}"

    def _fault(self, name: str, found: object, wanted: str, below: str = "") -> DataFault:
        return DataFault(f"here stands {_said(found)}. Write {wanted}.", pointer=f"{self._place(name)}{below}")

    def _get(self, name: str, default: object, wanted: str) -> Any:
        if name in self._data:
            return self._data[name]
        if default is None:
            raise DataFault(f"the key '{name}' is missing. Write {wanted}.", pointer=self._place(name))
        return default

    # --- single values ------------------------------------------------------------------------------------------------

    def text(self, name: str, default: str | None = None) -> str:
        """A text.

        Args:
            default: what it is if the key is not there; None if it has to be.

        Raises:
            DataFault: it is no text, or missing.
        """
        value = self._get(name, default, "a text")
        if not isinstance(value, str):
            raise self._fault(name, value, "a text")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        """A finite number; what is whole stays so.

        Raises:
            DataFault: it is no such number, or missing.
        """
        value = self._get(name, default, "a number")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not _is_finite(value):
            raise self._fault(name, value, "a finite number")
        return value

    def whole(self, name: str, default: int | None = None) -> int:
        """A whole number.

        Raises:
            DataFault: it is no such number, or missing.
        """
        value = self._get(name, default, "a whole number")
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _GREATEST:
            raise self._fault(name, value, "a whole number of at most 63 bits")
        return value

    def flag(self, name: str, default: bool | None = None) -> bool:
        """True or false.

        Raises:
            DataFault: it is neither, or missing.
        """
        value = self._get(name, default, "true or false")
        if not isinstance(value, bool):
            raise self._fault(name, value, "true or false")
        return value

    def is_null(self, name: str) -> bool:
        """Whether a key is not there, or holds null."""
        return self._data.get(name) is None

    def plain(self, name: str) -> Any:
        """Any value, as it is: a copy of it, checked for being plain and not too deep. None if it is not there.

        Raises:
            DataFault: it is no JSON value.
        """
        return self._plain(name, self._data.get(name), self._level)

    def plain_object(self, name: str) -> dict[str, Any]:
        """An object of any values; an empty one if it is not there.

        Raises:
            DataFault: it is no object of JSON values.
        """
        value = self._data.get(name, {})
        if not isinstance(value, dict):
            raise self._fault(name, value, "an object")
        found: dict[str, Any] = self._plain(name, value, self._level)
        return found

    def _plain(self, name: str, value: Any, level: int) -> Any:
        if level > MOST_LEVELS:
            raise DataFault("it is nested too deep. Write less levels.", pointer=self._place(name))
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, (int, float)) and _is_finite(value):
            return value
        if isinstance(value, dict) and all(isinstance(key, str) for key in value):
            return {key: self._plain(name, one, level + 1) for key, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._plain(name, one, level + 1) for one in value]
        raise self._fault(name, value, "values that JSON knows")

    def names(self) -> tuple[str, ...]:
        """The keys that are there, in their order.

        Raises:
            DataFault: one of them is no text.
        """
        for name in self._data:
            if not isinstance(name, str):
                raise self._fault("", name, "texts as keys")
        return tuple(self._data)

    # --- several ------------------------------------------------------------------------------------------------------

    def inner(self, name: str) -> Fields:
        """The object under a key.

        Raises:
            DataFault: it is no object, or missing.
        """
        return Fields(self._data.get(name), self._place(name), self._level + 1)

    def each(self, name: str, read: Callable[[Fields], T]) -> tuple[T, ...]:
        """A list of objects; empty if it is not there.

        Raises:
            DataFault: it is no list of objects, or as ``read`` says.
        """
        items = self._list(name)
        return tuple(read(Fields(one, f"{self._place(name)}/{at}", self._level + 1)) for at, one in enumerate(items))

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; empty if it is not there.

        Raises:
            DataFault: it is no such list.
        """
        for at, one in enumerate(self._list(name)):
            if not isinstance(one, str):
                raise self._fault(name, one, "a text", f"/{at}")
        return tuple(self._list(name))

    def pairs(self, name: str, second: type[T]) -> tuple[tuple[str, T], ...]:
        """A list of pairs, each of a text and a value of one kind; empty if it is not there.

        Args:
            second: the kind of the second ones: ``str`` or ``bool``.

        Raises:
            DataFault: it is no such list.
        """
        found: list[tuple[str, T]] = []
        for at, one in enumerate(self._list(name)):
            if not (isinstance(one, (list, tuple)) and len(one) == 2 and isinstance(one[0], str)):
                raise self._fault(name, one, "a pair that begins with a text", f"/{at}")
            if not isinstance(one[1], second):
                wanted = "a text" if second is str else "true or false"
                raise self._fault(name, one[1], wanted, f"/{at}/1")
            found.append((one[0], one[1]))
        return tuple(found)

    def _list(self, name: str) -> list[Any] | tuple[Any, ...]:
        value = self._data.get(name, ())
        if not isinstance(value, (list, tuple)):
            raise self._fault(name, value, "a list")
        return value


def _is_finite(value: float) -> bool:
    try:
        return isfinite(value)
    except OverflowError:  # a whole number that no float can hold
        return False


def _said(value: object) -> str:
    """A value of unknown origin in a few characters."""
    if value is None:
        return "nothing"
    if isinstance(value, (bool, int, float, str)):
        text = ascii(value) if not isinstance(value, int) or abs(value) < 10**30 else "a very large number"
        return text if len(text) <= 40 else f"{text[:40]}..."
    return "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else type(value).__name__


class ModelView(ABC):
    """What one model is doing, as frozen, plain data. The base class of the views of this library's models.

    Attributes:
        model: ``goals``, ``behavior`` or ``selection``.
    """

    __slots__ = ()

    model: ClassVar[str] = ""

    @property
    def outline_id(self) -> str:
        """Which outline it belongs to; empty if the model has no tree."""
        return ""

    @abstractmethod
    def active(self) -> tuple[str, ...]:
        """The paths of what is active, as in the trace; of a tree from the root down."""

    @abstractmethod
    def doing(self) -> str:
        """What it does in a few words; empty if it does nothing."""

    @abstractmethod
    def lines(self) -> list[str]:
        """What it does, in words."""

    @abstractmethod
    def reasons(self) -> list[str]:
        """Why the rest of it does nothing, in words."""

    @abstractmethod
    def as_json(self) -> dict[str, Any]:
        """The same as dicts, lists and plain values."""


class Outline(NamedTuple):
    """A node of a tree as it was declared, with all below it.

    Attributes:
        path: its place: the driver's name, then the nodes from the root on.
        name: its own name.
        kind: what it is: ``kGroup``, ``kBehavior`` or ``kReference``; ``priority`` or ``leaf``.
        note: what is to be known of it, in words: policy and checks, or condition and behavior.
        children: the nodes below it, in order.
    """

    path: str
    name: str
    kind: str
    note: str
    children: tuple[Outline, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The same as dicts, lists and plain values."""
        data: dict[str, Any] = {"path": self.path, "name": self.name, "kind": self.kind, "note": self.note}
        if self.children:
            data["children"] = [child.as_json() for child in self.children]
        return data

    @classmethod
    def from_json(cls, data: object) -> Outline:
        """Read what ``as_json`` wrote.

        Args:
            data: plain values, from anywhere.

        Raises:
            DataFault: it is no outline.
        """
        return cls.read(Fields(data))

    @classmethod
    def read(cls, fields: Fields) -> Outline:
        """Read one node and all below it.

        Args:
            fields: its object.

        Raises:
            DataFault: it is no outline.
        """
        return cls(
            fields.text("path"),
            fields.text("name"),
            fields.text("kind"),
            fields.text("note", ""),
            fields.each("children", cls.read),
        )
