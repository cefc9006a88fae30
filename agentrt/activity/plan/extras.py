"""What only few units have, made when first needed, so that the many cost nothing for it.

``Extras`` owns it, and one rule says when each thing ends:

* listeners and timers that were opened while thinking, when thinking stops; later ones, when the action stops. While
  one of the former is open, or a spawned frame thinks, a think that has returned may still be answered for;
* a protection, as long as the unit thinks, or is started and does not run yet;
* spawned frames, when the thinking of an action that is not elected stops, or the action does;
* limits, candidates and a place in line, with the thinking that they are for.

*Candidates.* The first choice of ``ctx.candidates`` is the think output; when what was made of a choice is rejected,
the next takes its place (``compound`` decides whom to ask). The iterator is the author's own code: it is advanced here
and nowhere else, and only when a choice is needed.

*Protected entities.* Those among the arguments of an activity are protected by themselves, others by
``ctx.protect_argument``. The loss of one is a rejection while an action thinks or is ready, and aborts the plan while
it is started and does not run yet. An action that runs is left alone: it may be the one that destroys it. What is gone
already is lost when it is to be protected; an argument that went while an action did not think, when it begins to.
Whatever has a ``destroyed`` signal is protected, also inside containers, dataclasses and records as they are when
thinking begins, down to ``_DEEPEST``; what lies inside an entity is its own affair. Beyond ``_MOST`` values nothing is
looked for: a container of thousands is a map or a path, and nobody should pay for it with each thought. They are
counted for each argument and by whole levels, so that the order of a set decides nothing.

*Asking again.* Rejected arguments and refused starts are asked again after a delay (``Backoff``); a no that repeats
more than a few times is a storm, which the trace tells. Who said no because somebody else has a lease also waits in
line for it (``line_up``), and thinks again at once when it is its turn. It keeps its place however often it is asked in
vain, also while it stops thinking only to think again (``keep_place``, ``restore_place``): so those who wait for one
thing get it in the order in which they came.

Source: Stonehearth, AI: `reject`, `protect_argument`, `unprotect_argument`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Protocol

from agentrt.activity.author.arguments import PLAIN, inner_values
from agentrt.activity.author.context import undeclared
from agentrt.activity.author.control import ends_thinking
from agentrt.activity.states import READY, STARTED, THINKING
from agentrt.body.entity import destroyed_signal, is_gone
from agentrt.errors import ENDS_PROGRAM
from agentrt.kernel.trace import TraceEvent
from agentrt.kernel.traps import Waiter
from agentrt.words import repr_of, words_of

if TYPE_CHECKING:
    from agentrt.activity.author.seat import Opened
    from agentrt.activity.plan.tree import Frame, Unit
    from agentrt.body.leases import LeaseRefusal, Place
    from agentrt.kernel.kernel import Kernel, Timer
    from agentrt.kernel.signals import Connection

__all__ = [
    "Backoff",
    "Extras",
    "Protection",
    "entities_in",
    "first_gone",
    "hold_no_entities",
    "keep_place",
    "line_up",
    "offer",
    "offer_next",
    "protect_arguments",
    "restore_place",
    "stop_run",
]


def _give(unit: Unit, choice: object) -> bool:
    """Make a choice the think output of an action; False if what made it lost an entity that the action needs."""
    fields, spec = _checked(choice), unit.spec
    if spec.output_type is not None:
        output: object = spec.output_type.build(spec.output_label, fields)
    else:
        output = unit.frame.args if not fields else undeclared(spec, fields)
    if unit.state != THINKING and unit.state != READY:
        return False
    unit.set_output(output)
    return True


def offer(unit: Unit, choices: Iterable[Mapping[str, Any]]) -> bool:
    """Offer the first of several choices; whether there is one. Called on the author's stack."""
    extras = unit.own_extras()
    extras.candidates = None
    extras.cuts = 0
    iterator = iter(choices)
    for choice in iterator:
        if _give(unit, choice):
            extras.candidates = iterator
        return True
    return False


def offer_next(unit: Unit, iterator: Iterator[Mapping[str, Any]]) -> bool:
    """Offer the next choice, if one is left; whether it is, or the author's code ended the thinking in another way."""
    offered: list[Any] = []

    def advance() -> None:
        for choice in iterator:
            offered.append(choice)
            _give(unit, choice)
            return

    if ends_thinking(unit, "candidates", advance) or offered:
        return True
    assert unit.extras is not None
    unit.extras.candidates = None
    return False


def _checked(choice: Any) -> dict[str, Any]:
    if not isinstance(choice, Mapping) and not hasattr(choice, "keys"):
        raise TypeError(
            f"candidates() was given the choice {repr_of(choice)}: each is a mapping of output fields, such as "
            f"{{'item': log}}"
        )
    return {name: choice[name] for name in choice.keys()}  # noqa: SIM118 - a think output is no mapping


_PLAIN: Final[set[type]] = set(PLAIN)  # and what ``hold_no_entities`` was told
_CONTAINERS: Final = frozenset({dict, frozenset, list, set, tuple})
_DEEPEST: Final = 8  # lists within lists
_MOST: Final = 10_000  # values that are looked at in one argument
_LONGEST: Final = 100  # characters of an entity's name


def hold_no_entities(kind: type) -> None:
    """Values of a type of the library's own, given as an argument, need not be looked into for entities."""
    _PLAIN.add(kind)


class Protection:
    """The watch over the arguments of one activity."""

    __slots__ = ("_connections", "missing")

    def __init__(self, frame: Frame, entities: list[Any]) -> None:
        gone = first_gone(entities)
        # the name of an argument's entity that was destroyed, before or meanwhile; None while all are there
        self.missing: str | None = None if gone is None else _name(gone)
        self._connections: list[Connection] = [] if gone is not None else [watch(frame, one, None) for one in entities]

    def release(self) -> None:
        """Watch no more."""
        for connection in self._connections:
            connection.close()


def protect_arguments(frame: Frame) -> Protection | None:
    """Watch the entities among the arguments of an activity; None if there is nothing to be watched."""
    found: list[Any] | None = None
    args = frame.args
    # A dict as it is: that of the record, or what nobody checked because nobody performs the activity.
    for value in (args if args.__class__ is dict else args.__dict__).values():
        if type(value) in _PLAIN:
            continue
        entities = entities_in(value)
        if entities:
            found = [*entities] if found is None else [*found, *entities]
    if found is None:
        return None
    protection = Protection(frame, found)
    if protection.missing is not None and frame.planner.trace.on:
        frame.note(TraceEvent.REJECT, reason=f"the entity {protection.missing} is destroyed")
    return protection


def entities_in(value: object) -> Collection[Any]:
    """The entities that a value is or holds, each once."""
    if destroyed_signal(value) is not None:
        return (value,)
    found: list[Any] = []
    seen: dict[int, object] = {id(value): value}
    level, left = _inside(value), _MOST
    for _ in range(_DEEPEST):
        left -= len(level)
        if left < 0 or _PLAIN.issuperset(map(type, level)):
            break
        deeper: list[Any] = []
        for one in level:
            if type(one) in _PLAIN or id(one) in seen:
                continue
            seen[id(one)] = one
            if destroyed_signal(one) is not None:
                found.append(one)
            else:
                deeper.extend(_inside(one))
        level = deeper
    return found


def _inside(value: Any) -> Collection[Any]:
    try:
        if type(value) in _CONTAINERS and len(value) > _MOST:
            return ()
        return inner_values(value)
    except ENDS_PROGRAM:
        raise
    except BaseException:  # an author's own, that cannot be looked into: nobody can protect what is in there
        return ()


def meant(frame: Frame, value: object) -> Collection[Any]:
    """The entities that an author means who protects something: it is or holds them, or names an argument."""
    args = frame.args
    if isinstance(value, str) and args is not None and value in args:
        value = args[value]
    return entities_in(value)


def first_gone(entities: Iterable[Any]) -> Any:
    """The first by its name of those that were destroyed, in whichever order they come; None while all are there."""
    return min((one for one in entities if is_gone(one)), key=_name, default=None)


def watch(frame: Frame, entity: object, only: Unit | None) -> Connection:
    """Call ``lost`` when an entity is destroyed."""
    destroyed = destroyed_signal(entity)
    assert destroyed is not None
    return destroyed.connect(lambda _gone: lost(frame, entity, only))


def lost(frame: Frame, entity: object, only: Unit | None) -> None:
    """A protected entity was destroyed: of one unit, or of the arguments, which concerns all units."""
    name = _name(entity)
    if only is None and frame.protection is not None and frame.protection.missing is None:
        frame.protection.missing = name
    for unit in list(frame.units):
        if only is not None and unit is not only:
            continue
        if unit.extras is not None and unit.extras.is_unprotected(entity):
            continue
        if unit.state in (THINKING, READY):
            unit.lose(name)
        elif unit.state == STARTED:
            frame.execution.abort(f"the entity {name} was destroyed", unit)


def _name(entity: object) -> str:
    try:
        name = getattr(entity, "name", entity)
    except ENDS_PROGRAM:
        raise
    except BaseException:  # a property of the author's that does not work for this one
        name = entity
    return words_of(name, _LONGEST)


_FIRST: Final = 0.02  # game seconds before the first repeat: the 20 ms of Stonehearth's `reject`
_LONGEST_WAIT: Final = 2.0  # game seconds between repeats at most
_STORM: Final = 4  # how many times the delay was doubled before repeats are a storm


class Backoff:
    """The repeats of one asker: how long the next delay is, and the timer while one runs."""

    __slots__ = ("_timer", "delay")

    def __init__(self) -> None:
        self.delay: float = _FIRST  # game seconds of the next delay
        self._timer: Timer | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether a delay runs."""
        return self._timer is not None

    @property
    def due(self) -> int:
        """The tick in which it is asked again; 0 while no delay runs."""
        return 0 if self._timer is None or not isinstance(self._timer.waiting, int) else self._timer.waiting

    @property
    def is_storm(self) -> bool:
        """Whether the delay has been doubled so often that the repeats are a storm."""
        return self.delay >= _FIRST * 2**_STORM

    def reset(self) -> None:
        """It said yes: the next delay is the first again."""
        self.delay = _FIRST

    def wait(self, kernel: Kernel, then: Callable[..., object], *args: Any) -> None:
        """Call a function after the delay; the next one is twice as long, up to the longest."""

        def due() -> None:
            self._timer = None
            then(*args)

        self._timer = kernel.call_later(max(1, kernel.clock.ticks(self.delay)), due)
        self.delay = min(self.delay * 2, _LONGEST_WAIT)

    def cancel(self) -> None:
        """Do not ask again."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class Below(Protocol):
    """An activity that an action spawned."""

    frame: Frame  # its place in the plan

    def end(self) -> None:
        """Stop it on the caller's stack."""

    def lost(self) -> None:
        """Its plan is unwound, and it will never be over: tell who awaits it, if nothing else does."""


@dataclass(slots=True, eq=False, repr=False)
class Extras:
    """The rare possessions of one unit."""

    progress: str = ""  # what ``set_debug_progress`` said
    reason: str = ""  # why it is not possible now, unless it rejected or just found nothing; empty otherwise
    status: tuple[str, dict[str, Any]] | None = None  # the status text key and its arguments, if the action set one
    debug: dict[str, Any] = field(default_factory=dict)  # the author's own debugging data
    suspension: Waiter | None = None  # the wait of ``suspend``, while it lasts
    resumption: tuple[Any] | None = None  # what the next wait returns at once, because ``resume`` came before it
    _is_late: bool = False  # whether the last wait was given up: its resume may still come
    execute: Frame | None = None  # the spawned frame whose end ``run`` awaits at this moment
    spawned: tuple[Below, ...] = ()  # whose frames think or run
    candidates: Iterator[Mapping[str, Any]] | None = None  # the choices that are left of ``ctx.candidates``
    timeout: Timer | None = None  # the limit of its thinking
    step_timeouts: dict[int, Timer] | None = None  # the limits of steps that think, by number
    cuts: int = 0  # how often its thinking was stopped before it had an answer, since it had one
    cut_reason: str = ""  # why, the last time
    cut_since: int = 0  # the tick in which the first of these thoughts began
    kept_since: int = 0  # the tick in which the thinking began that was kept over the end of a plan; 0 for no such
    awaits_flags: bool = False  # whether it runs, but waits for its control flags
    was_kept_waiting: bool = False  # whether it runs now, and had to wait for them
    awaits: object | None = None  # the performance of which ``run`` awaits the end at this moment
    unwinding: Callable[[], object] | None = None  # called when ``run`` is told to stop, by whoever has it stand still
    place: Place | None = None  # its place in the line for a lease, while it waits in one
    refusal: LeaseRefusal | None = None  # the lease because of which it rejected its arguments, until it is asked anew
    backoff: Backoff = field(default_factory=Backoff)  # for when it refuses to be started
    _while_thinking: list[Opened] = field(default_factory=list)
    _while_running: list[Opened] = field(default_factory=list)
    _protected: list[tuple[Any, Connection]] = field(default_factory=list)
    _exempt: list[Any] = field(default_factory=list)

    def asked_anew(self) -> None:
        """Its think begins. Only now: until it is asked again, tools tell why it was not ready."""
        self.reason = ""
        self.refusal = None

    def keep(self, opened: Opened, *, is_thinking: bool) -> None:
        """Close something when the unit stops thinking, or when it stops."""
        (self._while_thinking if is_thinking else self._while_running).append(opened)

    def let_go(self, unit: Unit, opened: Opened) -> None:
        """Something was closed before."""
        for kept in (self._while_thinking, self._while_running):
            if opened in kept:
                kept.remove(opened)
                unit.something_closed()

    def protect(self, unit: Unit, value: object) -> None:
        """Watch an entity, those that a value holds, or those of a named argument; what is gone is lost at once."""
        entities = meant(unit.frame, value)
        for entity in entities:
            self._exempt = [kept for kept in self._exempt if kept is not entity]
        gone = first_gone(entities)
        if gone is not None:
            lost(unit.frame, gone, unit)
            return
        for entity in entities:
            if not any(kept is entity for kept, _ in self._protected):
                self._protected.append((entity, watch(unit.frame, entity, unit)))

    def unprotect(self, unit: Unit, value: object) -> None:
        """Do not watch it any more."""
        for entity in meant(unit.frame, value):
            self._exempt.append(entity)
            for kept, connection in self._protected:
                if kept is entity:
                    connection.close()
            self._protected = [(kept, connection) for kept, connection in self._protected if kept is not entity]

    def is_unprotected(self, entity: object) -> bool:
        """Whether protection was taken from an entity."""
        return any(kept is entity for kept in self._exempt)

    # --- suspend and resume -------------------------------------------------------------------------------------------

    def suspend(self) -> Waiter:
        """A wait of ``suspend`` begins."""
        self._is_late = False
        self.suspension = waiter = Waiter()
        return waiter

    def unsuspend(self, waiter: Waiter) -> None:
        """It is over."""
        if self.suspension is waiter:
            self.suspension = None
            self._is_late = not waiter.was_notified

    def resume(self, value: object) -> bool:
        """End the wait, or the next one before it begins; whether there was, or will be, something to end."""
        if self.suspension is not None:
            return self.suspension.notify(value)
        if self._is_late or self.resumption is not None:
            self._is_late = False
            return False
        self.resumption = (value,)
        return True

    # --- spawned frames -----------------------------------------------------------------------------------------------

    def frames(self) -> tuple[Frame, ...]:
        """The spawned frames that think or run."""
        return tuple(one.frame for one in self.spawned)

    # --- the end ------------------------------------------------------------------------------------------------------

    @property
    def may_answer(self) -> bool:
        """Whether something that was opened while thinking may still make the action ready, or take that back."""
        return bool(self._while_thinking) or any(not one.frame.is_hopeless for one in self.spawned)

    def waits(self) -> str:
        """What was opened while thinking and may still answer, in words."""
        found: dict[tuple[str, str], int] = {}
        for one in self._while_thinking:
            found[one.words] = found.get(one.words, 0) + 1
        frames = sum(not one.frame.is_hopeless for one in self.spawned)
        if frames:
            found["an activity that it spawned", "activities that it spawned"] = frames
        return " and ".join(one if count == 1 else f"{count} {many}" for (one, many), count in found.items())

    def thinking_stopped(self, *, is_started: bool) -> None:
        """Close what was opened while thinking; and unless the unit was elected, its protections and frames."""
        _close(self._while_thinking)
        self.candidates = None
        self.kept_since = 0
        self.leave_line()
        if self.timeout is not None:
            self.timeout.cancel()
            self.timeout = None
        for limit in (self.step_timeouts or {}).values():
            limit.cancel()
        self.step_timeouts = None
        if not is_started:
            for one in self.spawned[::-1]:
                one.end()
            self._unprotect_all()
            self.status = None

    def leave_line(self) -> None:
        """Give up its place in the line for a lease, if it has one."""
        if self.place is not None:
            self.place.close()
            self.place = None

    def stopped(self) -> None:
        """Close the rest."""
        self.thinking_stopped(is_started=False)
        _close(self._while_running)
        self.suspension = None
        self.resumption = None
        self._is_late = False
        self.progress = ""
        self.awaits_flags = self.was_kept_waiting = False
        self.unwinding = None

    def _unprotect_all(self) -> None:
        for _, connection in self._protected:
            connection.close()
        self._protected.clear()
        self._exempt.clear()


def _close(kept: list[Opened]) -> None:
    opened = kept[:]
    kept.clear()  # first: nothing may still answer, and nobody is to be told that it may not any more
    for one in opened:
        one.close()


def stop_run(unit: Unit, reason: str) -> None:
    """Have the strand of a unit's ``run`` end; whoever has it stand still lets it go.

    What it executes was stopped before. Behind a shield it would wait for that for ever: it is told.
    """
    if unit.running is not None:
        unit.running.stop(reason)
    extras = unit.extras
    if extras is not None:
        if extras.unwinding is not None:
            extras.unwinding()
        for one in extras.spawned:
            if one.frame is extras.execute:
                one.lost()


def line_up(unit: Unit, refusal: LeaseRefusal) -> None:
    """Have a unit wait in line for what it could not have; if it does already, it keeps its place."""
    extras = unit.own_extras()
    place = extras.place
    if place is not None:
        if place.is_open and place.thing is refusal.thing and place.owner is refusal.owner:
            return
        place.close()
    extras.place = refusal.book.line_up(refusal.thing, refusal.owner, unit.turn_has_come)


def keep_place(unit: Unit) -> Place | None:
    """Take a unit's place in line from it, so that it does not lose it while it stops thinking, to think again."""
    if unit.extras is None:
        return None
    place, unit.extras.place = unit.extras.place, None
    return place


def restore_place(unit: Unit, place: Place | None) -> None:
    """Give it back."""
    if place is not None:
        unit.own_extras().place = place
