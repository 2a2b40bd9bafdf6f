"""The replay learner in C, called from tests by ctypes: core/include/bitreplay_replay.h."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import byref, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

import numpy as np
from numpy.typing import NDArray

from bitreplay.engine import native
from bitreplay.engine.aligned import aligned, aligned_zeros
from tests.core.c_learner import READ, WRITE, Answer, Name, NameInfo, check, library, name_info, picture, reader


class Options(ctypes.Structure):
    _fields_ = [(name, c_uint32) for name in ("classes", "name_bytes", "samples", "settings_bytes")]


class Memory(ctypes.Structure):
    _fields_ = [(name, c_size_t) for name in ("total", "network", "state", "experience", "work")]


class Progress(ctypes.Structure):
    _fields_ = [("done", c_uint64), ("steps", c_uint64)]


def core() -> ctypes.CDLL:
    functions = library()
    for name in ("pictures", "experiences", "steps"):
        function = getattr(functions, f"br_replay_{name}")
        function.restype, function.argtypes = c_int64, [c_void_p]
    functions.br_replay_bytes.restype, functions.br_replay_bytes.argtypes = c_size_t, [c_void_p]
    functions.br_replay_write.argtypes = [c_void_p, WRITE, c_void_p]
    functions.br_replay_read.argtypes = [c_void_p, READ, c_void_p, c_size_t]
    return functions


class CReplay:
    def __init__(self, image: bytes, classes: int = 16, samples: int = 64, name_bytes: int = 200) -> None:
        self.core, self.image = core(), aligned(np.frombuffer(image, np.uint8))
        chosen, self.memory = Options(classes, name_bytes, samples, 0), Memory()
        error = ctypes.create_string_buffer(256)
        model = (c_void_p(self.image.ctypes.data), c_size_t(len(image)), byref(chosen))
        # Builds without a heap have no plan; they take no more than this one.
        code = ctypes.CDLL(str(native.LIBRARY)).br_replay_plan(*model, byref(self.memory), error, c_size_t(256))
        assert code == 0, error.value
        self.room = aligned_zeros(self.memory.total)
        self.room[:] = 0xA5  # nothing relies on zeros
        self.learner = c_void_p()
        place = (c_void_p(self.room.ctypes.data), c_size_t(len(self.room)))
        code = self.core.br_replay_open(*model, *place, byref(self.learner), error, c_size_t(256))
        assert code == 0, error.value

    # what changes

    def learn(self, images, labels: Sequence[Name], steps: bool = False) -> None:
        check(self.core.br_replay_begin(self.learner))
        for image, label in zip(images, labels, strict=True):
            check(self.core.br_replay_add(self.learner, byref(picture(image)), byref(name_info(label))))
        progress = Progress(0, 1)
        while steps and progress.done < progress.steps:
            check(self.core.br_replay_step(self.learner, byref(progress)))
        check(self.core.br_replay_end(self.learner))

    def forget(self, label: Name) -> None:
        check(self.core.br_replay_forget(self.learner, byref(name_info(label))))

    def forget_sample(self, sample: int) -> None:
        check(self.core.br_replay_forget_sample(self.learner, c_int64(sample)))

    def rename(self, old: Name, new: Name) -> None:
        check(self.core.br_replay_rename(self.learner, byref(name_info(old)), byref(name_info(new))))

    # what may be asked

    def classes(self) -> list[tuple[Name, int, int]]:
        """Name, pictures ever learned, latents stored."""
        rows: list[tuple[Name, int, int]] = []
        for row in range(self.core.br_replay_classes(self.learner)):
            name, pictures, stored = NameInfo(), c_int64(), c_int64()
            check(self.core.br_replay_class(self.learner, c_uint32(row), byref(name), byref(pictures), byref(stored)))
            text = ctypes.string_at(name.text, name.length).decode("utf-8", "surrogatepass") if name.text else None
            rows.append((name.number if text is None else text, pictures.value, stored.value))
        return rows

    @property
    def labels(self) -> list[Name]:
        return [name for name, _, _ in self.classes()]

    def code(self, image: NDArray[np.uint8]) -> NDArray[np.uint64]:
        code = np.zeros(self.core.br_replay_latent_words(self.learner), np.uint64)
        check(self.core.br_replay_latent(self.learner, byref(picture(image)), c_void_p(code.ctypes.data)))
        return code

    def answer(self, image: NDArray[np.uint8]) -> tuple[Name, NDArray[np.int64], NDArray[np.int32]]:
        labels = self.labels
        scores, probabilities = np.zeros(len(labels), np.int64), np.zeros(len(labels), np.int32)
        answer = Answer(0, scores.ctypes.data, probabilities.ctypes.data)
        check(self.core.br_replay_predict(self.learner, byref(picture(image)), byref(answer)))
        return labels[answer.label], scores, probabilities

    # what is kept

    def state_hash(self) -> str:
        digits = ctypes.create_string_buffer(65)
        check(self.core.br_replay_hash(self.learner, digits))
        return digits.value.decode()

    def to_bytes(self) -> bytes:
        data = bytearray(self.core.br_replay_bytes(self.learner))
        ends = [0]

        def write(_: int, offset: int, source: int, size: int) -> int:
            assert offset == ends[-1] and offset + size <= len(data)
            data[offset : offset + size] = ctypes.string_at(source, size)
            ends.append(offset + size)
            return 0

        check(self.core.br_replay_write(self.learner, WRITE(write), None))
        assert ends[-1] == len(data)
        return bytes(data)

    def from_bytes(self, data: bytes) -> None:
        check(self.core.br_replay_read(self.learner, READ(reader(data)), None, len(data)))
