"""Replay on microcontrollers that qemu emulates, compared with Python: `make test-mcu`.

The zoo's smallest model in 1 MB of flash and 512 KB of RAM (the linker script refuses more) learns two experiences by
minibatches of two new and four replayed latents: forward, backward and update of its tail, a CWR* head.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from bitreplay import Learner
from bitreplay.export import image_of
from bitreplay.export.c_source import operations_header
from bitreplay.export.image import programs_of
from bitreplay.export.replay_sizes import ReplaySizes, replay_sizes_of
from tests.mcu.images import (
    FIRST,
    HEIGHT,
    NAMES,
    ROOT,
    WIDTH,
    build_image,
    model_assembly,
    pictures,
    sizes,
    write_changed,
)
from tests.mcu.test_mcu import FLASH, RAM, TICK, TICKS, output_of, pytestmark  # noqa: F401

TRAINING = ("-DBITREPLAY_TRAINING=ON", "-DBITREPLAY_EXACT=OFF")
CLASSES = 4
SETTINGS: dict[str, Any] = {
    "strategy": "replay", "batch_size": 2, "replay_batch_size": 4, "memory_per_class": 4, "epochs": 1, "min_steps": 100,
}  # fmt: skip


def learner() -> Learner:
    return Learner.from_pretrained("react_tiny", **SETTINGS)


def exported_sizes() -> ReplaySizes:
    """As `bitreplay export` has them for a device without vectors."""
    desk = learner()
    assert desk.model is not None
    programs = programs_of(desk.model, desk.settings, CLASSES)
    return replay_sizes_of(image_of(desk, CLASSES), programs, CLASSES, len(NAMES), bare=True)


@pytest.fixture(scope="module")
def demo() -> Path:
    """The folder that an image is built from."""
    folder, desk = ROOT / "build" / "mcu" / "replay", learner()
    assert desk.model is not None
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.bin").write_bytes(image_of(desk, CLASSES))
    (folder / "model.S").write_text(model_assembly(folder / "model.bin"))
    programs = programs_of(desk.model, desk.settings, CLASSES)
    write_changed(folder / "operations.h", operations_header(*programs.values()))
    pixels = ",\n".join("{" + ",".join(map(str, picture.reshape(-1))) + "}" for picture in pictures())
    names = ", ".join(f'"{name}"' for name in [*NAMES, *known()])
    (folder / "pictures.h").write_text(
        f"#define PICTURES {len(NAMES)}\n#define FIRST {FIRST}\n#define PICTURE_WIDTH {WIDTH}\n"
        f"#define PICTURE_HEIGHT {HEIGHT}\n#define LEARNER_BYTES {exported_sizes().total}\n"
        f"#define LEARNER_CLASSES {CLASSES}\n"
        f"static const unsigned char pictures[PICTURES][{HEIGHT * WIDTH * 3}] = {{\n{pixels}}};\n"
        f"static const char* const names[] = {{{names}}};\n"
    )
    return folder


def known() -> list[str]:
    """The classes in the order of their numbers."""
    first = sorted(set(NAMES[:FIRST]))
    return first + sorted(set(NAMES) - set(first))


@pytest.mark.parametrize("cpu", ["cortex-m7", "cortex-m33"])
def test_replay_on_a_microcontroller_learns_as_python_does(cpu, demo, record_property):
    image = build_image(demo, cpu, *TRAINING)
    lines = output_of(image, cpu)
    images, desk = pictures(), learner()
    desk.learn(images[:FIRST], NAMES[:FIRST])
    first = desk.state_hash()
    desk.learn(images[FIRST:], NAMES[FIRST:])
    hashes = [pair for pair in lines if pair[0] in ("first", "loaded", "learned")]
    assert hashes == [("first", first), ("loaded", first), ("learned", desk.state_hash())]
    assert [value for key, value in lines if key == "answer"] == desk.predict(images).tolist()
    figures = {key: int(value) for key, value in lines if value.isdigit()}
    flash, ram = sizes(image)
    assert flash <= FLASH and ram <= RAM
    promised = exported_sizes().total
    assert 0.98 * promised <= figures["memory"] <= promised
    tick = TICKS.get(cpu, TICK)
    record_property(
        "figure",
        f"{cpu}, replay: flash {flash} bytes, RAM {ram}, of it the learner {figures['memory']} "
        f"(network {figures['network']}, state {figures['state']}, experience {figures['experience']}, "
        f"work {figures['work']}); {figures['steps']} steps of 6 samples, {figures['ticks_step'] * tick:.3g} "
        f"instructions each, {figures['ticks_predict'] * tick:.3g} a prediction; the state ends in "
        f"{desk.state_hash()[:16]}",
    )


def test_a_replay_image_has_no_heap_no_stdio_and_no_floating_point(demo):
    """The linker's map names everything that is in it."""
    text = (build_image(demo, "cortex-m7", *TRAINING).parent / "mcu_demo.map").read_text()
    linked = text[text.index("Linker script and memory map") :]
    for word in ("malloc", "_sbrk", "calloc", "printf", "getenv", "__aeabi_dadd", "__aeabi_fadd", "__aeabi_dmul"):
        assert not re.search(rf"^ \.text\.?_?{word}\w*\s*\n?\s+0x0*[1-9a-f]", linked, re.MULTILINE), word
    assert ".text.br_learner_step" in linked
