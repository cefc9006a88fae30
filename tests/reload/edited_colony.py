"""A colony whose code, packs and trees are edited while it runs; prints what came of it. Run by ``test_colony``.

A program of its own, since the colony is imported from a copy of its folder, which comes first on ``PYTHONPATH``.
"""

from __future__ import annotations

import gc
import json
import random
import re
import sys
from collections import Counter
from pathlib import Path

import agentrt_examples
from agentrt.activity.author.action import ActionSpec
from agentrt.activity.plan.tree import Frame
from agentrt.kernel.trace import TraceEvent
from agentrt.reload import Reloader
from agentrt_examples.colony.colony import Colony

HERE = Path(agentrt_examples.__file__).parent
CODE = (
    "colony/acting/needs.py",  # actions, task groups, observers
    "colony/acting/farming.py",
    "colony/acting/critters.py",
    "colony/minds/drake_behaviors.py",
    "colony/minds/wolves.py",  # goals
    "colony/minds/soldiers.py",  # behaviors of selection trees
    "colony/bodies.py",  # components, which all others import
)


def specs_in(objects):
    """What actions declare, but for what only a place keeps that was not thought at since the last edit."""
    frames = [one for one in objects if isinstance(one, Frame)]
    late = {id(unit.spec) for frame in frames if frame.version != frame.planner.version for unit in frame.units}
    for frame in frames:
        late -= {id(spec) for specs in frame.planner.known.values() for spec in specs}
        if frame.version == frame.planner.version:
            late -= {id(unit.spec) for unit in frame.units}
    specs = [one for one in objects if isinstance(one, ActionSpec) and one.kind in ("leaf", "compound")]
    return [one for one in specs if id(one) not in late]


def edit(choose, number):
    """Edit something; returns the files, what they were if that has to be put back, and what it was."""
    kind = choose.choice(("code", "code", "tree", "pack", "selection", "group", "broken", "broken pack"))
    if kind == "code":
        file = HERE / choose.choice(CODE)
        text = re.sub(r"\n    edited = \d+\n", "\n", file.read_text())
        classes = list(re.finditer(r'^class \w+.*:\n(    """(?:[^"]|"(?!""))*"""\n)?', text, re.MULTILINE))
        end = choose.choice(classes).end()
        file.write_text(f"{text[:end]}\n    edited = {number}\n{text[end:]}")
        return [file], None, kind
    if kind == "tree":
        file = HERE / "colony/minds/drakes.py"
        text = re.sub(r'\("(LOITER|LAZE)"', f'("{choose.choice(("LOITER", "LAZE"))}"', file.read_text())
        file.write_text(text)
        return [file], None, kind
    if kind == "selection":
        file = HERE / "colony/data/selection/Common.xml"
        text = file.read_text()
        new = text.replace("OnWatch and !WolfNear", "!WolfNear and OnWatch")
        file.write_text(new if new != text else text.replace("!WolfNear and OnWatch", "OnWatch and !WolfNear"))
        return [file], None, kind
    if kind == "group":
        file = HERE / "colony/data/groups/town.json"
        file.write_text(re.sub(r'"weight": \d+', "", file.read_text()))
        value = json.loads(file.read_text())
        groups = [one for one in value["task_groups"].values() if "does" in one]
        choose.choice(groups)["sunk_cost_boost"] = choose.randint(1, 9) / 100
        file.write_text(json.dumps(value, indent=3))
        return [file], None, kind
    if kind == "broken":
        file = HERE / choose.choice(CODE)
        text = file.read_text()
        wrong = choose.choice(("def (:\n", "raise SystemError('edited')\n", "import nothing_of_this_name\n", "x = (\n"))
        file.write_text(choose.choice((text + wrong, wrong, text[: len(text) // 2] + "\n(" + wrong)))
        return [file], text, kind
    file = HERE / choose.choice(("colony/packs/critter.json", "colony/packs/hearthling.json"))
    text = file.read_text()
    if kind == "broken pack":
        file.write_text(text[: len(text) // 2])
        return [file], text, kind
    value = json.loads(text)
    actions = value.setdefault("actions", [])
    for one in ("colony:actions:pose", "colony:actions:graze"):
        if "critter" in file.name and choose.random() < 0.5:
            (actions.remove if one in actions else actions.append)(one)
    choose.shuffle(actions)
    file.write_text(json.dumps(value, indent=3))
    return [file], None, kind


def main(edits, seed):
    choose = random.Random(seed)
    colony = Colony(seed=7, host="plain")
    runtime = colony.runtime
    reloader = Reloader(runtime, HERE)
    faults, records, kinds, took, broken, sizes = [], Counter(), Counter(), Counter(), 0, []
    refused = []
    runtime.on_fault(lambda fault: faults.append(f"{fault.text}: {fault.error!r}"))
    runtime.trace.listen(lambda record: records.update([record.event]))
    closing = reloader.on_reload(lambda report: took.update(report.agents))
    was = None
    for number in range(edits):
        for _ in range(choose.randint(1, 6)):
            runtime.step()
        files, before, kind = edit(choose, number)
        kinds[kind] += 1
        seen = len(faults)
        reports = []
        close = reloader.on_reload(reports.append)
        reloader.reload(files)
        runtime.step()
        close()
        if before is not None:
            broken += len(reports) == 1 and not reports[0].ok
            faults[seen:] = [one for one in faults[seen:] if not one.startswith("not reloaded")]
            files[0].write_text(before)
            reloader.reload(files)
        else:
            refused += [report.error for report in reports if report.error] + [n for r in reports for n in r.notes]
        was = records[TraceEvent.RUN]
        if (number + 1) % (edits // 4) == 0:
            gc.collect()
            objects = gc.get_objects()
            specs = len(specs_in(objects))
            types = sum(isinstance(one, type) and str(one.__module__).startswith("agentrt_examples") for one in objects)
            sizes.append((specs, types, len(sys.modules)))
    for _ in range(100):
        runtime.step()
    result = {
        "faults": faults,
        "refused": refused,
        "broken": broken,
        "kinds": kinds,
        "agents": len(runtime.agents),
        "took": sum(took.values()),
        "ran_since": records[TraceEvent.RUN] - was,
        "sizes": sizes,
    }
    closing()
    runtime.close()
    print(json.dumps(result))  # noqa: T201 - who runs it reads that


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
