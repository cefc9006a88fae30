"""Types for the generated calls: the module that is written, and what mypy makes of it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, TypeVar, Union

import pytest
from crafts import Collect, Jack, MineOre, Place, doze, look_around, make
from wants import Know

from agentrt.strategy import Dependency, strategy
from agentrt.strategy.tools import calls_module, signature_of

MODULE = '''\
"""The generated calls of these strategies, as a type checker is to see them.

Written by ``agentrt strategies calls``; write it again when the strategies change.
"""

from __future__ import annotations

import agentrt.strategy
import collections.abc
import crafts
import typing
import wants

R = typing.TypeVar("R")


class CraftCalls(typing.Protocol):
    """``typing.cast`` the gameplay of an agent, or of a context, to this."""

    def solve(self, wanted: agentrt.strategy.Dependency[R], /) -> collections.abc.Awaitable[R]:
        """Solve a dependency."""
        ...

    def find(self, kind: str, near: crafts.Place | None = ...) -> collections.abc.Awaitable[tuple[crafts.Place, ...] | None]:
        """It is known where something is."""
        ...

    def collect(self, item: str, count: int = ...) -> collections.abc.Awaitable[int]:
        """So many of an item are in the bag."""
        ...

    def craft(self, item: str) -> collections.abc.Awaitable[int]:
        """An item is made."""
        ...

    def know(self, what: str) -> collections.abc.Awaitable[str]:
        """Something is known; a question that is answered anew each time."""
        ...

    def look_around(self, kind: str, near: crafts.Place | None = ...) -> collections.abc.Awaitable[tuple[crafts.Place, ...] | None]:
        """Turn the head."""
        ...

    def jack(self, wanted: crafts.Collect | crafts.Craft | wants.Know, /) -> collections.abc.Awaitable[int | str]:
        """He does everything."""
        ...

    def make(self, item: str) -> collections.abc.Awaitable[int]:
        """With 'both' hands."""
        ...
'''

T = TypeVar("T")


@pytest.mark.states("003: Hierarchy: Any node can be where it begins ...")
@pytest.mark.states(
    "003: Packs: Any node of the dependency map can be where a request begins: each dependency and each strategy has "
    "its call",
    source="Hierarchy",
)
def test_the_module_that_is_written():
    assert calls_module([look_around, Jack, make], "CraftCalls") == MODULE
    compile(MODULE, "calls", "exec")


def test_a_strategy_that_is_called_like_a_dependency_has_one_call():
    @strategy(Collect, cost=1.0)
    async def collect(ctx, wanted):
        """By hand."""

    written = calls_module([collect])
    assert written.count("def collect(") == 1
    assert "So many of an item" in written


def test_signatures_for_people():
    assert signature_of(Collect) == "collect(item: str, count: int = 1) -> int"
    assert (
        signature_of(look_around.spec.provides[0])
        == "find(kind: str, near: Place | None = None) -> tuple[Place, ...] | None"
    )
    assert signature_of(Know) == "know(what: str) -> str"


@pytest.mark.parametrize(
    ("hint", "text"),
    [
        (int, "int"),
        (None, "None"),
        (Place, "crafts.Place"),
        (Place | None, "crafts.Place | None"),
        (Union[int, str], "int | str"),  # noqa: UP007
        (list[Place], "list[crafts.Place]"),
        (tuple[int, ...], "tuple[int, ...]"),
        (Sequence[str], "collections.abc.Sequence[str]"),
        (Callable[[int], str], "collections.abc.Callable[[int], str]"),
        (Literal["a", 2], "typing.Literal['a', 2]"),
        (Annotated[int, "meters"], "int"),
        (type[Place], "type[crafts.Place]"),
        (Any, "typing.Any"),
        (T, "typing.Any"),
        ("Place", "crafts.Place"),
        ("Elsewhere", "typing.Any"),
    ],
)
def test_types(hint, text):
    class Fetch(Dependency[hint], activity="stub:fetch"):
        pass

    @strategy(Fetch, cost=1.0)
    async def fetch_it(ctx, wanted):
        pass

    assert f"def fetch(self) -> collections.abc.Awaitable[{text}]:" in calls_module([fetch_it])


def test_a_class_inside_a_function_cannot_be_named():
    class Inner:
        pass

    class Fetch(Dependency[Inner], activity="stub:fetch"):
        pass

    class Sub(Fetch, activity="stub:sub"):
        pass

    class Bare(Dependency, activity="stub:bare"):
        pass

    assert [signature_of(one) for one in (Fetch, Sub, Bare)] == ["fetch() -> Any", "sub() -> Any", "bare() -> Any"]


# --- what a type checker says -----------------------------------------------------------------------------------------

USE = """\
from typing import cast

from calls import GameplayCalls
from crafts import Collect

from agentrt import Agent
from agentrt.strategy import StrategyContext


async def use(agent: Agent, ctx: StrategyContext) -> None:
    calls = cast(GameplayCalls, agent.gameplay)
    reveal_type(await calls.collect("diamond", 7))
    reveal_type(await calls.find("log"))
    reveal_type(await calls.solve(Collect("diamond", 7)))
    reveal_type(await cast(GameplayCalls, ctx.gameplay).mine_ore("diamond"))
    reveal_type(await agent.gameplay.solve(Collect("diamond", 7)))
    reveal_type(await ctx.solve(Collect("diamond")))
    reveal_type(await ctx.gameplay.solve(Collect("diamond")))
    await calls.collect(7)
    await calls.colect("diamond")
    Collect("diamond", "7")
    Collect(things="diamond")
"""

SAYS = """\
use.py:12: note: Revealed type is "int"
use.py:13: note: Revealed type is "tuple[crafts.Place, ...] | None"
use.py:14: note: Revealed type is "int"
use.py:15: note: Revealed type is "int"
use.py:16: note: Revealed type is "int"
use.py:17: note: Revealed type is "int"
use.py:18: note: Revealed type is "int"
use.py:19: error: Argument 1 to "collect" of "GameplayCalls" has incompatible type "int"; expected "str"  [arg-type]
use.py:20: error: "GameplayCalls" has no attribute "colect"; maybe "collect"?  [attr-defined]
use.py:21: error: Argument 2 to "Collect" has incompatible type "str"; expected "int"  [arg-type]
use.py:22: error: Unexpected keyword argument "things" for "Collect"  [call-arg]
"""


@pytest.mark.states("003: Packs: The generated calls can be typed", source="Plugins, the generated call; design 6")
@pytest.mark.slow
def test_what_mypy_says(tmp_path, root, monkeypatch):
    pytest.importorskip("mypy")
    (tmp_path / "calls.py").write_text(calls_module([MineOre, look_around, make, Jack, doze]))
    (tmp_path / "use.py").write_text(USE)
    monkeypatch.setenv("MYPYPATH", f"{tmp_path}:{root}:{root / 'tests' / 'support'}")
    options = ["--strict", "--follow-imports=silent", "--explicit-package-bases", "--no-error-summary", "--cache-dir=."]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=", *options, "use.py", "calls.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == SAYS, done.stderr
