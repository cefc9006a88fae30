"""Holders of control flags with a script, and a table at which they sit: for the tests of the ledger.

What a holder does when it is asked to give way, or told that it has its flags, is up to the test: it ends at once or
later, and claims, releases or waits on the spot.
"""

from __future__ import annotations

from agentrt.body.flags import FlagLedger


class Fake:
    """A holder: it ends when it is asked to, at once unless ``is_slow``, and logs what it is told."""

    def __init__(self, ledger, name, precedence=0, *, runs_for=None, is_interruptible=True, is_slow=False, log=None):
        self.ledger = ledger
        self.flag_name = name
        self.precedence = precedence
        self.runs_for = runs_for
        self.is_interruptible = is_interruptible
        self.is_slow = is_slow
        self.log = [] if log is None else log
        self.below = []
        self.when_granted = []  # what it does at once, each time
        self.when_asked = []
        self.is_asked = False
        if runs_for is not None:
            runs_for.below.append(self)

    def claim(self, *flags, tick=0, **options):
        return self.ledger.claim(flags, self, tick, **options)

    def end(self):
        """What runs for it ends first."""
        for other in self.below:
            other.end()
        self.is_asked = False
        self.ledger.release(self)

    def give_way(self, flag, claimant):
        self.log.append((self.flag_name, "gives way", flag, claimant))
        self.is_asked = True
        if self.when_asked:
            self.when_asked.pop(0)(self)
        if not self.is_slow:
            self.end()

    def flags_granted(self):
        self.log.append((self.flag_name, "granted"))
        if self.when_granted:
            self.when_granted.pop(0)(self)


class Table:
    """One ledger, its holders by name, and the log that they share."""

    def __init__(self, ledger=None):
        self.ledger = FlagLedger() if ledger is None else ledger
        self.log = []

    def holder(self, name, precedence=0, **options):
        return Fake(self.ledger, name, precedence, log=self.log, **options)

    @property
    def holds(self):
        return {flag: hold.name for flag, hold in self.ledger.holds().items()}

    @property
    def waiting(self):
        return [(claim.claimant, claim.flags) for claim in self.ledger.waiting()]
