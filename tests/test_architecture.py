"""What import-linter cannot say of imports; its contracts stand in pyproject.toml, and `make lint` checks them.

It sees statements alone: here are imports by name, and outside packages that no contract knows. And the contracts can
fail: a wrong import breaks them.
"""

import ast
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "bitreplay"
EVERYWHERE = {"numpy"}

# Modules that load an outside package by its name, when it is needed, and say how to install it where it is missing
BY_NAME = {
    ("cli/commands/reproduce.py", "reproduce"),
    ("data/pictures/formats.py", "PIL"),
    ("data/pictures/formats.py", "pillow_heif"),
    ("plots/figure.py", "matplotlib"),
    ("torch/pretraining/world.py", "torch"),
    ("writers/tensorboard_writer.py", "tensorboard"),
}


def imported_by_name(source: str) -> set[str]:
    """Top packages of all literal `import_module` and `__import__` of the source."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and node.args:
            function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            first = node.args[0].values[0] if isinstance(node.args[0], ast.JoinedStr) else node.args[0]
            if function in ("import_module", "__import__") and isinstance(first, ast.Constant):
                names.add(str(first.value).split(".")[0])
    return names


def outside(source: str) -> set[str]:
    """Top packages of all import statements that are neither Python's nor ours."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add((node.module or "").split(".")[0])
    return names - set(sys.stdlib_module_names) - {"bitreplay"}


@cache
def sources() -> dict[str, str]:
    return {path.relative_to(PACKAGE).as_posix(): path.read_text() for path in sorted(PACKAGE.rglob("*.py"))}


def named_in_contracts() -> set[str]:
    """Python 3.10 reads no TOML: the one list of forbidden_modules whose names have no dots."""
    lists = re.findall(
        r"^forbidden_modules = \[(.*?)\]", (ROOT / "pyproject.toml").read_text(), re.DOTALL | re.MULTILINE
    )
    return {name for names in lists for name in re.findall(r'"(\w+)"', names)}


def test_every_outside_package_is_named_in_a_contract():
    used = set().union(*(outside(source) for source in sources().values()))
    assert used - EVERYWHERE == named_in_contracts()


def test_packages_are_imported_by_name_where_it_is_known():
    """Of ours only commands and strategies are: a process loads the one that it runs."""
    by_name = {(path, name) for path, source in sources().items() for name in imported_by_name(source)}
    ours = {path for path, name in by_name if name == "bitreplay"}
    assert ours == {"cli/application.py", "strategies/__init__.py"}
    assert {(path, name) for path, name in by_name if name != "bitreplay"} == BY_NAME


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import importlib\nimportlib.import_module('bitreplay.parts.tail')", {"bitreplay"}),
        ("import_module(f'bitreplay.{name}')", {"bitreplay"}),
        ("__import__('torch.nn')", {"torch"}),
        ("import torch", set()),
    ],
)
def test_imports_by_name_are_seen(source, names):
    assert imported_by_name(source) == names


def test_outside_packages_are_seen():
    source = (
        "import numpy.random, os, bitreplay.z\nfrom pandas.io import x\nfrom . import y\ndef f():\n    import torch"
    )
    assert outside(source) == {"numpy", "pandas", "torch"}


# A line that breaks each contract, and where
WRONG = {
    "Imports point down": ("engine/layers/sign.py", "from ...parts import tail"),
    "Data and evaluations know no networks": ("data/cifar.py", "from bitreplay.engine import program"),
    "The learner knows strategies, not the engine": (
        "learner.py",
        "def f():\n    from bitreplay.engine import program",
    ),
    "Parts and predictors know no images and no model files": ("parts/tail.py", "from bitreplay.data import cifar"),
    "Hosts speak to the learner": ("serve/app.py", "from bitreplay.strategies import replay"),
    "Each outside package has its place": ("engine/program.py", "def f():\n    from torch import nn"),
}


def broken(folder: Path, wrong: dict[str, str]) -> list[str]:
    """The contracts that the package breaks with a line more in some of its files."""
    pytest.importorskip("importlinter")
    for path, source in sources().items() | {(path, "") for path in wrong if path not in sources()}:
        (folder / "bitreplay" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "bitreplay" / path).write_text(f"{source}\n{wrong.get(path, '')}\n")
    shutil.copy(ROOT / "pyproject.toml", folder)
    # An editable install finds the package by a hook of its own, before any path.
    program = (
        "import sys; sys.meta_path[:] = [hook for hook in sys.meta_path if 'editable' not in type(hook).__module__]; "
        "sys.path.insert(0, ''); "
        "from importlinter.cli import lint_imports as lint; sys.exit(lint(no_cache=True))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True)
    names = re.findall(r"^(.*?) BROKEN\b", done.stdout, re.MULTILINE)
    assert (done.returncode == 0) == (not names), done.stdout + done.stderr
    return names


def test_the_package_keeps_every_contract(tmp_path):
    assert broken(tmp_path, {}) == []


def test_a_wrong_import_breaks_each_contract(tmp_path):
    assert broken(tmp_path, dict(WRONG.values())) == list(WRONG)
    assert list(WRONG) == re.findall(r'^name = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)[1:]


def test_a_module_without_a_place_breaks_the_layers(tmp_path):
    assert broken(tmp_path, {"newcomer.py": ""}) == ["Imports point down"]
