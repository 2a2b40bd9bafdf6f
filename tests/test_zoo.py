"""The shipped files: what they say about themselves, against the rows that were measured."""

import csv
from pathlib import Path

import pytest

from bitreplay import modelfile, zoo

ROWS = Path(__file__).resolve().parents[1] / "experiments" / "results" / "zoo_accuracy.csv"


def measured(name):
    with ROWS.open() as rows:
        (row,) = [row for row in csv.DictReader(rows) if row["model"] == name]
    return row


@pytest.mark.parametrize("name", zoo.names())
def test_a_file_carries_data_recipe_date_accuracy_and_licence(name):
    about = zoo.find(name).about
    training, accuracy = about["training"], about["accuracy"]
    assert training["data"] == "Tiny-ImageNet" and training["images"] == 100_000 and training["date"] >= "2026-11-15"
    assert training["recipe"]["model"] == name and training["epochs"] > 0
    assert accuracy["images"] == 10_000 and accuracy["forward_bits"] == 8
    assert "Apache-2.0" in about["licence"]


@pytest.mark.parametrize("name", zoo.names())
def test_the_accuracy_in_a_file_is_that_of_its_row(name):
    row, model = measured(name), zoo.find(name)
    accuracy = model.about["accuracy"]
    assert row["digest"] == model.digest[:12] and row["images"] == "10000" and row["forward_bits"] == "8"
    assert float(row["integer_top1"]) == accuracy["top1_integer"] and float(row["float_top1"]) == accuracy["top1_float"]
    assert float(row["noted_top1"]) == model.about["training"]["top1"]


@pytest.mark.parametrize("name", zoo.names())
def test_the_engine_loses_less_than_half_a_point_against_the_file_in_floating_point(name):
    accuracy = zoo.find(name).about["accuracy"]
    assert abs(accuracy["top1_integer"] - accuracy["top1_float"]) <= 0.5


def test_all_files_together_stay_small():
    assert sum(path.stat().st_size for path in zoo.FOLDER.glob("*.safetensors")) < 15e6


def test_what_is_said_about_a_network_is_not_part_of_its_digest(tiny_model, tmp_path):
    graph, about = modelfile.load(tiny_model)
    other = tmp_path / "other.safetensors"
    assert modelfile.save(graph, other, about | {"accuracy": {"top1_integer": 1.0}}) == modelfile.digest(tiny_model)
