"""Conditions: what a node of a tree, or the value of a signal, asks of the variables.

    expression  = comparison { ("and" | "or" | "xor") comparison }      one level, from left to right
    comparison  = operand [ ("==" | "!=") operand ]                     binds tighter, does not chain
    operand     = [ "!" ] ( "(" expression ")" | "true" | "false" | name )

So ``a or b and c`` is ``(a or b) and c``, and ``!a == b`` is ``(!a) == b``. Names and keywords ignore case; a name is
``[A-Za-z_][A-Za-z0-9_.]*``. Any other character is a token by itself, and belongs nowhere.

A condition is compiled once, to plain functions of one integer in which each variable has a bit. Nothing is evaluated
as code, and nothing in a condition can raise. What follows a complete expression is *ignored*, and a name that nobody
declared is false: so the dialect of old files wants it. Both are kept in the compiled condition, and whoever compiles
it decides what they are: errors in the strict mode, warnings in the compatible one.

In a tree, a condition of few variables is asked as *terms*: pairs of integers, any of which is enough if
``bits & mask == value``. That is a comparison instead of some calls.

A chain of operators is one function with a loop, not a function for each operator: its length may be anything, the
depth of brackets is bounded. Rejected: generating Python source (the data is untrusted, and the result of a whole tree
is remembered anyway, see ``program``).

Source: CryEngine, selection trees: "Selection Variables", "The Selection Tree".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations
from operator import and_, or_, xor
from typing import NamedTuple

from agentrt.errors import ConditionSyntaxError
from agentrt.selection.xml import STRICT, Mode, shown

Test = Callable[[int], bool]  # whether a condition holds for a set of variables, one bit each
Term = tuple[int, int]  # some of the variables, and what they have to be: it holds if ``bits & mask == value``
ALWAYS: tuple[Term, ...] = ((0, 0),)  # the terms of what always holds

_MOST_FACTORED = 4  # variables in a condition that is written as terms: eight at most, for their parity
_CHAINED: Mapping[str, Callable[[bool, bool], bool]] = {"and": and_, "or": or_, "xor": xor}
KEYWORDS = frozenset({*_CHAINED, "true", "false"})
MAX_BRACKETS = 32

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*", re.ASCII)
_TOKEN = re.compile(rf"{_NAME.pattern}|==|!=|\S", re.ASCII)


def is_name(text: str) -> bool:
    """Whether a condition can name a variable so."""
    return _NAME.fullmatch(text) is not None and text.lower() not in KEYWORDS


def names_in(text: str) -> tuple[str, ...]:
    """The variables that a condition names, each once, as they are written there."""
    found: dict[str, str] = {}
    for name in _NAME.findall(text):
        if name.lower() not in KEYWORDS:
            found.setdefault(name.lower(), name)
    return tuple(found.values())


class Condition:
    """A compiled condition. By itself, for tools and tests; trees keep only its ``test``.

    Args:
        text: the expression.
        variables: the declared names.
        mode: whether trailing text and undeclared names are errors.

    Raises:
        ConditionSyntaxError: it is not an expression; in strict mode, also for what follows it and for a name that
            nobody declared.

    Source: CryEngine, selection trees: "The Selection Tree".
    """

    __slots__ = ("_masks", "ignored", "test", "text", "undeclared")

    def __init__(self, text: str, variables: Iterable[str] = (), mode: Mode = STRICT) -> None:
        names = dict.fromkeys(name.lower() for name in variables)
        self._masks: dict[str, int] = {name: 1 << number for number, name in enumerate(names)}
        parser = _Parser(text, self._masks)
        self.text: str = text
        # asks a set of bits: that of the first variable is 1, that of the second 2, of the third 4
        self.test: Test = parser.whole()
        self.ignored: tuple[str, ...] = parser.rest()  # the tokens after the expression, which have no effect
        # the names in it that nobody declared, each once; they are false
        self.undeclared: tuple[str, ...] = tuple(parser.undeclared)
        if mode == STRICT and self.ignored:
            raise parser.error("nothing may follow a complete expression; join it with 'and', 'or' or 'xor'.")
        if mode == STRICT and self.undeclared:
            first, position = next(iter(parser.undeclared.items()))
            raise ConditionSyntaxError(text, position, first, "nobody declared this variable.")

    def evaluate(self, values: Mapping[str, bool]) -> bool:
        """Whether it holds for values of the variables, by name in any case; one that is missing is false."""
        bits = 0
        for name, value in values.items():
            if value:
                bits |= self._masks.get(name.lower(), 0)
        return self.test(bits)

    def __repr__(self) -> str:
        return f"<Condition: {self.text}>"


class CompiledCondition(NamedTuple):
    """A compiled expression, for trees."""

    test: Test  # asks a set of bits
    # the same as alternatives, any of which is enough; None if it asks for too many variables
    terms: tuple[Term, ...] | None
    ignored: tuple[str, ...]  # the tokens after it
    undeclared: tuple[str, ...]  # the names in it that nobody declared


def compile_condition(text: str, masks: Mapping[str, int]) -> CompiledCondition:
    """Compile an expression over given bits: those of the variables, by name in lower case."""
    parser = _Parser(text, masks)
    test = parser.whole()
    asked = tuple(parser.asked)
    terms = tuple(_terms(test, asked, 0, 0)) if len(asked) <= _MOST_FACTORED else None
    return CompiledCondition(test, terms, parser.rest(), tuple(parser.undeclared))


def _terms(test: Test, open_masks: tuple[int, ...], mask: int, value: int) -> Iterator[Term]:
    """The terms of a test, as far as some variables are known already: split by one variable after the other."""
    subsets = (some for count in range(len(open_masks) + 1) for some in combinations(open_masks, count))
    answers = {test(value | sum(some)) for some in subsets}
    if answers == {True}:
        yield mask, value
    elif len(answers) == 2:
        first, *rest = open_masks
        yield from _terms(test, tuple(rest), mask | first, value | first)
        yield from _terms(test, tuple(rest), mask | first, value)


class _Parser:
    """Recursive descent over the tokens of one expression."""

    def __init__(self, text: str, masks: Mapping[str, int]) -> None:
        self._text = text
        self._masks = masks
        self._tokens = [(match[0], match.start()) for match in _TOKEN.finditer(text)]
        self._next = 0  # the index of the token to be read
        self._depth = 0
        self.undeclared: dict[str, int] = {}  # and where it stands first
        self.asked: dict[int, None] = {}  # the bits of the variables in it

    def whole(self) -> Test:
        if not self._tokens:
            raise self.error("it is empty; leave the attribute out if there is nothing to ask.")
        return self._expression()

    def rest(self) -> tuple[str, ...]:
        return tuple(token for token, _ in self._tokens[self._next :])

    def error(self, problem: str) -> ConditionSyntaxError:
        """An error at the token to be read, or at the end."""
        at_end = self._next >= len(self._tokens)
        found, position = ("", len(self._text)) if at_end else self._tokens[self._next]
        return ConditionSyntaxError(self._text, position, found, problem)

    def _peek(self) -> str:
        # Only what is ASCII has cases here: the lower case of the sign for Kelvin is a letter, and the sign is none.
        token = self._tokens[self._next][0] if self._next < len(self._tokens) else ""
        return token.lower() if token.isascii() else token

    def _expression(self) -> Test:
        first = self._comparison()
        rest: list[tuple[Callable[[bool, bool], bool], Test]] = []
        while (operator := self._peek()) in _CHAINED:
            self._next += 1
            rest.append((_CHAINED[operator], self._comparison()))
        if not rest:
            return first
        operators = {operator for operator, _ in rest}
        tests = (first, *(test for _, test in rest))
        if operators == {and_}:
            return lambda bits: all(test(bits) for test in tests)
        if operators == {or_}:
            return lambda bits: any(test(bits) for test in tests)

        def chain(bits: int) -> bool:
            value = first(bits)
            for joined, test in rest:
                value = joined(value, test(bits))
            return value

        return chain

    def _comparison(self) -> Test:
        left = self._operand()
        operator = self._peek()
        if operator not in ("==", "!="):
            return left
        self._next += 1
        right = self._operand()
        if operator == "==":
            return lambda bits: left(bits) is right(bits)
        return lambda bits: left(bits) is not right(bits)

    def _operand(self) -> Test:
        if self._peek() == "!":
            self._next += 1
            value = self._value()
            return lambda bits: not value(bits)
        return self._value()

    def _value(self) -> Test:
        word = self._peek()
        if word == "(":
            return self._bracket()
        if word in _CONSTANTS:
            self._next += 1
            return _CONSTANTS[word]
        if word in KEYWORDS or _NAME.fullmatch(word) is None:
            raise self.error("here a variable, 'true', 'false' or an opening bracket is expected.")
        self._next += 1
        mask = self._masks.get(word)
        if mask is None:
            self.undeclared.setdefault(*self._tokens[self._next - 1])
            return _never
        self.asked[mask] = None
        return lambda bits: bits & mask != 0

    def _bracket(self) -> Test:
        if self._depth >= MAX_BRACKETS:
            raise self.error(f"brackets are nested deeper than {MAX_BRACKETS} levels.")
        self._next += 1
        self._depth += 1
        inside = self._expression()
        self._depth -= 1
        if self._peek() != ")":
            raise self.error("a closing bracket is expected.")
        self._next += 1
        return inside


# --- what a condition is made of --------------------------------------------------------------------------------------


def _never(_bits: int) -> bool:
    return False


_CONSTANTS: dict[str, Test] = {"true": lambda _bits: True, "false": _never}


def problem_of(error: ConditionSyntaxError) -> str:
    """What is wrong with a condition, for a report that has the place already."""
    at = f"at {shown(error.found)}" if error.found else "at its end"
    return f"the condition {shown(error.expression)} is wrong {at}: {error.problem}"
