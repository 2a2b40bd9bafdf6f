"""bitreplay page OUT: write the page that learns in the browser, as a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bitreplay.cli import options, show
from bitreplay.page.folder import DEFAULT_MODELS, write_page


def page(
    out: Annotated[Path, typer.Argument(help="Folder to write: new, empty, or with an older page in it.")],
    models: Annotated[
        str,
        typer.Option(
            help="Networks, the first of which is loaded with the page; NAME:SIZE for another input size, "
            "NAME:SIZE:COMPONENTS for fewer features."
        ),
    ] = ",".join(DEFAULT_MODELS),
    json: options.Json = False,
) -> None:
    """Write a web page that learns in the browser, for any web server."""
    written = write_page(out, models.split(","))
    if json:
        show.as_json({"folder": str(out), "files": written.files, "bytes": written.bytes})
        return
    show.say(
        f"The page is in {out}: {written.files} files, {show.size(written.bytes)}. To see it, run",
        f"    python3 -m http.server --directory {out}",
        "and open http://localhost:8000.",
    )
