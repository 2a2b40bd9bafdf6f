"""Compare an imported QuickNet with Larq's own, layer by layer. docs/larq.md shows the result.

Two environments take turns, since Larq needs an older TensorFlow; FOLDER carries files between them.

    ours:  python tools/compare_with_larq.py images FOLDER
    Larq:  python tools/compare_with_larq.py weights FOLDER quicknet
    ours:  python tools/compare_with_larq.py values FOLDER quicknet
    Larq:  python tools/compare_with_larq.py compare FOLDER quicknet
    Larq:  python tools/compare_with_larq.py fixture tests/torch/convert/larq_quicknet.npz
    Larq:  python tools/compare_with_larq.py uneven tests/torch/convert/larq_quicknet_112.npz
    Larq:  python tools/compare_with_larq.py resnet_fixture tests/torch/convert/larq_birealnet.npz birealnet
    Larq:  python tools/compare_with_larq.py resnet_fixture tests/torch/convert/larq_resnet_e18.npz resnet_e18

`weights` builds Larq Zoo's model with random weights, or reads those given as a fourth argument, sets its BatchNorm
statistics by the images when they are random, and saves them as Keras does. `values` imports the file, runs the module
in float and the converted network in whole numbers, and keeps what every layer yields. `compare` runs Larq's model and
Larq Compute Engine end to end beside the module, and feeds each of Larq's layers with what ours fed its own.

BiRealNet and BinaryResNetE18 (`birealnet`, `resnet_e18`) take the same turns; `compare` goes block by block there.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

MEAN, DEVIATION = np.array([0.485, 0.456, 0.406]) * 255, np.array([0.229, 0.224, 0.225]) * 255
BITS = (8, 16)
RESNETS = ("birealnet", "resnet_e18")


def images(folder: Path) -> None:
    """16 crops of two photographs."""
    from sklearn.datasets import load_sample_images

    rng = np.random.default_rng(0)
    crops = []
    for number in range(16):
        picture = load_sample_images().images[number % 2]
        y, x = (int(rng.integers(0, side - 224)) for side in picture.shape[:2])
        crops.append(picture[y : y + 224, x : x + 224])
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "images.npy", np.stack(crops))


def normalised(pixels: np.ndarray) -> np.ndarray:
    return ((pixels - MEAN) / DEVIATION).astype(np.float32)


def keras_model(name: str, path: str | None) -> Any:
    import larq_zoo
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.keras.utils.set_random_seed(0)
    make = {
        "quicknet": larq_zoo.sota.QuickNet,
        "quicknet_large": larq_zoo.sota.QuickNetLarge,
        "birealnet": larq_zoo.literature.BiRealNet,
        "resnet_e18": larq_zoo.literature.BinaryResNetE18,
    }[name]
    return make(weights=path, input_shape=(224, 224, 3))


def weights(folder: Path, name: str, path: str | None = None) -> None:
    import tensorflow as tf

    model = keras_model(name, path)
    if path is None:
        rng, x = np.random.default_rng(1), normalised(np.load(folder / "images.npy"))
        norms = [layer for layer in model.layers if isinstance(layer, tf.keras.layers.BatchNormalization)]
        for layer in norms:
            layer.momentum = 0.0
            if layer.scale:
                layer.gamma.assign(rng.uniform(0.5, 1.5, layer.gamma.shape))
                layer.beta.assign(rng.normal(0, 0.3, layer.beta.shape))
        model(x, training=True)
    model.save_weights(folder / f"{name}_weights.h5")


def values(folder: Path, name: str) -> None:
    import torch

    from bitreplay.engine.bit_widths import Bits
    from bitreplay.engine.builder import Builder
    from bitreplay.engine.layers import LAYERS
    from bitreplay.engine.native import NativeMachine
    from bitreplay.engine.operations import Run
    from bitreplay.torch.arrays import scale_pixels
    from bitreplay.torch.convert.larq_weights import convert_larq, load_larq

    pixels = np.load(folder / "images.npy")
    module, _ = load_larq(folder / f"{name}_weights.h5")
    recorded: dict[str, np.ndarray] = {}
    for target, layer in module.named_modules():
        if not list(layer.children()):

            def keep(_: Any, __: Any, y: torch.Tensor, target: str = target) -> None:
                recorded[f"float/{target}"] = (y.permute(0, 2, 3, 1) if y.dim() == 4 else y).numpy()

            layer.register_forward_hook(keep)
    with torch.no_grad():
        module(scale_pixels(torch.from_numpy(pixels[:2]).permute(0, 3, 1, 2)))

    # Where a stage of several rounded tensors is compared, one that saturates would hide how the others are rounded.
    options = {"outside": 0.0} if name in RESNETS else {}
    graph, _ = convert_larq(folder / f"{name}_weights.h5", pixels, reestimate=False, **options)
    recorded |= {f"range/{key}": np.array([float(end) for end in ends]) for key, ends in graph.ranges.items()}
    for bits in BITS:
        builder = Builder(graph, Bits(bits, 1, 16), 1, "nothing", keep=True)
        for node in graph.nodes:
            inputs = [builder.values[source] for source in node.inputs]
            builder.values[node.name] = LAYERS[node.kind](node).forward(builder, inputs)
        machine = NativeMachine(builder.finish(), 1)
        machine.write("images", pixels[:1])
        machine.run("forward", Run(1))
        for node in graph.nodes:
            value = builder.values[node.name]
            stored = machine.read(machine.program.tensors[value.tensor].name, 1)
            if value.activation is not None:
                step = float(value.activation.scale)
                recorded[f"{bits}/{node.name}"] = ((stored.astype(np.int64) - value.activation.zero) * step).astype(
                    np.float32
                )
                recorded[f"step/{bits}/{node.name}"] = np.array(step)
            elif value.scales is not None:
                recorded[f"{bits}/{node.name}"] = (stored * np.array([float(s) for s in value.scales])).astype(
                    np.float32
                )
            elif node.kind == "dense":
                recorded[f"{bits}/{node.name}"] = (stored / 2**16).astype(np.float32)
    np.savez(folder / f"{name}_values.npz", **recorded)


def fixture(path: Path) -> None:
    """A narrow QuickNet with random weights, an image, and what Larq's layers make of it, for the tests."""
    import tensorflow as tf
    from larq_zoo.sota.quicknet import QuickNetFactory

    tf.keras.utils.set_random_seed(0)
    options = {"section_filters": (8, 12, 16, 20), "input_shape": (64, 64, 3), "weights": None, "num_classes": 5}
    model, rng = QuickNetFactory(**options).build(), np.random.default_rng(2)
    pixels = rng.integers(0, 256, (2, 64, 64, 3), dtype=np.uint8)
    for layer in model.layers:
        if isinstance(layer, tf.keras.layers.BatchNormalization):
            layer.momentum = 0.0
            if layer.scale:
                layer.gamma.assign(rng.uniform(0.5, 1.5, layer.gamma.shape))
                layer.beta.assign(rng.normal(0, 0.3, layer.beta.shape))
        elif layer.weights and "depthwise_conv2d" not in layer.name:
            binary = getattr(layer, "kernel_quantizer", None) is not None
            layer.set_weights([np.sign(w) if binary else np.float32(np.float16(w)) for w in layer.get_weights()])
    model(normalised(pixels), training=True)
    recorded: dict[str, np.ndarray] = {"pixels": pixels[:1]}
    for layer in model.layers:
        recorded |= {f"weights/{layer.name}/{w.name}": w.numpy() for w in layer.weights} or {
            f"weights/{layer.name}/": np.zeros(0)
        }
    shown = [
        layer for layer in model.layers if layer.name in ("depthwise_conv2d_1", "depthwise_conv2d_2", "quant_dense")
    ]
    outputs = tf.keras.Model(model.input, [layer.output for layer in shown])(normalised(pixels[:1]), training=False)
    recorded |= {f"output/{layer.name}": y.numpy() for layer, y in zip(shown, outputs, strict=True)}
    np.savez_compressed(path, **recorded)


def pattern(side: int) -> np.ndarray:
    """One image (1, side, side, 3) that tests can make again."""
    y, x, colour = np.ogrid[:side, :side, :3]
    return ((37 * y + 91 * x + 53 * colour + x * y) % 256).astype(np.uint8)[None]


def outputs_of(model: Any, names: tuple[str, ...], pixels: np.ndarray) -> dict[str, np.ndarray]:
    import tensorflow as tf

    inner = tf.keras.Model(model.input, [model.get_layer(name).output for name in names])
    return {f"output/{name}": y.numpy() for name, y in zip(names, inner(normalised(pixels)), strict=True)}


def uneven(path: Path) -> None:
    """What the network of larq_quicknet.npz makes of its image, repeated to 112x112: its last blur reads a 6x6 map."""
    from larq_zoo.sota.quicknet import QuickNetFactory

    options = {"section_filters": (8, 12, 16, 20), "input_shape": (112, 112, 3), "weights": None, "num_classes": 5}
    model, recorded = QuickNetFactory(**options).build(), np.load(path.with_name("larq_quicknet.npz"))
    saved = list(dict.fromkeys(key.split("/")[1] for key in recorded.files if key.startswith("weights/")))
    for layer, name in zip(model.layers, saved, strict=True):
        layer.set_weights(
            [recorded[key] for key in recorded.files if key.startswith(f"weights/{name}/") and key[-1] != "/"]
        )
    pixels = np.tile(recorded["pixels"], (1, 2, 2, 1))[:, :112, :112]
    np.savez_compressed(path, **outputs_of(model, ("depthwise_conv2d_2", "quant_dense"), pixels))


def resnet_fixture(path: Path, name: str) -> None:
    """A narrow BiRealNet or BinaryResNetE18 with random weights, and what its layers make of an image of 64x64."""
    import tensorflow as tf
    from larq_zoo.literature.birealnet import BiRealNetFactory
    from larq_zoo.literature.resnet_e import BinaryResNetE18Factory
    from zookeeper import factory

    @factory
    class Narrow(BinaryResNetE18Factory):
        @property
        def spec(self) -> Any:
            return [2, 2, 2, 2], [4, 8, 12, 16]

    tf.keras.utils.set_random_seed(0)
    options = {"input_shape": (64, 64, 3), "weights": None, "num_classes": 5}
    if name == "birealnet":
        model = BiRealNetFactory(filters=4, **options).build()
    else:
        model = Narrow(initial_filters=4, **options).build()
    rng = np.random.default_rng(2)
    for layer in model.layers:
        if isinstance(layer, tf.keras.layers.BatchNormalization):
            layer.momentum = 0.0
            layer.gamma.assign(rng.uniform(0.5, 1.5, layer.gamma.shape))
            layer.beta.assign(rng.normal(0, 0.3, layer.beta.shape))
        elif getattr(layer, "kernel_quantizer", None) is not None:  # few values, so that the file stays small
            (w,) = layer.get_weights()
            layer.set_weights([np.where(w < 0, -1, 1) * rng.integers(1, 5, w.shape[-1]) / np.float32(8)])
        elif layer.weights:
            layer.set_weights([np.float32(np.float16(w)) for w in layer.get_weights()])
    model(normalised(np.concatenate([pattern(64), 255 - pattern(64)[:, ::-1]])), training=True)
    arrays = [(f"{layer.name}/{w.name}", w.numpy()) for layer in model.layers for w in layer.weights]
    shapes = [f"{name} {' '.join(map(str, w.shape))}" for name, w in arrays]
    recorded = {"shapes": np.array("\n".join(shapes)), "values": np.concatenate([w.reshape(-1) for _, w in arrays])}
    dense = next(layer.name for layer in model.layers if isinstance(layer, tf.keras.layers.Dense))
    sums = [layer.name for layer in model.layers if isinstance(layer, tf.keras.layers.Add)]
    model.get_layer(dense).activation = None
    recorded |= outputs_of(model, (sums[8], sums[12], dense), pattern(64))
    np.savez_compressed(path, **recorded)


def pairs(model: Any, targets: list[str]) -> list[tuple[Any, str]]:
    """Larq's layers and the targets of ours that yield the same, in order."""
    theirs = [layer for layer in model.layers[1:-1] if "average_pooling" not in layer.name]
    inside = ("sign", "normalise")  # Larq's convolutions take signs themselves, and end in ReLU where ours is a layer
    ours = [t for t in targets if t.rpartition(".")[2] not in inside and t not in ("stem.0", "stem.4")]
    ours = [t for t in ours if not (t.startswith("sections") and t.endswith("conv"))]
    assert len(theirs) == len(ours), (len(theirs), len(ours))
    return list(zip(theirs, ours, strict=True))


def compare(folder: Path, name: str) -> None:
    model = keras_model(name, str(folder / f"{name}_weights.h5"))
    recorded = np.load(folder / f"{name}_values.npz")
    if name in RESNETS:
        return compare_blocks(model, recorded, normalised(np.load(folder / "images.npy")[:2]))
    layers = pairs(model, [key.removeprefix("float/") for key in recorded.files if key.startswith("float/")])
    x = normalised(np.load(folder / "images.npy")[:2])
    compare_engines(model, layers, recorded, x)
    for form, image in (("float", "float/normalise"), *((str(bits), f"{bits}/image") for bits in BITS)):
        away = np.abs(recorded[image] - x[: len(recorded[image])]).max()
        print(f"{form}: the first layer reads Larq's input within {away:.1e}")
        compare_layers(model, layers, recorded, form, recorded[image])


def compare_blocks(model: Any, recorded: Any, x: np.ndarray) -> None:
    """End to end in float; then Larq's stem, blocks and head, each on what ours fed its own."""
    import tensorflow as tf

    sums = [layer for layer in model.layers if isinstance(layer, tf.keras.layers.Add)]
    dense = next(layer for layer in model.layers if isinstance(layer, tf.keras.layers.Dense))
    theirs = tf.keras.Model(model.input, [layer.output for layer in (*sums, dense)])(x)
    apart = [(y.numpy() >= 0) != (recorded[f"float/blocks.{k}.add"] >= 0) for k, y in enumerate(theirs[:-1])]
    print(f"end to end: {sum(a.sum() for a in apart)} of {sum(a.size for a in apart)} signs differ, ", end="")
    print(f"logits within {np.abs(theirs[-1].numpy() - recorded['float/head']).max():.1e} of up to ", end="")
    print(f"{np.abs(theirs[-1].numpy()).max():.2f}")
    start = sums[0].input[1]  # behind the stem: a sum reads its block, then its shortcut
    stem = max((key for key in recorded.files if key.startswith("float/stem.")), key=lambda key: int(key[-1]))[6:]
    for form in ("float", *map(str, BITS)):
        fed = recorded["float/normalise" if form == "float" else f"{form}/image"]
        stages = [(model.input, start, stem)]
        for k, layer in enumerate(sums):
            name = f"blocks.{k}.add" if form == "float" else "add" if k == 0 else f"add_{k}"
            stages.append((sums[k - 1].output if k else start, layer.output, name))
        stages.append((sums[-1].output, dense.output, "head"))
        far: list[float] = []
        outside: list[float] = []
        for source, end, name in stages:
            wanted = tf.keras.Model(source, end)(fed).numpy()
            got = recorded[f"{form}/{name}"].reshape(wanted.shape)
            unit, inside = np.abs(wanted).max(), np.ones(wanted.shape, bool)
            if f"step/{form}/{name}" in recorded:
                low, high = recorded[f"range/{name}"]
                unit, inside = float(recorded[f"step/{form}/{name}"]), (wanted >= low) & (wanted <= high)
            far.append(float(np.abs(got - wanted)[inside].max() / unit))
            outside.append(float(1 - inside.mean()))
            fed = got
        print(f"{form}: stem {far[0]:.2g}, blocks up to {max(far[1:-1]):.3g} (halving ones ", end="")
        print(f"{max(far[k] for k in (5, 9, 13)):.3g}), head {far[-1]:.2g}; outside a range {max(outside):.2%}")


def compare_engines(model: Any, layers: list[tuple[Any, str]], recorded: Any, x: np.ndarray) -> None:
    """End to end: where the module's signs leave those of Larq's model, and Larq Compute Engine's probabilities."""
    import larq_compute_engine as lce
    import tensorflow as tf

    outputs = tf.keras.Model(model.input, [layer.output for layer, _ in layers])(x, training=False)
    read = [k for k in range(len(layers) - 1) if layers[k + 1][1].endswith(".relu") and "sections" in layers[k + 1][1]]
    apart = [(outputs[k].numpy() >= 0) != (recorded[f"float/{layers[k][1]}"] >= 0) for k in read]
    first = next((k for k in range(len(read)) if apart[k].any()), None)
    print(f"end to end: {sum(a.sum() for a in apart)} of {sum(a.size for a in apart)} signs differ", end="")
    if first is not None:
        values = np.abs(outputs[read[first]].numpy()[apart[first]])
        print(
            f", first {len(values)} behind {layers[read[first]][1]} where Larq's values are at most {values.max():.1e}",
            end="",
        )
    print()
    theirs = lce.testing.Interpreter(lce.convert_keras_model(model)).predict(x)
    logits = recorded["float/head"] - recorded["float/head"].max(1, keepdims=True)
    ours = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    print(f"Larq Compute Engine: probabilities within {np.abs(theirs - ours).max():.1e}, the largest {ours.max():.1e}")


def compare_layers(model: Any, layers: list[tuple[Any, str]], recorded: Any, form: str, fed: np.ndarray) -> None:
    """Each of Larq's layers on what ours fed its own layer: sums over the largest value, rounded tensors in steps."""
    shortcut, branch, sums = fed, fed, 0
    worst: dict[str, float] = {}
    pooling = next(layer for layer in model.layers if "average_pooling" in layer.name)
    for layer, target in layers:
        if target.startswith("sections") and target.endswith("norm"):
            branch = layer(fed, training=False).numpy()  # the converted network adds the shortcut before it rounds
            continue
        if target.endswith("add"):
            wanted, key = branch + shortcut, target if form == "float" else "add" if sums == 0 else f"add_{sums}"
            sums += 1
        else:
            wanted = layer(pooling(fed) if target == "pool" else fed, training=False).numpy()
            key = key_of(target, recorded, form)
        got = recorded[f"{form}/{key}"].reshape(wanted.shape)
        if f"step/{form}/{key}" in recorded:
            low, high, step = (
                recorded[f"range/{key}"][0],
                recorded[f"range/{key}"][1],
                float(recorded[f"step/{form}/{key}"]),
            )
            inside = (wanted >= low) & (wanted <= high)
            far, unit = float(np.abs(got - wanted)[inside].max() / step), "steps"
            print(f"{form:5} {target:20} {far:.3f} steps; {100 * (1 - inside.mean()):.2f} % outside the range")
        else:
            far = float(np.abs(got - wanted).max() / np.abs(wanted).max())
            unit = "binary" if target.startswith("sections") and target.endswith("relu") else "other"
            print(f"{form:5} {target:20} {far:.1e} of the largest value")
        worst[unit] = max(worst.get(unit, 0.0), far)
        fed = got
        if target.endswith(("add", "norm")) or target == "stem.8":
            shortcut = got
    print(f"{form}: {len(layers)} layers, worst {worst}")


def key_of(target: str, recorded: Any, form: str) -> str:
    """The name that the converted network gives to this layer: levels have Keras's names, known by their shapes."""
    if f"{form}/{target}" in recorded:
        return target
    shape = recorded[f"float/{target}"].shape[1:]
    replay_layers = [
        key for key in recorded.files if key.startswith(f"{form}/quant_conv2d") and recorded[key].shape[1:] == shape
    ]
    return replay_layers[0].partition("/")[2]


if __name__ == "__main__":
    verb, folder_name, *rest = sys.argv[1:]
    verbs = {"images": images, "fixture": fixture, "weights": weights, "values": values, "compare": compare}
    (verbs | {"uneven": uneven, "resnet_fixture": resnet_fixture})[verb](Path(folder_name), *rest)
