"""docs/fleet.md's figures."""

from __future__ import annotations

from figures.committed import EXPERIMENTS, rows, table

PAGE = "docs/fleet.md"


def messages() -> str:
    """Bytes that a device sends, beside other codes."""
    names = ("state", "varint", "zlib", "message", "message_lzma", "masked")
    lines = [
        [
            row["features"],
            row["pictures"],
            *(f"{int(row[name]):,}" for name in names),
            row["message_ms"],
            row["lzma_ms"],
        ]
        for row in rows(EXPERIMENTS / "fleet_bytes.csv")
    ]
    header = ["features", "pictures", "state file", "varints", "zlib of the file", "message",
              "the same by lzma", "masked", "ms", "ms by lzma"]  # fmt: skip
    return table(header, lines)
