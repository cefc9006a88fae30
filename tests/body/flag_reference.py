"""The six rules of the ledger of control flags, once more, without any regard for speed: the reference of its tests.

Everything is decided anew from two lists: who holds what, and who stands in the line. A deadlock is not looked for in
a graph: the future is played through (everybody who can end ends, whoever can be served is served), and whoever still
stands in the line then would stand there for ever.

Nothing here is shared with the ledger but the words of its refusals.
"""

from __future__ import annotations


def lineage(owner):
    """An owner, for whom it runs, for whom that one runs, and so on."""
    found = []
    while owner is not None:
        found.append(owner)
        owner = owner.runs_for
    return found


class Entry:
    """A claim that stands in the line."""

    def __init__(self, owner, flags, tick, shared):
        self.owner = owner
        self.flags = list(flags)
        self.tick = tick
        self.friends = [*lineage(owner), *shared]
        self.is_told = False

    def is_friend(self, owner):
        return any(owner is friend for friend in self.friends)


class ReferenceLedger:
    """The same methods as the ledger."""

    def __init__(self):
        self.held = {}  # flag -> (owner, tick)
        self.line = []
        self.refused = {}
        self.ending = []  # who was asked to give way, and has not released since

    # --- what tests look at -------------------------------------------------------------------------------------------

    def holds(self):
        return {flag: (owner.flag_name, tick) for flag, (owner, tick) in self.held.items()}

    def waiting(self):
        return [(entry.owner.flag_name, tuple(entry.flags), entry.tick) for entry in self.line]

    def refusals(self):
        return sorted(self.refused.values())

    # --- the rules ----------------------------------------------------------------------------------------------------

    def claim(self, flags, owner, tick, *, shared_with=(), wait=False):
        self._leave_line(owner)
        entry = Entry(owner, flags, tick, shared_with)
        keeper = self._keeper(entry)
        yielding = self._in_the_way(entry)
        if keeper is None and not yielding:
            self._give(entry)
            return None
        place = sum(other.owner.precedence >= owner.precedence for other in self.line)
        self.line.insert(place, entry)
        enemy = self._enemy(entry)
        if enemy is not None:
            self.line.remove(entry)
            return self._refuse(owner, tick, *enemy, "which waits for the claimant in turn: a deadlock", True)
        if wait or keeper is None:
            asked = []
            for flag, holder, since in yielding:
                if self._yields(holder, owner) and self.held.get(flag) == (holder, since) and holder not in asked:
                    asked.append(holder)
                    self.ending.append(holder)
                    holder.give_way(flag, owner.flag_name)
        if entry not in self.line and all(flag in self.held and entry.is_friend(self.held[flag][0]) for flag in flags):
            return None
        if keeper is None:
            flag, holder, _ = yielding[0]
            keeper = flag, holder.flag_name, "which is giving way"
        refusal = self._refuse(owner, tick, *keeper, False)
        if wait:
            entry.is_told = True
        else:
            self._leave_line(owner)
        return refusal

    def obstacle(self, flags, owner, tick, *, shared_with=()):
        keeper = self._keeper(Entry(owner, flags, tick, shared_with))
        return None if keeper is None else self._refuse(owner, tick, *keeper, False)

    def hand_over(self, flags, owner, tick, *, holders):
        for flag in flags:
            holder = self.held.get(flag, (owner, 0))[0]
            if holder is owner or holder in holders:
                self.held[flag] = (owner, tick)
        self.refused.pop(owner.flag_name, None)
        for entry in list(self.line):
            if entry not in self.line:
                continue
            if entry.owner is owner and not [flag for flag in entry.flags if not self._is_free(flag, entry)]:
                if all(flag in self.held for flag in entry.flags):
                    self.line.remove(entry)
            elif entry.owner is not owner:
                for flag, holder, _ in self._in_the_way(entry):
                    if holder is owner and self._yields(owner, entry.owner):
                        self.ending.append(owner)
                        owner.give_way(flag, entry.owner.flag_name)
                        break
        self._serve()

    def release(self, owner):
        self.line = [entry for entry in self.line if entry.owner is not owner]
        self.held = {flag: pair for flag, pair in self.held.items() if pair[0] is not owner}
        self.ending = [other for other in self.ending if other is not owner]
        self._serve()

    # --- how they are kept --------------------------------------------------------------------------------------------

    def _is_free(self, flag, entry):
        return flag not in self.held or entry.is_friend(self.held[flag][0])

    def _in_the_way(self, entry):
        return [(flag, *self.held[flag]) for flag in entry.flags if not self._is_free(flag, entry)]

    @staticmethod
    def _yields(holder, claimant):
        return claimant.precedence > holder.precedence and holder.is_interruptible

    def _before(self, entry, line):
        """Who stands in the line before an entry and wants what it wants."""
        for other in line:
            if other is entry or (other.owner is entry.owner and all(flag in other.flags for flag in entry.flags)):
                return
            if other.owner.precedence >= entry.owner.precedence and not entry.is_friend(other.owner):
                for flag in entry.flags:
                    if flag in other.flags and not (flag in self.held and self._is_free(flag, entry)):
                        yield flag, other
                        break

    def _keeper(self, entry):
        for flag, holder, since in self._in_the_way(entry):
            held, wanted = holder.precedence, entry.owner.precedence
            if held >= wanted:
                return (
                    flag,
                    holder.flag_name,
                    f"which came first, in tick {since}, with precedence {held} against {wanted}",
                )
            if not holder.is_interruptible:
                return flag, holder.flag_name, "which cannot be interrupted"
        for flag, other in self._before(entry, self.line):
            return flag, other.owner.flag_name, f"which has waited for it since tick {other.tick}"
        return None

    def _refuse(self, owner, tick, flag, holder, reason, is_final):
        refusal = (flag, owner.flag_name, holder, tick, reason, is_final)
        self.refused[owner.flag_name] = refusal
        return refusal

    def _give(self, entry):
        for flag in entry.flags:
            self.held.setdefault(flag, (entry.owner, entry.tick))
        self.refused.pop(entry.owner.flag_name, None)

    def _leave_line(self, owner):
        if any(entry.owner is owner for entry in self.line):
            self.line = [entry for entry in self.line if entry.owner is not owner]
            self._serve()

    def _serve(self):
        while (entry := next(filter(self.can_be_served, self.line), None)) is not None:
            self.line.remove(entry)
            self._give(entry)
            if entry.is_told:
                entry.owner.flags_granted()

    def can_be_served(self, entry):
        return not self._in_the_way(entry) and not list(self._before(entry, self.line))

    # --- deadlocks: the future is played through ----------------------------------------------------------------------

    def stuck_for_ever(self, ending=()):
        """Who still stands in the line when everybody who can end has ended. ``ending`` will give way."""
        ending = [*self.ending, *ending]
        line = [entry for entry in self.line if not any(one in ending for one in lineage(entry.owner))]
        present, self.held = self.held, dict(self.held)
        try:
            while True:
                waits = {one for entry in line for one in lineage(entry.owner)}
                self.held = {flag: pair for flag, pair in self.held.items() if pair[0] in waits}
                served = [
                    entry for entry in line if not self._in_the_way(entry) and not list(self._before(entry, line))
                ]
                if not served:
                    return line
                line.remove(served[0])  # it runs, and ends when it is looked at next
                for flag in served[0].flags:
                    self.held.setdefault(flag, (served[0].owner, 0))
        finally:
            self.held = present

    def _enemy(self, entry):
        """If an entry would wait for ever: the first in its way that would, too; holders before the line."""
        in_the_way = self._in_the_way(entry)
        yielding = [holder for _, holder, _ in in_the_way if self._yields(holder, entry.owner)]
        stuck = self.stuck_for_ever(yielding)
        if entry not in stuck:
            return None
        for flag, holder, _ in in_the_way:
            if holder not in yielding and any(holder in lineage(other.owner) for other in stuck if other is not entry):
                return flag, holder.flag_name
        return next((flag, other.owner.flag_name) for flag, other in self._before(entry, self.line) if other in stuck)
