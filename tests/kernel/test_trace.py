"""The trace hub and the digest."""

from __future__ import annotations

import pytest

from agentrt.kernel.trace import TraceDigest, TraceEvent, TraceHub, TraceRecord


def record(path="a/b", tick=1, agent="agent", event=TraceEvent.START, detail=()):
    return TraceRecord(tick, agent, path, event, detail)


@pytest.fixture
def reports():
    return []


@pytest.fixture
def hub(reports):
    return TraceHub(lambda text, error: reports.append((text, repr(error))))


def test_listeners_hear_every_record_in_order_until_they_close(hub):
    heard = []
    assert not hub.on
    close_first = hub.listen(lambda record: heard.append(("first", record.path)))
    close_second = hub.listen(lambda record: heard.append(("second", record.path)))
    assert hub.on
    hub.emit(record("1"))
    close_first()
    close_first()
    hub.emit(record("2"))
    assert hub.on
    close_second()
    assert not hub.on
    hub.emit(record("3"))
    assert heard == [("first", "1"), ("second", "1"), ("second", "2")]


def test_a_listener_that_listens_twice_hears_twice_and_each_closer_closes_one(hub):
    heard = []
    close = hub.listen(heard.append)
    hub.listen(heard.append)
    hub.emit(record("1"))
    close()
    close()
    hub.emit(record("2"))
    assert [one.path for one in heard] == ["1", "1", "2"]
    assert hub.on


def test_a_listener_that_raises_is_dropped_and_reported(hub, reports):
    heard = []

    def broken(record):
        raise ValueError(record.path)

    hub.listen(broken)
    close = hub.listen(heard.append)
    hub.emit(record("1"))
    hub.emit(record("2"))
    assert [one.path for one in heard] == ["1", "2"]
    assert reports == [("a trace listener raised and was dropped", "ValueError('1')")]
    close()
    assert not hub.on


def test_a_listener_that_closes_itself_and_raises(hub, reports):
    def broken(record):
        close()
        raise ValueError

    close = hub.listen(broken)
    hub.emit(record())
    assert reports == [("a trace listener raised and was dropped", "ValueError()")]
    assert not hub.on


def test_the_only_listener_that_raises_turns_the_hub_off(hub, reports):
    def broken(record):
        raise ValueError

    close = hub.listen(broken)
    hub.emit(record())
    assert not hub.on
    close()
    assert len(reports) == 1


def test_who_keeps_records_is_handed_plain_tuples(hub, reports):
    kept, heard = [], []
    close = hub.keep(kept.append)
    assert hub.on
    hub.emit(record("1", detail=(("x", 1),)))
    hub.listen(heard.append)
    hub.emit(record("2"))
    close()
    close()
    hub.emit(record("3"))
    assert kept == [(1, "agent", "1", "start", (("x", 1),)), (1, "agent", "2", "start", ())]
    assert {type(part) for one in kept for part in (one, one[3])} == {tuple, str}
    assert [one.path for one in heard] == ["2", "3"]
    assert hub.on
    assert not reports


def test_who_keeps_records_may_have_the_time_of_each(hub, reports):
    kept, stamps = [], []
    hub.keep(kept.append, (iter((1.0, 2.0, 3.0)).__next__, stamps.append))
    hub.emit(record("1"))
    assert stamps == [1.0]
    hub.listen(lambda one: None)  # with others, too
    hub.emit(record("2"))
    assert stamps == [1.0, 2.0]
    assert [one[2] for one in kept] == ["1", "2"]
    assert not reports


def test_who_keeps_records_and_raises_is_dropped_and_reported(hub, reports):
    kept = []

    def broken(one):
        raise ValueError(one[2])

    hub.keep(broken)
    hub.keep(kept.append)
    hub.emit(record("1"))
    hub.emit(record("2"))
    assert [one[2] for one in kept] == ["1", "2"]
    assert reports == [("a trace listener raised and was dropped", "ValueError('1')")]


def test_a_kernel_reports_a_broken_listener_as_a_fault(lab):
    def broken(record):
        raise ValueError

    lab.kernel.trace.listen(broken)
    lab.kernel.trace.emit(record())
    assert lab.take_faults() == [("a trace listener raised and was dropped", "ValueError")]


@pytest.mark.parametrize(
    ("one", "line"),
    [
        (record(), "1 agent a/b start"),
        (
            record(detail=(("x", 1), ("y", 0.5), ("z", None), ("t", "some text"), ("b", True))),
            "1 agent a/b start x=1 y=0.5 z=None t='some text' b=True",
        ),
        (TraceRecord(2, "", "", TraceEvent.NOTE), "2 note"),
    ],
)
def test_lines(one, line):
    assert one.line() == line


def test_every_event_has_a_word_of_its_own():
    assert len({event.value for event in TraceEvent}) == len(TraceEvent)
    assert [str(event) for event in TraceEvent] == [event.value for event in TraceEvent]


# --- the digest -------------------------------------------------------------------------------------------------------


def test_digest_literals(hub):
    digest = TraceDigest(hub)
    assert digest.hexdigest() == "cae66941d9efbd404e4d88758ea67670"
    hub.emit(record(detail=(("x", 1), ("y", 0.5), ("z", None), ("t", "ä"))))
    assert digest.hexdigest() == "dec9d929c1dd91b4479480845c5341c7"
    hub.emit(TraceRecord(2, "agent", "", TraceEvent.NOTE))
    assert digest.hexdigest() == "27e377a1b0939bd53316eeb98c14fb8e"
    assert digest.records == 2
    digest.close()
    hub.emit(record())
    assert digest.records == 2


def digest_of(*records):
    hub = TraceHub(lambda text, error: None)
    digest = TraceDigest(hub)
    for one in records:
        hub.emit(one)
    return digest.hexdigest()


def test_equal_records_give_equal_digests():
    records = [record(str(number), detail=(("n", number),)) for number in range(50)]
    assert digest_of(*records) == digest_of(*[TraceRecord(*one) for one in records])


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([record(agent="a b", path="c")], [record(agent="a", path="b c")]),
        ([record(agent="", path="a")], [record(agent="a", path="")]),
        ([record(path="a start")], [record(path="a", detail=(("start", None),))]),
        ([record(detail=(("a", "b=1"),))], [record(detail=(("a", "b"), ("b", 1)))]),
        ([record(detail=(("a", "1"),))], [record(detail=(("a", 1),))]),
        ([record(detail=(("a", 1),))], [record(detail=(("a", 1.0),))]),
        ([record(detail=(("a", 1),))], [record(detail=(("a", True),))]),
        ([record(path="1"), record(path="2")], [record(path="2"), record(path="1")]),
        ([record(path="a start\n1 agent b")], [record(path="a"), record(path="b")]),
        ([record(path="a\udc80")], [record(path="a\\udc80")]),
        ([record(path="a ")], [record(path="a")]),
    ],
)
def test_different_records_give_different_digests(left, right):
    assert digest_of(*left) != digest_of(*right)


def test_the_digest_does_not_depend_on_which_characters_python_thinks_printable():
    """U+1E4D0 is printable from Python 3.12 on: repr() of it depends on the version, the digest does not."""
    assert digest_of(record("\U0001e4d0")) == "48827422451e303dd2d02374bef9d944"


def test_what_is_plain_stays_as_it_is_whatever_its_neighbors_are():
    hub, seen = TraceHub(print), []
    hub.listen(seen.append)
    odd = float("inf")
    for other in (1, "\x80", b"x", "x" * 5000):
        hub.emit(TraceRecord(1, "", "", TraceEvent.NOTE, (("a", odd), ("b", other), ("c", True))))
    assert [one.detail[0] for one in seen] == [("a", odd)] * 4
    assert [one.detail[2] for one in seen] == [("c", True)] * 4
