"""The folder of a run: config.json, rows.jsonl, state, plot.svg. An interrupted run continues from it.

There is one row per experience. The state is saved before its row is written, so an interruption loses at most the last
row, which is computed again from the state. Earlier rows cannot be: the states that they measured are gone.
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
        file = path / "config.json"
        if file.exists():
            existing = _parse(file, file.read_bytes())
            if existing != config:
                raise ValueError(
                    f"{path} holds a run with another {_differences(existing, config)}; choose another folder."
                )
        else:
            write_whole(file, json.dumps(config, indent=1, sort_keys=True).encode())

    def rows(self, experiences: int) -> list[dict[str, Any]]:
        """Those of a state that has learned this many experiences: all, or all but the last.

        An incomplete last line is dropped.
        """
        file = self.path / "rows.jsonl"
        lines = file.read_bytes().split(b"\n")[:-1] if file.exists() else []
        rows = [_parse(file, line) for line in lines][:experiences]
        numbers = [row.get("experience") for row in rows]
        if len(rows) < experiences - 1 or numbers != list(range(len(rows))):
            raise ValueError(
                f"{file} lacks rows that cannot be computed again: expected experiences 1 to {experiences}, of which "
                "only the last may be missing; choose another folder."
            )
        return rows

    def write_rows(self, rows: list[dict[str, Any]]) -> None:
        text = "".join(json.dumps(row, allow_nan=False) + "\n" for row in rows)
        write_whole(self.path / "rows.jsonl", text.encode())

    def plot(self, title: str, rows: list[dict[str, Any]]) -> Path:
        series = {
            "all classes": [row["accuracy"] for row in rows],
            "classes seen": [row["seen_accuracy"] for row in rows],
        }
        file = self.path / "plot.svg"
        write_whole(file, _draw(title, series))
        return file


def _draw(title: str, series: dict[str, list[float]]) -> bytes:
    """The curves as SVG, by matplotlib if it is installed."""
    if find_spec("matplotlib") is None:
        return line_chart(title, series).encode()
    from bitreplay import plots

    image = io.BytesIO()
    plots.curves(series, title).savefig(image, format="svg", metadata={"Date": None})
    return image.getvalue()


def _parse(file: Path, text: bytes) -> dict[str, Any]:
    """A JSON object of one of the folder's files."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise ValueError(f"{file} is damaged: it does not hold JSON objects. Choose another folder.")
    return value


def _differences(existing: dict[str, Any], requested: dict[str, Any]) -> str:
    """The options that differ, with both values."""
    old, new = _flat(existing), _flat(requested)
    names = sorted(name for name in {*old, *new} if name not in old or name not in new or old[name] != new[name])
    return ", ".join(f"{name} ({short_repr(old.get(name))}, now {short_repr(new.get(name))})" for name in names)


def _flat(config: dict[str, Any]) -> dict[str, Any]:
    """The learner's settings beside the run's own."""
    settings = config.get("settings")
    if not isinstance(settings, dict):
        return config
    return {name: value for name, value in config.items() if name != "settings"} | settings


def default_path(config: dict[str, Any]) -> Path:
    """Named by what is usually compared; the digest covers the whole config, so that no two runs share a folder."""
    digest = hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()[:8]
    bits = str(config["settings"]["bits"]).replace("/", "-")
    name = f"{config['data']}-{config['scenario']}-{config['model']}-{config['settings']['strategy']}-{bits}"
    return Path("runs") / f"{name.replace(os.sep, '_')}-seed{config['settings']['seed']}-{digest}"
