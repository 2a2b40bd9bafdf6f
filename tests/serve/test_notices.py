"""What is given out, by `serve` and by the static page, says whose it is."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("starlette")

from bitreplay.serve.files import page_files  # noqa: E402

ROOT = Path(__file__).parents[2]


def test_code_photographs_and_networks_have_their_notices():
    served = page_files()["/notices.txt"]
    text = served.content.decode()
    assert served.content_type.startswith("text/plain") and text == (ROOT / "NOTICE").read_text()
    for words in (
        "the bitreplay authors",
        "Apache License",
        "Marcus Klasson",
        "efficientnet_lite0",
        "EfficientNet-Lite2",
        "ImageNet",
    ):
        assert words in text
    licence = (ROOT / "src" / "bitreplay" / "data" / "groceries.md").read_text()
    assert next(line.strip() for line in licence.splitlines() if "Copyright (c)" in line) in text
    assert b'href="notices.txt"' in page_files()["/"].content
    assert "the bitreplay authors" in (ROOT / "LICENSE").read_text()
