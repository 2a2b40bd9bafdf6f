r"""Which layers `exact` reads of a network, and what a prior is worth, chosen on training pictures alone.

    python experiments/feature_choice.py --data DIR --cache runs/instead --network efficientnet_lite0 \
        --layers head head+add_8 head+add_8/4 head+add_8+add_5/4 --components 128 256 512 960
    python experiments/feature_choice.py --data CHOICE --network efficientnet_lite0 --layers head head+add_8+add_5/4
    python experiments/feature_choice.py --data DIR --network efficientnet_lite0 --companions trial.safetensors

DIR is that of instead.py. Of the 40 training pictures of a class that are drawn there, the first 5, 10 or 20 are
learned and the last 20 asked; no test picture is seen. CHOICE has the sets that are for choices alone
(photograph_sets.py --choice): up to 40 pictures of a class are learned, and those set aside are asked. A companion is a
projection file of projection.py `make --companion`. Rows go to results/feature_choice.csv.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from instead import PhotographSet, by_sums, encoded, photographs
from photograph_sets import CHOICE_SETS
from rows import RESULTS, append

from bitreplay import zoo
from bitreplay.engine.projection import Projection
from bitreplay.modelfile.projection_file import ProjectionFile, load
from bitreplay.zoo import model_projections

HEADER = ["set", "network", "digest", "size", "features", "count", "pictures_a_class", "asked", "accuracy"]
LEARNED, ASKED_FROM = (5, 10, 20), 20


def asked_of(data: PhotographSet) -> tuple[tuple[int, ...], np.ndarray]:
    """How many are learned, and which pictures are asked."""
    if data.name in CHOICE_SETS:
        return (*LEARNED, 40), data.order < 0
    return LEARNED, data.order >= ASKED_FROM


def described(file: ProjectionFile) -> str:
    axes, shrinkage = file.projection, file.projection.shrinkage
    constants = f"{shrinkage.cap} {shrinkage.factor} {shrinkage.pictures}"
    return f"{len(axes)} components of {axes.feature_layers}, share {file.about['share']}, constants {constants}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path("runs/instead"))
    parser.add_argument("--network", required=True, help="name or file, with :SIZE for another size than its own")
    parser.add_argument("--layers", nargs="*", default=[], help="feature layers, each choice on its own")
    parser.add_argument("--components", nargs="*", type=int, default=[], help="of the network's companion")
    parser.add_argument("--companions", nargs="*", type=Path, default=[], help="projection files")
    args = parser.parse_args()
    name, _, size = args.network.partition(":")
    model = zoo.find(name)
    side = int(size or model.size)
    choices: dict[str, tuple[str, Projection | None]] = {layers: (layers, None) for layers in args.layers}
    for count in args.components:
        choices[f"{count} components"] = model_projections.resolve(model, None, count, None)
    for file in args.companions:
        found = load(file)
        choices[described(found)] = found.projection.feature_layers, found.projection
    for folder in sorted(path for path in args.data.iterdir() if (path / "train").is_dir()):
        data = photographs(folder)
        learned_counts, asked = asked_of(data)
        for features, (layers, projection) in choices.items():
            x, extractor = encoded(data, model, side, args.cache, layers, projection)
            for each in learned_counts:
                learned = (data.order >= 0) & (data.order < each)
                answers = by_sums(x[learned], data.labels[learned], x[asked], extractor.lengths, extractor.shrinkage)
                right = round(100 * float((answers == data.labels[asked]).mean()), 2)
                row = [data.name, name, model.digest[:12], side, features, x.shape[1], each, len(answers), right]
                append(RESULTS / "feature_choice.csv", HEADER, row)


if __name__ == "__main__":
    main()
