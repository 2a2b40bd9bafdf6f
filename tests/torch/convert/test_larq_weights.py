"""Larq Zoo's Keras files: a narrow QuickNet that Larq built, with what its layers yielded (tools/compare_with_larq.py).

The file of weights is written here in the layout of Keras, so that it can be spoilt too.
"""

import resource
from pathlib import Path

import numpy as np
import pytest
import torch

h5py = pytest.importorskip("h5py", reason="the extra larq (h5py) is not installed")

from bitreplay import modelfile  # noqa: E402
from bitreplay.engine.bit_widths import Bits  # noqa: E402
from bitreplay.engine.compile import compile_whole  # noqa: E402
from bitreplay.engine.operations import Run  # noqa: E402
from bitreplay.engine.reference import ReferenceMachine  # noqa: E402
from bitreplay.torch.arrays import scale_pixels  # noqa: E402
from bitreplay.torch.convert.fold_normalisation import fold_normalisation  # noqa: E402
from bitreplay.torch.convert.larq_weights import DEVIATION, MEAN, convert_larq, load_larq  # noqa: E402
from bitreplay.torch.weights import class_names, load_weights, save_weights  # noqa: E402
from tests.torch.replay_layers import replay_layer_tensors  # noqa: E402

LARQ = np.load(Path(__file__).parent / "larq_quicknet.npz", allow_pickle=False)
KEYS = [key.split("/", 2)[1:] for key in LARQ.files if key.startswith("weights/")]
ROUNDING = 4 * float(np.finfo(np.float32).eps)  # of sums that processors add in another order
PIXELS = scale_pixels(torch.from_numpy(LARQ["pixels"]).permute(0, 3, 1, 2))


def write(path: Path, changes: dict[str, np.ndarray | None] | None = None, inside: str = "/") -> Path:
    """As Keras saves weights: attributes list the layers in order, and each layer's weights. None leaves one out."""
    changes = changes or {}
    with h5py.File(path, "w") as file:
        root = file.require_group(inside)
        layers = list(dict.fromkeys(layer for layer, _ in KEYS))
        root.attrs["layer_names"] = [layer.encode() for layer in layers]
        for layer in layers:
            group = root.create_group(layer)
            names = [name for owner, name in KEYS if owner == layer and name and changes.get(name, name) is not None]
            group.attrs["weight_names"] = np.array([name.encode() for name in names], "S")
            for name in names:
                group[name] = changes.get(name, LARQ[f"weights/{layer}/{name}"])
    return path


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("larq") / "quicknet_weights.h5")


def test_levels_and_logits_are_larqs(path: Path) -> None:
    model, note = load_larq(path)
    assert note["model"] == "quicknet" and class_names(note, list("abcde")) == [f"imagenet {k}" for k in range(5)]
    assert note["classes"] == 5 and note["options"]["widths"] == [8, 12, 16, 20]
    result = replay_layer_tensors(model, PIXELS)
    for replay_layer, layer in (("quant_conv2d_11", "depthwise_conv2d_1"), ("quant_conv2d_16", "depthwise_conv2d_2")):
        ours = result[replay_layer].permute(0, 2, 3, 1).numpy()
        np.testing.assert_allclose(ours, LARQ[f"output/{layer}"], rtol=ROUNDING, atol=1e-5)
    with torch.no_grad():
        np.testing.assert_allclose(model(PIXELS).numpy(), LARQ["output/quant_dense"], rtol=ROUNDING, atol=1e-5)


def test_a_whole_saved_model_is_read_too(tmp_path: Path, path: Path) -> None:
    model, _ = load_larq(write(tmp_path / "model.h5", inside="model_weights"))
    wanted = load_larq(path)[0].state_dict()
    assert all(torch.equal(value, wanted[key]) for key, value in model.state_dict().items())


def test_an_imported_model_is_kept_like_one_of_ours(path: Path, tmp_path: Path) -> None:
    model, note = load_larq(path)
    save_weights(tmp_path / "q", model, note)
    again, _ = load_weights(tmp_path / "q")
    assert again.input_size == 224
    assert torch.equal(again.eval()(PIXELS), model(PIXELS))


def test_converted_it_normalises_at_the_door_and_answers_alike(path: Path, tmp_path: Path) -> None:
    """At 32 bits hardly anything is rounded; what is left are the door's 2^-14 and real weights of 16 bits."""
    images = np.concatenate([LARQ["pixels"], np.random.default_rng(0).integers(0, 256, (7, 64, 64, 3), dtype=np.uint8)])
    graph, provenance = convert_larq(path, images, reestimate=False, outside=0.0)
    assert provenance["model"] == "quicknet" and graph.labels == [f"imagenet {k}" for k in range(5)]
    assert [node.kind for node in graph.nodes[:3]] == ["image", "integer_conv", "batchnorm"]
    door = graph.nodes[0]
    table = np.asarray(door.arrays["table"]) / int(door.attributes["scale_denominator"])
    wanted = (np.arange(256)[:, None] / 255 - np.array(MEAN)) / np.array(DEVIATION)
    assert np.abs(table - wanted).max() <= 2.0**-14
    modelfile.save(graph, tmp_path / "m", {})
    assert fold_normalisation(graph) is graph

    machine = ReferenceMachine(compile_whole(graph, Bits(32, 1, 16), 1))
    machine.write("images", LARQ["pixels"])
    machine.run("forward", Run(1))
    logits = machine.read("logits", 1) / 2**16
    np.testing.assert_allclose(logits, LARQ["output/quant_dense"], atol=0.02)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"quant_conv2d_1/kernel:0": np.float32(1)}, "20 convolutions, 2 linear layers"),
        ({"quant_conv2d_1/kernel:0": np.zeros(32)}, "20 convolutions, 2 linear layers"),
        ({"quant_dense/kernel:0": np.zeros(32)}, "expected a QuickNet, QuickNetLarge, BiRealNet or BinaryResNetE18"),
        ({"quant_dense/kernel:0": np.zeros((3, 20, 5))}, "expected a QuickNet"),
        ({"quant_dense/kernel:0": np.zeros((20, 0))}, "channels and 0 classes"),
        ({"quant_dense/bias:0": np.zeros((5, 1))}, r"quant_dense has bias \(5, 1\), which does not fit \(5,\)"),
        ({"quant_conv2d_2/kernel:0": np.array(["a", "b"], object)}, "quant_conv2d_2.* of type object, .* not numbers"),
        ({"quant_conv2d_2/kernel:0": np.zeros((3, 3, 8, 8), complex)}, "of type complex128, which are not numbers"),
        ({"quant_conv2d_2/kernel:0": h5py.Empty("f4")}, "quant_conv2d_2.* of type float32, which are not numbers"),
        ({"quant_dense/bias:0": np.full(5, 1e300)}, "quant_dense has bias with values that are not numbers"),
        ({"batch_normalization_4/moving_variance:0": np.full(8, -1.0)}, "4 has a moving_variance below 0"),
        ({"quant_conv2d_1/kernel:0": np.zeros((1, 1, 3, 8))}, r"quant_conv2d_1 has kernel \(1, 1, 3, 8\)"),
        (
            {"quant_dense/kernel:0": None, "quant_dense/bias:0": None},
            "21 convolutions, 0 linear layers and 22",
        ),
        ({"quant_conv2d_16/kernel:0": None}, "20 convolutions"),
        ({"batch_normalization_4/beta:0": None}, "batch_normalization_4 has .* expected .*beta"),
        ({"depthwise_conv2d_1/depthwise_kernel:0": np.ones((3, 3, 12, 1))}, "depthwise_conv2d_1 blurs with another"),
        ({"quant_dense/bias:0": np.full(5, np.nan)}, "quant_dense has bias with values that are not numbers"),
        ({"quant_conv2d_20/kernel:0": np.zeros((3, 3, 20, 21))}, "which no quicknet has"),
    ],
)
def test_a_file_that_does_not_fit_gives_one_sentence(
    tmp_path: Path, changes: dict[str, np.ndarray | None], sentence: str
) -> None:
    with pytest.raises(ValueError, match=sentence):
        load_larq(write(tmp_path / "bad.h5", changes))


def test_what_is_no_keras_file_gives_one_sentence(tmp_path: Path, path: Path) -> None:
    (tmp_path / "text.h5").write_text("no weights here")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = np.zeros(3)
    (tmp_path / "cut.h5").write_bytes(path.read_bytes()[:-2000])
    for name in ("text.h5", "other.h5", "cut.h5", "missing.h5", "."):
        with pytest.raises(ValueError, match="cannot be read as a Keras file"):
            load_larq(tmp_path / name)


def _spoil(path: Path, how: str) -> None:
    """Other things where names, groups and arrays are expected."""
    with h5py.File(path, "r+") as file:
        layer = file["quant_conv2d_2"]
        if how == "numbers for names":
            file.attrs["layer_names"] = np.arange(30)
        elif how == "one number for names":
            file.attrs["layer_names"] = 7
        elif how == "no names":
            file.attrs["layer_names"] = np.array([b""], "S1")
        elif how == "bytes that are no text":
            file.attrs["layer_names"] = np.array([b"\xff\xfe"])
        elif how == "a name that is missing":
            file.attrs["layer_names"] = [b"nothing"]
        elif how == "numbers for the names of weights":
            layer.attrs["weight_names"] = np.arange(1)
        elif how == "no names of weights":
            del layer.attrs["weight_names"]
        elif how == "a group for weights":
            del file["quant_conv2d_2/quant_conv2d_2/kernel:0"]
            file.create_group("quant_conv2d_2/quant_conv2d_2/kernel:0")
        elif how == "an array for a layer":
            del file["quant_conv2d_2"]
            file["quant_conv2d_2"] = np.zeros(3)
        elif how == "an array for the model":
            file["model_weights"] = np.zeros(3)
        elif how == "too many names":
            file.attrs.create("layer_names", np.zeros(5000, "S1"))


SPOILT = {
    "numbers for names": "has layer_names that are not names",
    "one number for names": "has layer_names that are not names",
    "no names": "has layer_names that are not names",
    "bytes that are no text": "codec can't decode",
    "a name that is missing": "layer nothing is not a group",
    "numbers for the names of weights": "layer quant_conv2d_2 has weight_names that are not names",
    "no names of weights": "layer quant_conv2d_2 has no weight_names",
    "a group for weights": "layer quant_conv2d_2 has quant_conv2d_2/kernel:0, which is not an array",
    "an array for a layer": "layer quant_conv2d_2 is not a group",
    "an array for the model": "model_weights is not a group",
    "too many names": "has 5000 layer_names, of which at most 512",
}


@pytest.mark.parametrize("how", SPOILT)
def test_odd_contents_give_one_sentence(tmp_path: Path, how: str) -> None:
    _spoil(write(tmp_path / "bad.h5"), how)
    with pytest.raises(ValueError, match=f"bad.h5 cannot be read as a Keras file of weights: .*{SPOILT[how]}") as error:
        load_larq(tmp_path / "bad.h5")
    assert "\n" not in str(error.value)


KERNEL = "quant_conv2d_2/quant_conv2d_2/kernel:0"


def _elsewhere(path: Path, how: str) -> None:
    """What HDF5 can do and Keras does not: a secret of this machine, or more bytes than the file has."""
    secret = path.with_name("secret")
    secret.write_bytes(np.arange(3 * 3 * 8 * 8, dtype=np.float32).tobytes())
    other = path.with_name("other.h5")
    with h5py.File(other, "w") as file:
        file["kernel"] = np.zeros((3, 3, 8, 8), np.float32)
        file.create_group("layer")
    with h5py.File(path, "r+") as file:
        if how in ("an external link to a layer", "a soft link to a layer"):
            del file["quant_conv2d_2"]
            away = h5py.ExternalLink("other.h5", "/layer") if "external" in how else h5py.SoftLink("/quant_conv2d_3")
            file["quant_conv2d_2"] = away
            return
        shape = file[KERNEL].shape
        del file[KERNEL]
        if how == "external storage":
            file.create_dataset(KERNEL, shape, "f4", external=[(str(secret), 0, h5py.h5f.UNLIMITED)])
        elif how == "a virtual array":
            layout = h5py.VirtualLayout(shape, "f4")
            layout[:] = h5py.VirtualSource(str(other), "kernel", shape)
            file.create_virtual_dataset(KERNEL, layout)
        elif how == "an external link":
            file[KERNEL] = h5py.ExternalLink("other.h5", "/kernel")
        elif how == "a soft link":
            file[KERNEL] = h5py.SoftLink("/quant_conv2d_3/quant_conv2d_3/kernel:0")
        elif how == "a large chunk":
            file.create_dataset(KERNEL, shape, "f4", chunks=(1 << 10, 1 << 10, 1 << 4, 1 << 4), maxshape=(None,) * 4)
        elif how == "a large array":
            file.create_dataset(KERNEL, (3, 3, 2000, 2000), "f4")
        elif how == "compressed":
            file.create_dataset(KERNEL, data=np.zeros(shape, "f4"), compression="gzip")
        else:
            file[KERNEL] = np.zeros((1, 1, 1, 2000), np.float32)


ELSEWHERE = {
    "external storage": "data in another file",
    "a virtual array": "data in another file",
    "an external link": "by a link, which is not followed",
    "a soft link": "by a link, which is not followed",
    "an external link to a layer": "by a link, which is not followed",
    "a soft link to a layer": "by a link, which is not followed",
    "a large chunk": r"claims 1073741824 bytes, and the file has \d+",
    "a large array": r"claims 144000000 bytes, and the file has \d+",
    "compressed": "compressed, as Keras does not write it",
    "a wide layer": "which no quicknet has|does not fit",
}


@pytest.mark.parametrize("how", ELSEWHERE)
def test_data_from_elsewhere_and_claims_beyond_the_file_are_refused(tmp_path: Path, how: str) -> None:
    _elsewhere(write(tmp_path / "bad.h5"), how)
    with pytest.raises(ValueError, match=ELSEWHERE[how]):
        load_larq(tmp_path / "bad.h5")


def test_a_small_file_that_claims_a_wide_network_takes_no_memory(tmp_path: Path) -> None:
    """Its widths are read off shapes: each convolution is one pixel of one input wide, but of 2,000 outputs."""
    shapes = {name: LARQ[f"weights/{layer}/{name}"].shape for layer, name in KEYS if name}
    widths = {8: 2000, 12: 2400, 16: 2800, 20: 3200}
    thin: dict[str, np.ndarray | None] = {
        name: np.zeros((1, 1, 1, widths[shape[3]]), np.float32)
        for name, shape in shapes.items()
        if len(shape) == 4 and "depthwise" not in name and shape[3] in widths
    }
    file = write(tmp_path / "wide.h5", thin)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match="does not fit"):
        load_larq(file)
    assert file.stat().st_size < 1_000_000 and resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000


def test_the_layout_of_newer_keras_is_told_how_to_save(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "quicknet.weights.h5", "w") as file:
        file.create_group("layers/quant_conv2d/vars")["0"] = np.zeros((3, 3, 3, 16))
    with pytest.raises(ValueError, match=r"layout of newer Keras .* save the whole model, model.save\('NAME.h5'\)"):
        load_larq(tmp_path / "quicknet.weights.h5")


def test_changed_bytes_end_in_a_module_or_a_sentence(tmp_path: Path, path: Path) -> None:
    """Only the structure is changed, not the arrays' data, which is most of the file and says nothing."""
    content, rng = path.read_bytes(), np.random.default_rng(0)
    places = [at for at in range(len(content)) if content[at : at + 4] in (b"TREE", b"HEAP", b"SNOD", b"OHDR", b"kern")]
    refused = 0
    for number in range(60):
        changed = bytearray(content)
        for _ in range(1 + number % 3):
            at = int(rng.choice(places)) + int(rng.integers(0, 200))
            changed[min(at, len(changed) - 1)] = int(rng.integers(0, 256))
        (tmp_path / "changed.h5").write_bytes(changed)
        try:
            load_larq(tmp_path / "changed.h5")
        except ValueError as error:
            refused += 1
            assert "\n" not in str(error) and len(str(error)) < 600
    assert refused > 6


def test_uneven_maps_are_padded_as_tensorflow_does(path: Path) -> None:
    """At 112x112 the last blur reads a 6x6 map: "same" pads it below and to the right alone."""
    pixels = np.tile(LARQ["pixels"], (1, 2, 2, 1))[:, :112, :112]
    wanted = np.load(Path(__file__).parent / "larq_quicknet_112.npz", allow_pickle=False)
    model, note = load_larq(path, 112)
    assert note["options"]["size"] == 112 and model.input_size == 112
    scaled = scale_pixels(torch.from_numpy(pixels).permute(0, 3, 1, 2))
    replay_layer = replay_layer_tensors(model, scaled)["quant_conv2d_16"].permute(0, 2, 3, 1).numpy()
    np.testing.assert_allclose(replay_layer, wanted["output/depthwise_conv2d_2"], atol=1e-5)
    with torch.no_grad():
        np.testing.assert_allclose(model(scaled).numpy(), wanted["output/quant_dense"], rtol=1e-5, atol=1e-4)

    images = np.concatenate([pixels, pixels[:, ::-1]])
    graph, _ = convert_larq(path, images, reestimate=False, outside=0.0, learn_convolutions=True)
    assert graph.shapes["quant_conv2d_16"] == (3, 3, 16)
    assert graph.node("quant_conv2d_16.wide").attributes == {"stride": 2, "pad": 2}
    assert graph.node("quant_conv2d_16.sums").attributes["learns"] == 0
    machine = ReferenceMachine(compile_whole(graph, Bits(32, 1, 16), 1))
    machine.write("images", pixels)
    machine.run("forward", Run(1))
    np.testing.assert_allclose(machine.read("logits", 1) / 2**16, wanted["output/quant_dense"], rtol=0.001, atol=0.05)


def test_a_side_that_the_stem_pads_otherwise_is_refused(path: Path) -> None:
    with pytest.raises(ValueError, match="The side of the images is 98; quicknet needs a multiple of 4"):
        load_larq(path, 98)
