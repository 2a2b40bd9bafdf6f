"""Small memories: a fixed projection of a picture's numbers, from a file beside the model's."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from bitreplay import Learner, zoo
from bitreplay.engine.feature_program import default_feature_layers
from bitreplay.modelfile import ModelFileError
from bitreplay.modelfile.container import pack_container, unpack_container
from bitreplay.modelfile.projection_file import KIND, ProjectionFile, load, save
from bitreplay.zoo.principal_axes import principal_axes
from tests import tiny

AXES = 12
COLOURS = ["red", "green", "blue", "white"]

NONE = r"has no projection: expected tiny0.projection.safetensors beside it. .*react18.* have one; feature layers"


def projection_for(model, seed: int = 0) -> ProjectionFile:
    """Axes found on other pictures than those that are learned."""
    found = zoo.find(model)
    learner = Learner.from_pretrained(found, strategy="exact")
    pictures, _ = tiny.pictures(*COLOURS, each=30, seed=100 + seed)
    made = principal_axes(learner.encode(pictures), default_feature_layers(found.graph), AXES)
    return ProjectionFile(made, found.digest, {"seed": seed})


@pytest.fixture
def model(tmp_path):
    path = tiny.model(tmp_path)
    save(projection_for(path), zoo.find(path).companion(KIND))
    return path


def test_a_few_numbers_are_learned_and_told_in_the_state(model, tmp_path):
    pictures, labels = tiny.pictures(*COLOURS, each=8)
    whole = Learner.from_pretrained(model, strategy="exact")
    learner = Learner.from_pretrained(model, n_components=6)
    kept = load(zoo.find(model).companion(KIND)).projection
    assert np.array_equal(learner.encode(pictures), kept.first(6).of(whole.encode(pictures)))
    assert (learner.settings.n_components, learner.settings.feature_layers) == (6, kept.feature_layers)
    assert learner.settings.projection == kept.first(6).digest()
    learner.learn(pictures, labels)
    assert learner.state().arrays()["sums.products"].shape == (21,)
    assert learner.evaluate(*tiny.pictures(*COLOURS, seed=5)).accuracy == 1.0
    learner.save(tmp_path / "state")
    again = Learner.load(tmp_path / "state", model)
    assert again.settings == learner.settings and again.state_hash() == learner.state_hash()
    before = again.state_hash()
    again.learn(pictures[:3], "grey")
    again.unlearn(pictures[:3], "grey")
    assert again.state_hash() == before


def test_layers_may_be_named_beside_components(model):
    wanted = Learner.from_pretrained(model, n_components=6).settings
    for given in ({"n_components": np.int64(6)}, {"n_components": 6, "feature_layers": wanted.feature_layers}):
        assert Learner.from_pretrained(model, **given).settings == wanted


def test_footprint_counts_the_axes(model):
    few, many = (Learner.from_pretrained(model, n_components=n).strategy.footprint() for n in (2, AXES))
    assert few["projection"] == 2 * (80 + 12) and many["projection"] == AXES * (80 + 12)
    assert "projection" not in Learner.from_pretrained(model, strategy="exact").strategy.footprint()


def test_states_of_another_projection_are_refused_in_a_sentence(model, tmp_path):
    pictures, labels = tiny.pictures("red", "blue")
    learner = Learner.from_pretrained(model, n_components=6)
    learner.learn(pictures, labels)
    learner.save(tmp_path / "state")
    companion = zoo.find(model).companion(KIND)
    shutil.copy(companion, tmp_path / "first")
    save(projection_for(model, seed=1), companion)
    with pytest.raises(ModelFileError, match=r"is the projection \w{12}, and \w{12} was asked for\.$"):
        Learner.load(tmp_path / "state", model)
    other = Learner.from_pretrained(model, n_components=6)
    other.learn(pictures, labels)
    before = learner.state_hash()
    with pytest.raises(ValueError, match=r"learned with projection \w{12}, this learner with \w{12}; they cannot"):
        learner.merge(other)
    with pytest.raises(ValueError, match="learned with n_components 5, this learner with 6"):
        learner.merge(Learner.from_pretrained(model, n_components=5))
    assert learner.state_hash() == before
    shutil.copy(tmp_path / "first", companion)
    assert Learner.load(tmp_path / "state", model).state_hash() == before


def test_a_longer_file_with_the_same_first_axes_serves_the_same_states(model):
    companion = zoo.find(model).companion(KIND)
    digest = Learner.from_pretrained(model, n_components=6).settings.projection
    whole = load(companion)
    save(ProjectionFile(whole.projection.first(6), whole.model, {}), companion)
    assert Learner.from_pretrained(model, n_components=6).settings.projection == digest


def test_what_cannot_be_projected_is_refused(model, tmp_path):
    with pytest.raises(ModelFileError, match="has 12 components, fewer than 13"):
        Learner.from_pretrained(model, n_components=AXES + 1)
    with pytest.raises(ModelFileError, match="projects .*, not head"):
        Learner.from_pretrained(model, n_components=AXES, feature_layers="head")
    for count in (0, 10**5000):
        with pytest.raises(ValueError, match="n_components must be an integer from 1 to 8192"):
            Learner.from_pretrained(model, n_components=count)
    with pytest.raises(ValueError, match="projection must be a digest"):
        Learner.from_pretrained(model, n_components=6, projection="abc")
    companion = zoo.find(model).companion(KIND)
    save(ProjectionFile(load(companion).projection, "0" * 64, {}), companion)
    with pytest.raises(ModelFileError, match="belongs to the model with checksum 000000000000, not to"):
        Learner.from_pretrained(model, n_components=6)
    companion.unlink()
    with pytest.raises(ModelFileError, match=NONE):
        Learner.from_pretrained(model, n_components=6)


def test_a_damaged_projection_is_refused_in_a_sentence(model):
    companion = zoo.find(model).companion(KIND)
    good = companion.read_bytes()
    arrays, texts = unpack_container(good, "it")
    del texts["sha256"]

    def with_text(**changed: str) -> bytes:
        return pack_container(arrays, texts | changed)

    cases = {
        good[:-1]: "truncated or damaged",
        with_text(format="other"): "is not a projection file",
        with_text(version="3"): "has version '3'; this program reads versions 1 and 2",
        with_text(more="x"): "Metadata is incomplete",
        with_text(projection="{}"): "must have model, numbers and shift",
        with_text(projection='{"model":"0","numbers":"head","shift":99}'): "shift of 0 to 62",
        pack_container({"axes": arrays["axes"]}, texts): "must be axes, scales and offsets",
        pack_container(arrays | {"scales": arrays["scales"][1:]}, texts): "for each an int32 scale",
    }
    for data, sentence in cases.items():
        companion.write_bytes(data)
        with pytest.raises(ModelFileError, match=sentence) as caught:
            Learner.from_pretrained(model, n_components=6)
        assert str(companion) in str(caught.value) and str(caught.value).count(". ") == 0


def test_axes_are_the_principal_ones_in_one_unit():
    """Against independent numbers along known axes, deviations as 60, 30, 15 and 2, the middle at 20."""
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    known = np.array([60.0, 30, 15, 2]) * rng.uniform(-1, 1, (4000, 4))
    x = np.rint(known @ turn.T + 20).astype(np.int8)
    found = principal_axes(x, "head", axes=3, spread=45.0)
    unit = found.axes / np.linalg.norm(found.axes, axis=1, keepdims=True)
    assert np.allclose(np.abs(unit @ turn), np.eye(4)[:3], atol=0.05)
    assert (found.axes.max(axis=1) == 127).all() and (found.axes.min(axis=1) >= -127).all()
    y = found.of(x).astype(float)
    assert np.allclose(y.mean(axis=0), 0, atol=1.5) and np.allclose(y.std(axis=0), [45, 22.5, 11.25], rtol=0.04)
