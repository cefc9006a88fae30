"""The candidates for one place of a plan: who they are, whose thoughts are kept, who is elected, how it takes over.

*Election.* The highest utility wins; equals are drawn by weight from the agent's own stream. Once the elected unit has
run for half a second of game time, its boost counts. While it runs, only units whose utility could exceed its own go on
thinking (``adjust``). To *switch*, the old unit unwinds first: the strands under it end, innermost first, then its
``stop`` hooks run, and only then is the new one started; all in one tick, unless a clean-up takes longer. Who is best
is asked again after the unwinding (``unwound``), since the better one may have withdrawn meanwhile. An agent may switch
only so often within one tick: two actions that overtake each other by their own doing wait for the next, and the trace
has a storm. A unit that *refuses* to be started is out for now, the next best takes its place, and it thinks again
after a delay, or as soon as the lease is free because of which it refused.

*What an agent knows*: its actions by activity, in an index that agents share who know the same. All actions of one
activity take the same arguments. What a compound gives a step must fit them, as far as it is known before anything
runs; what it reads of a step's think output must be declared by every known action of that step. All of it is checked
when actions are learned, the earliest moment at which it can be known.

*Kept thoughts.* By default every action is asked anew with each plan, and one that cannot beat what is elected stops
thinking until that is over. So a thought of one second beside an action that ends every half second is never finished.
Two things are done about it:

* Nobody starves in silence. Thinking that was stopped before it had an answer is counted, with the reason and since
  when, until it has one (``note_cut``); snapshots and explanations tell.
* An action that declares ``asks = "when changed"`` keeps its thinking, be it ready or not. At a place that goes on, it
  simply thinks on. Where the place itself is stopped, because a plan has run to its end or the compound around it could
  not beat what was elected (``Execution.renewing``), the unit is *set aside* (``set_aside``): it stays in its state, at
  its place, with its arguments and their protection, though the place is idle and looks at nothing that it says. When
  the place thinks again it is brought back (``bring_back``), if it is still true what it was asked: equal arguments,
  nothing in CURRENT that a step before has written, and the same actions known for that place. Else it begins anew, as
  does one that is not possible any more.

Not kept, since the tree around it is not the same: over an abort, an interruption of the plan that it is a part of, and
the end of the agent; below a frame of ``ctx.spawn`` or ``ctx.execute``, and in what is performed beside the plan; when
the compound around it takes it back by itself, because a step before it has something else or rejected. What was aside
when a plan ended and is not taken up until the next one ends is stopped then (``Execution.stale``).

Kept in sync: a place with units set aside is idle, is in ``Execution.asides``, and has its ``args``, ``expected`` and
``protection``; an idle place has none of these otherwise.

Source: Stonehearth, AI: "Comparing plans", "Utility", "Injecting actions". Refusing at start and keeping are ours.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from agentrt.activity.author.expected import has_changes
from agentrt.activity.author.utility import DECIMALS, draw
from agentrt.activity.plan.extras import keep_place, line_up, restore_place
from agentrt.activity.states import FINISHED, IDLE, IMPOSSIBLE, READY, RUNNING, STARTED, SWITCHING, THINKING
from agentrt.body.leases import refusal_of
from agentrt.errors import ENDS_PROGRAM, ArgumentError, DefinitionError, PlaceholderError, did_you_mean
from agentrt.kernel.trace import TraceEvent
from agentrt.words import class_name, error_words

if TYPE_CHECKING:
    from agentrt.activity.author.action import Action, ActionSpec
    from agentrt.activity.author.expected import Current
    from agentrt.activity.plan.tree import Frame, Unit

__all__ = [
    "adjust",
    "begin_anew",
    "best_ready",
    "boosted",
    "bring_back",
    "check_group",
    "comes_too_late",
    "end_asides",
    "index_actions",
    "learn",
    "note_cut",
    "refuse",
    "relearn_asides",
    "renew",
    "set_aside",
    "switch",
    "take_up",
    "try_again",
    "unwound",
]

Known = Mapping[str, tuple["ActionSpec", ...]]
"""Activity to the actions that perform it, in the order in which they were learned."""

_MOST_INDEXES = 1024

_indexes: dict[tuple[type[Action], ...], Known] = {}
_relabels: dict[tuple[ActionSpec, str], ActionSpec] = {}


def index_actions(actions: Iterable[type[Action]]) -> Known:
    """Sort actions by activity and check them against each other. Agents that know the same share one index.

    Raises:
        DefinitionError: actions of one activity take different arguments.
        PlaceholderError: a step is given arguments that its activity does not take, or a compound reads a field that an
            action of the step does not give.
    """
    key = tuple(dict.fromkeys(actions))
    found = _indexes.get(key)
    if found is None:
        index: dict[str, list[ActionSpec]] = {}
        for cls in key:
            spec = getattr(cls, "spec", None)
            if spec is None:
                raise DefinitionError(class_name(cls), "it has no 'does'.", "Name the activity that it performs.")
            if spec.kind not in ("leaf", "compound"):
                raise DefinitionError(
                    spec.subject,
                    f"it is a {spec.kind}, and nothing to be known as an action.",
                    "Make a TaskGroup of a task group action and add the agent to it, or name it in a pack under "
                    "'task_groups'.",
                )
            index.setdefault(spec.activity, []).append(spec)
        found = {activity: _told_apart(specs) for activity, specs in index.items()}
        for specs in found.values():
            _check_args(specs)
        for specs in found.values():
            for spec in specs:
                _check_calls(spec, found)
                _check_outputs(spec, found)
        if len(_indexes) >= _MOST_INDEXES:
            _indexes.clear()  # classes that are made at run time must not be kept for ever
        _indexes[key] = found
    return found


def _told_apart(specs: list[ActionSpec]) -> tuple[ActionSpec, ...]:
    """Two classes of one name perform one activity: give the later one a label of its own, since paths are ids."""
    labels: dict[str, int] = {}
    apart: list[ActionSpec] = []
    for spec in specs:
        number = labels[spec.label] = labels.get(spec.label, 0) + 1
        apart.append(spec if number == 1 else _relabeled(spec, f"{spec.label}#{number}"))
    return tuple(apart)


def _relabeled(spec: ActionSpec, label: str) -> ActionSpec:
    """The same with another label; the same object each time, so that who learns more does not lose what it runs."""
    found = _relabels.get((spec, label))
    if found is None:
        if len(_relabels) >= _MOST_INDEXES:
            _relabels.clear()
        found = _relabels[spec, label] = copy.copy(spec)
        found.label = label
    return found


def _check_args(specs: tuple[ActionSpec, ...]) -> None:
    first = specs[0]
    for other in specs[1:]:
        if other.cls.Args.signature() != first.cls.Args.signature():
            raise DefinitionError(
                other.subject,
                f"it performs '{first.activity}' with the arguments {other.cls.Args.describe()}, but {first.subject} "
                f"with {first.cls.Args.describe()}.",
                "All actions of one activity take the same arguments: share one Args class.",
            )


def _check_calls(spec: ActionSpec, index: Known) -> None:
    """What a compound gives its steps, as far as it is known now."""
    for number, step in enumerate(spec.steps or (), 1):
        performers = index.get(step.activity)
        if not performers:
            continue
        try:
            performers[0].cls.Args.check_call(step.activity, step.constants, [field for field, _ in step.bound])
        except ArgumentError as error:
            raise PlaceholderError(
                spec.subject,
                number,
                error.argument,
                f"the activity does not take it: {error.text}",
                "Correct the step.",
            ) from error


def _check_outputs(spec: ActionSpec, index: Known) -> None:
    for number, fields in spec.uses.items():
        if number == 0 or spec.steps is None:
            continue
        step = spec.steps[number - 1]
        for performer in index.get(step.activity, ()):
            given = performer.output_fields()
            for field in fields:
                if field and field not in given:
                    raise PlaceholderError(
                        spec.subject,
                        number,
                        field,
                        f"a later step reads it, but {performer.subject}, which performs '{step.activity}', gives no "
                        f"such output.{did_you_mean(field, given)}",
                        f"Declare it in its Output; it gives: {', '.join(given) or 'nothing'}.",
                    )


def check_group(index: Known, spec: ActionSpec) -> None:
    """A task group takes no arguments: nor may the actions that perform the same activity.

    Raises:
        DefinitionError: they take some.
    """
    _check_args((spec, *index.get(spec.activity, ())))


def learn(frame: Frame) -> None:
    """Make units for actions that the agent has learned since, and let go of idle ones that it forgot."""
    planner = frame.planner
    frame.version = planner.version
    specs = frame.performers()
    kept = {unit.spec: unit for unit in frame.units}
    units = [kept.get(spec) or planner.make_unit(frame, spec) for spec in specs]
    frame.units = [unit for unit in units if unit is not None]
    frame.has_filter = any(spec.has_filter for spec in specs)
    frame.keeps = keeps_thinking(frame)


def take_up(frame: Frame) -> Unit | None:
    """The agent's knowledge changed: let units of forgotten actions go, and have those of new ones think.

    Returns:
        The elected unit, if it is started and was forgotten: the plan around it has to be unwound.
    """
    if frame.state == IDLE or frame.version == frame.planner.version:
        return None
    before, had_filter = frame.units, frame.has_filter
    learn(frame)
    now, known = set(frame.units), set(before)  # a task group may have thousands
    gone = [unit for unit in before if unit not in now]
    lost = None
    for unit in gone:
        if unit.state >= STARTED:
            lost = None if unit.state == FINISHED else unit
            frame.units.append(unit)  # until the plan is unwound; then it learns again
            frame.version = -1
        elif unit.state != IDLE:
            unit.end_thinking()
    if frame.state in (THINKING, READY):
        if had_filter or frame.has_filter or not before:
            begin_anew(frame)  # while nobody performed it, nobody could say whether its arguments fit
        else:
            frame.begin_late([unit for unit in frame.units if unit not in known])
    elif frame.active is not None:
        adjust(frame)
    return lost


def begin_anew(frame: Frame) -> None:
    """A filter came or went: have a place think from the beginning.

    If what it was given does not fit those who can perform it now, what it is for is not possible.
    """
    args, expected, was_ready = dict(frame.args), frame.expected, frame.state == READY  # ``stop`` forgets them
    try:
        frame.stop()
        if was_ready:
            frame.owner.frame_unready(frame)
        frame.begin(args, expected)
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        unit, execution = frame.parent, frame.execution
        place = f"step {frame.index} ({frame.activity})" if frame.index else f"the activity {frame.activity}"
        if unit is not None and unit.state in (THINKING, READY):
            unit.disable(place, error)
        else:
            frame.planner.fault(unit, place, error)
            execution.abort(f"{place} raised {error_words(error)}", unit)


ENDED: Final = "a plan ended"
_OUTDONE: Final = "another action was elected that it could not beat"
_DONE: Final = "another action has done that step"


def keeps_thinking(frame: Frame) -> bool:
    """Whether a place has actions that keep their thinking, and will be there when the next plan is thought."""
    if not any(unit.spec.keeps for unit in frame.units):
        if frame.aside is not None:
            end_asides([frame])
        return False
    node = frame
    while node.parent is not None and node.index:  # what is spawned has no index, and is made anew each time
        node = node.parent.frame
    execution = frame.planner.execution
    if node is not execution.root:
        return False
    execution.keeps = True
    return True


def renew(frame: Frame) -> None:
    """A plan has run to its end: stop it, but for those who keep their thinking."""
    execution = frame.execution
    if execution.stale:
        end_asides(execution.stale.copy())
    execution.renewing = ENDED
    try:
        frame.stop()
    finally:
        execution.renewing = ""
    execution.stale = execution.asides.copy()


def set_aside(frame: Frame) -> list[Unit]:
    """A plan has run to its end: set units aside that keep their thinking; the others, which are to be stopped."""
    kept = [unit for unit in frame.units if unit.spec.keeps and unit.state in (THINKING, READY)]
    if not kept or frame.version != frame.planner.version:
        return frame.units
    for unit in kept:
        unit.own_extras().kept_since = _since(unit)
        unit.round_is_over()
    frame.aside = kept
    frame.execution.asides.append(frame)
    return [unit for unit in frame.units if unit not in kept]


def outdone(frame: Frame, unit: Unit) -> None:
    """A unit cannot beat what is elected: it stops thinking; below it some may keep theirs."""
    execution = frame.execution
    if frame.state == FINISHED:
        execution.renewing = _DONE if frame.index else ENDED
    else:
        execution.renewing = _OUTDONE
    try:
        unit.end_thinking()
    finally:
        execution.renewing = ""


def bring_back(frame: Frame, args: Any, expected: Current | None) -> list[Unit]:
    """A place thinks again: who was set aside goes on, if what it was asked is still true; the others are returned."""
    if frame.aside is None:
        return frame.units
    kept = _bring_back(frame)
    is_same = _is_untouched(frame.expected) and _is_untouched(expected) and _are_equal(frame.args, args)
    for unit in kept:
        if not is_same or unit.state not in (THINKING, READY):
            unit.end_thinking("its arguments are others now")
    return [unit for unit in frame.units if unit.state == IDLE]


def _bring_back(frame: Frame) -> list[Unit]:
    """Who was set aside at a place, which is not in the books of those any more."""
    execution = frame.execution
    kept, frame.aside = frame.aside or [], None
    execution.asides.remove(frame)
    if frame in execution.stale:
        execution.stale.remove(frame)
    if frame.protection is not None:
        frame.protection.release()
        frame.protection = None
    return kept


def end_asides(frames: list[Frame]) -> None:
    """Stop what was set aside and not taken up."""
    for frame in frames:
        for unit in _bring_back(frame):
            unit.end_thinking("its place in the plan was not come to again")
        frame.args = frame.expected = None


def relearn_asides(frames: list[Frame]) -> None:
    """The agent learned or forgot actions: stop what was set aside where others are known now."""
    for frame in frames:
        if tuple(unit.spec for unit in frame.units) != tuple(frame.performers()):
            end_asides([frame])


def note_cut(unit: Unit, why: str) -> None:
    """The thinking of a unit is stopped before it had an answer; ``why``, if who stops it knows a reason."""
    extras, execution = unit.own_extras(), unit.frame.execution
    if not extras.cuts:
        extras.cut_since = _since(unit)
    extras.cuts += 1
    if why:
        extras.cut_reason = why
    elif execution.renewing:
        extras.cut_reason = execution.renewing
    elif execution.is_aborting:
        extras.cut_reason = "the plan was aborted"
    else:
        extras.cut_reason = ENDED if execution.root.state == FINISHED else "the plan around it was thought again"


def _since(unit: Unit) -> int:
    """The tick in which its thinking began: with all others of its place, or by itself after them."""
    kept = 0 if unit.extras is None else unit.extras.kept_since
    return kept or max(unit.since, unit.frame.since)


def _is_untouched(expected: Current | None) -> bool:
    return expected is None or not has_changes(expected, None)


def _are_equal(before: Any, now: Any) -> bool:
    if before is now:
        return True
    try:
        return bool(before == now)
    except ENDS_PROGRAM:
        raise
    except BaseException:  # values of the author's that cannot be compared: nobody knows, so it is asked anew
        return False


_NOBODY = 2.0  # a bar that no utility can exceed: the greatest is 1


def best_ready(frame: Frame, *, is_patient: bool = False) -> Unit | None:
    """The ready unit with the highest utility, or None; equals are drawn by weight.

    A plan of which a step has changed in this moment does not count: it says in the same tick whether it is ready
    still. If ``is_patient``, such a plan is waited for when it is better than all others. In a plan that was started,
    an action does not count for a step that others come after if it, or the one that was elected, expects a changed
    entity: those were planned for what the elected one expects.
    """
    best: Unit | None = None
    equals: list[Unit] | None = None
    top = unsettled = -1.0
    is_planned = frame.state >= STARTED and frame.index > 0 and _has_steps_after(frame)
    for unit in frame.units:
        if unit.state != READY:
            continue
        utility = unit.utility
        if utility < top or (is_planned and _changes_too_much(frame, unit)):
            continue
        if unit.spec.steps is not None and not unit.is_settled():
            unsettled = max(unsettled, utility)
        elif utility > top:
            best, top, equals = unit, utility, None
        elif equals is not None:
            equals.append(unit)
        elif best is not None:
            equals = [best, unit]
    if is_patient and unsettled > top:
        return None
    if equals is None:
        return best
    return draw(equals, [unit.spec.weight for unit in equals], frame.planner.random)


def comes_too_late(frame: Frame, unit: Unit) -> bool:
    """Whether a unit does not count, because the steps after it were planned for another state of the entity."""
    is_planned = frame.state >= STARTED and frame.index > 0 and _has_steps_after(frame)
    return is_planned and _changes_too_much(frame, unit)


def _changes_too_much(frame: Frame, unit: Unit) -> bool:
    """Whether the steps after it would find another state of the entity than that for which they were planned."""
    return _changes(frame, unit) or (frame.active is not None and _changes(frame, frame.active))


def _has_steps_after(frame: Frame) -> bool:
    """Whether steps of the plan come after it, beside it or further up."""
    node = frame
    while node.index and node.parent is not None:
        steps = node.parent.spec.steps
        if steps is not None and node.index < len(steps):
            return True
        node = node.parent.frame
    return False


def _changes(frame: Frame, unit: Unit) -> bool:
    layer = unit.expected()
    return layer is not None and layer is not frame.expected and has_changes(layer, frame.expected)


def boosted(frame: Frame) -> float:
    """The utility of the elected unit, with its boost once it has run for a while."""
    active = frame.active
    assert active is not None
    if active.state == RUNNING:
        planner = frame.planner
        if planner.kernel.clock.tick - active.since >= planner.sunk_ticks:
            return round(active.utility + active.spec.boost, DECIMALS)
    return active.utility


def adjust(frame: Frame) -> None:
    """While a unit is started: let think who could beat it, and nobody else but who keeps its thinking."""
    active = frame.active
    assert active is not None
    bar = _NOBODY if frame.is_bound or frame.state == FINISHED else active.utility
    idle: list[Unit] | None = None
    keeps = frame.execution.keeps
    for unit in frame.units:
        if unit is active:
            continue
        state = unit.state
        spec = unit.spec
        if spec.high > bar:
            if state == IDLE:
                if idle is None:
                    idle = []
                idle.append(unit)
        elif state == READY and not keeps:
            unit.end_thinking()  # as most do
        elif (state == READY or state == THINKING) and not (unit.spec.keeps and frame.keeps):
            outdone(frame, unit)
    if idle is not None:
        frame.begin_late(idle)
    if frame.is_choosy:
        frame.look_further()


def try_again(frame: Frame, unit: Unit, number: int) -> None:
    """Have a unit think again that refused to be started, in the round of that number."""
    if number != frame.round or unit.state != IMPOSSIBLE or unit not in frame.units or frame.state in (IDLE, FINISHED):
        return
    place = keep_place(unit)
    unit.end_thinking()
    restore_place(unit, place)
    if frame.active is not None and frame.state != READY:
        adjust(frame)
        if unit.state == IDLE and place is not None:
            place.close()  # it could not beat what runs, and is not asked
    else:
        frame.begin_late([unit])


def _take_places(unit: Unit) -> bool:
    """Take the places of the tasks that a plan is to do, before anything is interrupted for it.

    Of several agents that would all drop what they do for the one place of a task, only one does.
    """
    if not unit.take_place():
        return False
    return all(child.active is None or _take_places(child.active) for child in unit.children())


def _give_up_places(frame: Frame) -> None:
    """Somebody else than the one that took places was elected, here or below: nobody else needs them."""
    for unit in frame.units:
        if unit is not frame.active:
            _leave_places(unit)
        else:
            for child in unit.children():
                _give_up_places(child)


def _leave_places(unit: Unit) -> None:
    if unit.state == READY or unit.state == THINKING:
        unit.leave_place()
        for child in unit.children():
            for below in child.units:
                _leave_places(below)


def switch(frame: Frame, best: Unit) -> None:
    """A better unit takes over: the old one unwinds first."""
    active = frame.active
    assert active is not None
    if not frame.execution.may_switch():
        # Compare them again in the next tick: if they overtook each other without end, time would stop for all.
        if frame.planner.trace.on:
            frame.note(TraceEvent.STORM, reason="too many preemptions in one tick")
        frame.planner.kernel.call_later(1, frame.look_again)
        return
    # Before anything is interrupted: what would be refused at its start would have stopped the other one for nothing.
    if not _take_places(best):
        return  # a task below it has no room for one more: it is not ready any more
    if frame.planner.trace.on:
        active.note(TraceEvent.PREEMPT, by=best.spec.label, utility=best.utility, against=boosted(frame))
    was_running = frame.state == RUNNING
    frame.move(SWITCHING)
    if was_running:
        frame.execution.unwind(frame, f"preempted by {best.spec.name}")
    else:
        # A later step of a plan that runs: nothing of it has run, so there is nobody to wait for.
        unwound(frame, was_running=False)


def unwound(frame: Frame, *, was_running: bool) -> None:
    """The old unit's strands have ended: stop it, and let the best take its place; it runs if the old one ran."""
    active = frame.active
    assert active is not None
    active.stop()  # before anybody is elected: its hooks may take back what made the other one better
    best = best_ready(frame, is_patient=True)
    if best is None:
        # The better one withdrew meanwhile.
        frame.move(THINKING)
        frame.active = None
        _give_up_places(frame)
    else:
        frame.elected(best)
        _give_up_places(frame)
        if frame.start():
            frame.owner.frame_utility(frame)
            if was_running:
                frame.run()
            return
        if frame.execution.is_aborting:
            return
    # Nothing is elected any more: who is idle thinks again, the old unit among them.
    frame.begin_late([unit for unit in frame.units if unit.state == IDLE])


def refuse(unit: Unit, reason: str) -> None:
    """An elected unit cannot be started now: stop it again, and have it think again a little later."""
    watched = unit.frame.planner.trace.on
    if watched:
        unit.note(TraceEvent.REFUSED, reason=reason)
    place = keep_place(unit)  # else each refusal would put it at the end of the line for what it waits for
    unit.stop_think()
    unit.stop(IMPOSSIBLE)
    restore_place(unit, place)
    extras = unit.own_extras()
    extras.reason = f"it refused to be started: {reason}"
    backoff = extras.backoff
    frame = unit.frame
    kernel = frame.planner.kernel
    refusal = refusal_of(kernel)
    if refusal is not None:
        line_up(unit, refusal)
        if unit.spec.steps is None and not unit.spec.has_think:
            return  # it chooses nothing, and can only wait for its turn
    if watched and backoff.is_storm:
        unit.note(TraceEvent.STORM, delay=backoff.delay)
    backoff.wait(kernel, try_again, frame, unit, frame.round)
