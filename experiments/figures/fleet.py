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


def simulations() -> str:
    """Flower's simulated devices."""
    lines = [
        [row["data"], row["devices"], "masked" if row["masked"] == "True" else "open", row["counted"], row["failed"],
         row["repeats"], f"{int(row['pictures']):,}", f"{int(row['bytes_a_device']):,}", row["seconds"],
         "yes" if row["same_hash"] == "True" else "no"]
        for row in rows(EXPERIMENTS / "fleet_simulation.csv")
    ]  # fmt: skip
    header = ["pictures of", "devices", "sums", "counted", "failed", "repeats", "pictures that came", "bytes a device",
              "s", "same hash"]  # fmt: skip
    return table(header, lines)
