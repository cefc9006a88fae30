"""The rows, in the order of the table."""

from __future__ import annotations

from benchmarks.harness import Row
from benchmarks.rows.behavior_tick import BEHAVIOR_TICK
from benchmarks.rows.colony import COLONY
from benchmarks.rows.crowds import LEASE_LINE, TASKS_THOUSAND, TASKS_THREE_THOUSAND
from benchmarks.rows.goal_selector import GOAL_SELECTOR
from benchmarks.rows.hosts import (
    THINK_EVENT_ASYNCIO,
    THINK_EVENT_TRIO,
    THINK_READY_ASYNCIO,
    THINK_READY_TRIO,
    THREE_STEPS_ASYNCIO,
    THREE_STEPS_TRIO,
)
from benchmarks.rows.idle_memory import IDLE_MEMORY
from benchmarks.rows.idle_tick import IDLE_TICK
from benchmarks.rows.importing import IMPORTING
from benchmarks.rows.inspecting import INSPECTING, INSPECTING_NOBODY, INSPECTING_PAST
from benchmarks.rows.leaf_wake import LEAF_WAKE
from benchmarks.rows.minds import MINDS, MINDS_QUEUE
from benchmarks.rows.miner import MINER
from benchmarks.rows.mixed import MIXED_MEMORY, MIXED_TEN_THOUSAND
from benchmarks.rows.recording import EXPORT_PERFETTO, RECORDING, RECORDING_DRAWINGS, RECORDING_VIEWS
from benchmarks.rows.selection import SELECTION_CHANGED, SELECTION_FRESH, SELECTION_UNCHANGED
from benchmarks.rows.shards import SHARDS_PIPES, SHARDS_RAY
from benchmarks.rows.strategies import (
    STRATEGIES_CHAINED,
    STRATEGIES_ONE_NEED,
    STRATEGIES_TEN,
    STRATEGIES_THOUSAND,
)
from benchmarks.rows.ten_thousand import LOADED_TICK, PLANNERS_1K, PLANNERS_10K, PLANNERS_100K, TEN_THOUSAND
from benchmarks.rows.think_cycle import THINK_EVENT, THINK_READY
from benchmarks.rows.three_steps import THREE_STEPS
from benchmarks.rows.wake import WAKE
from benchmarks.rows.watching import SNAPSHOT, UNWATCHED, WATCHED

__all__ = ["ROWS"]

ROWS: tuple[Row, ...] = (
    WAKE,
    LEAF_WAKE,
    THINK_READY,
    THINK_EVENT,
    THREE_STEPS,
    THINK_READY_ASYNCIO,
    THINK_EVENT_ASYNCIO,
    THREE_STEPS_ASYNCIO,
    THINK_READY_TRIO,
    THINK_EVENT_TRIO,
    THREE_STEPS_TRIO,
    TASKS_THOUSAND,
    TASKS_THREE_THOUSAND,
    LEASE_LINE,
    GOAL_SELECTOR,
    BEHAVIOR_TICK,
    SELECTION_UNCHANGED,
    SELECTION_CHANGED,
    SELECTION_FRESH,
    STRATEGIES_TEN,
    STRATEGIES_ONE_NEED,
    STRATEGIES_THOUSAND,
    STRATEGIES_CHAINED,
    IDLE_MEMORY,
    IDLE_TICK,
    TEN_THOUSAND,
    PLANNERS_1K,
    PLANNERS_10K,
    PLANNERS_100K,
    LOADED_TICK,
    MIXED_MEMORY,
    MIXED_TEN_THOUSAND,
    COLONY,
    MINER,
    MINDS,
    MINDS_QUEUE,
    SHARDS_PIPES,
    SHARDS_RAY,
    UNWATCHED,
    WATCHED,
    SNAPSHOT,
    RECORDING,
    RECORDING_VIEWS,
    RECORDING_DRAWINGS,
    EXPORT_PERFETTO,
    INSPECTING_NOBODY,
    INSPECTING,
    INSPECTING_PAST,
    IMPORTING,
)
