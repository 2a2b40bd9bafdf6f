"""What tools/wheels.py puts together: tags, RECORD, the bill of materials; and CMake where there is no compiler."""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
METADATA = b"""Metadata-Version: 2.2
Name: bitreplay
Version: 9.9
Requires-Dist: numpy>=2.0
Requires-Dist: typer
Requires-Dist: torch==2.13.0 ; extra == 'torch'

Requires-Dist: not a field but a line of the description
"""


@pytest.fixture
def wheels(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0.99")
    yield importlib.import_module("wheels")
    for name in ("wheels", "sbom"):
        sys.modules.pop(name, None)


def test_a_wheel_is_what_its_record_says(wheels, tmp_path):
    info = "bitreplay-9.9.dist-info"
    files = {
        "bitreplay/__init__.py": b"x = 1\n",
        "bitreplay/zoo/a.safetensors": b"weights",
        f"{info}/METADATA": METADATA,
        f"{info}/WHEEL": b"Tag: py3-none-any\n",
        f"{info}/RECORD": b"",
    }
    path = wheels.wheel(tmp_path, wheels.SYSTEMS["linux-aarch64"], dict(files), b"core")
    assert path.name == "bitreplay-9.9-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.whl"
    with zipfile.ZipFile(path) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    tags = [line for line in content[f"{info}/WHEEL"].decode().splitlines() if line.startswith("Tag")]
    assert tags == ["Tag: py3-none-manylinux_2_17_aarch64", "Tag: py3-none-manylinux2014_aarch64"]
    assert content["bitreplay/_lib/libbitreplay_core.so"] == b"core"

    record = {row[0]: row[1:] for row in csv.reader(io.StringIO(content.pop(f"{info}/RECORD").decode()))}
    assert record.pop(f"{info}/RECORD") == ["", ""]
    assert set(record) == set(content)
    for name, data in content.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
        assert record[name] == [f"sha256={digest}", str(len(data))]

    bill = json.loads(content[f"{info}/sboms/bitreplay.cdx.json"])
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert bill["metadata"]["component"]["purl"] == "pkg:pypi/bitreplay@9.9"
    parts = {part["name"]: part for part in bill["components"]}
    assert parts["numpy"]["properties"][0]["value"] == ">=2.0" and "typer" in parts and "torch" not in parts
    core = parts["bitreplay/_lib/libbitreplay_core.so"]["hashes"][0]["content"]
    assert core == hashlib.sha256(b"core").hexdigest() and "bitreplay/zoo/a.safetensors" in parts
    references = [part["bom-ref"] for part in bill["components"]]
    assert len(set(references)) == len(references)

    again = wheels.wheel(tmp_path / "..", wheels.SYSTEMS["linux-aarch64"], dict(files), b"core")
    assert again.read_bytes() == path.read_bytes()


def test_without_a_compiler_cmake_warns_and_goes_on(tmp_path):
    places = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    cmake, ninja = (shutil.which(tool, path=places) for tool in ("cmake", "ninja"))
    if not cmake or not ninja:
        pytest.skip("cmake or ninja is missing.")
    command = [cmake, "-S", str(ROOT), "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
    none = os.environ | {"CXX": str(tmp_path / "no-compiler")}
    installed = subprocess.run(
        [*command, "-B", tmp_path / "a", "-DSKBUILD=2"], env=none, capture_output=True, text=True
    )
    assert installed.returncode == 0 and "without its native core" in installed.stderr
    built = subprocess.run([*command, "-B", tmp_path / "b"], env=none, capture_output=True, text=True)
    assert built.returncode != 0 and "no-compiler" in built.stderr
