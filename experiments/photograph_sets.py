"""Lays out the five sets of photographs of docs/instead.md from clones of the repositories that hold them.

    git clone --bare https://github.com/OWNER/NAME CLONES/NAME.git            # each of SETS
    python experiments/photograph_sets.py --clones CLONES --out DIR
    python experiments/photograph_sets.py --clones CLONES --out CHOICE --choice

writes DIR/SET/train/CLASS/ and DIR/SET/test/CLASS/, the files as they are in one commit of each repository, and prints

    digest = SHA-256 of the lines "PATH SHA-256 of the file", sorted, PATH from the set's folder on

A set that is there is not written again, but its digest is printed. results/photographs.csv has the digests of the
pictures that the rows of results/instead.csv were made of; with another one the script fails. The files listed in
results/photographs_absent.txt were missing from the clone that `fruits36r` was made of: they are always left out.

`--choice` lays out four sets on which features are chosen (feature_choice.py); their
`test` holds pictures of the repositories' training parts: of traffic signs every third track, of clothes and groceries
the validation part.

Near copies in `fruits36r`: a picture is left out if its average hash differs in at most 4 of 64 bits, and its
difference hash in at most 10 of 72, from those of a picture before it, of any class, in the order of their paths.
"""

from __future__ import annotations

import argparse
import csv
import io
import subprocess
import sys
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np
from rows import RESULTS

from bitreplay.data.pictures.picture import decode
from bitreplay.data.pictures.resize import center_square, resize

TABLE, ABSENT = RESULTS / "photographs.csv", RESULTS / "photographs_absent.txt"
AVERAGE_BITS, DIFFERENCE_BITS = 4, 10
EVERY = 4  # of the pictures that are divided here, the last of so many is for the test


class Clone:
    """Files of one commit in a git directory, read in one process. A context manager."""

    def __init__(self, folder: Path, commit: str) -> None:
        self.git = ["git", "--git-dir", str(folder)]
        listing = subprocess.run([*self.git, "ls-tree", "-r", "-z", commit], capture_output=True, check=True).stdout
        lines = (line.split("\t", 1) for line in listing.decode().split("\0") if line)
        self.objects = {path: head.split()[2] for head, path in lines}

    def __enter__(self) -> Clone:
        pipe = subprocess.PIPE
        self.process = subprocess.Popen([*self.git, "cat-file", "--batch"], stdin=pipe, stdout=pipe)
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate()

    def read(self, path: str) -> bytes:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(self.objects[path].encode() + b"\n")
        self.process.stdin.flush()
        head = self.process.stdout.readline().split()
        if head[1:2] != [b"blob"]:
            raise ValueError(f"{path} is missing from {self.git[-1]}; expected a clone with all of its files.")
        return self.process.stdout.read(int(head[2]) + 1)[:-1]


Division = Iterator[tuple[str, str]]  # "train/CLASS/NAME" or "test/CLASS/NAME", and the file's path in the repository


def by_lists(clone: Clone) -> Division:
    for part in ("train", "test"):
        for line in clone.read(f"{part}.txt").decode().split("\n"):
            if line.strip() and not line.startswith("BACKGROUND"):
                yield f"{part}/{line.strip()}", f"101_ObjectCategories/{line.strip()}"


def by_folders(clone: Clone, train: str, test: str) -> Division:
    for part, folder in (("train", train), ("test", test)):
        for path in clone.objects:
            if path.startswith(folder) and path.lower().endswith(".jpg"):
                yield f"{part}/{path.removeprefix(folder)}", path


def divided(classes: dict[str, list[str]]) -> Division:
    """Every fourth picture of a class, sorted by its path, is for the test."""
    for name, paths in classes.items():
        for number, path in enumerate(sorted(paths)):
            part = "test" if number % EVERY == EVERY - 1 else "train"
            yield f"{part}/{name}/{Path(path).name}", path


def by_labels(clone: Clone) -> Division:
    classes: dict[str, list[str]] = {}
    for row in csv.DictReader(io.StringIO(clone.read("train.csv").decode())):
        classes.setdefault(row["label"], []).append(f"images/{row['Id']}.jpg")
    return divided(classes)


def hashes(content: bytes) -> np.ndarray:
    """Of the middle square: which of 8x8 pixels are above the mean, which of 9x9 are brighter than their left one."""
    square = center_square(decode(content, "picture"))
    small, wide = (resize(square, side).sum(axis=-1, dtype=np.int64) for side in (8, 9))
    bits = small * small.size > small.sum(), wide[:, 1:] > wide[:, :-1]
    return np.concatenate([part.ravel() for part in bits])


def without_near_copies(clone: Clone) -> Division:
    """Of the folder `train`, which has the pictures of `validation` and `test` too."""
    absent = set(ABSENT.read_text().splitlines())
    seen, classes = np.empty((0, 64 + 72), bool), dict[str, list[str]]()
    for path in sorted(clone.objects.keys() - absent):
        if path.startswith("train/"):
            found = hashes(clone.read(path))
            apart = np.add.reduceat(seen != found, [0, 64], axis=1, dtype=np.int64)
            if not (apart <= [AVERAGE_BITS, DIFFERENCE_BITS]).all(axis=1).any():
                seen = np.concatenate([seen, found[None]])
                classes.setdefault(path.split("/")[1], []).append(path)
    return divided(classes)


def by_parts(clone: Clone, parts: dict[str, str]) -> Division:
    """Folders whose innermost names are the classes; `parts` says where "train" and "test" begin."""
    for part, folder in parts.items():
        for path in clone.objects:
            if path.startswith(folder) and path.lower().endswith(".jpg"):
                yield f"{part}/{'/'.join(path.split('/')[-2:])}", path


def by_tracks(clone: Clone) -> Division:
    """CLASS/TRACK_FRAME.ppm: frames of one track show the same sign."""
    for path in clone.objects:
        if path.startswith("GTSRB/Final_Training/Images/") and path.endswith(".ppm"):
            folder, name = path.split("/")[-2:]
            part = "test" if int(name.split("_")[0]) % 3 == 2 else "train"
            yield f"{part}/{folder}/{name}", path


def by_digits(clone: Clone) -> Division:
    classes: dict[str, list[str]] = {}
    for path in clone.objects:
        if path.startswith("Dataset/"):
            classes.setdefault(path.split("/")[1], []).append(path)
    return divided(classes)


class Source(NamedTuple):
    repository: str
    commit: str
    division: Callable[[Clone], Division]


SETS = {
    "caltech101": Source(
        "MachineLearning2020/Homework2-Caltech101", "836044dd000296b2bb74d0aa4b4e462e459b01d7", by_lists
    ),
    "flowers102": Source(
        "3ba2ii/Flower-Classifier",
        "e0447ae3a8e54baaa61061833afa4679e8a7f786",
        lambda clone: by_folders(clone, "flowers/train/", "flowers/test/"),
    ),
    "fruits36r": Source(
        "MotherHazker/ObjectClassification", "e1127cf9a1a62cbc651d24dd98b361d924546a7d", without_near_copies
    ),
    "kitchenware": Source("maclavijo/Kitchenware-Project", "a32544630bf8598d3661fefb91ff809096eda8f1", by_labels),
    "scenes": Source(
        "keshav1245/Image-Classification-using-AlexNet-CNN-Model",
        "f1387f35b305effe6cafb90d37f2741a7f356dd1",
        lambda clone: by_folders(clone, "seg_train/seg_train/", "seg_test/seg_test/"),
    ),
}


CHOICE_SETS = {
    "clothes": Source(
        "alexeygrigorev/clothing-dataset-small",
        "11961516512414bf9f6c150a832cfd21b54a6b54",
        lambda clone: by_parts(clone, {"train": "train/", "test": "validation/"}),
    ),
    "gestures": Source("ardamavi/Sign-Language-Digits-Dataset", "4b09433ef9d5c60602e8805bb54b8aa2428527f8", by_digits),
    "groceries81": Source(
        "marcusklasson/GroceryStoreDataset",
        "fc80ba90f803d79d0383df52c5a4ac5de99ff6fc",
        lambda clone: by_parts(clone, {"train": "dataset/train/", "test": "dataset/val/"}),
    ),
    "traffic_signs": Source("hergerr/traffic-sign-recognition", "80c6270c952cb66ec6eda521911d5cd992788333", by_tracks),
}


def lay_out(source: Source, clones: Path, folder: Path) -> None:
    """Under another name until it is complete."""
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    with Clone(clones / f"{source.repository.split('/')[1]}.git", source.commit) as clone:
        for place, path in source.division(clone):
            file = unfinished / place
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(clone.read(path))
    unfinished.rename(folder)


def digest(folder: Path) -> str:
    lines = (
        f"{file.relative_to(folder).as_posix()} {sha256(file.read_bytes()).hexdigest()}\n"
        for file in folder.rglob("*")
        if file.is_file()
    )
    return sha256("".join(sorted(lines)).encode()).hexdigest()


def described(name: str, folder: Path) -> dict[str, str]:
    """A row of the table."""
    train, test = (sum(1 for _ in (folder / part).glob("*/*")) for part in ("train", "test"))
    classes = sum(1 for _ in (folder / "train").iterdir())
    found = (SETS | CHOICE_SETS)[name]
    source = f"{found.repository}@{found.commit}"
    values = (name, source, classes, train, test, digest(folder))
    return dict(zip(("set", "source", "classes", "train", "test", "digest"), map(str, values), strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clones", type=Path, required=True, help="folder of git directories NAME.git")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--choice", action="store_true", help="the sets on which features are chosen")
    parser.add_argument("--sets", nargs="*", help="some of them")
    args = parser.parse_args()
    sets = CHOICE_SETS if args.choice else SETS
    with TABLE.open() as file:
        known = {row["set"]: row for row in csv.DictReader(file)}
    others = []
    for name in args.sets or sets:
        if not (args.out / name).exists():
            lay_out(sets[name], args.clones, args.out / name)
        found = described(name, args.out / name)
        print(*found.values(), sep=",", flush=True)
        if found != known.get(name):
            others.append(name)
    if others:
        sys.exit(f"{', '.join(others)}: other pictures than those of results/{TABLE.name}.")


if __name__ == "__main__":
    main()
