"""The page of `make page` in Chromium: to answer, to learn, with a thousand pictures, and with photographs.

    make page wasm-tools            build/page, and Playwright in build/packages; Chromium is the system's
    PYTHONPATH=build/packages python -m benchmarks.page [--models NAME,NAME] [--first]    writes results/page.csv

One row a turn. Milliseconds are by the browser's clock, from the moment that files are given to the one that the page
has the answer, or the new hash; CPU seconds are of all processes of this Chromium, to a second after. A turn has a
Chromium of its own, which several pictures share, and the classes after the first. `load` is the machine's, of one
minute, when the row was made. results/page_shared.csv is made without `--first`, by `--models bireal18 --parts exact`.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
os.environ.setdefault("BITREPLAY_PAGE", str(ROOT / "build" / "page"))
from benchmarks.serve import cpu  # noqa: E402
from bitreplay.data.groceries import groceries  # noqa: E402
from tests.data.pictures.photographs import photograph  # noqa: E402
from tests.page.browser import FOLDER, Page, chromium, served  # noqa: E402
from tests.page.clock import took  # noqa: E402

RESULTS = Path(__file__).parent / "results" / "page.csv"
CLASSES = ("Orange", "Watermelon", "Granny-Smith")
PICTURES, SHOWN, MANY = 20, 15, 500
MEMORY = """async (file) => {
  const { Core, Learner, hasSimd } = await import("./bitreplay/index.js");
  const read = async (name) => new Uint8Array(await (await fetch(name)).arrayBuffer());
  const core = await Core.open(await read(hasSimd() ? "bitreplay.wasm" : "bitreplay-plain.wasm"));
  const { network, answers, work } = Learner.open(core, await read(file)).memory;
  return network + answers + work;
}"""
# Another picture four times a second, and when its answers were drawn.
WATCH = """() => {
  const show = document.querySelector('[aria-label="Show Orange"]');
  window.drawn = [performance.now()];
  window.asking = setInterval(() => show.click(), 250);
  new MutationObserver(() => window.drawn.push(performance.now())).observe(
    document.getElementById("answers"), { childList: true });
}"""


def processes() -> dict[int, float]:
    """The CPU time of each of the browser's processes: they are children of this one's children."""
    parents, seconds = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name, fields = (folder / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue
        parts = fields.split()
        parents[int(folder.name)] = int(parts[1])
        if name.startswith("chrom"):
            seconds[int(folder.name)] = (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")

    def ours(process: int) -> bool:
        return process == os.getpid() or (process in parents and ours(parents[process]))

    return {process: value for process, value in seconds.items() if ours(process)}


def chromium_seconds() -> float:
    return sum(processes().values())


def put_first() -> None:
    """The browser's session before those of other programs, where Linux has groups of them and we are root."""
    for process in [os.getpid(), *processes()]:
        Path(f"/proc/{process}/autogroup").write_text("-19")


class Turn:
    """A page in a Chromium of its own, with one network and strategy; `row` takes what was measured."""

    def __init__(self, page: Page, model: str, row: Callable[[str, float, str], None]) -> None:
        self.page, self.browser_page, self.model, self.row = page, page.own, model, row

    def give(self, name: str, files: list[str], what: str) -> None:
        self.page.name(name)
        selector = f'input[aria-label="Add files: {name}"]'
        time.sleep(0.5)
        before = chromium_seconds()
        milliseconds = took(
            self.browser_page, selector, "hash", "", lambda: self.browser_page.set_input_files(selector, files)
        )
        self.row(what, milliseconds, "ms")
        time.sleep(1)
        self.row(what, chromium_seconds() - before, "CPU s")

    def show(self, files: list[str]) -> None:
        self.browser_page.click("[data-source=picture]")
        for file in files:
            give = lambda file=file: self.page.answered(lambda: self.browser_page.set_input_files("#file", file))  # noqa: E731
            self.row("a file shown", took(self.browser_page, "#file", "answers", "shown", give), "ms")
        time.sleep(2.5)  # the page draws its own figures every two seconds
        answered = re.search(r"([\d.]+) ms to answer", self.browser_page.inner_text("#bars"))
        assert answered
        self.row("a picture answered, the page's median of 15", float(answered[1]), "ms")

    def sizes(self) -> None:
        with self.browser_page.expect_download() as download:
            self.browser_page.click("#download")
        rows = json.loads((FOLDER / "models.json").read_text())
        model = next(row for row in rows if (row["name"], row["strategy"]) == (self.model, "exact"))
        self.row("network", model["bytes"], "bytes")
        self.row("state", Path(download.value.path()).stat().st_size, "bytes")
        self.row("memory to work in", self.browser_page.evaluate(MEMORY, model["file"]), "bytes")
        self.row("the network in float", model["floatBytes"], "bytes")

    def thousand(self, classes: dict[str, list[str]]) -> None:
        for name, files in classes.items():
            if len(files) == MANY and not self.browser_page.evaluate("window.drawn?.length ?? 0"):
                self.browser_page.evaluate(WATCH)
                start = self.browser_page.evaluate("performance.now()")
            self.page.name(name)
            selector = f'input[aria-label="Add files: {name}"]'
            took(self.browser_page, selector, "hash", "", partial(self.browser_page.set_input_files, selector, files))
        drawn = self.browser_page.evaluate("(clearInterval(window.asking), [...window.drawn, performance.now()])")
        self.row("1,000 files", drawn[-1] - start, "ms")
        self.row("1,000 files, answers meanwhile", len(drawn) - 2, "answers")
        self.row("1,000 files, longest time without an answer", max(np.diff(drawn)), "ms")
        self.row("1,000 files, heap", self.browser_page.evaluate("performance.memory.usedJSHeapSize"), "bytes")
        self.page.reload()
        self.row("1,000 files, reload", self.browser_page.evaluate("performance.now()"), "ms")


@contextmanager
def opened(model: str, strategy: str, first: bool) -> Iterator[tuple[Page, str]]:
    with served() as address, chromium() as context:
        if first:
            put_first()
        page = Page(context, address)
        page.own.select_option("#model", model)
        page.own.wait_for_function("model => localStorage.getItem('model') === model", arg=model)
        if strategy == "replay":
            page.own.select_option("#strategy", strategy)
            page.own.wait_for_function("model => localStorage.getItem('model') === model", arg=f"{model} replay")
        yield page, context.browser.version
        assert page.errors == []


def written(folder: Path) -> dict[str, list[str]]:
    """Files of each part of the benchmark: 20 of three classes, photographs, two classes of 500 and two of 5."""
    data, files = groceries(), {}
    photo = photograph(4000, 3000)
    for k in range(PICTURES):
        (folder / f"photo-{k}.jpg").write_bytes(photo)
    files["photographs"] = [str(folder / f"photo-{k}.jpg") for k in range(PICTURES)]
    sets = {name: data.train_images[data.train_labels == data.class_names.index(name)][:PICTURES] for name in CLASSES}
    sets |= {"shown": data.test_images[:: len(data.test_images) // SHOWN][:SHOWN]}
    sets |= {"few": data.train_images[:5], "other": data.train_images[-5:]}
    sets |= {"first": data.train_images[:MANY], "second": data.train_images[-MANY:]}
    for name, images in sets.items():
        files[name] = [str(folder / f"{name}-{k}.png") for k in range(len(images))]
        for file, image in zip(files[name], images, strict=True):
            Image.fromarray(image).save(file)
    return files


def measure(model: str, part: str, files: dict[str, list[str]], row: Callable[..., None], first: bool) -> None:
    strategy = "replay" if part == "replay" else "exact"
    with opened(model, strategy, first) as (page, version):
        turn = Turn(page, model, lambda what, value, unit: row(model, what, value, unit, version))
        if part == "thousand":
            turn.thousand({name: files[name] for name in ("few", "other", "first", "second")})
        elif part == "photographs":
            turn.give("photographs", files["photographs"], "20 photographs of 12 megapixels")
        else:
            kinds = ("first class", "second class") if part == "replay" else ("first class", *["later class"] * 2)
            for name, kind in zip(CLASSES, kinds, strict=False):
                turn.give(name, files[name], f"20 files by {strategy}, {kind}")
            if part == "exact":
                turn.show(files["shown"])
                turn.sizes()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", default="react_tiny,bireal18")
    parser.add_argument("--parts", default="exact,replay,thousand,photographs")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--first", action="store_true", help="before other programs of the machine; for root")
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []

    def row(model: str, what: str, value: float, unit: str, version: str) -> None:
        turn = 1 + sum((one["model"], one["what"], one["unit"]) == (model, what, unit) for one in rows)
        about = {"load": round(os.getloadavg()[0], 1), "put first": args.first, "chromium": version, "cpu": cpu()}
        rows.append({"model": model, "what": what, "turn": turn, "value": round(value, 2), "unit": unit} | about)
        print(json.dumps(rows[-1]), flush=True)
        with args.results.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(sorted(rows, key=lambda one: (one["model"], one["what"], one["unit"], one["turn"])))

    with tempfile.TemporaryDirectory() as folder:
        files = written(Path(folder))
        for _ in range(args.turns):
            for part in args.parts.split(","):
                for model in args.models.split(","):
                    measure(model, part, files, row, args.first)


if __name__ == "__main__":
    main()
