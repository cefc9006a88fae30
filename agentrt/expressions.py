"""Expressions over an agent's values, such as ``hunger > 0.8`` and ``(hunger + tiredness) / 2``.

They come from whoever looks at a world: out of a page, a file, a command. So they are read by this parser and by no
other, into a tree that knows numbers, texts, truth values and names, and nothing that could call, change or reach
anything. What a name means says a mapping of plain values that is handed in; see ``agentrt.snapshot.offered``.

From the loosest to the tightest, each from left to right::

    a or b
    a and b
    not a
    a < b   a <= b   a > b   a >= b   a == b   a != b      one of them: there is no ``a < b < c``
    a + b   a - b
    a * b   a / b   a % b
    -a
    0.8   "a text"   true   false   none   hunger   Needs.satiety   `odd name`   (a)   abs(a)   min(a, b)   max(a, b)

* A name is letters, digits and ``_``, in parts with dots between; any other stands between backquotes.
* There is no guessing: ``and``, ``or`` and ``not`` take truth values, arithmetic takes numbers, what is ordered are two
  numbers or two texts; ``==`` and ``!=`` take anything. ``and`` and ``or`` look at their right side only if they must.
* All of it is bounded: so many characters, parts, and levels. Numbers beyond what a float counts exactly are floats, so
  that no product grows; what is infinite or no number is an error.
* Whatever is wrong is an ``ExpressionError`` with its column: when it is read, or because it has no value now.

Rejected: Python's own parser with a list of what is allowed (its depth is bounded by the stack, and each release knows
more); the conditions of selection trees (they know no numbers, and their grammar is that of the source text).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import islice
from math import isfinite
from typing import Final, TypeAlias, final

from agentrt.errors import ExpressionError, did_you_mean

__all__ = ["LONGEST_EXPRESSION", "Expression", "NamedValues", "Value"]

Value: TypeAlias = bool | int | float | str | None
"""What a name may mean, and what comes of an expression."""

LONGEST_EXPRESSION: Final = 300  # characters
_MOST_PARTS: Final = 100
_DEEPEST: Final = 24
_EXACT: Final = 2**53  # up to here every whole number is a float
_MOST_NAMED: Final = 8  # names that an error offers
_MOST_NEAR: Final = 100  # names among which an error looks for those that are near

_TOKENS: Final = re.compile(
    r"""(?P<space>\s+)
    |(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.]))
    |(?P<text>"[^"\n]*"|'[^'\n]*')
    |(?P<quoted>`[^`\n]+`)
    |(?P<name>[^\W\d]\w*(?:\.\w+)*)
    |(?P<sign><=|>=|==|!=|[<>+\-*/%(),])""",
    re.VERBOSE,
)
_WORDS: Final = frozenset({"and", "or", "not", "true", "false", "none"})
_CONSTANTS: Final[Mapping[str, Value]] = {"true": True, "false": False, "none": None}
_SLIPS: Final = {  # what people write, and what it is here
    "=": "write == to compare",
    "&": "write 'and'",
    "|": "write 'or'",
    "!": "write 'not', or != to compare",
    "^": "there are no powers",
    '"': "the text has no end",
    "'": "the text has no end",
    "`": "the name has no end",
}


@final
class NamedValues:
    """Values by their names, as expressions look them up; made once for all that read the same ones.

    Args:
        values: what each name means. The end of a name means the same, if it is the end of no other: ``satiety`` of
            ``Needs.satiety``.
    """

    __slots__ = ("_ends", "values")

    def __init__(self, values: Mapping[str, Value]) -> None:
        self.values: Mapping[str, Value] = values
        self._ends: dict[str, list[str]] | None = None  # the names that end so, by what follows one of their dots

    def _ending(self, name: str) -> list[str]:
        if self._ends is None:
            self._ends = {}
            for key in self.values:
                end = key
                while (end := end.partition(".")[2]) != "":
                    self._ends.setdefault(end, []).append(key)
        return self._ends.get(name, [])

    def find(self, name: str) -> str | None:
        """The whole of a name, or of the only one that ends so; None if there is none."""
        if name in self.values:
            return name
        ends = self._ending(name)
        return ends[0] if len(ends) == 1 else None

    def why_not(self, name: str) -> str:
        """Why a name is not found, and what to write instead."""
        ends = self._ending(name)
        if ends:
            return f"there are several: write {' or '.join(ends[:_MOST_NAMED])}"
        known = tuple(islice(self.values, _MOST_NEAR))
        near = _near(name, known)
        offered = f" Offered: {', '.join(known[:_MOST_NAMED])}." if known and not near else ""
        return f"no value {name!r} is offered now.{near}{offered}"


@lru_cache(maxsize=256)  # a wrong name is asked for in each tick while somebody looks, and comparing is dear
def _near(name: str, known: tuple[str, ...]) -> str:
    return did_you_mean(name, dict.fromkeys([*known, *(key.rpartition(".")[2] for key in known)]))


_Part: TypeAlias = Callable[[NamedValues], Value]

_EQUAL: Final = ("==", "!=")
_ORDERED: Final[Mapping[str, tuple[int, ...]]] = {"<": (-1,), "<=": (-1, 0), ">": (1,), ">=": (0, 1)}  # see ``_order``
_SUMS: Final[Mapping[str, Callable[[float, float], float]]] = {"+": operator.add, "-": operator.sub}
_PRODUCTS: Final[Mapping[str, Callable[[float, float], float]]] = {
    "*": operator.mul, "/": operator.truediv, "%": operator.mod,
}  # fmt: skip


def _absolute(number: float) -> float:
    return abs(number)


_FUNCTIONS: Final[Mapping[str, tuple[int, Callable[..., float]]]] = {
    "abs": (1, _absolute),
    "min": (2, min),
    "max": (2, max),
}


@final
class Expression:
    """An expression that was read.

    Args:
        text: what somebody wrote.

    Raises:
        ExpressionError: it is none; ``column`` says where.

    Source: ours; Unreal, the Visual Logger and the watches of debuggers.
    """

    __slots__ = ("_part", "names", "text")

    def __init__(self, text: str) -> None:
        reader = _Reader(text)
        self.text: str = text
        self._part: _Part = reader.whole()
        self.names: tuple[str, ...] = tuple(reader.names)  # what it reads, in that order

    def value(self, values: Mapping[str, Value] | NamedValues) -> Value:
        """What it comes to.

        Args:
            values: what each name means; ``NamedValues``, if more than one expression reads them.

        Raises:
            ExpressionError: a name means nothing now, or a value is of another kind than it has to be there.
        """
        return self._part(values if isinstance(values, NamedValues) else NamedValues(values))

    def __repr__(self) -> str:
        return f"<Expression: {self.text}>"


class _Reader:
    """Reads one expression, from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.names: dict[str, None] = {}
        self._parts = 0
        self._depth = 0
        if len(text) > LONGEST_EXPRESSION:
            raise self._wrong(LONGEST_EXPRESSION, f"it is longer than {LONGEST_EXPRESSION} characters")
        self._tokens = self._split()
        self._at = 0

    def _wrong(self, position: int, problem: str) -> ExpressionError:
        return ExpressionError(self.text, position, problem)

    def _split(self) -> list[tuple[str, str, int]]:
        """The kind, the text and the position of each token; the last one is the end."""
        tokens: list[tuple[str, str, int]] = []
        at = 0
        while at < len(self.text):
            found = _TOKENS.match(self.text, at)
            if found is None:
                sign = self.text[at]
                raise self._wrong(at, _SLIPS.get(sign, f"{sign!r} means nothing here"))
            kind, token = str(found.lastgroup), found[0]
            if kind == "name" and token in _WORDS:
                kind = "word"
            if kind != "space":
                tokens.append((kind, token, at))
            at = found.end()
        tokens.append(("end", "", len(self.text)))
        return tokens

    # --- walking along ------------------------------------------------------------------------------------------------

    def _take(self, *wanted: str) -> tuple[str, int] | None:
        """The next sign or word and its position, if it is one of those."""
        kind, token, position = self._tokens[self._at]
        if kind not in ("sign", "word") or token not in wanted:
            return None
        self._at += 1
        return token, position

    def _expected(self, wanted: str) -> ExpressionError:
        kind, token, position = self._tokens[self._at]
        return self._wrong(position, f"{wanted} is expected here, not {'the end' if kind == 'end' else repr(token)}")

    def _counted(self, part: _Part, position: int) -> _Part:
        self._parts += 1
        if self._parts > _MOST_PARTS:
            raise self._wrong(position, f"it has more than {_MOST_PARTS} parts")
        return part

    def _deeper(self, read: Callable[[], _Part]) -> _Part:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._wrong(self._tokens[self._at][2], f"it is nested deeper than {_DEEPEST} levels")
        part = read()
        self._depth -= 1
        return part

    # --- the grammar --------------------------------------------------------------------------------------------------

    def whole(self) -> _Part:
        part = self._either()
        if self._tokens[self._at][0] != "end":
            raise self._expected("an operator")
        return part

    def _either(self) -> _Part:
        part = self._both()
        while (taken := self._take("or")) is not None:
            part = self._counted(self._joined("or", part, self._both(), taken[1]), taken[1])
        return part

    def _both(self) -> _Part:
        part = self._negated()
        while (taken := self._take("and")) is not None:
            part = self._counted(self._joined("and", part, self._negated(), taken[1]), taken[1])
        return part

    def _joined(self, word: str, left: _Part, right: _Part, position: int) -> _Part:
        stops = word == "or"

        def part(values: NamedValues) -> Value:
            first = self._truth(word, left(values), position)
            return first if first is stops else self._truth(word, right(values), position)

        return part

    def _negated(self) -> _Part:
        taken = self._take("not")
        if taken is None:
            return self._comparison()
        part, position = self._deeper(self._negated), taken[1]
        return self._counted(lambda values: not self._truth("not", part(values), position), position)

    def _comparison(self) -> _Part:
        left = self._chain(_SUMS, lambda: self._chain(_PRODUCTS, self._signed))
        taken = self._take(*_EQUAL, *_ORDERED)
        if taken is None:
            return left
        sign, position = taken
        right = self._chain(_SUMS, lambda: self._chain(_PRODUCTS, self._signed))
        again = self._take(*_EQUAL, *_ORDERED)
        if again is not None:
            raise self._wrong(again[1], "comparisons do not chain: write a < b and b < c")

        def part(values: NamedValues) -> Value:
            one, other = left(values), right(values)
            if sign in _EQUAL:
                # True is 1 to Python, and to nobody who looks at a world.
                return (_kind(one) == _kind(other) and one == other) is (sign == "==")
            order = _order(one, other)
            if order is None:
                raise self._wrong(position, f"'{sign}' takes two numbers or two texts: {_said(one)}, {_said(other)}")
            return order in _ORDERED[sign]

        return self._counted(part, position)

    def _chain(self, operators: Mapping[str, Callable[[float, float], float]], read: Callable[[], _Part]) -> _Part:
        part = read()
        while (taken := self._take(*operators)) is not None:
            sign, position = taken
            part = self._counted(self._computed(sign, operators[sign], (part, read()), position), position)
        return part

    def _signed(self) -> _Part:
        taken = self._take("-")
        if taken is None:
            return self._single()
        part = self._deeper(self._signed)
        return self._counted(self._computed("-", lambda number: -number, (part,), taken[1]), taken[1])

    def _computed(self, sign: str, compute: Callable[..., float], parts: tuple[_Part, ...], position: int) -> _Part:
        def part(values: NamedValues) -> Value:
            operands = [self._number(sign, one(values), position) for one in parts]
            try:
                result = compute(*operands)
            except ZeroDivisionError:
                raise self._wrong(position, "it is divided by zero here") from None
            except (OverflowError, ValueError):
                raise self._wrong(position, "the result is too large") from None
            return self._bounded(result, position)

        return part

    def _bounded(self, number: float, position: int) -> float:
        if isinstance(number, int) and -_EXACT <= number <= _EXACT:
            return number
        try:
            number = float(number)
        except OverflowError:
            number = float("inf")
        if not isfinite(number):
            raise self._wrong(position, "the result is too large, or no number")
        return number

    def _single(self) -> _Part:
        kind, token, position = self._tokens[self._at]
        if self._take("(") is not None:
            part = self._deeper(self._either)
            if self._take(")") is None:
                raise self._expected("')' or an operator")
            return part
        value: Value
        if kind == "number":
            value = self._bounded(float(token) if re.search("[.eE]", token) else int(token), position)
        elif kind == "text":
            value = token[1:-1]
        elif kind == "word" and token in _CONSTANTS:
            value = _CONSTANTS[token]
        elif kind in ("name", "quoted"):
            self._at += 1
            if kind == "name" and self._tokens[self._at][:2] == ("sign", "("):
                return self._call(token, position)
            return self._named(token.strip("`"), position)
        else:
            raise self._expected("a value")
        self._at += 1
        return self._counted(lambda _: value, position)

    def _call(self, name: str, position: int) -> _Part:
        if name not in _FUNCTIONS:
            raise self._wrong(position, f"there is no function {name!r}: there are {', '.join(_FUNCTIONS)}")
        least, compute = _FUNCTIONS[name]
        self._take("(")
        parts = [self._deeper(self._either)]
        while self._take(",") is not None:
            parts.append(self._deeper(self._either))
        if self._take(")") is None:
            raise self._expected("')' or ','")
        if len(parts) < least or (least == 1 and len(parts) > 1):
            raise self._wrong(position, f"{name} takes {'one value' if least == 1 else 'two values or more'}")
        return self._counted(self._computed(name, compute, tuple(parts), position), position)

    def _named(self, name: str, position: int) -> _Part:
        self.names[name] = None

        def part(values: NamedValues) -> Value:
            key = values.find(name)
            if key is None:
                raise self._wrong(position, values.why_not(name))
            return values.values[key]

        return self._counted(part, position)

    # --- kinds --------------------------------------------------------------------------------------------------------

    def _number(self, sign: str, value: Value, position: int) -> float:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self._wrong(position, f"'{sign}' takes numbers, and here is {_said(value)}")
        return self._bounded(value, position)

    def _truth(self, word: str, value: Value, position: int) -> bool:
        if not isinstance(value, bool):
            remedy = " Compare it, as in: hunger > 0.8" if isinstance(value, (int, float)) else ""
            raise self._wrong(position, f"'{word}' takes true or false, and here is {_said(value)}.{remedy}")
        return value


def _kind(value: Value) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "a truth value"
    return "a text" if isinstance(value, str) else "a number"


def _order(one: Value, other: Value) -> int | None:
    """Whether one is less than the other (-1), equal to it or greater; None if they cannot be ordered."""
    if isinstance(one, str) and isinstance(other, str):
        return (one > other) - (one < other)
    if one is None or other is None or isinstance(one, (bool, str)) or isinstance(other, (bool, str)):
        return None
    return (one > other) - (one < other)


def _said(value: Value) -> str:
    if isinstance(value, str):
        return f"the text {value[:40]!r}"
    if value is None or isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}"
