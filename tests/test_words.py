"""Text of what an author gave: made of anything, bounded, and never in the way of who makes it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentrt.words import (
    LONGEST,
    counted,
    error_words,
    masked,
    printable,
    printable_lines,
    repr_of,
    type_name,
    words_of,
)


def unprintable(raised: BaseException, kind: type[BaseException] = RuntimeError) -> BaseException:
    """An error of which neither text can be made."""

    class Unprintable(kind):  # type: ignore[valid-type, misc]
        def __str__(self) -> str:
            raise raised

        __repr__ = __str__

    return Unprintable()


class Sly(str):
    """A text that lies about itself."""

    __slots__ = ()

    def __str__(self) -> str:
        return self

    def __getitem__(self, _key: object) -> str:
        raise RuntimeError("not so")

    def __len__(self) -> int:
        return 10**9

    def isascii(self) -> bool:
        raise RuntimeError("not so")


class Nameless(type):
    @property
    def __name__(cls) -> str:  # type: ignore[override]
        raise RuntimeError("not so")


class OfNameless(metaclass=Nameless):
    def __str__(self) -> Any:
        return 5  # noqa: PLE0307 - on purpose

    __repr__ = __str__


@pytest.mark.parametrize(
    "raised",
    [RuntimeError("no"), RecursionError(), MemoryError(), SystemExit(3), GeneratorExit(), asyncio.CancelledError()],
    ids=lambda one: type(one).__name__,
)
@pytest.mark.parametrize("make", [words_of, repr_of])
def test_what_raises_when_it_is_to_be_text(make: Any, raised: BaseException) -> None:
    words = make(unprintable(raised))
    assert words == f"<Unprintable: its text cannot be made ({type(raised).__name__})>"


def test_errors_that_cannot_be_printed_have_their_type() -> None:
    error = unprintable(unprintable(ValueError()))
    assert error_words(error) == "Unprintable: <Unprintable: its text cannot be made (Unprintable)>"
    assert error_words(KeyError("a")) == "KeyError: 'a'"
    assert error_words(ValueError()) == "ValueError: "


def test_a_request_to_end_the_program_is_passed_on() -> None:
    with pytest.raises(KeyboardInterrupt):
        words_of(unprintable(KeyboardInterrupt()))


def test_what_is_no_text() -> None:
    assert words_of(OfNameless()) == "<OfNameless: its text cannot be made (TypeError)>"
    assert type_name(OfNameless()) == "OfNameless"
    assert words_of(b"x") == "b'x'"


def test_numbers_of_too_many_digits() -> None:
    assert words_of(10**6000) == "<a number of 19932 bits>"
    assert words_of(-(10**6000)) == "<a number of 19932 bits>"
    assert words_of([10**6000]) == "<list: its text cannot be made (ValueError)>"
    assert words_of(True) == "True"
    assert words_of(10**600) == "1" + "0" * 600


def test_long_texts_are_cut() -> None:
    assert words_of("x" * LONGEST) == "x" * LONGEST
    assert words_of("x" * 20_000_000) == "x" * (LONGEST - 3) + "..."
    assert words_of("abcdefgh", 6) == "abc..."
    assert repr_of("x" * 50, 10) == "'xxxxxx..."


def test_texts_of_ones_own() -> None:
    words = words_of(Sly("as it is"))
    assert words == "as it is"
    assert type(words) is str


def test_lone_surrogates_are_escaped() -> None:
    assert words_of("a\ud800b") == "a\\ud800b"
    assert words_of("naïve 猫") == "naïve 猫"


@given(st.one_of(st.text(alphabet=st.characters()), st.integers(), st.floats(), st.binary(), st.lists(st.text())))
def test_any_value_gives_a_bounded_text_that_a_file_takes(value: object) -> None:
    for words in (words_of(value, 50), repr_of(value, 50)):
        assert len(words) <= 50
        words.encode("utf-8")


def test_nothing_that_is_printed_controls_a_terminal() -> None:
    assert printable("a\x1b[1m\u202e\x9b\n\ud800é\x7f\x00") == "a\\x1b[1m\\u202e\\x9b\\n\\ud800é\\x7f\\x00"
    assert printable("plain, naïve 猫") == "plain, naïve 猫"


@given(st.text(alphabet=st.characters()))
def test_printable_is_printable_and_can_be_written(text: str) -> None:
    told = printable(text)
    assert told.isprintable()
    told.encode("utf-8")


def test_lines_stay_lines() -> None:
    assert printable_lines("a\x1b\n\tb\r\n\n\u2028") == "a\\x1b\n\\tb\\r\n\n\\u2028"
    assert printable_lines("plain\nlines\n") == "plain\nlines\n"
    assert masked("a\x1b[1m\n\u202e\ud800é") == "a\ufffd[1m\n\ufffd\ufffdé"
    assert masked("plain") == "plain"


@given(st.text(alphabet=st.characters()))
def test_as_many_lines_and_as_many_signs(text: str) -> None:
    assert printable_lines(text).count("\n") == masked(text).count("\n") == text.count("\n")
    assert len(masked(text)) == len(text)
    for told in (printable_lines(text), masked(text)):
        assert all(line.isprintable() for line in told.split("\n"))


def test_things_are_counted_in_words():
    assert [counted(number, "file") for number in (0, 1, 2)] == ["0 files", "1 file", "2 files"]
    assert [counted(number, "alias", "aliases") for number in (0, 1, 2)] == ["0 aliases", "1 alias", "2 aliases"]
