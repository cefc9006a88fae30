"""Tuning: what a script may change of what runs, besides what comes in: numbers, variables, packs.

A change is an input like any other, under a reserved name, with plain values. So it stands at its place of an intake, a
recording keeps it, a replay repeats it, and a script may take it out again. Whoever feeds a run puts the three inputs
up (``put_up``); the world knows nothing of them.

* ``agentrt:set``: a number of an action (``utility``, ``weight``, ``sunk_cost_boost``), the ``priority`` of a goal, or
  a ``variable`` of a selection tree; of one agent or of all who have it.
* ``agentrt:inject``, ``agentrt:revoke``: a pack, by its alias, for one agent or for all.

Nothing is named that the world does not offer: actions and goals are those that its agents have, and an alias is looked
up in the agent's own registry. Names of modules and files mean nothing here. A change that finds nothing is an
``EditError`` with the nearest name that is there.

``read_change`` knows the shapes and the ranges, so that a script that is wrong is refused before anything is run;
``apply_change`` knows who is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from agentrt.errors import AgentRTError, EditError, did_you_mean
from agentrt.goals.selector import GoalSelector
from agentrt.runtime.intake import RESERVED
from agentrt.selection.state import SelectionState
from agentrt.words import few, repr_of, words_of

if TYPE_CHECKING:
    from agentrt.agent.agent import Agent
    from agentrt.agent.knowledge import Injection
    from agentrt.runtime.runtime import Runtime

TUNES: Final = ("set", "inject", "revoke")
NUMBERS: Final = ("utility", "weight", "sunk_cost_boost", "priority", "variable")
EXAMPLE: Final = 'Write for example {"tick": 40, "set": "utility", "of": "Eat", "to": 0.7, "agent": "Ann"}.'

_LONGEST = 500  # characters of a name
_LARGEST = 1e9
_MOST_TOLD = 8


# --- shapes -----------------------------------------------------------------------------------------------------------


def keys_of(does: str) -> tuple[str, ...]:
    """The keys that go with one of ``TUNES`` in a script."""
    return ("of", "to", "agent") if does == "set" else ("agent",)


def read_change(does: str, what: object, data: dict[str, Any]) -> dict[str, Any]:
    """The arguments of the input that a change is, with everything checked that can be known without a run.

    Raises:
        EditError: something is wrong with it.
    """
    agent = data.get("agent", "")
    if not _is_name(agent, may_be_empty=True):
        raise EditError("'agent' is the name of an agent", "Leave it out for all who have it.")
    if does != "set":
        if not _is_name(what):
            raise EditError(f"'{does}' takes the alias of a pack", "Write for example 'mod:ai_pack:brave'.")
        return {"pack": what, "agent": agent}
    if what not in NUMBERS:
        hint = did_you_mean(what, NUMBERS) if isinstance(what, str) else ""
        raise EditError(
            f"'set' is {repr_of(what, 80)}, and not one of {', '.join(NUMBERS)}", f"{hint} {EXAMPLE}".strip()
        )
    if not _is_name(data.get("of")):
        raise EditError(f"'of' is missing: whose {what} it is", EXAMPLE)
    if "to" not in data:
        raise EditError(f"'to' is missing: what the {what} is to be", EXAMPLE, pointer="/to")
    return {"number": what, "of": data["of"], "to": _checked(str(what), data["to"]), "agent": agent}


def _is_name(value: object, *, may_be_empty: bool = False) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST and (may_be_empty or bool(value))


def _is_number(value: object, least: float, most: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most


def _checked(what: str, value: object) -> object:
    # No word of 'to': a form has a field of another name for it, and tells the place by the pointer.
    if what == "variable":
        if type(value) is not bool:
            raise EditError(f"a variable is true or false, and not {repr_of(value, 80)}", "Write true.", pointer="/to")
        return value
    if what == "utility":
        pair: list[Any] = value if type(value) is list else [value, value]
        if len(pair) != 2 or not all(_is_number(one, 0, 1) for one in pair) or pair[0] > pair[1]:
            raise EditError(
                f"a utility is a number from 0 to 1 or a pair [low, high] of them, and not {repr_of(value, 80)}",
                "Write 0.7, or [0.2, 0.7] for an action that declares a range.",
                pointer="/to",
            )
        return value
    least = -_LARGEST if what == "priority" else 0
    if not _is_number(value, least, _LARGEST):
        raise EditError(
            f"a {what} is a number from {least:g} to {_LARGEST:g}, and not {repr_of(value, 80)}",
            "Write 2.",
            pointer="/to",
        )
    return value


# --- a run ------------------------------------------------------------------------------------------------------------


def put_up(runtime: Runtime, failed: Callable[[str, dict[str, Any], EditError], object] | None = None) -> None:
    """Have a runtime take changes as inputs.

    One that finds nothing is told to ``failed``, or else it is raised there, and is a fault of the run.
    """
    for does in TUNES:
        if f"{RESERVED}{does}" not in runtime.inputs:
            runtime.on_input(f"{RESERVED}{does}", partial(_taken, runtime, does, failed))


def _taken(
    runtime: Runtime, does: str, failed: Callable[[str, dict[str, Any], EditError], object] | None, /, **args: Any
) -> None:
    try:
        apply_change(runtime, does, args)
    except EditError as error:
        if failed is None:
            raise
        failed(does, args, error)


def apply_change(runtime: Runtime, does: str, args: dict[str, Any]) -> None:
    """Change something of what runs, between two ticks or at an intake.

    Raises:
        EditError: what is to be changed is not there, or the new value does not fit.
    """
    if does == "set":
        what = args.get("number")
        given = read_change(does, what, args)  # of a recording, which is untrusted
    else:
        given = read_change(does, args.get("pack"), args)
    agents = _meant(runtime, given["agent"])
    try:
        if does == "inject":
            for agent in agents:
                agent.inject(given["pack"], source="a change")
        elif does == "revoke":
            _revoke(agents, given["pack"])
        else:
            _set(agents, given["number"], given["of"], given["to"])
    except EditError:
        raise
    except AgentRTError as error:
        raise EditError(words_of(error).rstrip("."), "Give what the world offers.") from error


def _meant(runtime: Runtime, name: str) -> tuple[Agent, ...]:
    if not name:
        return tuple(runtime.agents)
    found = tuple(agent for agent in runtime.agents if agent.name == name)
    if not found:
        raise _unknown("no agent is called", name, [agent.name for agent in runtime.agents], "There are", "/agent")
    return found


def _set(agents: tuple[Agent, ...], number: str, of: str, to: object) -> None:
    if number == "priority":
        goals = [goal for agent in agents for goal in _selectors(agent)]
        meant = [one for one in goals if of in (one.name, one.goal.name)]
        for one in meant:
            one.priority = to
        known: Iterable[str] = (one.name for one in goals)
    elif number == "variable":
        states = [state for agent in agents for state in _states(agent)]
        known = [name for state in states for name in state.variables]
        folded = of.casefold()
        holders = [state for state in states if folded in (name.casefold() for name in state.variables)]
        for state in holders:
            state.set_variable(of, to is True)
        if not holders:
            raise _unknown("nobody has a variable", of, known, "There are")
        return
    else:
        given: dict[str, Any] = {number: tuple(to) if type(to) is list else to}
        if sum(agent.tune(of, **given) for agent in agents):
            return
        meant, known = [], (action.__name__ for agent in agents for action in agent.actions)
    if not meant:
        kind = "goal" if number == "priority" else "action"
        raise _unknown(f"nobody has {'a' if kind == 'goal' else 'an'} {kind}", of, known, f"The {kind}s are")


def _selectors(agent: Agent) -> Iterator[Any]:
    for driver in agent.drivers.all:
        if isinstance(driver, GoalSelector):
            yield from driver.available_goals


def _states(agent: Agent) -> Iterator[SelectionState]:
    for driver in agent.drivers.all:
        if isinstance(driver, SelectionState):
            yield driver


def _revoke(agents: tuple[Agent, ...], alias: str) -> None:
    held: dict[str, None] = {}
    revoked = 0
    for agent in agents:
        for injection in agent.injections:
            names = packs_in(injection)
            held.update(dict.fromkeys(names))
            if alias in names:
                injection.revoke()
                revoked += 1
    if not revoked:
        raise _unknown("nobody was given a pack", alias, held, "Packs that were given")


def packs_in(injection: Injection) -> list[str]:
    """The packs of an injection, by alias or name; what was given by its class is an action, and no pack."""
    packs = [one for one in injection.loaded if not isinstance(one, type)]
    names = [one if isinstance(one, str) else getattr(one, "name", "") for one in packs]
    return [name for name in names if isinstance(name, str) and name]


def _unknown(problem: str, name: str, known: Iterable[str], there: str, pointer: str = "/of") -> EditError:
    names = tuple(dict.fromkeys(known))
    remedy = f"{there}: {few(names, _MOST_TOLD)}." if names else "There is none of the kind."
    return EditError(f"{problem} {repr_of(name, 80)}", f"{did_you_mean(name, names)} {remedy}".strip(), pointer=pointer)
