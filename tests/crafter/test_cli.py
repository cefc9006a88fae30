"""``python -m examples.crafter``: options, errors, what goes to which stream, exit codes."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("crafter")

from examples.crafter import score as score_module
from examples.crafter.__main__ import main
from examples.crafter.record import Record
from examples.crafter.score import score
from examples.crafter.workers import News

ROOT = Path(__file__).resolve().parents[2]


def run(*args):
    return CliRunner().invoke(main, list(args))


class Play:
    """Takes the place of ``workers.run``: no episode is played, and some fail."""

    def __init__(self, failing=(), lost=(), faulty=(), cut=None):
        self.failing, self.lost, self.faulty, self.cut = failing, lost, faulty, cut
        self.calls = []

    def __call__(self, task, seeds, jobs, hear):
        self.calls.append((task.keywords["length"], list(seeds), jobs))
        for seed in seeds:
            if seed == self.cut:
                raise KeyboardInterrupt
            hear(News(seed, 0.5))
            if seed in self.lost:
                hear(News(seed, 1.0, lost="its process ended with exit code -9"))
                continue
            error = "ValueError: no (mind.py:3)" if seed in self.failing else ""
            faults, details = (3, "run raised") if seed in self.faulty else (0, "")
            hear(News(seed, 1.0, Record(seed, 50, False, {"wake_up": 1}, error=error, faults=faults, details=details)))


@pytest.fixture
def play(monkeypatch):
    def install(**how):
        made = Play(**how)
        monkeypatch.setattr(score_module.workers, "run", made)
        return made

    return install


def test_help_names_both_commands():
    result = run("--help")
    assert result.exit_code == 0
    assert [line.split()[0] for line in result.output.partition("Commands:\n")[2].splitlines()] == ["play", "score"]


def test_help_of_score_names_units_and_examples():
    lines = run("score", "-h").stdout.splitlines()
    assert "  python -m examples.crafter score --episodes 4 --length 500" in [line.removeprefix("  ") for line in lines]
    assert any("in steps" in line for line in lines)


def test_an_unknown_command():
    result = run("win")
    assert result.exit_code == 2
    assert "No such command 'win'" in result.output


@pytest.mark.parametrize("args", [[], ["--help"], ["score"], ["play", "--seed", "3"], ["score", "--help"]])
@pytest.mark.checkout
def test_without_the_extra_one_sentence_says_what_to_install(monkeypatch, args):
    real = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name, *more: None if name in ("crafter", "tcod") else real(name, *more)
    )
    result = run(*args)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == (
        "Error: this needs the packages crafter, tcod. In the folder of the clone, run: pip install -e '.[crafter]'\n"
    )


@pytest.mark.slow
@pytest.mark.checkout
def test_the_module_without_the_extra():
    """In a real process, in which the packages cannot be found."""
    code = (
        "import sys, importlib.abc, runpy\n"
        "class Hide(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name.partition('.')[0] in ('crafter', 'numpy', 'PIL', 'rich', 'tcod'):\n"
        "            raise ModuleNotFoundError(name)\n"
        "real = importlib.util.find_spec\n"
        "def find_spec(name, package=None):\n"
        "    try: return real(name, package)\n"
        "    except ModuleNotFoundError: return None\n"
        "importlib.util.find_spec = find_spec\n"
        "sys.meta_path.insert(0, Hide())\n"
        "sys.argv = ['crafter']\n"
        "runpy.run_module('examples.crafter', run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "Error: this needs the packages crafter, numpy, PIL, rich, tcod. "
        "In the folder of the clone, run: pip install -e '.[crafter]'\n"
    )


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--episodes", "0"], "'--episodes': 0 is not in the range x>=1."),
        (["--seed", "-1"], "'--seed': -1 is not in the range x>=0."),
        (["--length", "0"], "'--length': 0 is not in the range x>=1."),
        (["--jobs", "0"], "'--jobs': 0 is not in the range x>=1."),
        (["--episodes", "ten"], "'--episodes': 'ten' is not a valid integer range."),
    ],
)
def test_bad_numbers(play, args, words):
    played = play()
    result = run("score", *args)
    assert result.exit_code == 2
    assert words in result.stderr
    assert played.calls == []


def test_a_file_that_cannot_be_written_is_found_out_before_the_first_episode(play, tmp_path):
    played = play()
    folder, missing = run("score", "--json", str(tmp_path)), run("score", "--json", str(tmp_path / "no" / "x.json"))
    assert (folder.exit_code, missing.exit_code) == (2, 2)
    assert "is a directory" in folder.stderr
    assert "--json: cannot write" in missing.stderr.replace("\n", " ")
    assert "No such file or directory" in missing.stderr
    assert played.calls == []


def test_what_is_played(play):
    played = play()
    assert run("score", "--episodes", "3", "--seed", "7", "--length", "50", "--jobs", "9").exit_code == 0
    assert run("score", "--episodes", "1").exit_code == 0
    assert played.calls == [(50, [7, 8, 9], 3), (10_000, [0], 1)]


def test_by_default_there_is_a_job_for_each_core(play, monkeypatch):
    monkeypatch.setattr(score_module, "_cores", lambda: 4)
    played = play()
    run("score", "--episodes", "9")
    assert played.calls[0][2] == 4


def test_what_goes_to_which_stream(play):
    play()
    result = run("score", "--episodes", "2", "--length", "50")
    assert "Crafter: 2 episodes, seeds 0 to 1, 50 steps at most" in result.stdout
    assert "wake_up" in result.stdout
    assert "human experts" in result.stdout
    assert result.stderr == "1 of 2 episodes, score 0.2 %\n2 of 2 episodes, score 0.2 %\n"


def test_a_long_run_tells_of_itself_in_twenty_lines(play):
    play()
    lines = run("score", "--episodes", "100").stderr.splitlines()
    assert len(lines) == 20
    assert lines[0].startswith("5 of 100 episodes")


def test_markdown(play):
    play()
    result = run("score", "--episodes", "2", "--markdown")
    assert result.stdout.startswith("Crafter: 2 episodes, seeds 0 to 1, 10,000 steps at most.\n\n| achievement |")


def test_an_episode_that_fails_is_told_and_the_others_go_on(play, tmp_path):
    play(failing=[1], lost=[2], faulty=[3])
    path = tmp_path / "x.json"
    result = run("score", "--episodes", "4", "--json", str(path))
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-3:] == [
        "seed 1 failed after 50 steps: ValueError: no (mind.py:3)",
        "seed 2 failed after 0 steps: its process ended with exit code -9",
        "seed 3: 3 faults in the mind, the first: run raised",
    ]
    kept = json.loads(path.read_text(encoding="utf-8"))
    assert (kept["summary"]["episodes"], kept["summary"]["failed"]) == (4, 2)
    assert kept["summary"]["rates"]["wake_up"] == 75.0
    assert kept["asked"] == {"episodes": 4, "seed": 0, "length": 10_000, "jobs": min(4, score_module._cores())}


def test_ctrl_c_shows_what_is_finished(play, tmp_path):
    play(cut=2)
    path = tmp_path / "x.json"
    result = run("score", "--episodes", "5", "--json", str(path))
    assert result.exit_code == 130
    assert "Crafter: 2 of 5 episodes, seeds 0 to 4" in result.stdout
    assert "stopped: 3 of 5 episodes were not finished and do not count\n" in result.stderr
    assert len(json.loads(path.read_text(encoding="utf-8"))["records"]) == 2
    assert list(tmp_path.iterdir()) == [path]


def test_ctrl_c_before_the_first_episode_is_finished(play, tmp_path):
    play(cut=0)
    result = run("score", "--episodes", "5", "--json", str(tmp_path / "x.json"))
    assert (result.exit_code, result.stdout) == (130, "")
    assert result.stderr == "stopped: 5 of 5 episodes were not finished and do not count\n"
    assert list(tmp_path.iterdir()) == []


def test_in_a_terminal_there_is_a_bar(play, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")
    play()
    result = CliRunner().invoke(score, ["--episodes", "2"])
    assert "2/2" in result.stderr
    assert "score 0.2 %" in result.stderr
    assert "of 2 episodes" not in result.stderr


@pytest.mark.slow
def test_a_real_run(tmp_path, monkeypatch, same_world):
    monkeypatch.setattr("crafter.Env", same_world())
    path = tmp_path / "x.json"
    result = run("score", "--episodes", "1", "--seed", "3", "--length", "30", "--json", str(path))
    assert result.exit_code == 0
    kept = json.loads(path.read_text(encoding="utf-8"))
    assert kept["summary"]["steps"] == 30
    assert kept["summary"]["digest"] in result.stdout
