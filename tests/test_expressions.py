"""Expressions over an agent's values: their grammar, their errors with columns, and their bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrt.errors import ExpressionError
from agentrt.expressions import LONGEST_EXPRESSION, Expression

VALUES = {
    "hunger": 0.9, "tiredness": 0.25, "Needs.satiety": 100, "wolf.fear": 1, "bear.fear": 2, "mood": "grim",
    "is_dark": True, "gone": None, "odd name": 7, "Eat#2.utility": 0.5,
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("hunger > 0.8", True),
        ("hunger + tiredness", 1.15),
        ("(hunger + 1.1) / 2 - 1", 0.0),
        ("2 + 3 * 4 - 1", 13),
        ("2 - 3 - 4", -5),
        ("-2 * -(3)", 6),
        ("7 % 4", 3),
        ("satiety", 100),
        ("Needs.satiety >= 100 and not is_dark", False),
        ("not hunger < 0.5 and is_dark or false", True),
        ("true or 1", True),  # what is not needed is not looked at
        ("mood == 'grim'", True),
        ('mood != "grim"', False),
        ("mood < 'z'", True),
        ("is_dark == 1", False),
        ("is_dark != 1", True),
        ("gone == none", True),
        ("`odd name` + `Eat#2.utility`", 7.5),
        ("abs(tiredness - 1)", 0.75),
        ("max(hunger, tiredness, 3)", 3),
        ("min(hunger, 1) == hunger", True),
        (".5 + 1e1", 10.5),
    ],
)
def test_what_it_comes_to(text, value):
    assert Expression(text).value(VALUES) == value
    assert type(Expression(text).value(VALUES)) is type(value)


@pytest.mark.states("tools: Values: What is no expression is an error with its column")
@pytest.mark.parametrize(
    ("text", "column", "problem"),
    [
        ("", 1, "a value is expected here, not the end"),
        ("hunger >", 9, "a value is expected here, not the end"),
        ("hunger > > 2", 10, "a value is expected here, not '>'"),
        ("hunger 2", 8, "an operator is expected here, not '2'"),
        ("hunger = 1", 8, "write == to compare"),
        ("hunger && 1", 8, "write 'and'"),
        ("(hunger", 8, "')' or an operator is expected here, not the end"),
        ("max(hunger; 2)", 11, "';' means nothing here"),
        ("max(hunger", 11, "')' or ',' is expected here, not the end"),
        ("1 < 2 < 3", 7, "comparisons do not chain: write a < b and b < c"),
        ("open('x')", 1, "there is no function 'open': there are abs, min, max"),
        ("abs(1, 2)", 1, "abs takes one value"),
        ("min(1)", 1, "min takes two values or more"),
        ("'grim", 1, "the text has no end"),
        ("mood[0]", 5, "'[' means nothing here"),
        ("2 ** 3", 4, "a value is expected here, not '*'"),
        ("1e999", 1, "the result is too large, or no number"),
        ("1.2.3", 1, "'1' means nothing here"),
        ("a.", 2, "'.' means nothing here"),
    ],
)
def test_what_is_no_expression_is_told_with_its_column(text, column, problem):
    with pytest.raises(ExpressionError) as caught:
        Expression(text)
    assert (caught.value.column, caught.value.problem) == (column, problem)
    assert caught.value.text == f"the expression {text!r}, column {column}: {problem}"


@pytest.mark.parametrize(
    ("text", "column", "problem"),
    [
        ("1 + hungr", 5, "no value 'hungr' is offered now. Did you mean 'hunger'?"),
        ("fear > 1", 1, "there are several: write wolf.fear or bear.fear"),
        ("mood + 1", 6, "'+' takes numbers, and here is the text 'grim'"),
        ("1 + is_dark", 3, "'+' takes numbers, and here is true"),
        ("-gone", 1, "'-' takes numbers, and here is none"),
        ("mood < 1", 6, "'<' takes two numbers or two texts: the text 'grim', 1"),
        ("is_dark and hunger", 9, "'and' takes true or false, and here is 0.9. Compare it, as in: hunger > 0.8"),
        ("not mood", 1, "'not' takes true or false, and here is the text 'grim'."),
        ("1 / (hunger - hunger)", 3, "it is divided by zero here"),
        ("1e300 * 1e300", 7, "the result is too large, or no number"),
    ],
)
def test_what_has_no_value_is_told_with_its_column(text, column, problem):
    expression = Expression(text)
    with pytest.raises(ExpressionError) as caught:
        expression.value(VALUES)
    assert (caught.value.column, caught.value.problem) == (column, problem)


def test_names_are_known_before_it_has_a_value():
    assert Expression("hunger + Needs.satiety > `odd name` or hunger > 1").names == (
        "hunger", "Needs.satiety", "odd name",
    )  # fmt: skip
    assert repr(Expression("hunger > 1")) == "<Expression: hunger > 1>"


@pytest.mark.states(
    "tools: Values: Expressions are bounded in length, parts and depth, and nothing else comes out of them",
    source="design 10",
)
@pytest.mark.parametrize(
    "text",
    [
        "1" * (LONGEST_EXPRESSION + 1),
        "+".join("1" * 140),
        "(" * 100 + "1" + ")" * 100,
        "-" * 200 + "1",
        "not " * 70 + "true",
        "abs(" * 60 + "1" + ")" * 60,
        "(" * LONGEST_EXPRESSION,
    ],
)
def test_it_is_bounded(text):
    with pytest.raises(ExpressionError):
        Expression(text)


def test_numbers_stay_small():
    """A product of whole numbers is a float before it is large."""
    assert type(Expression("9007199254740992 * 2").value({})) is float
    assert type(Expression("1 * 2").value({})) is int
    with pytest.raises(ExpressionError):
        Expression("a * 1").value({"a": 10**400})


_PIECES = [
    "hunger",
    "mood",
    "is_dark",
    "gone",
    "1",
    "0",
    "2.5",
    "'x'",
    "(",
    ")",
    "+",
    "-",
    "*",
    "/",
    "%",
    "<",
    "==",
    "!=",
]
_PIECES += ["and", "or", "not", "true", "none", "abs(", "min(", ",", "`", "\0", "é", "fear", "=", ".", "\n", "9" * 60]


@pytest.mark.states("tools: Values: Expressions are bounded in length ...")
@given(st.lists(st.sampled_from(_PIECES), max_size=40).map(" ".join) | st.text(max_size=80))
def test_nothing_else_comes_out_of_it(text):
    try:
        found = Expression(text).value(VALUES)
    except ExpressionError as error:
        found = error.column - 1 if error.column <= len(text) + 1 else error
    assert found is None or type(found) in (bool, int, float, str)
