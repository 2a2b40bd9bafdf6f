"""What a run shows: a bar on a terminal, a line an epoch elsewhere, nothing when quiet."""

import io

import pytest
import torch
from rich.console import Console

from bitreplay.torch.pretraining.display import Display
from bitreplay.torch.pretraining.report import EpochStatistics, Report, Step

REPORT = Report(3, 10, 2, 1e-3, 1.25, 40.0, 33.5, 7.0, 21.0)


def step(at: int) -> Step:
    statistics = EpochStatistics(torch.device("cpu"))
    statistics.add(torch.tensor(1.5), torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([0, 1]))
    return Step(4, 10, at, 20, 2, statistics)


def shown(terminal: bool, quiet: bool = False) -> str:
    stream, now = io.StringIO(), [0.0]
    console = Console(file=stream, force_terminal=terminal, width=160, _environ={})
    with Display("react18", console, quiet, clock=lambda: now[0]) as display:
        display.say("resumed after epoch 2")
        display.show(REPORT)
        for at in range(1, 21):
            now[0] += 0.1
            display.show(step(at))
    return stream.getvalue()


def test_a_terminal_gets_a_bar_with_loss_accuracy_and_time_left() -> None:
    text = shown(terminal=True)
    assert "resumed after epoch 2" in text
    assert "react18 epoch 4/10 stage 2" in text
    assert "loss 1.500 accuracy 50.0 % top-1 33.50 %" in text
    assert ":" in text.split("top-1 33.50 %")[-1]  # hours:minutes:seconds
    assert "so far" not in text


def test_a_file_gets_one_line_an_epoch() -> None:
    lines = shown(terminal=False).splitlines()
    assert lines == ["resumed after epoch 2", REPORT.line()]
    assert "about 49 s left" in lines[1]


@pytest.mark.parametrize("terminal", [False, True])
def test_quiet_prints_nothing(terminal: bool) -> None:
    assert shown(terminal, quiet=True).strip() == ""


def test_figures_are_read_from_the_device_twice_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[float] = []

    def loss(self: EpochStatistics) -> float:
        read.append(1.0)
        return 1.5

    monkeypatch.setattr(EpochStatistics, "loss", loss)
    shown(terminal=True)
    assert len(read) == 5  # 20 steps in two seconds, and the last one
