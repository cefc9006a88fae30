"""Rebuilding: what a game does after it has loaded a saved game. The state of agents itself is never saved.

A game saves its own things: the world, its entities, who has which job and wears what. Of its agents three things are
worth keeping beside that, and each is one call that writes plain JSON values, and one that reads them:

* ``save_packs``, ``restore_packs``: what an agent was taught while it lived;
* ``save_groups``, ``restore_groups``: who is in which task group, and what code added to a group;
* ``save_tasks``, ``restore_tasks``: the tasks that were created.

What comes back by itself is not saved: what an agent has since it was made (the arguments of ``Agent``, its entity's
own list), what packs and documents add to groups, permanent tasks. Callbacks of tasks cannot be saved: attach them to
what ``restore_tasks`` returns; nothing is told before the next intake.

The order after loading: make the agents and add them to the runtime; ``restore_packs``, for each; make the town's
groups, give jobs, ``restore_groups``; ``restore_tasks``, for the town and for each agent.

Values that JSON cannot say (entities, above all) go through two functions of the game: ``encode`` makes plain JSON of
one, ``decode`` finds it again, or raises ``LookupError`` if it is gone. ``write`` and ``Reader.read`` are each other's
inverse: what JSON says as it is stays as it is, and a saved object is always one of three, so that what a game encodes
is never taken for a mapping of its own: ``{"map": {...}}``, ``{"tuple": [...]}`` or ``{"encoded": ...}``.

Whatever cannot be rebuilt is a ``RebuildError`` with its place in what was saved; the call has changed nothing then.
With a function ``lost`` it is told of each instead, and the rest is rebuilt.

A saved game may come from a stranger: whatever stands in it, a ``RebuildError`` with its place comes out, and nothing
deeper than ``MAX_DEPTH`` is followed.

Source: Stonehearth, AI: "Persistence".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

from agentrt.activity.author.action import Action
from agentrt.activity.tasks.declare import TaskDeclaration
from agentrt.activity.tasks.group import TaskGroup, TaskState
from agentrt.agent.agent import Agent
from agentrt.errors import AgentRTError, DefinitionError, RebuildError, did_you_mean
from agentrt.packs.alias import pointer_to, shown
from agentrt.packs.loader import Pack, load_pack
from agentrt.packs.task_groups import declarations_of
from agentrt.town import TaskGroups
from agentrt.words import repr_of, words_of

if TYPE_CHECKING:
    from agentrt.activity.tasks.group import Task
    from agentrt.agent.injection import Injection

__all__ = ["restore_groups", "restore_packs", "restore_tasks", "save_groups", "save_packs", "save_tasks"]

MAX_DEPTH = 64

Encode = Callable[[Any], Any]
"""Makes plain JSON of a value of the game's own."""

Decode = Callable[[Any], Any]
"""Finds again what was encoded, or raises ``LookupError``."""

Lost = Callable[[RebuildError], object]
"""Told of what cannot be rebuilt."""

T = TypeVar("T")

_WORDS: Mapping[type, str] = {
    str: "a text",
    list: "a list",
    dict: "an object",
    bool: "true or false",
    int: "a whole number",
}


def write(value: Any, encode: Encode | None, where: str, depth: int = 1) -> Any:
    """Make plain JSON of a value.

    Args:
        value: any value.
        encode: makes plain JSON of what JSON cannot say.
        where: what the error calls the value.
        depth: how deep it lies.

    Raises:
        DefinitionError: there is no ``encode`` and one is needed, or what it gave is not plain JSON.
    """
    if depth > MAX_DEPTH:
        raise DefinitionError(where, f"it is nested deeper than {MAX_DEPTH} levels.", "Save what it was made from.")
    kind = type(value)
    if value is None or kind in (bool, int, str) or (kind is float and math.isfinite(value)):
        return value
    if kind is list:
        return [write(one, encode, where, depth + 1) for one in value]
    if kind is tuple:
        return {"tuple": [write(one, encode, where, depth + 1) for one in value]}
    if kind is dict and all(type(key) is str for key in value):
        return {"map": {key: write(one, encode, where, depth + 1) for key, one in value.items()}}
    if encode is None:
        raise DefinitionError(
            where,
            f"it is {repr_of(value)}, a {kind.__name__}, which JSON cannot say.",
            "Give an 'encode' that makes plain JSON of it, such as its id, and to the restoring call a 'decode'.",
        )
    encoded = encode(value)
    if not _is_plain(encoded, depth):
        raise DefinitionError(
            where, f"encode made {repr_of(encoded)} of it, which JSON cannot say.", "Give plain JSON."
        )
    return {"encoded": encoded}


def _is_plain(value: Any, depth: int) -> bool:
    if value is None or type(value) in (bool, int, str):
        return True
    if type(value) is float:
        return math.isfinite(value)
    if depth > MAX_DEPTH:
        return False
    if type(value) is list:
        return all(_is_plain(one, depth + 1) for one in value)
    return type(value) is dict and all(type(key) is str and _is_plain(one, depth + 1) for key, one in value.items())


def entry_of(entry: Any, key: str, kind: type[T], pointer: str) -> T:
    """What stands under a key of a saved object.

    Args:
        entry: the object.
        key: the key.
        kind: of which type it is.
        pointer: the place of the object.

    Raises:
        RebuildError: it is not there or of another type.
    """
    found = option_of(entry, key, kind, pointer)
    if found is None:
        raise RebuildError("the saved game", f"'{key}' is missing.", pointer=pointer)
    return found


def option_of(entry: Any, key: str, kind: type[T], pointer: str) -> T | None:
    """What stands under a key of a saved object that may be left out.

    Args:
        entry: the object.
        key: the key.
        kind: of which type it is.
        pointer: the place of the object.

    Returns:
        What stands there; None if nothing does.

    Raises:
        RebuildError: it is of another type.
    """
    if not isinstance(entry, dict):
        raise RebuildError("the saved game", f"this is {shown(entry)}, and not an object.", pointer=pointer)
    value: Any = entry.get(key)
    if value is not None and not _is(value, kind):
        words = f"this is {shown(value)}, and not {_WORDS[kind]}."
        raise RebuildError("the saved game", words, pointer=pointer + pointer_to((key,)))
    found: T | None = value
    return found


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


class Reader:
    """Reads what was saved, and hears of what cannot be rebuilt.

    Args:
        saved: plain JSON values.
        lost: told of each fault; without it, the first is raised.
    """

    __slots__ = ("_lost", "_saved")

    def __init__(self, saved: Any, lost: Lost | None) -> None:
        self._saved = saved
        self._lost = lost

    def entries(self) -> Iterator[tuple[str, Any]]:
        """The entries of a saved list, each with its place.

        Raises:
            RebuildError: it is no list.
        """
        if not isinstance(self._saved, list):
            raise RebuildError("the saved game", f"this is {shown(self._saved)}, and not a list.")
        for index, entry in enumerate(self._saved):
            yield f"/{index}", entry

    def items(self) -> Iterator[tuple[str, str, Any]]:
        """The entries of a saved object: each one's place, its name and what stands there.

        Raises:
            RebuildError: it is no object.
        """
        if not isinstance(self._saved, dict):
            raise RebuildError("the saved game", f"this is {shown(self._saved)}, and not an object.")
        for name, entry in self._saved.items():
            yield pointer_to((str(name),)), str(name), entry

    @contextmanager
    def guard(self, pointer: str, subject: str) -> Iterator[None]:
        """Make of whatever goes wrong in a block one error with its place, and tell or raise it.

        Args:
            pointer: the place.
            subject: what cannot be rebuilt then.
        """
        try:
            yield
        except AgentRTError as error:
            if isinstance(error, RebuildError):
                fault = error
            else:
                fault = RebuildError(subject, error.text, pointer=pointer)
                fault.__cause__ = error
            if self._lost is None:
                raise fault from fault.__cause__
            self._lost(fault)

    def args(self, args: dict[str, Any], decode: Decode | None, pointer: str) -> dict[str, Any]:
        """Read saved arguments.

        Args:
            args: them.
            decode: finds again what was encoded.
            pointer: their place.

        Raises:
            RebuildError: one cannot be read.
        """
        return self._args(args, decode, pointer, 1)

    def _args(self, args: dict[str, Any], decode: Decode | None, pointer: str, depth: int) -> dict[str, Any]:
        places = ((str(name), value, pointer + pointer_to((str(name),))) for name, value in args.items())
        return {name: self.read(value, decode, place, depth) for name, value, place in places}

    def read(self, value: Any, decode: Decode | None, pointer: str, depth: int = 1) -> Any:
        """Read a value that ``write`` wrote.

        Args:
            value: plain JSON.
            decode: finds again what was encoded.
            pointer: its place.
            depth: how deep it lies.

        Raises:
            RebuildError: it is not what ``write`` writes, or what it stands for is gone.
        """
        if depth > MAX_DEPTH:
            raise RebuildError("the saved game", f"it is nested deeper than {MAX_DEPTH} levels.", pointer=pointer)
        if isinstance(value, list):
            return [self.read(one, decode, f"{pointer}/{index}", depth + 1) for index, one in enumerate(value)]
        if not isinstance(value, dict):
            return value
        kind, inner = next(iter(value.items()), ("", None)) if len(value) == 1 else ("", None)
        if kind == "map" and isinstance(inner, dict):
            return self._args(inner, decode, pointer + "/map", depth + 1)
        if kind == "tuple" and isinstance(inner, list):
            return tuple(self.read(inner, decode, pointer + "/tuple", depth))
        if kind == "encoded":
            return _decoded(inner, decode, pointer)
        raise RebuildError("the saved game", "this object is none of map, tuple and encoded.", pointer=pointer)


def _decoded(value: Any, decode: Decode | None, pointer: str) -> Any:
    if decode is None:
        raise RebuildError("an encoded value", "there is no 'decode' that finds it again. Give one.", pointer=pointer)
    try:
        return decode(value)
    except LookupError as error:
        raise RebuildError("an encoded value", f"it is gone: {words_of(error)}", pointer=pointer) from error


Holder = Agent | TaskGroups | TaskGroup | Iterable[TaskGroup]
"""Whose task groups: an agent's personal ones, a town's, one, or any others."""


# --- packs ------------------------------------------------------------------------------------------------------------


def save_packs(agent: Agent, *, bearers: bool = True) -> list[dict[str, Any]]:
    """Write down what an agent was taught since it was made.

    Args:
        agent: the agent.
        bearers: whether to include what it has by ``inject_from``. Leave it out if the game puts on equipment, gives
            jobs and casts buffs again, which injects them.

    Returns:
        Plain JSON: for each injection its ``source`` and its ``packs``, aliases and packs written in place.

    Raises:
        DefinitionError: an action or a strategy was injected that nobody registered.

    Source: Stonehearth, AI: "Persistence".
    """
    saved: list[dict[str, Any]] = []
    for injection in agent.injections:
        if injection.what is not None and (bearers or injection.bearer is None):
            packs = [_pack(agent, one) for one in injection.what]
            saved.append({"source": injection.source, "packs": packs})
    return saved


def _pack(agent: Agent, one: Any) -> Any:
    if isinstance(one, str):
        return one
    if isinstance(one, Pack):
        return one.alias or one.as_json()
    alias = agent.registry.name_of(one)
    if not alias:
        raise DefinitionError(
            f"{one.__module__}.{one.__qualname__}",
            "it was injected, but nobody registered it, so that a saved game cannot name it.",
            "Register it under an alias; or give it to Agent(actions=[...]), which is not saved.",
        )
    return {"actions" if issubclass(one, Action) else "strategies": [alias]}


def restore_packs(agent: Agent, saved: Any, *, lost: Lost | None = None) -> list[Injection]:
    """Teach an agent again what it was taught.

    Args:
        agent: an agent that was made again.
        saved: what ``save_packs`` gave.
        lost: told of each injection that is no longer possible; without it, the first is raised.

    Returns:
        The injections, in order.

    Raises:
        RebuildError: an alias is no longer registered, a pack is not valid, or does not fit the agent.

    Source: Stonehearth, AI: "Persistence".
    """
    reader = Reader(saved, lost)
    injections: list[Injection] = []
    try:
        for pointer, entry in reader.entries():
            with reader.guard(pointer, f"what {agent.name!r} was taught"):
                source = entry_of(entry, "source", str, pointer)
                packs = [
                    _checked(agent, pack, f"{pointer}/packs/{index}")
                    for index, pack in enumerate(entry_of(entry, "packs", list, pointer))
                ]
                injections.append(agent.inject(*packs, source=source))
    except AgentRTError:
        for injection in reversed(injections):
            injection.revoke()
        raise
    return injections


def _checked(agent: Agent, pack: Any, pointer: str) -> str | Pack:
    """A saved pack, if there is one; else an error with its own place, and not only that of its injection."""
    subject = f"what {agent.name!r} was taught"
    if not isinstance(pack, (str, dict)):
        words = f"this is {shown(pack)}, and no pack. Write its alias, or the pack in place."
        raise RebuildError(subject, words, pointer=pointer)
    try:
        if isinstance(pack, dict):
            return load_pack(pack)
        agent.registry.pack(pack)
    except AgentRTError as error:
        raise RebuildError(subject, error.text, pointer=pointer) from error
    return pack


# --- groups -----------------------------------------------------------------------------------------------------------


def save_groups(holder: Holder, encode: Encode | None = None) -> dict[str, Any]:
    """Write down who is in task groups, and what code added to them.

    Args:
        holder: an agent, for its personal groups; a town's book; or other groups.
        encode: makes plain JSON of what is not, in the arguments of permanent tasks.

    Returns:
        Plain JSON: for each group, by name, its ``members`` by name, and its ``extensions``.

    Raises:
        DefinitionError: two groups have one name, or an argument cannot be written.

    Source: Stonehearth, AI: "Persistence".
    """
    theirs = _own_extensions(holder)
    saved: dict[str, Any] = {}
    for name, group in _groups(holder).items():
        extensions = [
            [_declaration(one, encode, f"what was added to {name}") for one in extension.declarations]
            for extension in group.extensions
            if not any(extension is other for other in theirs)
        ]
        members = [] if group.owner is not None else [member.name for member in group.members]
        saved[name] = {"members": members, "extensions": extensions}
    return saved


def _own_extensions(holder: Holder) -> tuple[Any, ...]:
    """The extensions that come back by themselves, with packs and documents."""
    if isinstance(holder, Agent):
        return holder.group_extensions
    return holder.extensions if isinstance(holder, TaskGroups) else ()


def _declaration(one: TaskDeclaration, encode: Encode | None, where: str) -> dict[str, Any]:
    return {
        "activity": one.activity,
        "utility": one.low if one.low == one.high else [one.low, one.high],
        "multiple": one.is_multiple,
        "permanent": one.is_permanent,
        "args": {name: write(value, encode, f"{where}, argument '{name}'") for name, value in one.args.items()},
    }


def restore_groups(
    holder: Holder,
    saved: Any,
    agents: Mapping[str, Agent] | Iterable[Agent],
    decode: Decode | None = None,
    *,
    lost: Lost | None = None,
) -> None:
    """Put agents back into task groups, and add to the groups again what code had added.

    Args:
        holder: as for ``save_groups``, made again.
        saved: what it gave.
        agents: the agents by name, or agents, such as ``runtime.agents``.
        decode: finds again what ``encode`` wrote.
        lost: told of each thing that is no longer there; without it, the first is raised.

    Raises:
        RebuildError: a group or an agent is no longer there, or an extension does not fit.

    Source: Stonehearth, AI: "Persistence".
    """
    known: Mapping[str, Agent]
    if isinstance(agents, Mapping):
        known = cast("Mapping[str, Agent]", agents)
    else:
        known = {agent.name: agent for agent in agents}
    groups = _groups(holder)
    reader = Reader(saved, lost)
    undo: list[Callable[[], object]] = []
    try:
        for pointer, name, entry in reader.items():
            with reader.guard(pointer, f"the task group '{name}'"):
                group = _group(groups, name, pointer)
                for index, member in enumerate(entry_of(entry, "members", list, pointer)):
                    place = f"{pointer}/members/{index}"
                    with reader.guard(place, f"the member {member!r} of '{name}'"):
                        _put_back(holder, group, _member(known, member, group, place), undo)
                for index, declared in enumerate(entry_of(entry, "extensions", list, pointer)):
                    place = f"{pointer}/extensions/{index}"
                    with reader.guard(place, f"what was added to '{name}'"):
                        undo.append(group.extend(_declarations(declared, decode, place)).revoke)
    except AgentRTError:
        for take_back in reversed(undo):
            take_back()
        raise


def _member(known: Mapping[str, Agent], name: Any, group: TaskGroup, pointer: str) -> Agent:
    agent = known.get(name) if isinstance(name, str) else None
    if agent is None:
        near = did_you_mean(name, known) if isinstance(name, str) else ""
        words = f"there is no agent of that name.{near} Make it before you restore groups."
        raise RebuildError(f"the member {shown(name)} of '{group.name}'", words, pointer=pointer)
    return agent


def _put_back(holder: Holder, group: TaskGroup, agent: Agent, undo: list[Callable[[], object]]) -> None:
    if agent not in group.members:
        if isinstance(holder, TaskGroups):
            holder.put_back(agent, group.name)
            undo.append(lambda: holder.remove(agent, [group.name]))
        else:
            group.add(agent)
            undo.append(lambda: group.remove(agent))


def _declarations(declared: Any, decode: Decode | None, pointer: str) -> list[TaskDeclaration]:
    if not isinstance(declared, list):
        raise RebuildError("an extension", "it is no list.", pointer=pointer)
    found: list[TaskDeclaration] = []
    for index, one in enumerate(declared):
        place = f"{pointer}/{index}"
        read = Reader(None, None).args(entry_of(one, "args", dict, place), decode, f"{place}/args")
        for key, kind in (("activity", str), ("multiple", bool), ("permanent", bool)):
            entry_of(one, key, kind, place)
        pair = one.get("utility")
        if pair is None or (isinstance(pair, list) and len(pair) != 2):
            words = f"this is {shown(pair)}, and no utility: neither a number nor two of them."
            raise RebuildError("an extension", words, pointer=f"{place}/utility")
        found.extend(declarations_of([{**one, "args": read}]))
    return found


# --- tasks ------------------------------------------------------------------------------------------------------------


def save_tasks(holder: Holder, encode: Encode | None = None) -> list[dict[str, Any]]:
    """Write down the tasks of groups that are not over. Permanent ones are left out: they come with their groups.

    Args:
        holder: an agent, for its personal groups; a town's book; or other groups.
        encode: makes plain JSON of what is not, in arguments and sources: of an entity its id, say.

    Returns:
        Plain JSON: for each task its group, activity, arguments, state, and whatever it was configured with.

    Raises:
        DefinitionError: two groups have one name, or a value cannot be written.

    Source: Stonehearth, AI: "Persistence".
    """
    return [_task(task, encode) for group in _groups(holder).values() for task in group.tasks if not task.is_permanent]


def _task(task: Task, encode: Encode | None) -> dict[str, Any]:
    where = f"task {task.number} of {task.group.name}"
    saved: dict[str, Any] = {
        "group": task.group.name,
        "activity": task.activity,
        "args": {name: write(value, encode, f"{where}, argument '{name}'") for name, value in task.args.items()},
        "state": task.state.value,
    }
    if task.remaining is not None:
        saved["times"] = task.remaining
    if task.worker_limit is not None:
        saved["max_workers"] = task.worker_limit
    if task.annotation:
        saved["annotation"] = task.annotation
    if task.source is not None:
        saved["source"] = write(task.source, encode, f"{where}, source")
    return saved


def restore_tasks(holder: Holder, saved: Any, decode: Decode | None = None, *, lost: Lost | None = None) -> list[Task]:
    """Create tasks again. Those that were started are started.

    Args:
        holder: as for ``save_tasks``, made again.
        saved: what it gave.
        decode: finds again what ``encode`` wrote, or raises ``LookupError``.
        lost: told of each task that is no longer possible; without it, the first is raised.

    Returns:
        The tasks, in order; attach callbacks to them.

    Raises:
        RebuildError: a group, an activity or an entity is no longer there, or the arguments do not fit.

    Source: Stonehearth, AI: "Persistence".
    """
    groups = _groups(holder)
    reader = Reader(saved, lost)
    restored: list[tuple[Task, bool]] = []
    try:
        for pointer, entry in reader.entries():
            with reader.guard(pointer, "the task"):
                restored.append(_restored(groups, reader, entry, decode, pointer))
    except AgentRTError:
        for task, _ in reversed(restored):
            task.destroy()
        raise
    for task, is_started in restored:
        if is_started:
            task.start()
    return [task for task, _ in restored]


def _restored(
    groups: Mapping[str, TaskGroup], reader: Reader, entry: Any, decode: Decode | None, pointer: str
) -> tuple[Task, bool]:
    group = _group(groups, entry_of(entry, "group", str, pointer), f"{pointer}/group")
    activity = entry_of(entry, "activity", str, pointer)
    state = entry_of(entry, "state", str, pointer)
    if state not in (TaskState.PAUSED, TaskState.STARTED):
        raise RebuildError("the task", f"its state is {shown(state)}.", pointer=f"{pointer}/state")
    times = option_of(entry, "times", int, pointer)
    workers = option_of(entry, "max_workers", int, pointer)
    for key, limit in (("times", times), ("max_workers", workers)):
        if limit is not None and limit < 1:
            raise RebuildError("the task", f"'{key}' is {limit}, and not 1 or more.", pointer=f"{pointer}/{key}")
    annotation = option_of(entry, "annotation", str, pointer) or ""
    source = reader.read(entry["source"], decode, f"{pointer}/source") if "source" in entry else None
    args = reader.args(entry_of(entry, "args", dict, pointer), decode, f"{pointer}/args")
    task = group.create_task(activity, args).set_annotation(annotation).set_source(source)
    if times is not None:
        task.times(times)
    if workers is not None:
        task.max_workers(workers)
    return task, state == TaskState.STARTED


def _groups(holder: Holder) -> dict[str, TaskGroup]:
    """The groups by name."""
    if isinstance(holder, Agent):
        listed: Iterable[TaskGroup] = [group for group in holder.task_groups if group.owner is holder]
    else:
        listed = [holder] if isinstance(holder, TaskGroup) else holder
    found: dict[str, TaskGroup] = {}
    for group in listed:
        if found.setdefault(group.name, group) is not group:
            raise DefinitionError(group.name, "two task groups have this name.", "Save each of them by itself.")
    return found


def _group(groups: Mapping[str, TaskGroup], name: str, pointer: str) -> TaskGroup:
    group = groups.get(name)
    if group is None:
        text = f"there is none of that name.{did_you_mean(name, groups)} There: {', '.join(groups) or 'none'}."
        raise RebuildError(f"the task group '{name}'", text, pointer=pointer)
    return group
