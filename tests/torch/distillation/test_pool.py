"""A pool of pictures: packed parts and loose files, parts that come later, what is set aside."""

import io
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from bitreplay.torch.distillation import pool as pool_module
from bitreplay.torch.distillation.pool import PicturePool, parts_of, square

CPU = torch.device("cpu")


def pictures(count: int, seed: int, size: tuple[int, int] = (20, 16)) -> list[bytes]:
    generator, encoded = np.random.default_rng(seed), []
    for _ in range(count):
        out = io.BytesIO()
        Image.fromarray(generator.integers(0, 256, (*size, 3), dtype=np.uint8)).save(out, "PNG")
        encoded.append(out.getvalue())
    return encoded


def pack(place: Path, number: int, encoded: list[bytes]) -> None:
    place.mkdir(exist_ok=True)
    np.save(place / f"part_{number:03d}.npy", np.cumsum([0, *map(len, encoded)]))
    (place / f"part_{number:03d}.bin").write_bytes(b"".join(encoded))


def test_packed_parts_and_loose_files_hold_the_same_pictures(tmp_path: Path) -> None:
    encoded = pictures(5, 0)
    pack(tmp_path / "packed", 0, encoded)
    (tmp_path / "loose" / "deeper").mkdir(parents=True)
    for k, one in enumerate(encoded):
        (tmp_path / "loose" / "deeper" / f"{k}.png").write_bytes(one)
    pools = [PicturePool(tmp_path / name, 8, CPU, held=1, workers=1) for name in ("packed", "loose")]
    try:
        assert [pool.refresh(wait=True) for pool in pools] == [4, 4]
        packed, loose = ((pool.held, pool.images, pool.digest()) for pool in pools)
        assert torch.equal(packed[0], loose[0]) and torch.equal(packed[1], loose[1]) and packed[2] == loose[2]
        expected = square(encoded[1], 8)
        assert expected is not None and torch.equal(packed[1][0], torch.from_numpy(expected.copy()).permute(2, 0, 1))
    finally:
        for pool in pools:
            pool.close()


def test_parts_join_as_they_come_and_a_half_written_one_waits(tmp_path: Path) -> None:
    pack(tmp_path, 0, pictures(8, 1))
    pool = PicturePool(tmp_path, 8, CPU, held=2, workers=1)
    try:
        assert pool.refresh(wait=True) == 6
        first = pool.images.clone()
        (tmp_path / "part_001.bin").write_bytes(b"no offsets yet")
        assert pool.refresh(wait=True) == 6
        pack(tmp_path, 1, [*pictures(3, 2), b"damaged"])
        assert pool.refresh(wait=True) == 9
        assert torch.equal(pool.images[:6], first) and len(pool.held) == 2
        generator = torch.Generator().manual_seed(0)
        assert pool.sample(50, generator).shape == (50, 3, 8, 8)
    finally:
        pool.close()


def test_few_parts_at_a_time_lie_decoded_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool_module, "PARTS_AHEAD", 2)
    for number in range(5):
        pack(tmp_path, number, pictures(4, number))
    pool = PicturePool(tmp_path, 8, CPU, held=1, workers=1)
    try:
        assert len(pool.pending) == 2
        while pool.pending:
            before = len(pool.digests)
            pool.refresh()
            assert len(pool.pending) <= 2 and len(pool.digests) <= before + 2
        assert len(pool.digests) == 5 and len(pool.images) == 19
    finally:
        pool.close()


def test_a_square_is_the_middle_of_the_picture() -> None:
    wide = np.zeros((10, 30, 3), np.uint8)
    wide[:, 10:20] = 200
    out = io.BytesIO()
    Image.fromarray(wide).save(out, "PNG")
    middle = square(out.getvalue(), 10)
    assert middle is not None and (middle == 200).all()
    assert square(b"nothing", 10) is None


def test_a_place_without_pictures_is_refused_in_a_sentence(tmp_path: Path) -> None:
    assert parts_of(tmp_path) == []
    with pytest.raises(ValueError, match="has no pictures"):
        PicturePool(tmp_path, 8, CPU, workers=1)
    with pytest.raises(ValueError, match="is not a folder"):
        PicturePool(tmp_path / "none", 8, CPU, workers=1)
