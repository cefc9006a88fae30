"""One codec for all views: what is frozen and plain, written as JSON values and read again.

A view is a dataclass made with ``@view()``, below ``View``. ``as_json`` and ``read`` are generated from its fields when
one of them is first called, since most programs call none; so they are as quick as by hand: a tick of an inspector
writes thousands of them. What a field's type says is all that a codec knows:

============================== ===================== ================================================================
``str int float bool``         as it is              checked for its kind; see ``JsonObject``
``X | None``                   null for None         a key that is not there is None
``dict[str, Any]``             as it is              an object of plain values; an empty one if it is not there
``tuple[str, ...]``            a list                empty if it is not there
``tuple[tuple[str, X], ...]``  a list of pairs       ``X`` is ``str`` or ``bool``; an object, if ``told(by_name=True)``
a view, or a tuple of them     an object, or a list  a view may be named before it is made
a named tuple or dataclass     an object             of the same kinds of fields
============================== ===================== ================================================================

A field with a default may be missing in what is read. In a view that is ``sparse`` it is not written either while it
has its default, and an empty tuple never is; elsewhere only where ``told(sparse=True)`` says so.

Rejected: reading ``dataclasses.fields`` each time (eight times the work), and a library for it (msgspec, attrs): the
errors have to name the place as a JSON pointer and the remedy, and ``JsonObject`` does that already.

What is read may come from anybody: out of a recording, or over a socket. A ``JsonObject`` says where it stands. Each
question names a key and the kind of value that has to be there; what is not of that kind is a ``DataFault`` with the
place, as a JSON pointer. Nothing else ever comes out of it, whatever it is given: depth is bounded, numbers are finite,
and nothing in the data is looked up as code.

A key that is not there has its default, if the question names one. Keys that nobody asks for are passed over, so that a
newer writer may add some.

Source: ours.
"""

from __future__ import annotations

import ast
import dataclasses
import sys
from collections.abc import Callable
from dataclasses import MISSING, dataclass
from math import isfinite
from typing import Any, Self, TypeVar, dataclass_transform

from agentrt.errors import DataFault

MOST_LEVELS = 300
"""How deep objects and lists may lie in each other."""

_LONGEST_POINTER = 500  # characters
_GREATEST = 2**63 - 1  # what a database or another language can hold, too

C = TypeVar("C", bound=type)
T = TypeVar("T")
_Check = Callable[["JsonObject"], object]

_READS = {"str": "text", "int": "whole", "float": "number", "bool": "flag"}
_EMPTY: dict[str, Any] = {"str": "", "int": 0, "float": 0.0, "bool": False}


class JsonObject:
    """One JSON object that is read. Each of its methods, and making one, raises ``DataFault`` for what does not fit."""

    __slots__ = ("_data", "_level", "_pointer")

    def __init__(self, data: object, pointer: str = "", level: int = 0) -> None:
        self._pointer = pointer  # where it stands, as a JSON pointer; empty for the outermost value
        self._level = level  # in how many objects it lies
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
        """A text. The default is for a key that is not there; None if it has to be, as in all of these."""
        value = self._get(name, default, "a text")
        if not isinstance(value, str):
            raise self._fault(name, value, "a text")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        """A finite number; what is whole stays so."""
        value = self._get(name, default, "a number")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not _is_finite(value):
            raise self._fault(name, value, "a finite number")
        return value

    def whole(self, name: str, default: int | None = None) -> int:
        value = self._get(name, default, "a whole number")
        if isinstance(value, bool) or not isinstance(value, int) or abs(value) > _GREATEST:
            raise self._fault(name, value, "a whole number of at most 63 bits")
        return value

    def flag(self, name: str, default: bool | None = None) -> bool:
        value = self._get(name, default, "true or false")
        if not isinstance(value, bool):
            raise self._fault(name, value, "true or false")
        return value

    def is_null(self, name: str) -> bool:
        """Whether a key is not there, or holds null."""
        return self._data.get(name) is None

    def plain(self, name: str) -> Any:
        """Any value, as it is: a copy of it, checked for being plain and not too deep. None if it is not there."""
        return self._plain(name, self._data.get(name), self._level)

    def plain_object(self, name: str) -> dict[str, Any]:
        """An object of any values; an empty one if it is not there."""
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
        for name in self._data:
            if not isinstance(name, str):
                raise self._fault("", name, "texts as keys")
        return tuple(self._data)

    # --- several ------------------------------------------------------------------------------------------------------

    def inner(self, name: str) -> JsonObject:
        return JsonObject(self._data.get(name), self._place(name), self._level + 1)

    def each(self, name: str, read: Callable[[JsonObject], T]) -> tuple[T, ...]:
        """A list of objects; empty if it is not there."""
        items = self._list(name)
        return tuple(
            read(JsonObject(one, f"{self._place(name)}/{at}", self._level + 1)) for at, one in enumerate(items)
        )

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts; empty if it is not there."""
        for at, one in enumerate(self._list(name)):
            if not isinstance(one, str):
                raise self._fault(name, one, "a text", f"/{at}")
        return tuple(self._list(name))

    def pairs(self, name: str, second: type[T]) -> tuple[tuple[str, T], ...]:
        """A list of pairs, each of a text and a ``str`` or a ``bool``; empty if it is not there."""
        found: list[tuple[str, T]] = []
        for at, one in enumerate(self._list(name)):
            if not (isinstance(one, (list, tuple)) and len(one) == 2 and isinstance(one[0], str)):
                raise self._fault(name, one, "a pair that begins with a text", f"/{at}")
            if not isinstance(one[1], second):
                wanted = "a text" if second is str else "true or false"
                raise self._fault(name, one[1], wanted, f"/{at}/1")
            found.append((one[0], one[1]))
        return tuple(found)

    def by_name(self, name: str) -> tuple[tuple[str, str], ...]:
        """An object of texts, as pairs; empty if it is not there."""
        if self.is_null(name):
            return ()
        inner = self.inner(name)
        return tuple((one, inner.text(one)) for one in inner.names())

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
        # ASCII: it ends up in logs and terminals, where other characters may be commands.
        text = ascii(value) if not isinstance(value, int) or abs(value) < 10**30 else "a very large number"
        return text if len(text) <= 40 else f"{text[:40]}..."
    return "an object" if isinstance(value, dict) else "a list" if isinstance(value, list) else type(value).__name__


class View:
    """What something is or does, as frozen, plain data. Made with ``@view()``: the first call writes its methods."""

    __slots__ = ()

    @staticmethod
    def _write_codec() -> None:
        raise NotImplementedError

    def as_json(self) -> dict[str, Any]:
        """The same as dicts, lists and plain values."""
        self._write_codec()
        return self.as_json()

    @classmethod
    def read(cls, fields: JsonObject) -> Self:
        """Read what ``as_json`` wrote; raises ``DataFault`` for what is no such view."""
        cls._write_codec()
        return cls.read(fields)

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Read what ``as_json`` wrote, from anywhere.

        Raises:
            DataFault: it is no such view, or of another version.
        """
        return cls.read(JsonObject(data))


def told(
    default: Any = MISSING,
    *,
    default_factory: Callable[[], object] | None = None,  # makes the default, if it is one that can be changed
    sparse: bool = False,  # left out while it is empty, 0, False or None
    by_name: bool = False,  # pairs are an object
    when: str = "",  # an expression of ``self`` that says whether it is written
    like: str = "",  # the field that it is equal to when it is missing
    missing: Any = MISSING,  # what it is when it is missing, if the class has no default for it
    write: Callable[[Any], Any] | None = None,  # makes its JSON value of its value
    read: Callable[[JsonObject], Any] | None = None,  # makes its value of the object in which it stands
) -> Any:
    """A field of a view of which more is to be said than its type and its default."""
    more = {"sparse": sparse, "by_name": by_name, "when": when, "like": like, "missing": missing}
    metadata = {**more, "write": write, "read": read}
    if default_factory is not None:
        return dataclasses.field(default_factory=default_factory, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


@dataclass_transform(frozen_default=True, field_specifiers=(told, dataclasses.field))
def view(*, sparse: bool = False, adds: tuple[str, ...] = (), check: _Check | None = None) -> Callable[[C], C]:
    """Make a view of a class with fields.

    Args:
        sparse: whether fields are left out while they have their default.
        adds: attributes that are no fields and are written, too.
        check: called with what is read, first; it raises if that must not be read.
    """

    def make(plain: Any) -> Any:
        made: Any = dataclass(frozen=True, slots=True)(plain)

        def write_codec() -> None:
            code = _Code(made, sparse, adds, check)
            made.as_json, made.read = code.writer(), classmethod(code.reader())

        made._write_codec = staticmethod(write_codec)
        return made

    return make


class _Code:
    """The code of one class's codec."""

    def __init__(self, cls: Any, sparse: bool, adds: tuple[str, ...], check: _Check | None) -> None:
        self._cls = cls
        self._sparse = sparse
        self._adds = adds
        self._check = check
        self._module = sys.modules[cls.__module__].__dict__
        self._known: dict[str, Any] = {}  # what the code that is being made calls and its module does not name
        self._fields = [
            (name, ast.parse(kind, mode="eval").body, default, more) for name, kind, default, more in _fields_of(cls)
        ]

    # --- writing ------------------------------------------------------------------------------------------------------

    def writer(self) -> Any:
        """A function that makes JSON values of an instance."""
        always = [f"{name!r}: self.{name}" for name in self._adds]
        lines: list[str] = []
        for name, kind, default, more in self._fields:
            value = self._written(f"self.{name}", name, kind, more)
            condition = more.get("when") or self._condition(name, kind, default, more)
            if condition:
                lines.append(f"    if {condition}: data[{name!r}] = {value}")
            else:
                (lines if lines else always).append(f"    data[{name!r}] = {value}" if lines else f"{name!r}: {value}")
        body = f"    data = {{{', '.join(always)}}}\n" + "".join(f"{line}\n" for line in lines) + "    return data\n"
        return self._made("as_json", f"def as_json(self):\n{body}")

    def _condition(self, name: str, kind: ast.expr, default: Any, more: dict[str, Any]) -> str:
        if not (self._sparse or more.get("sparse")):
            return ""
        if more.get("like"):
            return f"self.{name} != self.{more['like']}"
        if default is None:
            return f"self.{name} is not None"
        is_several = isinstance(kind, ast.Subscript)  # a tuple or an object, of which an empty one says nothing
        if more.get("sparse") or is_several or (default is not MISSING and not default):
            return f"self.{name}"
        return "" if default is MISSING else f"self.{name} != {default!r}"

    def _written(self, value: str, name: str, kind: ast.expr, more: dict[str, Any]) -> str:
        if more.get("write") is not None:
            self._known[f"_write_{name}"] = more["write"]
            return f"_write_{name}({value})"
        if more.get("by_name"):
            return f"dict({value})"
        match kind:
            case ast.BinOp(left=inner):
                written = self._written(value, name, inner, more)
                return value if written == value else f"None if {value} is None else {written}"
            case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=[item, _])):
                one = "list(one)" if isinstance(item, ast.Subscript) else self._written("one", name, item, {})
                return f"list({value})" if one == "one" else f"[{one} for one in {value}]"
            case ast.Name(id=known) if known not in _READS:
                found = self._module.get(known)
                if found is None or issubclass(found, View):
                    return f"{value}.as_json()"
                self._known[f"_{known}_as_json"] = _Code(found, False, (), None).writer()
                return f"_{known}_as_json({value})"
        return value

    # --- reading ------------------------------------------------------------------------------------------------------

    def reader(self) -> Any:
        if self._check is not None:
            self._known["_check"] = self._check
        lines = ["    _check(fields)\n"] if self._check is not None else []
        lines += [
            f"    {name}_ = {self._read(name, kind, default, more)}\n" for name, kind, default, more in self._fields
        ]
        given = ", ".join(f"{name}={name}_" for name, *_ in self._fields)
        return self._made("read", f"def read(cls, fields):\n{''.join(lines)}    return cls({given})\n")

    def _read(self, name: str, kind: ast.expr, default: Any, more: dict[str, Any]) -> str:
        if more.get("read") is not None:
            self._known[f"_read_{name}"] = more["read"]
            return f"_read_{name}(fields)"
        if more.get("by_name"):
            return f"fields.by_name({name!r})"
        if more.get("like"):
            return f"fields.{_READS[ast.unparse(kind)]}({name!r}, {more['like']}_)"
        match kind:
            case ast.BinOp(left=inner):
                return f"None if fields.is_null({name!r}) else {self._read(name, inner, MISSING, more)}"
            case ast.Name(id=known) if known in _READS:
                if default is MISSING:
                    default = more.get("missing", MISSING)
                if default is MISSING and more.get("sparse"):
                    default = _EMPTY[known]
                return f"fields.{_READS[known]}({name!r}{'' if default is MISSING else f', {default!r}'})"
            case ast.Name(id=known):
                return f"{self._reader_of(known)}(fields.inner({name!r}))"
        return self._read_several(name, kind)

    def _read_several(self, name: str, kind: ast.expr) -> str:
        match kind:
            case ast.Subscript(value=ast.Name(id="dict")):
                return f"fields.plain_object({name!r})"
            case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=[ast.Name(id="str"), _])):
                return f"fields.texts({name!r})"
            case ast.Subscript(slice=ast.Tuple(elts=[ast.Subscript(slice=ast.Tuple(elts=[_, second])), _])):
                return f"fields.pairs({name!r}, {ast.unparse(second)})"
            case ast.Subscript(slice=ast.Tuple(elts=[ast.Name(id=known), _])):
                return f"fields.each({name!r}, {self._reader_of(known)})"
        raise TypeError(f"{self._cls.__name__}.{name}: no codec for {ast.unparse(kind)}")

    def _reader_of(self, known: str) -> str:
        found = self._module.get(known)
        if found is None or issubclass(found, View):
            return f"{known}.read"
        read = _Code(found, False, (), None).reader()
        self._known[f"_read_{known}"] = lambda fields: read(found, fields)
        return f"_read_{known}"

    def _made(self, name: str, source: str) -> Any:
        # In the globals of its module: a view that is named before it is made is there when it is needed. What else it
        # calls is around it, so that its signature says nothing of that.
        inner = "".join(f"    {line}\n" for line in source.splitlines())
        given, self._known = self._known, {}
        names: dict[str, Any] = {}
        code = f"def make({', '.join(given)}):\n{inner}    return {name}\n"
        exec(compile(code, f"<codec of {self._cls.__qualname__}>", "exec"), self._module, names)  # noqa: S102 - ours
        made = names["make"](**given)
        made.__qualname__ = f"{self._cls.__qualname__}.{name}"
        made.__module__ = self._cls.__module__
        made.__doc__ = getattr(View, name).__doc__
        return made


def _fields_of(cls: Any) -> list[tuple[str, str, Any, Any]]:
    """Name, type, default, and what more is told of each field."""
    if dataclasses.is_dataclass(cls):
        fields = dataclasses.fields(cls)
        given = [one.default if one.default_factory is MISSING else one.default_factory() for one in fields]
        return [(one.name, str(one.type), default, one.metadata) for one, default in zip(fields, given, strict=True)]
    defaults = cls._field_defaults
    return [
        (name, getattr(kind, "__forward_arg__", kind), defaults.get(name, MISSING), {})
        for name, kind in cls.__annotations__.items()
    ]
