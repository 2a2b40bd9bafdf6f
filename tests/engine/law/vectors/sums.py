"""Inputs of docs/law/sums.json and ood.json (sections 13 and 14), in the form of sections.py."""

from __future__ import annotations

from typing import Any

from tests.engine.law.oracles import sums as oracle_sums

FEW: list[Any] = [[[3, 1], [5, 1], [-3, 0], [-5, 2]], [0, 0, 1, 1]]
EXTREME: list[Any] = [[[127, -127, 127], [-127, 127, 127], [127, 127, -127], [-127, -127, -127]], [0, 1, 0, 1]]


def of(pictures: Any, labels: Any, classes: int) -> list[Any]:
    n_features = len(pictures[0]) if pictures else 2
    return list(oracle_sums.add(oracle_sums.empty(n_features, classes), pictures, labels))


SEVEN = of([[9, -4, 0, 7], [8, -3, 1, 7], [7, -6, -1, 7], [-20, 5, 2, 7], [-22, 4, 2, 7], [1, 90, 3, 7],
            [3, 80, -1, 7]], [0, 0, 0, 1, 1, 2, 2], 4)  # fmt: skip
MANY = [[2**30, 2**30 - 1], [[127 * 2**30, 5], [-127 * (2**30 - 1), 7]],
        [16129 * (2**31 - 1), 0, 2**31 - 1]]  # fmt: skip


def pixel(red: int, green: int) -> list[int]:
    return [red, green, (red + green) % 256]


GREY = [[[0, 0, 0], [10, 1, 255]], [[20, 0, 255], [32, 1, 255]]]
SIX: list[Any] = [[[9, -4], [8, -3], [7, -6], [-20, 5], [-22, 4], [1, 90]], [0, 0, 0, 1, 1, 2]]


def chosen(*pictures: int) -> list[Any]:
    """The sums of some of the six."""
    return of([SIX[0][k] for k in pictures], [SIX[1][k] for k in pictures], 3)


PICTURES = [1, 2, 127, 128, 129, 320, 1280, 5120, 2**19, 2**21, 2**31 - 1]
SHRUNK = [("four pictures", of(FEW[0], FEW[1], 2), [2]), ("a class without pictures", SEVEN, [4]),
          ("all +-127", of(EXTREME[0], EXTREME[1], 2), [3]), ("2^31 - 1 pictures", MANY, [2])]  # fmt: skip

SUMS: dict[str, list[tuple[str, str, dict[str, Any]]]] = {
    "sums": [
        ("four pictures", "add_pictures", {"n_features": 2, "classes": 2, "added": FEW, "taken": [[], []]}),
        ("one taken away", "add_pictures", {"n_features": 2, "classes": 2, "added": FEW, "taken": [[[5, 1]], [0]]}),
        ("the ends", "add_pictures", {"n_features": 3, "classes": 3, "added": EXTREME, "taken": [[], []]}),
        ("four pictures", "discriminant_of", {"sums": of(FEW[0], FEW[1], 2), "parts": [2], "lambdas": None}),
        ("two parts", "discriminant_of", {"sums": of(FEW[0], FEW[1], 2), "parts": [1, 1], "lambdas": None}),
        ("lambda 1/1024 and 8", "discriminant_of", {"sums": of(FEW[0], FEW[1], 2), "parts": [1, 1],
                                                    "lambdas": [[1, 1024], [8, 1]]}),
        ("one picture a class: the nearest mean", "discriminant_of",
         {"sums": of([[4, -2], [6, 6]], [0, 1], 2), "parts": [2], "lambdas": None}),
        ("one picture", "discriminant_of", {"sums": of([[4, -2]], [1], 2), "parts": [2], "lambdas": None}),
        ("a part that is constant, a class without pictures", "discriminant_of",
         {"sums": SEVEN, "parts": [3, 1], "lambdas": None}),
        ("all +-127", "discriminant_of", {"sums": of(EXTREME[0], EXTREME[1], 2), "parts": [3], "lambdas": None}),
        ("2^31 - 1 pictures", "discriminant_of", {"sums": MANY, "parts": [2], "lambdas": None}),
        ("sums of no pictures: a row that is left out", "discriminant_of",
         {"sums": [[2, 2], [[8, 2], [-8, 2]], [68, 30, 6]], "parts": [2], "lambdas": None}),
        ("all features", "lambda_of", {"shrinkage": [1, 1, 4, 8], "pictures": PICTURES, "features": 512}),
        ("a prior", "lambda_of", {"shrinkage": [4, 1, 1, 4], "pictures": PICTURES, "features": 1280}),
        ("the ends", "lambda_of", {"shrinkage": [8, 64, 1, 1], "pictures": PICTURES, "features": 8192}),
        ("the other ends", "lambda_of", {"shrinkage": [1, 1, 64, 8], "pictures": PICTURES, "features": 1}),
        *((f"{name}, shrinkage {constants}", "answering_of", {"sums": sums, "parts": parts, "shrinkage": constants})
          for name, sums, parts in SHRUNK for constants in ([1, 1, 4, 8], [4, 1, 1, 4], [8, 64, 1, 1])),
        ("two classes and one without pictures", "scores",
         {"weights": [[2**30, -5], [3, 2**30], [0, 0]], "biases": [-7, 2**50, oracle_sums.ABSENT],
          "pictures": [[127, -127], [0, 0], [-127, 3]]}),
        ("one of three classes", "forget_class", {"sums": of(SIX[0], SIX[1], 3), "row": 0}),
        ("halves of both signs", "forget_class",
         {"sums": of([[1, 0], [0, 1], [1, 0], [0, -1], [5, 5]], [0, 0, 1, 1, 2], 3), "row": 0}),
        ("halves of both signs, the other class", "forget_class",
         {"sums": of([[1, 0], [0, 1], [1, 0], [0, -1], [5, 5]], [0, 0, 1, 1, 2], 3), "row": 1}),
        ("what a class leaves may be more than the pictures that stay", "forget_class",
         {"sums": of([[127, 127], [-127, 127], [127, -127], [-127, -127], [2, 1]], [0, 0, 0, 0, 1], 2), "row": 0}),
        ("2^31 - 1 pictures", "forget_class", {"sums": MANY, "row": 1}),
        ("two devices that began as one base", "merge_since",
         {"ours": chosen(0, 3, 1), "theirs": chosen(0, 3, 4, 5), "base": chosen(0, 3)}),
        ("the base itself", "merge_since", {"ours": chosen(0, 3), "theirs": chosen(0, 3), "base": chosen(0, 3)}),
        ("no base", "merge_since", {"ours": chosen(0, 3, 1), "theirs": chosen(2, 5), "base": chosen()}),
    ],
    "pictures": [
        ("its own size", "fit", {"picture": GREY, "side": 2}),
        ("halves go up", "fit", {"picture": GREY, "side": 1}),
        ("doubled", "fit", {"picture": GREY, "side": 4}),
        ("a middle square, one pixel more at the right", "fit", {"picture": [[pixel(k, k + 100) for k in range(8)],
                                                                             [pixel(k * 9, 255 - k) for k in range(8)],
                                                                             [pixel(255, k) for k in range(8)]],
                                                                 "side": 2}),
        ("an upright one to more pixels", "fit", {"picture": [[pixel(9 * k, 255 - 30 * k)] for k in range(4)],
                                                  "side": 3}),
        ("five to seven", "fit", {"picture": [[pixel(53 * i % 256, 31 * i * j % 256) for j in range(5)]
                                              for i in range(5)], "side": 7}),
        ("seven to five", "fit", {"picture": [[pixel(53 * i % 256, 31 * i * j % 256) for j in range(7)]
                                              for i in range(7)], "side": 5}),
    ],
    "ood": [
        ("four pictures", "unseen_of", {"sums": of(FEW[0], FEW[1], 2), "parts": [2],
                                        "pictures": [[3, 1], [-4, 1], [100, -90], [0, 1]], "share": [1, 20]}),
        ("two parts, a share between two points", "unseen_of",
         {"sums": of(FEW[0], FEW[1], 2), "parts": [1, 1], "pictures": [[3, 1], [127, 127]], "share": [7, 100]}),
        ("one picture", "unseen_of", {"sums": of([[4, -2]], [1], 2), "parts": [2], "pictures": [[4, -2], [5, 5]],
                                      "share": [0, 1]}),
        ("a part that is constant, a class without pictures", "unseen_of",
         {"sums": SEVEN, "parts": [3, 1], "pictures": [[9, -4, 0, 7], [1, 90, 3, 7], [9, -4, 0, 8]], "share": [3, 5]}),
        ("all +-127", "unseen_of", {"sums": of(EXTREME[0], EXTREME[1], 2), "parts": [3],
                                    "pictures": [[127, 127, 127], [-127, 0, 1]], "share": [1, 10]}),
        ("2^31 - 1 pictures", "unseen_of", {"sums": MANY, "parts": [2], "pictures": [[127, -127], [0, 0]],
                                            "share": [1, 2]}),
        ("sums of no pictures: a row that is left out", "unseen_of",
         {"sums": [[2, 2], [[8, 2], [-8, 2]], [68, 30, 6]], "parts": [2], "pictures": [[4, 1], [0, 0]],
          "share": [1, 100]}),
        ("four pictures, a prior", "unseen_of", {"sums": of(FEW[0], FEW[1], 2), "parts": [2],
                                                 "pictures": [[3, 1], [-4, 1], [100, -90], [0, 1]], "share": [1, 20],
                                                 "shrinkage": [4, 1, 1, 4]}),
        ("a class without pictures, other constants", "unseen_of",
         {"sums": SEVEN, "parts": [4], "pictures": [[9, -4, 0, 7], [1, 90, 3, 7], [9, -4, 0, 8]], "share": [3, 5],
          "shrinkage": [8, 3, 2, 1]}),
        ("2^31 - 1 pictures, a prior", "unseen_of", {"sums": MANY, "parts": [2], "pictures": [[127, -127], [0, 0]],
                                                     "share": [1, 2], "shrinkage": [4, 1, 1, 4]}),
    ],
}  # fmt: skip
