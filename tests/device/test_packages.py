"""`bitreplay export --package`: the layout and the manifest that each tool prescribes, and examples that compile."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from bitreplay import Learner
from bitreplay.export.packages import PACKAGES, write_package
from bitreplay.export.targets import BOARDS
from tests.device.compiling import ROOT

STUBS = ROOT / "tests/device/stubs"
TARGETS = {"arduino": "nrf52840", "platformio": "stm32h7", "esp-idf": "esp32c3", "pico": "rp2040"}
ARM = ["-mcpu=cortex-m4", "-mthumb", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
needs_arm = pytest.mark.skipif(
    shutil.which("arm-none-eabi-g++") is None, reason="gcc-arm-none-eabi is not installed: examples were not compiled."
)


@pytest.fixture(scope="module")
def packages(tiny_model, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folders = {kind: tmp_path_factory.mktemp("packages") / "bitreplay" for kind in PACKAGES}
    for kind, folder in folders.items():
        write_package(kind, Learner.from_pretrained(tiny_model, strategy="exact"), folder, 4, TARGETS[kind])
    return folders


@pytest.mark.parametrize("kind", PACKAGES)
def test_all_have_the_same_sources_and_include_nothing_else(packages, kind):
    source = packages[kind] / "src"
    names = {path.name for path in source.iterdir()}
    assert names == {path.name for path in (packages["pico"] / "src").iterdir()}
    assert not {path.suffix for path in source.iterdir()} - {".c", ".cpp", ".h"}
    included = {
        name for path in source.iterdir() for name in re.findall(r'^#include "(.*)"', path.read_text(), re.MULTILINE)
    }
    assert included <= names and "bitreplay_operations.h" in names
    left_out = re.compile(r"_(avx2|avxvnni|avx512|neon|dotprod|wasm)\.cpp$|grad\w*_scalar\.cpp$")
    assert not [name for name in names if left_out.search(name)]
    about = json.loads((packages[kind] / "export.json").read_text())
    assert (
        about["target"] == TARGETS[kind]
        and f"LEARNER_BYTES {about['bytes']['learner']}\n" in (source / "bitreplay_model.h").read_text()
    )


@pytest.mark.parametrize("kind", PACKAGES)
def test_the_terms_of_code_and_weights_travel_with_them(packages, kind):
    for name in ("LICENSE", "NOTICE"):
        assert (packages[kind] / name).read_text() == (ROOT / name).read_text()


def test_an_arduino_library_has_what_its_specification_demands(packages):
    folder = packages["arduino"]
    lines = (folder / "library.properties").read_text().splitlines()
    properties = dict(line.split("=", 1) for line in lines)
    demanded = {"name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url", "architectures"}
    assert demanded <= set(properties) and len(properties) == len(lines)
    assert re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 _.-]{0,62}", properties["name"])
    assert re.fullmatch(r"\d+\.\d+\.\d+", properties["version"])
    assert properties["category"] == "Data Processing" and "nrf52840" in properties["architectures"].split(",")
    assert all((folder / "src" / name).is_file() for name in properties["includes"].split(","))
    sketches = sorted(path.parent.name for path in (folder / "examples").rglob("*.ino"))
    assert sketches == ["CameraOV767X", "ESP32CAM", "Teach"]
    assert all((folder / "examples" / name / f"{name}.ino").is_file() for name in sketches)


def test_a_platformio_library_names_its_files(packages):
    folder = packages["platformio"]
    manifest = json.loads((folder / "library.json").read_text())
    assert {"name", "version", "description", "keywords", "license", "frameworks", "platforms"} <= set(manifest)
    assert re.fullmatch(r"\d+\.\d+\.\d+", manifest["version"])
    assert all((folder / "src" / name).is_file() for name in manifest["headers"])
    for example in manifest["examples"]:
        assert all((folder / example["base"] / name).is_file() for name in example["files"])


def test_platformio_packs_it(packages, tmp_path):
    """`pip install platformio`; its compilers come from elsewhere, and nothing is built by it here."""
    tool = shutil.which("pio") or str(ROOT / "build/platformio/bin/pio")
    if not Path(tool).exists():
        pytest.skip("PlatformIO is not installed: `make test-platformio` installs it.")
    folder, packed = tmp_path / "library", tmp_path / "bitreplay.tar.gz"
    shutil.copytree(packages["platformio"], folder)
    words = [tool, "pkg", "pack", folder, "-o", packed]
    done = subprocess.run(words, capture_output=True, text=True)
    if "Could not load SPDX licenses" in done.stderr:  # a list that it downloads: all else is checked without it
        manifest = json.loads((folder / "library.json").read_text())
        del manifest["license"]
        (folder / "library.json").write_text(json.dumps(manifest))
        done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    names = subprocess.check_output(["tar", "tzf", packed], text=True).split()
    assert {"library.json", "LICENSE", "NOTICE", "src/bitreplay_model.c", "examples/Teach/Teach.ino"} <= {
        name.removeprefix("./") for name in names
    }


@pytest.mark.parametrize("kind", ["esp-idf", "pico"])
def test_cmake_lists_every_source(packages, kind):
    folder = packages[kind]
    text = (folder / "CMakeLists.txt").read_text()
    listed = re.findall(r"^\s+(?:\$\{CMAKE_CURRENT_LIST_DIR\}/)?(src/\w+\.(?:c|cpp))\)?$", text, re.MULTILINE)
    assert sorted(listed) == sorted(f"src/{path.name}" for path in (folder / "src").iterdir() if path.suffix != ".h")


def test_an_esp_idf_component_has_a_manifest_and_options(packages):
    folder = packages["esp-idf"]
    manifest = (folder / "idf_component.yml").read_text()
    assert re.search(r'^version: "\d+\.\d+\.\d+"$', manifest, re.MULTILINE)
    assert re.search(r"^targets: *\n  - esp32c3$", manifest, re.MULTILINE)
    options = re.findall(r"^    config (\w+)$", (folder / "Kconfig").read_text(), re.MULTILINE)
    used = re.findall(r"CONFIG_(BITREPLAY_\w+)", (folder / "examples/teach/main/main.c").read_text())
    assert set(used) == set(options)


@needs_arm
@pytest.mark.parametrize("standard", ["gnu++14", "gnu++17", "gnu++20"])
@pytest.mark.parametrize("sketch", ["Teach", "CameraOV767X", "ESP32CAM"])
def test_a_sketch_compiles_with_stand_ins_for_arduino(packages, sketch, standard):
    path = packages["arduino"] / "examples" / sketch / f"{sketch}.ino"
    words: list[str | Path] = ["arm-none-eabi-g++", *ARM, f"-std={standard}", "-include", "Arduino.h", "-I", STUBS]
    subprocess.run([*words, "-I", packages["arduino"] / "src", "-x", "c++", path], check=True)


@needs_arm
@pytest.mark.parametrize(("kind", "main"), [("pico", "main.c"), ("esp-idf", "main/main.c")])
def test_a_project_compiles_with_stand_ins_for_the_sdk(packages, kind, main):
    path = packages[kind] / "examples/teach" / main
    subprocess.run(["arm-none-eabi-gcc", *ARM, "-I", STUBS, "-I", packages[kind] / "src", path], check=True)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--package", "cargo", "--target", "rp2040"), "package must be one of arduino, platformio, esp-idf, pico"),
        (("--package", "arduino"), "A package is for a board: --target esp32"),
        (("--package", "pico", "--target", "esp32"), "is for rp2040 or rp2350, got the target esp32."),
        (("--package", "esp-idf", "--target", "rp2040"), "is for an ESP32, got the target rp2040."),
    ],
)
def test_what_is_refused(shell, tiny_model, words, says, tmp_path):
    code, out, err = shell("export", str(tiny_model), "--out", "package", *words)
    assert code == 1 and out == "" and says in err
    assert not (tmp_path / "package").exists()
    assert shell("export", str(tiny_model), "--out", "package", "--package", "arduino", "--target", "rp2040")[0] == 0
    code, _, err = shell("export", str(tiny_model), "--out", "package", "--package", "arduino", "--target", "rp2040")
    assert code == 1 and "a package needs a new folder" in err


def test_every_board_has_an_architecture_of_arduino():
    from bitreplay.export.packages.arduino import ARCHITECTURES

    assert set(ARCHITECTURES) == set(BOARDS)
