"""What is seen of the models that drive somebody: which they are, what each does, who has which control flag. In words.

Everything comes from the snapshot of the agent. A model is told by its rank, a letter each: P the plan, S a selection
tree, T a selector of targets, G a goal selector, B a behavior tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentrt.snapshot import AgentSnapshot, DriverView, FrameView, ModelView, UnitView

__all__ = [
    "LETTERS",
    "doing",
    "driven",
    "driver_lines",
    "flag_lines",
    "models_of",
    "reason_lines",
    "running_units",
    "says",
]

LETTERS = {0: "S", 1: "T", 2: "G", 3: "B"}
"""The letter of each rank."""


def models_of(snapshot: AgentSnapshot) -> str:
    """The letters of the models that drive an agent.

    Args:
        snapshot: of the agent.
    """
    plans = snapshot.plan is not None and bool(snapshot.plan.units)
    letters = dict.fromkeys(LETTERS[driver.rank] for driver in snapshot.drivers)
    return ("P" if plans else "") + "".join(letters)


def says(driver: DriverView) -> str:
    """What a model does, in a few words; empty if it does nothing.

    Args:
        driver: its view.
    """
    if not isinstance(driver.state, ModelView):
        return ""
    words = driver.state.doing()
    return words.replace("_", " ").lower() if driver.model == "behavior" else words


def driven(snapshot: AgentSnapshot) -> str:
    """What those models do that act: goals and behaviors.

    Args:
        snapshot: of an agent.
    """
    words = [says(driver) for driver in snapshot.drivers if driver.rank > 1]
    return " + ".join(word for word in words if word)


def running_units(snapshot: AgentSnapshot) -> Iterator[tuple[FrameView, UnitView]]:
    """The running branch, from the root: each activity, and the action that performs it.

    Args:
        snapshot: of an agent.
    """
    frame = snapshot.plan
    while frame is not None:
        elected = next((unit for unit in frame.units if unit.is_elected), None)
        if elected is None or elected.state != "running":
            return
        yield frame, elected
        frame = next((child for child in elected.frames if child.state == "running"), None)


def doing(snapshot: AgentSnapshot) -> str:
    """What an agent does, in a few words: what for, and what is seen of it.

    Args:
        snapshot: of the agent.
    """
    names = [unit.name for _, unit in running_units(snapshot)]
    others = driven(snapshot)
    if not names:
        return others or "thinking"
    return _planned(snapshot, names) + (f" + {others}" if others else "")


def _planned(snapshot: AgentSnapshot, names: Sequence[str]) -> str:
    seen = snapshot.status_text or names[-1]
    purpose = _purpose(names)
    # "posing" says enough, "walking" does not.
    return seen if seen[:3] == purpose[:3] or purpose in (seen, "idle") else f"{purpose} \N{MIDDLE DOT} {seen}"


def _purpose(names: Sequence[str]) -> str:
    """What for: what a task is about, if one is done; else the action at the root, or what it stands for."""
    for number, name in enumerate(names[:-1]):
        if name.startswith("task "):
            return names[number + 1]
    return names[1] if names[0] in ("work", "free time") and len(names) > 1 else names[0]


def driver_lines(snapshot: AgentSnapshot) -> Iterator[str]:
    """Each model in a line: its letter, its name, its precedence, and what it does.

    Args:
        snapshot: of an agent.
    """
    for driver in snapshot.drivers:
        precedence = f" precedence {driver.precedence}" if driver.precedence else ""
        yield f"{LETTERS[driver.rank]} {driver.name}: {says(driver) or 'nothing'}{precedence}"


def reason_lines(snapshot: AgentSnapshot) -> Iterator[str]:
    """Why the goals, deciders and leaves that could drive an agent do not.

    Args:
        snapshot: of the agent.
    """
    for driver in snapshot.drivers:
        if isinstance(driver.state, ModelView):
            yield from driver.state.reasons()


def flag_lines(snapshot: AgentSnapshot) -> Iterator[str]:
    """Who has which control flag, who waits, who was refused and why.

    Args:
        snapshot: of an agent.
    """
    for flag, holder, since in snapshot.flags:
        yield f"{flag} held by {holder} since {since}"
    for claim in snapshot.waiting:
        yield f"{claim.claimant} waits for {' and '.join(claim.flags)} since {claim.since}"
    for refusal in snapshot.refusals:
        yield f"{refusal.claimant} was refused {refusal.flag} in tick {refusal.tick}: held by {refusal.holder},"
        yield f"  {refusal.reason}"
