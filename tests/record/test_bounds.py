"""A recording that does not grow for ever: what goes, what stays, and that what stays is whole."""

from __future__ import annotations

import pytest
from modules import load

from agentrt import Runtime
from agentrt.errors import RecordingError
from agentrt.kernel.trace import TraceEvent, TraceRecord
from agentrt.record import storage as storage_module
from agentrt.record import views

camp = load("tests/record/camp.py")


def blowing(runtime):
    if runtime.tick % 17 == 5:
        runtime.send("blow", who=runtime.tick % 2)
    if runtime.tick == 40:
        runtime.add(camp.Agent(camp.Person("guest"), name="guest", actions=[camp.Cook]))
    if runtime.tick == 60:
        runtime.remove(runtime.find("guest"))


@pytest.fixture
def kept(tmp_path, opened, monkeypatch):
    """Two recordings of the same run: the whole, and one that keeps 50 ticks."""
    monkeypatch.setattr(storage_module, "_LOOK_EVERY", 8)
    monkeypatch.setattr(storage_module, "THINNED", 100)
    monkeypatch.setattr(views, "WHOLE_EVERY", 5)
    for name, options in (("whole", {}), ("kept", {"keep_ticks": 50})):
        runtime = camp.camp()
        runtime.record(tmp_path / f"{name}.sqlite", **options)
        camp.drive(runtime, 350, between=blowing)
    return opened(tmp_path / "whole.sqlite"), opened(tmp_path / "kept.sqlite")


@pytest.mark.states(
    "tools: Recording: Growth is bounded by `keep_ticks`: the newest ticks stay whole with their views, the digests "
    "are thinned, the inputs stay",
)
def test_the_newest_ticks_are_kept_with_all_that_belongs_to_them(kept):
    whole, kept = kept
    first = kept.first_tick
    assert 300 - 16 - 8 <= first <= 301  # a segment of 16 ticks, and looked at each 8 ticks
    assert kept.last_tick == 350
    assert list(kept.records()) == list(whole.records(first))
    assert list(kept.inputs()) == list(whole.inputs())  # all of them: they are what a replay is made of
    assert kept.unreplayable == whole.unreplayable
    for tick in range(first, 351):
        assert kept.batch(tick) == whole.batch(tick)
        assert kept.agents(tick) == whole.agents(tick) == ("cook 1", "cook 2")
        for name in kept.agents(tick):
            assert kept.view(name, tick) == whole.view(name, tick) is not None


def test_what_is_too_old_is_gone(kept):
    _, kept = kept
    with pytest.raises(RecordingError, match=f"it has no records of tick 20: it has those of {kept.first_tick} to 350"):
        kept.batch(20)
    assert list(kept.records(1, 200)) == []
    assert kept.view("guest", 50) is None
    assert [name for (name,) in kept._rows("SELECT name FROM agents")] == ["cook 1", "cook 2"]
    oldest = [kept._row("SELECT min(tick) FROM views WHERE agent = ? AND whole", agent)[0] for agent in (1, 2)]
    # Before the first tick: the newest whole view of each, and nothing else.
    for agent, tick in zip((1, 2), oldest, strict=True):
        rows = kept._rows("SELECT whole FROM views WHERE agent = ? AND tick < ? ORDER BY tick", agent, kept.first_tick)
        assert [is_whole for (is_whole,) in rows][:1] in ([1], [])
        assert tick <= kept.first_tick + 60


def test_digests_are_thinned_and_go_on_from_the_first_tick(kept):
    whole, kept = kept
    digests = {tick: digest for tick, _, digest in kept.digests()}
    assert [tick for tick in digests if tick < kept.first_tick] == [100, 200]
    assert digests == {tick: digest for tick, _, digest in whole.digests() if tick in digests}
    assert kept.digest() == whole.digest()
    with pytest.raises(RecordingError, match="it has no digest of tick 99"):
        kept.digest(99)


def test_a_long_silence_is_short(tmp_path, opened):
    runtime = Runtime(host="plain")
    recorder = runtime.record(tmp_path / "run.sqlite", keep_ticks=20)
    runtime.on_input("say", runtime.note)
    for tick in range(1400):
        if tick in (0, 5, 700, 1399):
            runtime.send("say", text=str(tick))
        runtime.step()
    runtime.close()
    recording = opened(recorder.path)
    assert [record.tick for record in recording.records()] == [1400]
    assert recording.first_tick > 1000
    assert recording._row("SELECT count(*) FROM ticks")[0] < 400
    assert [one.tick for one in recording.inputs()] == [1, 6, 701, 1400]


@pytest.mark.states(
    "tools: Recording: Growth is bounded by `max_bytes`: the oldest quarter goes when the file is nearly full",
)
@pytest.mark.slow
def test_a_limit_in_bytes_is_kept_by_dropping_the_oldest(tmp_path, opened):
    limit = 1024 * 1024
    runtime = Runtime(host="plain")
    recorder = runtime.record(tmp_path / "run.sqlite", max_bytes=limit, keep_ticks=100_000)
    noise = runtime.stream("noise")

    def shout():  # more and more of it, so that how often the size is looked at has to follow
        for _ in range(min(runtime.tick, 400)):
            text = " ".join(str(noise.bits()) for _ in range(5))
            runtime.trace.emit(TraceRecord(runtime.tick, "", "", TraceEvent.NOTE, (("text", text),)))

    runtime.every_tick(shout)
    largest = 0
    for _ in range(250):
        runtime.step()
        largest = max(largest, sum(path.stat().st_size for path in tmp_path.glob("run.sqlite*")))
    assert recorder.stopped == ""
    runtime.close()
    assert limit // 2 < largest <= 1.3 * limit  # with the log beside it
    assert recorder.path.stat().st_size <= limit
    recording = opened(recorder.path)
    assert recording.last_tick == 250
    assert 100 < recording.first_tick < 240
    assert len(list(recording.records())) == sum(range(recording.first_tick, 251))


def test_a_limit_that_inputs_alone_exceed_ends_the_recording(tmp_path, opened, logged):
    runtime = camp.camp()
    runtime.on_input("say", lambda text: None)
    recorder = runtime.record(tmp_path / "run.sqlite", max_bytes=1024 * 1024)
    for _ in range(12):
        runtime.send("say", text="x" * 150_000)
        runtime.step()
    assert recorder.stopped == "OperationalError: database or disk is full"
    assert len([text for text in logged() if "ends here; what was written can be read" in text]) == 1
    runtime.close()
    recording = opened(recorder.path)
    assert recording.last_tick == recorder.ticks > 3
    assert len(list(recording.inputs())) == recorder.ticks
