"""What a user would pick instead: a frozen ImageNet network in floating point with a linear head, beside ours.

    python experiments/instead.py --data DIR --cache runs/instead --networks quicknet quicknet@1:128 react_tiny
    python experiments/instead.py --data DIR --cache runs/instead --networks quicknet --components 128 256
    python experiments/instead.py --data DIR --cache runs/instead --peers efficientnet-lite0
    python experiments/instead.py --data DIR --cache runs/instead --int8-peer lite0_int8.onnx        # of int8_peer.py

DIR has a folder a set, with train/CLASS/ and test/CLASS/ inside: photographs that no shipped network has seen, laid
out by photograph_sets.py (docs/instead.md). Of each class 5, 10, 20 or 40 training pictures are learned, drawn from
the set's and the class's name; at most 1,500 test pictures are asked. A network is a name or a file, with `:SIZE` for
another size of pictures than its own; it learns by exact sums, in whole numbers. A peer gives its pooled features in
float32, and the head is the same discriminant in float64, nearest class mean, or softmax regression. Rows go to
results/instead.csv.
"""

from __future__ import annotations

import argparse
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rows import RESULTS, append

from bitreplay import zoo
from bitreplay.data.pictures.picture import read
from bitreplay.data.pictures.resize import center_square, resize
from bitreplay.engine import native_sums
from bitreplay.engine.bit_widths import Bits
from bitreplay.engine.projection import Projection
from bitreplay.engine.shrinkage import EXACT, Shrinkage
from bitreplay.engine.sums import Sums
from bitreplay.parts.feature_extractor import FeatureExtractor
from bitreplay.prediction.discriminant_predictor import IntegerDiscriminant
from bitreplay.zoo import model_projections

HEADER = ["set", "classes", "network", "digest", "size", "head", "pictures_a_class", "tested", "accuracy"]
EACH, MAX_TESTED = (5, 10, 20, 40), 1500
PEER_SIZES = {"efficientnet-lite0": 224, "efficientnet-lite1": 240, "efficientnet-lite2": 260}
Rule = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]  # learned, their labels, asked -> answers
PICTURES = 8  # of shrunk means, as in engine/shrunk_means.py


class PhotographSet(NamedTuple):
    """`order` is a training picture's place among those of its class, -1 for test pictures."""

    name: str
    files: list[Path]
    labels: np.ndarray
    order: np.ndarray


def photographs(folder: Path, most: int = max(EACH)) -> PhotographSet:
    """With at most so many training pictures of a class."""
    rows: list[tuple[Path, int, int]] = []
    classes = sorted(path.name for path in (folder / "train").iterdir())
    for label, name in enumerate(classes):
        in_class = sorted((folder / "train" / name).iterdir())
        chosen = np.random.default_rng(zlib.crc32(f"{folder.name}/{name}".encode())).permutation(len(in_class))
        for number, index in enumerate(chosen[:most]):
            rows.append((in_class[index], label, number))
    tested = [
        (file, label)
        for label, name in enumerate(classes)
        if (folder / "test" / name).is_dir()
        for file in sorted((folder / "test" / name).iterdir())
    ]
    for index in sorted(np.random.default_rng(0).permutation(len(tested))[:MAX_TESTED]):
        rows.append((*tested[index], -1))
    files, labels, order = zip(*rows, strict=True)
    return PhotographSet(folder.name, list(files), np.array(labels), np.array(order))


def squares(data: PhotographSet, size: int, cache_folder: Path) -> np.ndarray:
    """(N, size, size, 3) uint8 by the rules of the picture door; decoded alike for every size."""
    path = cache_folder / f"{data.name}_{size}.npy"
    if not path.exists():
        cache_folder.mkdir(parents=True, exist_ok=True)
        images = np.empty((len(data.files), size, size, 3), np.uint8)
        for number, file in enumerate(data.files):
            images[number] = resize(center_square(read(file)), size)
        np.save(path, images)
    return np.load(path, mmap_mode="r")


# --- ours


def of_network(
    data: PhotographSet,
    model: zoo.Model,
    size: int,
    cache_folder: Path,
    layers: str | None = None,
    components: int | None = None,
) -> tuple[np.ndarray, FeatureExtractor]:
    """The numbers of each picture as a learner has them that names these layers, so many components, or neither."""
    return encoded(data, model, size, cache_folder, *model_projections.resolve(model, layers, components, None))


def encoded(
    data: PhotographSet, model: zoo.Model, size: int, cache_folder: Path, layers: str, projection: Projection | None
) -> tuple[np.ndarray, FeatureExtractor]:
    features = FeatureExtractor(model.at_size(size), layers, Bits(), projection=projection)
    tag = layers.replace("/", "_") if projection is None else projection.digest()[:12]
    path = cache_folder / f"{data.name}_{size}_{model.digest[:12]}_{tag}.npy"
    if not path.exists():
        images = squares(data, size, cache_folder)
        parts = [features.extract(np.asarray(images[k : k + 64])) for k in range(0, len(images), 64)]
        np.save(path, np.concatenate(parts))
    return np.load(path), features


def by_sums(
    x: np.ndarray, labels: np.ndarray, queries: np.ndarray, lengths: Sequence[int], shrinkage: Shrinkage = EXACT
) -> np.ndarray:
    sums = Sums.empty(x.shape[1], int(labels.max()) + 1)
    native_sums.add(sums, np.ascontiguousarray(x), labels)
    return IntegerDiscriminant(sums, lengths, shrinkage).labels(np.ascontiguousarray(queries))


# --- the peers


def of_peer(data: PhotographSet, name: str, weights: Path | None, cache_folder: Path) -> np.ndarray:
    import torch

    from bitreplay.torch.models.efficientnet_lite import pretrained

    path = cache_folder / f"{data.name}_{name}.npy"
    if not path.exists():
        teacher = pretrained(name, weights).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        teacher.fold_batchnorm()
        images, batches = squares(data, PEER_SIZES[name], cache_folder), []
        with torch.inference_mode():
            for k in range(0, len(images), 8):
                view = torch.from_numpy(np.array(images[k : k + 8])).permute(0, 3, 1, 2).float() / 127.5 - 1
                batches.append(teacher.features(view.contiguous(memory_format=torch.channels_last)).numpy())
        np.save(path, np.concatenate(batches))
    return np.load(path)


def of_int8_peer(data: PhotographSet, file: Path, cache_folder: Path) -> np.ndarray:
    from int8_peer import SIZE, features

    path = cache_folder / f"{data.name}_{file.stem}.npy"
    if not path.exists():
        np.save(path, features(file, squares(data, SIZE, cache_folder)))
    return np.load(path)


def class_means(x: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return np.stack([x[labels == label].mean(axis=0) for label in range(labels.max() + 1)])


def discriminant(x: np.ndarray, labels: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """The rule of exact sums in float64: shrunk covariance, shrunk means."""
    (n, d), means, counts = x.shape, class_means(x, labels), np.bincount(labels)
    within = x - means[labels]
    covariance = within.T @ within / n
    covariance += min(1.0, d / n) * np.diagonal(covariance).mean() * np.eye(d)
    middle, share = x.mean(axis=0), (counts / (counts + PICTURES))[:, None]
    away = share * (means - middle)
    weights = np.linalg.solve(covariance, away.T)
    return ((queries - middle) @ weights - 0.5 * (away.T * weights).sum(axis=0)).argmax(axis=1)


def nearest_mean(x: np.ndarray, labels: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """By the cosine."""
    means, queries = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (class_means(x, labels), queries))
    return (queries @ means.T).argmax(axis=1)


def softmax_regression(x: np.ndarray, labels: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """On standardised features, decay 0.01, 100 steps of L-BFGS."""
    import torch

    middle, deviation = x.mean(axis=0), x.std(axis=0) + 1e-6
    data = torch.from_numpy(((x - middle) / deviation).astype(np.float32))
    head = torch.nn.Linear(x.shape[1], int(labels.max()) + 1)
    torch.nn.init.zeros_(head.weight), torch.nn.init.zeros_(head.bias)
    optimizer, truth = torch.optim.LBFGS(head.parameters(), max_iter=100), torch.from_numpy(labels)

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        value = torch.nn.functional.cross_entropy(head(data), truth) + 0.005 * head.weight.square().sum()
        value.backward()
        return value

    optimizer.step(loss)
    with torch.no_grad():
        return head(torch.from_numpy(((queries - middle) / deviation).astype(np.float32))).argmax(1).numpy()


HEADS: dict[str, Rule] = {
    "discriminant": discriminant,
    "nearest class mean": nearest_mean,
    "softmax regression": softmax_regression,
}


class Contestant(NamedTuple):
    """A picture's features, and what makes answers of those of the pictures that are learned."""

    network: str
    digest: str
    size: int
    head: str
    features: np.ndarray
    rule: Rule


def contestants(data: PhotographSet, args: argparse.Namespace) -> Iterator[Contestant]:
    for text in args.networks:
        name, _, size = text.partition(":")
        model = zoo.find(name)
        side = int(size or model.graph.input_shape[0])
        heads: dict[str, tuple[str | None, int | None]] = {"exact": (None, None)}
        if args.all_features:
            heads = {"exact, all features": (model_projections.resolve(model, None, None, None)[0], None)}
        if args.components:
            heads = {f"exact, {count} components": (None, count) for count in args.components}
        for head, (layers, count) in heads.items():
            x, extractor = of_network(data, model, side, args.cache, layers, count)
            sums = partial(by_sums, lengths=extractor.lengths, shrinkage=extractor.shrinkage)
            yield Contestant(name, model.digest[:12], side, head, x, sums)
    peers = [(name, PEER_SIZES[name], of_peer(data, name, args.peer_weights, args.cache)) for name in args.peers]
    if args.int8_peer:
        peers.append(("efficientnet-lite0 int8", 224, of_int8_peer(data, args.int8_peer, args.cache)))
    for name, side, features in peers:
        for head, rule in HEADS.items():
            yield Contestant(name, "", side, head, features.astype(np.float64), rule)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path("runs/instead"))
    parser.add_argument("--sets", nargs="*", help="all folders of DIR, unless named")
    parser.add_argument("--networks", nargs="*", default=[])
    parser.add_argument(
        "--components", nargs="*", type=int, default=[], help="project the networks' features to so many"
    )
    parser.add_argument(
        "--all-features", action="store_true", help="the layers that are read by default, without a prior"
    )
    parser.add_argument("--peers", nargs="*", default=[], choices=list(PEER_SIZES))
    parser.add_argument("--peer-weights", type=Path, help="file of the peer's package, where that is not installed")
    parser.add_argument("--int8-peer", type=Path, help="file of int8_peer.py")
    args = parser.parse_args()
    names = args.sets or sorted(folder.name for folder in args.data.iterdir() if (folder / "train").is_dir())
    for data in (photographs(args.data / name) for name in names):
        tested, classes = data.order < 0, int(data.labels.max()) + 1
        for one in contestants(data, args):
            for each in EACH:
                chosen = (data.order >= 0) & (data.order < each)
                answers = one.rule(one.features[chosen], data.labels[chosen], one.features[tested])
                right = round(100 * float((answers == data.labels[tested]).mean()), 2)
                row = [data.name, classes, one.network, one.digest, one.size, one.head, each, len(answers), right]
                append(RESULTS / "instead.csv", HEADER, row)


if __name__ == "__main__":
    main()
