"""Random strategies that support random things, and random things that come up: what must hold whatever happens.

A world is made from a seed: strategies on three levels (each has those of deeper levels solved, executes an activity,
sleeps, fails now and then, or cleans up behind a shield), incidents, and commands to the request, each at a tick. The
strategies note their steps in a ledger, which knows what must come in pairs and in which order.
"""

from __future__ import annotations

from random import Random

from wants import Bearer

from agentrt import LOOK, MOVE, Action, Agent, CancelScope, CompoundAction, move_on_after, sleep_ticks, step
from agentrt.goals import Goal, GoalSelector
from agentrt.strategy import Dependency, Interruptible, Interruption, Strategy, Trigger
from agentrt.strategy.solve import Incident
from agentrt.testing import TraceDigest, check_trace

TICKS = 60


class Top(Dependency[None], activity="deep:top"):
    """Level 0."""

    which: int = 0


class Middle(Dependency[None], activity="deep:middle"):
    """Level 1."""

    which: int = 0


class Low(Dependency[None], activity="deep:low"):
    """Level 2."""

    which: int = 0


class Danger(Dependency[None], activity="deep:danger"):
    """What is done about what comes up."""

    which: int = 0


LEVELS = (Top, Middle, Low)


class Work(Action):
    """What strategies execute."""

    does = "deep:work"
    utility = 1

    async def run(self, ctx, args):
        await sleep_ticks(2)


class Day(CompoundAction):
    """A plan that needs something solved, over and over."""

    does = "agentrt:top"
    utility = 0.5
    steps = (step("deep:top", which=9),)


class Alarm(Action):
    """What is better, now and then."""

    does = "agentrt:top"
    utility = 0.9

    async def think(self, ctx, args):
        await ctx.signals["alarm"].wait()
        ctx.set_think_output()

    async def run(self, ctx, args):
        await sleep_ticks(3)


class Guard(Goal):
    """Takes a control flag while it is told to."""

    is_wanted = False

    def __init__(self, flag):
        self.set_flags({flag})

    def can_use(self):
        return self.is_wanted

    def can_continue_to_use(self):
        return self.is_wanted

    def toggle(self):
        self.is_wanted = not self.is_wanted


class Ledger:
    """What the strategies did, and what was wrong with it.

    Attributes:
        wrong: what was wrong, in words.
        open: the runs that have not ended, in the order in which they began.
        told: what became of the incidents: name to outcomes.
    """

    def __init__(self):
        self.wrong = []
        self.open = []
        self.told = {}
        self.heard = (None, None)

    def begin(self, run):
        self.open.append(run)

    def end(self, run):
        below = [other for other in self.open if other is not run and other.attempt.solving is run.attempt.solving]
        for other in below:
            if self.open.index(other) > self.open.index(run) and not run.had_deadline:
                self.wrong.append(f"{run} ended before {other}, which is below it")
        self.open.remove(run)

    def step(self, run):
        unit = run.attempt.frame.active
        stopped = unit is None or unit.running is None or unit.running.stop_reason is not None
        if run.attempt._dealing is not None and not stopped and not run.had_deadline:
            self.wrong.append(f"{run} took a step while it stood still")

    def hear(self, run, interruption, tick):
        depth, last = run.attempt.frame.depth, self.heard
        if last[0] == (tick, interruption) and not depth < last[1] and last[2] is run.attempt.solving:
            self.wrong.append(f"{run} hears of {interruption.name} after one above it")
        self.heard = ((tick, interruption), depth, run.attempt.solving)


def _script(random, level):
    script = []
    for _ in range(random.randint(1, 3)):
        kinds = ["sleep", "sleep", "work", "limit", *(["solve"] * 3 if level < 2 else [])]
        script.append((random.choice(kinds), random.randint(0, 4)))
    return script


def _strategy(random, ledger, wanted, number, level):
    script = _script(random, level)
    fails = random.random() < 0.15
    cleans = random.choice((0, 0, 0, 2))
    gives_up = random.choice((None, None, None, None, "fail", "restart"))
    need = LEVELS[min(level + 1, 2)]

    class Made(Strategy):
        provides = wanted
        name = f"{wanted.call}_{number}"
        cost = float(random.randint(1, 9))
        interruption = random.choice(list(Interruptible))
        flags = random.choice(((), (), (MOVE,), (LOOK,)))

        async def run(self, ctx, wanted):
            self.attempt, self.had_deadline = ctx._attempt, False
            ledger.begin(self)
            try:
                for kind, amount in script:
                    if kind == "sleep":
                        await sleep_ticks(amount)
                    elif kind == "limit":
                        with move_on_after(0.1):
                            await sleep_ticks(amount)
                        self.had_deadline = True  # which goes through, while it stands still, too
                        continue
                    elif kind == "work":
                        await ctx.execute("deep:work")
                    else:
                        await ctx.solve(need(amount))
                    ledger.step(self)
                if fails:
                    ctx.fail("bad luck")
            finally:
                with CancelScope(shield=True):
                    await sleep_ticks(cleans)
                ledger.end(self)

        def interrupted(self, ctx, interruption):
            ledger.hear(self, interruption, ctx.clock.tick)
            if gives_up is not None and ctx.interruptions < 3:
                getattr(ctx, gives_up)("enough of it")

        def __str__(self):
            return f"{self.name}"

    Made.__name__ = Made.__qualname__ = Made.name.title().replace("_", "")
    return Made


class InterruptedWorld:
    """One world.

    Args:
        seed: of everything.
        runtime: in which it is to live.
    """

    def __init__(self, seed, runtime):
        random = Random(seed)
        self.runtime = runtime
        self.ledger = Ledger()
        self.digest = TraceDigest(runtime.trace)
        self.trace = []
        runtime.trace.listen(self.trace.append)
        self.agent = Agent(Bearer(), name="a", actions=[Work, *random.choice(((), (Day,), (Day, Alarm)))])
        self.guard = Guard(random.choice((MOVE, LOOK)))
        goals = GoalSelector(precedence=5)
        goals.add_goal(1, self.guard)
        self.agent.attach(goals)
        made = []
        for level, wanted in enumerate((*LEVELS, Danger)):
            for number in range(random.randint(1, 3)):
                made.append(_strategy(random, self.ledger, wanted, number, 1 if wanted is Danger else level))
        self.agent.gameplay.add_strategy(*made)
        for number in range(random.randint(0, 2)):
            trigger = Trigger(
                name=f"trigger {number}",
                when=lambda agent: True,
                every=random.randint(4, 20) / 20,
                solve=Danger(number),
                priority=random.randint(-1, 2),
                again_after=random.randint(5, 15) / 20,
            )
            self.agent.gameplay.add_trigger(trigger)
        runtime.add(self.agent)
        self.requests = [self.agent.gameplay.begin(Top(number)) for number in range(random.randint(1, 2))]
        self.ends = random.randint(TICKS - 30, TICKS - 5)
        self.events = sorted(
            ((random.randint(1, TICKS - 10), number, self._event(random, number)) for number in range(14)),
            key=lambda one: one[:2],
        )

    def _event(self, random, number):
        request = random.choice(self.requests)
        kind = random.choice(("interrupt",) * 6 + ("pause", "resume", "restart", "cancel", "guard", "guard", "alarm"))
        priority = random.randint(-1, 2)

        def interrupt():
            if not request.is_done and request.solving in self.agent.gameplay.running:
                told = self.ledger.told[f"incident {number}"] = []
                request.solving.interruptions.add(
                    Incident(Interruption(f"incident {number}"), Danger(number), priority=priority, then=told.append)
                )

        more = {"interrupt": interrupt, "guard": self.guard.toggle, "alarm": self.agent.signal("alarm").emit}
        return more[kind] if kind in more else getattr(request, kind)

    def before_tick(self, tick):
        """What comes up before a tick."""
        for when, _, event in self.events:
            if when == tick:
                event()
        if tick == TICKS - 8:
            for request in self.requests:
                request.resume()
        if tick == self.ends:
            self.runtime.remove(self.agent)

    def check(self):
        """What must hold at the end."""
        gameplay = self.agent.gameplay
        assert self.ledger.wrong == []
        assert self.ledger.open == []
        assert [name for name, told in self.ledger.told.items() if len(told) != 1] == []
        assert [str(one) for one in check_trace(self.trace, "a")] == []
        assert [one.line() for one in self.trace if one.event.value == "fault"] == []
        assert gameplay.running == ()
        assert gameplay.triggers.busy == ()
        assert [request.is_done for request in self.requests] == [True] * len(self.requests)
        assert self.agent.flags.holds() == {}
        assert self.agent.flags.waiting() == []
        for root in gameplay.finished:
            assert [node for _, node in root.walk() if node.is_open] == [], root.render()
        assert self.runtime.kernel.live == 0
