"""Actors of Ray, on this machine: the same table as in this process, a hang that costs one row, and no port left open.

There is one cluster of two workers for all of it, since it takes seconds to come up.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from children import finding

from agentrt.ensembles import sweep, write_csv

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")]

CODE = """
from pathlib import Path
from ports import LOOPBACK, listening, ours
from patience import Patience
from agentrt.ensembles import sweep, workers, write_csv

during, workers.time = set(), Patience(hanging=1)
done = sweep(
    "pond", ticks=30, seeds="0:6", params={"trouble": ["fail 1", "hang 2"]}, out="ray.sqlite", workers=2, ray="local",
    time_limit=2.0, told=lambda state: during.update(ours()) or workers.time.told(state),
)
print([(row.seed, row.error.partition(chr(92))[0]) for row in done.failed])
print(0 < len(during), {address for address, _ in during} <= LOOPBACK, len(listening() & during))
write_csv([row for row in done.rows if row.params["trouble"] == "fail 1"], Path("ray.csv"))
"""


def test_ray(pond, tmp_path):
    script = tmp_path / "many.py"
    script.write_text(CODE)
    support = Path(__file__).parent.parent / "support"
    kept = {**finding(support), "HOME": str(tmp_path)}  # where Ray keeps what is its own
    ran = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=240, env=kept, check=False)
    assert ran.stdout.splitlines() == [
        "[(1, 'ValueError: no water'), (2, 'it did not end within 2 s of real time')]",
        "True True 0",
    ], ran.stderr
    here = sweep("pond", ticks=30, seeds="0:6", params={"trouble": "fail 1"}, out="here.sqlite", workers=0)
    write_csv(here.rows, Path("here.csv"))
    assert Path("here.csv").read_bytes() == Path("ray.csv").read_bytes()
