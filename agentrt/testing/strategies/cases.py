"""The cases that hypothesis draws: what each of them holds, and how it is drawn.

Each is for one model and is made of a spec for each of its parts; what can change while a case is played (``wants``,
``fails``) is read by all that was made of it.

hypothesis prints the smallest case that fails a test. A reader looks for what is peculiar about it, and a dozen
defaults beside that are in the way; so a case says only what differs from them (``Brief``). What is printed can be put
into ``@example(...)`` as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from hypothesis import strategies as st

from agentrt.activity.tasks.declare import TaskGroupAction, declare_task
from agentrt.behavior.declare import Decider, GroupPolicy, behavior, decider, group
from agentrt.behavior.tree import BehaviorTree
from agentrt.body.flags import JUMP, LOOK, MOVE
from agentrt.goals.goal import Goal
from agentrt.goals.selector import GoalSelector
from agentrt.kernel.traps import park
from agentrt.packs.registry import Manifest, Registry
from agentrt.selection.library import SelectionLibrary
from agentrt.selection.state import SelectionTree
from agentrt.strategy.ask import Dependency, Interruptible, Strategy
from agentrt.testing.simulation import Simulation
from agentrt.testing.solving import Have, StubBody, stub_strategy
from agentrt.testing.stubs import Outcome, stub_action, stub_plan

if TYPE_CHECKING:
    from agentrt.activity.author.action import Action


class Brief:
    """The base of the dataclasses of this package that say only what differs from their defaults."""

    def __repr__(self) -> str:
        this: Any = self
        said = []
        for one in fields(this):
            value = getattr(self, one.name)
            default = one.default if one.default_factory is MISSING else one.default_factory()
            if value != default:
                said.append(f"{one.name}={value!r}")
        return f"{type(self).__name__}({', '.join(said)})"


T = TypeVar("T")


class Happening(NamedTuple, Generic[T]):
    """One thing that happens."""

    tick: int  # before which tick, from 1 for the first one that is played
    what: T


def schedules(
    what: st.SearchStrategy[T], *, ticks: int = 40, max_size: int = 12
) -> st.SearchStrategy[list[Happening[T]]]:
    """Courses of what can happen, such as ``st.sampled_from(["bell", "rain"])``, in the order of their ticks.

    Several that come in one tick keep the order in which they were drawn.
    """
    happenings = st.builds(Happening, st.integers(1, ticks), what)
    return st.lists(happenings, max_size=max_size).map(lambda found: sorted(found, key=lambda one: one.tick))


def play(
    sim: Simulation, schedule: Iterable[Happening[T]], do: Callable[[T], object], *, ticks: int | None = None
) -> None:
    """Play a schedule: what happens in a tick is done before that tick runs, so that it comes in at its intake.

    So many ticks run in all, at least; by default up to the one of the last happening.
    """
    begin = sim.now
    for tick, what in schedule:
        sim.tick(max(0, begin + tick - 1 - sim.now))
        do(what)
    sim.tick(max(1, begin + (ticks or 0) - sim.now))


# --- packs ------------------------------------------------------------------------------------------------------------


_NAMES = ("a", "b", "c", "d")
_KEYS = ("actions", "observers", "task_groups", "strategies")
_MIXINTYPES = ("append", "override")


@dataclass(frozen=True, repr=False)
class PackCase(Brief):
    """A pack, and what it needs.

    There is one content on top and a few registered packs below it, each of which requires only packs before it, so
    that there is no circle. All aliases are of one mod, ``mod``.
    """

    content: dict[str, Any]  # the pack, as JSON values
    required: dict[str, dict[str, Any]] = field(default_factory=dict)  # the packs that it may require, by their aliases

    def registry(self) -> Registry:
        """A new registry that knows everything that the case names."""
        things: dict[str, object] = {alias.removeprefix("mod:"): pack for alias, pack in self.required.items()}
        for name in _NAMES:
            things[f"actions:{name}"] = stub_action(f"mod:{name}", label=f"Act_{name}")
            things[f"components:{name}"] = _component(name)
            things[f"observers:{name}"] = _observer(name)
            things[f"task_groups:{name}"] = _group(name)
            things[f"strategies:{name}"] = _strategy(name)
        return Registry([Manifest("mod", things)])

    def named(self, kind: str) -> list[str]:
        """The aliases of a kind (``"actions"``...) that the pack and what it requires name, each once."""
        found: dict[str, None] = {}
        open_packs: list[Any] = [self.content]
        while open_packs:
            pack = open_packs.pop(0)
            content = self.required[pack] if isinstance(pack, str) else pack
            found.update(dict.fromkeys(alias for alias in content.get(kind, ()) if not alias.startswith("_")))
            open_packs += content.get("ai_packs", ())
        return list(found)


def packs(*, max_required: int = 2) -> st.SearchStrategy[PackCase]:
    """Packs that are valid, with so many registered packs at most that they may require."""

    @st.composite
    def cases(draw: st.DrawFn) -> PackCase:
        required: dict[str, dict[str, Any]] = {}
        for number in range(draw(st.integers(0, max_required))):
            required[f"mod:ai_pack:p{number}"] = draw(_contents(tuple(required), depth=1))
        return PackCase(draw(_contents(tuple(required), depth=2)), required)

    return cases()


@cache
def _contents(known: tuple[str, ...], depth: int) -> st.SearchStrategy[dict[str, Any]]:
    """The content of a pack that can require known ones, and have others in place, so deep."""
    optional: dict[str, st.SearchStrategy[Any]] = {key: _aliases(key) for key in _KEYS}
    settings = st.fixed_dictionaries({}, optional={"size": st.integers(0, 3)})
    optional["components"] = st.one_of(
        _aliases("components"),
        st.dictionaries(st.sampled_from([f"mod:components:{name}" for name in _NAMES]), settings, max_size=2),
    )
    below = [st.sampled_from(known)] if known else []
    inline = [_contents(known, depth - 1)] if depth else []
    if below or inline:
        optional["ai_packs"] = st.lists(st.one_of(*below, *inline), max_size=2)
    optional["mixintypes"] = st.dictionaries(st.sampled_from(_KEYS), st.sampled_from(_MIXINTYPES), max_size=1)
    optional["type"] = st.just("ai_pack")
    optional["_comment"] = st.just("left alone")
    return st.fixed_dictionaries({}, optional=optional)


def _aliases(kind: str) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from([f"mod:{kind}:{name}" for name in _NAMES]), unique=True, max_size=3)


def _component(name: str) -> type:
    class Component:
        def __init__(self, entity: object, **settings: object) -> None:
            self.settings: dict[str, object] = settings

    Component.__qualname__ = Component.__name__ = f"Component_{name}"
    return Component


def _observer(name: str) -> Any:
    async def observe(_agent: object) -> None:
        await park()

    observe.__qualname__ = observe.__name__ = f"observe_{name}"
    return observe


def _group(name: str) -> type[TaskGroupAction]:
    body = {"does": "mod:work", "utility": (0.0, 0.5), "tasks": [declare_task(f"mod:{name}", 0.5)]}
    return type(f"Group_{name}", (TaskGroupAction,), body)


class _Provided(Dependency[None], activity="mod:provided"):
    """What the strategies of such packs provide."""


def _strategy(name: str) -> type[Strategy]:
    return stub_strategy(_Provided, label=f"Provide_{name}")


# --- plans ------------------------------------------------------------------------------------------------------------


_LEVELS = ("top", "high", "low")


@dataclass(frozen=True, repr=False)
class StubActionSpec(Brief):
    """One action of a case."""

    label: str
    does: str
    utility: float
    steps: tuple[str, ...] = ()  # the activities of its steps; empty for a leaf
    takes: int = 1  # how many ticks a leaf runs
    thinks: int | None = None  # how many ticks a leaf thinks; None for one that is ready at once
    fails: tuple[Outcome, ...] = ()  # how its run ends, time after time; of a compound, its start
    fails_in: str = "run"  # in which hook of a leaf it fails

    def action(self) -> type[Action]:
        """The class, made anew."""
        said: dict[str, Any] = {"utility": self.utility, "fails": self.fails, "label": self.label}
        if self.steps:
            return stub_plan(self.does, *self.steps, **said)
        return stub_action(self.does, takes=self.takes, thinks=self.thinks, fails_in=self.fails_in, **said)


@dataclass(frozen=True, repr=False)
class PlanCase(Brief):
    """What an agent knows: actions on levels. A compound has only steps of deeper levels, so that no plan is endless.

    Every activity has at least one action, and the root has one that is always possible and takes time, so that an
    agent is neither stuck nor spinning. Others think for a while, end badly, or refuse to be started.
    """

    specs: tuple[StubActionSpec, ...]
    top: str = _LEVELS[0]  # the activity that it performs all the time

    def actions(self) -> list[type[Action]]:
        """The action classes, made anew, for ``Agent(actions=...)``."""
        return [spec.action() for spec in self.specs]


def plans(*, max_actions: int = 3, may_fail: bool = True) -> st.SearchStrategy[PlanCase]:
    """What agents could know: so many actions of an activity, besides those always there; whether they may fail."""
    words = st.sampled_from([None, _BROKEN]) if may_fail else st.none()
    ends = st.lists(words, max_size=3).map(tuple)
    parts = {level: _parts(ends, _LEVELS[number + 1 :]) for number, level in enumerate(_LEVELS)}

    @st.composite
    def cases(draw: st.DrawFn) -> PlanCase:
        specs = [StubActionSpec("Idle", "top", 0.0, takes=3)]
        for level in _LEVELS:
            least = 0 if level == "top" else 1
            for index, made in enumerate(draw(st.lists(parts[level], min_size=least, max_size=max_actions))):
                specs.append(StubActionSpec(f"{level.title()}{index}", level, **made))
        return PlanCase(tuple(specs))

    return cases()


def _parts(ends: st.SearchStrategy[tuple[Outcome, ...]], below: tuple[str, ...]) -> st.SearchStrategy[dict[str, Any]]:
    """What an action is beside its name and its activity."""
    utility = st.sampled_from([0.5, 0.2, 0.8])
    leaf = st.fixed_dictionaries(
        {
            "utility": utility,
            "takes": st.integers(1, 4),
            "thinks": st.one_of(st.none(), st.integers(0, 3)),
            "fails": ends,
            "fails_in": st.sampled_from(["run", "start"]),
        }
    )
    if not below:
        return leaf
    steps = st.lists(st.sampled_from(below), min_size=1, max_size=3).map(tuple)
    return st.one_of(leaf, st.fixed_dictionaries({"utility": utility, "steps": steps, "fails": ends}))


# --- gameplays --------------------------------------------------------------------------------------------------------


_ITEMS: tuple[str, ...] = ("a", "b", "c", "d")
_BROKEN = "it broke"
_KINDS = (Interruptible.RESTART, Interruptible.PAUSE, Interruptible.WAIT, Interruptible.TREE)


@dataclass(frozen=True, repr=False)
class WaySpec(Brief):
    """One strategy of a case."""

    label: str
    item: str  # the thing that it provides
    needs: tuple[str, ...] = ()  # the things that it has solved first, in order
    cost: float = 1.0  # its own game seconds, besides those of its needs
    takes: int = 1  # how many ticks it takes itself
    fails: tuple[Outcome, ...] = ()  # how its run ends, time after time
    lies: bool = False  # whether it ends well and does not provide the thing
    flags: tuple[str, ...] = ()  # the control flags that it holds
    interruption: Interruptible = Interruptible.RESTART  # what it supports when something comes up

    def strategy(self) -> type[Strategy]:
        """The class, made anew."""

        def cost(_ask: object, wanted: Have) -> float | None:
            return self.cost if wanted.item == self.item else None

        return stub_strategy(
            cost=cost,
            needs=[Have(item) for item in self.needs],
            takes=self.takes,
            fails=self.fails,
            gives={} if self.lies else None,
            flags=self.flags,
            interruption=self.interruption,
            label=self.label,
        )


@dataclass(frozen=True, repr=False)
class GameplayCase(Brief):
    """What an agent can do, what it has, and what it is asked for.

    All strategies provide ``Have``, each for one thing only; what they need are such things again, so that needs lead
    in circles as often as not. Whether what was asked for can be had is not known beforehand: an agent has to come to
    an end in any case.
    """

    specs: tuple[WaySpec, ...]  # its strategies, in the order of loading
    goods: tuple[str, ...] = ()
    item: str = _ITEMS[0]  # what it is asked for

    def strategies(self) -> list[type[Strategy]]:
        """The classes, made anew, for ``agent.gameplay.add_strategy(*...)``."""
        return [spec.strategy() for spec in self.specs]

    def body(self) -> StubBody:
        """The entity, made anew."""
        return StubBody(goods=dict.fromkeys(self.goods, 1))

    @property
    def wanted(self) -> Have:
        """What it is asked for."""
        return Have(self.item)


def gameplays(*, max_strategies: int = 6, may_fail: bool = True) -> st.SearchStrategy[GameplayCase]:
    """What agents could have solved, with so many strategies at most, whose runs may fail or lie."""
    items = st.sampled_from(_ITEMS)
    ends = st.lists(st.sampled_from([None, _BROKEN]), max_size=3).map(tuple) if may_fail else st.just(())
    one: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
        {
            "item": items,
            "needs": st.lists(items, max_size=3).map(tuple),
            "cost": st.sampled_from([1.0, 0.5, 2.0, 5.0]),
            "takes": st.sampled_from([1, 0, 2, 3]),
            "fails": ends,
            "lies": st.booleans() if may_fail else st.just(value=False),
            "flags": st.lists(st.sampled_from((MOVE, LOOK)), unique=True, max_size=2).map(tuple),
            "interruption": st.sampled_from(_KINDS),
        }
    )

    ways = st.lists(one, min_size=1, max_size=max_strategies)
    specs = ways.map(lambda parts: tuple(WaySpec(f"Way{number}", **part) for number, part in enumerate(parts)))
    return st.builds(GameplayCase, specs, st.lists(items, unique=True, max_size=2).map(tuple), items)


# --- goals ------------------------------------------------------------------------------------------------------------


_FLAGS = (MOVE, LOOK, JUMP)


@dataclass(frozen=True, repr=False)
class GoalSpec(Brief):
    """One goal of a case."""

    name: str
    priority: int  # the lower, the sooner it replaces others
    flags: tuple[str, ...] = ()  # the control flags that it needs
    is_interruptible: bool = True  # whether it gives way
    every_tick: bool = False  # whether it is ticked in partial ticks, too


@dataclass
class GoalCase:
    """Goals, which write down what is called, and which of them can be used: at first all."""

    specs: tuple[GoalSpec, ...]  # the goals, in the order in which they are added
    wants: set[str] = field(default_factory=set, repr=False)  # the names of those that can be used now
    calls: list[tuple[str, str]] = field(default_factory=list, repr=False)  # names, and ``start``, ``tick`` or ``stop``

    def __post_init__(self) -> None:
        self.wants = {spec.name for spec in self.specs}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the goals."""
        return tuple(spec.name for spec in self.specs)

    def selector(self, name: str = "goals") -> GoalSelector:
        """A selector with these goals, made anew, whose name begins their paths; attach it to an agent."""
        made = GoalSelector(name=name)
        for spec in self.specs:
            made.add_goal(spec.priority, _StubGoal(self, spec))
        return made


class _StubGoal(Goal):
    """A goal of a case."""

    def __init__(self, case: GoalCase, spec: GoalSpec) -> None:
        self.name = spec.name
        self.is_interruptible = spec.is_interruptible
        self.requires_update_every_tick = spec.every_tick
        self.set_flags(spec.flags)
        self._case = case

    def can_use(self) -> bool:
        return self.name in self._case.wants

    def start(self) -> Any:
        self._case.calls.append((self.name, "start"))

    def tick(self) -> Any:
        self._case.calls.append((self.name, "tick"))

    def stop(self) -> Any:
        self._case.calls.append((self.name, "stop"))


def goal_selectors(*, max_goals: int = 5) -> st.SearchStrategy[GoalCase]:
    """Selectors of so many goals at most."""
    flags = st.lists(st.sampled_from(_FLAGS), unique=True, max_size=2).map(tuple)
    # Drawn as stubborn, since a failure is shrunk to what is False.
    is_interruptible = st.booleans().map(lambda is_stubborn: not is_stubborn)
    one = st.tuples(st.integers(0, 3), flags, is_interruptible, st.booleans())
    goals = st.lists(one, min_size=1, max_size=max_goals)
    return goals.map(lambda drawn: GoalCase(tuple(GoalSpec(f"G{number}", *one) for number, one in enumerate(drawn))))


# --- behavior trees ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class DeciderSpec(Brief):
    """One decider of a case."""

    name: str
    policy: str = ""  # of a group; empty for a behavior decider
    children: tuple[DeciderSpec, ...] = ()  # of a group

    def below(self) -> Iterator[DeciderSpec]:
        """This one, and all below it."""
        yield self
        for child in self.children:
            yield from child.below()


@dataclass
class BehaviorCase:
    """A behavior tree, and its switches: at first all accept, and none fails.

    A group accepts as soon as one of its children would: that is the Subset Rule, so that no tree runs in circles.
    """

    root: DeciderSpec
    wants: set[str] = field(default_factory=set, repr=False)  # the names of the behavior deciders that accept
    fails: set[str] = field(default_factory=set, repr=False)  # the names of those whose behavior fails
    calls: list[tuple[str, str]] = field(default_factory=list, repr=False)  # (name, ``activate``), (name, ``tick``)...

    def __post_init__(self) -> None:
        self.wants = set(self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the behavior deciders, in the order of the tree."""
        return tuple(spec.name for spec in self.root.below() if not spec.policy)

    def tree(self) -> BehaviorTree:
        """The tree, made anew: ``agent.attach(case.tree().memory())``."""
        return BehaviorTree(self._decider(self.root))

    def _decider(self, spec: DeciderSpec) -> Decider:
        names = [one.name for one in spec.below() if not one.policy]

        def decide(_memory: object) -> float:
            return float(sum(name in self.wants for name in names))

        if spec.policy:
            children = tuple(self._decider(child) for child in spec.children)
            return group(spec.name, spec.policy, decide=decide)[children]

        def hook(word: str) -> Any:
            def call(_at: object) -> bool:
                self.calls.append((spec.name, word))
                return word == "deactivate" or spec.name not in self.fails

            return call

        acts = behavior(
            f"{spec.name}_ACTS", activate=hook("activate"), tick=hook("tick"), deactivate=hook("deactivate")
        )
        return decider(spec.name, acts, decide=decide)


def behavior_trees(*, max_leaves: int = 8) -> st.SearchStrategy[BehaviorCase]:
    """Behavior trees of so many behavior deciders at most."""
    policies = st.sampled_from([policy.value for policy in GroupPolicy])
    leaf: st.SearchStrategy[Any] = st.none()
    inner = st.recursive(
        leaf, lambda below: st.tuples(policies, st.lists(below, min_size=1, max_size=3)), max_leaves=max_leaves
    )
    return st.tuples(policies, st.lists(inner, min_size=1, max_size=3)).map(_case)


def _case(drawn: tuple[str, list[Any]]) -> BehaviorCase:
    numbers = count(1)

    def named(one: tuple[str, list[Any]] | None) -> DeciderSpec:
        number = next(numbers)
        if one is None:
            return DeciderSpec(f"D{number}")
        return DeciderSpec(f"G{number}", one[0], tuple(named(child) for child in one[1]))

    return BehaviorCase(DeciderSpec("ROOT", drawn[0], tuple(named(child) for child in drawn[1])))


# --- selection trees --------------------------------------------------------------------------------------------------


_VARIABLES = ("a", "b", "c", "d")
_SIGNALS = ("S", "T")
_JOINTS = (" and ", " or ", " xor ", " AND ")
_COMPARISONS = (" == ", " != ")


@dataclass(frozen=True, repr=False)
class NodeSpec(Brief):
    """One node of a case."""

    name: str
    condition: str = ""  # its condition; empty for none
    children: tuple[NodeSpec, ...] | None = None  # of a Priority; None for a Leaf
    in_block: bool = False  # whether it stands in a block of its own, and a Ref in its place

    def below(self) -> Iterator[NodeSpec]:
        """This one, and all below it."""
        yield self
        for child in self.children or ():
            yield from child.below()

    def xml(self, *, may_refer: bool = True) -> str:
        """The node as it stands in its place; without ``may_refer``, as it stands in its block."""
        if self.in_block and may_refer:
            return f'<Ref name="Of{self.name}"/>'
        asks = f' condition="{self.condition}"' if self.condition else ""
        if self.children is None:
            return f'<Leaf name="{self.name}"{asks}/>'
        return f'<Priority name="{self.name}"{asks}>{"".join(one.xml() for one in self.children)}</Priority>'


@dataclass(frozen=True, repr=False)
class SelectionCase(Brief):
    """A selection tree, whose leaves select the behaviors of their own names.

    Some nodes stand in blocks, which is how files of games are cut.
    """

    root: NodeSpec
    variables: dict[str, bool]  # its variables and their defaults
    signals: tuple[tuple[str, str, str], ...] = ()  # what its signals set: (signal, variable, expression)

    @property
    def leaves(self) -> tuple[str, ...]:
        """The names of its leaves, in order."""
        return tuple(one.name for one in self.root.below() if one.children is None)

    @property
    def xml(self) -> str:
        """The file."""
        variables = "".join(
            f'<Variable name="{name}" default="{str(value).lower()}"/>' for name, value in self.variables.items()
        )
        signals = "".join(
            f'<Signal name="{signal}" variable="{variable}" value="{value}"/>'
            for signal, variable, value in self.signals
        )
        own = [one for one in self.root.below() if one.in_block]
        blocks = "".join(f'<Block name="Of{one.name}">{one.xml(may_refer=False)}</Block>' for one in own)
        sections = f"<Variables>{variables}</Variables>"
        sections += f"<SignalVariables>{signals}</SignalVariables>" if signals else ""
        sections += f"<Blocks>{blocks}</Blocks>" if blocks else ""
        return f'<SelectionTree name="Drawn">{sections}{self.root.xml()}</SelectionTree>'

    def tree(self) -> SelectionTree:
        """The tree, read anew, strictly."""
        return SelectionLibrary.from_texts({"Drawn.xml": self.xml})["Drawn"]


def conditions(variables: tuple[str, ...] = _VARIABLES) -> st.SearchStrategy[str]:
    """Expressions of some variables that can stand in a condition."""

    @st.composite
    def texts(draw: st.DrawFn) -> str:
        def operand(depth: int) -> str:
            kinds = [*variables, "true", "false"] + (["("] if depth else [])
            kind = draw(st.sampled_from(kinds))
            text = f"({chain(depth - 1)})" if kind == "(" else kind
            return f"!{text}" if draw(st.booleans()) else text

        def comparison(depth: int) -> str:
            text = operand(depth)
            return text + draw(st.sampled_from(_COMPARISONS)) + operand(depth) if draw(st.booleans()) else text

        def chain(depth: int) -> str:
            text = comparison(depth)
            for _ in range(draw(st.integers(0, 2))):
                text += draw(st.sampled_from(_JOINTS)) + comparison(depth)
            return text

        return chain(2)

    return texts()


def selection_trees(*, max_leaves: int = 8) -> st.SearchStrategy[SelectionCase]:
    """Selection trees of so many leaves at most."""
    asks = st.one_of(st.just(""), conditions())
    leaf: st.SearchStrategy[Any] = st.tuples(asks, st.just(None), st.booleans())
    nodes = st.recursive(
        leaf, lambda below: st.tuples(asks, st.lists(below, max_size=3), st.booleans()), max_leaves=max_leaves
    )
    signal = st.tuples(st.sampled_from(_SIGNALS), st.sampled_from(_VARIABLES), conditions())
    variables = st.fixed_dictionaries({name: st.booleans() for name in _VARIABLES})
    return st.builds(SelectionCase, nodes.map(_named), variables, st.lists(signal, max_size=3).map(tuple))


def _named(drawn: tuple[str, list[Any] | None, bool]) -> NodeSpec:
    numbers = count(1)

    def named(one: tuple[str, list[Any] | None, bool]) -> NodeSpec:
        number = next(numbers)
        condition, children, in_block = one
        if children is None:
            return NodeSpec(f"L{number}", condition, None, in_block)
        return NodeSpec(f"P{number}", condition, tuple(named(child) for child in children), in_block)

    return named(drawn)
