"""bitreplay models: what is shipped, and Table 1 of the paper counted from it."""

from __future__ import annotations

from typing import Any

from bitreplay import table1, zoo
from bitreplay.arguments import escaped
from bitreplay.cli import options, show
from bitreplay.cli.commands.info import model, shape_text


def models(json: options.Json = False) -> None:
    """List the models that ship with the package, and Table 1 of the paper counted from them."""
    found = [model(zoo.find(name)) for name in zoo.names()]
    table = table1.table1({name: zoo.find(name).graph for name in zoo.names()})
    if json:
        show.as_json({"models": found, "table1": [row.to_json() for row in table]})
        return
    rows = [
        (m["name"], m.get("top1_integer", ""), m.get("top1_float", ""), f"{m['bytes'] / 2**20:.1f} MiB",
         f"{m['input']}\n{m['sizes'].partition(' in ')[0]}", "\n".join(m["replay_layers"])) for m in found
    ]  # fmt: skip
    columns = ("name", "integer %", "float %", "file", "input", "replay layers")
    title = "Table 1 of the paper: counted here, and as it prints it"
    counted = ("model, level, shape", "weights", "B", "NB", "B/(B+NB)")
    remarks = dict.fromkeys(f"{row.model}: {row.remark}" for row in table if row.remark)
    show.say(
        show.table("models, their top-1 on Tiny-ImageNet, the input, and sizes that it may have", columns, rows),
        *_licences(found),
        *_older(found),
        show.table(title, counted, [_counted(row) for row in table]),
        *remarks,
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


def _counted(row: table1.Row) -> tuple[str, ...]:
    """Two lines a cell: ours, and the paper's where it has the row."""
    ours = (f"{row.total / 1e6:.2f}M", f"{row.binary / 1e6:.2f}M", f"{row.other / 1e3:.1f}K", f"{100 * row.share:.1f}%")
    paper = (row.paper_total, row.paper_binary, row.paper_other, row.paper_share)
    return f"{row.model}\n{row.replay_layer} {shape_text(row.shape)}", *(
        f"{a}\n{b}" for a, b in zip(ours, paper, strict=True)
    )
