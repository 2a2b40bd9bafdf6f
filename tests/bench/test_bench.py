"""The benchmark compares what it says: turns alternate, the best counts, an absent peer is said to be absent."""

from __future__ import annotations

import io
import json
import mmap
import subprocess
import sys
import time

import pytest

from benchmarks import bench
from benchmarks.bench import memory, ours, peers, resident, threads
from benchmarks.bench.peers import Bench, Peer
from benchmarks.bench.row import Row, head, line
from benchmarks.bench.timing import race
from bitreplay.engine.bit_widths import Bits


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

    times = race({"a": a, "b": b}, rounds=4, turn_seconds=0.0)
    assert calls[4:] == ["a", "b"] * 4
    assert times["a"] < 0.005 < times["b"] < 0.02


def test_a_race_counts_work_and_not_sleep():
    assert race({"sleeps": lambda: time.sleep(0.02)}, rounds=1, turn_seconds=0.0)["sleeps"] < 0.01


def test_ratio_is_theirs_over_ours():
    row = Row("q", "w", "p", "ms", 2.0, 10.0, target=4)
    assert row.as_dict()["ratio"] == 5 and row.as_dict()["holds"] is True
    assert Row("q", "w", "p", "ms", 2.0, 7.9, target=4).as_dict()["holds"] is False
    absent = Row("q", "w", "p", "ms", 2.0, None, target=4, note="absent: no module")
    assert absent.as_dict()["ratio"] is None and absent.as_dict()["holds"] is None
    assert "5x" in line(row) and "absent: no module" in line(absent)
    assert line(row).index(" 10 ms") == head().index("peer's") - 1


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
    result = Bench(rounds=1)
    assert "onnx" in result.absent["ONNX Runtime"]
    peer = Peer("ONNX Runtime int8", "ONNX Runtime", lambda driver: driver.settings(None), 3)
    (row,) = result.contest("q", "w", lambda: burn(0.001), [peer])
    assert row.theirs is None and row.ours is not None and row.ours > 0.5 and row.note.startswith("absent: ")


def test_an_unknown_question_is_refused():
    with pytest.raises(ValueError, match="no question 'colour'; expected some of forward, tail"):
        bench.main(only=["colour"])


@pytest.mark.parametrize("rounds", [0, -3])
def test_no_rounds_are_refused(rounds):
    with pytest.raises(ValueError, match=f"rounds is {rounds}; expected a positive integer"):
        bench.main(rounds=rounds)


def test_the_command_refuses_in_one_sentence():
    command = [sys.executable, "-m", "benchmarks.bench", "--rounds", "0"]
    process = subprocess.run(command, capture_output=True, text=True)
    assert process.returncode == 2 and process.stdout == ""
    assert process.stderr.endswith("error: The number of rounds is 0; expected a positive integer.\n")


@pytest.fixture
def questions(monkeypatch):
    """Two questions of two rows; the second is stopped by Ctrl-C between its rows. Nothing is installed."""
    for name in ("onnx", "onnxruntime", "torch"):
        monkeypatch.setitem(sys.modules, name, None)
    for name in [name for name in sys.modules if name.startswith(("bitreplay.torch", "benchmarks.bench.pytorch"))]:
        monkeypatch.delitem(sys.modules, name)

    def rows(name, stop=False):
        peer = Peer("PyTorch fp32", "PyTorch", lambda driver: driver.settings(None), 3)

        def result(bench):
            yield from bench.contest(name, "first work", lambda: burn(0.001), [peer])
            if stop:
                raise KeyboardInterrupt
            yield Row(name, "second work", "peer", "ms", 1.0, 2.0)

        return result

    monkeypatch.setattr(bench, "pin", lambda: "not pinned: a test")
    monkeypatch.setattr(bench, "QUESTIONS", {"whole": rows("whole"), "stopped": rows("stopped", True)})


def test_a_stop_keeps_every_row(questions, capsys):
    assert bench.main(json=True, rounds=1) == bench.STOPPED
    captured = capsys.readouterr()
    result = [(row["question"], row["work"]) for row in json.loads(captured.out)["rows"]]
    assert result == [("whole", "first work"), ("whole", "second work"), ("stopped", "first work")]
    assert bench.main(rounds=1) == bench.STOPPED
    lines = capsys.readouterr().out.splitlines()
    assert [text.split("  ")[0] for text in lines[1:4]] == ["first work", "second work", "first work"]
    assert lines[4].startswith("cpu ")


def test_rows_are_written_when_they_are_found(questions, monkeypatch):
    """What standard output holds when the second row is being measured."""
    written = []

    def late(bench_):
        yield Row("late", "early work", "peer", "ms", 1.0, 2.0)
        written.append(out.getvalue())
        yield Row("late", "late work", "peer", "ms", 1.0, 2.0)

    monkeypatch.setitem(bench.QUESTIONS, "late", late)
    for json_too in (False, True):
        out = io.StringIO()
        monkeypatch.setattr(sys, "stdout", out)
        assert bench.main(only=["late"], json=json_too) == 0
        assert "early work" in written[-1] and "late work" not in written[-1] and "late work" in out.getvalue()


def test_progress_and_missing_peers_are_told_on_stderr(questions, capsys):
    assert bench.main(only=["whole"], rounds=1) == 0
    captured = capsys.readouterr()
    for sentence in ("PyTorch is absent: ", "ONNX Runtime is absent: ", "whole, question 1 of 1", "1 rounds of ours"):
        assert sentence in captured.err and sentence not in captured.out
    assert "stopped" not in captured.err and "absent: " in captured.out.splitlines()[1]


def test_a_peer_that_does_not_run_costs_its_own_figure_alone():
    def broken():
        raise RuntimeError("no compiler")

    peers_ = [
        Peer("broken", "ours", lambda _: [("", broken)]),
        Peer("quick", "ours", lambda _: [("", lambda: lambda: None)]),
    ]
    first, second = Bench(rounds=1).contest("q", "w", lambda: burn(0.001), peers_)
    assert first.theirs is None and first.note == "no setting of the peer runs: no compiler"
    assert first.ours is not None and second.theirs is not None


def test_json_has_a_row_for_each_size(capsys, monkeypatch):
    monkeypatch.setattr(bench, "pin", lambda: "not pinned: a test")
    assert bench.main(json=True, only=["minibatch"], rounds=1) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["about"]["core"] == "not pinned: a test"
    assert [row["work"] for row in result["rows"]][0] == "tail step of 1, per sample"
    assert len(result["rows"]) == 8 and all(row["ours"] > 0 for row in result["rows"])


def test_resident_memory_sees_what_is_touched():
    base = resident.restart_peak()
    with mmap.mmap(-1, 32 << 20) as block:  # fresh pages: an array may get some that the process has already
        block.write(bytes([1]) * len(block))
    assert 30 << 20 < resident.peak() - base < 80 << 20


def test_a_child_measures_our_step(tmp_path):
    program = ours.tail_program(ours.bireal18(), ours.REPLAY_LAYER, Bits(8, 1, 16), 2)
    file = tmp_path / "program"
    file.write_bytes(program.to_bytes())
    result = memory.child("ours", str(file), "2")
    assert program.arena_bytes < result < 40 << 20


def test_two_threads_are_compared_with_two_processes(monkeypatch):
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 1)
    (row,) = threads.rows(Bench(rounds=1, compiled=False))
    assert row.ours is None and "fewer than 2 cores" in row.note
    monkeypatch.setattr(threads.os, "cpu_count", lambda: 2)
    (row,) = threads.rows(Bench(rounds=1, compiled=False))
    assert row.ours is not None and row.theirs is not None and row.target == 0.85
    assert 0.1 < row.as_dict()["ratio"] < 10 and 1 < row.ours < 1000
