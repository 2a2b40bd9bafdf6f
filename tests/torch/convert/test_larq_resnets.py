"""Larq Zoo's BiRealNet and BinaryResNetE18: narrow ones that Larq built, with what their layers made of an image.

The files are made by tools/compare_with_larq.py; the weights of Keras are written anew here.
"""

from pathlib import Path

import numpy as np
import pytest
import torch

h5py = pytest.importorskip("h5py", reason="the extra larq (h5py) is not installed")

from bitreplay import modelfile  # noqa: E402
from bitreplay.engine.bit_widths import Bits  # noqa: E402
from bitreplay.engine.compile import compile_whole  # noqa: E402
from bitreplay.engine.native import NativeMachine  # noqa: E402
from bitreplay.engine.operations import Run  # noqa: E402
from bitreplay.torch.arrays import scale_pixels  # noqa: E402
from bitreplay.torch.convert.larq_weights import convert_larq, load_larq, named_layers  # noqa: E402
from bitreplay.torch.models.larq_resnets import BinaryResNetE18  # noqa: E402
from bitreplay.torch.twin.float_tail import FloatTail  # noqa: E402
from tests.torch.replay_layers import replay_layer_tensors  # noqa: E402

SIDE = 64
MODELS = {"birealnet": ("larq_bireal18", [4, 8, 16, 32]), "resnet_e18": ("larq_resnet_e18", [4, 8, 12, 16])}


def pattern() -> np.ndarray:
    y, x, colour = np.ogrid[:SIDE, :SIDE, :3]
    return ((37 * y + 91 * x + 53 * colour + x * y) % 256).astype(np.uint8)[None]


def read(name: str) -> np.lib.npyio.NpzFile:
    return np.load(Path(__file__).parent / f"larq_{name}.npz", allow_pickle=False)


def write(path: Path, name: str, only: slice = slice(None)) -> Path:
    """The weights as Keras saves them."""
    recorded = read(name)
    at = 0
    groups: dict[str, dict[str, np.ndarray]] = {}
    for line in str(recorded["shapes"]).splitlines():
        (layer, _, key), shape = line.split(" ")[0].partition("/"), tuple(map(int, line.split(" ")[1:]))
        groups.setdefault(layer, {})[key] = recorded["values"][at : at + int(np.prod(shape))].reshape(shape)
        at += int(np.prod(shape))
    assert at == len(recorded["values"])
    with h5py.File(path, "w") as file:
        file.attrs["layer_names"] = list(groups)[only]
        for layer in list(groups)[only]:
            group = file.create_group(layer)
            group.attrs["weight_names"] = list(groups[layer])
            for key, value in groups[layer].items():
                group[key] = value
    return path


@pytest.fixture(params=MODELS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_levels_and_logits_are_larqs(name: str, tmp_path: Path) -> None:
    """The float module against Keras: sums at both levels and the logits."""
    model, note = load_larq(write(tmp_path / "w.h5", name), SIDE)
    assert (note["model"], note["options"]["widths"]) == MODELS[name] and note["classes"] == 5
    pixels, recorded = scale_pixels(torch.from_numpy(pattern()).permute(0, 3, 1, 2)), read(name)
    for replay_layer, value in replay_layer_tensors(model, pixels).items():
        np.testing.assert_allclose(value.permute(0, 2, 3, 1).numpy(), recorded[f"output/{replay_layer}"], atol=2e-5)
    with torch.no_grad():
        np.testing.assert_allclose(model(pixels).numpy(), recorded["output/dense"], atol=2e-5)


def test_the_converted_network_answers_alike(name: str, tmp_path: Path) -> None:
    """At 32 bits hardly anything is rounded but real weights, to 16 bits."""
    images = np.concatenate([pattern(), 255 - pattern()[:, ::-1], pattern()[:, :, ::-1]])
    graph, provenance = convert_larq(
        write(tmp_path / "w.h5", name), images, list("abcde"), reestimate=False, outside=0.0
    )
    assert graph.labels == list("abcde") and graph.shapes == {
        "add_12": (2, 2, MODELS[name][1][3]),
        "add_8": (4, 4, MODELS[name][1][2]),
    }
    assert provenance["source"] == "w.h5" and graph.input_shape == (SIDE, SIDE, 3)
    modelfile.save(graph, tmp_path / "m", {})
    machine = NativeMachine(compile_whole(graph, Bits(32, 1, 16), 1), 1)
    machine.write("images", pattern())
    machine.run("forward", Run(1))
    np.testing.assert_allclose(machine.read("logits", 1) / 2**16, read(name)["output/dense"], atol=0.01)


def test_a_tail_with_a_halved_map_computes_the_module(name: str, tmp_path: Path) -> None:
    """Behind add_8 lies a strided convolution, whose first row and column are dropped."""
    path = write(tmp_path / "w.h5", name)
    graph, _ = convert_larq(path, np.concatenate([pattern(), 255 - pattern()]), reestimate=False, outside=0.0)
    model, _ = load_larq(path, SIDE)
    pixels = scale_pixels(torch.from_numpy(pattern()).permute(0, 3, 1, 2))
    tail = FloatTail(graph, "add_8", 5)
    with torch.no_grad():
        tail.head.load_state_dict(model.get_submodule("head").state_dict())
        result = tail(replay_layer_tensors(model, pixels)["add_8"].permute(0, 2, 3, 1))
        np.testing.assert_allclose(result.numpy(), model(pixels).numpy(), atol=2e-3)


def test_a_side_that_cannot_be_halved_and_a_missing_head_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"side of the images is 80; {MODELS[name][0]} needs a multiple of 32"):
        load_larq(write(tmp_path / "w.h5", name), 80)
    with pytest.raises(ValueError, match="20 convolutions, 0 linear layers and 2[01] BatchNorms; expected a QuickNet"):
        load_larq(write(tmp_path / "notop.h5", name, slice(0, -1)), SIDE)


def test_the_stem_of_small_images(tmp_path: Path) -> None:
    """Below 50 pixels Larq Zoo's BinaryResNetE18 starts with one 3x3 convolution, without BatchNorm."""
    torch.manual_seed(0)
    wanted = BinaryResNetE18(3, (4, 8, 12, 16), 32, small_stem=True).eval()
    with h5py.File(tmp_path / "w.h5", "w") as file:
        targets = [(target, layer) for target, layer in named_layers(wanted) if target != "normalise"]
        file.attrs["layer_names"] = [target for target, _ in targets]
        for target, layer in targets:
            theirs = {"running_mean": "moving_mean", "running_var": "moving_variance"}
            if isinstance(layer, torch.nn.BatchNorm2d):
                theirs |= {"weight": "gamma", "bias": "beta"}
            else:
                theirs |= {"weight": "kernel"}
            arrays = {
                theirs.get(key, key): value.permute(2, 3, 1, 0) if value.dim() == 4 else value.t()
                for key, value in layer.state_dict().items()
                if key != "num_batches_tracked"
            }
            group = file.create_group(target)
            group.attrs["weight_names"] = [f"{key}:0" for key in arrays]
            for key, value in arrays.items():
                group[f"{key}:0"] = value.numpy()
    model, note = load_larq(tmp_path / "w.h5", 32)
    assert note["options"]["small_stem"]
    for key, value in wanted.state_dict().items():
        if not key.startswith("normalise"):
            assert torch.equal(model.state_dict()[key], value), key
