"""The benchmark compares what it says: turns alternate, the best counts, an absent peer is said to be absent."""

from __future__ import annotations

import json
import mmap
import sys
import time

import pytest

from bitreplay import bench
from bitreplay.bench import memory, ours, peers, resident, threads
from bitreplay.bench.peers import Bench, Peer
from bitreplay.bench.row import Row, table
from bitreplay.bench.timing import race
from bitreplay.engine.compiler import Bits


def burn(seconds: float) -> None:
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_a_race_takes_turns_and_keeps_the_best():
    calls = []
    slow = iter([0.0, 0.03] * 50)

    def a() -> None:
        calls.append("a")
        burn(next(slow))

    def b() -> None:
        calls.append("b")
        burn(0.01)

    times = race({"a": a, "b": b}, rounds=4, least=0.0)
    assert calls[4:] == ["a", "b"] * 4
    assert times["a"] < 0.005 < times["b"] < 0.02


def test_a_race_counts_work_and_not_sleep():
    assert race({"sleeps": lambda: time.sleep(0.02)}, rounds=1, least=0.0)["sleeps"] < 0.01


def test_ratio_is_theirs_over_ours():
    row = Row("q", "w", "p", "ms", 2.0, 10.0, least=4)
    assert row.as_dict()["ratio"] == 5 and row.as_dict()["holds"] is True
    assert Row("q", "w", "p", "ms", 2.0, 7.9, least=4).as_dict()["holds"] is False
    absent = Row("q", "w", "p", "ms", 2.0, None, least=4, note="absent: no module")
    assert absent.as_dict()["ratio"] is None and absent.as_dict()["holds"] is None
    lines = table([row, absent]).splitlines()
    assert "5x" in lines[1] and "absent: no module" in lines[2]


def test_the_fastest_setting_wins_and_a_broken_one_is_passed_over():
    def broken():
        raise RuntimeError("no compiler")

    name, _ = peers.fastest(
        [("slow", lambda: lambda: burn(0.005)), ("broken", broken), ("quick", lambda: lambda: None)]
    )
    assert name == "quick"
    with pytest.raises(RuntimeError, match="no setting of the peer runs: no compiler"):
        peers.fastest([("broken", broken)])


def test_an_absent_peer_is_reported(monkeypatch):
    for name in ("onnx", "onnxruntime"):
        monkeypatch.setitem(sys.modules, name, None)
    found = Bench(rounds=1)
    assert "onnx" in found.absent["ONNX Runtime"]
    peer = Peer("ONNX Runtime int8", "ONNX Runtime", lambda driver: driver.settings(None), 3)
    (row,) = found.contest("q", "w", lambda: burn(0.001), [peer])
    assert row.theirs is None and row.ours is not None and row.ours > 0.5 and row.note.startswith("absent: ")


def test_an_unknown_question_is_refused():
    with pytest.raises(ValueError, match="no question 'colour'; expected some of forward, tail"):
        bench.main(only=["colour"])


def test_json_has_a_row_for_each_size(capsys, monkeypatch):
    monkeypatch.setattr(bench, "pin", lambda: "not pinned: a test")
    assert bench.main(json=True, only=["minibatch"], rounds=1) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["about"]["core"] == "not pinned: a test"
    assert [row["work"] for row in found["rows"]][0] == "tail step of 1, per sample"
    assert len(found["rows"]) == 8 and all(row["ours"] > 0 for row in found["rows"])


def test_resident_memory_sees_what_is_touched():
    base = resident.restart_peak()
    with mmap.mmap(-1, 32 << 20) as block:  # fresh pages: an array may get some that the process has already
        block.write(bytes([1]) * len(block))
    assert 30 << 20 < resident.peak() - base < 80 << 20


def test_a_child_measures_our_step(tmp_path):
    program = ours.tail_program(ours.bireal18(), ours.LEVEL, Bits(8, 1, 16), 2)
    file = tmp_path / "program"
    file.write_bytes(program.to_bytes())
    found = memory.child("ours", str(file), "2")
    assert program.arena_bytes < found < 40 << 20


def test_two_threads_are_compared_with_two_processes(monkeypatch):
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 1)
    (row,) = threads.rows(Bench(rounds=1, compiled=False))
    assert row.ours is None and "fewer than 2 cores" in row.note
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 2)
    (row,) = threads.rows(Bench(rounds=1, compiled=False))
    assert row.ours is not None and row.theirs is not None and row.least == 0.85
    assert 0.1 < row.as_dict()["ratio"] < 10 and 1 < row.ours < 1000
