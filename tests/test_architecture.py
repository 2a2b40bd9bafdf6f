"""Keep the import arrows: who may import whom, and which outside package is allowed where.

A new top-level module fails here until it has a row in ARROWS. Files inside a folder (a data set, a layer, a model)
take the folder's row.
"""

import ast
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "bitreplay"

# The learner's own parts, then everything that the outermost modules may call.
PARTS = {"backbone", "replay", "tail", "cwr_head", "metrics"}
PLAIN = {"told", "classes", "door", "settings", "watch", "state", "answers", "reports", "views", "zoo"}
PLAIN |= {"knowledge", "novelty", "rates"}
BELOW_THE_DOOR = (
    PARTS
    | PLAIN
    | {"data", "scenario", "learner", "planner", "modelfile", "statefile", "pretrained", "engine", "torch", "counts"}
)

# module: (parts of bitreplay it may import, outside packages it may import)
ARROWS: dict[str, tuple[set[str], set[str]]] = {
    "": ({"follow", "learner", "engine", "settings", "statefile", "watch"}, set()),
    "data": ({"data", "told"}, {"numpy", "PIL"}),
    "scenario": ({"data", "told"}, {"numpy"}),
    "engine": ({"engine"}, {"numpy"}),
    "modelfile": ({"engine", "modelfile"}, {"numpy"}),
    "told": (set(), set()),
    "classes": ({"told"}, {"numpy"}),
    "door": ({"data"}, {"numpy"}),
    "settings": ({"engine", "told"}, set()),
    "watch": ({"told"}, set()),
    "views": ({"data", "engine"}, {"numpy"}),
    "novelty": (set(), {"numpy"}),
    "rates": ({"engine"}, set()),
    "answers": ({"engine"}, {"numpy"}),
    "reports": ({"classes", "metrics"}, {"numpy"}),
    "state": ({"classes", "replay"}, {"numpy"}),
    "statefile": ({"statefile", "state", "settings", "classes", "replay", "modelfile"}, {"numpy"}),
    "zoo": ({"engine", "modelfile", "told"}, set()),
    "knowledge": (PARTS | PLAIN | {"pretrained"}, {"numpy"}),
    "pretrained": (PARTS | PLAIN | {"engine", "modelfile", "statefile", "torch"}, {"numpy"}),
    "room": ({"engine"}, set()),
    "backbone": ({"engine", "modelfile", "room"}, {"numpy"}),
    "replay": ({"engine.bits", "engine.counter", "told"}, {"numpy"}),
    "tail": ({"engine", "modelfile", "rates", "room"}, {"numpy"}),
    "cwr_head": ({"engine"}, {"numpy"}),
    "metrics": (set(), {"numpy"}),
    "learner": (PARTS | PLAIN | {"engine", "statefile", "pretrained"}, {"numpy"}),
    "follow": ({"classes", "learner", "metrics", "reports", "scenario"}, {"numpy"}),
    "counts": ({"engine"}, {"numpy"}),
    "planner": ({"engine", "modelfile"}, {"numpy"}),
    "torch": (BELOW_THE_DOOR, {"numpy", "torch", "h5py", "rich"}),
    "bench": (BELOW_THE_DOOR | {"bench"}, {"numpy", "onnx", "onnxruntime"}),
    "cli": (BELOW_THE_DOOR | {"", "bench", "cli"}, {"numpy", "typer", "rich", "PIL"}),
    "web": (BELOW_THE_DOOR | {"", "web"}, {"numpy", "PIL"}),
    "__main__": ({"cli"}, set()),
}


def imports_of(module: str, source: str, is_folder: bool) -> set[str]:
    """Absolute names of all modules that the source imports, also inside functions and by literal `import_module`."""
    names: set[str] = set()
    package = module if is_folder else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = absolute("." * node.level + (node.module or ""), package)
            names |= {f"{base}.{alias.name}" for alias in node.names} if base.startswith("bitreplay") else {base}
        elif isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if called in ("import_module", "__import__") and isinstance(node.args[0], ast.Constant):
                names.add(absolute(str(node.args[0].value), package))
    return names


def absolute(name: str, package: str) -> str:
    level = len(name) - len(name.lstrip("."))
    if level == 0:
        return name
    parents = package.split(".")
    return ".".join([*parents[: len(parents) - level + 1], *([name[level:]] if name[level:] else [])])


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def violations(module: str, source: str, is_folder: bool = False) -> list[str]:
    place = module.removeprefix("bitreplay").lstrip(".").split(".")[0]
    if place not in ARROWS:
        return [f"{module} has no row in ARROWS: decide what it may import"]
    inside, outside = ARROWS[place]
    wrong = []
    for name in sorted(imports_of(module, source, is_folder)):
        top, _, rest = name.partition(".")
        if top != "bitreplay":
            if top not in sys.stdlib_module_names and top not in outside:
                wrong.append(f"{module} imports {name}")
        elif not any(reaches(rest, part) for part in inside):
            wrong.append(f"{module} imports {name}")
    return wrong


def reaches(name: str, part: str) -> bool:
    """Whether `name` (without the leading bitreplay) lies in `part`; "" stands for the package's own few names."""
    if part == "":
        return name == "" or name.split(".")[0] not in ARROWS
    return name == part or name.startswith(part + ".")


@pytest.mark.parametrize("module", modules())
def test_imports_follow_the_arrows(module):
    path = modules()[module]
    assert violations(module, path.read_text(), path.name == "__init__.py") == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("bitreplay.engine.bits", "import torch"),
        ("bitreplay.engine.bits", "def f():\n    from torch import nn"),
        ("bitreplay.engine.bits", "from bitreplay.learner import Learner"),
        ("bitreplay.engine.layers.sign", "from ...replay import Memory"),
        ("bitreplay.engine.bits", "from bitreplay import tail"),
        ("bitreplay.engine.bits", "import importlib\nimportlib.import_module('bitreplay.tail')"),
        ("bitreplay.replay", "from bitreplay.engine import program"),
        ("bitreplay.replay", "import bitreplay.engine.fixedpoint"),
        ("bitreplay.tail", "import bitreplay"),
        ("bitreplay.metrics", "from .data import dataset"),
        ("bitreplay.learner", "from safetensors.numpy import load_file"),
        ("bitreplay.learner", "from bitreplay import cli"),
        ("bitreplay.data.cifar", "import pandas"),
        ("bitreplay.newcomer", ""),
    ],
)
def test_a_wrong_import_is_seen(module, source):
    assert violations(module, source) != []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("bitreplay.engine.layers.sign", "import numpy as np\nfrom ..bits import pack\nfrom ...engine import quant"),
        ("bitreplay.replay", "from bitreplay.engine.bits import pack\nfrom .engine import bits"),
        ("bitreplay.torch.pretrain", "import torch\nfrom torch import nn\nfrom bitreplay.data.cifar import cifar10"),
        ("bitreplay.cli", "import typer\nimport bitreplay\nfrom bitreplay import Learner, metrics"),
    ],
)
def test_a_right_import_passes(module, source):
    assert violations(module, source) == []
