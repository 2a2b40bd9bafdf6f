"""Conversion: the integer network computes, layer by layer, what the float module computes."""

import copy
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from bitreplay.engine.arithmetic.packing import signs
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.compile import compile_whole
from bitreplay.engine.graph import Fixed
from bitreplay.engine.operations import Run
from bitreplay.engine.reference import ReferenceMachine
from bitreplay.torch.arrays import scale_pixels
from bitreplay.torch.convert import convert
from bitreplay.torch.convert.layer_table import ConversionError
from bitreplay.torch.models.binarize import BinaryConv2d, ClippedSign, PolynomialSign
from bitreplay.torch.models.bireal18 import BiReal18
from bitreplay.torch.twin.float_tail import FloatTail, KeptNorm
from tests.torch.convert.pieces import after_forward, patches

NAMES = [f"class {i}" for i in range(5)]


def as_float(images: np.ndarray) -> torch.Tensor:
    return scale_pixels(torch.from_numpy(images).permute(0, 3, 1, 2))


def assert_same_logits(module, graph, images):
    """At 32 bits, up to a fiftieth of the largest."""
    machine = ReferenceMachine(compile_whole(graph, Bits(32, 1, 32), 40))
    machine.write("images", images)
    machine.run("forward", Run(40))
    with torch.no_grad():
        wanted = module(as_float(images)).numpy()
    assert np.abs(machine.read("logits", 40) / 2**16 - wanted).max() < 0.02 * np.abs(wanted).max()


def settled(model: Any, images: np.ndarray) -> Any:
    """With statistics of these images in its BatchNorms, and uneven gamma and beta."""
    generator = torch.Generator().manual_seed(1)
    for layer in model.modules():
        if isinstance(layer, nn.BatchNorm2d):
            layer.momentum = 1.0
            nn.init.uniform_(layer.weight, 0.5, 1.5, generator=generator)
            nn.init.normal_(layer.bias, 0, 0.2, generator=generator)
    with torch.no_grad():
        model.train()(as_float(images))
    return model.eval()


@pytest.fixture(scope="module")
def images():
    return patches(40)


@pytest.fixture(scope="module")
def model(images):
    torch.manual_seed(0)
    return settled(BiReal18(5, widths=(8, 16, 40, 72)), images)


@pytest.fixture(scope="module")
def plain(model, images):
    return convert(model, images, class_names=NAMES, reestimate=False)[0]


def run_kept(graph, bits, images):
    """Every value of the network: real numbers for activations and sums, +-1 for signs, and the step of each."""
    builder, machine = after_forward(graph, bits, images)
    reals: dict[str, np.ndarray] = {}
    steps: dict[str, float] = {}
    for name, value in builder.values.items():
        stored = machine.read(machine.program.tensors[value.tensor].name, len(images))
        if value.activation is not None:
            reals[name] = (stored.astype(np.int64) - value.activation.zero) * float(value.activation.scale)
            steps[name] = float(value.activation.scale)
        elif value.scales is not None:
            reals[name] = stored * np.array([float(s) for s in value.scales])
        elif stored.dtype == np.uint64:
            reals[name] = signs(stored, value.shape[2])
        else:
            reals[name] = stored / 2**16
    return reals, steps


def through(layer: nn.Module, x: np.ndarray) -> np.ndarray:
    """A float layer on a map (N, H, W, C)."""
    with torch.no_grad():
        return layer.double()(torch.from_numpy(x).double().permute(0, 3, 1, 2)).permute(0, 2, 3, 1).numpy()


@pytest.mark.parametrize("bits", [8, 16])
def test_layer_by_layer_from_the_same_input(model, plain, images, bits):
    """A sign differs only where the value lies within one step of 0.

    A value is off by half a step and, where steps are fine, by the rounding of BatchNorm's mean to 2^-12 of a unit.
    """
    few = images[:4]
    got, steps = run_kept(plain, Bits(bits, 1, 16), few)
    twin = copy.deepcopy(model)
    flips = total = 0
    source = "stem.1"
    for number, block in enumerate(twin.blocks):
        name = "add" if number == 0 else f"add_{number}"
        assert np.array_equal(got[f"blocks.{number}.sign"], np.where(got[source] >= 0, 1, -1))
        sums = through(block.conv, got[f"blocks.{number}.sign"])
        assert np.abs(got[f"blocks.{number}.conv"] - sums).max() < 1e-5
        shortcut = source
        if block.conv.stride == 2:
            shortcut = f"blocks.{number}.shortcut.2"
            pooled = through(block.shortcut[0], got[source])
            check_rounding(pooled, got, steps, f"blocks.{number}.shortcut.0", plain)
            check_rounding(through(block.shortcut[2], got[f"blocks.{number}.shortcut.1"]), got, steps, shortcut, plain)
        wanted = through(block.norm, got[f"blocks.{number}.conv"]) + got[shortcut]
        check_rounding(wanted, got, steps, name, plain)
        differ = (wanted >= 0) != (got[name] >= 0)
        assert np.abs(wanted[differ]).max(initial=0) <= steps[name]
        flips, total, source = flips + differ.sum(), total + differ.size, name
    assert flips < total / 50
    logits = got["pool"].reshape(len(few), -1) @ twin.head.weight.detach().numpy().T + twin.head.bias.detach().numpy()
    assert np.abs(got["head"] - logits).max() < (0.05 if bits == 8 else 0.001)


def check_rounding(wanted, got, steps, name, graph):
    low, high = (float(end) for end in graph.ranges[name])
    inside = (wanted > low + steps[name]) & (wanted < high - steps[name])
    assert inside.mean() > 0.99
    assert np.abs(wanted - got[name])[inside].max() <= steps[name], name


@pytest.mark.parametrize("bits", [8, 16])
def test_real_valued_convolutions_round_their_weights_alone(model, plain, images, bits):
    got, _ = run_kept(plain, Bits(bits, 1, 16), images[:4])
    shortcut = model.blocks[4].shortcut[1]
    places = [(model.stem[0], "stem.0", "image"), (shortcut, "blocks.4.shortcut.1", "blocks.4.shortcut.0")]
    for layer, name, source in places:
        layer = copy.deepcopy(layer)
        wanted = through(layer, got[source])
        step = layer.weight.detach().abs().amax(dim=(1, 2, 3)).numpy() / (2 ** (bits - 1) - 1)
        nn.init.ones_(layer.weight)
        touched = through(layer, np.abs(got[source]))
        # Half a step of the operand and, from the 16-bit weights of the file, up to half of 2^-15 of the largest.
        assert (np.abs(wanted - got[name]) <= touched * (0.51 * step + step.max() * 2**bits * 2**-16)).all()


def test_names_levels_and_codes(model, plain, images):
    sums = [node.name for node in plain.nodes if len(node.inputs) == 2]
    assert sums == ["add"] + [f"add_{i}" for i in range(1, 16)]
    assert plain.shapes == {"add_12": (4, 4, 72), "add_8": (8, 8, 40)}
    assert {replay_layer: sorted(codes) for replay_layer, codes in plain.replay_layers.items()} == {
        "add_12": [1, 2, 4],
        "add_8": [1, 2, 4],
    }
    values = []
    model.blocks[12].add.register_forward_hook(lambda layer, inputs, output: values.append(output))
    with torch.no_grad():
        model(as_float(images))
    code = plain.replay_layers["add_12"][1]
    mean = values[0].abs().mean(dim=(0, 2, 3)).numpy()
    assert (code.thresholds.values == 0).all()
    assert np.allclose(code.values.values * 2.0**-code.values.shift, np.stack([-mean, mean], 1), atol=1e-3)


def test_ranges_hold_nearly_every_value_and_have_short_ends(model, images):
    graph, _ = convert(model, images, class_names=NAMES, reestimate=False, outside=0.0003)
    seen: dict[int, torch.Tensor] = {}
    for number in (0, 15):
        model.blocks[number].add.register_forward_hook(lambda layer, inputs, out, n=number: seen.__setitem__(n, out))
    with torch.no_grad():
        model(as_float(images))
    for number, name, room in ((0, "add", 1.0), (15, "add_15", 1.25)):
        low, high = (float(end) / room for end in graph.ranges[name])
        assert ((seen[number] < low) | (seen[number] > high)).float().mean() < 0.001
        assert low > 1.01 * seen[number].min() and high < 1.01 * seen[number].max()
    assert all(max(abs(end.numerator), end.denominator) < 2**40 for ends in graph.ranges.values() for end in ends)
    assert all(abs(end.numerator) < 2**24 for ends in graph.ranges.values() for end in ends)


def test_reestimated_statistics_are_those_behind_the_code(model, plain, images):
    before = {name: value.clone() for name, value in model.state_dict().items()}
    graph, provenance = convert(model, images, class_names=NAMES, replay_layer="add_12", latent_bits=1, reestimate=True)
    assert provenance["reestimated"] == {"level": "add_12", "code_bits": 1}
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())

    def worst(graph):
        """The largest mean that a BatchNorm of the tail sees after centring, in units of its sigma."""
        tail = FloatTail(graph, "add_12", 5)
        result = []
        for layer in tail.layers:
            if isinstance(layer, KeptNorm):
                layer.register_forward_hook(lambda norm, inputs, _: result.append(
                    ((inputs[0] - norm.mean) * norm.inverse).mean(dim=(0, 2, 3)).abs().max().item()))  # fmt: skip
        with torch.no_grad():
            coded = level_values(model, images, graph.replay_layers["add_12"][1])
            tail(coded)
        return max(result)

    assert worst(graph) < 0.01 and worst(plain) > 0.05


def level_values(model, images, code):
    result = []
    handle = model.blocks[12].add.register_forward_hook(lambda layer, inputs, output: result.append(output))
    model(as_float(images))
    handle.remove()
    values = torch.from_numpy(code.values.values * 2.0**-code.values.shift).float()
    x = result[0].permute(0, 2, 3, 1)
    return torch.where(x >= 0, values[:, 1], values[:, 0])


def test_convolutions_behind_the_lowest_level_learn_when_asked(model, images):
    graph, _ = convert(model, images[:8], class_names=NAMES, reestimate=False, learn_convolutions=True)
    marked = {node.name for node in graph.nodes if node.attributes.get("learns") == 1}
    assert marked == {"blocks.12.shortcut.1"}


class Plain(nn.Module):
    """A BatchNorm that only a sign reads; one of its channels is nearly dead."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, stride=2, padding=1)
        self.norm = nn.BatchNorm2d(6)
        self.sign = ClippedSign(1.25)
        self.binary = BinaryConv2d(6, 6)
        self.last = nn.BatchNorm2d(6)
        self.pool = nn.AvgPool2d(16)
        self.head = nn.Linear(6, 5)

    def forward(self, x):
        y = self.last(self.binary(self.sign(self.norm(self.conv(x)))))
        return self.head(torch.flatten(self.pool(y), 1))


def test_values_that_only_a_sign_reads_get_fine_steps_and_keep_the_signs_of_faint_channels(images):
    torch.manual_seed(4)
    plain = settled(Plain(), images)
    with torch.no_grad():
        plain.norm.weight[2] *= 1e-6
        plain.norm.bias[2] *= 1e-6
    graph, _ = convert(plain, images, class_names=NAMES, reestimate=True)
    assert graph.ranges["norm"] == (Fraction(-85, 64), Fraction(85, 64))
    got, _ = run_kept(graph, Bits(8, 1, 16), images)
    with torch.no_grad():
        wanted = np.where(through(plain.norm, through(plain.conv, got["image"])) >= 0, 1, -1)
    assert ((got["sign"] == wanted).mean(axis=(0, 1, 2)) > 0.97).all()
    assert 0.05 < (wanted[..., 2] > 0).mean() < 0.95


class Own(nn.Module):
    """A user's module: biases, a convolution without BatchNorm, functions instead of layers, a flattened map."""

    replay_layers = {"middle": "norm"}

    def __init__(self, extra: nn.Module | None = None) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, stride=2, padding=1)
        self.sign = PolynomialSign()
        self.binary = BinaryConv2d(6, 6)
        self.norm = nn.BatchNorm2d(6)
        self.extra = extra or nn.Identity()
        self.pool = nn.AvgPool2d(4)
        self.drop = nn.Dropout()
        self.head = nn.Linear(6 * 4 * 4, 5)

    def forward(self, x):
        y = self.extra(self.norm(self.binary(self.sign(self.conv(x)))))
        return self.head(self.drop(torch.flatten(self.pool(y), 1)))


def test_a_module_of_ones_own_converts(images):
    torch.manual_seed(3)
    own = settled(Own(), images)
    graph, _ = convert(own, images, class_names=NAMES, reestimate=False)
    assert [n.name for n in graph.nodes] == ["image", "conv.sums", "conv", "sign", "binary", "middle", "pool", "head"]
    assert graph.shapes == {"middle": (16, 16, 6)}
    assert_same_logits(own, graph, images)


class Sum(Own):
    def forward(self, x):
        y = self.conv(x)
        return self.head(torch.flatten(self.pool(y + y.abs()), 1))


class Tripled(Own):
    def forward(self, x):
        y = self.conv(x)
        return self.head(torch.flatten(self.pool(torch.add(self.norm(self.binary(self.sign(y))), y, alpha=3)), 1))


class Stacked(Own):
    """Joins two maps along their rows, which has as many values as a join of channels."""

    def __init__(self) -> None:
        super().__init__()
        self.head = nn.Linear(2 * 6 * 4 * 4, 5)

    def forward(self, x):
        y = self.conv(x)
        z = self.norm(self.binary(self.sign(y)))
        return self.head(torch.flatten(self.pool(torch.cat([y, nn.functional.relu(z)], 2)), 1))


class Hidden(Own):
    def __init__(self) -> None:
        super().__init__(None)
        self.hidden = nn.Linear(6 * 4 * 4, 7)
        self.head = nn.Linear(7, 5)

    def forward(self, x):
        y = self.norm(self.binary(self.sign(self.conv(x))))
        return self.head(self.drop(self.hidden(torch.flatten(self.pool(y), 1))))


def with_values(**values: float) -> nn.Module:
    """Own, with one number of some parameters set; a parameter is named by its path, "__" for the point."""
    torch.manual_seed(3)
    module = Own()
    with torch.no_grad():
        for path, value in values.items():
            dict([*module.named_parameters(), *module.named_buffers()])[path.replace("__", ".")].view(-1)[0] = value
    return module


def test_a_gamma_beyond_8_gets_a_coarser_point_and_others_keep_theirs(images):
    own = settled(Own(), images)
    with torch.no_grad():
        own.norm.weight[:2] = torch.tensor([20.0, -7.5])
        own.head.weight /= 8
    for largest, point in ((20.0, 25), (7.5, 28), (8.0, 26)):
        with torch.no_grad():
            own.norm.weight[0] = largest
        graph, _ = convert(own, images, class_names=NAMES, reestimate=False, outside=0.0)
        gamma = graph.node("middle").arrays["gamma"]
        assert isinstance(gamma, Fixed) and gamma.shift == point and gamma.values[0] == largest * 2**point
        assert_same_logits(own, graph, images)


def test_a_head_just_below_8_keeps_its_bias(images):
    own = settled(with_values(head__bias=7.9), images)
    graph, _ = convert(own, images, class_names=NAMES, reestimate=False, outside=0.0)
    machine = ReferenceMachine(compile_whole(graph, Bits(32, 1, 32), 40))
    machine.write("images", images)
    machine.run("forward", Run(40))
    with torch.no_grad():
        wanted = own(as_float(images)).numpy()
    assert wanted.max() > 6 and np.abs(machine.read("logits", 40) / 2**16 - wanted).max() < 0.05


REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "bias": (
        lambda: with_values(head__bias=20.0),
        {},
        r"Layer head \(Linear\) cannot be converted: its largest bias is 20; a head holds numbers below 8",
    ),
    "weight": (lambda: with_values(head__weight=-8.0), {}, r"Layer head \(Linear\).*largest weight is 8;"),
    "not a number": (lambda: with_values(norm__weight=float("nan")), {}, r"norm \(BatchNorm2d\).*not a finite number"),
    "infinite": (lambda: with_values(norm__bias=float("inf")), {}, r"Layer norm \(BatchNorm2d\).*not a finite number"),
    "variance": (lambda: with_values(norm__running_var=-1.0), {}, r"norm \(BatchNorm2d\).*variance is not above 0"),
    "unknown layer": (
        lambda: Own(nn.Softplus()),
        {},
        r"Layer extra \(Softplus\) cannot be converted: the engine has no",
    ),
    "groups": (lambda: Own(nn.Conv2d(6, 6, 3, padding=1, groups=2)), {}, r"Layer extra \(Conv2d\).*groups"),
    "kernel": (lambda: Own(nn.Conv2d(6, 6, (1, 3), padding=(0, 1))), {}, r"Layer extra \(Conv2d\).*equal sizes"),
    "pool": (lambda: Own(nn.AvgPool2d(3, 1, 1, ceil_mode=True)), {}, r"Layer extra \(AvgPool2d\).*ceil_mode"),
    "method": (Sum, {"replay_layers": {}}, r"Layer abs_1 \(call_method\) cannot be converted"),
    "alpha": (Tripled, {"replay_layers": {}}, r"Layer add \(call_function\) cannot be converted: alpha is 3"),
    "rows": (Stacked, {"replay_layers": {}}, r"Layer cat \(call_function\) cannot be converted: dim is 2"),
    "hidden": (Hidden, {}, r"Layer hidden \(Linear\) cannot be converted: the last layer alone may be linear"),
    "level": (Own, {"replay_layer": "add_3"}, "There is no replay layer 'add_3'; expected one of middle"),
    "level path": (Own, {"replay_layers": {"x": "nothing"}}, "Replay layer 'x' names 'nothing', which is not a layer"),
    "level kind": (Own, {"replay_layers": {"x": "sign"}}, "Replay layer 'x' is of kind sign"),
    "class names": (Own, {"class_names": ["a"]}, "1 class names for a head of 5 classes"),
    "same names": (Own, {"class_names": list("aabcd")}, "Two classes have the same label"),
    "outside": (Own, {"outside": 0.6}, "outside is 0.6; expected a share from 0 to below 0.5"),
    "code": (Own, {"latent_bits": 3}, "latent_bits is 3; expected one of 1, 2, 4, 8, 16, 32"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_expressed_is_named(name, images):
    make, options, pattern = REFUSED[name]
    with pytest.raises(ConversionError, match=pattern):
        convert(make().eval(), images, **{"class_names": NAMES, **options})


def test_a_level_that_is_no_cut_and_real_weights_are_refused(model, images):
    with pytest.raises(ConversionError, match="Replay layer 'x' is not a cut: add_4 after it reads blocks.4.conv"):
        convert(model, images, class_names=NAMES, replay_layers={"x": "blocks.4.shortcut.0"})
    with pytest.raises(ConversionError, match="The module cannot read images of 40x40: .*shapes cannot be multiplied"):
        convert(Own(), patches(2, 40), class_names=NAMES)
    with pytest.raises(ConversionError, match="Images are float64"):
        convert(model, images / 1.0, class_names=NAMES)
    early = copy.deepcopy(model)
    early.blocks[3].conv.binary_weights = False
    with pytest.raises(ConversionError, match=r"Layer blocks.3.conv \(BinaryConv2d\).*still real-valued"):
        convert(early, images, class_names=NAMES)
