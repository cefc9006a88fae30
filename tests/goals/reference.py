"""A goal selector as the seed has it: written from its Operation section and its flowchart, straight down, for comparing.

Nothing of agentrt is used here. A goal is a row of plain values; what it answers stands in ``answers`` under its name;
an answer that is ``BOOM`` stands for an exception. Every call that the selector makes is written into ``calls``.

What the seed does not say, and the library decides: a goal that raises is stopped if it runs, and never asked again.
"""

from __future__ import annotations

BOOM = "boom"


class Row:
    """A goal in its wrapper."""

    def __init__(self, name, priority, flags, interruptible=True, every_tick=False):
        self.name = name
        self.priority = priority
        self.flags = list(flags)
        self.interruptible = interruptible
        self.every_tick = every_tick
        self.running = False
        self.out = False


class ReferenceSelector:
    """The flowchart, box by box."""

    def __init__(self, answers, number=0):
        self.answers = answers
        self.number = number
        self.available_goals = []
        self.locked_flags = {}
        self.disabled_flags = set()
        self.calls = []
        self.tick_count = 0

    # GoalSelector.addGoal, removeGoal, disableControlFlag, enableControlFlag

    def add(self, row):
        self.available_goals.append(row)

    def remove(self, name):
        for row in self.available_goals:
            if row.name == name:
                self.stop(row)
        self.available_goals = [row for row in self.available_goals if row.name != name]

    def disable(self, flag):
        self.disabled_flags.add(flag)

    def enable(self, flag):
        self.disabled_flags.discard(flag)

    # Mob.serverAiStep

    def ai_step(self):
        is_first = self.tick_count == 0
        is_odd = (self.tick_count + self.number) % 2 == 1
        self.tick_count += 1
        if is_first or not is_odd:
            self.tick()
        else:
            self.tick_running_goals(False)

    # GoalSelector.tick

    def tick(self):
        self.step_1()
        for flag in list(self.locked_flags):
            if not self.locked_flags[flag].running:
                del self.locked_flags[flag]
        self.step_3()
        self.tick_running_goals(True)

    def step_1(self):
        for row in list(self.available_goals):
            if not row.running:
                continue
            if self.goal_contains_any_flags(row, self.disabled_flags) or not self.can_continue(row):
                self.stop(row)

    def step_3(self):
        for row in list(self.available_goals):
            if row.running or row.out:
                continue
            if self.goal_contains_any_flags(row, self.disabled_flags):
                continue
            if not self.goal_can_be_replaced_for_all_flags(row):
                continue
            if not self.can_use(row):
                continue
            holders = []
            for flag in row.flags:
                if flag in self.locked_flags:
                    holders.append(self.locked_flags[flag])
                self.locked_flags[flag] = row
            for holder in holders:
                self.stop(holder)
            self.start(row)

    def goal_contains_any_flags(self, row, flags):
        return any(flag in flags for flag in row.flags)

    def goal_can_be_replaced_for_all_flags(self, row):
        for flag in row.flags:
            if flag in self.locked_flags:
                holder = self.locked_flags[flag]
                if not (holder.interruptible and row.priority < holder.priority):
                    return False
        return True

    # GoalSelector.tickRunningGoals

    def tick_running_goals(self, tick_all):
        for row in list(self.available_goals):
            if row.running and (tick_all or row.every_tick):
                self.calls.append(f"tick {row.name}")
                if self.answers[row.name]["tick"] == BOOM:
                    self.fail(row)

    # WrappedGoal

    def start(self, row):
        row.running = True
        self.calls.append(f"start {row.name}")
        if self.answers[row.name]["start"] == BOOM:
            self.fail(row)

    def stop(self, row):
        if row.running:
            row.running = False
            self.calls.append(f"stop {row.name}")
            if self.answers[row.name]["stop"] == BOOM:
                row.out = True

    def can_use(self, row):
        return self.ask(row, "canUse", "use")

    def can_continue(self, row):
        if self.answers[row.name]["continue"] is None:
            return self.ask(row, "canUse", "use")
        return self.ask(row, "canContinue", "continue")

    def ask(self, row, call, script):
        answer = self.answers[row.name][script]
        self.calls.append(f"{call} {row.name}={'boom' if answer == BOOM else int(answer)}")
        if answer == BOOM:
            self.fail(row)
            return False
        return answer

    def fail(self, row):
        row.out = True
        self.stop(row)

    # what can be seen

    def running(self):
        return [row.name for row in self.available_goals if row.running]

    def locked(self):
        return {flag: row.name for flag, row in self.locked_flags.items()}
