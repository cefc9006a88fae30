"""The finder: what the searches of one world have found out, shared between all who ask the same.

A *search* asks with candidates (a tag of a ``Directory``, or a list of its own), a filter and a rating. Who asks with
the same tag and filter shares one ``Sieve``, with the same rating too one ``Ranking``. Filters and ratings are the same
if they were given by the same name, or are the same function; so one that depends on who asks must be a function made
for that agent, and not a name.

What was asked by name is remembered for good, for a world has few names. What was asked by functions is remembered
while it is used and then among the last few, for a compound may make a new function each time it thinks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from agentrt import Entity
from agentrt_actions.protocols import Directory
from agentrt_actions.ranking import Ranking, RateMany, Rating
from agentrt_actions.sieve import Filter, Sieve

__all__ = ["Finder", "Reading"]

_KEPT = 32  # how many sieves, and rankings of each, that nobody uses and that have no name are kept

F = TypeVar("F")


class _Each:
    """Rates one after the other."""

    __slots__ = ("_rating",)

    def __init__(self, rating: Rating) -> None:
        self._rating = rating

    def __call__(self, entities: Sequence[Entity]) -> list[float | None]:
        rating = self._rating
        return [rating(entity) for entity in entities]


class _SharedRanking:
    """A ranking, and who shares it."""

    __slots__ = ("is_named", "ranking", "rating", "users")

    def __init__(self, rating: Rating, ranking: Ranking, *, is_named: bool) -> None:
        self.rating: Rating = rating
        self.ranking: Ranking = ranking
        self.is_named: bool = is_named
        self.users: int = 0

    def close(self) -> None:
        self.ranking.close()


class _SharedSieve:
    """A sieve, and who shares it."""

    __slots__ = ("directory", "is_named", "rankings", "sieve", "tag", "test", "users")

    def __init__(self, directory: Directory, tag: str, test: Filter | None, *, is_named: bool) -> None:
        self.directory: Directory = directory
        self.tag: str = tag
        self.test: Filter | None = test
        self.is_named: bool = is_named
        self.users: int = 0
        self.sieve: Sieve = Sieve(test, lambda: directory.find(tag), directory.changed(tag))
        self.rankings: list[_SharedRanking] = []

    def close(self) -> None:
        self.sieve.close()


class Reading:
    """One search's hold on a ranking; to be closed.

    Attributes:
        ranking: the ranking.
    """

    __slots__ = ("_shared", "_sieve", "ranking")

    def __init__(
        self, ranking: Ranking, sieve: _SharedSieve | None = None, shared: _SharedRanking | None = None
    ) -> None:
        self.ranking: Ranking = ranking
        self._sieve = sieve
        self._shared = shared
        for held in (sieve, shared):
            if held is not None:
                held.users += 1

    def close(self) -> None:
        """Let go of it; what nobody else has a part in is forgotten."""
        if self._shared is None:
            self.ranking.close()
        if self._sieve is None:
            self.ranking.sieve.close()
        for held in (self._sieve, self._shared):
            if held is not None:
                held.users -= 1


class Finder:
    """What the searches of one world have found out.

    A component: the world makes one, registers its filters and ratings, and gives it to every entity that searches.
    """

    __slots__ = ("_filters", "_ratings", "_sieves")

    def __init__(self) -> None:
        self._filters: dict[str, Filter] = {}
        self._ratings: dict[str, Rating] = {}
        self._sieves: list[_SharedSieve] = []

    def close(self) -> None:
        """Forget everything that was found out; what is registered stays."""
        for shared in self._sieves:
            shared.close()
        self._sieves.clear()

    def register_filter(self, key: str, test: Filter) -> None:
        """Name a filter, so that all who ask by that name share what it said.

        Args:
            key: the name.
            test: the filter; its answer hangs on the candidate alone.

        Raises:
            ValueError: the name is taken.
        """
        self._register(self._filters, "filter", key, test)

    def register_rating(self, key: str, rating: Rating) -> None:
        """Name a rating, so that all who ask by that name share it.

        Args:
            key: the name.
            rating: the rating; its answer hangs on the candidate alone.

        Raises:
            ValueError: the name is taken.
        """
        self._register(self._ratings, "rating", key, rating)

    def _register(self, table: dict[str, F], what: str, key: str, made: F) -> None:
        if key in table:
            raise ValueError(f"a {what} is registered as {key!r} already. Choose another name: it names one {what}.")
        table[key] = made

    def filter(self, given: Filter | str | None) -> Filter | None:
        """The filter of a name; a function is its own.

        Args:
            given: a name, a function, or None.

        Raises:
            LookupError: nobody registered the name.
        """
        return self._look_up(self._filters, "filter", given)

    def rating(self, given: Rating | str | None) -> Rating | None:
        """The rating of a name; a function is its own.

        Args:
            given: a name, a function, or None.

        Raises:
            LookupError: nobody registered the name.
        """
        return self._look_up(self._ratings, "rating", given)

    def _look_up(self, table: dict[str, F], what: str, given: F | str | None) -> F | None:
        if not isinstance(given, str):
            return given
        found = table.get(given)
        if found is None:
            known = ", ".join(sorted(table)) or "none"
            raise LookupError(
                f"no {what} is registered as {given!r}; registered: {known}. Register it: "
                f"finder.register_{what}({given!r}, function), on the Finder that the entity has as a component."
            )
        return found

    def search(
        self,
        directory: Directory,
        tag: str,
        test: Filter | str | None,
        rating: Rating | str | None,
        rate: RateMany | None = None,
    ) -> Reading:
        """Search among what stands under a tag.

        Args:
            directory: who knows it.
            tag: the tag.
            test: the filter, or its name; None lets all pass.
            rating: the rating, or its name; not looked at if ``rate`` is given.
            rate: a rating that is this search's own.

        Returns:
            A hold on the ranking.

        Raises:
            LookupError: nobody registered a name.
        """
        found = self._sieve(directory, tag, self.filter(test), is_named=test is None or isinstance(test, str))
        if rate is not None:
            return Reading(Ranking(found.sieve, rate), found)
        function = self.rating(rating) or _all_alike
        for shared in found.rankings:
            if shared.rating == function:
                _touch(found.rankings, shared)
                return Reading(shared.ranking, found, shared)
        made = _SharedRanking(
            function, Ranking(found.sieve, _Each(function)), is_named=rating is None or isinstance(rating, str)
        )
        found.rankings.append(made)
        _forget_unused(found.rankings)
        return Reading(made.ranking, found, made)

    def search_among(
        self,
        candidates: Sequence[Entity],
        test: Filter | str | None,
        rating: Rating | str | None,
        rate: RateMany | None,
    ) -> Reading:
        """Search among candidates of one's own.

        Args:
            candidates: the candidates.
            test: as for ``search``.
            rating: as for ``search``.
            rate: as for ``search``.

        Returns:
            A hold on a ranking that nobody shares.

        Raises:
            LookupError: nobody registered a name.
        """
        sieve = Sieve(self.filter(test), lambda: candidates)
        return Reading(Ranking(sieve, rate or _Each(self.rating(rating) or _all_alike)))

    def _sieve(self, directory: Directory, tag: str, test: Filter | None, *, is_named: bool) -> _SharedSieve:
        for shared in self._sieves:
            if shared.tag == tag and shared.directory is directory and shared.test == test:
                _touch(self._sieves, shared)
                return shared
        made = _SharedSieve(directory, tag, test, is_named=is_named)
        self._sieves.append(made)
        _forget_unused(self._sieves)
        return made


S = TypeVar("S", _SharedSieve, _SharedRanking)


def _touch(shared: list[S], used: S) -> None:
    """Move one to the end, where those stand that were used last."""
    shared.remove(used)
    shared.append(used)


def _forget_unused(shared: list[S]) -> None:
    unused = [one for one in shared[:-1] if not one.is_named and not one.users]
    for one in unused[: max(0, len(unused) - _KEPT)]:
        one.close()
        shared.remove(one)


def _all_alike(_entity: Entity) -> float:
    return 1.0
