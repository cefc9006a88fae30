"""Rebuilding: what a game does after it has loaded a saved game. The state of agents itself is never saved.

A game saves its own things: the world, its entities, who has which job and wears what. Of its agents four things are
worth keeping beside that, and each is one call that writes plain JSON values, and one that reads them:

* ``save_packs``, ``restore_packs``: what an agent was taught while it lived;
* ``save_groups``, ``restore_groups``: who is in which task group, and what code added to a group;
* ``save_tasks``, ``restore_tasks``: the tasks that were created;
* ``save_leases``, ``restore_leases``: what an agent had reserved, which is kept for it until its new plans had time to
  come for it.

What comes back by itself is not saved: what an agent has since it was made (the arguments of ``Agent``, its entity's
own list), what packs and documents add to groups, permanent tasks. Callbacks of tasks cannot be saved: attach them to
what ``restore_tasks`` returns; nothing is told before the next intake.

The order after loading: make the agents and add them to the runtime; ``restore_packs``, for each; make the town's
groups, give jobs, ``restore_groups``; ``restore_tasks``, for the town and for each agent; ``restore_leases``, for each.

Values that JSON cannot say (entities, above all) go through two functions of the game: ``encode`` makes plain JSON of
one, ``decode`` finds it again, or raises ``LookupError`` if it is gone. ``write`` and ``read`` are each other's
inverse: what JSON says as it is stays as it is, and a saved object is always one of three, so that what a game encodes
is never taken for a mapping of its own: ``{"map": {...}}``, ``{"tuple": [...]}`` or ``{"encoded": ...}``.

Whatever cannot be rebuilt is a ``RebuildError`` with its place in what was saved; the call has changed nothing then.
With a function ``lost`` it is told of each instead, and the rest is rebuilt.

A saved game may come from a stranger: whatever stands in it, a ``RebuildError`` with its place comes out, and nothing
deeper than ``MOST_LEVELS`` is followed.

Source: Stonehearth, AI: "Persistence".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from agentrt.activity.author.action import Action
from agentrt.activity.tasks.declare import TaskDeclaration
from agentrt.activity.tasks.group import TaskGroup, TaskState
from agentrt.agent.agent import Agent
from agentrt.errors import AgentRTError, DefinitionError, RebuildError, did_you_mean
from agentrt.packs.alias import pointer_to, shown
from agentrt.packs.loader import Pack, load_pack
from agentrt.packs.task_groups import declarations_of
from agentrt.tasks import TaskGroups
from agentrt.words import MOST_LEVELS, repr_of, unplain, words_of

if TYPE_CHECKING:
    from agentrt.activity.tasks.group import Extension, Task
    from agentrt.agent.knowledge import Injection

__all__ = [
    "restore_groups",
    "restore_leases",
    "restore_packs",
    "restore_tasks",
    "save_groups",
    "save_leases",
    "save_packs",
    "save_tasks",
]


Encode = Callable[[Any], Any]  # makes plain JSON of a value of the game's own
Decode = Callable[[Any], Any]  # finds again what was encoded, or raises ``LookupError``
Lost = Callable[[RebuildError], object]  # told of what cannot be rebuilt
Holder = Agent | TaskGroups | TaskGroup | Iterable[TaskGroup]  # of an agent its personal groups, of a town all


# --- values -----------------------------------------------------------------------------------------------------------


def write(value: Any, encode: Encode | None, where: str, depth: int = 1) -> Any:
    """Plain JSON of a value, which errors call ``where``."""
    if depth > MOST_LEVELS:
        raise DefinitionError(where, f"it is nested deeper than {MOST_LEVELS} levels.", "Save what it was made from.")
    kind = type(value)  # exactly: one of a subclass would come back as something else, and is for 'encode' to write
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
    if problem := unplain(encoded, depth=depth):
        raise DefinitionError(where, f"encode made {repr_of(encoded)} of it: {problem}.", "Give plain JSON.")
    return {"encoded": encoded}


def _write_args(args: Mapping[str, Any], encode: Encode | None, where: str) -> dict[str, Any]:
    return {name: write(value, encode, f"{where}, argument '{name}'") for name, value in args.items()}


def read(value: object, decode: Decode | None, pointer: str, depth: int = 1) -> Any:
    """The value that ``write`` wrote."""
    if depth > MOST_LEVELS:
        raise _broken(f"it is nested deeper than {MOST_LEVELS} levels.", pointer)
    if isinstance(value, list):
        return [read(one, decode, f"{pointer}/{index}", depth + 1) for index, one in enumerate(value)]
    if not isinstance(value, dict):
        return value
    kind, inner = next(iter(value.items()), ("", None)) if len(value) == 1 else ("", None)
    if kind == "map" and isinstance(inner, dict):
        return _read_args(inner, decode, pointer + "/map", depth + 1)
    if kind == "tuple" and isinstance(inner, list):
        return tuple(read(inner, decode, pointer + "/tuple", depth))
    if kind == "encoded":
        return _decoded(inner, decode, pointer)
    raise _broken("this object is none of map, tuple and encoded.", pointer)


def _read_args(args: dict[str, Any], decode: Decode | None, pointer: str, depth: int = 1) -> dict[str, Any]:
    places = ((str(name), value, pointer + pointer_to((str(name),))) for name, value in args.items())
    return {name: read(value, decode, place, depth) for name, value, place in places}


def _decoded(value: object, decode: Decode | None, pointer: str) -> Any:
    if decode is None:
        raise RebuildError("an encoded value", "there is no 'decode' that finds it again. Give one.", pointer=pointer)
    try:
        return decode(value)
    except LookupError as error:
        raise RebuildError("an encoded value", f"it is gone: {words_of(error)}", pointer=pointer) from error


# --- what was saved ---------------------------------------------------------------------------------------------------

T = TypeVar("T")

_WORDS: Mapping[type, str] = {
    str: "a text",
    list: "a list",
    dict: "an object",
    bool: "true or false",
    int: "a whole number",
}


def _broken(problem: str, pointer: str = "") -> RebuildError:
    return RebuildError("the saved game", problem, pointer=pointer)


def _entry(entry: object, key: str, kind: type[T], pointer: str) -> T:
    """What stands under a key of a saved object."""
    found = _option(entry, key, kind, pointer)
    if found is None:
        raise _broken(f"'{key}' is missing.", pointer)
    return found


def _option(entry: object, key: str, kind: type[T], pointer: str) -> T | None:
    """What stands under a key of a saved object that may be left out."""
    if not isinstance(entry, dict):
        raise _broken(f"this is {shown(entry)}, and not an object.", pointer)
    value = entry.get(key)
    if value is None or (isinstance(value, kind) and not (kind is int and isinstance(value, bool))):
        return value
    raise _broken(f"this is {shown(value)}, and not {_WORDS[kind]}.", pointer + pointer_to((key,)))


def _entries(saved: object) -> Iterator[tuple[str, Any]]:
    """The entries of a saved list, each with its place."""
    if not isinstance(saved, list):
        raise _broken(f"this is {shown(saved)}, and not a list.")
    for index, entry in enumerate(saved):
        yield f"/{index}", entry


def _items(saved: object) -> Iterator[tuple[str, str, Any]]:
    """The entries of a saved object: each one's place, its name and what stands there."""
    if not isinstance(saved, dict):
        raise _broken(f"this is {shown(saved)}, and not an object.")
    for name, entry in saved.items():
        yield pointer_to((str(name),)), str(name), entry


@contextmanager
def _guard(lost: Lost | None, pointer: str, subject: str) -> Iterator[None]:
    """Make of whatever goes wrong in a block one error with its place, and tell or raise it."""
    try:
        yield
    except AgentRTError as error:
        if isinstance(error, RebuildError):
            fault = error
        else:
            fault = RebuildError(subject, error.text, pointer=pointer)
            fault.__cause__ = error
        if lost is None:
            raise fault from fault.__cause__
        lost(fault)


@contextmanager
def _all_or_nothing() -> Iterator[list[Callable[[], object]]]:
    """Give a list for what takes back what a block does; if that raises it is called, the newest first."""
    undo: list[Callable[[], object]] = []
    try:
        yield undo
    except AgentRTError:
        for take_back in reversed(undo):
            take_back()
        raise


def _groups(holder: Holder) -> dict[str, TaskGroup]:
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


# --- packs ------------------------------------------------------------------------------------------------------------


def save_packs(agent: Agent, *, bearers: bool = True) -> list[dict[str, Any]]:
    """Write down what an agent was taught since it was made.

    Args:
        agent: whose injections.
        bearers: whether to include what it has by ``inject_from``. Leave it out if the game puts on equipment, gives
            jobs and casts buffs again, which injects them.

    Returns:
        Plain JSON: for each injection its ``source`` and its ``packs``, aliases and packs written in place.

    Raises:
        DefinitionError: an action or a strategy was injected that nobody registered.
    """
    return [
        {"source": injection.source, "packs": [_pack(agent, one) for one in injection.what]}
        for injection in agent.injections
        if injection.what is not None and (bearers or injection.bearer is None)
    ]


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


def restore_packs(agent: Agent, saved: object, *, lost: Lost | None = None) -> list[Injection]:
    """Teach an agent that was made again what it was taught, as ``save_packs`` gave it.

    Args:
        agent: the agent.
        saved: what ``save_packs`` gave.
        lost: told of each injection that is no longer possible; without it, the first is raised.

    Returns:
        The injections, in order.

    Raises:
        RebuildError: an alias is no longer registered, a pack is not valid, or does not fit the agent.
    """
    injections: list[Injection] = []
    with _all_or_nothing() as undo:
        for pointer, entry in _entries(saved):
            with _guard(lost, pointer, f"what {agent.name!r} was taught"):
                source = _entry(entry, "source", str, pointer)
                packs = [
                    _checked(agent, pack, f"{pointer}/packs/{index}")
                    for index, pack in enumerate(_entry(entry, "packs", list, pointer))
                ]
                injections.append(agent.inject(*packs, source=source))
                undo.append(injections[-1].revoke)
    return injections


def _checked(agent: Agent, pack: object, pointer: str) -> str | Pack:
    """A saved pack, if there is one; else an error with its own place, and not only that of its injection."""
    subject = f"what {agent.name!r} was taught"
    if not isinstance(pack, (str, dict)):
        words = f"this is {shown(pack)}, and no pack. Write its alias, or the pack in place."
        raise RebuildError(subject, words, pointer=pointer)
    with _guard(None, pointer, subject):
        if isinstance(pack, dict):
            return load_pack(pack)
        agent.registry.pack(pack)
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
    """
    theirs = _own_extensions(holder)
    saved: dict[str, Any] = {}
    for name, group in _groups(holder).items():
        extensions = [
            [_declaration(one, encode, f"what was added to {name}") for one in extension.declarations]
            for extension in group.extensions
            if extension not in theirs
        ]
        members = [] if group.owner is not None else [member.name for member in group.members]
        saved[name] = {"members": members, "extensions": extensions}
    return saved


def _own_extensions(holder: Holder) -> tuple[Extension, ...]:
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
        "args": _write_args(one.args, encode, where),
    }


def restore_groups(
    holder: Holder,
    saved: object,
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
    """
    if isinstance(agents, Mapping):
        known: Mapping[Any, Agent] = agents  # asked for names alone: it may find more than it lists
    else:
        known = {agent.name: agent for agent in agents}
    groups = _groups(holder)
    with _all_or_nothing() as undo:
        for pointer, name, entry in _items(saved):
            with _guard(lost, pointer, f"the task group '{name}'"):
                group = _group(groups, name, pointer)
                for index, member in enumerate(_entry(entry, "members", list, pointer)):
                    place = f"{pointer}/members/{index}"
                    with _guard(lost, place, f"the member {member!r} of '{name}'"):
                        _put_back(holder, group, _member(known, member, group, place), undo)
                for index, declared in enumerate(_entry(entry, "extensions", list, pointer)):
                    place = f"{pointer}/extensions/{index}"
                    with _guard(lost, place, f"what was added to '{name}'"):
                        undo.append(group.extend(_declarations(declared, decode, place)).revoke)


def _member(known: Mapping[str, Agent], name: object, group: TaskGroup, pointer: str) -> Agent:
    agent = known.get(name) if isinstance(name, str) else None
    if agent is None:
        near = did_you_mean(name, map(str, known)) if isinstance(name, str) else ""
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


def _declarations(declared: object, decode: Decode | None, pointer: str) -> list[TaskDeclaration]:
    if not isinstance(declared, list):
        raise RebuildError("an extension", "it is no list.", pointer=pointer)
    found: list[TaskDeclaration] = []
    for index, one in enumerate(declared):
        place = f"{pointer}/{index}"
        args = _read_args(_entry(one, "args", dict, place), decode, f"{place}/args")
        for key, kind in (("activity", str), ("multiple", bool), ("permanent", bool)):
            _entry(one, key, kind, place)
        pair = one.get("utility")
        if pair is None or (isinstance(pair, list) and len(pair) != 2):
            words = f"this is {shown(pair)}, and no utility: neither a number nor two of them."
            raise RebuildError("an extension", words, pointer=f"{place}/utility")
        found.extend(declarations_of([{**one, "args": args}]))
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
    """
    return [_task(task, encode) for group in _groups(holder).values() for task in group.tasks if not task.is_permanent]


def _task(task: Task, encode: Encode | None) -> dict[str, Any]:
    where = f"task {task.number} of {task.group.name}"
    saved: dict[str, Any] = {
        "group": task.group.name,
        "activity": task.activity,
        "args": _write_args(task.args, encode, where),
        "state": task.state.value,
        "times": task.remaining,
        "max_workers": task.worker_limit,
        "annotation": task.annotation or None,
        "source": None if task.source is None else write(task.source, encode, f"{where}, source"),
    }
    return {key: value for key, value in saved.items() if value is not None}


def restore_tasks(
    holder: Holder, saved: object, decode: Decode | None = None, *, lost: Lost | None = None
) -> list[Task]:
    """Create the tasks again that ``save_tasks`` wrote down. Those that were started are started.

    Args:
        holder: as for ``save_tasks``, made again.
        saved: what it gave.
        decode: finds again what ``encode`` wrote, or raises ``LookupError``.
        lost: told of each task that is no longer possible; without it, the first is raised.

    Returns:
        The tasks, in order; attach callbacks to them.

    Raises:
        RebuildError: a group, an activity or an entity is no longer there, or the arguments do not fit.
    """
    groups = _groups(holder)
    restored: list[tuple[Task, bool]] = []
    with _all_or_nothing() as undo:
        for pointer, entry in _entries(saved):
            with _guard(lost, pointer, "the task"):
                restored.append(_restored(groups, entry, decode, pointer))
                undo.append(restored[-1][0].destroy)
    for task, is_started in restored:  # only now, when none of them is taken back any more
        if is_started:
            task.start()
    return [task for task, _ in restored]


def _restored(groups: Mapping[str, TaskGroup], entry: Any, decode: Decode | None, pointer: str) -> tuple[Task, bool]:
    group = _group(groups, _entry(entry, "group", str, pointer), f"{pointer}/group")
    activity = _entry(entry, "activity", str, pointer)
    state = _entry(entry, "state", str, pointer)
    if state not in (TaskState.PAUSED, TaskState.STARTED):
        raise RebuildError("the task", f"its state is {shown(state)}.", pointer=f"{pointer}/state")
    times = _option(entry, "times", int, pointer)
    workers = _option(entry, "max_workers", int, pointer)
    for key, limit in (("times", times), ("max_workers", workers)):
        if limit is not None and limit < 1:
            raise RebuildError("the task", f"'{key}' is {limit}, and not 1 or more.", pointer=f"{pointer}/{key}")
    annotation = _option(entry, "annotation", str, pointer) or ""
    source = read(entry["source"], decode, f"{pointer}/source") if "source" in entry else None
    args = _read_args(_entry(entry, "args", dict, pointer), decode, f"{pointer}/args")
    task = group.create_task(activity, args).set_annotation(annotation).set_source(source)
    if times is not None:
        task.times(times)
    if workers is not None:
        task.max_workers(workers)
    return task, state == TaskState.STARTED


# --- leases -----------------------------------------------------------------------------------------------------------


def save_leases(agent: Agent, encode: Encode) -> list[Any]:
    """Write down what an agent has reserved.

    Args:
        agent: whose leases; it is in a runtime.
        encode: makes plain JSON of a thing, such as its id; None for one that is not to be kept.

    Returns:
        Plain JSON, in the order in which the agent got them; last what is promised to it.

    Raises:
        DefinitionError: ``encode`` made something else.
    """
    saved: list[Any] = []
    for thing in () if agent.runtime is None else agent.runtime.leases.reserved_for(agent):
        encoded = encode(thing)
        if problem := unplain(encoded):
            where = f"what {agent.name!r} has reserved"
            raise DefinitionError(where, f"encode made {repr_of(encoded)} of it: {problem}.", "Give plain JSON.")
        if encoded is not None:
            saved.append(encoded)
    return saved


def restore_leases(
    agent: Agent, saved: object, decode: Decode, *, ticks: int = 20, lost: Lost | None = None
) -> list[Any]:
    """Keep for an agent what it had reserved: its plans begin anew, and nobody comes between.

    For all others the things are taken, and its own actions reserve them as ever. What none has reserved in time is
    free again.

    Args:
        agent: the agent; it was added to its runtime.
        saved: what ``save_leases`` gave.
        decode: finds a thing again.
        ticks: how many ticks later what was not reserved is free; at least 1.
        lost: told of each thing that is gone, or that somebody else has; without it, the first is raised.

    Returns:
        The things that are kept for it.

    Raises:
        RebuildError: a thing is gone, or somebody else has it.
        ValueError: ``ticks`` is less than 1.
    """
    if ticks < 1:
        raise ValueError(f"restore_leases(ticks={ticks}): it takes a whole number of at least 1")
    subject = f"what {agent.name!r} had reserved"
    runtime = agent.runtime
    if runtime is None:
        raise RebuildError(subject, "the agent is in no runtime. Add it first.")
    things: list[Any] = []
    for pointer, entry in _entries(saved):
        with _guard(lost, pointer, subject):
            thing = _decoded(entry, decode, pointer)
            if not runtime.leases.promise(thing, agent, runtime.kernel, ticks):
                raise RebuildError(subject, "somebody else has it, or it is destroyed.", pointer=pointer)
            things.append(thing)
    return things
