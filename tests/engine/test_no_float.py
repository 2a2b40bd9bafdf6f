"""Not one floating-point operation from the uint8 image to the updated weights, in the reference.

Three nets: the arrays of the regions and of NumPy refuse floats (float_trap.py) while programs are compiled and run;
every operation runs on its law vectors inside the same trap; and the source holds no float outside functions that say
"host only". The nets themselves are tested with code that should be caught.
"""

from __future__ import annotations

import ast
import math
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from bitreplay import Learner, engine
from bitreplay import learner as learner_module
from bitreplay.engine import layers as layers
from bitreplay.engine import native, native_method, native_sums
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_tail
from bitreplay.engine.reference import ReferenceMachine
from bitreplay.parts import class_statistics, cwr_head, replay_memory, tail
from bitreplay.prediction.discriminant_predictor import IntegerDiscriminant
from bitreplay.strategies import exact as exact_module
from tests import tiny
from tests.engine import networks
from tests.engine.float_trap import FloatFound, Whole, trap
from tests.engine.law.make_vectors import operation_cases

ENGINE = Path(str(engine.__file__)).parent
SOURCES = sorted(path for path in ENGINE.rglob("*.py") if path.name != "native.py")


def engine_modules() -> list[ModuleType]:
    return [module for name, module in sys.modules.items() if name.startswith("bitreplay.engine") and module.__file__]


def guarded(machine: ReferenceMachine) -> ReferenceMachine:
    """The machine with regions that refuse floats."""
    for name, region in machine.regions.items():
        machine.regions[name] = region.view(Whole)
    return machine


def train(machine: ReferenceMachine) -> ReferenceMachine:
    for step in range(3):
        networks.feed([machine], 2, seed=step)
        for name in ("forward", "backward", "update", "prepare"):
            machine.run(name, networks.run_of(2, step))
    return machine


@pytest.mark.parametrize("bits", [Bits(8, 1, 16), Bits(16, 1, 8), Bits(32, 1, 32)], ids=str)
def test_a_training_step_makes_no_float(bits):
    graph = networks.tail_graph((3, 3, 5), np.random.default_rng(0))
    plain = train(ReferenceMachine(compile_tail(graph, networks.REPLAY_LAYER, bits, 2, classes=3)))
    with trap(engine_modules()):
        machine = train(guarded(ReferenceMachine(compile_tail(graph, networks.REPLAY_LAYER, bits, 2, classes=3))))
    assert np.array_equal(machine.regions["parameter"], plain.regions["parameter"])
    assert not np.array_equal(machine.read("add_1.gamma"), ReferenceMachine(machine.program).read("add_1.gamma"))


@pytest.mark.parametrize("latent_bits", [1, 2, 8])
def test_a_backbone_makes_no_float(latent_bits):
    program = networks.backbone(4, 5, Bits(8), 1, latent_bits)
    with trap(engine_modules()):
        machine = guarded(ReferenceMachine(program))
        machine.write("images", np.arange(48, dtype=np.uint8).reshape(1, 4, 4, 3))
        machine.run("forward", networks.run_of(1, 0))
    assert machine.read("latents", 1).any()


@pytest.mark.parametrize("case", [pytest.param(c, id=f"{c.operation}: {c.name}") for c in operation_cases()])
def test_an_operation_makes_no_float(case):
    with trap(engine_modules()):
        found = case.found(lambda program: guarded(ReferenceMachine(program)))
    assert found == case.expected()


def test_learning_an_experience_makes_no_float(monkeypatch, tiny_model):
    """The whole loop with the reference: replay, CWR*, the order of minibatches, two experiences."""
    monkeypatch.setattr(tail, "machine", native.SlowMachine)
    monkeypatch.setattr(native_method, "available", lambda: None)
    learner = Learner.from_pretrained(
        tiny_model, memory_per_class=2, min_steps=2, epochs=1, batch_size=4, replay_batch_size=16
    )
    parts = [tiny.pictures(*pair, each=3) for pair in (("red", "green"), ("blue", "white"))]
    codes = [learner.encode(images) for images, _ in parts]
    with trap([*engine_modules(), tail, replay_memory, cwr_head, learner_module]):
        for code, (_, labels) in zip(codes, parts, strict=True):
            learner.learn_encoded(code.view(Whole), labels)
    assert len(learner.labels) == 4 and tiny.inside(learner).head.consolidated_weights.any()


def test_learning_by_sums_makes_no_float(monkeypatch, tiny_model):
    """Sums, their discriminant, shrunk means, answers and logits, all by the reference; also forgetting a class."""
    monkeypatch.setattr(native_sums, "library", lambda: None)
    learner = Learner.from_pretrained(tiny_model, strategy="exact", feature_layers="head")
    images, labels = tiny.pictures("red", "green", "blue", each=3)
    codes = learner.encode(images)
    with trap([*engine_modules(), class_statistics, exact_module, learner_module]):
        learner.learn_encoded(codes.view(Whole), labels)
        learner.forget("blue")
        assert isinstance(learner.strategy, exact_module.Exact)
        kept = learner.strategy.class_statistics
        rule = IntegerDiscriminant(kept.sums, [codes.shape[1]])
        answers, shares = rule.labels(codes.view(Whole), Fraction(1, 20)), rule.probabilities(codes.view(Whole))
    assert set(answers[:6].tolist()) <= {0, 1, -1} and shares.any()


CAUGHT = {
    "a true division": lambda x: x / 2,
    "a float factor": lambda x: x * 0.5,
    "a float array as operand": lambda x: x + np.ones(3),
    "a mean": lambda x: x.mean(),
    "a conversion": lambda x: x.astype(np.float32),
    "a float in place": lambda x: np.multiply(x, 0.5, out=x, casting="unsafe"),
    "a root": lambda x: np.sqrt(x),
}
CAUGHT_IN_A_MODULE = {
    "np.zeros without a type": "def f(x):\n    return x + np.zeros(3).astype('int64')",
    "np.asarray with a float type": "def f(x):\n    return np.asarray(x, np.float64)",
    "a matrix product of floats": "def f(x):\n    return (np.eye(3) @ np.asarray(x)).astype('int64')",
    "np.linalg": "def f(x):\n    return np.linalg.norm(np.asarray(x))",
    "a variable": "def f(x):\n    half = 0.5\n    return x + int(half)",
    "a returned number": "def f(x):\n    return len(x) / 2",
    "math.log2": "import math\ndef f(x):\n    return x + int(math.log2(len(x)))",
}


@pytest.mark.parametrize("name", CAUGHT)
def test_the_arrays_catch(name):
    with pytest.raises(FloatFound):
        CAUGHT[name](np.arange(3).view(Whole))


@pytest.mark.parametrize("name", CAUGHT_IN_A_MODULE)
def test_the_trap_catches(name, tmp_path):
    module = ModuleType("suspect")
    module.__file__ = str(tmp_path / "suspect.py")
    module.__dict__["np"] = np
    exec(compile(CAUGHT_IN_A_MODULE[name], module.__file__, "exec"), module.__dict__)
    module.__dict__["f"](np.arange(3))  # harmless outside
    with pytest.raises(FloatFound), trap([module]):
        module.__dict__["f"](np.arange(3).view(Whole))


def test_the_trap_lets_whole_numbers_pass_and_ends():
    with trap([sys.modules["bitreplay.engine.arithmetic.fixedpoint"]]):
        shifted = sys.modules["bitreplay.engine.arithmetic.fixedpoint"].round_shift(np.arange(9).view(Whole), 2)
        assert math.isqrt(16) == 4
    assert shifted.tolist() == [0, 0, 1, 1, 1, 1, 2, 2, 2]
    assert sys.modules["bitreplay.engine.arithmetic.fixedpoint"].np is np


# The source. Outside operations a division is one of Fractions, which are exact; the trap sees it if it is not.
FLOAT_TYPES = {
    "float16",
    "float32",
    "float64",
    "longdouble",
    "double",
    "floating",
    "complex64",
    "complex128",
    "inf",
    "nan",
}
FLOAT_FUNCTIONS = {"mean", "std", "var", "average", "sqrt", "exp", "log", "log2", "log10", "rint", "floor", "ceil",
                   "true_divide", "divide", "linspace", "median", "norm", "power"}  # fmt: skip


def is_host_only(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and "host only" in (ast.get_docstring(node) or "")


def is_operation(node: ast.AST) -> bool:
    names = [
        d.func.id
        for d in getattr(node, "decorator_list", [])
        if isinstance(d, ast.Call) and isinstance(d.func, ast.Name)
    ]
    return "operation" in names


def floats_in(source: str) -> list[str]:
    """What the source does that could be floating point, as sentences."""
    found: list[str] = []

    def visit(node: ast.AST, in_operation: bool) -> None:
        if is_host_only(node):
            return
        in_operation = in_operation or is_operation(node)
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Constant) and isinstance(node.value, float | complex):
            found.append(f"line {line}: the number {node.value}")
        if isinstance(node, ast.Name) and node.id in ("float", "complex"):
            found.append(f"line {line}: {node.id}")
        if isinstance(node, ast.Attribute) and node.attr in FLOAT_TYPES:
            found.append(f"line {line}: .{node.attr}")
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in FLOAT_FUNCTIONS:
            found.append(f"line {line}: a call of {ast.unparse(node.func)}")
        if isinstance(node, ast.Constant) and node.value in ("float", "f4", "f8", "<f4", "<f8", "float32", "float64"):
            found.append(f"line {line}: {node.value!r}")
        if in_operation and isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div):
            found.append(f"line {line}: a true division in an operation")
        for child in ast.iter_child_nodes(node):
            visit(child, in_operation)

    visit(ast.parse(source), False)
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ENGINE)))
def test_the_source_has_no_float(path):
    assert floats_in(path.read_text()) == []


@pytest.mark.parametrize(
    "source",
    [
        "x = 0.5",
        "def f(x):\n    return float(x)",
        "def f(x):\n    return x.astype(np.float64)",
        "def f(x):\n    return np.zeros(3, 'f8')",
        "def f(x):\n    return x.mean()",
        "@operation('halve', code=1)\ndef halve(t, a, run):\n    t.y[...] = t.x / 2",
    ],
)
def test_the_scan_sees(source):
    assert floats_in(source) != []


def test_the_scan_lets_host_only_functions_and_fractions_pass():
    assert floats_in('def f(x):\n    """Round (host only)."""\n    return float(x) * 0.5') == []
    assert floats_in("def f(a, b):\n    return a.scale / b.scale") == []
    assert Fraction(1) / 2 == Fraction(1, 2)
