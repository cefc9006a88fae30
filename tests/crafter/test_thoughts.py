"""Thoughts on top of the rules: what is asked, what a choice does, what it costs, and what is kept of the answers."""

from __future__ import annotations

import io
import json
import pickle

import click
import pytest
from click.testing import CliRunner
from modules import load

pytest.importorskip("crafter")

from rich.console import Console

from agentrt.minds import Mind, Model, ModelRequest, Scripted
from agentrt.testing import check_trace
from examples.crafter.__main__ import main
from examples.crafter.eyes import Eyes
from examples.crafter.faults import Faults
from examples.crafter.game import Episode
from examples.crafter.mind import make_mind
from examples.crafter.options import thoughts_of
from examples.crafter.record import Record, play_one
from examples.crafter.report import Summary, show, write_markdown
from examples.crafter.rules import ACHIEVEMENTS
from examples.crafter.script import answer
from examples.crafter.thoughts import TOKENS, Kept, Thinking, Thoughts, make_thoughts

scenes = load("tests/crafter/scenes.py")
sights = load("tests/crafter/test_eyes.py")

NOTHING = dict.fromkeys(("model", "base_url", "price", "answers", "tokens", "delay"))


# --- a choice among ambitions -----------------------------------------------------------------------------------------

STRAND = f"""
    {"," * 22}~{"," * 18}
    T{"," * 15}@{"," * 20}c{"," * 3}
    {"," * 41}
"""


class Beach:
    """A player with nothing to strive for but wood, fifteen steps to the left, and coal, twenty to the right."""

    def __init__(self, model=None, *, delay=None, steps=0, items=None):
        self.scene = scenes.Scene(STRAND, {"wood_pickaxe": 1, **(items or {})}, beyond="sand", steps=steps)
        self.player, self.runtime = self.scene.player, self.scene.runtime
        self.player.diary.achieved.update({name: 0 for name in ACHIEVEMENTS if name not in ("collect_wood", COAL)})
        self.asked, self.became, self.faults = [], [], Faults(self.runtime)
        if model is not None:
            self.player.thinks_for = delay or 0
            self.mind = Mind(self.runtime, model if isinstance(model, Scripted) else Scripted(self._answers(model), 1))
        self.runtime.trace.listen(self._hear)
        self.agent = self.runtime.add(make_mind(self.player))

    def _answers(self, model):
        def answers(asked):
            self.asked.append(asked)
            return model(asked) if callable(model) else chosen(model)

        return answers

    def _hear(self, record):
        if record.event == "thought":
            self.became.append(dict(record.detail)["became"])

    def play(self, steps):
        """What was done in some steps, the first letter of each way that was gone."""
        before = len(self.scene.did)
        for _ in range(steps):
            self.scene.step(self.player.take_intention())
        assert self.faults.first == ""
        return "".join(one[5] for one in self.scene.did[before:] if one.startswith("move_"))


COAL = "collect_coal"


def chosen(name):
    return {"activity": "crafter:strive", "args": {"name": name}, "why": "I want to"}


def test_a_choice_is_striven_for_before_what_is_nearer():
    assert Beach().play(12) == "l" * 10  # after two steps that tell it where it is
    beach = Beach(COAL)
    assert beach.play(12) == "l" + "r" * 9
    assert beach.player.ambition.name == COAL
    assert beach.mind.snapshot().answers == 1


def test_it_is_asked_by_what_the_player_knows_and_with_a_closed_menu():
    beach = Beach(COAL)
    beach.play(3)
    (asked,) = beach.asked
    assert asked.seen["takes"] == {"collect_wood": 17, COAL: 22}
    assert [dict(one) for one in asked.options] == [
        {"activity": "crafter:strive", "about": "Have it achieved once.", "args": {"name": ["collect_wood", COAL]}}
    ]
    assert asked.seen["bars"] == {"health": 9, "food": 9, "drink": 9, "energy": 9}
    assert asked.seen["near"] == {"tree": 15, "water": 6, "coal": 20}
    assert "Steps to the nearest you know of: tree: 15; water: 6; coal: 20" in asked.request.prompt


@pytest.mark.parametrize(
    "said",
    [
        chosen("collect_diamond"),  # which is achieved, and not on the menu
        {"activity": "crafter:rest", "args": {}, "why": ""},
        {"activity": "crafter:strive", "args": {"name": ["collect_drink"]}, "why": ""},
        "collect_drink",
        None,
    ],
)
def test_an_answer_that_is_not_on_the_menu_leaves_it_to_the_rules(said):
    beach = Beach(lambda asked: said)
    assert beach.play(14) == "l" * 12
    assert (beach.player.ambition, beach.became) == (None, ["asked", "called", "again", "called", "failed"])


def test_the_rules_go_on_while_it_thinks():
    """For as many steps as it was said that a thought takes, however quick the answer is."""
    assert Beach(COAL, delay=6).play(14) == "l" * 5 + "r" * 7


def test_a_choice_stands_until_it_is_achieved_and_is_asked_for_once():
    beach = Beach(COAL)
    beach.play(40)
    assert COAL in beach.player.diary.achieved
    assert beach.player.ambition is None
    assert len(beach.asked) == 1


def test_what_needs_take_over_from_is_taken_up_again_without_a_call():
    beach = Beach(COAL)
    beach.play(6)
    beach.scene.body.inventory["drink"] = 3  # and there is water by the way
    beach.play(8)
    assert "crafter:drink" in beach.agent.explain().splitlines()[0]
    beach.play(6)
    assert beach.player.inventory["drink"] > 3
    assert "Aspire/crafter:strive" in beach.agent.explain().splitlines()[0]
    assert len(beach.asked) == 1


def test_what_has_failed_or_is_a_day_old_stands_no_longer():
    beach = Beach(COAL)
    beach.play(6)
    player = beach.player
    chosen_at = player.ambition.step
    assert player.standing(300) is player.ambition
    player.step = chosen_at + 300
    assert player.standing(300) is None
    player.step, player.put_off[COAL] = chosen_at + 10, chosen_at + 11
    assert player.standing(300) is None
    player.put_off.clear()
    assert player.standing(300) is player.ambition
    player.diary.achieved[COAL] = 1
    assert player.standing(300) is None


def test_stones_for_the_night_are_worth_more_than_a_choice():
    """Past noon, with a pickaxe and no stones; and with stones they are not."""
    utilities = []
    for stones in (0, 6):
        beach = Beach(COAL, steps=90, items={"stone": stones})
        beach.play(5)
        [unit] = [unit for unit in beach.agent.snapshot().plan.units if unit.name == "aspire"]
        utilities.append(round(unit.utility, 2))
    assert utilities == [0.4, 0.49]


def test_why_is_told():
    beach = Beach(COAL)
    beach.play(5)
    assert "crafter:strive(name=collect_coal): I want to" in beach.agent.explain()


# --- the script -------------------------------------------------------------------------------------------------------


class _Told:
    def __init__(self, takes):
        self.seen = {"takes": takes}


@pytest.mark.parametrize(
    ("takes", "name"),
    [
        ({"collect_drink": 3, "collect_iron": 149, "collect_coal": 20}, "collect_iron"),
        ({"collect_drink": 3, "collect_iron": 151, "collect_coal": 20}, "collect_coal"),
        ({"collect_drink": 3, "eat_cow": 9}, "collect_drink"),
        ({"collect_diamond": 900}, "collect_diamond"),
    ],
)
def test_the_script_goes_for_what_is_rare_and_near_enough(takes, name):
    assert answer(_Told(takes))["args"] == {"name": name}


# --- whole episodes ---------------------------------------------------------------------------------------------------


def played(thoughts, *, seed=8, length=150, eyes=Eyes):
    records = []
    with scenes.worlds_are_remembered(), Episode(seed, length, thoughts) as episode:
        episode._eyes = eyes()
        faults = Faults(episode.runtime)
        episode.runtime.trace.listen(records.append)
        episode.play()
        assert faults.first == ""
        return episode.digest, episode.thinking, records


@pytest.mark.states("003: Crafter: The agent knows what a player sees and nothing else; where it stands and what ...")
@pytest.mark.slow
def test_equal_seeds_are_equal_and_garbage_outside_the_view_changes_nothing():
    digest, thinking, records = played(Thoughts())
    assert thinking.decisions >= 1
    assert played(Thoughts(), eyes=sights.Blinkered)[:2] == (digest, thinking)
    assert played(None)[0] != digest  # so that it says something
    assert [str(one) for one in check_trace(records, "player")] == []


@pytest.mark.slow
def test_a_mind_without_an_answer_changes_nothing():
    """Its budget allows no call, or nobody is there: what is done is what is done by rules alone."""
    pytest.importorskip("pydantic_ai")
    alone, nothing, _ = played(None, length=60)
    assert nothing is None
    assert played(Thoughts(tokens=1), length=60)[:2] == (alone, Thinking())
    digest, thinking, _ = played(Thoughts(Model("m", "http://127.0.0.1:9/v1", timeout=5.0)), length=60)
    assert digest == alone
    assert thinking.calls >= 1
    assert thinking.decisions == 0


@pytest.mark.slow
def test_a_model_is_asked_and_its_answers_are_kept(tmp_path):
    """The second time nobody is there to be asked, and it is the same episode."""
    pytest.importorskip("pydantic_ai")
    from model_server import Answer, ModelServer

    with ModelServer(lambda body, number: Answer(chosen("collect_coal"), usage=(500, 20))) as server:
        model = Model("m/1", server.url, timeout=5.0, price=(1.0, 10.0))
        first = played(Thoughts(model, folder=tmp_path), length=60)
    assert len(server.asked) == first[1].calls >= 1
    assert first[1] == Thinking(1, 1, 500, 20, 0.0007)
    assert [file.name for file in tmp_path.iterdir()] == ["m_1-8.jsonl"]
    again = played(Thoughts(model, folder=tmp_path), length=60)
    assert again[:2] == first[:2]
    assert again[0] != played(None, length=60)[0]


@pytest.mark.slow
def test_what_an_episode_has_cost_stands_in_its_record():
    with scenes.worlds_are_remembered():
        record = play_one(8, lambda share: None, length=60, thoughts=Thoughts())
        alone = play_one(8, lambda share: None, length=60)
    assert record.thinking.decisions >= 1
    assert record.as_dict()["thinking"]["calls"] == record.thinking.calls
    assert "thinking" not in alone.as_dict()


# --- kept answers -----------------------------------------------------------------------------------------------------

REQUEST = ModelRequest("", "what now?", {"type": "object"}, 10).plain()


class Server:
    """Takes the place of the call: each answer is another one."""

    def __init__(self, monkeypatch):
        self.calls = 0
        monkeypatch.setattr(Model, "ask_here", self._answer)

    def _answer(self, data, keeps=False):
        self.calls += 1
        return {"key": data["key"], "read": 1, "written": 1, "value": self.calls}


def test_what_was_answered_is_not_asked_again_and_comes_in_the_same_order(tmp_path, monkeypatch):
    server, file = Server(monkeypatch), tmp_path / "x.jsonl"
    first = Kept("m", file=file)
    assert [first.ask_here(REQUEST)["value"] for _ in range(2)] == [1, 2]
    again = Kept("m", file=file)
    assert [again.ask_here(REQUEST)["value"] for _ in range(3)] == [1, 2, 3]  # the third was never asked
    assert server.calls == 3
    assert [json.loads(line)["value"] for line in file.read_text().splitlines()] == [1, 2, 3]


def test_what_stands_in_the_file_and_is_no_answer_is_passed_over(tmp_path, monkeypatch):
    server, file = Server(monkeypatch), tmp_path / "x.jsonl"
    good = json.dumps({"key": REQUEST["key"], "value": "good"})
    file.write_bytes(b'\n[1]\nnull\n{"key": 3}\n\xff\xfe\n' + good.encode() + b"\n" + good[:9].encode())
    kept = Kept("m", file=file)
    assert kept.ask_here(REQUEST)["value"] == "good"
    assert kept.ask_here(REQUEST)["value"] == 1
    assert server.calls == 1
    assert Kept("m", file=file).ask_here(REQUEST)["value"] == "good"


def test_each_seed_has_a_file_of_its_own(tmp_path):
    model = Model("openai:a/b", "http://127.0.0.1:9/v1", price=(1.0, 2.0))
    with scenes.Scene("@") as scene:
        mind = make_thoughts(scene.runtime, Thoughts(model, folder=tmp_path), 12)
    (kept,) = mind.models.values()
    assert (kept.file, kept.price, kept.base_url) == (tmp_path / "a_b-12.jsonl", (1.0, 2.0), "http://127.0.0.1:9/v1")


def test_how_to_think_can_go_to_another_process(tmp_path):
    thoughts = Thoughts(Model("m", price=(1.0, 2.0)), 3, 4, tmp_path)
    assert pickle.loads(pickle.dumps(thoughts)) == thoughts
    assert thoughts.as_dict() == {"model": "m", "delay": 3, "tokens": 4}


# --- figures ----------------------------------------------------------------------------------------------------------

ALONE = [Record(1, 100, False, {"wake_up": 1}, digest="aa"), Record(2, 50, True, {}, digest="bb")]
THINKING = [
    Record(1, 100, False, {"wake_up": 1}, digest="cc", thinking=Thinking(4, 5, 4000, 100, 0.002)),
    Record(2, 60, True, {"wake_up": 1}, digest="dd", thinking=Thinking(0, 1, 0, 0, 0.0)),
]


def test_both_sides_stand_beside_each_other():
    lines = write_markdown(Summary.of(ALONE, 100), "Two", Summary.of(THINKING, 100)).splitlines()
    assert "| achievement | rules alone | with thoughts |" in lines
    assert "| wake_up | 50.0 % | 100.0 % |" in lines
    assert "| thoughts | none | 2.0 decisions in an episode, 4 in all |" in lines
    assert "| calls | none | 3.0 in an episode, 1.50 for a decision |" in lines
    assert "| tokens read | none | 2,000 in an episode, 1,000 for a decision |" in lines
    assert "| tokens written | none | 50 in an episode, 25 for a decision |" in lines
    assert "| cost | none | 0.0010 in an episode, 0.00050 for a decision |" in lines
    assert "| this example, rules alone | 0.2 % | 2 episodes, 100 steps at most |" in lines
    assert "| this example, with thoughts | 0.2 % | 2 episodes, 100 steps at most |" in lines
    console = Console(record=True, width=160, file=io.StringIO())
    show(Summary.of(ALONE, 100), "Two", console, Summary.of(THINKING, 100))
    assert "1,000 for a decision" in console.export_text()


def test_thoughts_that_decide_nothing_cost_nothing_for_a_decision():
    summary = Summary.of([Record(1, thinking=Thinking(0, 3, 900, 0))], 100)
    text = write_markdown(Summary.of(ALONE, 100), "One", summary)
    assert "| calls | none | 3.0 in an episode |" in text
    assert summary.as_dict()["thinking"] == {"decisions": 0, "calls": 3, "read": 900, "written": 0, "money": 0.0}
    assert "thinking" not in Summary.of(ALONE, 100).as_dict()


class Play:
    """Takes the place of ``workers.run``: no episode is played; the other side is cut off at a seed."""

    def __init__(self, cut=None):
        self.cut, self.calls = cut, []

    def __call__(self, task, seeds, jobs, hear):
        from examples.crafter.workers import News

        thoughts = task.keywords.get("thoughts")
        self.calls.append((thoughts, list(seeds)))
        for seed in seeds:
            if thoughts and seed == self.cut:
                raise KeyboardInterrupt
            hear(News(seed, 1.0, Record(seed, 50, thinking=Thinking(1, 1, 10, 10) if thoughts else None)))


def run(*args):
    return CliRunner().invoke(main, list(args))


def test_one_switch_plays_the_same_seeds_with_both(monkeypatch, tmp_path):
    play, path = Play(), tmp_path / "x.json"
    monkeypatch.setattr("examples.crafter.score.workers.run", play)
    result = run("score", "--episodes", "2", "--seed", "5", "--thoughts", "--json", str(path), "--markdown")
    assert result.exit_code == 0
    assert play.calls == [(None, [5, 6]), (Thoughts(), [5, 6])]
    assert "| achievement | rules alone | with thoughts |" in result.stdout
    assert result.stderr.splitlines()[-1] == "with thoughts: 2 of 2 episodes, score 0.0 %"
    kept = json.loads(path.read_text(encoding="utf-8"))
    assert kept["asked"]["thoughts"] == {"model": "the script", "delay": 0, "tokens": TOKENS}
    assert [one["seed"] for one in kept["records"]] == [one["seed"] for one in kept["thoughts"]["records"]] == [5, 6]
    assert kept["thoughts"]["summary"]["thinking"]["calls"] == 2


@pytest.mark.parametrize(("cut", "count", "column"), [(6, "1 of 3", True), (5, "3", False)])
def test_ctrl_c_compares_the_seeds_that_both_have(monkeypatch, cut, count, column):
    monkeypatch.setattr("examples.crafter.score.workers.run", Play(cut))
    result = run("score", "--episodes", "3", "--seed", "5", "--thoughts", "--markdown")
    assert result.exit_code == 130
    assert result.stdout.startswith(f"Crafter: {count} episodes, seeds 5 to 7")
    assert ("with thoughts" in result.stdout) == column
    missing = 2 if column else 3
    assert f"stopped: {missing} of 6 episodes were not finished and do not count" in result.stderr


# --- options ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--base-url", "http://x"], "--base-url goes with --model."),
        (["--price", "1", "2"], "--price goes with --model."),
        (["--answers", "x", "--thoughts"], "--answers goes with --model."),
        (["--delay", "3"], "--delay goes with --thoughts or --model."),
        (["--tokens", "3"], "--tokens goes with --thoughts or --model."),
        (["--thoughts", "--delay", "-1"], "-1 is not in the range x>=0."),
        (["--model", "m", "--price", "-1", "2"], "-1.0 is not in the range x>=0."),
        (["--model", "m"], "--model asks OpenAI: set OPENAI_API_KEY, or say where another server is with --base-url."),
        (["--model", "", "--base-url", "http://x"], "Write the model's name at its server."),
    ],
)
@pytest.mark.parametrize("command", ["play", "score"])
def test_options_that_do_not_fit(command, args, words, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    result = run(command, *args)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())


def test_what_the_options_ask_for(tmp_path, monkeypatch):
    monkeypatch.setattr(Model, "require", lambda model: None)
    assert thoughts_of(thinks=False, **NOTHING) is None
    assert thoughts_of(thinks=True, **{**NOTHING, "delay": 4}) == Thoughts(None, 4)
    folder = tmp_path / "a" / "b"
    wanted = {**NOTHING, "model": "m", "base_url": "http://x", "price": (1.0, 2.0), "answers": folder}
    assert thoughts_of(thinks=False, **wanted) == Thoughts(Model("m", "http://x", price=(1.0, 2.0)), 0, TOKENS, folder)
    assert folder.is_dir()
    (tmp_path / "file").write_text("")
    with pytest.raises(click.BadParameter, match="cannot be made"):
        thoughts_of(thinks=False, **{**wanted, "answers": tmp_path / "file"})
