r"""Which layers `exact` reads of a network, and what a prior is worth, chosen on training pictures alone.

    python experiments/feature_choice.py --data DIR --cache runs/instead --network efficientnet_lite0 \
        --layers head head+add_8 head+add_8/4 head+add_8+add_5/4 --components 128 256 512 896

DIR is that of instead.py. Of the 40 training pictures of a class that are drawn there, the first 5, 10 or 20 are
learned and the last 20 asked; no test picture is seen. Rows go to results/feature_choice.csv.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from instead import by_sums, of_network, photographs
from rows import RESULTS, append

from bitreplay import zoo

HEADER = ["set", "network", "digest", "size", "features", "count", "pictures_a_class", "asked", "accuracy"]
LEARNED, ASKED_FROM = (5, 10, 20), 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path("runs/instead"))
    parser.add_argument("--network", required=True, help="name or file, with :SIZE for another size than its own")
    parser.add_argument("--layers", nargs="*", default=[], help="feature layers, each choice on its own")
    parser.add_argument("--components", nargs="*", type=int, default=[], help="of the network's companion")
    args = parser.parse_args()
    name, _, size = args.network.partition(":")
    model = zoo.find(name)
    side = int(size or model.size)
    choices = [(layers, None) for layers in args.layers] + [(None, count) for count in args.components]
    for folder in sorted(path for path in args.data.iterdir() if (path / "train").is_dir()):
        data = photographs(folder)
        asked = data.order >= ASKED_FROM
        for layers, components in choices:
            x, extractor = of_network(data, model, side, args.cache, layers, components)
            for each in LEARNED:
                learned = (data.order >= 0) & (data.order < each)
                answers = by_sums(x[learned], data.labels[learned], x[asked], extractor.lengths, extractor.shrinkage)
                right = round(100 * float((answers == data.labels[asked]).mean()), 2)
                described = layers or f"{components} components"
                row = [data.name, name, model.digest[:12], side, described, x.shape[1], each, len(answers), right]
                append(RESULTS / "feature_choice.csv", HEADER, row)


if __name__ == "__main__":
    main()
