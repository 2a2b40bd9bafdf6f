"""The replay learner in C, called from tests by ctypes: core/include/bitreplay_learner.h."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from ctypes import byref, c_int64, c_uint32, c_void_p

import numpy as np
from numpy.typing import NDArray

from bitreplay.core.interface import br_name, br_progress
from tests.core.c_learner import CLearner, Name, check, name_info, picture


class CReplay(CLearner):
    def __init__(self, image: bytes, classes: int = 16, samples: int = 64, name_bytes: int = 200) -> None:
        super().__init__(image, classes, samples=samples, name_bytes=name_bytes)

    def learn(self, images, labels: Sequence[Name], steps: bool = False) -> None:
        check(self.core.br_learner_begin(self.learner))
        for image, label in zip(images, labels, strict=True):
            check(self.core.br_learner_add(self.learner, byref(picture(image)), byref(name_info(label))))
        progress = br_progress(0, 1)
        while steps and progress.done < progress.steps:
            check(self.core.br_learner_step(self.learner, byref(progress)))
        check(self.core.br_learner_end(self.learner))

    def forget_sample(self, sample: int) -> None:
        check(self.core.br_learner_forget_sample(self.learner, c_int64(sample)))

    def classes(self) -> list[tuple[Name, int, int]]:
        """Name, pictures ever learned, latents stored."""
        rows: list[tuple[Name, int, int]] = []
        for row in range(self.core.br_learner_classes(self.learner)):
            name, pictures, stored = br_name(), c_int64(), c_int64()
            check(self.core.br_learner_class(self.learner, c_uint32(row), byref(name), byref(pictures), byref(stored)))
            text = ctypes.string_at(name.text, name.length).decode("utf-8", "surrogatepass") if name.text else None
            rows.append((name.number if text is None else text, pictures.value, stored.value))
        return rows

    def code(self, image: NDArray[np.uint8]) -> NDArray[np.uint64]:
        code = np.zeros(self.core.br_learner_encoded_bytes(self.learner) // 8, np.uint64)
        check(self.core.br_learner_encode(self.learner, byref(picture(image)), c_void_p(code.ctypes.data)))
        return code
