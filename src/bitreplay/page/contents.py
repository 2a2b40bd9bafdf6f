"""The page's files, by their names in the page."""

from __future__ import annotations

from pathlib import Path

from bitreplay.page.examples import examples

STATIC = Path(__file__).with_name("static")
MODULE = Path(__file__).with_name("js")
MODULE_FOLDER = "bitreplay"  # where the page imports the module from
ENTRIES = (
    "browser.js",
    "node.js",
    "open.js",
    "worker.js",
    "worker_learner.js",
)  # of the npm package; the page has its own
WEBASSEMBLY = ("bitreplay.wasm", "bitreplay-plain.wasm")


def static_files() -> dict[str, bytes]:
    """The page itself and its photographs, the same whether the learner runs in the browser or on a server."""
    if not (STATIC / "index.html").is_file():
        raise ValueError(f"The page's files are not here: {STATIC} has no index.html. Install bitreplay again.")
    paths = [path for path in sorted(STATIC.rglob("[!.]*")) if path.is_file()]
    return {path.relative_to(STATIC).as_posix(): path.read_bytes() for path in paths} | examples()


def learner_files() -> dict[str, bytes]:
    """The learner in the browser: the JavaScript module, and the core as WebAssembly."""
    missing = [name for name in WEBASSEMBLY if not (MODULE / name).is_file()]
    if missing:
        raise ValueError(
            f"This installation lacks {' and '.join(missing)}: "
            "wheels contain them, and `make wasm` builds them in a clone."
        )
    return core_files()


def core_files() -> dict[str, bytes]:
    """The JavaScript module, and the core as WebAssembly where this installation has it."""
    scripts = [path for path in sorted(MODULE.iterdir()) if path.suffix in (".js", ".ts") and path.name not in ENTRIES]
    return {f"{MODULE_FOLDER}/{path.name}": path.read_bytes() for path in scripts} | {
        name: (MODULE / name).read_bytes() for name in WEBASSEMBLY if (MODULE / name).is_file()
    }
