"""Assuming: the world in which a dependency has been met, as look-ahead expects it.

Three things make it, one layer of CURRENT above the other: what the needs of the provider bring about that would be
chosen (of its likeliest branch), what that branch expects besides, and what the dependency itself says (``assume``). A
dependency that is met leaves the world as it is. A hook that raises is reported, and leaves no layer.

Each such world is made once and kept in the table of the dependency in the world before it, as long as what was read
for it holds (see ``worlds``); so two strategies that need the same things look into the same future.

Source: seed 003, "Planning Ahead Using Probability": the most likely state of the world at each position.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from agentrt.activity.current import Current, has_changes
from agentrt.errors import ENDS_PROGRAM
from agentrt.strategy.dependency import Dependency
from agentrt.strategy.strategy import Branch
from agentrt.strategy.worlds import World
from agentrt.words import repr_of

if TYPE_CHECKING:
    from agentrt.strategy.estimating import Estimator
    from agentrt.strategy.strategy import Expect

__all__ = ["after", "checked", "layered", "likeliest", "outcome", "write_expected"]

_AFTER = "after"


def likeliest(branches: Iterable[Branch]) -> list[Branch]:
    """Branches by their probability, the likeliest first, those that fail last; of equals, the first.

    Args:
        branches: as a strategy foresees them; those without any probability are left out.
    """
    return sorted((one for one in branches if one.probability > 0), key=lambda one: (one.fails, -one.probability))


def checked(branches: Iterable[Branch]) -> tuple[Branch, ...]:
    """What an author's hook foresees, if it is that.

    Args:
        branches: what the hook gave.

    Raises:
        TypeError: something else than branches, or a need that is no dependency.
        ValueError: a probability that is none.
    """
    found = tuple(branches)
    for one in found:
        given: object = one
        if not isinstance(given, Branch):
            raise TypeError(f"it foresees {repr_of(given, 200)}: write Branch(probability, cost, needs)")
        if not one.probability >= 0:
            raise ValueError(f"the probability of a branch is {repr_of(one.probability, 200)}: write 0 or more")
        for need in one.needs:
            wanted: object = need
            if not isinstance(wanted, Dependency):
                raise TypeError(f"a branch needs {repr_of(wanted, 200)}: write dependencies")
    return found


def after(estimator: Estimator, need: Dependency[Any], world: World, depth: int) -> World:
    """The world in which a dependency has been met.

    Args:
        estimator: who asks.
        need: the dependency.
        world: the world before.
        depth: how many levels it is looked ahead for what the provider brings about besides.

    Returns:
        The same world, if it is met, or if nobody says what holds then.
    """
    with estimator.deciding():
        table = world.table(need, depth)
        found: World = estimator.remembered(table, _AFTER, _met, estimator, need, world, depth)
    return found


def _met(estimator: Estimator, need: Dependency[Any], world: World, depth: int) -> World:
    estimator.read(type(need).reads)
    choice = estimator.choose(need, world, depth)
    if choice.is_met:
        return world
    branches = likeliest(choice.by.branches) if choice.by is not None else []
    branch = branches[0] if branches else None
    return outcome(estimator, need, branch, () if branch is None else branch.needs, world, depth - 1)


def outcome(
    estimator: Estimator,
    need: Dependency[Any],
    branch: Branch | None,
    left: Iterable[Dependency[Any]],
    world: World,
    depth: int,
) -> World:
    """The world in which a strategy has provided a dependency.

    Args:
        estimator: who asks.
        need: the dependency.
        branch: what came of the strategy; None if it foresees nothing.
        left: which needs of the branch are not met yet.
        world: the world before.
        depth: how many levels it is looked ahead for the needs.
    """
    for one in left:
        world = after(estimator, one, world, depth)
    if branch is not None and branch.expect:
        expect = branch.expect
        world = layered(estimator, world, need, "foresee", lambda state: write_expected(state, expect))
    if type(need).has_effect():
        world = layered(estimator, world, need, "assume", need.assume)
    return world


def write_expected(state: Current, expect: Expect) -> None:
    """Write into CURRENT what is expected.

    Args:
        state: a layer.
        expect: fields and their values, or a function that writes them.
    """
    if isinstance(expect, Mapping):
        for name, value in expect.items():
            setattr(state, name, value)
    else:
        expect(state)


def layered(
    estimator: Estimator, world: World, need: Dependency[Any], hook: str, write: Callable[[Current], None]
) -> World:
    """A world with a layer more.

    Args:
        estimator: who asks.
        world: the world below.
        need: the dependency that is concerned, for reports.
        hook: which hook writes.
        write: writes into CURRENT.

    Returns:
        The world below, if nothing was written, or if the hook raises.
    """
    layer = estimator.gameplay.layer(world.state)
    try:
        write(layer)
    except ENDS_PROGRAM:
        raise
    except BaseException as error:
        estimator.gameplay.fault(type(need).activity, hook, error)
        return world
    return World(layer) if has_changes(layer, world.state) else world
