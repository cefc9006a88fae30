"""Conditions: the rows of the data, the grammar by hand, the two modes, and a comparison with the plain reference."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from modules import load

from agentrt.errors import ConditionSyntaxError
from agentrt.selection import Condition
from agentrt.selection.conditions import MAX_BRACKETS, compile_condition

reference = load("tests/selection/reference.py")

DATA = json.loads((load("tests/support/modules.py").ROOT / "tests/data/selection/conditions.json").read_text())
VARIABLES = {"a": True, "b": False, "c": True}


def check(expression, values):
    """What the library makes of an expression, in the form of the rows of the data."""
    try:
        condition = Condition(expression, values, mode="compatible")
    except ConditionSyntaxError as error:
        return {"expr": expression, "valid": False, "error_at": error.found}
    return {
        "expr": expression,
        "valid": True,
        "value": condition.evaluate(values),
        "ignored_trailing": list(condition.ignored),
    }


@pytest.mark.states("004: The Selection Tree: A condition: `and`, `or`, `xor` on one level from left to right ...")
@pytest.mark.parametrize("row", DATA["cases"], ids=lambda row: row["expr"])
def test_the_rows_of_the_data(row):
    assert check(row["expr"], DATA["variables"]) == row


@pytest.mark.states(
    "004: The Selection Tree: A condition: `and`, `or`, `xor` on one level from left to right, `==` and `!=` bind "
    "tighter and do not chain, one `!`, brackets, no case (decided)",
)
@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("a or b and b", False),  # (a or b) and b: one level, from left to right
        ("b and b or a", True),
        ("a or a xor a", False),
        ("a xor a or a", True),
        ("b xor b == b", True),  # b xor (b == b): comparisons bind tighter
        ("a and b == b", True),
        ("b == b and b", False),
        ("!a == b", True),  # (!a) == b
        ("!b and b", False),
        ("!(b and b)", True),
        ("a != !a", True),
        ("(a or b) != (b or c)", False),
        ("((a))", True),
        ("A OR b AND c", True),
        ("a oR B", True),
        ("TRUE", True),
        ("False or True", True),
        ("!true", False),
        ("true == a", True),
        ("  a\tand\n c ", True),
        ("a==c", True),
        ("a!=c", False),
        ("(a)and(c)", True),
        ("!(!a)", True),
    ],
)
def test_the_grammar(expression, value):
    assert Condition(expression, VARIABLES).evaluate(VARIABLES) is value


@pytest.mark.states("004: The Selection Tree: What is no expression is an error that says where (decided)")
@pytest.mark.parametrize(
    ("expression", "position", "found"),
    [
        ("", 0, ""),
        ("   ", 3, ""),
        ("!", 1, ""),
        ("! !a", 2, "!"),
        ("a and", 5, ""),
        ("a == ", 5, ""),
        ("a == == b", 5, "=="),
        ("a and or b", 6, "or"),
        ("(a", 2, ""),
        ("(a b)", 3, "b"),
        ("()", 1, ")"),
        (")", 0, ")"),
        ("!=a", 0, "!="),
        ("== a", 0, "=="),
        ("a xor 1", 6, "1"),
        ("a and é", 6, "é"),
        ("XOR a", 0, "XOR"),
        ("a and .b", 6, "."),
        ("a and \N{KELVIN SIGN}", 6, "\N{KELVIN SIGN}"),  # its lower case is a letter of ASCII
    ],
)
@pytest.mark.parametrize("mode", ["strict", "compatible"])
def test_what_is_no_expression(expression, position, found, mode):
    with pytest.raises(ConditionSyntaxError) as caught:
        Condition(expression, VARIABLES, mode)
    assert (caught.value.position, caught.value.found) == (position, found)
    assert caught.value.expression == expression


@pytest.mark.states(
    "004: The Selection Tree: Trailing text is an error, and ignored and listed in the compatible mode (decided)",
)
@pytest.mark.parametrize(
    ("expression", "ignored"),
    [
        ("a b", ("b",)),
        ("a == b == c", ("==", "c")),  # comparisons do not chain
        ("a = b", ("=", "b")),
        ("a && b", ("&", "&", "b")),
        ("a | b", ("|", "b")),
        ("a !b", ("!", "b")),
        ("a 12", ("1", "2")),
        ("a-b", ("-", "b")),
        ("a) or b", (")", "or", "b")),
        ("a true", ("true",)),
    ],
)
def test_what_follows_an_expression(expression, ignored):
    assert Condition(expression, VARIABLES, "compatible").ignored == ignored
    with pytest.raises(ConditionSyntaxError, match="nothing may follow a complete expression") as caught:
        Condition(expression, VARIABLES)
    assert caught.value.found == ignored[0]


def test_names():
    values = {"_x": True, "Enemy.Seen2": True, "orange": True, "android": False, "trueish": True}
    for name, value in values.items():
        assert Condition(name.upper(), values).evaluate(values) is value
    assert Condition("Enemy.Seen2 and !android", values).evaluate({"enemy.seen2": True})


def test_a_name_that_nobody_declared_is_false_in_the_compatible_mode_alone():
    condition = Condition("a and x or Y.z == x", {"a": True}, "compatible")
    assert condition.undeclared == ("x", "Y.z")
    assert condition.evaluate({"a": True, "x": True}) is True  # (true and false) or (false == false)
    with pytest.raises(ConditionSyntaxError, match="nobody declared this variable") as caught:
        Condition("a and x", {"a": True})
    assert (caught.value.found, caught.value.position) == ("x", 6)


def test_a_value_that_is_missing_is_false():
    assert Condition("a or b", ("a", "b")).evaluate({}) is False


def test_brackets_are_bounded_and_chains_are_not():
    deep = "(" * MAX_BRACKETS + "a" + ")" * MAX_BRACKETS
    assert Condition(deep, VARIABLES).evaluate(VARIABLES)
    with pytest.raises(ConditionSyntaxError, match="nested deeper than 32 levels"):
        Condition(f"({deep})", VARIABLES)
    with pytest.raises(ConditionSyntaxError, match="nested deeper"):
        Condition("(" * 100_000, VARIABLES)
    assert Condition(" and ".join(["a"] * 4_000), VARIABLES).evaluate(VARIABLES)
    assert Condition(" xor ".join(["a", "or b"] + ["a"] * 4_000).replace("xor or", "or"), VARIABLES).evaluate(VARIABLES)


def test_terms():
    """A condition of few variables is a few comparisons; one of many stays a function."""
    masks = {name: 1 << number for number, name in enumerate("abcde")}
    assert compile_condition("a and !b", masks).terms == ((3, 1),)
    assert compile_condition("a or c", masks).terms == ((1, 1), (5, 4))
    assert compile_condition("a == b", masks).terms == ((3, 3), (3, 0))
    assert compile_condition("a or !a", masks).terms == compile_condition("true", masks).terms == ((0, 0),)
    assert compile_condition("a and !a", masks).terms == compile_condition("false", masks).terms == ()
    assert compile_condition("a xor b xor c xor d", masks).terms is not None
    assert compile_condition("a xor b xor c xor d xor e", masks).terms is None


def test_the_error_is_a_lesson():
    with pytest.raises(ConditionSyntaxError) as caught:
        Condition("a or or b", VARIABLES)
    assert str(caught.value) == (
        "[ART222] the condition 'a or or b' is wrong at 'or' at character 6: here a variable, 'true', 'false' or an "
        "opening bracket is expected."
    )


NAMES = ("a", "b", "c", "Dog.tail", "_e")


@st.composite
def expressions(draw, depth=3):
    """Texts that are expressions, in all spellings."""

    def operand(depth):
        kind = draw(st.integers(0, 9))
        bang = draw(st.sampled_from(["", "", "! ", "!"]))
        if depth and kind < 3:
            return f"{bang}({chain(depth - 1)})"
        if kind == 9:
            return bang + draw(st.sampled_from(["true", "False"]))
        return bang + draw(st.sampled_from(NAMES)).swapcase()

    def comparison(depth):
        text = operand(depth)
        if draw(st.integers(0, 3)) == 0:
            text += draw(st.sampled_from(["==", " != ", " == "])) + operand(depth)
        return text

    def chain(depth):
        text = comparison(depth)
        for _ in range(draw(st.integers(0, 3))):
            text += draw(st.sampled_from([" and ", " OR ", "  xor\t", " Or "])) + comparison(depth)
        return text

    return chain(depth)


def values_of(bits):
    return {name: bool(bits & 1 << number) for number, name in enumerate(NAMES)}


@pytest.mark.states("004: The Selection Tree: A condition: `and`, `or`, `xor` on one level from left to right ...")
@pytest.mark.slow
@given(text=expressions(), bits=st.integers(0, 31))
def test_expressions_mean_what_the_reference_says(text, bits):
    values = values_of(bits)
    expected, ignored = reference.evaluate(text, {name.lower(): value for name, value in values.items()})
    assert ignored == []
    condition = Condition(text, NAMES)
    assert condition.evaluate(values) is expected
    assert condition.test(bits) is expected
    terms = compile_condition(text, {name.lower(): 1 << number for number, name in enumerate(NAMES)}).terms
    assert terms is None or any(bits & mask == value for mask, value in terms) is expected


@pytest.mark.states("004: The Selection Tree: A condition: `and`, `or`, `xor` on one level from left to right ...")
@given(
    words=st.lists(
        st.sampled_from(["a", "b", "and", "OR", "xor", "==", "!=", "!", "(", ")", "true", "=", "1", "&", "é", "x.y"]),
        max_size=10,
    ),
    bits=st.integers(0, 31),
)
def test_any_words_are_read_like_the_reference(words, bits):
    values = values_of(bits)
    try:
        expected = reference.evaluate(" ".join(words), {name.lower(): value for name, value in values.items()})
    except reference.Wrong as wrong:
        expected = wrong.at
    row = check(" ".join(words), values)
    assert (expected == row["error_at"]) if not row["valid"] else expected == (row["value"], row["ignored_trailing"])


@pytest.mark.states("004: Concept and anatomy: The files hold no logic, and are only data ...")
@given(text=st.text(max_size=40))
def test_any_text_is_read_like_the_reference(text):
    # What is white space outside ASCII is a character like any other, in both.
    try:
        expected = reference.evaluate(text, VARIABLES)
    except reference.Wrong as wrong:
        expected = wrong.at
    row = check(text, VARIABLES)
    assert (expected == row["error_at"]) if not row["valid"] else expected == (row["value"], row["ignored_trailing"])
