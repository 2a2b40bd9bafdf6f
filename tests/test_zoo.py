"""The shipped files: what they say about themselves, against the rows that were measured."""

import csv
from pathlib import Path

import numpy as np
import pytest

from bitreplay import Learner, modelfile, zoo
from bitreplay.engine.feature_program import default_feature_layers
from bitreplay.modelfile.projection_file import load as load_projection
from bitreplay.zoo import fetching
from tests import tiny

ROWS = Path(__file__).resolve().parents[1] / "experiments" / "results" / "zoo_accuracy.csv"


EVERY = [f"{name}@{number}" for name in zoo.names() for number in zoo.generations(name)]
FIRST = [name for name in EVERY if zoo.find(name).about["training"]["data"] == "Tiny-ImageNet"]
# Of networks taught without labels: the teacher, and more than so many views and pictures.
TAUGHT = {
    "efficientnet_lite0@1": ("efficientnet-lite2", 4_900_000, 310_000),  # began with ImageNet's weights
    "efficientnet_tiny@1": ("efficientnet-lite2", 20_000_000, 280_000),  # began with half of efficientnet_lite0
    "quicknet@2": ("efficientnet-lite2", 10**7, 10**5),
}
LATER = [name for name in EVERY if name not in FIRST]  # without labels


def measured(name):
    with ROWS.open() as rows:
        (row,) = [row for row in csv.DictReader(rows) if row["model"] == name.removesuffix("@1")]
    return row


@pytest.mark.parametrize("name", LATER)
def test_a_network_taught_without_labels_says_who_taught_it_on_which_pictures_and_from_where_it_began(name):
    about = zoo.find(name).about
    training, agreement = about["training"], about["training"]["agreement"]
    assert about["name"] == training["model"] == name.partition("@")[0] and "Apache-2.0" in about["licence"]
    teacher, views, pictures = TAUGHT[name]
    assert training["recipe"]["teacher"] == teacher
    assert training["views"] > views and training["pictures"] > pictures
    assert len(training["pool_sha256"]) == 64 and training["date"] >= "2026-11-15"
    assert training["before"] is None or len(training["before"]["sha256"]) == 64
    assert 20 < agreement["top1"] < 100 and agreement["divergence"] > 0


@pytest.mark.parametrize("name", FIRST)
def test_a_file_carries_data_recipe_date_accuracy_and_licence(name):
    about = zoo.find(name).about
    training, accuracy = about["training"], about["accuracy"]
    assert training["data"] == "Tiny-ImageNet" and training["images"] == 100_000 and training["date"] >= "2026-11-15"
    assert training["recipe"]["model"] == name.removesuffix("@1") and training["epochs"] > 0
    assert accuracy["images"] == 10_000 and accuracy["forward_bits"] == 8
    assert "Apache-2.0" in about["licence"]


@pytest.mark.parametrize("name", FIRST)
def test_the_accuracy_in_a_file_is_that_of_its_row(name):
    row, model = measured(name), zoo.find(name)
    accuracy = model.about["accuracy"]
    assert row["digest"] == model.digest[:12] and row["images"] == "10000" and row["forward_bits"] == "8"
    assert float(row["integer_top1"]) == accuracy["top1_integer"] and float(row["float_top1"]) == accuracy["top1_float"]
    assert float(row["noted_top1"]) == model.about["training"]["top1"]


@pytest.mark.parametrize("name", [name for name in FIRST if name != "react_tiny@1"])
def test_the_engine_loses_less_than_half_a_point_against_the_file_in_floating_point(name):
    accuracy = zoo.find(name).about["accuracy"]
    assert abs(accuracy["top1_integer"] - accuracy["top1_float"]) <= 0.5


def test_the_tiny_network_counts_on_the_rounding_that_it_was_trained_with():
    """It is better in the engine than without any rounding, and as good as the training run was with it."""
    about = zoo.find("react_tiny@1").about
    accuracy, training = about["accuracy"], about["training"]
    assert accuracy["top1_integer"] >= accuracy["top1_float"]
    assert abs(accuracy["top1_integer"] - training["top1_rounded"]) <= 0.5


def test_the_files_stay_small():
    files = {path.name: path.stat().st_size for path in zoo.FOLDER.glob("*.safetensors")}
    assert sum(size for name, size in files.items() if name not in fetching.catalogue()) < 9e6  # those in wheels
    assert sum(files.values()) < 28.3e6


def test_what_is_said_about_a_network_is_not_part_of_its_digest(tiny_model, tmp_path):
    graph, about = modelfile.load(tiny_model)
    other = tmp_path / "other.safetensors"
    assert modelfile.save(graph, other, about | {"accuracy": {"top1_integer": 1.0}}) == modelfile.digest(tiny_model)


# companions


@pytest.mark.parametrize(("name", "axes"), [("react18", 1024), ("bireal18", 512), ("react_tiny", 512)])
def test_principal_axes_are_at_right_angles(name, axes):
    model = zoo.find(f"{name}@1")
    found = load_projection(model.companion("projection"))
    assert len(found.projection) == axes
    unit = found.projection.axes / np.linalg.norm(found.projection.axes.astype(float), axis=1, keepdims=True)
    assert np.abs(unit @ unit.T - np.eye(axes)).max() < 0.02


@pytest.mark.parametrize("name", ["react18@1", "bireal18@1", "react_tiny@1", "quicknet@2"])
def test_a_projection_belongs_to_its_network(name):
    model = zoo.find(name)
    found = load_projection(model.companion("projection"))
    assert found.model == model.digest and found.projection.feature_layers == default_feature_layers(model.graph)
    learner = Learner.from_pretrained(model, n_components=128)
    pictures = np.random.default_rng(0).integers(0, 256, (2, 32, 32, 3), dtype=np.uint8)
    whole = Learner.from_pretrained(model, strategy="exact").encode(pictures)
    assert np.array_equal(learner.encode(pictures), found.projection.first(128).of(whole))


# generations


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A zoo of two networks: one of two generations with a companion, one of a single."""
    monkeypatch.setattr(zoo, "FOLDER", tmp_path)
    for name, seed in (("pear", 1), ("pear@2", 2), ("plum", 3)):
        modelfile.save(tiny.graph(seed), tmp_path / f"{name}.safetensors", {"name": name.partition("@")[0]})
    (tmp_path / "pear.projection.safetensors").write_bytes(b"no network")
    return tmp_path


def digest(seed):
    return modelfile.digest(tiny.graph(seed))


@pytest.mark.parametrize(
    ("asked", "seed"), [("pear", 2), ("pear@1", 1), ("pear@2", 2), ("plum", 3), ("plum@1", 3)]
)  # fmt: skip
def test_a_plain_name_is_the_newest_generation_and_each_has_its_own(shelf, asked, seed):
    found = zoo.find(asked)
    assert found.digest == digest(seed) and found.name == asked.partition("@")[0] and zoo.knows(asked)


def test_names_generations_and_companions(shelf):
    assert zoo.names() == ["pear", "plum"] and zoo.generations("pear") == [1, 2] and zoo.generations("fig") == []
    assert zoo.find("pear@1").companion("projection") == shelf / "pear.projection.safetensors"
    assert not zoo.find("pear@2").companion("projection").exists()


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("digits", [12, 30, 64])
def test_a_model_is_found_by_its_checksum(shelf, seed, digits):
    assert zoo.find(digest(seed)[:digits]).digest == digest(seed)


@pytest.mark.parametrize("asked", ["pear@3", "pear@0", "pear@", "pear@x", "fig", "pear.projection", "0" * 12])
def test_what_is_not_there_is_refused(shelf, asked):
    assert not zoo.knows(asked)
    with pytest.raises(ValueError, match="There is no model .*: expected pear, plum or a file"):
        zoo.find(asked)


def test_a_state_of_an_older_generation_still_loads(shelf, tmp_path):
    old = Learner.from_pretrained("pear@1", learning_rate=0.3, memory_per_class=3, min_steps=1)
    old.learn(*tiny.pictures("red", "green"))
    old.save(tmp_path / "state")
    loaded = Learner.load(tmp_path / "state")
    assert loaded.state_hash() == old.state_hash() and loaded.model is not None and loaded.model.digest == digest(1)
    with pytest.raises(ValueError, match="belongs to the model pear with checksum"):
        Learner.load(tmp_path / "state", "pear")
    new = Learner.from_pretrained("pear")
    assert new.model is not None and new.model.digest == digest(2)


def test_the_shipped_models_are_known_by_name_generation_and_checksum():
    for name in zoo.names():
        newest = zoo.find(name)
        assert zoo.find(f"{name}@{zoo.generations(name)[-1]}").digest == newest.digest
        assert zoo.find(newest.digest[:12]).path == newest.path
