"""Tasks for the processes of ``examples.crafter.workers``: what is started afresh must find them by name."""

from __future__ import annotations

import os
import signal
import time

IS_DEAF_FROM_THE_START = signal.getsignal(signal.SIGINT) is signal.SIG_IGN  # when this is imported, before any task


def square(seed, tell):
    tell(0.5)
    return seed * seed


def die_of_three(seed, tell):
    """Die as if the system had killed it, at seed 3."""
    if seed == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return seed


def raise_at_three(seed, tell):
    if seed == 3:
        raise ValueError("three")
    return seed


def sleep_long(seed, tell):
    """Say which process it is, and go on for a minute."""
    tell(float(os.getpid()))
    time.sleep(60)


def is_deaf(seed, tell):
    """Whether Ctrl-C would not reach it, when its process began and now."""
    return IS_DEAF_FROM_THE_START, signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def process_of(seed, tell):
    return os.getpid()
