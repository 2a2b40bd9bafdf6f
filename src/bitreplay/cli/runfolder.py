"""The folder of a protocol run: config.json, rows.jsonl, state, plot.svg. A run that was cut off goes on from it.

A row belongs to an experience. The state is saved before its row is written, so after a cut at most the last row is
missing; it is made again from the state.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from bitreplay.cli.plot import line_chart
from bitreplay.modelfile.container import write_whole


class RunFolder:
    def __init__(self, path: Path, config: dict[str, Any]) -> None:
        self.path, self.state = path, path / "state"
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ValueError(f"{path} cannot be a run folder: {error.strerror}.") from None
        place = path / "config.json"
        if place.exists():
            found = _parsed(place, place.read_bytes())
            if found != config:
                other = ", ".join(sorted(key for key in {*found, *config} if found.get(key) != config.get(key)))
                raise ValueError(f"{path} holds a run with another {other}; choose another folder.")
        else:
            write_whole(place, json.dumps(config, indent=1, sort_keys=True).encode())

    def rows(self) -> list[dict[str, Any]]:
        """Whole lines only: one that was cut off is dropped."""
        place = self.path / "rows.jsonl"
        lines = place.read_bytes().split(b"\n")[:-1] if place.exists() else []
        return [_parsed(place, line) for line in lines]

    def write_rows(self, rows: list[dict[str, Any]]) -> None:
        text = "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)
        write_whole(self.path / "rows.jsonl", text.encode())

    def plot(self, title: str, rows: list[dict[str, Any]]) -> Path:
        series = {
            "all classes": [row["accuracy"] for row in rows],
            "classes seen": [row["seen_accuracy"] for row in rows],
        }
        place = self.path / "plot.svg"
        write_whole(place, line_chart(title, series).encode())
        return place


def _parsed(place: Path, text: bytes) -> dict[str, Any]:
    """A JSON object of a file of the folder."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ValueError(f"{place} is damaged: it does not hold JSON objects. Choose another folder.")
    return found


def default_path(config: dict[str, Any]) -> Path:
    bits = str(config["settings"]["bits"]).replace("/", "-")
    name = f"{config['data']}-{config['scenario']}-{config['model']}-{config['settings']['strategy']}-{bits}"
    return Path("runs") / f"{name.replace(os.sep, '_')}-seed{config['settings']['seed']}"
