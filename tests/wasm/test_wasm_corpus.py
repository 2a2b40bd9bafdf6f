"""Odd state files: the learner in JavaScript comes to the verdicts of Python and C (tests/corpus)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

from bitreplay import statefile
from tests.corpus.make_corpus import HERE

FOLDER = os.environ.get("BITREPLAY_WASM", "")


@pytest.mark.skipif(not FOLDER, reason="make test-wasm builds the modules")
@pytest.mark.parametrize("module", ["bitreplay", "bitreplay-plain"])
@pytest.mark.parametrize(("folder", "table"), [("states", "verdicts.json"), ("states-2", "verdicts-2.json")])
def test_javascript_comes_to_the_verdicts(module, folder, table):
    node = shutil.which("node")
    assert node is not None, "node is not installed"
    words = [HERE / "read.mjs", f"{FOLDER}/{module}.wasm", HERE / "model.bin", HERE / folder]
    done = subprocess.run([node, *map(str, words)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    verdicts = json.loads((HERE / table).read_text())
    for name, verdict in verdicts.items():
        content = None
        if verdict == "taken":
            content = statefile.from_bytes((HERE / folder / f"{name}.state").read_bytes(), name)
            assert found["models"][name] == content.digest, name
        assert found["hashes"][name] == (content.state.hash() if content else ""), name
