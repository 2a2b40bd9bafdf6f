"""A projection with a prior: roots, axes that whiten a target, constants of shrinkage, and how many components by
default, all in the model's companion."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from bitreplay import Learner, zoo
from bitreplay.engine.feature_program import default_feature_layers
from bitreplay.engine.shrinkage import Shrinkage
from bitreplay.modelfile import ModelFileError
from bitreplay.modelfile.container import pack_container, unpack_container
from bitreplay.modelfile.projection_file import KIND, ProjectionFile, load, save
from bitreplay.zoo.prior_axes import PRIOR, rooted, whitening_axes
from tests import tiny
from tests.strategies.prior_companion import AXES, model_with_prior, prior_for, scores_of, with_other_constants

COLOURS = ["red", "green", "blue", "white"]
PICTURES, LABELS = tiny.pictures(*COLOURS, each=7)
NOISE = np.random.default_rng(1).integers(0, 256, (120, 8, 8, 3), dtype=np.uint8)


@pytest.fixture
def model(tmp_path):
    return model_with_prior(tmp_path)


def test_the_file_keeps_all_of_it(model, tmp_path):
    made = prior_for(model, default_components=5)
    save(made, tmp_path / "file")
    found = load(tmp_path / "file")
    assert found.default_components == 5 and found.projection.root
    assert found.projection.shrinkage == PRIOR == Shrinkage(4, Fraction(1), 4)
    assert found.projection.digest() == made.projection.digest()
    text = unpack_container((tmp_path / "file").read_bytes(), "it")[1]
    assert text["version"] == "2" and '"shrinkage":{"cap":4,"factor":[1,1],"pictures":4}' in text["projection"]


def test_a_file_without_a_prior_is_what_it_was(model, tmp_path):
    plain = replace(prior_for(model).projection, root=False, shrinkage=Shrinkage())
    save(ProjectionFile(plain, "0" * 64, {}), tmp_path / "file")
    text = unpack_container((tmp_path / "file").read_bytes(), "it")[1]
    assert text["version"] == "1" and set(json.loads(text["projection"])) == {"model", "numbers", "shift"}
    assert load(tmp_path / "file").default_components is None


@pytest.mark.parametrize(("name", "digest"), [
    ("react18@1", "678710a5eb322d36"), ("bireal18@1", "f75965cceff625fd"), ("react_tiny@1", "9cae65f584813a8d"),
    ("quicknet@2", "6c61eb694e86fdf0"),
])  # fmt: skip
def test_shipped_companions_keep_bytes_and_digests(name, digest, tmp_path):
    companion = zoo.find(name).companion(KIND)
    found = load(companion)
    save(found, tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == companion.read_bytes()
    assert found.projection.digest().startswith(digest)


def test_components_are_those_of_the_features_roots(model):
    whole = Learner.from_pretrained(model, strategy="exact")
    learner = Learner.from_pretrained(model, n_components=6)
    kept = load(zoo.find(model).companion(KIND)).projection.first(6)
    x = whole.encode(NOISE)
    roots = np.rint(np.sqrt(64 * (x.astype(np.float64) + 127)))
    total = roots.astype(np.int64) @ kept.axes.T.astype(np.int64) * kept.scales + kept.offsets
    expected = np.clip(np.floor(np.abs(total) / 2.0**kept.shift + 0.5) * np.sign(total), -127, 127)
    assert np.array_equal(learner.encode(NOISE), expected) and np.array_equal(kept.of(x), expected)


@pytest.mark.parametrize("bits", ["8/1/16", "float"])
def test_answers_are_those_of_the_rule(model, bits):
    learner = Learner.from_pretrained(model, n_components=AXES, bits=bits)
    labels = np.array([*LABELS, *np.resize(["noise", "red"], 60)])
    learner.learn(np.concatenate([PICTURES, NOISE[:60]]), labels.tolist())
    y, queries = learner.encode(np.concatenate([PICTURES, NOISE[:60]])), learner.encode(NOISE[60:])
    wanted = np.array(sorted(set(labels)))[scores_of(y, labels, queries).argmax(axis=1)]
    assert np.array_equal(learner.predict(NOISE[60:]), wanted)


def test_integers_and_float64_agree(model):
    integers, floats = (Learner.from_pretrained(model, n_components=6, bits=bits) for bits in ("8/1/16", "float"))
    for learner in (integers, floats):
        learner.learn(PICTURES, LABELS)
    assert np.abs(integers.predict_proba(NOISE) - floats.predict_proba(NOISE)).max() < 1e-3
    mine, theirs = ([pair.share for pair in learner.confusions()] for learner in (integers, floats))
    assert np.allclose(mine, theirs, atol=1e-3)


def test_a_state_goes_round_unlearns_merges_and_forgets(model, tmp_path):
    learner = Learner.from_pretrained(model, n_components=6)
    learner.learn(PICTURES, LABELS)
    learner.save(tmp_path / "state")
    again = Learner.load(tmp_path / "state", model)
    assert again.settings == learner.settings and again.state_hash() == learner.state_hash()
    assert np.array_equal(again.predict_proba(NOISE), learner.predict_proba(NOISE))
    before = again.state_hash()
    again.learn(NOISE[:3], "grey")
    again.unlearn(NOISE[:3], "grey")
    assert again.state_hash() == before
    one, other = (Learner.from_pretrained(model, n_components=6) for _ in range(2))
    one.learn(PICTURES[::2], LABELS[::2])
    other.learn(PICTURES[1::2], LABELS[1::2])
    one.merge(other)
    assert np.array_equal(one.predict_proba(NOISE), learner.predict_proba(NOISE))
    exact = Learner.from_pretrained(model, n_components=6, exact_forget=True)
    exact.learn(PICTURES, LABELS)
    exact.forget("white")
    never = Learner.from_pretrained(model, n_components=6, exact_forget=True)
    kept = [k for k, label in enumerate(LABELS) if label != "white"]
    never.learn(PICTURES[kept], [LABELS[k] for k in kept])
    assert np.array_equal(exact.predict_proba(NOISE), never.predict_proba(NOISE))


def test_states_of_another_prior_are_refused(model, tmp_path):
    learner = Learner.from_pretrained(model, n_components=6)
    learner.learn(PICTURES, LABELS)
    learner.save(tmp_path / "state")
    companion = zoo.find(model).companion(KIND)
    for other in with_other_constants(load(companion)):
        save(other, companion)
        with pytest.raises(ModelFileError, match=r"is the projection \w{12}, and \w{12} was asked for\.$"):
            Learner.load(tmp_path / "state", model)
        theirs = Learner.from_pretrained(model, n_components=6)
        theirs.learn(PICTURES, LABELS)
        with pytest.raises(ValueError, match=r"learned with projection \w{12}, this learner with \w{12}; they cannot"):
            learner.merge(theirs)
        save(prior_for(model), companion)
    assert Learner.load(tmp_path / "state", model).state_hash() == learner.state_hash()


def test_the_companion_may_say_how_many_components(tmp_path):
    model = model_with_prior(tmp_path, default_components=7)
    layers = default_feature_layers(zoo.find(model).graph)
    wanted = Learner.from_pretrained(model, n_components=7).settings
    for given in ({}, {"strategy": "exact"}, {"n_components": None}):
        assert Learner.from_pretrained(model, **given).settings == wanted
    assert Learner.from_pretrained(model, n_components=3).settings.n_components == 3
    plain = Learner.from_pretrained(model, feature_layers=layers)
    assert plain.settings.n_components is None and plain.settings.projection is None
    plain.learn(PICTURES, LABELS)
    plain.save(tmp_path / "state")
    assert Learner.load(tmp_path / "state", model).settings == plain.settings
    assert Learner.from_pretrained(model, strategy="replay").settings.n_components is None


def test_a_companion_of_another_model_says_nothing(tmp_path):
    model = model_with_prior(tmp_path, default_components=7)
    companion = zoo.find(model).companion(KIND)
    save(replace(load(companion), model="0" * 64), companion)
    assert Learner.from_pretrained(model).settings.n_components is None


def test_a_damaged_prior_is_refused_in_a_sentence(model):
    companion = zoo.find(model).companion(KIND)
    arrays, texts = unpack_container(companion.read_bytes(), "it")
    del texts["sha256"]
    fields = json.loads(texts["projection"])
    shrinkage = fields["shrinkage"]
    cases = [
        ({"root": 1}, "root must be true or false"),
        ({"root": None}, "root must be true or false"),
        ({"shrinkage": None}, "must have cap, factor and pictures"),
        ({"shrinkage": shrinkage | {"more": 1}}, "must have cap, factor and pictures"),
        ({"shrinkage": shrinkage | {"factor": 1}}, "must be integers, its factor two of them"),
        ({"shrinkage": shrinkage | {"factor": [1, 0]}}, "must be integers, its factor two of them"),
        ({"shrinkage": shrinkage | {"cap": True}}, "must be integers, its factor two of them"),
        ({"shrinkage": shrinkage | {"cap": 9}}, "a cap and pictures of 1 to 8"),
        ({"shrinkage": shrinkage | {"pictures": 0}}, "a cap and pictures of 1 to 8"),
        ({"shrinkage": shrinkage | {"factor": [65, 1]}}, "a factor of terms of 1 to 64"),
        ({"shrinkage": shrinkage | {"factor": [-1, 1]}}, "a factor of terms of 1 to 64"),
        ({"default_components": 0}, "default_components must be an integer from 1 to 12"),
        ({"default_components": AXES + 1}, "default_components must be an integer from 1 to 12"),
        ({"default_components": True}, "default_components must be an integer from 1 to 12"),
        ({"more": 1}, "must have model, numbers and shift"),
    ]
    for changes, sentence in cases:
        text = json.dumps({k: v for k, v in (fields | changes).items() if v is not None})
        companion.write_bytes(pack_container(arrays, texts | {"projection": text}))
        with pytest.raises(ModelFileError, match=sentence) as caught:
            Learner.from_pretrained(model, n_components=6)
        assert str(companion) in str(caught.value)
    companion.write_bytes(pack_container(arrays, texts | {"version": "1"}))
    with pytest.raises(ModelFileError, match="must have model, numbers and shift"):
        Learner.from_pretrained(model, n_components=6)


def test_axes_whiten_the_target():
    """In y the target is the identity, and all photographs together vary along the axes, most along the first."""
    rng = np.random.default_rng(3)
    x = np.clip(np.rint(20 * rng.normal(size=(500, 9)) @ rng.normal(size=(9, 9))), -127, 127).astype(np.int8)
    axes, middle, total = whitening_axes(rooted(x), [4, 5], "total", share=0.25)
    diagonal = np.repeat([total.diagonal()[:4].mean(), total.diagonal()[4:].mean()], [4, 5])
    target = 0.25 * total * diagonal.sum() / np.trace(total) + 0.75 * np.diag(diagonal)
    assert np.allclose(axes @ target @ axes.T, np.eye(9))
    varied = axes @ total @ axes.T
    assert np.allclose(varied, np.diag(varied.diagonal()), atol=1e-6) and (np.diff(varied.diagonal()) <= 1e-9).all()
    assert np.allclose(middle, rooted(x).mean(axis=0))
