"""Goals that write down what is asked of them, for the tests of this folder.

``Scripted`` answers as its script says, from one dictionary of answers for each name, and writes into the diary of its
body's entity, or into one that it is given.
"""

from __future__ import annotations

from agentrt.body.driver import LoneBody
from agentrt.goals import Goal, GoalSelector
from agentrt.kernel.kernel import Kernel
from agentrt.kernel.strand import CancelScope
from agentrt.kernel.traps import sleep_ticks

BOOM = "boom"


class Boom(Exception):
    """What a scripted goal raises."""


def answers_of(use=True, cont=None, start=None, tick=None, stop=None):
    return {"use": use, "continue": cont, "start": start, "tick": tick, "stop": stop}


class Scripted(Goal):
    """A goal whose answers can be set: ``answers["use"]``, ``["continue"]``; ``BOOM`` in any of them raises."""

    def __init__(self, name, flags=(), calls=None, *, interruptible=True, every_tick=False, answers=None, **script):
        self.name = name
        self.set_flags(flags)
        self.is_interruptible = interruptible
        self.requires_update_every_tick = every_tick
        self.calls = [] if calls is None else calls
        self.answers = answers_of(**script) if answers is None else answers

    def ask(self, call, script):
        answer = self.answers[script]
        self.calls.append(f"{call} {self.name}={'boom' if answer == BOOM else int(answer)}")
        if answer == BOOM:
            raise Boom(script)
        return answer

    def do(self, call):
        self.calls.append(f"{call} {self.name}")
        if self.answers[call] == BOOM:
            raise Boom(call)

    def can_use(self):
        return self.ask("canUse", "use")

    def can_continue_to_use(self):
        return self.can_use() if self.answers["continue"] is None else self.ask("canContinue", "continue")

    def start(self):
        self.do("start")

    def tick(self):
        self.do("tick")

    def stop(self):
        self.do("stop")


def names(wrapped):
    return [one.name for one in wrapped]


def locked(selector):
    return {flag: one.name for flag, one in selector.locked_flags.items()}


# --- with a clock -----------------------------------------------------------------------------------------------------


class Stage:
    """A kernel, a lone body on it, and selectors that are driven in every tick."""

    def __init__(self, number=0):
        self.kernel = Kernel()
        self.log = []
        self.faults = []
        self.records = []
        self.kernel.trace.listen(self.records.append)
        report = lambda path, hook, error: self.faults.append((path, hook, type(error).__name__))  # noqa: E731
        self.body = LoneBody("entity", number=number, kernel=self.kernel, report=report)
        self.selectors = []
        self.others = []
        self.is_closing = False

    def selector(self, **options):
        selector = GoalSelector(self.body, **options)
        self.kernel.every_tick(selector.drive)
        self.selectors.append(selector)
        return selector

    def close(self):
        """All selectors leave; the goals were stopped as often as they were started, and no flag is held."""
        self.is_closing = True
        left = []
        for selector in self.selectors:
            selector.leave("the test is over", lambda: left.append(1))
        for other in self.others:
            other.release()
        for _ in range(50):
            if self.kernel.live:
                self.tick()
        assert self.kernel.live == 0
        assert len(left) == len(self.selectors)
        assert [selector._life.running for selector in self.selectors] == [0] * len(left)
        assert self.body.flags.is_free
        assert {error for _, _, error in self.faults} <= {"Boom", "ZeroDivisionError"}, self.faults
        told = [text for _, text in self.log]
        for text in {text for text in told if text.endswith(" start")}:
            assert told.count(text) == told.count(text.removesuffix("start") + "stop"), text

    def note(self, text):
        self.log.append((self.kernel.tick, text))

    def tick(self, ticks=1):
        for _ in range(ticks):
            self.kernel.step_tick()

    def trace(self, *events):
        """Tick, event and path of each record."""
        return [(one.tick, one.event.value, one.path) for one in self.records if not events or one.event in events]

    def details(self, event):
        return [(one.tick, one.path, dict(one.detail)) for one in self.records if one.event == event]

    def held(self):
        return {flag: hold.name for flag, hold in self.body.flags.holds().items()}


class Noted(Goal):
    """A goal that writes into the log of a stage; ``use`` and ``cont`` say what it answers."""

    is_interruptible = True

    def __init__(self, stage, name, flags=(), *, use=True, cont=None):
        self.stage = stage
        self.name = name
        self.set_flags(flags)
        self.use = use
        self.cont = cont

    def note(self, text):
        self.stage.note(f"{self.name} {text}")

    def can_use(self):
        return self.use

    def can_continue_to_use(self):
        return self.use if self.cont is None else self.cont

    def start(self):
        self.note("start")

    def stop(self):
        self.note("stop")


class Runner(Noted):
    """A goal that is one coroutine, which takes a while to clean up."""

    def __init__(self, stage, name, flags=(), *, ticks=1000, clean_up=0, **options):
        super().__init__(stage, name, flags, **options)
        self.ticks = ticks
        self.clean_up = clean_up

    async def run(self):
        self.note("runs")
        try:
            await sleep_ticks(self.ticks)
            self.note("is done")
        finally:
            with CancelScope(shield=True):
                await sleep_ticks(self.clean_up)
            self.note("is clean")


class Other:
    """A holder of flags that is no goal."""

    runs_for = None

    def __init__(self, stage, name="plan", precedence=0, *, interruptible=True, slow=None):
        self.stage = stage
        stage.others.append(self)
        self.flag_name = name
        self.precedence = precedence
        self.is_interruptible = interruptible
        self.slow = slow  # ticks that it takes to give way; None for at once
        self.has_ended = True

    def claim(self, *flags, wait=False):
        refusal = self.stage.body.flags.claim(flags, self, self.stage.kernel.tick, wait=wait)
        self.has_ended = False
        return refusal

    def release(self):
        self.has_ended = True
        self.stage.body.flags.release(self)

    def give_way(self, flag, claimant):
        self.stage.note(f"{self.flag_name} gives way to {claimant}")
        if self.slow is None:
            self.release()
        else:
            self.stage.kernel.call_later(self.slow, self.release)

    def flags_granted(self):
        self.stage.note(f"{self.flag_name} has its flags")
