"""A runtime: agents on one clock, and three ways to drive it.

* ``await runtime.run()`` paces itself against the wall clock, on asyncio or trio.
* ``runtime.step(dt)`` is synchronous, for whoever owns the loop.
* ``await agent.run()`` joins a runtime that is under way, or shares one with the others that are run like this.

The runtime composes agents, keeps what they share (the kernel, leases, the think budget, names), and is a face over
parts that do not know each other. It is a long module since all of it is called on one object. Rules:

* An agent is added and removed between ticks, at an intake; inputs are posted (``post``), from any thread.
* The host is chosen from the event loop that runs when the runtime is first driven. It may change while
  nothing runs; never under a coroutine that lives.

*Watching changes nothing.* A failure of the run that nobody handles (``fault``) is a part of it, and takes nobody with
it: it has a record in the trace, each time. A failure of who watches (``failed``) is none: it is logged and not put
into the trace, which is to be the same whether anybody looks or not. The log has what comes from the same place in full
the first time, and then in one line when it has come 10, 100, 1000 times; who asked by ``on_fault`` hears of each. What
makes two failures the same: see ``faults``. A log may be broken itself, and a step that hangs may hang in the log: so
nothing here lets out what a log raises, and a step that lasts is told to standard error as well.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from agentrt.activity.status import Translator
from agentrt.agent.agent import Agent, Attachment, Restart, Rounds, runs_alone
from agentrt.agent.faults import Fault, FaultHub, Repeats
from agentrt.agent.logs import Log, LogBridge, threshold_of
from agentrt.body.budget import SearchWork, WaitTimes
from agentrt.body.leases import LeaseBook
from agentrt.errors import ENDS_PROGRAM, DefinitionError, NotRunningError, WrongStateError
from agentrt.kernel.hosts.loops import current_library, current_loop, make_host, step_outside
from agentrt.kernel.hosts.watchdog import StepReport, Watch
from agentrt.kernel.kernel import Kernel
from agentrt.kernel.trace import TraceEvent, TraceRecord, plain_detail
from agentrt.runtime.collector import COLLECTOR, POLICIES, Policy
from agentrt.runtime.driving import BLOCKING_MS, CATCH_UP, Conductor
from agentrt.runtime.epochs import Epochs
from agentrt.runtime.gate import Gate
from agentrt.runtime.intake import Intake, Reloaded
from agentrt.runtime.names import Names
from agentrt.words import error_words, printable, repr_of, type_name

if TYPE_CHECKING:
    from pathlib import Path

    from agentrt.activity.status import Translate
    from agentrt.body.entity import E
    from agentrt.drawing import Drawing
    from agentrt.kernel.clock import Clock
    from agentrt.kernel.kernel import Timer
    from agentrt.kernel.rng import Stream
    from agentrt.kernel.trace import TraceHub
    from agentrt.runtime.intake import Codec, Journal, OutsideCalls, RunRecorder
    from agentrt.snapshot import RuntimeSnapshot
    from agentrt.snapshot.views import MindView, ThoughtText


HOSTS = ("auto", "plain", "asyncio", "trio")
MOST_RELOADS = 50


# --- what is told to those who look -----------------------------------------------------------------------------------


class Reporting:
    """What one runtime tells."""

    __slots__ = ("_kernel", "_log", "_repeats", "faults")

    def __init__(self, runtime: Runtime) -> None:
        self._kernel = runtime.kernel
        self._log = Log(runtime, {})
        self._repeats = Repeats()
        self.faults: FaultHub = FaultHub(self.failed)  # who is told of faults

    def report_step(self, report: StepReport) -> None:
        """A step took long: called at an intake when it is over, and from another thread while it hangs."""
        text = printable(str(report))
        with contextlib.suppress(Exception):
            self._log.warning(text)
        if not report.is_over:
            with contextlib.suppress(Exception):
                print(f"agentrt: {text}", file=sys.stderr, flush=True)  # noqa: T201 - the log may go nowhere

    def fault(self, text: str, error: BaseException) -> None:
        tick = self._kernel.tick
        trace = self._kernel.trace
        if trace.on:
            detail = (("text", text), ("error", error_words(error)))
            trace.emit(TraceRecord(tick, "", "", TraceEvent.FAULT, detail))
        times, first = self._repeats.count(text, error, tick)
        if times == 1:
            self._write(text, exc_info=error)
        elif times == 10 ** (len(str(times)) - 1):
            self._write(text, times=times, since=first, error=error_words(error))
        self.faults.tell(Fault(text, error, tick))

    def failed(self, text: str, error: BaseException) -> None:
        """A failure of who watches: it is no part of the run, so the trace has nothing of it."""
        self._write(text, exc_info=error)
        self.faults.tell(Fault(text, error, self._kernel.tick))

    def _write(self, text: str, **values: object) -> None:
        try:
            self._log.error(text, **values)
        except ENDS_PROGRAM:
            raise
        except BaseException:  # a log that is broken itself: there is nobody left to tell
            return


# --- the runtime ------------------------------------------------------------------------------------------------------


class DriverPhase:
    """The drivers of all agents of one runtime, in the order in which they drive: the drivers' phase of a tick.

    They lie in one flat list, which is made anew when somebody comes or goes, so that a tick costs a call for each of
    them and nothing else. Agents come in the order in which they were added.
    """

    __slots__ = ("_agents", "_attachments", "_is_stale", "_kernel")

    def __init__(self, kernel: Kernel, agents: dict[str, Agent]) -> None:
        self._agents = agents
        self._attachments: list[Attachment] = []
        self._is_stale = False
        self._kernel = kernel
        kernel.drive(self._drive)

    def change(self) -> None:
        """Somebody came or went."""
        self._is_stale = True

    def _drive(self) -> None:
        if self._is_stale:
            self._is_stale = False
            self._attachments = [one for agent in self._agents.values() for one in agent.attachments if one.drives]
        kernel = self._kernel
        for attachment in self._attachments:
            driver = attachment.driver
            kernel.calling = driver  # who hangs, if one does
            try:
                if attachment.every == 1:
                    driver.drive()
                else:
                    attachment.drive_in_turn()
            except ENDS_PROGRAM:
                raise
            except BaseException as error:
                attachment.agent.fault(driver.name, "drive", error)


class RuntimeMind(Protocol):
    """What asks language models for the agents of a runtime; a floor above makes it."""

    def snapshot(self) -> MindView: ...

    def text_of(self, number: int) -> ThoughtText | None:
        """What was asked and answered, of a thought by its number; None if it is not kept any more."""
        ...

    @property
    def outside(self) -> tuple[str, ...]:
        """The names of those models that are outside of the game: a replay needs them by the same names."""
        ...

    @property
    def prices(self) -> dict[str, tuple[float, float]]:
        """What a million tokens cost that are read, and that are written, of those models that cost anything."""
        ...

    def notes(self) -> tuple[str, ...]:
        """What a replay is to say of it."""
        ...

    def save(self) -> dict[str, Any]:
        """What its budgets have left, as plain JSON, for the one of the world that is rebuilt."""
        ...

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Take it up; raises ``ValueError``, ``TypeError`` or ``KeyError`` if it is nothing like that."""


# Everybody looks for ``runtime.record(path)`` here, and a recorder stands floors above: who makes one is told.
_recorders: list[Callable[..., RunRecorder]] = []


def makes_recorders(make: Callable[..., RunRecorder]) -> Callable[..., RunRecorder]:
    """Say who makes recorders, called with a runtime and what ``Runtime.record`` is given: a decorator."""
    _recorders[:] = [make]
    return make


class Runtime:
    """Agents on one clock.

    Args:
        seed: of every random stream.
        ticks_per_second: how many ticks make one second of game time.
        start_tick: the tick after which it begins, such as that of a saved game; the first one to run is the next.
        host: ``"auto"`` takes the event loop that runs when the runtime is first driven, or none; ``"plain"``,
            ``"asyncio"`` or ``"trio"`` insist.
        restart: what becomes of an agent whose planner gave up. None: it is killed. By default who drives says it:
            while the runtime is stepped, where somebody looks, it is killed; while ``run`` drives, where a server would
            lose one character after the other, it begins again after some time.
        think_budget: how many units of search work (``ctx.work``) all agents together may do in a tick; None for any
            number.
        translate: makes the status text of an agent from a key and its arguments; None shows the key.
        hang_limit: real seconds after which a single step, or a hook, is ended by a ``LivelockError`` that is raised in
            it; None for never. What is ended depends on how fast the machine is: two runs may differ then.
        collector: ``"freeze"`` keeps Python's garbage collector from looking through all that lives while the runtime
            runs, which stops a large world for seconds (``docs/explanation/speed.md``); ``"leave"`` does nothing.
    """

    mind: RuntimeMind | None = None  # asks language models for its agents; see ``agentrt.minds``
    game: object | None = None  # what a world keeps with its runtime, for itself; nothing here looks at it
    recorder: RunRecorder | None = None  # writes it down; nobody, unless ``record`` was called

    def __init__(
        self,
        seed: int | str = 0,
        *,
        ticks_per_second: int = 20,
        start_tick: int = 0,
        host: str = "auto",
        restart: Restart | Literal["when run"] | None = "when run",
        think_budget: int | None = None,
        translate: Translate | None = None,
        hang_limit: float | None = None,
        collector: Policy = "freeze",
    ) -> None:
        if host not in HOSTS:
            raise ValueError(f"host is {host!r}: choose one of {', '.join(HOSTS)}")
        if hang_limit is not None and not _is_duration(hang_limit):
            raise ValueError(f"hang_limit is {repr_of(hang_limit)}: it takes a number of seconds above 0, or None")
        if collector not in POLICIES:
            raise ValueError(f"collector is {repr_of(collector)}: choose one of {', '.join(POLICIES)}")
        self.kernel: Kernel = Kernel(seed, ticks_per_second, start_tick=start_tick)  # the scheduler
        self.clock: Clock = self.kernel.clock
        self.trace: TraceHub = self.kernel.trace  # where records of what happens are handed out
        self._reporting = Reporting(self)
        self.kernel.on_fault = self._reporting.fault
        self.trace.report = self._reporting.failed
        self.logs: LogBridge = LogBridge(self.trace)  # the bridge from the trace to the log
        self.faults: FaultHub = self._reporting.faults  # who is told of faults
        self.texts: Translator = Translator(translate, self._reporting.failed)  # makes the status texts
        self.intake: Intake = Intake(self.kernel)  # takes what comes in from outside
        self.calls: OutsideCalls = self.intake.calls  # the calls to the outside that are under way
        self.waits: WaitTimes = WaitTimes()  # how long tasks were available before somebody started them
        self.search: SearchWork = SearchWork(self.kernel, think_budget)  # the search work of all agents
        self.leases: LeaseBook = LeaseBook()  # who has reserved what
        self.told: set[str] = set()  # what agents said in the log, and need not say again
        self.reloads: deque[Reloaded] = deque(maxlen=MOST_RELOADS)  # what came of the last ones, the oldest first
        self.lacking: dict[Agent, Timer] = {}  # who lacks an action as they came, until that is told
        self.host: str = "auto"  # the name of the host; ``"auto"`` until it is chosen
        self._is_restart_told = restart != "when run"
        self._told_restart = None if restart == "when run" else _checked_restart(restart)
        self._restart_when_run: Restart | None = None  # what ``run`` says while it drives
        # makes a drawing of the world for who looks at it, between two ticks, and changes nothing; see ``draw``
        self.drawing: Callable[[], Drawing | None] | None = None
        self.epochs: Epochs = Epochs(self)  # how and when its world is rebuilt; see ``rebuild_every``
        self._agents: dict[str, Agent] = {}
        self.names: Names = Names()  # those that were given to agents here; can be saved and restored
        self._arrivals, self._carry = 0, 0.0
        # the drivers of all agents, in the order in which they drive
        self.round: Rounds = DriverPhase(self.kernel, self._agents)
        self.gate: Gate = Gate()  # pauses it, steps it, and changes its speed
        watch = Watch(self.kernel, self._reporting.report_step, hang_limit)
        self._conductor = Conductor(self.kernel, self._agents, self.gate, self.intake, watch, collector, self.epochs)
        self._policy: Policy = collector
        self._may_choose = host == "auto"
        if host != "auto":
            self._take_host(host)

    # --- what there is ------------------------------------------------------------------------------------------------

    @property
    def agents(self) -> tuple[Agent, ...]:
        """The agents, in the order in which they were added."""
        return tuple(self._agents.values())

    def find(self, name: str) -> Agent | None:
        """The agent that has a name here; None if there is none now."""
        return self._agents.get(name)

    @property
    def tick(self) -> int:
        """The number of the tick that runs, or of the last one that ran."""
        return self.kernel.tick

    @property
    def start_tick(self) -> int:
        """The tick after which it began."""
        return self.clock.start_tick

    @property
    def restart(self) -> Restart | None:
        """What becomes of an agent whose planner gives up now; None: it is killed.

        It can be set between two ticks, to a ``Restart`` or None: then it no longer matters who drives.
        """
        return self._told_restart if self._is_restart_told else self._restart_when_run

    @restart.setter
    def restart(self, restart: Restart | None) -> None:
        self._told_restart, self._is_restart_told = _checked_restart(restart), True
        self._note_restart()

    def _note_restart(self) -> None:
        """What is said within a tick, the world says again in a replay."""
        if self.journal is not None and not self.kernel.in_tick:
            self.journal.restarting(self.restart)

    @property
    def late_ticks(self) -> int:
        """How many ticks ``run`` has left out because the machine could not keep up."""
        return self._conductor.late_ticks

    @property
    def lateness(self) -> float:
        """How many real seconds after it was due the tick began that runs, or that ran last; 0 where nobody paces it.

        Of who drives it by ``run``, or by the ``run`` of an agent. It tells of the machine: no agent may look at it.
        """
        return self._conductor.lateness

    def stream(self, name: str) -> Stream:
        """A random stream of its own for a name, which says what it is for; the same name gives the same numbers."""
        return self.kernel.stream(name)

    def add(self, agent: Agent[E], *, returns: bool = False) -> Agent[E]:
        """Add an agent that is in no runtime; it begins to think at the next intake.

        Args:
            agent: the agent.
            returns: whether it is one that was here before, or in another runtime of the same game: then it is called
                as it was called there. Its random numbers begin anew; ``agent.random.state`` carries them on.

        Returns:
            The agent; if there ever was one of its name here, it has a number now.

        Raises:
            DefinitionError: it is no agent.
            WrongStateError: it is in a runtime already, members of one of its task groups are in another one, one of
                its drivers drives somebody else by now, or it returns and somebody else has its name.
        """
        _require_agent(agent, "runtime.add")
        if returns and agent.name in self._agents:
            remedy = "Remove that one first, or let it have a number: add it without returns."
            raise WrongStateError("runtime.add", f"another agent is called {agent.name!r}", remedy)
        if agent.runtime is not None:
            raise WrongStateError("runtime.add", f"{agent.name!r} is in a runtime", "Remove it there first.")
        for group in agent.task_groups:
            if any(member.runtime not in (None, self) for member in group.members):
                raise WrongStateError(
                    "runtime.add", f"members of {group.name} act in another runtime", "Take it out of that group first."
                )
        agent.drivers.take_up()
        name = self.names.take(agent.name) if returns else self.names.give(agent.given_name)
        self._agents[name] = agent
        self._arrivals += 1
        agent.join(self, name, self._arrivals)
        return agent

    def remove(self, agent: Agent, reason: str = "removed") -> None:
        """Remove one of its agents at the next intake; what it runs is stopped, every ``stop`` is called."""
        _require_agent(agent, "runtime.remove")
        if agent.runtime is self and agent.planner is not None:
            self.post(agent.end, reason)

    def every_tick(self, fn: Callable[[], object]) -> Callable[[], None]:
        """Call a plain function once in every tick, before the agents; returns a function that ends it.

        It is part of the world, and ends when that is rebuilt. Who only looks on takes ``after_tick``, which stays.
        """
        return self.kernel.every_tick(fn)

    def after_tick(self, fn: Callable[[], object]) -> Callable[[], None]:
        """Call a plain function, which must not change the run, after each tick; returns a function that ends it."""
        return self.kernel.after_tick(fn)

    def spawn(self, function: Callable[..., Coroutine[Any, Any, Any]], *args: Any, name: str = "") -> None:
        """Start a coroutine of the world's own at the next intake; it is stopped when the runtime is closed.

        Its name is for people; the function's by default.
        """

        def begin() -> None:
            self.kernel.spawn_stray(function(*args), name or getattr(function, "__qualname__", "coroutine"))

        self.post(begin)

    # --- epochs -------------------------------------------------------------------------------------------------------

    def rebuild_every(self, ticks: int, save: Callable[[Runtime], Any], load: Callable[[Runtime, Any], object]) -> None:
        """Have the world rebuilt of its own save after each so many-th tick: say it where the world is made.

        From then on whoever begins with such a save goes on exactly as this run did (``restore``). It changes the game:
        plans begin anew, what was reserved is free unless ``load`` keeps it (``agentrt.rebuild``), and agents draw
        other random numbers.

        Args:
            ticks: after how many; 0 for never, which still allows ``save`` and ``restore``.
            save: called with the runtime, between two ticks; gives all of the world as plain JSON.
            load: called with the runtime, which has nothing of a world then, and what ``save`` gave: puts up all that
                making the world puts up. What the world keeps with its runtime (``game``) is for it to set as well.

        Raises:
            ValueError: an argument is none of these.
        """
        self.epochs.declare(ticks, save, load)

    def save(self) -> dict[str, Any]:
        """Write its world down between two ticks, as plain JSON; see ``rebuild_every``.

        Raises:
            WrongStateError: a tick runs, or its world never said how it is saved.
            EpochError: its ``save`` failed, or gave what JSON cannot say.
        """
        self.kernel.require_between_ticks("runtime.save")
        import json  # which only few programs need

        saved: dict[str, Any] = json.loads(self.epochs.write())
        return saved

    def restore(self, saved: object) -> None:
        """Rebuild its world of what ``save`` gave; it goes on with the tick after that.

        Best before its first tick. Later all that lives ends first, as by ``close``.

        Args:
            saved: what ``save`` gave, or what JSON made of it; of a run with the same seed.

        Raises:
            RebuildError: it is nothing of that kind.
            EpochError: the world's ``load`` failed.
            WrongStateError: somebody drives it, or its world never said how it is loaded.
        """
        self._conductor.require_idle("runtime.restore")
        text = self.epochs.read(saved)
        if self.kernel.thread:  # a tick has run: what lives may have begun something
            self._choose_host()
        self._conductor.rebuild_now(text)

    def forget_world(self) -> None:
        """All that it had of a world that is over; called when another one is about to be loaded."""
        for agent in self._agents.values():  # if none of it has ever begun, nobody has ended
            agent.runtime = None
        self._agents.clear()
        self.round.change()
        self.lacking.clear()
        self.leases.clear()
        self.intake.forget_inputs()
        self.calls.forget()
        self.waits, self.names, self._arrivals = WaitTimes(), Names(), 0
        budget = self.search.budget
        self.search = SearchWork(self.kernel, None if budget is None else budget.units)
        self.game = self.drawing = self.mind = None

    # --- what comes in ------------------------------------------------------------------------------------------------

    @property
    def journal(self) -> Journal | None:
        """Who keeps what comes in, or nobody."""
        return self.intake.journal

    @journal.setter
    def journal(self, journal: Journal | None) -> None:
        self.intake.journal = journal

    def post(self, fn: Callable[..., object], *args: Any) -> None:
        """Call a plain function, such as ``signal.emit``, at the next intake. Safe from any thread."""
        self.intake.post(fn, *args)

    def on_input(self, name: str, fn: Callable[..., object]) -> Callable[[], None]:
        """Put up a plain function for an input: ``send`` calls it at the next intake, with keyword arguments.

        Returns:
            A function that takes it down again.

        Raises:
            WrongStateError: there is one for this name.
        """
        return self.intake.on_input(name, fn)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names that can be sent, in the order in which they were put up."""
        return tuple(self.intake.inputs)

    def send(self, name: str, /, **args: object) -> None:
        """Hand something in from outside; it is taken at the next intake, and a recording keeps it. From any thread.

        Args:
            name: which input; see ``on_input``.
            args: plain values: None, truth values, numbers, texts, and lists and dicts of them.

        Raises:
            InputError: nobody takes inputs of this name, or a value is not plain.
        """
        self.intake.send(name, **args)

    def call(self, fn: Callable[..., Any], *args: Any) -> Awaitable[Any]:
        """Call something outside the game; see ``Context.call``. Await it in a coroutine that the runtime steps."""
        return self.calls.call(fn, *args)

    def record(
        self,
        path: str | Path,
        *,
        world: str = "",
        params: Mapping[str, int | float | bool | str] | None = None,
        views: Literal["changed", "none"] | int = "changed",
        drawings: Literal["changed", "none"] | int = "changed",
        keep_ticks: int | None = None,
        max_bytes: int | None = None,
        commit_every: int = 1,
        durability: Literal["process", "power"] = "process",
        codecs: Sequence[Codec] = (),
        meta: dict[str, Any] | None = None,
    ) -> RunRecorder:
        """Write down the run from here on, into a file that can be looked at and replayed.

        Call it between two ticks; before the first one, if the recording is to be replayed. It ends when the runtime is
        closed, or by ``close()`` of what this returns.

        Args:
            path: where to; there must be nothing yet.
            world: the name of the world that a replay makes; empty if whoever replays has to bring it.
            params: what the world was made with, besides the seed; a replay makes it with the same.
            views: which snapshots of agents are kept: ``"changed"``, ``"none"``, or at most one of an agent in so many
                ticks.
            drawings: which drawings of the world are kept, if it offers any (``runtime.drawing``): likewise.
            keep_ticks: how many ticks of trace and views are kept at least, the newest; None for all.
            max_bytes: how large the file may become; None for any size. The oldest ticks go first.
            commit_every: after how many ticks it commits; what was not committed is lost if the process dies.
            durability: what was committed survives the end of the ``"process"``, however it ends; or also that of the
                machine (``"power"``), for which each commit waits for the disk.
            codecs: for values of one's own types that come in.
            meta: more plain data for the header.

        Returns:
            The recorder, an ``agentrt.record.Recorder``, which is a context manager.

        Raises:
            RecordingError: the file cannot be made.
            WrongStateError: a tick runs, or the runtime is recorded already.
            ValueError: an argument is out of its range.
        """
        return _recorders[0](
            self,
            path,
            world=world,
            params=params,
            views=views,
            drawings=drawings,
            keep_ticks=keep_ticks,
            max_bytes=max_bytes,
            commit_every=commit_every,
            durability=durability,
            codecs=codecs,
            meta=meta,
        )

    # --- the host -----------------------------------------------------------------------------------------------------

    def _take_host(self, name: str) -> None:
        self.kernel.host = make_host(name)
        self.host = name

    def _choose_host(self) -> None:
        """Take the event loop that runs here, or raise ``NotRunningError`` if the runtime cannot be driven from it."""
        library = current_library()
        if self.host == library or (self.host == "plain" and not self._may_choose):
            return
        if self._may_choose and (self.host == "auto" or not self.kernel.live):
            self._take_host(library)
            return
        here = "no event loop runs here" if library == "plain" else f"here runs {library}"
        why = "because it was first driven there" if self._may_choose else "as it was told"
        raise NotRunningError(
            f"this runtime is on the {self.host} host, {why}, but {here}. Drive it from one place only, from its first "
            f"step on, or say Runtime(host='plain') for one that needs no event loop."
        )

    # --- driving ------------------------------------------------------------------------------------------------------

    def step(self, dt: float | None = None) -> int:
        """Run ticks now, on the caller's stack.

        Args:
            dt: game seconds that passed; as many ticks run as they make, and the rest is kept for the next call. None
                runs one tick.

        Returns:
            How many ticks ran; fewer than asked for if the gate is closed, and the rest is not made up for.

        Raises:
            NotRunningError: the host is trio, which cannot be stepped synchronously; or its event loop does not run.
            WrongStateError: ``runtime.run`` or ``agent.run`` is under way, or a tick is.
        """
        self._choose_host()
        self._conductor.require_idle("runtime.step")
        if dt is None:
            return self._step(1)
        if not dt >= 0 or math.isinf(dt):
            raise ValueError(f"step({dt!r}): it takes a number of seconds that is not negative")
        self._carry += dt * self.clock.ticks_per_second
        ticks = int(self._carry + 1e-9)
        self._carry = max(0.0, self._carry - ticks)
        return self._step(ticks)

    def _step(self, ticks: int) -> int:
        with self._conductor.watch:
            for ran in range(ticks):
                COLLECTOR.between_ticks()
                if self.gate.is_closed and not self.gate.admit():
                    return ran
                self._conductor.tick_now()
        return ticks

    def freezing(self) -> contextlib.AbstractContextManager[None]:
        """For a loop of one's own around ``step``: a context in which the garbage collector is treated as ``run`` does.

        On entering, what is alive is frozen; on leaving, the collector is as it was found.
        """
        return COLLECTOR.freezing(self._policy)

    async def run(
        self,
        ticks: int | None = None,
        *,
        speed: float = 1.0,
        catch_up: int = CATCH_UP,
        budget_ms: float | None = None,
        blocking_ms: float | None = BLOCKING_MS,
        restart: Restart | None = Restart(),  # noqa: B008 - it is frozen
    ) -> None:
        """Run tick after tick, paced by the wall clock.

        When it is cancelled, all agents are stopped in the order in which they were added, every ``stop`` runs, and
        only then is the cancellation passed on.

        Args:
            ticks: how many; None runs until ``stop`` or cancellation. After so many, agents stay as they are.
            speed: game seconds for each real second; ``math.inf`` does not wait.
            catch_up: how many ticks it may run in a row without a rest when it is late; what is beyond is left out.
            budget_ms: real milliseconds after which a long tick lets the event loop work before it goes on.
            blocking_ms: real milliseconds after which a single step is reported as blocking the loop; None for never.
                One that lasts a second is reported while it lasts, to the log and to standard error.
            restart: what becomes meanwhile of an agent whose planner gives up, if the runtime was not told itself.

        Raises:
            NotRunningError: another event loop runs than the one that the runtime lives on, or none.
            WrongStateError: it is run already.
        """
        await step_outside()
        self._choose_host()
        if not speed > 0:
            raise ValueError(f"speed is {speed!r}: it takes a number above 0, or math.inf")
        budget = None if budget_ms is None else budget_ms / 1000
        blocking = None if blocking_ms is None else blocking_ms / 1000
        policy, is_begun = _checked_restart(restart), False

        def begin() -> None:
            nonlocal is_begun
            is_begun = True
            self._restart_when_run = policy
            self._note_restart()

        try:
            await self._conductor.run(ticks, speed, catch_up, budget, blocking, begin)
        finally:
            if is_begun:  # else another one may drive
                self._restart_when_run = None
                self._note_restart()

    async def run_agent(self, agent: Agent) -> None:
        """Wait until one of its agents has ended, driving the runtime if nobody else does. See ``Agent.run``.

        Raises:
            AgentKilled: its planner gave up.
        """
        await step_outside()
        self._choose_host()
        await self._conductor.run_agent(agent)

    def stop(self) -> None:
        """Have whoever drives it stop all agents after the present tick, and return. Safe from any thread.

        While nobody drives it, that concerns the next one who does.
        """
        self._conductor.stop()

    def close(self, reason: str = "the runtime was closed") -> None:
        """Stop all agents and coroutines now, on the caller's stack. For runtimes that are driven by ``step``.

        Raises:
            WrongStateError: somebody drives it.
        """
        self._choose_host()
        self._conductor.close(reason)

    async def aclose(self, reason: str = "the runtime was closed") -> None:
        """Stop all agents and coroutines, giving the event loop time for what they await in their clean-up.

        ``async with Runtime() as runtime`` does it at the end.

        Raises:
            WrongStateError: somebody drives it.
        """
        await step_outside()
        self._choose_host()
        await self._conductor.aclose(reason)

    async def __aenter__(self) -> Runtime:
        await step_outside()
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.aclose()

    # --- for people ---------------------------------------------------------------------------------------------------

    def snapshot(self) -> RuntimeSnapshot:
        """What goes on, as frozen, plain data: the figures, the task groups, and a snapshot of each agent."""
        from agentrt.snapshot import RuntimeSnapshot, snapshot_agent  # who looks at nothing loads no views

        groups = dict.fromkeys(group for agent in self.agents for group in agent.task_groups)
        budget = self.search.budget
        clock = self.kernel.clock
        return RuntimeSnapshot(
            tick=clock.tick,
            seconds=clock.now,
            ticks_per_second=clock.ticks_per_second,
            late_ticks=self.late_ticks,
            strands=self.kernel.live,
            is_paused=self.gate.is_closed,
            waits=self.waits.as_json(),
            search_waits=self.search_waits.as_json(),
            think_budget=None if budget is None else budget.units,
            think_used=self.search.used,
            think_waiting=0 if budget is None else budget.waiting,
            groups=tuple(group.snapshot() for group in groups),
            agents=tuple(snapshot_agent(agent) for agent in self.agents),
            mind=None if self.mind is None else self.mind.snapshot(),
        )

    def draw(self) -> Drawing | None:
        """What the world looks like now, as its hook ``drawing`` says; None if it has none, or nothing to show.

        For who watches, between two ticks. A hook that raises, steps or closes the runtime, or returns something else,
        is dropped and reported.
        """
        hook = self.drawing
        if hook is None:
            return None
        from agentrt.drawing import Drawing  # who looks at nothing loads no drawings

        try:
            # Else a hook that steps would be asked again by the tick that it makes, until the game's stack is full.
            outer, self.kernel.in_tick = self.kernel.in_tick, True
            try:
                drawing: object = hook()
            finally:
                self.kernel.in_tick = outer
            if drawing is None or type(drawing) is Drawing:
                return drawing
            problem = f"it returned a {type_name(drawing)}."
            raise DefinitionError("runtime.drawing", problem, "Return an agentrt.drawing.Drawing, or None.")
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self.drawing = None  # first: the report may look at the world itself
            self._reporting.failed("the hook that draws the world failed; it is not asked again", error)
            return None

    @property
    def search_waits(self) -> WaitTimes:
        """How long ``ctx.work`` had to wait for its units, in ticks; empty without a ``think_budget``."""
        return self.search.waits

    def note(self, text: str, /, **detail: object) -> None:
        """Put a note of the world's own into the trace: a door was opened, a day began. ``detail`` stands beside it."""
        if self.trace.on:
            values = ((name, plain_detail(value)) for name, value in detail.items())
            told = (("text", plain_detail(text)), *values)
            self.trace.emit(TraceRecord(self.tick, "", "", TraceEvent.NOTE, told))

    @property
    def log_level(self) -> str | None:
        """From which level on the trace goes to the log, of agents that have no level of their own. See ``logs``.

        None, as at first: nothing of the trace does; failures do, whatever they are worth.
        """
        return self.logs.level

    @log_level.setter
    def log_level(self, level: str | None) -> None:
        self.logs.level = level

    def log_state(self) -> tuple[int, int | None]:
        """From which level on its log speaks, and the tick; for its loggers."""
        return threshold_of(self.logs.level), self.tick

    def on_fault(self, callback: Callable[[Fault], object]) -> Callable[[], None]:
        """Call a function for each fault: a failure that nobody handled and that the runtime survives.

        What is logged as an error is told here too, each time that it happens, whatever the log's level: a hook or a
        strand that raised, a function of the tick, a planner that was killed, somebody who watches and was dropped.
        A callback that raises is dropped, and that is logged.

        Args:
            callback: a plain function, called where it happens, on the runtime's own thread; it must not change the
                run. What fails in the thread of another, such as closing a recording there, is told in that thread.

        Returns:
            A function that ends it; calling it twice does nothing.

        Source: ours (ours).
        """
        return self.faults.add(callback)

    # --- what agents and the kernel tell ------------------------------------------------------------------------------

    @property
    def is_driven(self) -> bool:
        """Whether somebody drives it: ``run``, or the ``run`` of one of its agents."""
        return self._conductor.is_driving

    def agent_ended(self, agent: Agent) -> None:
        """An agent was removed or killed; called by the agent."""
        self._agents.pop(agent.name, None)
        self.logs.set_agent(agent.name, None)
        self.round.change()
        agent.runtime = None
        if agent.has_ended is not None:
            agent.has_ended.set()
        self.leases.release_all(agent)
        lacking = self.lacking.pop(agent, None)
        if lacking is not None:
            lacking.cancel()
        self._conductor.agent_ended(agent)

    def __repr__(self) -> str:
        return f"<Runtime: tick {self.tick}, {len(self._agents)} agents, {self.host} host>"


def _require_agent(agent: object, method: str) -> None:
    """Tell an author who slipped what was meant."""
    if isinstance(agent, Agent):
        return
    problem, remedy = f"{repr_of(agent, 80)} is no agent.", "Make one of it: Agent(entity, actions=[...])."
    if isinstance(agent, type):
        problem, remedy = f"{agent.__name__} is a class.", f"Write {agent.__name__}(...)."
    elif callable(getattr(type(agent), "drive", None)):
        remedy = "A driver belongs to an agent: Agent(entity, drivers=[driver])."
    raise DefinitionError(method, problem, remedy)


def _checked_restart(restart: object) -> Restart | None:
    if restart is None or isinstance(restart, Restart):
        return restart
    raise ValueError(
        f"restart is {repr_of(restart, 80)}: give a policy, such as Restart(first=1.0), or None, by which who gives up "
        f"is killed"
    )


def _is_duration(seconds: object) -> bool:
    is_number = isinstance(seconds, (int, float)) and not isinstance(seconds, bool)
    return is_number and 0 < seconds < math.inf  # type: ignore[operator]


# --- agents that nobody added anywhere --------------------------------------------------------------------------------

_shared: dict[object, Runtime] = {}  # by event loop


@runs_alone
async def run_alone(agent: Agent) -> None:
    """Run an agent that is in no runtime, beside the others that run like this on the same event loop.

    So ``asyncio.gather(wolf.run(), hare.run())`` has both live on one clock, with random streams of their own. The
    shared runtime is made for the first of them, and closed when the last has ended; nothing is left between.
    """
    await step_outside()
    loop = current_loop()
    runtime = _shared.get(loop) or Runtime()
    if loop is not None:
        _shared[loop] = runtime
    runtime.add(agent)
    is_thrown_away = False
    try:
        await runtime.run_agent(agent)
    except GeneratorExit:
        is_thrown_away = True  # nothing can be awaited any more, so nothing is closed
        raise
    finally:
        if not runtime.is_driven:
            _shared.pop(loop, None)
            if not is_thrown_away:
                await runtime.aclose("its last agent ended")
