"""A program that is killed while it records: what was committed is there."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest
from modules import load

from agentrt.kernel.trace import TraceDigest
from agentrt.record import resume

camp = load("tests/record/camp.py")

PROGRAM = """
import os, signal, sys
sys.path[:0] = [{support!r}]
from modules import load
camp = load("tests/record/camp.py")
runtime = camp.camp()
runtime.record(sys.argv[1], commit_every=int(sys.argv[2]))
runtime.after_tick(lambda: runtime.tick == 37 and os.kill(os.getpid(), signal.SIGKILL))
camp.drive(runtime, 1000, between=lambda runtime: runtime.tick % 9 == 5 and runtime.send("blow"))
"""


@pytest.mark.states(
    "tools: Recording: What is written survives `kill -9` up to the last tick committed: the file opens, with the "
    "digest, records and inputs of that tick",
)
@pytest.mark.states(
    "tools: Durable runs: A run that is killed by `kill -9` and resumed ends with the digest of the undisturbed one; "
    "`tools/kill_campaign.py` does it to a colony with outside calls, a hundred times",
)
@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
@pytest.mark.parametrize(("commit_every", "last"), [(1, 37), (10, 30)])
def test_a_recording_survives_kill_9_up_to_the_last_tick_that_was_committed(tmp_path, root, opened, commit_every, last):
    path = tmp_path / "run.sqlite"
    code = PROGRAM.format(support=str(root / "tests" / "support"))
    done = subprocess.run(
        [sys.executable, "-c", code, path, str(commit_every)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (-signal.SIGKILL, "")
    recording = opened(path)
    assert (recording.last_tick, recording.meta["ended"]) == (last, "")
    runtime = camp.camp()
    digest, records = TraceDigest(runtime.trace), []
    runtime.trace.listen(records.append)
    digests = []
    runtime.after_tick(lambda: digests.append((digest.hexdigest(), len(records))))
    camp.drive(runtime, last, between=lambda runtime: runtime.tick % 9 == 5 and runtime.send("blow"))
    assert recording.digest() == digests[last - 1][0]
    assert list(recording.records()) == records[: digests[last - 1][1]]
    assert [one.tick for one in recording.inputs()] == [tick + 1 for tick in range(last) if tick % 9 == 5]
    assert recording.explain("cook 1", last).startswith(f"cook 1 at tick {last}: ")
    assert recording.unreplayable == []
    with resume(path, lambda *, seed, host: camp.camp(seed=seed, host=host)) as again:
        assert again.tick == last
        while again.tick < 60:
            if again.tick % 9 == 5:
                again.send("blow")
            again.step()
        recorded = again.recorder.digest
    undisturbed, at = camp.camp(), {}
    digest = TraceDigest(undisturbed.trace)
    undisturbed.after_tick(lambda: at.setdefault(undisturbed.tick, digest.hexdigest()))
    camp.drive(undisturbed, 60, between=lambda runtime: runtime.tick % 9 == 5 and runtime.send("blow"))
    assert recorded == at[60]
