"""The learner in C, called from tests by ctypes: core/include/bitreplay_learner.h."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from ctypes import byref, c_int64, c_size_t, c_uint8, c_uint32, c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bitreplay.core import declare
from bitreplay.core.interface import (
    br_answer,
    br_learner_memory,
    br_learner_options,
    br_name,
    br_picture,
    br_read,
    br_slots,
    br_write,
)
from bitreplay.engine import native
from bitreplay.engine.aligned import aligned, aligned_zeros

Name = str | int


SLOT_FIELDS: Any = br_slots._fields_
SLOT_READ, SLOT_ERASE, SLOT_SYNC = (dict(SLOT_FIELDS)[name] for name in ("read", "erase", "sync"))


class Failed(Exception):
    def __init__(self, code: int) -> None:
        super().__init__(library().br_error_text(code).decode())
        self.code = code


def library() -> ctypes.CDLL:
    """The core, or another library with the learner in it, as `make fuzz` builds it with sanitizers."""
    other = os.environ.get("BITREPLAY_C_LEARNER")
    core = ctypes.CDLL(str(native.LIBRARY) if other is None else other)
    declare(core)
    return core


def check(code: int) -> None:
    if code:
        raise Failed(code)


def picture(image: NDArray[np.uint8]) -> br_picture:
    """The array must live as long as this."""
    height, width, colours = image.shape
    assert image.strides[1:] == (colours, 1)
    return br_picture(image.ctypes.data, width, height, colours, image.strides[0])


def fitted(image: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    square = np.zeros((side, side, 3), np.uint8)
    check(library().br_fit(byref(picture(image)), c_uint32(side), c_void_p(square.ctypes.data)))
    return square


class CLearner:
    def __init__(self, image: bytes, classes: int = 16, room: int = 0, **options: int) -> None:
        """`room` bytes of memory, or as many as it asks for."""
        self.core = library()
        self.image = aligned(np.frombuffer(image, np.uint8))
        chosen, self.memory = br_learner_options(classes=classes, **options), br_learner_memory()
        error = ctypes.create_string_buffer(256)
        model = (c_void_p(self.image.ctypes.data), c_size_t(len(image)), byref(chosen))
        # Builds without a heap have no plan; they take no more than this one.
        plan = ctypes.CDLL(str(native.LIBRARY)).br_learner_plan
        code = 0 if room else plan(*model, byref(self.memory), error, c_size_t(256))
        assert code == 0, error.value
        self.room = aligned_zeros(room or self.memory.total)
        self.room[:] = 0xA5  # nothing relies on zeros
        self.learner = c_void_p()
        place = (c_void_p(self.room.ctypes.data), c_size_t(len(self.room)))
        code = self.core.br_learner_open(*model, *place, byref(self.learner), error, c_size_t(256))
        assert code == 0, error.value

    # what changes

    def learn(self, images, labels: Sequence[Name]) -> None:
        check(self.core.br_learner_begin(self.learner))
        for image, label in zip(images, labels, strict=True):
            check(self.core.br_learner_add(self.learner, byref(picture(image)), byref(name_info(label))))
        check(self.core.br_learner_end(self.learner))

    def learn_features(self, x: NDArray[np.int8], labels: Sequence[Name]) -> None:
        check(self.core.br_learner_begin(self.learner))
        for features, label in zip(x, labels, strict=True):
            at = c_void_p(np.ascontiguousarray(features).ctypes.data)
            check(self.core.br_learner_add_encoded(self.learner, at, byref(name_info(label))))
        check(self.core.br_learner_end(self.learner))

    def unlearn(self, images, labels: Sequence[Name]) -> None:
        for image, label in zip(images, labels, strict=True):
            check(self.core.br_learner_unlearn(self.learner, byref(picture(image)), byref(name_info(label))))

    def unlearn_features(self, x: NDArray[np.int8], label: Name) -> None:
        check(self.core.br_learner_unlearn_encoded(self.learner, c_void_p(x.ctypes.data), byref(name_info(label))))

    def forget(self, label: Name) -> None:
        check(self.core.br_learner_forget(self.learner, byref(name_info(label))))

    def rename(self, old: Name, new: Name) -> None:
        check(self.core.br_learner_rename(self.learner, byref(name_info(old)), byref(name_info(new))))

    # what may be asked

    @property
    def labels(self) -> list[Name]:
        names: list[Name] = []
        for row in range(self.core.br_learner_classes(self.learner)):
            name, pictures = br_name(), c_int64()
            check(self.core.br_learner_class(self.learner, c_uint32(row), byref(name), byref(pictures), None))
            text = ctypes.string_at(name.text, name.length).decode("utf-8", "surrogatepass") if name.text else None
            names.append(name.number if text is None else text)
        return names

    def extract(self, image: NDArray[np.uint8]) -> NDArray[np.int8]:
        x = np.zeros(self.core.br_learner_encoded_bytes(self.learner), np.int8)
        check(self.core.br_learner_encode(self.learner, byref(picture(image)), c_void_p(x.ctypes.data)))
        return x

    def answer(self, image: NDArray[np.uint8]) -> tuple[Name, NDArray[np.int64], NDArray[np.int32]]:
        labels = self.labels
        scores, probabilities = np.zeros(len(labels), np.int64), np.zeros(len(labels), np.int32)
        answer = br_answer(0, scores.ctypes.data, probabilities.ctypes.data)
        check(self.core.br_learner_predict(self.learner, byref(picture(image)), byref(answer)))
        return labels[answer.label], scores, probabilities

    def predict(self, images) -> list[Name]:
        return [self.answer(image)[0] for image in images]

    def share(self) -> int:
        return self.core.br_learner_share(self.learner)

    def predict_features(self, x: NDArray[np.int8], share: int = 0) -> list[Name | None]:
        """None where the answer is "unknown"."""
        labels, answers, answer = self.labels, [], br_answer(share=share)
        for features in np.ascontiguousarray(x):
            check(self.core.br_learner_predict_encoded(self.learner, c_void_p(features.ctypes.data), byref(answer)))
            answers.append(None if answer.unknown else labels[answer.label])
        return answers

    # what is kept

    def state_hash(self) -> str:
        digits = ctypes.create_string_buffer(65)
        check(self.core.br_learner_hash(self.learner, digits))
        return digits.value.decode()

    def to_bytes(self) -> bytes:
        data = bytearray(self.core.br_learner_state_bytes(self.learner))
        ends = [0]

        def write(_: int, offset: int, source: int, size: int) -> int:
            assert offset == ends[-1] and offset + size <= len(data)
            data[offset : offset + size] = ctypes.string_at(source, size)
            ends.append(offset + size)
            return 0

        check(self.core.br_learner_write(self.learner, br_write(write), None))
        assert ends[-1] == len(data)
        return bytes(data)

    def from_bytes(self, data: bytes) -> None:
        check(self.core.br_learner_read(self.learner, br_read(reader(data)), None, len(data)))

    def merge(self, data: bytes, base: bytes | None = None, how: str = "merge") -> None:
        file = (br_read(reader(data)), None, len(data))
        if base is None:
            check(getattr(self.core, f"br_learner_{how}")(self.learner, *file))
        else:
            since = getattr(self.core, f"br_learner_{how}_since")
            check(since(self.learner, *file, br_read(reader(base)), None, len(base)))


def reader(data: bytes):
    def read(_: int, offset: int, target: int, size: int) -> int:
        assert offset + size <= len(data)
        ctypes.memmove(target, data[offset : offset + size], size)
        return 0

    return read


def name_info(label: Name) -> br_name:
    if isinstance(label, int):
        return br_name(None, 0, label)
    data = label.encode("utf-8", "surrogatepass")
    buffer = (c_uint8 * len(data)).from_buffer_copy(data)
    info = br_name(ctypes.addressof(buffer), len(data), 0)
    info.kept = buffer
    return info
