"""Everything at once: a village on all four models, with random events, under random faults and under each in turn."""

from __future__ import annotations

import pytest
from modules import load

from agentrt import Runtime
from agentrt.testing import exhaust
from agentrt.testing.chaos import run_chaos

Village = load("tests/chaos/village.py").Village
village = load("tests/chaos/village.py").village
campaigns = load("tools/chaos_campaign.py")

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def silence(caplog):
    caplog.set_level("CRITICAL")


@pytest.mark.parametrize("rate", [0.0, 0.03, 0.3, 1.0])
@pytest.mark.parametrize("host", ["plain", "asyncio", "trio"])
def test_a_village_at_random(host, rate):
    for seed in range(4 if host == "plain" else 1):
        runtime = Runtime(seed, host=host, think_budget=10)
        report = run_chaos(runtime, seed, ticks=40, rate=rate, before=village(seed, outside=True)(runtime))
        report.check()
        assert sum(report.faults.values()) > 0 or rate == 0


@pytest.mark.parametrize(("host", "every"), [("plain", 23), ("asyncio", 97), ("trio", 83)])
def test_every_so_many_await_of_a_village_in_turn(host, every):
    report = exhaust(village(11, people=2), ticks=6, host=host, every=every)
    report.check()
    assert report.runs > 10


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
