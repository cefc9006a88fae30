"""``agentrt serve``: workers come back after a crash, and end cleanly; health is told on loopback."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from agentrt.cli import main
from agentrt.cli.service import Supervisor
from agentrt.record import Recording, replay

LIMIT = 100.0

RUNNING = 'print("{\\"state\\": \\"running\\", \\"tick\\": 7, \\"committed_tick\\": 6}", flush=True); '


def supervisor(code, *, first_wait=0.01, quick=60.0, **options):
    """One whose workers run some code; their arguments are ``sys.argv[1:]``."""
    return Supervisor(
        [sys.executable, "-S", "-c", f"import sys; {code}"], first_wait=first_wait, quick=quick, **options
    )


def health(url):
    try:
        with urllib.request.urlopen(url, timeout=LIMIT) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def until(condition):
    end = time.monotonic() + LIMIT
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return found


@pytest.mark.states(
    "tools: Durable runs: `agentrt serve` starts a worker again after a crash, with back-off, which resumes; after so "
    "many quick deaths in a row it gives up",
)
def test_it_starts_workers_again_and_gives_up(tmp_path, capsys):
    log = tmp_path / "log"
    work = supervisor(f"{RUNNING} open({str(log)!r}, 'a').write(' '.join(sys.argv[1:]) + '|'); sys.exit(1)", give_up=3)
    assert work.run() == 1
    assert log.read_text() == "|--resume|--resume|"
    assert work.restarts == 2
    told = capsys.readouterr().err.splitlines()
    assert told == [
        "died (exit code 1) at tick 7; again in 0.01 s",
        "died (exit code 1) at tick 7; again in 0.02 s",
        "died (exit code 1) at tick 7; 3 quick deaths in a row: giving up",
    ]


HANGING = "import time; time.sleep(60)"


@pytest.mark.states(
    "tools: Durable runs: A worker whose clock stands longer than `--hang-limit` is ended and followed by the next one, "
    "as after a crash; one that is paused is not",
)
def test_who_hangs_is_ended_and_counts_as_dead_when_its_clock_stood_still(capsys):
    work = supervisor(f"{RUNNING} {HANGING}", give_up=2, quick=0.2, hang_limit=0.3)
    assert (work.run(), work.restarts) == (1, 1)
    told = capsys.readouterr().err.splitlines()
    assert [line.partition(" for ")[0] for line in told[::2]] == 2 * ["its clock has stood at tick 7"]
    assert told[1::2] == [
        "died (signal 6) at tick 7; again in 0.01 s" if os.name == "posix" else told[1],
        f"{told[1].partition(';')[0]}; 2 quick deaths in a row: giving up",
    ]


@pytest.mark.slow
def test_who_does_not_even_end_when_told_so_is_killed(monkeypatch, capsys):
    monkeypatch.setattr("agentrt.cli.service._LAST_WORDS", 0.1)
    work = supervisor(
        f"import signal; signal.signal(6, signal.SIG_IGN); {RUNNING} {HANGING}", give_up=1, hang_limit=0.4
    )
    assert work.run() == 1
    assert f"died (signal {9 if os.name == 'posix' else 1})" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(
    ("more", "limit"),
    [({"is_paused": True}, 0.3), ({"tick_seconds": 60.0}, 0.3), ({}, 0)],
    ids=["paused", "slow", "off"],
)
def test_who_does_not_hang(more, limit):
    told = json.dumps({"state": "running", "tick": 7, **more})
    work = supervisor(
        f"import time; [print({told!r}, flush=True) or time.sleep(0.1) for _ in range(8)]", hang_limit=limit
    )
    assert (work.run(), work.restarts) == (0, 0)


def test_who_lived_long_did_not_die_quickly(tmp_path):
    count = tmp_path / "count"
    count.write_text("")
    code = f"{RUNNING} n = len(open({str(count)!r}).read()); open({str(count)!r}, 'a').write('x'); sys.exit(n < 4)"
    work = supervisor(code, give_up=2, quick=0.0)
    assert work.run() == 0
    assert work.restarts == 4


@pytest.mark.parametrize("code", [0, 2])
def test_what_ends_by_itself_or_cannot_be_helped_is_not_started_again(code):
    work = supervisor(f"sys.exit({code})")
    assert (work.run(), work.restarts) == (code, 0)


def test_what_a_worker_says_that_is_no_word_of_ours():
    work = supervisor("print('[1]'); print('{'); print('\\x00'); sys.exit(0)")
    assert work.run() == 0
    assert work.health()["tick"] == 0


@pytest.mark.states(
    "tools: Durable runs: The health of a service is told on loopback: 200 while it runs, 503 else, with tick, "
    "committed tick, restarts, pid and late ticks",
)
def test_health_and_a_clean_end():
    work = supervisor(f"{RUNNING} sys.stdin.read(); sys.exit(0)")
    codes = []
    with work.telling_health(0) as url:
        assert url.startswith("http://127.0.0.1:")
        code, told = health(url)
        assert (code, told.pop("seconds_since_tick") < LIMIT) == (503, True)
        assert told == {
            "tick": 0, "committed_tick": 0, "late_ticks": 0, "is_paused": False, "state": "starting", "restarts": 0,
            "pid": None,
        }  # fmt: skip
        thread = threading.Thread(target=lambda: codes.append(work.run()))
        thread.start()
        until(lambda: health(url)[0] == 200)
        told = health(url)[1]
        assert (told["tick"], told["committed_tick"], told["state"], type(told["pid"])) == (7, 6, "running", int)
        with pytest.raises(click.BadParameter), work.telling_health(int(url.rsplit(":", 1)[1].strip("/"))):
            pass
        work.stop()
        thread.join(LIMIT)
        assert health(url)[0] == 503
    assert codes == [0]


def test_who_does_not_end_is_killed(monkeypatch, capsys):
    monkeypatch.setattr("agentrt.cli.service._GRACE", 0.05)
    work = supervisor(f"{RUNNING} import time; time.sleep(60)")
    threading.Timer(0.3, work.stop).start()
    assert work.run() == 1
    assert "it did not end within 0.05 s, and was killed" in capsys.readouterr().err


def test_stopped_before_the_next_one_is_started():
    work = supervisor("sys.exit(1)", first_wait=30.0)
    threading.Timer(0.3, work.stop).start()
    assert (work.run(), work.restarts) == (0, 0)


def test_a_file_that_is_there(tmp_path):
    path = tmp_path / "run.sqlite"
    path.write_text("mine")
    result = CliRunner().invoke(main, ["serve", "colony", "--record", str(path)])
    assert result.exit_code == 2
    assert "there is a file already. Go on with it: --resume" in result.stderr
    assert path.read_text() == "mine"


@pytest.mark.slow  # a process is started
def test_who_cannot_go_on_says_so_once(tmp_path):
    path = tmp_path / "other.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE mine (cell)")
    command = [
        sys.executable,
        "-m",
        "agentrt.cli",
        "serve",
        "colony",
        "--record",
        str(path),
        "--resume",
        "--health-port=0",
    ]
    served = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT, check=False)
    assert served.returncode == 2
    assert served.stderr.count("it is a SQLite database, but no recording.") == 1
    assert "Fatal Python error" not in served.stderr


# --- a whole service ----------------------------------------------------------------------------------------------------

GAME = """
import os, sys
from agentrt import Runtime
from agentrt.worlds import SimpleWorld


def make(*, seed, host):
    runtime = Runtime(seed, host=host)
    runtime.every_tick(lambda: runtime.note("tick", number=runtime.tick))
    return runtime


print("what the game prints")
world = SimpleWorld("game", make)
"""


@pytest.mark.states(
    "tools: Durable runs: A service that is killed comes back where its recording ended; SIGTERM ends it between two "
    "ticks with exit code 0",
)
@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_a_service_is_killed_and_comes_back(tmp_path, monkeypatch):
    (tmp_path / "game.py").write_text(GAME)
    command = [sys.executable, "-m", "agentrt.cli", "serve", "--app", "game:world", "--record", "run.sqlite"]
    command += ["--speed", "20", "--health-port", "0"]
    service = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        line = next(line for line in service.stderr if "health: " in line)
        url = line.split("health: ")[1].partition(";")[0]

        def running(restarts):
            status, told = health(url)
            return told if (status, told["restarts"]) == (200, restarts) and told["tick"] > 10 else None

        told = until(lambda: running(0))
        os.kill(told["pid"], signal.SIGKILL)
        again = until(lambda: running(1))
        assert again["pid"] != told["pid"]
        os.kill(service.pid, signal.SIGTERM)
        out, err = service.communicate(timeout=LIMIT)
    finally:
        service.kill()
    assert (service.returncode, out) == (0, "")
    assert "died (signal 9) at tick" in err
    with Recording.open(tmp_path / "run.sqlite") as recording:
        (resumed,) = recording.header("resumed")
        assert resumed["tick"] >= told["committed_tick"]
        assert recording.last_tick >= again["committed_tick"]
        assert recording.header("ended") == "the runtime was stopped"
        monkeypatch.syspath_prepend(tmp_path)
        assert replay(recording, __import__("game").make).is_same
    assert sorted(file.name for file in Path(tmp_path).glob("run.sqlite*")) == ["run.sqlite"]


HANGS = """
from pathlib import Path
from agentrt import Runtime
from agentrt.worlds import SimpleWorld


def make(*, seed, host):
    runtime = Runtime(seed, host=host)

    def every_tick():
        if runtime.tick == 30 and not Path("hung").exists():
            Path("hung").touch()
            while True:
                pass

    runtime.every_tick(every_tick)
    return runtime


world = SimpleWorld("game", make)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_a_service_that_hangs_comes_back(tmp_path):
    (tmp_path / "game.py").write_text(HANGS)
    command = [sys.executable, "-m", "agentrt.cli", "serve", "--app", "game:world", "--record", "run.sqlite"]
    command += ["--speed", "20", "--health-port", "0", "--hang-limit", "2.5"]
    service = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        line = next(line for line in service.stderr if "health: " in line)
        url = line.split("health: ")[1].partition(";")[0]
        until(lambda: health(url)[1]["tick"] > 60)
        os.kill(service.pid, signal.SIGTERM)
        _, err = service.communicate(timeout=LIMIT)
    finally:
        service.kill()
    assert service.returncode == 0
    lines = err.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("its clock has stood at tick 30 for "))
    assert "Fatal Python error: Aborted" in lines[at:]
    assert any("game.py" in line and "in every_tick" in line for line in lines[at:])  # that is where it hung
    assert "died (signal 6) at tick 30; again in 1 s" in lines[at:]
