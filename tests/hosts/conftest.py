"""A stage: one kernel on one host, inside that host's own event loop, on virtual time where the loop allows it.

An action is a coroutine function that takes the stage. The stage spawns it as a strand and ticks with ``run_tick`` until it
has ended; between two ticks one *beat* of the loop's time passes. Under asyncio and trio that time is virtual (nothing
waits, and the order is exact); uvloop has no virtual clock, so its beat is one real millisecond.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio
import trio.testing
from virtual_loop import VirtualLoop

from agentrt.kernel.hosts.loops import rest
from agentrt.kernel.kernel import Kernel

PATIENCE = 100.0  # real seconds after which a stage gives up


class Stage:
    """One kernel on one host."""

    def __init__(self, name: str, **options: Any) -> None:
        self.name = name
        self.is_exact = name != "uvloop"
        self.beat = 0.001 if name == "uvloop" else 0.05
        self.kernel = Kernel(host=make_host(name), **options)
        self.log: list[tuple[int, str]] = []
        self.ends: dict[str, str] = {}
        self.strands: list[Any] = []
        self.connected = False
        self.keep: list[Any] = []  # tasks of the loop, which keeps only weak references

    @property
    def host(self) -> Any:
        return self.kernel.host

    def note(self, text: str) -> None:
        self.log.append((self.kernel.tick, text))

    @property
    def notes(self) -> list[str]:
        return [text for _tick, text in self.log]

    def spawn(self, action: Callable[..., Any], *args: Any, name: str | None = None) -> Any:
        strand = self.kernel.spawn(action(*args), name or action.__name__, self)
        self.strands.append(strand)
        return strand

    def on_strand_end(self, strand: Any, result: Any, error: BaseException | None) -> None:
        if error is None:
            self.ends[strand.name] = f"returned {result!r}"
        elif isinstance(error, self.host.cancelled_type):
            self.ends[strand.name] = "cancelled"
        else:
            self.ends[strand.name] = f"raised {type(error).__name__}"

    async def tick(self, ticks: int = 1) -> None:
        for _ in range(ticks):
            await self.host.run_tick(self.kernel)
            if self.name == "uvloop":
                # What is due at once has its turns of the loop, however late the machine is: a real beat may be over
                # before the first of them.
                for _ in range(10):
                    await asyncio.sleep(0)
            await rest(0 if self.name == "plain" else self.beat)

    async def until(self, condition: Callable[[], object]) -> None:
        give_up = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < give_up, f"it never happened: {self.log} {self.strands}"
            await self.tick()

    async def end(self, strand: Any) -> Any:
        await self.until(lambda: strand.is_done)
        return strand.value

    async def play(self, action: Callable[..., Any], *args: Any) -> Any:
        """Run one action to its end, and return what came of it in words."""
        await self.end(self.spawn(action, *args))
        return self.ends[action.__name__]

    async def close(self) -> None:
        strands = [*self.strands, *self.kernel.strays.strands]
        for strand in strands:
            strand.stop("the test is over")
        await self.until(lambda: all(strand.is_done for strand in strands))
        assert self.kernel.live == 0
        assert not self.kernel.ready
        assert self.kernel.current is None
        assert not self.kernel.in_tick


def make_host(name: str) -> Any:
    if name == "plain":
        from agentrt.kernel.kernel import PlainHost

        return PlainHost()
    if name == "trio":
        from agentrt.kernel.hosts.trio_ import TrioHost

        return TrioHost()
    from agentrt.kernel.hosts.asyncio_ import AsyncioHost

    return AsyncioHost()


def run_on(name: str, main: Callable[[Stage], Awaitable[Any]], **options: Any) -> Any:
    """Run a test's main function on a host, inside a fresh event loop, and close the stage after it."""
    stage = Stage(name, **options)

    async def whole() -> Any:
        result = await main(stage)
        await stage.close()
        return result

    if name == "plain":
        coro = whole()
        try:
            coro.send(None)
        except StopIteration as stop:
            return stop.value
        raise AssertionError("on the plain host the test awaited something real")
    if name == "trio":
        return trio.run(whole, clock=trio.testing.MockClock(autojump_threshold=0))
    if name == "uvloop":
        import uvloop

        factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    else:
        factory = VirtualLoop
    with asyncio.Runner(loop_factory=factory) as runner:
        return runner.run(whole())


HOSTS = ("plain", "asyncio", "uvloop", "trio")


def _runner(request: pytest.FixtureRequest) -> Callable[..., Any]:
    def run(main: Callable[[Stage], Awaitable[Any]], **options: Any) -> Any:
        return run_on(request.param, main, **options)

    run.host = request.param
    return run


@pytest.fixture(params=HOSTS)
def on_any(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Run on each host."""
    return _runner(request)


@pytest.fixture(params=("asyncio", "uvloop"))
def on_asyncio(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Run on asyncio's own loop, with virtual time, and on uvloop."""
    return _runner(request)


@pytest.fixture(params=("asyncio",))
def on_virtual_asyncio(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Run on asyncio's own loop, with virtual time."""
    return _runner(request)


@pytest.fixture(params=("trio",))
def on_trio(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Run on trio, with virtual time."""
    return _runner(request)


@pytest.fixture(params=("asyncio", "uvloop", "trio"))
def on_loop(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Run on each host that has an event loop."""
    return _runner(request)


@pytest.fixture(scope="session")
def on() -> Callable[..., Any]:
    """Run on a host by name."""
    return run_on
