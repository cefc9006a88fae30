"""Follow a journey through the library in a real run: which functions are entered on the way, and in how many files.

``python tools/journeys.py`` prints the figures of all journeys, ``python tools/journeys.py d`` the way of one, and
``python tools/journeys.py d --calls`` each of its calls. ``--write`` puts figures, ways and drawings into the places of
docs/explanation/architecture.md between ``<!-- journeys -->``, ``<!-- journey d -->`` or ``<!-- drawing of journey d
-->`` and ``<!-- end -->``; what has no place there is left out. ``--check`` says whether these are up to date.

A journey has a first and a last moment, at which code of its own switches a profiler on and off. What is counted
between them are calls of Python functions of agentrt in the thread of the run. A coroutine that is resumed is a call,
since a reader has to go there. A comprehension is none: it is a frame on Python 3.11, and none from 3.12 on. Profilers
and tracers do not see each other, so coverage may measure at the same time.

Each journey is played twice, and the second time counts: the first one imports modules and fills what is kept for good.
What is garbage is collected before, since it may have callbacks. Nothing rests on the machine's speed: the runtime
does not wait between ticks, and reports no step as slow. Only names of façades are used here, so that no move of a
module concerns this file.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import math
import sys
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import agentrt
from agentrt import LOOK, MOVE, TOP, Action, ActionArgs, Agent, Context, Entity, Runtime, next_tick
from agentrt.goals import Goal, GoalSelector
from agentrt.strategy import Dependency, Strategy
from marks import put

PAGE = Path(__file__).resolve().parent.parent / "docs" / "explanation" / "architecture.md"
HOME = Path(agentrt.__file__).parent
NO_CALLS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<module>"}


@dataclass(frozen=True)
class Way:
    """What was entered on a journey.

    Attributes:
        calls: file and function of each call, in order.
        callers: for each call, the file of the library that made it, or had somebody else make it; "" for none.
    """

    calls: tuple[tuple[str, str], ...]
    callers: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """The files, in the order in which they were entered first."""
        return tuple(dict.fromkeys(file for file, _ in self.calls))

    @property
    def functions(self) -> int:
        """How many different functions were entered."""
        return len(set(self.calls))

    @property
    def changes(self) -> int:
        """How many calls were in another file than the call before."""
        return sum(before != file for (before, _), (file, _) in pairwise(self.calls))

    def as_table(self) -> str:
        """A row for each file, with its functions in the order in which they were entered first."""
        rows = ["|  | file | functions |", "| --- | --- | --- |"]
        for number, file in enumerate(self.files, 1):
            entered = dict.fromkeys(function for place, function in self.calls if place == file)
            rows.append(f"| {number} | `{file}` | {', '.join(f'`{function}`' for function in entered)} |")
        return "\n".join(rows) + "\n"

    def as_drawing(self) -> str:
        """Each file, and from which it was entered first: an arrow with the function that was called."""
        numbers = {file: number for number, file in enumerate(self.files)}
        lines = [f'    n{number}["{file}"]' for file, number in numbers.items()]
        entered = {self.files[0]}  # the journey begins there, whoever called it
        for (file, function), caller in zip(self.calls, self.callers, strict=True):
            if file not in entered and caller in numbers:
                lines.append(f'    n{numbers[caller]} -->|"{function}"| n{numbers[file]}')
            entered.add(file)
        return "\n".join(["```mermaid", "flowchart TD", *lines, "```"]) + "\n"

    def as_calls(self) -> str:
        """A line for each change of file, with the calls until the next one."""
        lines = []
        for file, calls in groupby(self.calls, key=lambda call: call[0]):
            lines.append(f"{file}: {', '.join(function for _, function in calls)}")
        return "\n".join(lines) + "\n"


class Follower:
    """Notes what is entered between ``begin`` and ``end``."""

    def __init__(self) -> None:
        self._codes: list[tuple[CodeType, CodeType | None]] = []
        self._is_over = False

    def begin(self) -> None:
        """The first moment; what is called next is the first call."""
        if not self._is_over:
            sys.setprofile(self._see)

    def end(self) -> None:
        """The last moment. Whatever comes later does not count, nor does a second ``begin``."""
        sys.setprofile(None)
        self._is_over = True

    def _see(self, frame: FrameType, event: str, _arg: object) -> None:
        if event == "call" and not self._is_over:
            caller = frame.f_back
            while caller is not None and not _is_counted(caller.f_code):
                caller = caller.f_back
            self._codes.append((frame.f_code, None if caller is None else caller.f_code))

    @property
    def way(self) -> Way:
        """What was entered.

        Raises:
            RuntimeError: the journey did not come to its last moment.
        """
        if not self._is_over:
            raise RuntimeError("the journey did not come to its end")
        counted = [(code, caller) for code, caller in self._codes if _is_counted(code)]
        calls = tuple((_file(code), code.co_qualname) for code, _ in counted)
        return Way(calls, tuple("" if caller is None else _file(caller) for _, caller in counted))


def _is_counted(code: CodeType) -> bool:
    return Path(code.co_filename).is_relative_to(HOME) and code.co_name not in NO_CALLS


def _file(code: CodeType) -> str:
    return Path(code.co_filename).relative_to(HOME).as_posix()


class Stroll(Goal):
    """Always possible, and is never over."""

    flags = {MOVE}

    def can_use(self) -> bool:
        """It always can."""
        return True

    def tick(self) -> None:
        """One more step."""


class Gaze(Stroll):
    """Beside it."""

    flags = {LOOK}


class Flee(Stroll):
    """Better than both, and never possible."""

    flags = {MOVE, LOOK}

    def can_use(self) -> bool:
        """It never can."""
        return False


def _with_goals(selector: GoalSelector) -> Agent:
    for priority, goal in enumerate((Flee(), Stroll(), Gaze())):
        selector.add_goal(priority, goal)
    agent = Agent(Entity("wolf"))
    agent.attach(selector)
    return agent


def _run(main: Coroutine[Any, Any, None]) -> None:
    with asyncio.Runner() as runner:
        runner.run(main)


async def _ticks(runtime: Runtime, count: int) -> None:
    await runtime.run(count, speed=math.inf, blocking_ms=60_000)


def one_tick(follower: Follower) -> None:
    """``await runtime.run(1)``, in a tick in which a goal selector decides, and goals run already."""

    async def main() -> None:
        async with Runtime() as runtime:
            runtime.add(_with_goals(GoalSelector()))
            await _ticks(runtime, 5)  # it decides in every second tick
            follower.begin()
            await _ticks(runtime, 1)
            follower.end()

    _run(main())


def from_think_to_run(follower: Follower) -> None:
    """From ``ctx.set_think_output()`` to the first line of ``run``; something less useful is running and gives way."""

    class Rest(Action):
        does = TOP
        utility = 0.1

        async def run(self, ctx: Context, args: ActionArgs) -> None:
            await ctx.sleep(1000)

    class Eat(Action):
        does = TOP
        utility = 0.9

        async def think(self, ctx: Context, args: ActionArgs) -> None:
            await next_tick()
            follower.begin()
            ctx.set_think_output()

        async def run(self, ctx: Context, args: ActionArgs) -> None:
            follower.end()
            await ctx.sleep(1000)

    async def main() -> None:
        async with Runtime() as runtime:
            runtime.add(Agent(Entity("villager"), actions=[Rest, Eat]))
            await _ticks(runtime, 4)

    _run(main())


def first_decision(follower: Follower) -> None:
    """The first ``tick`` of a goal selector with three goals: two of them start."""

    class Followed(GoalSelector):
        def tick(self) -> None:
            follower.begin()
            super().tick()
            follower.end()

    runtime = Runtime()
    runtime.add(_with_goals(Followed()))
    runtime.step()
    runtime.close()


def from_begin_to_strategy(follower: Follower) -> None:
    """From ``agent.gameplay.begin(...)`` to the first line of the strategy's ``run``, while ``runtime.run()`` runs."""

    class Have(Dependency[int], activity="journey:have"):
        item: str

    class Buy(Strategy):
        provides = Have

        def estimate(self, ask: Any, wanted: Any) -> float:
            return 1.0

        async def run(self, ctx: Any, wanted: Any) -> int:
            follower.end()
            return 1

    agent = Agent(Entity("villager"))
    agent.gameplay.add_strategy(Buy)
    wanted = Have("bread")

    def begin() -> None:
        follower.begin()
        agent.gameplay.begin(wanted)

    async def main() -> None:
        async with Runtime() as runtime:
            runtime.add(agent)
            await _ticks(runtime, 2)
            running = asyncio.create_task(_ticks(runtime, 8))
            await asyncio.sleep(0)
            begin()
            await running

    _run(main())


JOURNEYS: dict[str, Callable[[Follower], None]] = {
    "a": one_tick,
    "b": from_think_to_run,
    "c": first_decision,
    "d": from_begin_to_strategy,
}


def follow(name: str) -> Way:
    """Play a journey.

    Args:
        name: its letter.

    Returns:
        What was entered on the way.
    """
    follower = Follower()
    for _ in range(2):
        follower = Follower()
        was_collecting = gc.isenabled()
        gc.collect()
        gc.disable()
        try:
            JOURNEYS[name](follower)
        finally:
            sys.setprofile(None)
            if was_collecting:
                gc.enable()
    return follower.way


def figures() -> str:
    """A table of all journeys."""
    rows = ["| journey | files | functions | changes of file |", "| --- | --- | --- | --- |"]
    for name, play in JOURNEYS.items():
        way = follow(name)
        what = (play.__doc__ or "").rstrip(".")
        rows.append(f"| {name}: {what} | {len(way.files)} | {way.functions} | {way.changes} |".replace("``", "`"))
    return "\n".join(rows) + "\n"


def updated(page: str) -> str:
    """Put figures, ways and drawings into a page.

    Args:
        page: its text.

    Returns:
        The text with each of them that has a place in it.

    Raises:
        ValueError: a place does not end, or is there twice.
    """
    if "<!-- journeys -->" in page:
        page = put(page, "table", "journeys", figures())
    for name in JOURNEYS:
        if f"<!-- journey {name} -->" in page:
            page = put(page, "table", f"journey {name}", follow(name).as_table())
        if f"<!-- drawing of journey {name} -->" in page:
            page = put(page, "drawing", f"drawing of journey {name}", follow(name).as_drawing())
    return page


def main(arguments: list[str]) -> int:
    """Run the tool.

    Args:
        arguments: of the command line.

    Returns:
        The exit status.
    """
    parser = argparse.ArgumentParser(description="Follow a journey through the library in a real run.")
    parser.add_argument("journey", nargs="?", choices=[*JOURNEYS], help="whose way is printed; none: all figures")
    parser.add_argument("--calls", action="store_true", help="print each call, and not each file once")
    parser.add_argument("--write", action="store_true", help="put what is marked into the page about the architecture")
    parser.add_argument("--check", action="store_true", help="say whether that page is up to date")
    asked = parser.parse_args(arguments)
    if asked.write or asked.check:
        text = PAGE.read_text(encoding="utf-8")
        fresh = updated(text)
        if asked.write:
            PAGE.write_text(fresh, encoding="utf-8")
        elif fresh != text:
            print("docs/explanation/architecture.md is out of date; run: python tools/journeys.py --write")
            return 1
    elif asked.journey is None:
        print(figures(), end="")
    else:
        way = follow(asked.journey)
        print(way.as_calls() if asked.calls else way.as_table(), end="")
        print(f"\n{len(way.files)} files, {way.functions} functions, {way.changes} changes of file")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
