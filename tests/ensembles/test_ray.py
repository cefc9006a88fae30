"""Actors of Ray, on this machine: the same table as in this process, a hang that costs one row, and no port left open.

There is one cluster of two workers for all of it, since it takes seconds to come up.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentrt.ensembles import sweep, write_csv

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]

CODE = """
from pathlib import Path
from agentrt.ensembles import sweep, write_csv

def listening():
    lines = [line.split() for kind in ("tcp", "tcp6") for line in Path(f"/proc/net/{kind}").read_text().splitlines()[1:]]
    return {line[1] for line in lines if line[3] == "0A"}

before, during = listening(), set()
done = sweep(
    "pond", ticks=30, seeds="0:6", params={"trouble": ["fail 1", "hang 2"]}, out="ray.sqlite", workers=2, ray="local",
    time_limit=2.0, told=lambda state: during.update(listening() - before),
)
print([(row.seed, row.error.partition(chr(92))[0]) for row in done.failed])
print(sorted({address.rpartition(":")[0] for address in during}), len(listening() & during))
write_csv([row for row in done.rows if row.params["trouble"] == "fail 1"], Path("ray.csv"))
"""
LOOPBACK = ["0000000000000000FFFF00000100007F", "0100007F"]  # as the kernel writes it, of both kinds


def test_ray(pond, tmp_path):
    script = tmp_path / "many.py"
    script.write_text(CODE)
    kept = {**os.environ, "HOME": str(tmp_path)}  # where Ray keeps what is its own
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=240, env=kept, check=False)
    assert ran.stdout.splitlines() == [
        "[(1, 'ValueError: no water'), (2, 'it did not end within 2 s of real time')]",
        f"{LOOPBACK} 0",
    ], ran.stderr
    here = sweep("pond", ticks=30, seeds="0:6", params={"trouble": "fail 1"}, out="here.sqlite", workers=0)
    write_csv(here.rows, Path("here.csv"))
    assert Path("here.csv").read_bytes() == Path("ray.csv").read_bytes()
