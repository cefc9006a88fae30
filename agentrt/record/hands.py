"""Hands on a run that goes on: what somebody who looks may change of what lives.

A change is one input, ``agentrt:hand``, with the change as plain values: an edit as a script of a branch has it (see
``branch`` and ``tuning``), without its tick. So it stands at its place of an intake, a recording keeps it, a replay
does it again on any host, and a script may take it out. It is told by a record of its own in the trace (``hand``), as a
mark of where the run was touched. Besides what ``tuning`` knows:

* ``disable``, ``force`` and ``free``: an ``action``, ``goal``, ``decider`` or ``leaf`` is out, or has its place for
  itself, until it is freed;
* ``set`` a ``stimulus``: it comes (``true``, or for so many seconds), or goes (``false``);
* ``abort`` the ``plan`` of an agent: it is unwound and made anew, and counts as no failure;
* ``send`` an input that the world takes, with arguments that fit its signature (``forms``).

One rule for all that is *forced*: those that compete with it are as though disabled. Whether it can be done now it
still says itself. What competes is, for an action, all that performs its activity; for a goal, those of its selector
that use one of its control flags; for a decider, all besides the way from the root to it; for a leaf, all others of its
tree.

What is in force ends with the agent: when it ends, or is taken out of its runtime. Rejected: a utility beyond all
others for what is forced (it would still wait for what cannot be interrupted, and all that shows a utility would show a
lie); overriding what a hook answers (authors find their targets there).

``Hands`` belongs to one runtime and is found there (``hands_of``). ``read_hand`` knows shapes and ranges, so that what
is wrong is told to whoever asked, with the field; who is there shows when it is done, at the intake.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from agentrt.behavior.memory import Memory
from agentrt.behavior.stimuli import token_name
from agentrt.errors import ENDS_PROGRAM, EditError, did_you_mean
from agentrt.goals.selector import GoalSelector
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.record.forms import Form, checked, form_of
from agentrt.record.tuning import TUNES, apply_change, keys_of, packs_in, read_change
from agentrt.runtime.intake import RESERVED
from agentrt.selection.state import SelectionState
from agentrt.words import few, repr_of, words_of

if TYPE_CHECKING:
    from agentrt.activity.plan.tree import Planner
    from agentrt.agent.agent import Agent
    from agentrt.runtime.runtime import Runtime

HAND: Final = f"{RESERVED}hand"
"""The name of the input."""

STEERS: Final = ("disable", "force", "free")
KINDS: Final = ("action", "goal", "decider", "leaf")
DOES: Final = (*STEERS, *TUNES, "abort", "send")
MOST_STEERED: Final = 10_000  # things in force, of all agents
MOST_FORMS: Final = 100
MOST_OFFERED: Final = 200  # names of a kind
_KEPT_MARKS: Final = 500
_LONGEST: Final = 500
_DEEPEST: Final = 24
_LONGEST_WORDS: Final = 200
_MOST_TOLD: Final = 8
_LONGEST_SECONDS: Final = 1e6
_EXAMPLE: Final = 'Write for example {"disable": "action", "of": "Eat", "agent": "Ann"}.'


# --- shapes -----------------------------------------------------------------------------------------------------------


def read_hand(edit: object) -> dict[str, Any]:
    """A change, with everything checked that can be known without a run.

    Raises:
        EditError: something is wrong with it; ``pointer`` names the field.
    """
    if not isinstance(edit, dict) or not all(type(key) is str for key in edit):
        raise EditError("a change is an object", _EXAMPLE)
    does = [key for key in DOES if key in edit]
    if len(does) != 1:
        raise EditError(f"it does {' and '.join(does) or 'nothing'}, and not one of {', '.join(DOES)}", _EXAMPLE)
    do, what = does[0], edit[does[0]]
    known = _keys_of(do)
    for key in edit:
        if key not in (do, *known):
            raise EditError(f"it has a key {repr_of(key, 80)} that does not belong there", did_you_mean(key, known))
    if do == "send":
        return _read_sent(what, edit.get("args", {}))
    if do in STEERS:
        return _read_steered(do, what, edit)
    agent = _name(edit.get("agent", ""), "agent", "the name of an agent", may_be_empty=True)
    if do == "abort":
        if what != "plan":
            raise EditError(f"'abort' is {repr_of(what, 80)}", 'Write "abort": "plan".', pointer="/abort")
        return {"abort": "plan", "agent": agent}
    if do == "set" and what == "stimulus":
        return {
            "set": "stimulus",
            "of": _name(edit.get("of"), "of", "the name of a stimulus"),
            "to": _stimulus(edit.get("to")),
            "agent": agent,
        }
    try:
        given = read_change(do, what, edit)
    except EditError as error:
        raise EditError(error.problem, error.remedy, pointer=error.pointer or "/of") from None
    if do != "set":
        return {do: given["pack"], "agent": agent}
    return {"set": given["number"], "of": given["of"], "to": given["to"], "agent": agent}


def _keys_of(do: str) -> tuple[str, ...]:
    if do == "send":
        return ("args",)
    if do == "abort":
        return ("agent",)
    return ("of", "agent") if do in STEERS else keys_of(do)


def _name(value: object, field: str, words: str, *, may_be_empty: bool = False) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST or not (value or may_be_empty):
        raise EditError(f"'{field}' is {words}", f"Give a text of at most {_LONGEST} characters.", pointer=f"/{field}")
    return value


def _read_sent(what: object, args: object) -> dict[str, Any]:
    name = _name(what, "send", "the name of an input")
    if name.startswith(RESERVED):
        raise EditError(f"inputs of the names {RESERVED}... are reserved", "Make the change itself.", pointer="/send")
    if not isinstance(args, dict) or not all(type(key) is str for key in args):
        raise EditError("'args' are an object: names and values", 'Write for example "args": {"who": "Ann"}.')
    _require_finite(args, 0)
    return {"send": name, "args": args}


def _require_finite(value: object, depth: int) -> None:
    """JSON has no word for what is infinite, but its numbers may be as large as that."""
    if depth > _DEEPEST:
        raise EditError("the arguments are nested too deeply", f"At most {_DEEPEST} levels.", pointer="/args")
    if isinstance(value, float) and not math.isfinite(value):
        raise EditError("a number among the arguments is too large", "Give a smaller one.", pointer="/args")
    ones: Iterable[object] = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in ones:
        _require_finite(one, depth + 1)


def _read_steered(do: str, what: object, edit: dict[str, Any]) -> dict[str, Any]:
    if what not in KINDS:
        near = did_you_mean(what, KINDS) if isinstance(what, str) else ""
        raise EditError(
            f"'{do}' is {repr_of(what, 80)}, and not one of {', '.join(KINDS)}",
            near.strip() or _EXAMPLE,
            pointer=f"/{do}",
        )
    agent = _name(edit.get("agent", ""), "agent", "the name of an agent", may_be_empty=True)
    return {do: what, "of": _name(edit.get("of"), "of", f"the name of the {what}"), "agent": agent}


def _stimulus(to: object) -> bool | float:
    if type(to) is bool:
        return to
    if isinstance(to, (int, float)) and 0 <= to <= _LONGEST_SECONDS:
        return float(to)
    raise EditError(
        "a stimulus is true, false, or a number of seconds for which it stays",
        f"Give one of them, and at most {_LONGEST_SECONDS:g} seconds.",
        pointer="/to",
    )


def hand_words(edit: dict[str, Any]) -> str:
    """A change that ``read_hand`` has read, in words."""
    do = next(one for one in DOES if one in edit)
    agent = edit.get("agent", "")
    whom = f" of {agent}" if agent else " of everybody" if do != "send" else ""
    if do == "send":
        words = f"send {edit['send']}" + (f" with {edit['args']}" if edit["args"] else "")
    elif do in STEERS:
        words = f"{do} {edit[do]} {edit['of']}{whom}"
    elif do == "abort":
        words = f"abort the plan{whom}"
    elif do == "set":
        words = f"set {edit['set']} {edit['of']} to {edit['to']}{whom}"
    else:
        words = f"{do} {edit[do]}, {agent or 'everybody'}"
    return words_of(words, _LONGEST_WORDS)


def why_words(error: BaseException) -> str:
    """Why nothing came of a change, in words."""
    told = f"{error.problem}. {error.remedy}" if isinstance(error, EditError) else error
    return words_of(told, _LONGEST_WORDS)


# --- a run ------------------------------------------------------------------------------------------------------------


class Touch(NamedTuple):
    """Where a run was touched."""

    tick: int
    agent: str  # whom it is about; empty for all
    words: str
    problem: str = ""  # why nothing came of it


class Steered(NamedTuple):
    """What is in force of one agent."""

    does: str  # ``disable`` or ``force``
    kind: str
    name: str


class _Life(NamedTuple):
    """One agent from when it came to when it goes; when it comes again, it has another planner."""

    planner: Planner
    steered: dict[Steered, int]  # with the tick since when


Failed = Callable[[dict[str, Any], BaseException], object]


class Hands:
    """What was changed by hand in one runtime, and what of it is in force; called with an input."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._lives: dict[str, _Life] = {}
        self.marks: deque[Touch] = deque(maxlen=_KEPT_MARKS)
        self.touched: int = 0  # how many marks there ever were
        self.failed: list[Failed] = []  # who wants to know of changes of which nothing came

    def __call__(self, edit: object = None) -> None:
        """An intake takes a change."""
        given = read_hand(edit)
        try:
            self._mark(given, "")
            self._apply(given)
        except ENDS_PROGRAM:
            raise
        except BaseException as error:
            self._mark(given, why_words(error))
            for tell in tuple(self.failed):
                tell(given, error)
            if not isinstance(error, EditError):
                raise  # an author's function, or a bug of ours: a fault of the run, as in any input

    def _mark(self, edit: dict[str, Any], problem: str) -> None:
        tick, agent, words = self._runtime.tick, str(edit.get("agent", "")), hand_words(edit)
        if problem and self.marks and self.marks[-1][:3] == (tick, agent, words):
            self.marks.pop()
        self.marks.append(Touch(tick, agent, words, problem))
        self.touched += 1
        trace = self._runtime.trace
        if trace.on:
            detail = (("does", words), ("failed", problem)) if problem else (("does", words),)
            trace.emit(TraceRecord(tick, agent, "", TraceEvent.HAND, detail))

    # --- what it does -------------------------------------------------------------------------------------------------

    def _apply(self, edit: dict[str, Any]) -> None:
        if "send" in edit:
            self._send(edit["send"], edit["args"])
            return
        do = next(one for one in DOES if one in edit)
        if do in STEERS:
            self._steer(do, edit[do], edit["of"], self._meant(edit["agent"]))
        elif do == "abort":
            self._abort(self._meant(edit["agent"]))
        elif edit.get("set") == "stimulus":
            self._perceive(edit["of"], edit["to"], self._meant(edit["agent"]))
        elif do == "set":
            apply_change(self._runtime, "set", {"number": edit["set"], **edit})
        else:
            apply_change(self._runtime, do, {"pack": edit[do], "agent": edit["agent"]})

    def _meant(self, name: str) -> tuple[Agent, ...]:
        if not name:
            return self._runtime.agents
        found = self._runtime.find(name)
        if found is None:
            raise _unknown("no agent is called", name, (agent.name for agent in self._runtime.agents), "agent")
        return (found,)

    def _send(self, name: str, args: dict[str, Any]) -> None:
        function = self._runtime.intake.inputs.get(name)
        if function is None:
            raise _unknown("nobody takes the input", name, _inputs(self._runtime), "send")
        function(**checked(form_of(name, function), args))

    def _abort(self, agents: Iterable[Agent]) -> None:
        for agent in agents:
            planner = agent.planner
            if planner is not None and not agent.is_ending and not planner.execution.is_stopped:
                planner.execution.abort("aborted by hand", None, is_failure=False)

    def _perceive(self, name: str, to: bool | float, agents: Iterable[Agent]) -> None:
        known: dict[str, None] = {}
        found = False
        for agent in agents:
            for memory in _memories(agent):
                tokens = _tokens(memory)
                known.update(dict.fromkeys(tokens))
                token = tokens.get(name)
                if token is None:
                    continue
                found = True
                if to is False:
                    memory.stimuli.remove(token)
                else:
                    memory.stimuli.add(token, None, None if to is True else to)
        if not found:
            raise _unknown("nobody perceives a stimulus", name, known, "of")

    # --- what is in force ---------------------------------------------------------------------------------------------

    def _steer(self, do: str, kind: str, name: str, agents: tuple[Agent, ...]) -> None:
        before = [agent for agent in agents if any(one[1:] == (kind, name) for one in self._of(agent))]
        if do == "free":
            if not before:
                there = (one.name for agent in agents for one in self._of(agent) if one.kind == kind)
                raise _unknown(f"nothing is in force on {kind}", name, there, "of")
            meant = before
        else:
            # Without a list: of the names of all that everybody has, an error needs only the first ones.
            meant = [agent for agent in agents if name in names_of(agent, kind)]
            if not meant:
                known = dict.fromkeys(one for agent in agents[:MOST_OFFERED] for one in names_of(agent, kind))
                raise _unknown(f"nobody has {'an' if kind == 'action' else 'a'} {kind}", name, known, "of")
        if do != "free" and sum(len(one.steered) for one in self._lives.values()) + len(meant) > MOST_STEERED:
            raise EditError(f"more than {MOST_STEERED} things would be in force", "Free some.", pointer="/of")
        for agent in meant:
            planner = agent.planner
            if planner is None or agent.is_ending:
                continue
            life = self._life(agent, planner)
            for one in [one for one in life.steered if one[1:] == (kind, name)]:
                del life.steered[one]
            if do != "free":
                life.steered[Steered(do, kind, name)] = self._runtime.tick
            self._renew(agent, kind, life)
            if not life.steered:
                del self._lives[agent.name]

    def _life(self, agent: Agent, planner: Planner) -> _Life:
        life = self._lives.get(agent.name)
        if life is None or life.planner is not planner:
            life = self._lives[agent.name] = _Life(planner, {})
        return life

    def _of(self, agent: Agent) -> dict[Steered, int]:
        """What is in force of an agent, which may be another one than it was when that was said."""
        life = self._lives.get(agent.name)
        return {} if life is None or life.planner is not agent.planner or agent.is_ending else life.steered

    def _renew(self, agent: Agent, kind: str, life: _Life) -> None:
        disabled = frozenset(one.name for one in life.steered if (one.does, one.kind) == ("disable", kind))
        forced = frozenset(one.name for one in life.steered if (one.does, one.kind) == ("force", kind))
        if kind == "action":
            agent.steer(disabled, forced)
            return
        for driver in agent.drivers.all:
            if (
                (kind == "goal" and isinstance(driver, GoalSelector))
                or (kind == "decider" and isinstance(driver, Memory))
                or (kind == "leaf" and isinstance(driver, SelectionState))
            ):
                driver.steer(disabled, forced)

    def in_force(self) -> list[tuple[str, str, str, str, int]]:
        """What is in force, in the order in which it was said for each agent: agent, what, kind, name, since when."""
        for name in [name for name in self._lives if self._is_over(name)]:
            del self._lives[name]
        return [
            (name, one.does, one.kind, one.name, tick)
            for name, life in self._lives.items()
            for one, tick in life.steered.items()
        ]

    def _is_over(self, name: str) -> bool:
        agent = self._runtime.find(name)
        return agent is None or not self._of(agent)


def hands_of(runtime: Runtime) -> Hands | None:
    """The hands of a runtime, if there are any."""
    found = runtime.intake.inputs.get(HAND)
    return found if isinstance(found, Hands) else None


def lay_hands(runtime: Runtime) -> Hands:
    """Have a runtime take changes by hand; those that it has, if it does."""
    found = hands_of(runtime)
    if found is None:
        found = Hands(runtime)
        runtime.on_input(HAND, found)
    return found


def forms_of(runtime: Runtime) -> list[Form]:
    """What the world takes, in the order in which it said so."""
    inputs = runtime.intake.inputs
    return [form_of(name, inputs[name]) for name in _inputs(runtime)[:MOST_FORMS]]


def check_sent(runtime: Runtime, edit: dict[str, Any]) -> None:
    """Look whether an input that is to be sent is taken, with these arguments, before it is.

    Raises:
        EditError: it is not; ``pointer`` names the field.
    """
    name = edit["send"]
    function = runtime.intake.inputs.get(name)
    if function is None:
        raise _unknown("nobody takes the input", name, _inputs(runtime), "send")
    checked(form_of(name, function), edit["args"])


def _inputs(runtime: Runtime) -> list[str]:
    return [name for name in runtime.inputs if not name.startswith(RESERVED)]


# --- what an agent has ------------------------------------------------------------------------------------------------


def _memories(agent: Agent) -> Iterator[Memory]:
    for driver in agent.drivers.all:
        if isinstance(driver, Memory):
            yield driver


def _tokens(memory: Memory) -> dict[str, int]:
    """What a tree looks for, and what is perceived, by name."""
    found: dict[str, int] = {}
    for node in memory.tree.nodes:
        check = node.stimuli
        if check is not None:
            found.update((name, bit) for bit, name in check.names.items())
            word = check.mask
            for any_set, any_clear in check.parts:
                word |= any_set | any_clear
            bits = (1 << place for place in range(word.bit_length()) if word >> place & 1)
            found.update((token_name(bit), bit) for bit in bits if bit not in check.names)
    found.update((token_name(one.token), one.token) for one in memory.perceived())
    return found


def names_of(agent: Agent, kind: str) -> dict[str, None]:
    """What an agent has of a kind, by name, in its order."""
    found: dict[str, None] = {}
    if kind == "action":
        for action in agent.actions:
            found[action.__name__] = None
        planner = agent.planner
        if planner is not None:  # two of one name are told apart there
            found.update(dict.fromkeys(spec.label for specs in planner.known.values() for spec in specs))
        return found
    for driver in agent.drivers.all:
        if kind == "goal" and isinstance(driver, GoalSelector):
            found.update(dict.fromkeys(goal.name for goal in driver.available_goals))
        elif kind == "decider" and isinstance(driver, Memory):
            found.update(dict.fromkeys(node.name for node in driver.tree.nodes[1:]))
        elif kind == "leaf" and isinstance(driver, SelectionState):
            nodes = driver.tree.program.nodes
            found.update(dict.fromkeys(node.name for node in nodes if node.behavior is not None))
    return found


def offers_of(agent: Agent) -> dict[str, list[str]]:
    """What can be changed of an agent, by kind, as names for a form."""
    found = {kind: list(names_of(agent, kind)) for kind in KINDS}
    states = [driver for driver in agent.drivers.all if isinstance(driver, SelectionState)]
    found["variable"] = [name for state in states for name in state.variables]
    found["stimulus"] = [name for memory in _memories(agent) for name in _tokens(memory)]
    found["revoke"] = [name for injection in agent.injections for name in packs_in(injection)]
    registry = agent.registry_if_known
    found["inject"] = [] if registry is None else list(registry.aliases("ai_pack"))
    return {kind: list(dict.fromkeys(names))[:MOST_OFFERED] for kind, names in found.items()}


def _unknown(problem: str, name: str, known: Iterable[str], field: str) -> EditError:
    names = tuple(dict.fromkeys(known))
    remedy = f"There are {few(names, _MOST_TOLD)}." if names else "There is none of the kind."
    near = did_you_mean(name, names)
    return EditError(f"{problem} {repr_of(name, 80)}", f"{near} {remedy}".strip(), pointer=f"/{field}")
