"""Random action trees that do everything an author may do, and some of what an author must not.

A world is plain data: activities on four levels (an action performs or executes only activities of deeper levels, so that no
plan is endless), for each some actions, and a list of what happens to the agent from outside. ``draw`` makes one from a
seeded generator, so that most actions work most of the time and plans get deep; drawn by hypothesis piece by piece, nearly
all worlds died of their first exception. ``build`` makes action classes of it. Every hook notes its begin and end in a
``Ledger``, which knows what must come in pairs.

A script is a list of operations; ``think`` and ``run`` go through theirs in order:

* ``sleep n``, ``output``, ``clear``, ``utility u``, ``raise``, ``abort``, ``reject``, ``forever``
* in ``think`` too: ``candidates n``, ``spawn level how`` (a frame that only thinks, or is waited for)
* in ``run`` too: ``execute level`` (an activity), ``limited n level`` (the same within a deadline), ``shield n`` (clean-up
  that takes time, in a finally block around the rest), ``destroy k`` (an entity), ``wait`` (for the world's signal), ``spawn
  level how`` (a frame that thinks, runs, or is stopped from a callback)
"""

from __future__ import annotations

from collections import Counter
from random import Random

from agentrt import (
    BACK,
    MOVE,
    PREV,
    Action,
    ActionArgs,
    CancelScope,
    CompoundAction,
    Entity,
    Signal,
    move_on_after,
    sleep_ticks,
    step,
)
from agentrt.activity.author.control import Abort, Reject
from agentrt.errors import ActivityImpossibleError, WrongStateError

LEVELS = ("top", "high", "middle", "low")
ENTITIES = 3


def _often(random, chances, common=None):
    """One of several rare things, each with its chance; else the common one."""
    for thing, chance in chances.items():
        if random.random() < chance:
            return thing
    return common


def _utility(random):
    low, high = sorted((random.randint(0, 10) / 10, random.randint(0, 10) / 10))
    return (low, high) if random.random() < 0.5 else low


def _think_script(random):
    script = []
    for _ in range(random.randint(1, 4)):
        script.append(("sleep", random.randint(0, 4)))
        if random.random() < 0.4:
            script.append(("utility", random.randint(0, 10) / 10))
        kind = _often(
            random,
            {"clear": 0.15, "raise": 0.03, "abort": 0.02, "reject": 0.1, "candidates": 0.2, "spawn": 0.06},
            "output",
        )
        more = {
            "candidates": (random.randint(0, 4),),
            "spawn": (random.randint(1, 3), random.choice(["think", "ready"])),
        }
        script.append((kind, *more.get(kind, ())))
    if random.random() < 0.5:
        script.append(("forever",))
    return script


def _run_script(random):
    script = []
    for _ in range(random.randint(1, 4)):
        kind = _often(
            random,
            {
                "utility": 0.15,
                "execute": 0.15,
                "limited": 0.1,
                "shield": 0.1,
                "destroy": 0.03,
                "wait": 0.03,
                "spawn": 0.15,
                "forever": 0.03,
                "raise": 0.02,
                "abort": 0.03,
                "reject": 0.01,
            },
            "sleep",
        )
        arguments = {
            "sleep": (random.randint(0, 5),),
            "utility": (random.randint(0, 10) / 10,),
            "execute": (random.randint(1, 3),),
            "limited": (random.randint(0, 4), random.randint(1, 3)),
            "shield": (random.randint(0, 3),),
            "destroy": (random.randint(0, ENTITIES - 1),),
            "spawn": (random.randint(1, 3), random.choice(["think", "run", "run", "stopped", "left"])),
        }
        script.append((kind, *arguments.get(kind, ())))
    return script


def _action(random, level):
    """One action of a level."""
    made = {
        "level": level,
        "utility": _utility(random),
        "boost": random.choice([0, 0.05, 0.05, 0.3, 1.0]),
        "weight": random.choice([0, 1, 3]),
        "think": _think_script(random) if random.random() < 0.6 else None,
        "start": _often(random, {"raise": 0.03, "abort": 0.04, "reject": 0.15}),
        "stop": _often(random, {"raise": 0.04, "abort": 0.04, "reject": 0.04}),
        "filter": _often(random, {"no": 0.01, "sometimes": 0.03, "raise": 0.02}),
        "flags": (MOVE,) if random.random() < 0.15 else (),
        "on_reject": _often(
            random, {"output": 0.2, "clear": 0.05, "raise": 0.03, "abort": 0.02, "reject": 0.05, "nothing": 0.1}
        ),
        "picky": random.choice([0, 0, 2, 3]),
        "timeout": random.randint(1, 8) / 20 if random.random() < 0.1 else None,
        "listens": _often(random, {"output": 0.1, "clear": 0.1, "raise": 0.03, "abort": 0.03, "reject": 0.05}),
    }
    if level < len(LEVELS) - 1 and random.random() < 0.6:
        made["steps"] = [
            (
                random.randint(level + 1, len(LEVELS) - 1),
                random.choice([None, None, None, 0, 1, 2]),
                random.randint(1, 8) / 20 if random.random() < 0.1 else None,
            )
            for _ in range(random.randint(1, 4))
        ]
        made["bound"] = random.random() < 0.3
        made["chain"] = random.random() < 0.5
        made["compose"] = _often(random, {"children": 0.3, "raise": 0.03})
    else:
        made["run"] = _run_script(random) if random.random() < 0.9 else None
    return made


def _event(random):
    tick = random.randint(1, 40)
    kind = random.choice(["destroy", "cancel", "inject", "inject", "revoke", "emit", "emit", "late", "late", "remove"])
    if kind == "remove" and random.random() < 0.7:
        kind = "emit"
    if kind == "inject":
        return tick, (kind, _action(random, random.randint(0, len(LEVELS) - 1)))
    return tick, (kind, random.randint(0, 5)) if kind in ("destroy", "cancel", "revoke", "late") else (kind,)


def draw(seed):
    """A whole world: actions for each level, and events from outside.

    Args:
        seed: which one.
    """
    random = Random(seed)
    actions = [_action(random, level) for level in range(len(LEVELS)) for _ in range(random.randint(2, 4))]
    events = sorted((_event(random) for _ in range(random.randint(0, 8))), key=lambda event: event[0])
    return {"actions": actions, "events": events}


class Boom(Exception):
    """What broken hooks raise."""


class Ledger:
    """What each instance of an action was called for, and what is still open.

    Attributes:
        errors: pairs that do not match, in words.
        running: the instances whose ``run`` is under way, innermost last.
    """

    def __init__(self):
        self.errors = []
        self.running = []
        self._open = Counter()

    def begin(self, what, action):
        key = (what, id(action))
        self._open[key] += 1
        if self._open[key] > 1:
            self.errors.append(f"{type(action).__name__}: {what} twice")

    def end(self, what, action, *, must=True):
        key = (what, id(action))
        if self._open[key]:
            self._open[key] -= 1
        elif must:
            self.errors.append(f"{type(action).__name__}: end of {what} without a begin")

    def is_open(self, what, action):
        return bool(self._open[what, id(action)])

    def left(self):
        return [what for (what, _), count in self._open.items() if count]


class Args(ActionArgs):
    target: Entity | None = None


class World:
    """The entities, the signal and the classes of a drawn world."""

    def __init__(self, data):
        self.data = data
        self.ledger = Ledger()
        self.signal = Signal()
        self.entities = [Entity("thing", id=number) for number in range(ENTITIES)]
        self.kept = []  # so that no id is used twice
        self.contexts = []  # as callbacks keep them
        self.classes = [self.build(number, one) for number, one in enumerate(data["actions"])]

    def build(self, number, data):
        """The class of an action."""
        base = CompoundAction if "steps" in data else Action
        name = f"{LEVELS[data['level']].capitalize()}{number}"
        body = {
            "does": LEVELS[data["level"]],
            "utility": data["utility"],
            "sunk_cost_boost": data["boost"],
            "weight": data["weight"],
            "flags": data["flags"],
            "Args": Args,
            "start": _start(self, data),
            "stop": _stop(self, data),
            "stop_thinking": _stop_thinking(self),
            "__init__": lambda action: self.kept.append(action),
            "think_timeout": data["timeout"],
        }
        if data["on_reject"] is not None:
            body["on_reject"] = _on_reject(self, data)
        if data["think"] is not None:
            body["think"] = _think(self, data)
        if data["filter"] is not None:
            body["should_start_thinking"] = _filter(data)
        if data.get("run") is not None:
            body["run"] = _run(self, data)
        if "steps" in data:
            known = [PREV.target if data["chain"] else None, *self.entities]
            body["steps"] = [
                step(LEVELS[level], think_timeout=timeout, target=known[0 if entity is None else entity + 1])
                for level, entity, timeout in data["steps"]
            ]
            if data["bound"]:
                body["steps"].append(step("low", target=BACK(len(data["steps"])).target))
            if data["compose"] is not None:
                body["compose_utility"] = _compose(data)
        return type(name, (base,), body)

    def apply(self, event, agent, injections):
        """Something happens from outside, between ticks."""
        kind, *rest = event
        if kind == "destroy":
            self.entities[rest[0] % ENTITIES].destroy()
        elif kind == "emit":
            self.signal.emit("emitted")
        elif kind == "inject":
            injections.append(agent.inject(self.build(100 + len(injections), rest[0])))
        elif kind == "revoke" and injections:
            injections[rest[0] % len(injections)].revoke()
        elif kind == "late" and self.contexts:
            _too_late(self.contexts[-1 - rest[0] % len(self.contexts)])
        elif kind == "remove" and agent.runtime is not None:
            agent.runtime.remove(agent)
        elif kind == "cancel" and agent.planner is not None:
            runs = agent.planner.execution.runs
            if runs:
                runs[rest[0] % len(runs)].running.stop("by hand")


# --- hooks ------------------------------------------------------------------------------------------------------------


def _fail(ctx, how):
    if how == "raise":
        raise Boom
    if how == "abort":
        ctx.abort("drawn")
    if how == "reject":
        ctx.reject("drawn")


def _filter(data):
    def should_start_thinking(self, ctx, args):
        if data["filter"] == "raise":
            raise Boom
        return data["filter"] == "sometimes" and ctx.clock.tick % 3 != 0

    return should_start_thinking


def _start(world, data):
    def start(self, ctx, args):
        world.ledger.begin("start", self)
        if ctx.clock.tick % 4:  # not always: else nothing would ever run
            _fail(ctx, data["start"])

    return start


def _stop(world, data):
    def stop(self, ctx, args):
        world.ledger.end("start", self)
        if world.ledger.is_open("run", self):
            world.ledger.errors.append(f"{type(self).__name__}: stop while run is under way")
        _fail(ctx, data["stop"])

    return stop


def _stop_thinking(world):
    def stop_thinking(self, ctx, args):
        world.ledger.end("think", self, must=False)

    return stop_thinking


def _on_reject(world, data):
    def on_reject(self, ctx, args, reason):
        if not world.ledger.is_open("think", self) and data["think"] is not None:
            world.ledger.errors.append(f"{type(self).__name__}: on_reject while it does not think")
        if data["on_reject"] != "nothing":
            _answer(ctx, (data["on_reject"],), is_range=False)

    return on_reject


def _too_late(ctx):
    """A callback comes, whatever became of its action."""
    for call in (
        ctx.resume,
        ctx.set_think_output,
        ctx.clear_think_output,
        lambda: ctx.candidates([{}, {}]),
        lambda: ctx.protect_argument(ctx.entity),
        lambda: ctx.set_status_text_key("late"),
    ):
        try:
            call()
        except (WrongStateError, Reject, Abort):
            pass


def _compose(data):
    def compose_utility(self, entity, self_utility, child_utilities, current_activity):
        if data["compose"] == "raise":
            raise Boom
        return (self_utility + child_utilities[1]) / 2

    return compose_utility


def _answer(ctx, operation, is_range):
    kind, *rest = operation
    if kind == "output":
        ctx.set_think_output()
    elif kind == "clear":
        ctx.clear_think_output()
    elif kind == "candidates":
        ctx.candidates({} for _ in range(rest[0]))
    elif kind == "utility":
        if is_range:
            ctx.set_utility(*rest)
    else:
        _fail(ctx, kind)


def _think(world, data):
    is_range = isinstance(data["utility"], tuple)

    async def think(self, ctx, args):
        world.ledger.begin("think", self)
        world.contexts.append(ctx)
        if data["picky"] and ctx.clock.tick % data["picky"] == 0:
            ctx.reject("picky")
        if data["listens"] is not None:
            ctx.listen(world.signal, lambda _: _answer(ctx, (data["listens"],), is_range))
        for operation in data["think"]:
            if operation[0] == "sleep":
                await ctx.sleep_ticks(operation[1])
            elif operation[0] == "forever":
                await ctx.sleep(1000)
            elif operation[0] == "spawn":
                await _spawn_thinking(world, data, ctx, *operation[1:])
            else:
                _answer(ctx, operation, is_range)

    return think


def _spawn(world, data, ctx, level):
    deeper = min(max(level, data["level"] + 1), len(LEVELS) - 1)
    return ctx.spawn(LEVELS[deeper], target=world.entities[level % ENTITIES]) if deeper > data["level"] else None


async def _spawn_thinking(world, data, ctx, level, how):
    frame = _spawn(world, data, ctx, level)
    if frame is not None:
        try:
            frame.start_thinking()
            if how == "ready":
                await frame.ready()
        except (ActivityImpossibleError, WrongStateError):
            await ctx.next_tick()


async def _spawn_running(world, data, ctx, level, how):
    frame = _spawn(world, data, ctx, level)
    if frame is None:
        return
    frame.start_thinking()
    if how == "stopped":
        ctx.listen(world.signal, lambda _: frame.stop())
    try:
        if how != "think":
            await frame.run()
    except (ActivityImpossibleError, WrongStateError):
        await ctx.next_tick()
    finally:
        if how != "left":
            frame.stop()


def _run(world, data):  # noqa: C901 - one branch for each operation
    is_range = isinstance(data["utility"], tuple)

    async def operate(ctx, operations):
        for number, (kind, *rest) in enumerate(operations):
            if kind == "sleep":
                await ctx.sleep_ticks(rest[0])
            elif kind == "forever":
                await ctx.sleep(1000)
            elif kind == "wait":
                await world.signal.wait()
            elif kind == "destroy":
                world.entities[rest[0]].destroy()
            elif kind == "execute":
                await execute(ctx, rest[0])
            elif kind == "spawn":
                await _spawn_running(world, data, ctx, *rest)
            elif kind == "limited":
                with move_on_after(rest[0] / 20):
                    await execute(ctx, rest[1])
            elif kind == "shield":
                try:
                    await operate(ctx, operations[number + 1 :])
                finally:
                    with CancelScope(shield=True):
                        await sleep_ticks(rest[0])
                return
            else:
                _answer(ctx, (kind, *rest), is_range)

    async def execute(ctx, level):
        deeper = min(max(level, data["level"] + 1), len(LEVELS) - 1)
        if deeper > data["level"]:
            try:
                await ctx.execute(LEVELS[deeper], target=world.entities[level % ENTITIES])
            except ActivityImpossibleError:
                await ctx.next_tick()

    async def run(self, ctx, args):
        world.ledger.begin("run", self)
        world.ledger.running.append(self)
        try:
            await operate(ctx, data["run"])
        finally:
            if world.ledger.running.pop() is not self:
                world.ledger.errors.append(f"{type(self).__name__}: it ran beside another")
            world.ledger.end("run", self)

    return run
