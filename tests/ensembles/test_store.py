"""The file of an ensemble: what is kept, in which order, what is refused, and the tables made of it."""

from __future__ import annotations

import math
import sqlite3

import pytest

from agentrt.ensembles import RunRow, RunStore, write_csv, write_parquet
from agentrt.errors import EnsembleError, MissingExtraError


def row(setting="{}", seed=0, **said):
    fields = {
        "world": "pond", "code": "1+a", "setting": setting, "seed": seed, "ticks": 9, "digest": "d1", "faults": 0,
        "measures": {"swims": 3, "each": 0.1}, "error": "", "seconds": 0.5,
    }  # fmt: skip
    return RunRow(**{**fields, **said})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "runs.sqlite"


def test_what_is_written_is_there_in_the_order_of_keys(path):
    rows = [
        row('{"ducks": 2}', 1),
        row('{"ducks": 2}', 10, measures={"swims": -(2**70), "odd": math.inf, "mood": "wet\n"}),
        row('{"ducks": 10}', 2, error="ValueError: no water", digest="", measures={}, faults=2),
        row('{"ducks": 10, "rest": 0.5}', 0),
        row("{}", 5, ticks=10),
    ]
    with RunStore(path) as store:
        for one in reversed(rows):
            store.put(one)
    with RunStore(path, is_read_only=True) as store:
        assert store.rows() == store.rows("pond") == rows
        assert store.rows("lake") == []
    assert rows[3].params == {"ducks": 10, "rest": 0.5}


def test_equal_runs_are_one_row(path):
    with RunStore(path) as store:
        store.put(row(error="it hung", digest=""))
        store.put(row(seconds=2.0))
        store.put(row(code="1+b"))
        assert store.rows() == [row(seconds=2.0), row(code="1+b")]


def test_a_row_is_in_the_file_when_it_is_put(path):
    with RunStore(path) as store:
        store.put(row())
        with RunStore(path, is_read_only=True) as reader:
            assert reader.rows() == [row()]


def test_a_file_of_the_first_format_is_read_and_gone_on_with(path):
    with RunStore(path) as store:
        store.put(row())
    with sqlite3.connect(path) as connection:
        connection.execute("ALTER TABLE runs DROP COLUMN traceback")
        connection.execute("PRAGMA user_version=1")
    connection.close()
    with RunStore(path, is_read_only=True) as store:
        assert store.rows() == [row()]
    failed = row(seed=1, error="ValueError: no water", digest="", measures={}, traceback="in pond.py")
    for _ in range(2):
        with RunStore(path) as store:
            store.put(failed)
            assert store.rows() == [row(), failed]


def said(path, **options):
    with pytest.raises(EnsembleError) as raised, RunStore(path, **options) as store:
        store.rows()
    return str(raised.value)


class TestWhatIsNoSuchFile:
    def test_none(self, path):
        assert "there is no such file. Name one that agentrt sweep has made" in said(path, is_read_only=True)
        assert not path.exists()

    def test_text(self, path):
        path.write_text("world,seed\n" * 100)
        assert "it cannot be used: file is not a database" in said(path)
        assert path.read_text().startswith("world,seed")

    def test_another_database(self, path):
        with sqlite3.connect(path) as connection:
            connection.execute("CREATE TABLE saves (id)")
        connection.close()
        assert "it is another kind of file" in said(path)

    def test_a_folder(self, tmp_path):
        assert "it cannot be used: unable to open database file" in said(tmp_path)

    def test_a_newer_one(self, path):
        RunStore(path).close()
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA user_version=3")
        connection.close()
        assert "a newer agentrt has made it" in said(path)

    @pytest.mark.parametrize("column", ["params", "measures"])
    @pytest.mark.parametrize("told", ["nonsense", "[1]", "5", '{"ducks": [1]}', '{"ducks": null}'])
    def test_one_that_somebody_wrote_into(self, path, told, column):
        with RunStore(path) as store:
            store.put(row())
            store.put(row(seed=1))
        with sqlite3.connect(path) as connection:
            connection.execute(f"UPDATE runs SET {column} = ? WHERE seed = 1", (told,))
        connection.close()
        assert "it cannot be used" in said(path)


MIXED = [
    row('{"ducks": 2, "kind": "a,b", "wet": true}', measures={"each": 0.1, "mood": "wet"}),
    row('{"ducks": 10}', 1, error="it hung", digest="", measures={}),
    row('{"ducks": 10}', 2, faults=1, measures={"each": 3, "swims": 2**70}),
]


def test_a_table_is_the_same_bytes_everywhere(tmp_path):
    table = tmp_path / "runs.csv"
    table.write_text("what was there before")
    write_csv(MIXED, table)
    assert table.read_bytes().decode() == (
        "world,code,ticks,seed,param.ducks,param.kind,param.wet,digest,faults,error,measure.each,measure.mood,measure.swims\n"
        'pond,1+a,9,0,2,"a,b",true,d1,0,,0.1,wet,\n'
        "pond,1+a,9,1,10,,,,0,it hung,,,\n"
        "pond,1+a,9,2,10,,,d1,1,,3,,1180591620717411303424\n"
    )
    assert [file.name for file in tmp_path.iterdir()] == ["runs.csv"]


def test_a_text_that_no_file_takes_is_escaped(tmp_path):
    write_csv([row(measures={"mood": "\udc80"})], tmp_path / "runs.csv")
    assert (tmp_path / "runs.csv").read_text().endswith(",\\udc80\n")


def test_a_table_that_cannot_be_written(tmp_path):
    with pytest.raises(EnsembleError, match="it cannot be written: No such file or directory. Name another"):
        write_csv(MIXED, tmp_path / "nowhere" / "runs.csv")
    (tmp_path / "folder").mkdir()
    with pytest.raises(EnsembleError, match="it cannot be written: "):
        write_csv(MIXED, tmp_path / "folder")
    assert [file.name for file in tmp_path.iterdir()] == ["folder"]


@pytest.mark.slow  # pyarrow is slow to import
def test_the_same_table_for_data_frames(tmp_path):
    from pyarrow import parquet

    write_parquet(MIXED, tmp_path / "runs.parquet")
    assert parquet.read_table(tmp_path / "runs.parquet").to_pydict() == {
        "world": ["pond"] * 3, "code": ["1+a"] * 3, "ticks": [9, 9, 9], "seed": [0, 1, 2],
        "param.ducks": [2, 10, 10], "param.kind": ["a,b", None, None], "param.wet": [True, None, None],
        "digest": ["d1", "", "d1"], "faults": [0, 0, 1], "error": ["", "it hung", ""],
        "measure.each": [0.1, None, 3.0], "measure.mood": ["wet", None, None],
        "measure.swims": [None, None, "1180591620717411303424"],  # too long for a number of theirs
    }  # fmt: skip
    write_parquet([row(measures={"mood": "\udc80", "each": float("nan")}), row()], tmp_path / "odd.parquet")
    assert parquet.read_table(tmp_path / "odd.parquet")["measure.mood"].to_pylist() == ["\\udc80", None]


def test_data_frames_need_an_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match="pyarrow") as raised:
        write_parquet(MIXED, tmp_path / "runs.parquet")
    assert raised.value.extra == "ensembles"
