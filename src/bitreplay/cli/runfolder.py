"""The folder of a protocol run: config.json, rows.jsonl, state, plot.svg. A run that was cut off goes on from it.

A row belongs to an experience. The state is saved before its row is written, so after a cut at most the last row is
missing; it is made again from the state. Rows before it cannot be: the state that they measured is gone.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bitreplay.arguments import short_repr
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
                raise ValueError(f"{path} holds a run with another {_other(found, config)}; choose another folder.")
        else:
            write_whole(place, json.dumps(config, indent=1, sort_keys=True).encode())

    def rows(self, experiences: int) -> list[dict[str, Any]]:
        """Those of a state that has learned so many experiences: all, or all but the last.

        Whole lines only: one that was cut off is dropped.
        """
        place = self.path / "rows.jsonl"
        lines = place.read_bytes().split(b"\n")[:-1] if place.exists() else []
        found = [_parsed(place, line) for line in lines][:experiences]
        feature_layers = [row.get("experience") for row in found]
        if len(found) < experiences - 1 or feature_layers != list(range(len(found))):
            raise ValueError(f"{place} lacks rows that cannot be made again: expected those of experiences 1 to "
                             f"{experiences}, at most the last missing; choose another folder.")  # fmt: skip
        return found

    def write_rows(self, rows: list[dict[str, Any]]) -> None:
        text = "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)
        write_whole(self.path / "rows.jsonl", text.encode())

    def plot(self, title: str, rows: list[dict[str, Any]]) -> Path:
        series = {
            "all classes": [row["accuracy"] for row in rows],
            "classes seen": [row["seen_accuracy"] for row in rows],
        }
        place = self.path / "plot.svg"
        write_whole(place, _drawn(title, series))
        return place


def _drawn(title: str, series: dict[str, list[float]]) -> bytes:
    """The curves as SVG, by matplotlib where it is installed, else plainly."""
    if find_spec("matplotlib") is None:
        return line_chart(title, series).encode()
    from bitreplay import plots

    drawn = io.BytesIO()
    plots.curves(series, title).savefig(drawn, format="svg", metadata={"Date": None})
    return drawn.getvalue()


def _parsed(place: Path, text: bytes) -> dict[str, Any]:
    """A JSON object of a file of the folder."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ValueError(f"{place} is damaged: it does not hold JSON objects. Choose another folder.")
    return found


def _other(found: dict[str, Any], wanted: dict[str, Any]) -> str:
    """What differs, with both values."""
    old, new = _flat(found), _flat(wanted)
    names = sorted(name for name in {*old, *new} if name not in old or name not in new or old[name] != new[name])
    return ", ".join(f"{name} ({short_repr(old.get(name))}, now {short_repr(new.get(name))})" for name in names)


def _flat(config: dict[str, Any]) -> dict[str, Any]:
    """The learner's settings beside the run's own."""
    settings = config.get("settings")
    if not isinstance(settings, dict):
        return config
    return {name: value for name, value in config.items() if name != "settings"} | settings


def default_path(config: dict[str, Any]) -> Path:
    """What is usually compared is in the name; the digest stands for all of it, so that no two runs share a folder."""
    digest = hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()[:8]
    bits = str(config["settings"]["bits"]).replace("/", "-")
    name = f"{config['data']}-{config['scenario']}-{config['model']}-{config['settings']['strategy']}-{bits}"
    return Path("runs") / f"{name.replace(os.sep, '_')}-seed{config['settings']['seed']}-{digest}"
