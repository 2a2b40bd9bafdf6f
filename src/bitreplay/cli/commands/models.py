"""bitreplay models: the networks that ship."""

from __future__ import annotations

from typing import Any

from bitreplay import zoo
from bitreplay.arguments import escaped
from bitreplay.cli import options, show
from bitreplay.cli.commands.info import model


def models(json: options.Json = False) -> None:
    """List the models that ship with the package."""
    facts = [model(zoo.find(name)) for name in zoo.names()]
    if json:
        show.as_json({"models": facts})
        return
    rows = [
        (m["name"], m.get("top1_integer", ""), m.get("top1_float", ""),
         f"{m['bytes'] / 2**20:.1f} MiB\n{m['weights'] / 1e6:.1f}M",
         f"{m['input']}\n{m['sizes'].partition(' in ')[0]}", "\n".join(m["replay_layers"])) for m in facts
    ]  # fmt: skip
    columns = ("name", "integer %", "float %", "file\nweights", "input", "replay layers")
    show.say(
        show.table("models: top-1 on Tiny-ImageNet, input and possible sizes, replay layers", columns, rows),
        *_licences(facts),
        *_older(facts),
    )


def _licences(rows: list[dict[str, Any]]) -> list[str]:
    """Each licence text once, with the models that it applies to."""
    models_of: dict[str, list[str]] = {}
    for row in rows:
        models_of.setdefault(row["licence"] or "unknown", []).append(row["name"])
    return [f"Licence of {', '.join(names)}: {escaped(text)}" for text, names in models_of.items()]


def _older(rows: list[dict[str, Any]]) -> list[str]:
    """Generations before the newest, which a plain name means."""
    names = [f"{row['name']}@{number}" for row in rows for number in row["generations"][:-1]]
    return [f"Older generations that also ship: {', '.join(names)}."] if names else []
