"""bitreplay data photographs FOLDER: write the photographs of fruit that ship, as folders of class folders."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from bitreplay.cli import options, show
from bitreplay.data.archives import files
from bitreplay.data.groceries import ARCHIVE


def photographs(
    folder: Annotated[Path, typer.Argument(help="Folder to write: train/CLASS/ and test/CLASS/ come into it.")],
    each: Annotated[int | None, typer.Option(min=1, help="At most this many of a class.", show_default="all")] = None,
    classes: Annotated[
        str | None, typer.Option(help="Names of classes, with commas between them.", show_default="all 14")
    ] = None,
    json: options.Json = False,
) -> None:
    """Write the photographs of fruit that ship with the package, to try commands on."""
    content = dict(files(ARCHIVE, ".webp"))
    known = sorted({name.split("/")[-2] for name in content})
    wanted = classes.split(",") if classes else known
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise ValueError(f"There are no photographs of {unknown[0]!r}; expected some of {', '.join(known)}.")
    written: Counter[str] = Counter()
    for name, data in content.items():
        part, label = name.split("/")[-3:-1]
        place = f"{part}/{label}"
        if label in wanted and (each is None or written[place] < each):
            target = folder / place / name.split("/")[-1]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            written[place] += 1
    counts = {part: sum(n for place, n in written.items() if place.startswith(part)) for part in ("train", "test")}
    if json:
        show.as_json({"folder": str(folder), "classes": wanted, **counts})
        return
    kinds = "1 class" if len(wanted) == 1 else f"{len(wanted)} classes"
    show.say(
        f"{counts['train']} photographs of fruit ({kinds}) are in {folder / 'train'}, "
        f"{counts['test']} others in {folder / 'test'}."
    )
