"""The page as a folder that any web server can give out (docs/page.md).

    make page                                             build/page
    python tools/make_page.py OUT [--wasm build/wasm] [--models react_tiny,react18:64,bireal18]

Copies page/ and js/, the two WebAssembly modules, models for the learner in C, and photographs of fruit; writes the
list of what the service worker keeps, named by a hash of it all. NAME:SIZE is a network at another input size.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import shutil
from pathlib import Path

import bitreplay
from bitreplay import zoo
from bitreplay.engine.parameter_counts import total_parameters
from bitreplay.export.image import image_of
from bitreplay.serve.examples import examples

REPOSITORY = Path(__file__).resolve().parents[1]
MODULES = ("bitreplay.wasm", "bitreplay-plain.wasm")
FLOAT_BYTES = 4
STRATEGIES = ("exact", "replay")


def make(out: Path, wasm: Path, models: list[str]) -> None:
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(REPOSITORY / "page", out, ignore=shutil.ignore_patterns("online.js"))
    (out / "bitreplay").mkdir()
    for file in [*(REPOSITORY / "js").glob("*.js"), *(REPOSITORY / "js").glob("*.d.ts")]:
        shutil.copy(file, out / "bitreplay")
    for name in MODULES:
        (out / name).write_bytes((wasm / name).read_bytes())
    rows = [_model(out, name, strategy) for strategy in STRATEGIES for name in models]
    (out / "models.json").write_text(json.dumps(rows, indent=1))
    for name, content in examples().items():
        (out / name).write_bytes(content)
    _offline(out, later={row["file"] for row in rows[1:]})


def _model(out: Path, model: str, strategy: str) -> dict[str, object]:
    name, _, size = model.partition(":")
    content = image_of(bitreplay.Learner.from_pretrained(name, strategy=strategy, size=int(size) if size else None))
    file = f"{name}.{strategy}.model"
    (out / file).write_bytes(content)
    about = {"bytes": len(content), "floatBytes": FLOAT_BYTES * total_parameters(zoo.find(name).graph)}
    return {"name": name, "strategy": strategy, "file": file, **about}


def _offline(out: Path, later: set[str]) -> None:
    """All files but those that are kept when they are first loaded, in the service worker's list."""
    files = sorted(
        path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file() and path.suffix != ".ts"
    )
    digest = hashlib.sha256(b"".join((out / name).read_bytes() for name in files)).hexdigest()[:16]
    cached = ["./", *(name for name in files if name not in later | {"index.html", "offline.js"})]
    worker = (out / "offline.js").read_text()
    for old, new in (('["./"]', json.dumps(cached)), ('"development"', json.dumps(f"bitreplay-{digest}"))):
        assert worker.count(old) == 1
        worker = worker.replace(old, new)
    (out / "offline.js").write_text(worker)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--wasm", type=Path, default=REPOSITORY / "build" / "wasm")
    parser.add_argument("--models", default="react_tiny,react18,bireal18", help="the first is loaded first")
    args = parser.parse_args()
    make(args.out, args.wasm, args.models.split(","))
    size = sum(path.stat().st_size for path in args.out.rglob("*") if path.is_file())
    print(f"{args.out}: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
