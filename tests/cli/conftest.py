import sys

import pytest

from bitreplay import Learner
from bitreplay.cli import main
from tests import tiny


@pytest.fixture
def shell(monkeypatch, capsys, tmp_path):
    """Run a command line in an empty folder: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["bitreplay", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        code = end.value.code
        written = capsys.readouterr()
        return int(code or 0), written.out, written.err

    return call


@pytest.fixture
def taught(tiny_model, tmp_path, monkeypatch):
    """A learner that knows red and green by exact sums, saved as `state` in an empty folder, the present one."""
    monkeypatch.chdir(tmp_path)
    learner = Learner.from_pretrained(tiny_model, strategy="exact")
    learner.learn(*tiny.pictures("red", "green", each=6))
    learner.save("state")
    return learner
