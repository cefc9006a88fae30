"""Every exception of agentrt, with its code: one root, four branches.

An error is a lesson: what happened, where (file and pointer, or agent, path and tick), what to write instead, and a
stable code to search for. The text is composed here, from the fields of the exception, so that one fault reads the
same wherever it is raised and a handler can read the fields instead of parsing a sentence.

The branches say who has to act:

* ``AuthorError``   the author of an action or of a host program: raised where a thing is defined or registered.
* ``DataFault``     the author of a file: packs and arguments, with file, line or JSON pointer.
* ``RunFault``      something went wrong while running, with agent, path and tick.
* ``InternalError`` a bug of ours; please report it.

Control flow (cancel, abort, reject) is not an error: it derives from ``BaseException``, lives beside the machine that
raises it, and users do not construct it.

The file is longer than others on purpose: it is one catalog, in the order of the codes.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Final, TypedDict, Unpack

from agentrt.installed import how_to_add
from agentrt.words import printable_lines, words_of

__all__ = [
    "ENDS_PROGRAM",
    "ActivityAbortedError",
    "ActivityImpossibleError",
    "ActivityRecursionError",
    "AgentKilled",
    "AgentRTError",
    "ArgumentError",
    "AuthorError",
    "ComponentError",
    "ConditionSyntaxError",
    "DataFault",
    "DefinitionError",
    "DependencyFailedError",
    "DuplicateAliasError",
    "EditError",
    "ExpectedStateError",
    "ForeignAwaitError",
    "InjectedFault",
    "InputError",
    "InspectorError",
    "InternalError",
    "InvalidPackError",
    "InvalidSelectionError",
    "InvariantError",
    "LivelockError",
    "ManifestError",
    "MissingExtraError",
    "NotRunningError",
    "PackCycleError",
    "PlaceholderError",
    "RebuildError",
    "RecordingError",
    "RedecideLoopError",
    "ReplayDifferenceError",
    "ReplayError",
    "RequestDeadlockError",
    "RunFault",
    "SimulationTimeout",
    "TaskError",
    "TraceMismatch",
    "UnansweredCallError",
    "UnansweredError",
    "UnknownAliasError",
    "UnknownDependencyError",
    "UnknownTaskGroupError",
    "UnknownTreeError",
    "UnknownVariableError",
    "UnknownWorldError",
    "WrongStateError",
    "did_you_mean",
]

ENDS_PROGRAM: Final = (KeyboardInterrupt, SystemExit)
"""What nobody contains: a request to end the program. Whatever else code of an author raises, ``BaseException`` or not
(``asyncio.CancelledError`` out of ``task.result()``, ``GeneratorExit``), ends what raised it and nobody beside it::

    try:
        hook()
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        ...
"""

LONGEST_NAME = 120  # the longest name for which near names are sought


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A clause that offers the nearest known names, such as `` Did you mean 'actions'?``; empty if none is near."""
    # Who writes a wrong name may write no text at all; comparing is quadratic, and nobody meant a name like that.
    given: object = name
    if not isinstance(given, str) or len(given) > LONGEST_NAME:
        return ""
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.6)
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


class AgentRTError(Exception):
    """The root of all errors that agentrt raises.

    What a text repeats of a file, a name or an argument is escaped: whoever prints an error, as Python does with its
    traceback, hands no control character to a terminal.

    Attributes:
        code: stable, for searching and for handlers; never reused for another fault.
        text: what happened, where, and what to write instead.
    """

    code = "ART000"

    def __init__(self, text: str) -> None:
        self.text: str = printable_lines(text)
        super().__init__(f"[{self.code}] {self.text}")

    def add_note(self, note: str, /) -> None:
        """Add a note, escaped like the text.

        Args:
            note: what Python shows below the error.
        """
        super().add_note(printable_lines(note))


# --- branches ---------------------------------------------------------------------------------------------------------


class AuthorError(AgentRTError):
    """A mistake in code that uses agentrt, raised where the thing is defined or registered."""

    code = "ART100"


class _Place(TypedDict, total=False):
    file: str
    pointer: str


class DataFault(AgentRTError):
    """A fault in data: a pack, a file, an argument.

    Attributes:
        file: the file's name, or an empty string for data that came from memory.
        pointer: the place in it: a JSON pointer.
    """

    code = "ART200"

    def __init__(self, text: str, *, file: str = "", pointer: str = "") -> None:
        self.file = file
        self.pointer = pointer
        place = file + (f"#{pointer}" if pointer else "")
        super().__init__(f"{place}: {text}" if place else text)


class _Where(TypedDict, total=False):
    agent: str
    path: str
    tick: int | None


class RunFault(AgentRTError):
    """Something went wrong while running.

    Attributes:
        agent: the agent's name, or an empty string outside any agent.
        path: the place in the plan, or the strand's name.
        tick: the tick in which it happened, or None when no clock was running.
    """

    code = "ART300"

    def __init__(self, text: str, *, agent: str = "", path: str = "", tick: int | None = None) -> None:
        self.agent = agent
        self.path = path
        self.tick = tick
        where = [part for part in (agent, path, "" if tick is None else f"tick {tick}") if part]
        super().__init__(f"{text} (at {', '.join(where)})" if where else text)


class InternalError(AgentRTError):
    """A bug in agentrt itself. Nothing that a user writes should be able to raise it."""

    code = "ART900"

    def __init__(self, text: str) -> None:
        super().__init__(f"{text} This is a bug in agentrt: please report it with the trace of the run.")


# --- author mistakes --------------------------------------------------------------------------------------------------


class DefinitionError(AuthorError):
    """A class that describes an action is not well formed.

    Attributes:
        subject: the class or object that is wrong.
    """

    code = "ART101"

    def __init__(self, subject: str, problem: str, remedy: str) -> None:
        self.subject = subject
        super().__init__(f"{subject}: {problem} {remedy}")


class PlaceholderError(AuthorError):
    """A placeholder of a compound action cannot resolve.

    Attributes:
        subject: the compound action.
        step: the step's number, from 1; 0 for the compound's own output.
        field: the argument of that step, or the field of that output.
    """

    code = "ART102"

    def __init__(self, subject: str, step: int, field: str, problem: str, remedy: str) -> None:
        self.subject = subject
        self.step = step
        self.field = field
        place = f"step {step}, argument '{field}'" if step else f"output, field '{field}'"
        super().__init__(f"{subject}, {place}: {problem} {remedy}")


class DuplicateAliasError(AuthorError):
    """Two manifests register the same alias.

    Attributes:
        alias: the alias that was registered twice.
    """

    code = "ART103"

    def __init__(self, alias: str, first: str, second: str) -> None:
        self.alias = alias
        super().__init__(
            f"the alias '{alias}' is registered by {first} and again by {second}. Rename one of them: "
            f"an alias names one thing."
        )


class WrongStateError(AuthorError):
    """A method was called in a state in which it has no meaning.

    Attributes:
        method: what was called.
        state: the state in which it was called.
    """

    code = "ART104"

    def __init__(self, method: str, state: str, remedy: str) -> None:
        self.method = method
        self.state = state
        super().__init__(f"{method} cannot be called while {state}. {remedy}")


class NotRunningError(AuthorError):
    """A trap was used outside a strand, or a runtime was driven in a way its host does not offer."""

    code = "ART105"


class ManifestError(AuthorError):
    """What a mod offers cannot be taken into a registry.

    Attributes:
        origin: the entry point or the manifest that is wrong.
    """

    code = "ART106"

    def __init__(self, origin: str, problem: str, remedy: str) -> None:
        self.origin = origin
        super().__init__(f"{origin}: {problem} {remedy}")


class MissingExtraError(AuthorError):
    """Something needs a package that comes with an extra which is not installed.

    Attributes:
        extra: the extra of the distribution `agentrt` that brings it.
        package: the package that could not be imported.
    """

    code = "ART107"

    def __init__(self, extra: str, package: str) -> None:
        self.extra = extra
        self.package = package
        super().__init__(f"this needs the package '{package}', which is not installed. {how_to_add(extra, package)}")


class TaskError(AuthorError):
    """A task that its group cannot take.

    Attributes:
        group: the name of the group.
    """

    code = "ART109"

    def __init__(self, group: str, text: str, remedy: str) -> None:
        self.group = group
        super().__init__(f"{group}: {text} {remedy}")


class UnknownTaskGroupError(AuthorError):
    """Somebody asked for a task group that is not there.

    Attributes:
        group: the name that was asked for.
        holder: who was asked, in words.
    """

    code = "ART108"

    def __init__(self, group: str, holder: str, known: Sequence[str], remedy: str) -> None:
        self.group = group
        self.holder = holder
        there = f"There: {', '.join(known[:20])}." if known else "There is none."
        super().__init__(f"{holder} has no task group '{group}'.{did_you_mean(group, known)} {there} {remedy}")


class ExpectedStateError(AuthorError, AttributeError):
    """A field of CURRENT was used in a way that it does not allow.

    Attributes:
        field: the field.
    """

    code = "ART110"

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        self.field = field
        super().__init__(f"CURRENT.{field} {problem} {remedy}")


# --- data faults ------------------------------------------------------------------------------------------------------


class InputError(AuthorError):
    """Something was sent to a runtime that it does not take.

    Attributes:
        name: of the input.
        reason: what is wrong with it.
    """

    code = "ART111"

    def __init__(self, name: str, reason: str, known: Sequence[str] = ()) -> None:
        self.name = name
        self.reason = reason
        hint = did_you_mean(name, known)
        super().__init__(
            f"the input {name!r}: {reason}.{hint} The world puts up a function for each name, with runtime.on_input; "
            f"what is sent are plain values: None, truth values, numbers, texts, lists and dicts of them."
        )


class InspectorError(AuthorError):
    """An inspector cannot be started as it was asked to.

    Attributes:
        reason: what is wrong.
    """

    code = "ART112"

    def __init__(self, reason: str, remedy: str) -> None:
        self.reason = reason
        super().__init__(f"the inspector: {reason}. {remedy}")


class UnknownDependencyError(AuthorError, AttributeError):
    """``agent.gameplay`` was asked for something that no strategy of the agent provides, nor is called.

    Attributes:
        call: what was asked for.
        agent: whose gameplay it is.
        known: what it knows.
    """

    code = "ART113"

    def __init__(self, call: str, agent: str, known: Sequence[str]) -> None:
        self.call = call
        self.agent = agent
        self.known: tuple[str, ...] = tuple(known)
        has = f"It has {', '.join(known)}." if known else "It has no strategies yet."
        AuthorError.__init__(
            self,
            f"the gameplay of {agent!r} has no {call!r}.{did_you_mean(call, known)} {has} Load a strategy that "
            f"provides it: agent.gameplay.add_strategy(...).",
        )


class ArgumentError(DataFault):
    """An activity was called with arguments that do not fit its declaration.

    Attributes:
        activity: the activity that was called.
        argument: the argument that is wrong.
    """

    code = "ART201"

    def __init__(self, activity: str, argument: str, problem: str) -> None:
        self.activity = activity
        self.argument = argument
        super().__init__(f"activity '{activity}', argument '{argument}': {problem}")


class InvalidPackError(DataFault):
    """A pack is not what a pack has to be. One exception tells all the problems of one document.

    Attributes:
        problems: pairs of a JSON pointer and a text, in the order of the document.
        omitted: how many further problems there are; a hostile document does not fill a screen.
    """

    code = "ART202"

    def __init__(
        self, problems: Sequence[tuple[str, str]], *, file: str = "", omitted: int = 0, what: str = "pack"
    ) -> None:
        self.problems: tuple[tuple[str, str], ...] = tuple(problems)
        self.omitted = omitted
        if len(self.problems) == 1 and not omitted:
            pointer, text = self.problems[0]
            super().__init__(text, file=file, pointer=pointer)
            return
        lines = [f"{len(self.problems) + omitted} problems in this {what}:"]
        lines += [f"  #{pointer}: {text}" for pointer, text in self.problems]
        lines += [f"  and {omitted} more"] if omitted else []
        super().__init__("\n".join(lines), file=file)


class UnknownAliasError(DataFault):
    """A reference names something that nobody registered.

    Attributes:
        alias: the reference.
    """

    code = "ART203"

    def __init__(self, alias: str, known: Sequence[str], **place: Unpack[_Place]) -> None:
        self.alias = alias
        super().__init__(
            f"nobody registered '{alias}'.{did_you_mean(alias, known)} Register it in a manifest of the entry-point "
            f"groups 'agentrt.actions', 'agentrt.strategies' or 'agentrt.packs', or correct the reference.",
            **place,
        )


class PackCycleError(DataFault):
    """Packs require each other in a circle.

    Attributes:
        cycle: the packs of the circle; the last is the first again.
    """

    code = "ART204"

    def __init__(self, cycle: Sequence[str], **place: Unpack[_Place]) -> None:
        self.cycle: tuple[str, ...] = tuple(cycle)
        told = [*cycle[:8], f"({len(cycle) - 12} more)", *cycle[-4:]] if len(cycle) > 16 else cycle
        super().__init__(
            f"these packs require each other in a circle: {' -> '.join(told)}. Move what they share into a pack "
            f"that requires neither.",
            **place,
        )


class UnknownWorldError(DataFault):
    """A world was asked for that is not installed.

    Attributes:
        world: the name that was asked for.
        known: the names of the worlds that are installed.
    """

    code = "ART205"

    def __init__(self, world: str, known: Sequence[str]) -> None:
        self.world = world
        self.known: tuple[str, ...] = tuple(known)
        if not known:
            super().__init__(
                f"there is no world '{world}', and none is installed. Worlds come from packages that offer the "
                f"entry-point group 'agentrt.worlds'; agentrt itself carries 'colony'. {how_to_add('demo')}"
            )
            return
        super().__init__(
            f"there is no world '{world}'.{did_you_mean(world, known)} Installed here: {', '.join(known)}."
        )


class ComponentError(DataFault):
    """A component that a pack names cannot be made.

    Attributes:
        alias: the component's.
    """

    code = "ART206"

    def __init__(self, alias: str, problem: str, **place: Unpack[_Place]) -> None:
        self.alias = alias
        super().__init__(
            f"the component '{alias}' cannot be made: {problem} Correct the settings that the pack gives it, or the "
            f"factory that is registered under the alias.",
            **place,
        )


class RebuildError(DataFault):
    """A saved game names what is no longer there, or is not what was saved.

    Attributes:
        subject: what cannot be rebuilt.
    """

    code = "ART207"

    def __init__(self, subject: str, problem: str, **place: Unpack[_Place]) -> None:
        self.subject = subject
        super().__init__(f"{subject}: {problem}", **place)


class InvalidSelectionError(DataFault):
    """Files of selection trees are not what they have to be. One exception tells all the problems of a folder.

    Attributes:
        problems: triples of a file, a line (0 for the file as a whole) and a text, by file and line.
        omitted: how many further problems there are; a hostile folder does not fill a screen.
    """

    code = "ART220"

    def __init__(self, problems: Sequence[tuple[str, int, str]], *, omitted: int = 0) -> None:
        self.problems: tuple[tuple[str, int, str], ...] = tuple(problems)
        self.omitted = omitted
        lines = [f"{file}:{line}: {text}" if line else f"{file}: {text}" for file, line, text in self.problems]
        if len(lines) > 1 or omitted:
            lines = [f"{len(lines) + omitted} problems in these selection trees:", *(f"  {line}" for line in lines)]
            lines += [f"  and {omitted} more"] if omitted else []
        super().__init__("\n".join(lines))
        self.file: str = self.problems[0][0] if self.problems else ""


class UnknownTreeError(DataFault):
    """A library of selection trees was asked for one that it does not hold.

    Attributes:
        tree: the name that was asked for.
    """

    code = "ART221"

    def __init__(self, tree: str, known: Sequence[str], *, is_broken: bool = False) -> None:
        self.tree = tree
        if is_broken:
            text = "It is there, and has errors: they are in the problems of the library."
        else:
            text = f"The library holds {', '.join(known[:20])}." if known else "The library holds none."
        super().__init__(f"there is no selection tree '{tree}'.{did_you_mean(tree, known)} {text}")


class ConditionSyntaxError(DataFault):
    """A condition of a selection tree is not an expression.

    Attributes:
        expression: the whole condition.
        position: the index of the first character that is wrong; its length for the end.
        found: what stands there; empty at the end.
        problem: what is wrong with it, in words.
    """

    code = "ART222"

    def __init__(self, expression: str, position: int, found: str, problem: str) -> None:
        self.expression = expression
        self.position = position
        self.found = found
        self.problem = problem
        told = expression if len(expression) <= 200 else expression[:200] + "..."
        place = f"{found[:60]!r} at character {position + 1}" if found else "the end"
        super().__init__(f"the condition {told!r} is wrong at {place}: {problem}")


class UnknownVariableError(DataFault):
    """Somebody set or asked for a variable that a selection tree does not declare.

    Attributes:
        variable: the name.
        tree: the tree.
    """

    code = "ART223"

    def __init__(self, variable: str, tree: str, known: Sequence[str]) -> None:
        self.variable = variable
        self.tree = tree
        declared = f"Declared: {', '.join(known[:20])}." if known else "It declares none."
        super().__init__(
            f"the selection tree '{tree}' declares no variable '{variable}'.{did_you_mean(variable, known)} {declared} "
            f"Add it to its <Variables>."
        )


class RecordingError(DataFault):
    """A recording cannot be made, opened or read: there is no file, it is none, it is broken or of another kind.

    Attributes:
        problem: what is wrong with it.
    """

    code = "ART230"

    def __init__(self, file: str, problem: str, remedy: str = "") -> None:
        self.problem = problem
        super().__init__(f"{problem}." + (f" {remedy}" if remedy else ""), file=file)


class ReplayError(DataFault):
    """A recording cannot be replayed here: it does not hold what a replay needs, or the world is another one.

    Attributes:
        reason: what stands against it.
    """

    code = "ART233"

    def __init__(self, reason: str, remedy: str, *, file: str = "") -> None:
        self.reason = reason
        super().__init__(f"it cannot be replayed: {reason}. {remedy}", file=file)


class ReplayDifferenceError(DataFault):
    """A replay went another way than the recording before the tick that it was wanted for.

    Attributes:
        tick: of the first difference.
    """

    code = "ART234"

    def __init__(self, tick: int, wanted: int, text: str, *, file: str = "") -> None:
        self.tick = tick
        super().__init__(
            f"the replay differs in tick {tick}, before tick {wanted} that was to be reached. Something in this world "
            f"depends on more than its seed and its inputs, or its code was changed:\n{text}",
            file=file,
        )


class EditError(DataFault):
    """A script of edits to a recording is not right, or edits what is not there."""

    code = "ART235"

    def __init__(self, problem: str, remedy: str, **place: Unpack[_Place]) -> None:
        super().__init__(f"{problem}. {remedy}", **place)


class UnansweredCallError(DataFault):
    """A branch calls something outside that the recording has no result for.

    Attributes:
        number: which call of the run, from 0.
        what: the name of the function.
        tick: when.
    """

    code = "ART236"

    def __init__(self, number: int, what: str, tick: int, *, file: str = "") -> None:
        self.number = number
        self.what = what
        self.tick = tick
        super().__init__(
            f"in tick {tick} the branch calls {what} (call {number}), for which the recording has no result. "
            f'Script one ({{"tick": {tick + 1}, "answer": {number}, "value": ...}}), or let it call the outside: '
            f'calls="live".',
            file=file,
        )


# --- run-time faults --------------------------------------------------------------------------------------------------


class ForeignAwaitError(RunFault):
    """A strand awaited something that its host cannot wait for."""

    code = "ART301"

    def __init__(self, awaited: str, host: str, *, is_call: bool = False, **where: Unpack[_Where]) -> None:
        if is_call:
            text = (
                f"called the coroutine function {awaited} on the {host} host, where no event loop runs it. Run the "
                f"runtime on one: 'await runtime.run()' under asyncio or trio; or, in a simulation, call a plain "
                f"function instead."
            )
        else:
            text = (
                f"awaited {awaited} on the {host} host, which cannot wait for it. Await agentrt's own traps "
                f"(ctx.sleep, ctx.next_tick, a Signal), call it through 'await ctx.call(fn, *args)', or run the "
                f"runtime on the event loop that it belongs to: 'await runtime.run()' under asyncio or trio."
            )
        super().__init__(text, **where)


class LivelockError(RunFault):
    """A strand ran on and on within one tick, without time passing; or one step took longer than ``hang_limit``.

    Attributes:
        steps: how many steps it took, or how many waits that had nothing to wait for; 0 for a single step that was
            ended.
        seconds: how long that one took, in real seconds; 0 else.
    """

    code = "ART302"

    def __init__(self, steps: int, *, seconds: float = 0.0, **where: Unpack[_Where]) -> None:
        self.steps = steps
        self.seconds = seconds
        if seconds:
            text = (
                f"kept the thread for {seconds:.2f} s in one step, which is more than the runtime's hang_limit. Call "
                f"what takes long through 'await ctx.call(fn, *args)', or let its loop await now and then."
            )
        else:
            text = (
                f"took {steps} steps within one tick without time passing. Put an 'await ctx.next_tick()' or an "
                f"'await ctx.sleep(...)' into its loop; a strand that is cancelled must not await again."
            )
        super().__init__(text, **where)


class AgentKilled(RunFault):
    """An agent's planner gave up: it aborted too often in a row.

    Attributes:
        aborts: how many aborts in a row there were.
        reason: the reason of the last one.
    """

    code = "ART303"

    def __init__(self, aborts: int, reason: str, **where: Unpack[_Where]) -> None:
        self.aborts = aborts
        self.reason = reason
        super().__init__(
            f"the planner was killed after {aborts} aborts in a row; the last reason: {reason}. Let the action check "
            f"in 'think' what it aborts for, so that it is not chosen again while it cannot work.",
            **where,
        )


class ActivityImpossibleError(RunFault):
    """``ctx.execute`` asked for an activity that no action can perform now.

    Attributes:
        activity: the activity.
    """

    code = "ART304"

    def __init__(self, activity: str, **where: Unpack[_Where]) -> None:
        self.activity = activity
        super().__init__(
            f"no action that this agent knows can perform '{activity}' now. Catch this error, inject an action that "
            f"does it, or make it a step of a compound action, whose thinking waits until one is ready.",
            **where,
        )


class ActivityAbortedError(RunFault):
    """``agent.perform`` could not bring an activity to its end: an action aborted or raised, or the agent ended.

    Attributes:
        activity: the activity.
        reason: why, in words.
    """

    code = "ART308"

    def __init__(self, activity: str, reason: str, **where: Unpack[_Where]) -> None:
        self.activity = activity
        self.reason = reason
        super().__init__(
            f"performing '{activity}' was aborted: {reason}. Everything was stopped; catch this error to try something "
            f"else.",
            **where,
        )


class ActivityRecursionError(RunFault):
    """A plan nests deeper than any plan should: an activity is a step of itself."""

    code = "ART305"

    def __init__(self, depth: int, *, places: int | None = None, **where: Unpack[_Where]) -> None:
        how = f"the plan is nested {depth} levels deep" if places is None else f"the plan has {places} places at a time"
        super().__init__(
            f"{how}. An activity seems to be a step of itself; break the circle with "
            f"a filter or a condition in 'think'.",
            **where,
        )


class DependencyFailedError(RunFault):
    """A dependency could not be solved: nobody provides it, nobody can, or everybody who could has failed.

    Attributes:
        wanted: the dependency.
        reason: why, in one sentence.
        story: what was tried below it and what became of it, one line each, as a tree.
        label: what it is called.
        circle: the circle of needs, or the endless regress, that kept everybody from it, in words; empty if none did.
    """

    code = "ART320"
    remedy = "Load a strategy that can (agent.gameplay.add_strategy), or catch this error and do something else."

    def __init__(
        self,
        wanted: object,
        reason: str,
        *,
        label: str = "",
        story: str = "",
        circle: str = "",
        **where: Unpack[_Where],
    ) -> None:
        self.wanted = wanted
        self.reason = reason
        self.story = story
        self.label: str = label or words_of(wanted)
        self.circle = circle
        super().__init__(
            f"{self.label} could not be solved: {f'{circle}; ' if circle else ''}{reason}. {self.remedy}", **where
        )
        if story:
            self.add_note(story)


class RequestDeadlockError(DependencyFailedError):
    """Some requests waited for each other, so that none of them could ever end; the youngest fails."""

    code = "ART321"
    remedy = (
        "Have what a strategy needs solved below it (await ctx.solve(...)), so that whoever is waited for knows; do "
        "not hold control flags while awaiting a request that needs them; or give the wait a deadline (fail_after)."
    )


class RedecideLoopError(RunFault):
    """A behavior tree went round in circles in one tick, or redecided more often than it declares.

    Attributes:
        tree: the tree.
        group: the group that failed most often; the one that redecides, if none did.
        count: how many deciders failed in the tick.
        bound: which bound that was beyond, in words.
    """

    code = "ART309"

    def __init__(self, tree: str, group: str, count: int, *, bound: str = "", **where: Unpack[_Where]) -> None:
        self.tree = tree
        self.group = group
        self.count = count
        self.bound = bound
        why = f" ({bound})" if bound else ""
        super().__init__(
            f"the behavior tree {tree} gave up this tick after {count} redecides{why}, mostly in the group {group}: "
            f"it is entered, and what is below it refuses or fails at once. Let its Decide accept only when one of its "
            f"children would (the Subset Rule), delegate the decision to the children, or declare how many redecides a "
            f"tick may have: max_redecides.",
            **where,
        )


class SimulationTimeout(RunFault):
    """``run_until``, or one of its kind, reached its limit before what it waited for came.

    Attributes:
        limit: how many ticks ran.
        agents: what each agent was doing, in words; the first few.
        awaited: what was waited for, in words; empty for a condition of the caller's own.
        tail: the newest records of the trace, in words.
    """

    code = "ART307"

    def __init__(
        self,
        limit: int,
        agents: Sequence[str],
        *,
        omitted: int = 0,
        tick: int | None = None,
        awaited: str = "",
        tail: Sequence[str] = (),
    ) -> None:
        self.limit = limit
        self.agents: tuple[str, ...] = tuple(agents)
        self.awaited = awaited
        self.tail: tuple[str, ...] = tuple(tail)
        when = "" if tick is None else f" (at tick {tick})"
        missed = f"{awaited}: it did not come" if awaited else "the condition was not true"
        lines = [f"{missed} within {limit} ticks{when}.", *agents]
        lines += [f"and {omitted} more agents"] if omitted else []
        lines += ["the newest records:", *(f"  {line}" for line in tail)] if tail else []
        super().__init__("\n".join(lines))
        self.tick = tick


class TraceMismatch(RunFault, AssertionError):
    """A trace is not what a test claimed: see ``agentrt.testing.happened`` and its kind.

    Attributes:
        claim: what was claimed and is not so.
        shown: the records that tell why, in words.
    """

    code = "ART310"

    def __init__(self, claim: str, shown: Sequence[str] = ()) -> None:
        self.claim = claim
        self.shown: tuple[str, ...] = tuple(shown)
        super().__init__("\n".join([f"{claim}.", *shown]))


class UnansweredError(RunFault, AttributeError):
    """A stub was asked for something that nobody told it.

    Attributes:
        stub: which stub.
        call: what it was asked, in words.
        known: what it answers.
    """

    code = "ART311"

    def __init__(self, stub: str, call: str, *, known: Sequence[str] = ()) -> None:
        self.stub = stub
        self.call = call
        self.known: tuple[str, ...] = tuple(known)
        answers = f"It answers {', '.join(known)}." if known else "It answers nothing yet."
        near = did_you_mean(call.partition("(")[0], known)
        super().__init__(f"{stub} has no answer for {call}. {answers}{near} Tell it: answer(name, value).")


class InvariantError(RunFault):
    """Under injected faults, something was violated that always holds.

    Attributes:
        failures: the runs in which it was, in words; the first few.
    """

    code = "ART312"

    def __init__(self, failures: Sequence[str], *, omitted: int = 0) -> None:
        self.failures: tuple[str, ...] = tuple(failures)
        lines = [
            "an invariant was violated under injected faults. Play the point again alone to look at it.",
            *failures,
        ]
        lines += [f"and {omitted} more runs"] if omitted else []
        super().__init__("\n".join(lines))


class InjectedFault(RunFault):
    """Raised on purpose, at an await, to see what becomes of it.

    Attributes:
        where: at which await, in words.
    """

    code = "ART313"

    def __init__(self, where: str) -> None:
        self.where = where
        super().__init__(f"raised on purpose at {where}: it stands for any error of what is awaited there.")
