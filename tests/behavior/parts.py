"""Small parts of trees that the tests of the text's statements share."""

from __future__ import annotations


def goes_on(at):
    return True


def gives_up(at):
    return False


def never(memory):
    return False


def ticked(log, *, until=None):
    """A behavior that says in the log where it was ticked, and gives up as soon as ``until(at)`` is true."""

    def tick(at):
        log.append(at.name)
        return until is None or not until(at)

    return tick


def asked(log, name, answer=False):
    def decide(memory):
        log.append(f"{name}?")
        return answer(memory) if callable(answer) else answer

    return decide
