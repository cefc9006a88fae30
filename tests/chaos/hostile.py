"""What makes a village hostile: hooks that explode, waits without an end, and callbacks into contexts of others.

A *mine field* stands behind all code of authors: each hook of the village's classes asks it first (``lay``). Of each hook
it keeps the contexts that were given, for whoever wants to call into them later; and where a mine lies, the hook raises
what nobody foresees, waits for ever on what need not wait, or calls into the context of somebody else.
"""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import importlib.util
import inspect
import sys
from collections import Counter, deque
from types import SimpleNamespace

from modules import ROOT

from agentrt import Action, Entity, move_on_after, sleep, sleep_ticks
from agentrt.activity.author.context import Context
from agentrt.activity.author.seat import SpawnedFrame
from agentrt.behavior import Behavior
from agentrt.behavior.memory import Activation
from agentrt.bridges import DriverAction
from agentrt.errors import AgentRTError, InternalError
from agentrt.goals import Goal
from agentrt.kernel.kernel import ControlFlow
from agentrt.kernel.signals import Condition, Event, Queue
from agentrt.selection import LeafBehavior
from agentrt.selection.state import SelectionState
from agentrt.strategy import Dependency, Strategy
from agentrt.testing.chaos import Burst, MuteError


def private(path):
    """A module of one's own, of a file that others load too."""
    name = "hostile_" + path.removesuffix(".py").replace("/", "_")
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
    return sys.modules[name]


# --- what explodes ------------------------------------------------------------------------------------------------------


def result_of_a_cancelled_task():
    try:
        future = asyncio.get_running_loop().create_future()
    except RuntimeError:
        raise asyncio.CancelledError("nobody asked for it") from None
    future.cancel("nobody asked for it")
    future.result()


def mute():
    raise MuteError


def burst():
    raise Burst


def generator_exit():
    raise GeneratorExit("a bomb")


def stop_iteration():
    raise StopIteration("a bomb")


def group():
    raise BaseExceptionGroup("a burst of several", [Burst(), MuteError()])


BOMBS = (mute, burst, result_of_a_cancelled_task, generator_exit, stop_iteration, group)
BURSTS = (MuteError, Burst, asyncio.CancelledError, GeneratorExit, StopIteration, BaseExceptionGroup)


def is_burst(error):
    """Whether a bomb raised it, or Python made it of that."""
    return isinstance(error, BURSTS) or (type(error) is RuntimeError and isinstance(error.__cause__, StopIteration))


# --- waits without an end -----------------------------------------------------------------------------------------------


async def spin_sleep(ctx):
    await sleep(0)


async def spin_ticks(ctx):
    await sleep_ticks(0)


async def spin_event(ctx):
    event = Event()
    event.set()
    await event.wait()


async def spin_queue(ctx):
    queue = Queue()
    queue.put_nowait(1)
    await queue.get()


async def spin_until(ctx):
    await Condition().wait_for(lambda: True)


async def spin_work(ctx):
    await ctx.work(1)


async def spin_suspend(ctx):
    ctx.resume()
    await ctx.suspend()


async def spin_execute(ctx):
    await ctx.execute("village:nod")


SPINS = (spin_sleep, spin_ticks, spin_event, spin_queue, spin_until)
SPINS_OF_ACTIONS = (*SPINS, spin_work)
SPINS_OF_RUNS = (*SPINS_OF_ACTIONS, spin_suspend, spin_execute)
ENOUGH = 4  # ticks; a wait that lets time pass is no livelock


# --- calls into contexts ------------------------------------------------------------------------------------------------

HOSTILE = (MuteError(), Burst(), b"bytes", 10**6000, "x" * 50_000, None, "\x1b]0;owned\x07", "\ud800", object())


def reason(field):
    return field.random.choice(HOSTILE) if field.random.below(3) == 0 else "somebody said so"


def one_mined(field):
    """An iterator of choices of which any may explode."""
    for _ in range(3):
        field.burn()
        yield {}


CALLS = {
    "abort": lambda ctx, field: ctx.abort(reason(field)),
    "reject": lambda ctx, field: ctx.reject(reason(field)),
    "fail": lambda ctx, field: ctx.fail(reason(field)),
    "restart": lambda ctx, field: ctx.restart(reason(field)),
    "set_think_output": lambda ctx, field: ctx.set_think_output(),
    "clear_think_output": lambda ctx, field: ctx.clear_think_output(),
    "candidates": lambda ctx, field: ctx.candidates(one_mined(field)),
    "set_utility": lambda ctx, field: ctx.set_utility(field.random.choice((0.0, 0.5, 1.0, 7.0, reason(field)))),
    "resume": lambda ctx, field: ctx.resume(reason(field)),
    "protect_argument": lambda ctx, field: ctx.protect_argument(field.entity()),
    "unprotect_argument": lambda ctx, field: ctx.unprotect_argument(field.entity()),
    "listen": lambda ctx, field: ctx.listen(ctx.signals["bell"], field.hook(lambda value: field.meddle(ctx))),
    "call_later": lambda ctx, field: ctx.call_later(0.1, field.hook(lambda: field.meddle(ctx))),
    "spawn": lambda ctx, field: field.keep(ctx.spawn("test:walk")),
    "set_debug_progress": lambda ctx, field: ctx.set_debug_progress(reason(field)),
    "set_status_text_key": lambda ctx, field: ctx.set_status_text_key(reason(field), what=reason(field)),
    "repr": lambda ctx, field: (ctx.path, ctx.CURRENT, ctx.random.below(2)),
}
CALLS_OF_ACTIONS = tuple(name for name in CALLS if name not in ("fail", "restart"))
CALLS_OF_FRAMES = ("start_thinking", "stop")
AWAITS = {
    "execute": lambda one: one.execute("test:walk"),
    "suspend": lambda one: one.suspend(),
    "work": lambda one: one.work(1),
    "next_tick": lambda one: one.next_tick(),
}


class MineField:
    """The mines of one village.

    Attributes:
        random: decides; None while no village is hostile.
        violations: what should not have come out of a call.
        counts: of what was done.
    """

    def __init__(self):
        self.begin(None)

    def begin(self, village, random=None):
        """A village begins; what is written of it is its own.

        Args:
            village: it.
            random: decides; None if it is not hostile.
        """
        self.village = village
        self.random = random
        self.left = []
        self.spins = 0
        self.errands = 0
        self.kept = deque(maxlen=30)
        self.violations = []
        self.counts = Counter()
        return SimpleNamespace(violations=self.violations, counts=self.counts)

    # --- in hooks -------------------------------------------------------------------------------------------------------

    def keep(self, one):
        if self.random is not None and isinstance(one, (Context, SpawnedFrame, SelectionState, Activation)):
            self.kept.append(one)
        return one

    def entered(self, args):
        if self.random is None:
            return
        for one in args:
            self.keep(one)
        self.burn()

    def burn(self):
        """A hook of somebody: does a mine lie here?"""
        if self.errands:
            self.errands -= 1
            self.meddle()
        if self.left:
            self.left[-1] -= 1
            if self.left[-1] <= 0:
                self.left.pop()
                bomb = self.random.choice(BOMBS)
                self.counts[bomb.__name__] += 1
                bomb()

    async def spin(self, args, *, runs):
        """Wait for ever on what need not wait."""
        if self.random is None or not self.spins or self.random.below(8):
            return
        self.spins -= 1
        ctx = next((one for one in args if isinstance(one, Context)), None)
        way = self.random.choice(SPINS if ctx is None else SPINS_OF_RUNS if runs else SPINS_OF_ACTIONS)
        self.counts[way.__name__] += 1
        until = self.village.runtime.tick + ENOUGH
        while self.village.runtime.tick < until:
            await way(ctx)

    def hook(self, function):
        """A plain callback that may explode: what gives something back does so when it has."""
        is_late = getattr(function, "__name__", "") in LATE

        @functools.wraps(function)
        def mined(*args, **more):
            if not is_late:
                self.entered(args)
                return function(*args, **more)
            try:
                return function(*args, **more)
            finally:
                self.entered(args)

        vars(mined).pop("is_default_hook", None)  # it is one of the author's now
        return mined

    def coroutine(self, function):
        """A coroutine function that may explode, or never end."""
        runs = function.__name__ == "run"

        @functools.wraps(function)
        async def mined(*args, **more):
            self.entered(args)
            await self.spin(args, runs=runs)
            return await function(*args, **more)

        return mined

    # --- from elsewhere -------------------------------------------------------------------------------------------------

    def entity(self):
        trees = self.village.trees
        return self.random.choice((*trees, list(trees), None, "tree", MuteError()))

    def meddle(self, one=None):
        """Call into a context that somebody kept."""
        if one is None:
            if not self.kept:
                return
            one = self.kept[self.random.below(len(self.kept))]
        if isinstance(one, SelectionState):
            name, call = "signal", lambda: one.signal(self.random.choice(("Flip", "Calm", "Nonsense")))
        elif isinstance(one, Activation):
            name, call = "stimuli", lambda: one.stimuli.add(1, reason(self), timeout=0.1)
        elif isinstance(one, SpawnedFrame):
            name = self.random.choice(CALLS_OF_FRAMES)
            call = getattr(one, name)
        else:
            name = self.random.choice(tuple(CALLS) if hasattr(one, "fail") else CALLS_OF_ACTIONS)
            call = functools.partial(CALLS[name], one, self)
        self.counts[name] += 1
        self.judge(name, one, call)

    def judge(self, name, one, call):
        try:
            call()
        except ControlFlow:
            raise  # its own stack: a listener, say, of what it emits itself
        except BaseException as error:
            if not is_burst(error):
                self.refused(name, one, error)
                return
            # The caller's own iterator, or the leaf's own answer to a signal.
            if name not in ("candidates", "signal"):
                self.violations.append(f"{name} of {one!r} let through what others raised")
            raise

    def refused(self, name, one, error):
        """What a caller may be told: that the call is wrong, in words of ours or of Python's."""
        if isinstance(error, InternalError) or not isinstance(error, (AgentRTError, ValueError, TypeError)):
            self.violations.append(f"{name} of {one!r} raised {type(error).__name__}: {error}")

    async def await_another(self):
        """A coroutine of the world awaits what belongs to somebody else."""
        if not self.kept:
            return
        one = self.kept[self.random.below(len(self.kept))]
        if isinstance(one, SpawnedFrame):
            name = self.random.choice(("ready", "run", "execute"))
            wait = getattr(one, name)
        elif isinstance(one, Context):
            name = self.random.choice(tuple(AWAITS))
            wait = functools.partial(AWAITS[name], one)
        else:
            return
        self.counts[f"await {name}"] += 1
        try:
            with move_on_after(0.3):
                await wait()
        except Exception as error:
            if type(error).__name__ not in ("InjectedFault", "MuteError", "ExceptionGroup"):
                self.refused(f"await {name}", one, error)

    def through(self, way):
        """Have somebody else call into a context."""
        runtime, agents = self.village.runtime, self.village.agents
        if way == "here":
            self.meddle()
        elif way == "posted":
            runtime.post(self.meddle)
        elif way == "strand":
            runtime.spawn(self.in_a_strand)
        elif way == "awaits":
            runtime.spawn(self.await_another)
        elif way == "listener":
            agent = agents[self.random.below(len(agents))]
            agent.signal("rain").connect(lambda _: self.meddle()), agent.signal("rain").emit()
        elif way == "destroyed":
            thing = Entity("thing")
            thing.destroyed.connect(lambda _: self.meddle())
            thing.destroy()
        else:
            self.errands += 1

    async def in_a_strand(self):
        await sleep_ticks(self.random.below(2))
        self.meddle()


WAYS = ("here", "posted", "strand", "awaits", "listener", "destroyed", "errand", "errand")
FIELD = MineField()

# --- mines in classes -----------------------------------------------------------------------------------------------------

HOOKS = {
    DriverAction: ("make_driver", "goes_on"),
    Action: ("__init__", "should_start_thinking", "stop_thinking", "on_reject", "start", "stop", "compose_utility"),
    Goal: ("can_use", "can_continue_to_use", "start", "tick", "stop"),
    Behavior: ("activate", "tick", "deactivate"),
    LeafBehavior: ("constructor", "destructor", "on_signal", "Flip"),
    Strategy: ("__init__", "estimate", "foresee", "interrupted"),
    Dependency: ("is_met", "met_value", "assume", "guard_key"),
}
COROUTINES = ("think", "run")
LATE = ("stop", "deactivate", "destructor")


def lay(module):
    """Lay mines in all classes of a module that are given to agents."""
    for cls in list(vars(module).values()):
        if not inspect.isclass(cls) or cls.__module__ != module.__name__:
            continue
        for base, hooks in HOOKS.items():
            if issubclass(cls, base):
                for name in hooks:
                    mine(cls, name, FIELD.hook)
                for name in COROUTINES:
                    mine(cls, name, FIELD.coroutine)


def mine_fields(one):
    """A trigger or an opportunity whose functions may explode."""
    functions = {
        key: FIELD.hook(getattr(one, key)) for key in ("when", "solve", "find") if callable(getattr(one, key, None))
    }
    return dataclasses.replace(one, **functions)


def mine(cls, name, wrap):
    """Lay one, in what the class itself defines, or has from the library; what it has from a base has one already."""
    found = vars(cls).get(name)
    if found is None:
        owner = next((base for base in cls.__mro__ if name in vars(base)), None)
        if owner is None or owner is object or not owner.__module__.startswith("agentrt."):
            return
        found = vars(owner)[name]
        if not wanted(cls, owner, name):
            return
    if inspect.isfunction(found) and inspect.iscoroutinefunction(found) == (wrap == FIELD.coroutine):
        setattr(cls, name, wrap(found))


def wanted(cls, owner, name):
    """Whether a hook that a class does not have may be given to it: it changes nothing but that it can explode."""
    return name in ("should_start_thinking", "stop_thinking", "on_reject", "start", "stop", "can_continue_to_use")
