"""bitreplay models: the networks that ship, and those that can be fetched."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from bitreplay import zoo
from bitreplay.arguments import escaped
from bitreplay.cli import options, show
from bitreplay.cli.commands.info import model
from bitreplay.zoo import fetching


def models(
    fetch: Annotated[str | None, typer.Option(help="A model that the package leaves out, to be fetched.")] = None,
    source: Annotated[
        str | None, typer.Option("--from", help="Where to fetch it: an address or a folder that has its file.")
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(help="Folder to store it in, for BITREPLAY_MODELS.", show_default="the user's data folder"),
    ] = None,
    json: options.Json = False,
) -> None:
    """List the models that ship with the package, or fetch one that does not."""
    if (fetch is None) != (source is None) or (into is not None and fetch is None):
        raise ValueError("--fetch MODEL and --from PLACE belong together: give both.")
    if fetch is not None and source is not None:
        _fetch(fetch, source, into, json)
    else:
        _list(json)


def _fetch(name: str, source: str, into: Path | None, json: bool) -> None:
    paths = fetching.fetch(name, source, into)
    if json:
        show.as_json({"model": name, "files": [str(path) for path in paths]})
        return
    show.say(f"{name} is in {paths[0].parent}; its sha256 is the one that this package expects.")
    if into is not None:
        show.note(f"It is found by its name where BITREPLAY_MODELS is {into}.")


def _list(json: bool) -> None:
    facts = [model(zoo.find(name)) for name in zoo.names()]
    if json:
        show.as_json({"models": facts})
        return
    rows = [
        (m["name"], m.get("top1_integer", ""),
         f"{m['bytes'] / 2**20:.1f} MiB\n{m['weights'] / 1e6:.1f}M",
         f"{m['input']}\n{m['sizes'].partition(' in ')[0]}", "\n".join(m["replay_layers"])) for m in facts
    ]  # fmt: skip
    columns = ("name", "top-1 %", "file\nweights", "input", "replay layers")
    show.say(
        show.table("models: integer top-1 on Tiny-ImageNet, input and possible sizes, replay layers", columns, rows),
        *_licences(facts),
        *_older(facts),
        *_absent(),
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


def _absent() -> list[str]:
    """Networks that can be fetched and are not here."""
    names = [title for title in fetching.fetchable() if not zoo.knows(title)]
    place = "bitreplay models --fetch MODEL --from PLACE brings one (docs/install.md)"
    return [f"Not in this package: {', '.join(names)}; {place}."] if names else []
