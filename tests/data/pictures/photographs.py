"""Photographs that are none: edges, shades and noise, as JPEG."""

import io

import numpy as np
from PIL import Image


def photograph(width: int, height: int, grain: int = 40, **options) -> bytes:
    rng = np.random.default_rng(0)
    rough = Image.fromarray(rng.integers(0, 256, (height // grain + 1, width // grain + 1, 3), dtype=np.uint8))
    shades = np.asarray(rough.resize((width, height), Image.Resampling.BICUBIC)).astype(np.int16)
    noise = rng.integers(-12, 13, (height, width), dtype=np.int16)[:, :, None]
    stream = io.BytesIO()
    Image.fromarray(np.clip(shades + noise, 0, 255).astype(np.uint8)).save(stream, "JPEG", quality=90, **options)
    return stream.getvalue()
