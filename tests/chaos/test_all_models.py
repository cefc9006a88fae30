"""Everything at once: a village on all four models, with random events, under random faults and under each in turn."""

from __future__ import annotations

import pytest
from modules import load
from players import HOSTS

from agentrt import Runtime
from agentrt.testing import exhaust
from agentrt.testing.chaos import run_chaos

Village = load("tests/chaos/village.py").Village
village = load("tests/chaos/village.py").village
hostile = load("tests/chaos/hostile.py")
campaigns = load("tools/chaos_campaign.py")


PEACEFUL = ("LivelockError", "ValueError: confused", "Activity", "NotRunningError")  # what is raised without bombs

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def silence(caplog):
    caplog.set_level("CRITICAL")


@pytest.mark.states(
    "003: Views: When an agent has ended no request is being solved, and every node of its trees has ended, whatever "
    "was cancelled, raised or removed at any await",
    source="Task Failure; design 2",
)
@pytest.mark.states(
    "tools: Faults: Random events on all models at once, with faults at some awaits or at every one, leave no "
    "violation",
    source="design 7",
)
@pytest.mark.parametrize("rate", [0.0, 0.03, 0.3, 1.0])
@pytest.mark.parametrize("host", ["plain", "asyncio", "trio"])
def test_a_village_at_random(host, rate):
    for seed in range(4 if host == "plain" else 1):
        runtime = Runtime(seed, host=host, think_budget=10)
        report = run_chaos(runtime, seed, ticks=40, rate=rate, before=village(seed, outside=True)(runtime))
        report.check()
        assert sum(report.faults.values()) > 0 or rate == 0


@pytest.mark.states("003: Views: When an agent has ended no request is being solved, and every node of its trees ...")
@pytest.mark.states("tools: Faults: Whatever goes wrong at any await of any kind of strand: what begins ends, in ...")
@pytest.mark.parametrize(("host", "every"), [("plain", 23), ("asyncio", 97), ("trio", 83)])
def test_every_so_many_await_of_a_village_in_turn(host, every):
    report = exhaust(village(11, people=2), ticks=6, host=host, every=every)
    report.check()
    assert report.runs > 10


@pytest.mark.parametrize("host", HOSTS)
def test_hooks_explode_waits_never_end_and_others_call_into_contexts(host, monkeypatch):
    monkeypatch.setattr(campaigns, "TICKS", 25)
    said = []
    campaign = campaigns.Campaign([host], said.append)
    for seed in (0, 2, 5):
        campaign.play(seed)
    assert said == []
    assert campaign.failed == 0
    done = set(campaign.counts)
    assert done >= {bomb.__name__ for bomb in hostile.BOMBS}
    assert done >= set(hostile.CALLS_OF_ACTIONS)
    assert any(name.startswith("spin_") for name in done)
    assert campaign.livelocks <= sum(count for name, count in campaign.counts.items() if name.startswith("spin_"))


@pytest.mark.parametrize(
    ("host", "way"),
    [
        *(("plain", way.__name__) for way in hostile.SPINS_OF_RUNS),
        *((host, way) for host in ("asyncio", "trio") for way in ("spin_sleep", "spin_suspend", "spin_execute")),
    ],
)
def test_a_wait_without_an_end_kills_its_own_strand_and_nobody_else(host, way, monkeypatch):
    """Nothing explodes here: each gives one error at the most."""
    chosen = vars(hostile)[way]
    for name in ("SPINS", "SPINS_OF_ACTIONS", "SPINS_OF_RUNS"):
        if chosen in vars(hostile)[name]:
            monkeypatch.setattr(hostile, name, (chosen,))
    runtime = Runtime(3, host=host)
    faults = []
    runtime.trace.listen(lambda record: faults.append(record) if record.event == "fault" else None)
    people = Village(runtime, 3, is_hostile=True)
    people.WORDS = ("wish",)

    def before(tick):
        hostile.FIELD.spins = tick % 5 == 0
        people.before(tick)

    run_chaos(runtime, 3, ticks=30, rate=0.0, before=before).check()
    errors = [str(dict(record.detail)["error"]) for record in faults]
    assert [error for error in errors if not error.startswith(PEACEFUL)] == []
    livelocks = [error for error in errors if error.startswith("LivelockError")]
    assert len(livelocks) <= sum(count for name, count in people.counts.items() if name.startswith("spin_"))
    assert livelocks or way in ("spin_execute", "spin_suspend", "spin_work")  # those may let time pass, or find nobody
    assert people.violations == []


@pytest.mark.states("tools: Faults: Random events on all models at once, with faults at some awaits or at every ...")
@pytest.mark.parametrize("seed", [12, 21, 31, 63])
def test_a_bit_of_the_campaign(seed, monkeypatch):
    monkeypatch.setattr(campaigns, "SHORT", 2)
    monkeypatch.setattr(campaigns, "EVERY", 50)
    monkeypatch.setattr(campaigns, "TICKS", 20)
    said = []
    campaign = campaigns.Campaign(campaigns.HOSTS, said.append)
    campaign.play(seed)
    assert said == []
    assert (campaign.villages, campaign.failed) == (1, 0)
    assert campaign.events > 50


def test_the_campaign_tells_what_it_did(capsys):
    assert campaigns.main(["--events", "1", "--first", "4", "--host", "plain"]) == 0
    assert capsys.readouterr().out.startswith("seeds 4 to 4: 1 villages, ")
