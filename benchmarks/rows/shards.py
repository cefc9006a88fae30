"""What a barrier costs: windows of two shards in two processes, or actors, against the same ticks without barriers.

Each shard works for some milliseconds in a window (a loop of a fixed length, measured beforehand), sends twenty
messages to the other one, and shows it fifty rows. The limit is the same world with one window that is as long as the
whole turn: the same work at the same time, and nobody waits for anybody. Real time is measured, since waiting is the
point; so both processors have to be free. A ratio of 1.25 is an efficiency of 0.8.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import cache, partial
from pathlib import Path

from agentrt import Agent, Runtime
from agentrt.shards import PipeShards, RayShards, Shard, ShardedWorld, ShardPlace, Shards
from agentrt.worlds import Parameter, Value
from benchmarks.alone import processor_time
from benchmarks.harness import Row, Side, Size, Work

__all__ = ["SHARDS_PIPES", "SHARDS_RAY"]

_TICKS = 5  # of a window
_PIPES_MS, _RAY_MS = 5.0, 25.0  # of work in a window
_ROOT = Path(__file__).parent.parent.parent


def _burn(loops: int) -> int:
    found = 0
    for number in range(loops):
        found = (found * 31 + number) & 0xFFFF
    return found


@cache
def _loops_per_ms() -> int:
    best = min(_took(200_000) for _ in range(5))
    return int(200_000 / best / 1000)


def _took(loops: int) -> float:
    begun = processor_time()
    _burn(loops)
    return processor_time() - begun


class Mill:
    """A part that only works, and has something to say."""

    def __init__(self, shard: Shard, part: object, *, seed: int, host: str, params: Mapping[str, Value]) -> None:
        self.shard = shard
        self.runtime = Runtime(seed, host=host)
        self._loops = int(params["loops"])
        self._other = 1 - shard.number
        self.runtime.on_input("sack", lambda number: None)
        self.runtime.every_tick(self._tick)

    def _tick(self) -> None:
        _burn(self._loops)
        for number in range(20 // _TICKS):
            self.shard.send("sack", to=self._other, number=number)

    def export(self, agent: Agent) -> object:
        return None

    def adopt(self, name: str, state: object) -> Agent:
        raise NotImplementedError

    def halo(self) -> Mapping[int, object]:
        return {self._other: [[row, row * 0.5] for row in range(50)]}


def mill(windows: int) -> ShardedWorld:
    """The world; all of so many windows are one."""
    parameters = {"loops": Parameter(1)}
    return ShardedWorld(
        "mill", Mill, lambda shards, params: [None] * shards, window=_TICKS * windows, parameters=parameters
    )


world = mill(1)
two, twenty, hundred = mill(2), mill(20), mill(100)  # where nobody waits: another process finds them by these names
_WITHOUT_BARRIERS = {2: "two", 20: "twenty", 100: "hundred"}


@contextmanager
def _windows(size: Size, ms: float, make: Callable[[], ShardPlace], *, barriers: bool) -> Iterator[Work]:
    name = "world" if barriers else _WITHOUT_BARRIERS[size.rounds]
    chosen: ShardedWorld = globals()[name]
    params = {"loops": int(ms * _loops_per_ms() / _TICKS)}
    places = [make(), make()]
    with Shards(chosen, 2, params=params, places=places, app=f"benchmarks.rows.shards:{name}") as shards:

        def work() -> int:
            shards.run(size.rounds if barriers else 1)
            return size.rounds

        yield work


@contextmanager
def _on_ray(size: Size, *, barriers: bool) -> Iterator[Work]:
    import logging

    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}  # on loopback alone
    import ray

    ray.init(
        address="local",
        num_cpus=2,
        include_dashboard=False,
        _node_ip_address="127.0.0.1",
        log_to_driver=False,
        logging_level=logging.ERROR,
        runtime_env={"env_vars": {"PYTHONPATH": str(_ROOT)}},
    )
    try:
        with _windows(size, _RAY_MS, RayShards, barriers=barriers) as work:
            yield work
    finally:
        ray.shutdown()


def _on_pipes(size: Size, *, barriers: bool) -> AbstractContextManager[Work]:
    return _windows(size, _PIPES_MS, partial(PipeShards, cwd=_ROOT), barriers=barriers)


SHARDS_PIPES = Row(
    name="shards_pipes",
    what=f"a window of two shards in two processes, with {_PIPES_MS:g} ms of work in each",
    gauge="real seconds",
    ours=Side("agentrt", partial(_on_pipes, barriers=True)),
    limit=Side("no barriers", partial(_on_pipes, barriers=False)),
    at_most_times=1.25,
    size=Size(2, 100),
    quick=Size(2, 20),
    most_repeats=5,
)

SHARDS_RAY = Row(
    name="shards_ray",
    what=f"a window of two shards in two actors of Ray, with {_RAY_MS:g} ms of work in each",
    gauge="real seconds",
    ours=Side("agentrt", partial(_on_ray, barriers=True)),
    limit=Side("no barriers", partial(_on_ray, barriers=False)),
    at_most_times=1.25,
    size=Size(2, 100),
    quick=Size(2, 20),
    most_repeats=3,
    is_big=True,
)
