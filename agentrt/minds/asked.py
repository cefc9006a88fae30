"""What a mind is asked and what it says, as plain data: requests, answers, and why there is none.

A request is all that an answer may rest on, so equal requests have equal keys, on every machine. A model outside of
the game is given it as a dict of plain values and gives one back, an error too: this is what a recording keeps, and the
key of an API can stand in neither.

*Tokens are bounded from above before a call.* No tokenizer of a model is known here, but one that works on bytes makes
at most one token of a byte. So the bound of a request is its length in UTF-8, something for what a server writes around
the messages, and what the answer may have at most. A model that knows better says so (``Model(count=...)``).

Source: ours, minds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from agentrt.runtime.intake import key_of

if TYPE_CHECKING:
    from agentrt.kernel.rng import Stream

AROUND: Final = 256  # tokens that a server's template may add to the messages and the schema of one request

# Why there is no answer, and whether it may come if one asks again.
BUSY: Final = "busy"  # 429, 503: the server has too much to do
UNREACHED: Final = "unreached"  # nobody is there: it cannot have used anything
LOST: Final = "lost"  # the connection broke while it answered
LATE: Final = "late"  # it took longer than the model's ``timeout``
SERVER: Final = "server"  # another failure of the server
BROKEN: Final = "broken"  # what came is no answer
REFUSED: Final = "refused"  # it will not answer, however often it is asked: the key, the model's name, the request
AGAIN: Final = frozenset({BUSY, UNREACHED, LOST, LATE, SERVER, BROKEN})
FREE: Final = frozenset({BUSY, UNREACHED, SERVER, REFUSED})  # servers count nothing for these


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def tokens_of(text: str) -> int:
    """How many tokens a text has at most: one for each byte."""
    return len(_bytes(text))


class ModelRequest(NamedTuple):
    """What a model is asked. Equal ones have equal keys."""

    system: str  # who speaks to it, and the rules
    prompt: str  # what there is to see, and what is wanted
    schema: Mapping[str, Any]  # a JSON schema of the answer, an object
    max_tokens: int  # how many tokens the answer may have
    model: str = ""  # which of the mind's models; the first if empty

    def plain(self) -> dict[str, Any]:
        """As plain values, with the key."""
        return {**self._asdict(), "schema": dict(self.schema), "key": self.key}

    @property
    def key(self) -> str:
        """A hash of all that is asked, in hexadecimal digits."""
        text = json.dumps(self._asdict(), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        return blake2b(_bytes(text), digest_size=16).hexdigest()

    def bound(self) -> int:
        """How many tokens a call can use at most, if every byte is one."""
        schema = json.dumps(self.schema, ensure_ascii=False)
        return sum(map(tokens_of, (self.system, self.prompt, schema))) + AROUND + self.max_tokens

    def corrected(self, answer: object, error: str) -> ModelRequest:
        """The same, asked once more: with what was answered, and what is wrong with that."""
        was = json.dumps(answer, ensure_ascii=False, default=str)[:_MOST_SHOWN]
        told = f"\n\nYou have answered: {was}\nThat cannot be taken: {error[:_MOST_SHOWN]}\nAnswer once more."
        return self._replace(prompt=self.prompt + told)


_MOST_SHOWN: Final = 600


class Asked(NamedTuple):
    """What a scripted model is given: the request, and what it was made of, which is easier to read than its text."""

    agent: str  # the name of who asks
    purpose: str  # what for: a budget's name, ``"reflect"`` say
    tick: int
    request: ModelRequest
    seen: Mapping[str, Any]  # what the agent declared that it sees
    options: Sequence[Mapping[str, Any]]  # what it may choose: ``activity``, ``about`` and ``args`` with their choices
    random: Stream  # of this agent's thoughts, from the seed of the run


class MisfitError(ValueError):
    """What was answered does not fit: the text may quote it, and goes to the model and to who may see answers.

    Args:
        text: what is wrong, for who answered.
        told: the same without a word of the answer, for traces and ``explain``; empty if there is nothing to say.
    """

    def __init__(self, text: str, told: str) -> None:
        super().__init__(text)
        self.told: str = told


class Usage(NamedTuple):
    """What a call has used, in tokens."""

    read: int = 0
    written: int = 0

    @property
    def total(self) -> int:
        return self.read + self.written

    def plus(self, other: Usage) -> Usage:
        return Usage(self.read + other.read, self.written + other.written)


class Reply(NamedTuple):
    """What came of one call."""

    value: object = None  # the answer, plain values; None if there is none
    usage: Usage = Usage()
    kind: str = ""  # why there is none: one of the words above; empty if there is
    text: str = ""  # the same for people
    after: float = 0.0  # in how many seconds the server wants to be asked again, if it says that
    key: str = ""  # of the request that was answered; in a replay, of the one of then

    def plain(self) -> dict[str, Any]:
        made: dict[str, Any] = {"key": self.key, "read": self.usage.read, "written": self.usage.written}
        if self.kind:
            made.update(kind=self.kind, text=self.text, after=self.after)
        else:
            made["value"] = self.value
        return made


def read_reply(data: object) -> Reply:
    """What a call outside came to, or what a recording says that it did; whatever it is, a reply comes out."""
    if not isinstance(data, dict):
        return Reply(kind=BROKEN, text="what came is no reply")
    usage = Usage(*(_count(data.get(name)) for name in ("read", "written")))
    key = key_of(data)
    if "kind" not in data:
        return Reply(data.get("value"), usage, key=key)
    after = data.get("after")
    seconds = float(after) if isinstance(after, (int, float)) and 0 < after < _MOST_SECONDS else 0.0
    return Reply(None, usage, str(data["kind"]), str(data.get("text", "")), seconds, key)


_MOST_SECONDS: Final = 3600.0
_MOST_TOKENS: Final = 10**9


def _count(value: object) -> int:
    return min(max(value, 0), _MOST_TOKENS) if type(value) is int else 0
