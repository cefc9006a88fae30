"""Strategies: what authors write to provide dependencies.

A strategy is an action that says which dependencies it provides, what it would cost, and what it would need, and that
is run as a coroutine in which it may have further dependencies solved. It is a class, or made of a coroutine function
by ``@strategy(...)``; what it declares is read once, when it is defined.

What a strategy costs is always a number of *game seconds* that is to be expected, so that strategies whose authors
never met can be compared. There are three ways to say it, from the roughest to the finest; the finest counts::

    cost = 30.0                        a constant
    def foresee(self, ask, wanted)     what may come of it: branches with probabilities, needs and effects
    def estimate(self, ask, wanted)    any computation; None, or ask.cannot(why), for "cannot"

``estimate`` and ``foresee`` are asked often, of one shared instance, and must not change anything; ``run`` has an
instance of its own, so that an author may keep things on ``self``.

Underneath, each strategy has one ``Action`` class for each dependency that it provides (its *carrier*). That is what
the planner runs: flags, leases, traces, snapshots and unwinding are those of any action.

Source: seed 003, "Plugins", "Global Dependency Lists"; design section 6.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from agentrt.activity.spec import default_hook
from agentrt.errors import DefinitionError
from agentrt.strategy.dependency import Dependency, words
from agentrt.strategy.topics import check_topics
from agentrt.words import repr_of

if TYPE_CHECKING:
    from agentrt.activity.current import Current
    from agentrt.activity.spec import ActionSpec
    from agentrt.strategy.asking import Ask
    from agentrt.strategy.context import StrategyContext
    from agentrt.strategy.interrupting import Interruption

__all__ = ["Branch", "Expect", "Interruptible", "Strategy", "StrategySpec", "strategy"]

_HOOKS = {
    "run": ("ctx", "wanted"),
    "estimate": ("ask", "wanted"),
    "foresee": ("ask", "wanted"),
    "interrupted": ("ctx", "interruption"),
}
LONGEST_COST = 1e9  # game seconds; more is a mistake

Expect: TypeAlias = "Mapping[str, Any] | Callable[[Current], None]"
"""What is expected of CURRENT: its fields, or a function that writes them."""


class Interruptible(StrEnum):
    """What a strategy supports when something comes up while it is the one that runs.

    Source: seed 003, "Pauseable/Cancelable Tasks".
    """

    PAUSE = "pause"
    """It stands still at the await where it is, and goes on there afterwards."""
    RESTART = "restart"
    """It is cancelled, and run again from its beginning afterwards."""
    WAIT = "wait"
    """Neither: what came up waits until it is completed, and so it does for all that is solved below it."""
    TREE = "tree"
    """Whatever runs below it is cancelled too, and it is run again from its own beginning afterwards."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One thing that may come of a strategy, as it declares it for look-ahead.

    Attributes:
        probability: how likely, against the other branches; they are taken as shares of their sum.
        cost: the strategy's own game seconds in it, without those of its needs.
        needs: the dependencies that it will have solved, in this order.
        expect: fields of CURRENT as they will be when it is over, besides what its needs bring about; or a function
            that writes them into the state which its needs leave, for what is used up of it.
        uses: what it will use up, by name: ``{"wooden_pickaxe": 0.2}``.
        fails: whether that outcome is a failure, so that the next strategy would be tried.
        label: for people.

    Source: seed 003, "Planning Ahead Using Probability".
    """

    probability: float = 1.0
    cost: float = 0.0
    needs: tuple[Dependency[Any], ...] = ()
    expect: Expect = field(default_factory=dict)
    uses: Mapping[str, float] = field(default_factory=dict)
    fails: bool = False
    label: str = ""


class Strategy:
    """A way to provide one or several dependencies. Subclass it.

    Attributes:
        provides: the class of dependencies that it provides, or several; a class without any is a base class.
        name: what tools and the generated call use: the name of its class in lower case with underscores.
        cost: what it is expected to take, in game seconds, if it says nothing finer.
        reads: the topics that ``estimate`` and ``foresee`` look at (see ``agent.gameplay.changed``), so that what they
            said is kept until one of them changes; None if that is not known: then it is asked in each decision.
        interruption: what it supports when something comes up.
        flags: control flags that it holds while it runs, shared with what it has solved.
        patience: after how many game seconds of its own (without those of what it has solved, and of interruptions) it
            counts as hanging, is cancelled and fails; what it shields is waited for. None for ten times what it said
            that it costs, and at least a minute.
        injects: the names of the lists of other strategies that it joins: ``("Smelt.fuels",)``.
        status_text_key: as for an action: a key under which the game finds words for what the agent does.

    Source: seed 003, "Plugins".
    """

    provides: ClassVar[type[Dependency[Any]] | Collection[type[Dependency[Any]]]] = ()
    name: ClassVar[str] = ""
    cost: ClassVar[float | None] = None
    reads: ClassVar[Collection[str] | None] = None
    interruption: ClassVar[Interruptible] = Interruptible.RESTART
    flags: ClassVar[Collection[str]] = ()
    patience: ClassVar[float | None] = None
    injects: ClassVar[Collection[str]] = ()
    status_text_key: ClassVar[str | None] = None

    spec: ClassVar[StrategySpec]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if not cls.__dict__.get("name"):
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
        if cls.provides:
            cls.spec = StrategySpec(cls)

    @default_hook
    def estimate(self, ask: Ask, wanted: Any) -> float | None:
        """What it would cost now, with all that it would need.

        Args:
            ask: the world, and the costs of further dependencies: ``ask.cost(Find("log"))``.
            wanted: the dependency.

        Returns:
            The expected game seconds; None if it cannot do it.
        """
        if hasattr(type(self).foresee, "is_default_hook"):
            return type(self).cost
        return ask.expected(self.foresee(ask, wanted))

    @default_hook
    def foresee(self, ask: Ask, wanted: Any) -> Iterable[Branch]:
        """What may come of it.

        Args:
            ask: the world as it is, or as look-ahead assumes it.
            wanted: the dependency.

        Returns:
            The branches; none if it cannot do it.

        Source: seed 003, "Planning Ahead Using Probability".
        """
        return ()

    async def run(self, ctx: StrategyContext, wanted: Any) -> Any:
        """Do it. It has provided the dependency when this returns; whatever it raises is a failure.

        Args:
            ctx: what it can do: ``await ctx.solve(Find("log"))``, ``ctx.fail(why)``, and all that an action can.
            wanted: the dependency.

        Returns:
            What solving the dependency gives.
        """

    @default_hook
    def interrupted(self, ctx: StrategyContext, interruption: Interruption) -> None:
        """Something came up while it, or something below it, was run; it has been dealt with. Look at the world again.

        The strategy that was interrupted is told first, then those above it. Raise ``ctx.fail(why)`` if there is no
        sense in going on, ``ctx.restart()`` to begin again.

        Args:
            ctx: its context.
            interruption: what it was.

        Source: seed 003, "Interrupting Tasks": a message to all parent tasks.
        """


class StrategySpec:
    """What a class of strategies declares, checked.

    Args:
        cls: the class.

    Attributes:
        cls: as given.
        subject: its module and name, for errors.
        name: what the generated call is called.
        label: what trees call it, in words.
        provides: the classes of dependencies.
        foresees: whether it has the hook ``foresee``.
        asks: whether it has ``estimate`` or ``foresee``; else its constant counts.
        hears: whether it has the hook ``interrupted``.
        carriers: what the planner runs for each of the dependencies; made when it is first needed.
    """

    __slots__ = ("asks", "carriers", "cls", "foresees", "hears", "label", "name", "provides", "subject")

    def __init__(self, cls: type[Strategy]) -> None:
        self.cls: type[Strategy] = cls
        self.subject: str = f"{cls.__module__}.{cls.__qualname__}"
        self.name: str = cls.name
        self.label: str = words(cls.__name__)
        given: Any = cls.provides
        self.provides: tuple[type[Dependency[Any]], ...] = tuple(given) if isinstance(given, Collection) else (given,)
        self.foresees: bool = not hasattr(cls.foresee, "is_default_hook")
        self.asks: bool = self.foresees or not hasattr(cls.estimate, "is_default_hook")
        self.hears: bool = not hasattr(cls.interrupted, "is_default_hook")
        self.carriers: dict[type[Dependency[Any]], ActionSpec] = {}
        self._check()

    def _check(self) -> None:
        cls = self.cls
        declared: tuple[object, ...] = self.provides
        for one in declared:
            if not (isinstance(one, type) and issubclass(one, Dependency)):
                raise DefinitionError(
                    self.subject, f"it provides {one!r}.", "Name classes of dependencies: provides = Collect."
                )
            if not one.activity:
                raise DefinitionError(
                    self.subject, f"it provides {one.__name__}, which is a base class.", "Name its subclasses."
                )
        named: object = self.name
        if not (isinstance(named, str) and named.isidentifier()):
            raise DefinitionError(self.subject, f"its name is {repr_of(named)}.", "Write one such as 'mine_ore'.")
        self._check_hooks()
        for what, given in (("cost", cls.cost), ("patience", cls.patience)):
            seconds: object = given
            if seconds is not None and not (isinstance(seconds, (int, float)) and 0 <= seconds <= LONGEST_COST):
                raise DefinitionError(self.subject, f"its {what} is {seconds!r}.", "Write game seconds, 0 or more.")
        for what, names in (("reads", cls.reads), ("flags", cls.flags), ("injects", cls.injects)):
            check_topics(self.subject, what, names)
        supported: object = cls.interruption
        if not isinstance(supported, Interruptible):
            raise DefinitionError(
                self.subject, f"its interruption is {supported!r}.", "Write Interruptible.PAUSE or another."
            )

    def _check_hooks(self) -> None:
        cls = self.cls
        if cls.run is Strategy.run:
            raise DefinitionError(self.subject, "it has no 'run'.", "Write: async def run(self, ctx, wanted).")
        if not self.asks and cls.cost is None:
            raise DefinitionError(
                self.subject,
                "nothing says what it costs.",
                "Give it a 'cost' in game seconds, 'foresee' or 'estimate'.",
            )
        for name, parameters in _HOOKS.items():
            hook = getattr(cls, name)
            function, own = getattr(hook, "function", hook), ("self",)[: not hasattr(hook, "function")]
            if inspect.iscoroutinefunction(inspect.unwrap(function)) is not (name == "run"):
                word = "an 'async def'" if name == "run" else "a plain 'def', not 'async def'"
                raise DefinitionError(self.subject, f"{name} has the wrong kind.", f"Make it {word}.")
            try:
                inspect.signature(function).bind(*own, *parameters)
            except TypeError as error:
                raise DefinitionError(
                    self.subject,
                    f"{name} cannot be called: {error}.",
                    f"Write {name}({', '.join((*own, *parameters))}).",
                ) from error

    def __repr__(self) -> str:
        return f"<StrategySpec {self.subject}>"


Runs = Callable[..., Coroutine[Any, Any, Any]]


def strategy(
    *provides: type[Dependency[Any]],
    name: str | None = None,
    cost: float | None = None,
    estimate: Callable[[Ask, Any], float | None] | None = None,
    foresee: Callable[[Ask, Any], Iterable[Branch]] | None = None,
    reads: Collection[str] | None = None,
    interruption: Interruptible = Interruptible.RESTART,
    flags: Collection[str] = (),
    patience: float | None = None,
    injects: Collection[str] = (),
    status_text_key: str | None = None,
) -> Callable[[Runs], type[Strategy]]:
    """Make a strategy of a coroutine function ``run(ctx, wanted)``; a decorator.

    Args:
        provides: what it provides.
        name: what tools and the generated call use; None for the name of the function.
        cost: as for ``Strategy``; so are the others.
        estimate: a function of (ask, wanted).
        foresee: a function of (ask, wanted).
        reads: topics.
        interruption: what it supports.
        flags: control flags.
        patience: game seconds.
        injects: lists that it joins.
        status_text_key: a key of the game's texts.

    Returns:
        The decorator, which gives the class of the strategy.

    Raises:
        DefinitionError: as for a class.

    Source: seed 003, "Plugins"; design section 6, "by subclass or decorator".
    """

    def decorate(run: Runs) -> type[Strategy]:
        namespace: dict[str, Any] = {
            "__doc__": run.__doc__,
            "__module__": run.__module__,
            "__qualname__": run.__qualname__,
            "provides": provides,
            "name": run.__name__ if name is None else name,
            "cost": cost,
            "reads": reads,
            "interruption": interruption,
            "flags": tuple(flags),
            "patience": patience,
            "injects": tuple(injects),
            "status_text_key": status_text_key,
            "run": _method(run),
        }
        if estimate is not None:
            namespace["estimate"] = _method(estimate)
        if foresee is not None:
            namespace["foresee"] = _method(foresee)
        title = "".join(part.capitalize() for part in str(namespace["name"]).split("_"))
        return type(title, (Strategy,), namespace)

    return decorate


def _method(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    """A function as a method of a strategy that keeps nothing on itself."""

    def method(_: Strategy, context: Any, wanted: Any) -> Any:
        return function(context, wanted)

    method.function = function  # type: ignore[attr-defined]
    return method
