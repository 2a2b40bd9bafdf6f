"""bitreplay models: the networks that ship."""

from __future__ import annotations

from typing import Any

from bitreplay import zoo
from bitreplay.arguments import escaped
from bitreplay.cli import options, show
from bitreplay.cli.commands.info import model


def models(json: options.Json = False) -> None:
    """List the models that ship with the package."""
    found = [model(zoo.find(name)) for name in zoo.names()]
    if json:
        show.as_json({"models": found})
        return
    rows = [
        (m["name"], m.get("top1_integer", ""), m.get("top1_float", ""),
         f"{m['bytes'] / 2**20:.1f} MiB\n{m['weights'] / 1e6:.1f}M",
         f"{m['input']}\n{m['sizes'].partition(' in ')[0]}", "\n".join(m["replay_layers"])) for m in found
    ]  # fmt: skip
    columns = ("name", "integer %", "float %", "file\nweights", "input", "replay layers")
    show.say(
        show.table("models, their top-1 on Tiny-ImageNet, the input, and sizes that it may have", columns, rows),
        *_licences(found),
        *_older(found),
    )


def _licences(found: list[dict[str, Any]]) -> list[str]:
    """What the files say, each text once, with the models that say it."""
    said: dict[str, list[str]] = {}
    for each in found:
        said.setdefault(each["licence"] or "unknown", []).append(each["name"])
    return [f"Licence of {', '.join(names)}: {escaped(text)}" for text, names in said.items()]


def _older(found: list[dict[str, Any]]) -> list[str]:
    """Generations before the newest, which a plain name means."""
    names = [f"{each['name']}@{number}" for each in found for number in each["generations"][:-1]]
    return [f"Older generations that ship too: {', '.join(names)}."] if names else []
