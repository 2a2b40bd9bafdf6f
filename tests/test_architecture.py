"""Keep the import arrows: who may import whom, and which outside package is allowed where.

A new top-level module fails here until it has a row in ARROWS. Files inside a folder (a data set, a layer, a model)
take the folder's row.
"""

import ast
import sys
from functools import cache
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "src" / "bitreplay"

# module: (parts of bitreplay it may import, outside packages it may import); a folder may import itself
ARROWS: dict[str, tuple[set[str], set[str]]] = {
    "": ({"data", "engine", "learner", "learning", "settings", "statefile", "streams"}, set()),
    "__main__": ({"cli"}, set()),
    # what knows nothing of learning
    "arguments": (set(), set()),
    "data": ({"arguments"}, {"PIL", "numpy", "pillow_heif"}),
    "engine": (set(), {"numpy"}),
    "modelfile": ({"engine"}, {"numpy"}),
    "zoo": ({"arguments", "engine", "modelfile"}, {"numpy"}),
    # what is learned, its parts, and what answers from them
    "learning": ({"arguments", "engine"}, {"numpy"}),
    "evaluation": ({"learning"}, {"numpy"}),
    "parts": ({"arguments", "engine", "learning"}, {"numpy"}),
    "prediction": ({"engine", "learning", "parts"}, {"numpy"}),
    # how it is learned
    "strategies": ({"data", "engine", "learning", "parts", "prediction", "settings", "torch", "zoo"}, {"numpy"}),
    "settings": ({"arguments", "engine", "strategies"}, set()),
    "statefile": ({"learning", "modelfile", "parts", "settings", "strategies"}, set()),
    "lifecycle": (
        {"arguments", "engine", "learning", "modelfile", "parts", "prediction", "settings", "statefile", "strategies",
         "zoo"},
        set(),
    ),
    "learner": (
        {"arguments", "data", "engine", "evaluation", "learning", "lifecycle", "parts", "prediction", "settings",
         "statefile", "strategies", "zoo"},
        {"numpy"},
    ),
    "streams": ({"arguments", "data", "evaluation", "learner", "learning"}, {"numpy"}),
    "planning": (
        {"arguments", "engine", "export", "learner", "lifecycle", "modelfile", "settings", "strategies", "zoo"},
        {"numpy"},
    ),
    "cluster": ({"data", "learner", "learning", "lifecycle", "statefile", "zoo"}, {"numpy", "ray"}),
    # hosts and users
    "writers": ({"arguments", "streams"}, {"tensorboard"}),
    "adapters": (
        {"arguments", "data", "learner", "learning", "zoo"},
        {"avalanche", "numpy", "river", "sklearn", "torch"},
    ),
    "plots": ({"arguments", "evaluation"}, {"matplotlib", "numpy"}),
    "export": ({"engine", "learner", "lifecycle", "settings", "strategies", "zoo"}, {"numpy"}),
    "serve": (
        {"data", "engine", "learner", "learning", "parts", "prediction", "statefile"},
        {"PIL", "anyio", "h11", "numpy", "starlette", "uvicorn"},
    ),
    "torch": ({"data", "engine", "learning", "modelfile", "parts"}, {"h5py", "numpy", "rich", "torch"}),
    "cli": (
        {"", "arguments", "cluster", "data", "engine", "evaluation", "export", "learner", "learning", "lifecycle",
         "modelfile", "planning", "plots", "serve", "settings", "statefile", "strategies", "streams", "torch", "zoo"},
        {"numpy", "reproduce", "rich", "typer"},
    ),
}  # fmt: skip


def imports_of(module: str, source: str, is_folder: bool, when_run: bool = False) -> set[str]:
    """Absolute names of all modules that the source imports, also inside functions and by literal `import_module`.

    `when_run` leaves out what is imported for type checkers alone.
    """
    names: set[str] = set()
    package = module if is_folder else module.rpartition(".")[0]
    tree = ast.parse(source)
    types_only = {
        id(inner)
        for node in ast.walk(tree)
        if when_run and isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in types_only:
            continue
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
    replay_layer = len(name) - len(name.lstrip("."))
    if replay_layer == 0:
        return name
    parents = package.split(".")
    return ".".join(
        [*parents[: len(parents) - replay_layer + 1], *([name[replay_layer:]] if name[replay_layer:] else [])]
    )


@cache
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
    inside = inside | ({place} if place else set())
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


def place_of(module: str) -> str:
    return module.removeprefix("bitreplay").lstrip(".").split(".")[0]


@cache
def imported(when_run: bool = False) -> dict[str, set[str]]:
    """For each row of ARROWS all that its files import."""
    found: dict[str, set[str]] = {}
    for module, path in modules().items():
        names = imports_of(module, path.read_text(), path.name == "__init__.py", when_run)
        found.setdefault(place_of(module), set()).update(names)
    return found


def test_every_row_has_its_module():
    assert set(ARROWS) == {place_of(module) for module in modules()}


@pytest.mark.parametrize("place", ARROWS)
def test_every_permission_is_used(place):
    inside, outside = ARROWS[place]
    names = imported()[place]
    ours = [name.partition(".")[2] for name in names if name.split(".")[0] == "bitreplay"]
    unused = {part for part in inside if not any(reaches(name, part) for name in ours)}
    assert unused | (outside - {name.split(".")[0] for name in names}) == set()


def cycle(arrows: dict[str, set[str]]) -> list[str]:
    """Places that import one another in a circle; none if the arrows can be followed to an end."""
    left = {place: set(targets) - {place} for place, targets in arrows.items()}
    while ends := [place for place, targets in left.items() if not targets & set(left)]:
        for place in ends:
            del left[place]
    return sorted(left)


def test_no_arrow_leads_back():
    """Settings ask the registry of strategies, so strategies know settings by their type alone."""
    arrows = {
        place: {place_of(name) for name in names if name.split(".")[0] == "bitreplay"} & set(ARROWS)
        for place, names in imported(when_run=True).items()
    }
    del arrows[""]  # its names are imported when they are asked for
    assert cycle(arrows) == []


def test_a_circle_is_seen():
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}, "d": set()}) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("bitreplay.engine.arithmetic.packing", "import torch"),
        ("bitreplay.engine.arithmetic.packing", "def f():\n    from torch import nn"),
        ("bitreplay.engine.arithmetic.packing", "from bitreplay.learner import Learner"),
        ("bitreplay.engine.layers.sign", "from ...replay import Memory"),
        ("bitreplay.engine.arithmetic.packing", "from bitreplay.parts import tail"),
        ("bitreplay.engine.arithmetic.packing", "import importlib\nimportlib.import_module('bitreplay.parts.tail')"),
        ("bitreplay.evaluation.metrics", "from bitreplay.engine import program"),
        ("bitreplay.learning.classes", "import bitreplay.parts.tail"),
        ("bitreplay.parts.tail", "import bitreplay"),
        ("bitreplay.evaluation.metrics", "from ..data import dataset"),
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
        (
            "bitreplay.engine.layers.sign",
            "import numpy as np\nfrom ..arithmetic import quant\nfrom ...engine import kind",
        ),
        ("bitreplay.parts.tail", "from bitreplay.engine.arithmetic.counter import key\nfrom ..engine import program"),
        (
            "bitreplay.torch.pretraining.pretrain",
            "import torch\nfrom torch import nn\nfrom bitreplay.data.cifar import cifar10",
        ),
        ("bitreplay.cli", "import typer\nimport bitreplay\nfrom bitreplay import Learner, metrics"),
    ],
)
def test_a_right_import_passes(module, source):
    assert violations(module, source) == []
