r"""Small memories: the numbers of a picture projected to 128, 256, 512 or 1,024 by fixed axes.

    python experiments/projection.py make --models react18 --axes 1024
    python experiments/projection.py make --models quicknet@2 --axes 256 --pool DIR --part-weights 1.5 1 0.6
    python experiments/projection.py make --models efficientnet_lite0 --prior --axes 960 --default 960 --pool DIR \
        --feature-layers head+add_8+add_5/4 --share 0.3 --shrinkage 2,1/2,4
    python experiments/projection.py choose --data-name cifar10 --n-components 128 512
    python experiments/projection.py measure --models react18 bireal18 --data-name cifar10 [--each 500]

`make` finds axes on 40,000 training images of Tiny-ImageNet, or on 24,000 photographs of a pool
(docs/pretraining.md), and writes the companion NAME.projection.safetensors beside the model; with a prior, axes that
whiten a target (zoo/prior_axes.py), roots, and constants of shrinkage. `choose` compares ways
to find them: one half of CIFAR's training images learns, 30 a class or all, and 8,000 of the other half are asked
(results/projection_choice.csv). `measure` learns all training images and asks the test set, in whole numbers; a row
of results/projection.csv counts the bytes of all that is kept: products and class sums (state), axes (flash). `signs`
are random signs in the place of the axes.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from fractions import Fraction
from itertools import chain, islice
from pathlib import Path

import numpy as np
from groceries import coded
from networks import published
from rows import RESULTS, append

from bitreplay.data.cifar import cifar10, cifar100
from bitreplay.data.groceries import groceries
from bitreplay.data.tiny_imagenet import tiny_imagenet
from bitreplay.engine import native_sums
from bitreplay.engine.arithmetic.fixedpoint import round_shift, saturate, wide
from bitreplay.engine.feature_program import default_feature_layers
from bitreplay.engine.projection import Projection
from bitreplay.engine.shrinkage import EXACT, Shrinkage
from bitreplay.engine.sums import Sums
from bitreplay.learner import Learner
from bitreplay.modelfile.projection_file import KIND, ProjectionFile, load, save
from bitreplay.prediction.discriminant_predictor import IntegerDiscriminant
from bitreplay.torch.distillation.pool import parts_of, square
from bitreplay.zoo import find
from bitreplay.zoo.principal_axes import SPREAD, covariance, principal_axes, rounded
from bitreplay.zoo.prior_axes import NEIGHBOURS, PRIOR, SHARE, prior_axes, rooted

SETS = {"cifar10": cifar10, "cifar100": cifar100, "groceries": groceries}
AXES, PICTURES, POOLED = (128, 256, 512, 1024), 40_000, 24_000
HEADER = ["data", "model", "digest", "axes", "projection", "n_components", "pictures", "accuracy", "products_bytes",
          "class_sums_bytes", "projection_bytes"]  # fmt: skip


def pretraining(learner: Learner, data: Path | None, codes: Path | None) -> tuple[np.ndarray, np.ndarray]:
    """Numbers and classes of 40,000 training images."""
    dataset = tiny_imagenet(data)
    chosen = np.random.default_rng(0).permutation(len(dataset.train_labels))[:PICTURES]
    cache_file = cache_path(learner, "tiny_imagenet", codes)
    if cache_file is None or not cache_file.exists():
        x = np.concatenate([learner.encode(dataset.train_images[part]) for part in np.array_split(chosen, 20)])
        if cache_file is None:
            return x, dataset.train_labels[chosen]
        np.savez(cache_file, x=x)
    with np.load(cache_file) as archive:
        return archive["x"], dataset.train_labels[chosen]


def photographs(learner: Learner, pool: Path) -> np.ndarray:
    """Features of photographs of a pool, every k-th of them."""
    side, parts = learner.strategy.side, parts_of(pool)
    every = -(-sum(1 for part in parts for _ in part.encoded()) // POOLED)
    chosen = islice(chain.from_iterable(part.encoded() for part in parts), 0, None, every)
    rows = []
    while batch := list(islice(chosen, 256)):
        images = [image for image in (square(encoded, side) for encoded in batch) if image is not None]
        rows.append(learner.encode(np.stack(images)))
    return np.concatenate(rows)


def cache_path(learner: Learner, data: str, codes: Path | None) -> Path | None:
    """Where the numbers of pictures are kept between runs."""
    assert learner.model is not None
    return (
        codes
        and codes / f"{data}-{learner.model.digest[:12]}-8-{str(learner.settings.feature_layers).replace('/', '_')}.npz"
    )


def signs(feature_layers: int, axes: int) -> np.ndarray:
    return np.random.default_rng(0).choice([-1.0, 1.0], (axes, feature_layers)) / np.sqrt(feature_layers)


def projected(projection: Projection, x: np.ndarray) -> np.ndarray:
    """As Projection.of; float64 holds the products exactly, |sum| < 2^27, and is faster."""
    x = rooted(x) if projection.root else x
    products = np.concatenate([part.astype(np.float64) @ projection.axes.T for part in np.array_split(x, 40)])
    total = products.astype(np.int64) * wide(projection.scales) + projection.offsets
    return saturate(round_shift(total, projection.shift), -127, 127).astype(np.int8)


def accuracy(
    x: np.ndarray, labels: np.ndarray, queries: np.ndarray, truth: np.ndarray, shrinkage: Shrinkage = EXACT
) -> tuple[float, Sums]:
    """What learning by sums answers, in whole numbers, and its sums."""
    sums = Sums.empty(x.shape[1], int(labels.max()) + 1)
    native_sums.add(sums, x, labels)
    answers = IntegerDiscriminant(sums, [x.shape[1]], shrinkage).labels(queries)
    return round(100 * float((answers == truth).mean()), 2), sums


def unprojected(name: str, feature_layers: str | None = None) -> Learner:
    """On all features of the model's own layers, or of these, whatever its companion says."""
    model = find(published(name))
    return Learner.from_pretrained(model, feature_layers=feature_layers or default_feature_layers(model.graph))


def shrinkage(text: str) -> Shrinkage:
    """ "2,1/2,4" for lambda = min(2, d / 2n) and k = 4."""
    cap, factor, pictures = text.split(",")
    return Shrinkage(int(cap), Fraction(factor), int(pictures))


def make(args: argparse.Namespace) -> None:
    for name in args.models:
        learner = unprojected(name, args.feature_layers)
        model, feature_layers = learner.model, str(learner.settings.feature_layers)
        lengths = learner.strategy.features.lengths  # type: ignore[attr-defined]
        assert model is not None
        x = photographs(learner, args.pool) if args.pool else pretraining(learner, args.data, args.codes)[0]
        weights, axes = None if args.part_weights is None else np.repeat(args.part_weights, lengths), args.axes
        if args.prior:
            made = prior_axes(x, feature_layers, lengths, min(axes, x.shape[1]), args.share, args.shrinkage)
        else:
            made = principal_axes(x, feature_layers, min(axes, x.shape[1]), weights=weights)
        data = "photographs of the pool" if args.pool else "Tiny-ImageNet, training images"
        about = {"data": data, "pictures": len(x), "spread": SPREAD, "part_weights": args.part_weights,
                 "made_by": "experiments/projection.py make"}  # fmt: skip
        if args.prior:
            about |= {"target": "neighbours", "neighbours": NEIGHBOURS, "share": args.share}
        file = args.companion or model.companion(KIND)
        save(ProjectionFile(made, model.digest, about, args.default), file)
        print(file, len(made), "axes of", x.shape[1], made.digest())


def ways(learner: Learner, x: np.ndarray, classes: np.ndarray, axes: int) -> Iterator[tuple[str, Projection]]:
    """Other axes and other units. `within W`: the directions of the largest v^T T v / v^T (I + W D) v, T the
    covariance, I its mean within classes, D for each part of x the mean of T's diagonal; as unit vectors."""
    feature_layers, (middle, total) = str(learner.settings.feature_layers), covariance(x)
    values, vectors = np.linalg.eigh(total)
    axes_by_variance = vectors[:, ::-1][:, :axes].T
    for spread in (32.0, SPREAD):
        yield f"principal, spread {spread:g}", rounded(axes_by_variance, middle, total, feature_layers, spread)
    whitened = axes_by_variance / np.sqrt(np.maximum(values[::-1][:axes], 1e-6))[:, None]
    yield "principal, whitened", rounded(whitened, middle, total, feature_layers, 32.0)
    yield "signs", rounded(signs(x.shape[1], axes), middle, total, feature_layers, SPREAD)
    counts = np.bincount(classes)
    means = np.stack([x[classes == c].mean(axis=0) for c in range(len(counts))]) - middle
    inside, units, end = total - (means.T * counts) @ means / len(x), np.empty(len(total)), 0
    for length in learner.strategy.features.lengths:  # type: ignore[attr-defined]
        units[end : end + length] = total.diagonal()[end : end + length].mean()
        end += length
    for within in (1.0, 0.1):
        root = np.linalg.inv(np.linalg.cholesky(inside + within * np.diag(units)))
        directions = (root.T @ np.linalg.eigh(root @ total @ root.T)[1][:, ::-1][:, :axes]).T
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        yield f"within {within:g}", rounded(directions, middle, total, feature_layers, SPREAD)


def choose(args: argparse.Namespace) -> None:
    for name in args.models:
        learner = unprojected(name)
        x, classes = pretraining(learner, args.tiny, args.codes)
        data = SETS[args.data_name](args.data)
        train, _, _ = coded(learner, data, cache_path(learner, args.data_name, args.codes))
        order = np.random.default_rng(0).permutation(len(train))
        learn, ask = order[: len(order) // 2], order[len(order) // 2 :][:8000]
        labels = data.train_labels[learn]
        few = np.concatenate([np.flatnonzero(labels == c)[:30] for c in range(labels.max() + 1)])
        for way, made in ways(learner, x, classes, max(args.n_components)):
            for k in args.n_components:
                y, queries = (projected(made.first(k), train[part]) for part in (learn, ask))
                for chosen in (few, np.arange(len(labels))):
                    share, _ = accuracy(y[chosen], labels[chosen], queries, data.train_labels[ask])
                    append(args.results, ["data", "model", "way", "n_components", "pictures", "accuracy"],
                           [args.data_name, name, way, k, len(chosen), share])  # fmt: skip


def measure(args: argparse.Namespace) -> None:
    data = SETS[args.data_name](args.data)
    for name in args.models:
        learner = unprojected(name)
        model = learner.model
        assert model is not None
        train, test, _ = coded(learner, data, cache_path(learner, args.data_name, args.codes))
        first = [np.flatnonzero(data.train_labels == c)[: args.each] for c in range(data.train_labels.max() + 1)]
        learned = np.sort(np.concatenate(first))
        train, labels = train[learned], data.train_labels[learned]
        shipped = load(model.companion(KIND)).projection
        middle, total = covariance(pretraining(learner, args.tiny, args.codes)[0])
        random = rounded(signs(train.shape[1], len(shipped)), middle, total, shipped.feature_layers, SPREAD)
        for axes, projection in (("principal", shipped), ("signs", random)):
            for k in (k for k in args.n_components if k <= len(projection)):
                chosen = projection.first(k)
                if axes == "principal":  # the engine's own is this one
                    encoded = Learner.from_pretrained(model, n_components=k).encode(data.test_images[:64])
                    assert np.array_equal(encoded, projected(chosen, test[:64]))
                y, queries = projected(chosen, train), projected(chosen, test)
                share, sums = accuracy(y, labels, queries, data.test_labels, chosen.shrinkage)
                append(args.results, HEADER, [
                    args.data_name, model.name, model.digest[:12], axes, chosen.digest()[:12], k, len(train), share,
                    sums.products.nbytes, sums.class_sums.nbytes + sums.counts.nbytes, chosen.bytes,
                ])  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, run in (("make", make), ("choose", choose), ("measure", measure)):
        command = commands.add_parser(name)
        command.set_defaults(run=run)
        command.add_argument("--models", nargs="+", default=["react18"])
        command.add_argument("--data", type=Path, help="the folder of the set; else it is looked for in BITREPLAY_DATA")
        command.add_argument("--codes", type=Path, help="folder that keeps the numbers of pictures between runs")
        if name == "make":
            command.add_argument("--axes", type=int, default=max(AXES))
            command.add_argument("--pool", type=Path, help="a pool of photographs in the place of Tiny-ImageNet")
            command.add_argument("--prior", action="store_true", help="axes that whiten a target, of roots")
            command.add_argument("--share", type=float, default=SHARE, help="of neighbours in the prior's target")
            command.add_argument(
                "--shrinkage", type=shrinkage, default=PRIOR, metavar="CAP,FACTOR,K", help="the prior's constants"
            )
            command.add_argument("--companion", type=Path, help="the file to write; the model's own by default")
            command.add_argument("--default", type=int, help="components of a learner that names none")
            command.add_argument("--feature-layers", help="those that are projected; the default ones of the network")
            command.add_argument("--part-weights", type=float, nargs="+", help="of each feature layer, on correlations")
            continue
        command.add_argument("--data-name", default="cifar10", choices=sorted(SETS))
        command.add_argument("--n-components", type=int, nargs="+", default=list(AXES))
        file = "projection.csv" if name == "measure" else "projection_choice.csv"
        command.add_argument("--results", type=Path, default=RESULTS / file)
        if name == "measure":
            command.add_argument("--each", type=int, help="training images a class, the first ones; all by default")
        command.add_argument("--tiny", type=Path, help="the folder of Tiny-ImageNet")
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
