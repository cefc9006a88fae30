"""Every exception of agentrt, with its code: one root, four branches.

An error is a lesson: what happened, where (file and pointer, or agent, path and tick), what to write instead, and a
stable code, which ``agentrt explain`` takes. The text is composed here, from the fields of the exception, so that one
fault reads the same wherever it is raised and a handler can read the fields instead of parsing a sentence.

The branches say who has to act:

* ``AuthorError``   the author of an action or of a host program: raised where a thing is defined or registered.
* ``DataFault``     the author of a file: packs and arguments, with file, line or JSON pointer.
* ``RunFault``      something went wrong while running, with agent, path and tick.
* ``InternalError`` a bug of ours; please report it.

Control flow (cancel, abort, reject) is not an error: it derives from ``BaseException``, lives beside the machine that
raises it, and users do not construct it.

The order in which an error sets its fields stays: a recording writes them down as ``vars`` gives them, and equal runs
give equal files.

The file is longer than others on purpose: it is one catalog, in the order of the codes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypedDict, Unpack

from agentrt.words import printable_lines, words_of

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

EXPLAINED_BY: Final = "More about it: agentrt explain {code}"
"""The note of an error of ours: where its code is explained. A command, which tells what this very release means, and
needs no network: it prints a page of the folder docs/reference/errors. Where else the pages are is to be said here."""

LONGEST_NAME = 120  # the longest name for which near names are sought


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A clause that offers the nearest known names, such as `` Did you mean 'actions'?``; empty if none is near."""
    # Who writes a wrong name may write no text at all; comparing is quadratic, and nobody meant a name like that.
    given: object = name
    if not isinstance(given, str) or len(given) > LONGEST_NAME:
        return ""
    import difflib  # slow to import, and only needed here

    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.6)
    return f" Did you mean {' or '.join(map(repr, near))}?" if near else ""


class AgentRTError(Exception):
    """The root of all errors that agentrt raises.

    What a text repeats of a file, a name or an argument is escaped: whoever prints an error, as Python does with its
    traceback, hands no control character to a terminal.

    A note leads to the page of the code. A class of your own has a code of your own, or that of the class it derives
    from; where the code does not begin with ART there is no such note.
    """

    code = "ART000"  # stable, for searching and for handlers; never reused for another fault

    def __init__(self, text: str) -> None:
        self.text: str = printable_lines(text)  # what happened, where, and what to write instead
        super().__init__(f"[{self.code}] {self.text}")
        if self.code.startswith("ART"):
            self.add_note(EXPLAINED_BY.format(code=self.code))

    def add_note(self, note: str, /) -> None:
        """Add a note, which Python shows below the error, escaped like the text."""
        super().add_note(printable_lines(note))


# --- branches ---------------------------------------------------------------------------------------------------------


class AuthorError(AgentRTError):
    """A mistake in code that uses agentrt, raised where the thing is defined or registered."""

    code = "ART100"


class FilePlace(TypedDict, total=False):
    """Where in a file something stands."""

    file: str
    pointer: str
    line: int


class DataFault(AgentRTError):
    """A fault in data: a pack, a file, an argument."""

    code = "ART200"

    def __init__(self, text: str, *, file: str = "", pointer: str = "", line: int = 0) -> None:
        self.file = file  # the file's name, or an empty string for data that came from memory
        self.pointer = pointer  # the place in it: a JSON pointer
        self.line = line  # the line of that place, from 1; 0 if it is not known
        super().__init__(f"{self.place}: {text}" if self.place else text)

    @property
    def place(self) -> str:
        """File, line and pointer, as far as they are known, as its text begins."""
        line = f":{self.line}" if self.line and self.file else ""
        return f"{self.file}{line}{f'#{self.pointer}' if self.pointer else ''}"


class _Where(TypedDict, total=False):
    agent: str
    path: str
    tick: int | None


class RunFault(AgentRTError):
    """Something went wrong while running."""

    code = "ART300"

    def __init__(self, text: str, *, agent: str = "", path: str = "", tick: int | None = None) -> None:
        self.agent = agent  # the agent's name, or an empty string outside any agent
        self.path = path  # the place in the plan, or the strand's name
        self.tick = tick  # the tick in which it happened, or None when no clock was running
        where = [part for part in (agent, path, "" if tick is None else f"tick {tick}") if part]
        super().__init__(f"{text} (at {', '.join(where)})" if where else text)


class InternalError(AgentRTError):
    """A bug in agentrt itself. Nothing that a user writes should be able to raise it."""

    code = "ART900"

    def __init__(self, text: str) -> None:
        super().__init__(f"{text} This is a bug in agentrt: please report it with the trace of the run.")


# --- author mistakes --------------------------------------------------------------------------------------------------


class DefinitionError(AuthorError):
    """A class that describes an action is not well formed."""

    code = "ART101"

    def __init__(self, subject: str, problem: str, remedy: str) -> None:
        self.subject = subject  # the class or object that is wrong
        super().__init__(f"{subject}: {problem} {remedy}")


class PlaceholderError(AuthorError):
    """A placeholder of a compound action cannot resolve."""

    code = "ART102"

    def __init__(self, subject: str, step: int, field: str, problem: str, remedy: str) -> None:
        self.subject = subject  # the compound action
        self.step = step  # the step's number, from 1; 0 for the compound's own output
        self.field = field  # the argument of that step, or the field of that output
        place = f"step {step}, argument '{field}'" if step else f"output, field '{field}'"
        super().__init__(f"{subject}, {place}: {problem} {remedy}")


class DuplicateAliasError(AuthorError):
    """Two manifests register the same alias."""

    code = "ART103"

    def __init__(self, alias: str, first: str, second: str) -> None:
        self.alias = alias  # the alias that was registered twice
        super().__init__(
            f"the alias '{alias}' is registered by {first} and again by {second}. Rename one of them: "
            f"an alias names one thing."
        )


class WrongStateError(AuthorError):
    """A method was called in a state in which it has no meaning."""

    code = "ART104"

    def __init__(self, method: str, state: str, remedy: str) -> None:
        self.method = method  # what was called
        self.state = state  # the state in which it was called
        super().__init__(f"{method} cannot be called while {state}. {remedy}")


class NotRunningError(AuthorError):
    """A trap was used outside a strand, or a runtime was driven in a way its host does not offer."""

    code = "ART105"


class ManifestError(AuthorError):
    """What a mod offers cannot be taken into a registry."""

    code = "ART106"

    def __init__(self, origin: str, problem: str, remedy: str) -> None:
        self.origin = origin  # the entry point or the manifest that is wrong
        super().__init__(f"{origin}: {problem} {remedy}")


class MissingExtraError(AuthorError):
    """Something needs a package that comes with an extra which is not installed."""

    code = "ART107"

    def __init__(self, extra: str, package: str) -> None:
        self.extra = extra  # the extra of the distribution `agentrt` that brings it
        self.package = package  # the package that could not be imported
        from agentrt.installed import how_to_add  # slow to import, and few programs ever ask

        super().__init__(f"this needs the package '{package}', which is not installed. {how_to_add(extra, package)}")


class TaskError(AuthorError):
    """A task that its group cannot take."""

    code = "ART109"

    def __init__(self, group: str, text: str, remedy: str) -> None:
        self.group = group  # the name of the group
        super().__init__(f"{group}: {text} {remedy}")


class UnknownTaskGroupError(AuthorError):
    """Somebody asked for a task group that is not there."""

    code = "ART108"

    def __init__(self, group: str, holder: str, known: Sequence[str], remedy: str) -> None:
        self.group = group  # the name that was asked for
        self.holder = holder  # who was asked, in words
        there = f"There: {', '.join(known[:20])}." if known else "There is none."
        super().__init__(f"{holder} has no task group '{group}'.{did_you_mean(group, known)} {there} {remedy}")


class ExpectedStateError(AuthorError, AttributeError):
    """A field of CURRENT was used in a way that it does not allow."""

    code = "ART110"

    def __init__(self, field: str, problem: str, remedy: str) -> None:
        self.field = field  # the field
        super().__init__(f"CURRENT.{field} {problem} {remedy}")


class InputError(AuthorError):
    """Something was sent to a runtime that it does not take."""

    code = "ART111"

    def __init__(self, name: str, reason: str, known: Sequence[str] = ()) -> None:
        self.name = name  # of the input
        self.reason = reason  # what is wrong with it
        hint = did_you_mean(name, known)
        super().__init__(
            f"the input {name!r}: {reason}.{hint} The world puts up a function for each name, with runtime.on_input; "
            f"what is sent are plain values: None, truth values, numbers, texts, lists and dicts of them."
        )


class InspectorError(AuthorError):
    """An inspector cannot be started as it was asked to."""

    code = "ART112"

    def __init__(self, reason: str, remedy: str) -> None:
        self.reason = reason  # what is wrong
        super().__init__(f"the inspector: {reason}. {remedy}")


class UnknownDependencyError(AuthorError, AttributeError):
    """``agent.gameplay`` was asked for something that no strategy of the agent provides, nor is called."""

    code = "ART113"

    def __init__(self, call: str, agent: str, known: Sequence[str]) -> None:
        self.call = call  # what was asked for
        self.agent = agent  # whose gameplay it is
        self.known: tuple[str, ...] = tuple(known)  # what it knows
        has = f"It has {', '.join(known)}." if known else "It has no strategies yet."
        AuthorError.__init__(
            self,
            f"the gameplay of {agent!r} has no {call!r}.{did_you_mean(call, known)} {has} Load a strategy that "
            f"provides it: agent.gameplay.add_strategy(...).",
        )


class ProjectError(AuthorError):
    """The world of a project cannot be used: where it is named, when it is imported, or what it is.

    What its own modules raised stands in a note, with their traceback and without ours.
    """

    code = "ART114"

    def __init__(self, where: str, problem: str, remedy: str) -> None:
        self.where = where  # the file or the option that names it
        super().__init__(f"{where}: {problem} {remedy}")


# --- data faults ------------------------------------------------------------------------------------------------------


class ArgumentError(DataFault):
    """An activity was called with arguments that do not fit its declaration."""

    code = "ART201"

    def __init__(self, activity: str, argument: str, problem: str) -> None:
        self.activity = activity  # the activity that was called
        self.argument = argument  # the argument that is wrong
        super().__init__(f"activity '{activity}', argument '{argument}': {problem}")


class InvalidPackError(DataFault):
    """A pack is not what a pack has to be. One exception tells all the problems of one document."""

    code = "ART202"

    def __init__(
        self,
        problems: Sequence[tuple[str, str]],
        *,
        file: str = "",
        omitted: int = 0,
        what: str = "pack",
        lines: Sequence[int] = (),
    ) -> None:
        # pairs of a JSON pointer and a text, in the order of the document
        self.problems: tuple[tuple[str, str], ...] = tuple(problems)
        self.omitted = omitted  # how many further problems there are; a hostile document does not fill a screen
        self.lines: tuple[int, ...] = tuple(lines) or (0,) * len(self.problems)  # of each problem, from 1; 0 if unknown
        if len(self.problems) == 1 and not omitted:
            pointer, text = self.problems[0]
            super().__init__(text, file=file, pointer=pointer, line=self.lines[0])
            return
        told = [f"{len(self.problems) + omitted} problems in this {what}:"]
        for (pointer, text), line in zip(self.problems, self.lines, strict=True):
            told.append(f"  {f'line {line} ' if line else ''}#{pointer}: {text}")
        told += [f"  and {omitted} more"] if omitted else []
        super().__init__("\n".join(told), file=file)


class UnknownAliasError(DataFault):
    """A reference names something that nobody registered."""

    code = "ART203"

    def __init__(self, alias: str, known: Sequence[str], **place: Unpack[FilePlace]) -> None:
        self.alias = alias  # the reference
        super().__init__(
            f"nobody registered '{alias}'.{did_you_mean(alias, known)} Register it in a manifest of the entry-point "
            f"groups 'agentrt.actions', 'agentrt.strategies' or 'agentrt.packs', or correct the reference.",
            **place,
        )


class PackCycleError(DataFault):
    """Packs require each other in a circle."""

    code = "ART204"

    def __init__(self, cycle: Sequence[str], **place: Unpack[FilePlace]) -> None:
        self.cycle: tuple[str, ...] = tuple(cycle)  # the packs of the circle; the last is the first again
        told = [*cycle[:8], f"({len(cycle) - 12} more)", *cycle[-4:]] if len(cycle) > 16 else cycle
        super().__init__(
            f"these packs require each other in a circle: {' -> '.join(told)}. Move what they share into a pack "
            f"that requires neither.",
            **place,
        )


class UnknownWorldError(DataFault):
    """A world was asked for that is not installed."""

    code = "ART205"

    def __init__(self, world: str, known: Sequence[str]) -> None:
        self.world = world  # the name that was asked for
        self.known: tuple[str, ...] = tuple(known)  # the names of the worlds that are installed
        if not known:
            from agentrt.installed import how_to_add  # as above

            super().__init__(
                f"there is no world '{world}', and none is installed. Worlds come from packages that offer the "
                f"entry-point group 'agentrt.worlds'; agentrt itself carries 'colony'. {how_to_add('demo')}"
            )
            return
        super().__init__(
            f"there is no world '{world}'.{did_you_mean(world, known)} Installed here: {', '.join(known)}."
        )


class ComponentError(DataFault):
    """A component that a pack names cannot be made."""

    code = "ART206"

    def __init__(self, alias: str, problem: str, **place: Unpack[FilePlace]) -> None:
        self.alias = alias  # the component's
        super().__init__(
            f"the component '{alias}' cannot be made: {problem} Correct the settings that the pack gives it, or the "
            f"factory that is registered under the alias.",
            **place,
        )


class RebuildError(DataFault):
    """A saved game names what is no longer there, or is not what was saved."""

    code = "ART207"

    def __init__(self, subject: str, problem: str, **place: Unpack[FilePlace]) -> None:
        self.subject = subject  # what cannot be rebuilt
        super().__init__(f"{subject}: {problem}", **place)


class ParameterError(DataFault):
    """A world was given a parameter that it does not take, or a value that the parameter cannot have."""

    code = "ART208"

    def __init__(self, world: str, parameter: str, problem: str, remedy: str) -> None:
        self.world = world  # the name of the world
        self.parameter = parameter  # the name that was given; empty if it is about all of them
        self.problem = problem  # what is wrong, without the full stop
        of = f" '{parameter[:LONGEST_NAME]}'" if parameter else "s"
        super().__init__(f"the parameter{of} of the world '{world}': {problem}. {remedy}".rstrip())


class InvalidSelectionError(DataFault):
    """Files of selection trees are not what they have to be. One exception tells all the problems of a folder."""

    code = "ART220"

    def __init__(self, problems: Sequence[tuple[str, int, str]], *, omitted: int = 0) -> None:
        # triples of a file, a line (0 for the file as a whole) and a text, by file and line
        self.problems: tuple[tuple[str, int, str], ...] = tuple(problems)
        self.omitted = omitted  # how many further problems there are; a hostile folder does not fill a screen
        lines = [f"{file}:{line}: {text}" if line else f"{file}: {text}" for file, line, text in self.problems]
        if len(lines) > 1 or omitted:
            lines = [f"{len(lines) + omitted} problems in these selection trees:", *(f"  {line}" for line in lines)]
            lines += [f"  and {omitted} more"] if omitted else []
        super().__init__("\n".join(lines))
        self.file: str = self.problems[0][0] if self.problems else ""


class UnknownTreeError(DataFault):
    """A library of selection trees was asked for one that it does not hold."""

    code = "ART221"

    def __init__(self, tree: str, known: Sequence[str], *, is_broken: bool = False) -> None:
        self.tree = tree  # the name that was asked for
        if is_broken:
            text = "It is there, and has errors: they are in the problems of the library."
        else:
            text = f"The library holds {', '.join(known[:20])}." if known else "The library holds none."
        super().__init__(f"there is no selection tree '{tree}'.{did_you_mean(tree, known)} {text}")


class ConditionSyntaxError(DataFault):
    """A condition of a selection tree is not an expression."""

    code = "ART222"

    def __init__(self, expression: str, position: int, found: str, problem: str) -> None:
        self.expression = expression  # the whole condition
        self.position = position  # the index of the first character that is wrong; its length for the end
        self.found = found  # what stands there; empty at the end
        self.problem = problem  # what is wrong with it, in words
        told = expression if len(expression) <= 200 else expression[:200] + "..."
        place = f"{found[:60]!r} at character {position + 1}" if found else "the end"
        super().__init__(f"the condition {told!r} is wrong at {place}: {problem}")


class UnknownVariableError(DataFault):
    """Somebody set or asked for a variable that a selection tree does not declare."""

    code = "ART223"

    def __init__(self, variable: str, tree: str, known: Sequence[str]) -> None:
        self.variable = variable  # the name
        self.tree = tree  # the tree
        declared = f"Declared: {', '.join(known[:20])}." if known else "It declares none."
        super().__init__(
            f"the selection tree '{tree}' declares no variable '{variable}'.{did_you_mean(variable, known)} {declared} "
            f"Add it to its <Variables>."
        )


class ExpressionError(DataFault):
    """An expression over an agent's values is none, or has no value now."""

    code = "ART224"

    def __init__(self, expression: str, position: int, problem: str) -> None:
        self.expression = expression  # the whole of it
        self.position = position  # the index of the character at which it is wrong; its length for the end
        self.problem = problem  # what is wrong with it, in words
        told = expression if len(expression) <= 200 else expression[:200] + "..."
        super().__init__(f"the expression {told!r}, column {self.column}: {problem}")

    @property
    def column(self) -> int:
        """Where it is wrong, counted from 1."""
        return self.position + 1


class RecordingError(DataFault):
    """A recording cannot be made, opened or read: there is no file, it is none, it is broken or of another kind."""

    code = "ART230"

    def __init__(self, file: str, problem: str, remedy: str = "") -> None:
        self.problem = problem  # what is wrong with it
        super().__init__(f"{problem}." + (f" {remedy}" if remedy else ""), file=file)


class ReplayError(DataFault):
    """A recording cannot be replayed here: it does not hold what a replay needs, or the world is another one."""

    code = "ART233"

    def __init__(self, reason: str, remedy: str, *, file: str = "") -> None:
        self.reason = reason  # what stands against it
        super().__init__(f"it cannot be replayed: {reason}. {remedy}", file=file)


class ReplayDifferenceError(DataFault):
    """A replay went another way than the recording before the tick that it was wanted for."""

    code = "ART234"

    def __init__(self, tick: int, wanted: int, text: str, *, file: str = "") -> None:
        self.tick = tick  # of the first difference
        super().__init__(
            f"the replay differs in tick {tick}, before tick {wanted} that was to be reached. Something in this world "
            f"depends on more than its seed and its inputs, or its code was changed:\n{text}",
            file=file,
        )


class EditError(DataFault):
    """A script of edits to a recording is not right, or edits what is not there."""

    code = "ART235"

    def __init__(self, problem: str, remedy: str, **place: Unpack[FilePlace]) -> None:
        self.problem = problem  # what is wrong, without the full stop
        self.remedy = remedy  # what to write instead
        super().__init__(f"{problem}. {remedy}", **place)


class UnansweredCallError(DataFault):
    """A branch calls something outside that the recording has no result for."""

    code = "ART236"

    def __init__(self, number: int, what: str, tick: int, *, file: str = "") -> None:
        self.number = number  # which call of the run, from 0
        self.what = what  # the name of the function
        self.tick = tick  # when
        super().__init__(
            f"in tick {tick} the branch calls {what} (call {number}), for which the recording has no result. "
            f'Script one ({{"tick": {tick + 1}, "answer": {number}, "value": ...}}), or let it call the outside: '
            f'calls="live".',
            file=file,
        )


class EnsembleError(DataFault):
    """A design of many runs, the file that they are kept in, or who carries them out is not right."""

    code = "ART240"

    def __init__(self, subject: str, problem: str, remedy: str) -> None:
        self.subject = subject  # what is not right: the seeds, a parameter, a file
        self.problem = problem  # what is wrong with it, without the full stop
        super().__init__(f"{subject}: {problem}. {remedy}")


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
    """A strand ran on and on within one tick, without time passing; or one step took longer than ``hang_limit``."""

    code = "ART302"

    def __init__(self, steps: int, *, seconds: float = 0.0, **where: Unpack[_Where]) -> None:
        # how many steps it took, or how many waits that had nothing to wait for; 0 for a single step that was ended
        self.steps = steps
        self.seconds = seconds  # how long that one took, in real seconds; 0 else
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
    """An agent's planner gave up: it aborted too often in a row."""

    code = "ART303"

    def __init__(self, aborts: int, reason: str, **where: Unpack[_Where]) -> None:
        self.aborts = aborts  # how many aborts in a row there were
        self.reason = reason  # the reason of the last one
        super().__init__(
            f"the planner was killed after {aborts} aborts in a row; the last reason: {reason}. Let the action check "
            f"in 'think' what it aborts for, so that it is not chosen again while it cannot work.",
            **where,
        )


class ActivityImpossibleError(RunFault):
    """``ctx.execute`` asked for an activity that no action can perform now."""

    code = "ART304"

    def __init__(self, activity: str, known: Iterable[str] = (), **where: Unpack[_Where]) -> None:
        self.activity = activity  # the activity
        near = "" if activity in known else did_you_mean(activity, known)
        super().__init__(
            f"no action that this agent knows can perform '{activity}' now.{near} Catch this error, inject an action "
            f"that does it, or make it a step of a compound action, whose thinking waits until one is ready.",
            **where,
        )


class ActivityAbortedError(RunFault):
    """``agent.perform`` could not bring an activity to its end: an action aborted or raised, or the agent ended."""

    code = "ART308"

    def __init__(self, activity: str, reason: str, **where: Unpack[_Where]) -> None:
        self.activity = activity  # the activity
        self.reason = reason  # why, in words
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
    """A dependency could not be solved: nobody provides it, nobody can, or everybody who could has failed."""

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
        self.wanted = wanted  # the dependency
        self.reason = reason  # why, in one sentence
        self.story = story  # what was tried below it and what became of it, one line each, as a tree
        self.label: str = label or words_of(wanted)  # what it is called
        # the circle of needs, or the endless regress, that kept everybody from it, in words; empty if none did
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
    """A behavior tree went round in circles in one tick, or redecided more often than it declares."""

    code = "ART309"

    def __init__(self, tree: str, group: str, count: int, *, bound: str = "", **where: Unpack[_Where]) -> None:
        self.tree = tree  # the tree
        self.group = group  # the group that failed most often; the one that redecides, if none did
        self.count = count  # how many deciders failed in the tick
        self.bound = bound  # which bound that was beyond, in words
        why = f" ({bound})" if bound else ""
        super().__init__(
            f"the behavior tree {tree} gave up this tick after {count} redecides{why}, mostly in the group {group}: "
            f"it is entered, and what is below it refuses or fails at once. Let its Decide accept only when one of its "
            f"children would (the Subset Rule), delegate the decision to the children, or declare how many redecides a "
            f"tick may have: max_redecides.",
            **where,
        )


class TaskLeftError(RunFault):
    """An action, or another coroutine of a runtime, ended before tasks that it had made; they were cancelled."""

    code = "ART314"

    def __init__(self, tasks: Sequence[str], **where: Unpack[_Where]) -> None:
        self.tasks: tuple[str, ...] = tuple(tasks)  # what they are called
        super().__init__(
            f"ended before tasks that it had made: {', '.join(tasks)}. They waited for the runtime, and were "
            f"cancelled. Await them before the end, or make them in an 'async with asyncio.TaskGroup()', which does; "
            f"what is to go on afterwards is a coroutine of the world: runtime.spawn(...).",
            **where,
        )


class ThoughtFailedError(RunFault):
    """A mind was asked, and has no answer: its model gave none that can be taken, or it may not ask at all."""

    code = "ART322"

    def __init__(self, reason: str, **where: Unpack[_Where]) -> None:
        self.reason = reason  # why, in words
        super().__init__(f"a mind has no answer: {reason}", **where)


class EpochError(RunFault):
    """A world could not be written down, or could not be rebuilt of what it had written."""

    code = "ART330"

    def __init__(self, what: str, problem: str, remedy: str, **where: Unpack[_Where]) -> None:
        self.what = what  # which function of the world failed
        self.problem = problem
        super().__init__(f"the world was not rebuilt, {what} failed: {problem}. {remedy}", **where)


class EpochLengthError(DataFault):
    """A recorded run was to be gone on with by a world that is rebuilt after another number of ticks."""

    code = "ART346"

    def __init__(self, recorded: int, made: int, *, file: str = "") -> None:
        self.recorded = recorded  # after so many ticks the recorded world is rebuilt; 0 for never
        self.made = made  # and the one that was made to go on with
        was, now = (f"each {ticks} ticks" if ticks else "never" for ticks in (recorded, made))
        super().__init__(
            f"the recorded world is rebuilt {was}, and the one that was made is rebuilt {now}: it would go another way "
            f"than the run that was recorded. Nothing was written. Make it with rebuild_every({recorded}, save, load), "
            f"as it was. To go on with the code of now, record the run anew into another file: resume(path, make, "
            f"verify=False, into=...), or agentrt resume FILE --no-verify --into NEW.",
            file=file,
        )


class ShardError(RunFault):
    """A world in shards cannot go on: a shard broke a rule, or the sums of all of them do not agree."""

    code = "ART340"

    def __init__(self, shard: int | None, problem: str, **where: Unpack[_Where]) -> None:
        self.shard = shard  # which one, from 0; None if it is about all of them
        self.problem = problem  # in words
        super().__init__(problem if shard is None else f"shard {shard}: {problem}", **where)


class ShardLostError(ShardError):
    """Where a shard ran is gone: a process ended, or a machine does not answer. What it wrote down is there."""

    code = "ART341"


class ShardHostError(ShardError):
    """A shard runs on the host that it is handed, the plain one as a rule, and its part made a runtime on another."""

    code = "ART342"

    def __init__(self, shard: int, host: str, wanted: str) -> None:
        self.host = host  # what its runtime is on
        self.wanted = wanted  # what it was handed
        super().__init__(
            shard,
            f"its runtime is on the {host} host, and the {wanted} host was handed in. Make it with that: "
            f"Runtime(seed, host=host). Who leads shards may be in an event loop: await shards.arun()",
        )


class SimulationTimeout(RunFault):
    """``run_until``, or one of its kind, reached its limit before what it waited for came."""

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
        self.limit = limit  # how many ticks ran
        self.agents: tuple[str, ...] = tuple(agents)  # what each agent was doing, in words; the first few
        self.awaited = awaited  # what was waited for, in words; empty for a condition of the caller's own
        self.tail: tuple[str, ...] = tuple(tail)  # the newest records of the trace, in words
        when = "" if tick is None else f" (at tick {tick})"
        missed = f"{awaited}: it did not come" if awaited else "the condition was not true"
        lines = [f"{missed} within {limit} ticks{when}.", *agents]
        lines += [f"and {omitted} more agents"] if omitted else []
        lines += ["the newest records:", *(f"  {line}" for line in tail)] if tail else []
        super().__init__("\n".join(lines))
        self.tick = tick


class TraceMismatch(RunFault, AssertionError):
    """A trace is not what a test claimed: see ``agentrt.testing.happened`` and its kind."""

    code = "ART310"

    def __init__(self, claim: str, shown: Sequence[str] = ()) -> None:
        self.claim = claim  # what was claimed and is not so
        self.shown: tuple[str, ...] = tuple(shown)  # the records that tell why, in words
        super().__init__("\n".join([f"{claim}.", *shown]))


class UnansweredError(RunFault, AttributeError):
    """A stub was asked for something that nobody told it."""

    code = "ART311"

    def __init__(self, stub: str, call: str, *, known: Sequence[str] = ()) -> None:
        self.stub = stub  # which stub
        self.call = call  # what it was asked, in words
        self.known: tuple[str, ...] = tuple(known)  # what it answers
        answers = f"It answers {', '.join(known)}." if known else "It answers nothing yet."
        near = did_you_mean(call.partition("(")[0], known)
        super().__init__(f"{stub} has no answer for {call}. {answers}{near} Tell it: answer(name, value).")


class InvariantError(RunFault):
    """Under injected faults, something was violated that always holds."""

    code = "ART312"

    def __init__(self, failures: Sequence[str], *, omitted: int = 0) -> None:
        self.failures: tuple[str, ...] = tuple(failures)  # the runs in which it was, in words; the first few
        lines = [
            "an invariant was violated under injected faults. Play the point again alone to look at it.",
            *failures,
        ]
        lines += [f"and {omitted} more runs"] if omitted else []
        super().__init__("\n".join(lines))


class InjectedFault(RunFault):
    """Raised on purpose, at an await, to see what becomes of it."""

    code = "ART313"

    def __init__(self, where: str) -> None:
        self.where = where  # at which await, in words
        super().__init__(f"raised on purpose at {where}: it stands for any error of what is awaited there.")


ERRORS: Final[dict[str, type[AgentRTError]]] = {
    error.code: error
    for error in sorted(
        (one for one in vars().values() if isinstance(one, type) and issubclass(one, AgentRTError)),
        key=lambda error: error.code,
    )
}
"""Every class of errors by its code, in the order of the codes."""
