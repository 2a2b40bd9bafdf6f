"""The learner in C with a projection: its program has the two records more, and the states are the same bytes. With a
prior, its model has roots and the constants of shrinkage too."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest

from bitreplay import Learner, statefile, zoo
from bitreplay.engine import native
from bitreplay.export import image_of
from bitreplay.modelfile.projection_file import KIND, save
from tests import tiny
from tests.core.c_learner import CLearner
from tests.core.test_c_unknown import as_share
from tests.strategies.prior_companion import model_with_prior
from tests.strategies.test_projection import projection_for


def test_components_in_c_and_in_python_end_in_the_same_bytes(tmp_path):
    path = tiny.model(tmp_path)
    save(projection_for(path), zoo.find(path).companion(KIND))
    python = Learner.from_pretrained(path, n_components=6)
    c = CLearner(image_of(python), classes=8)
    pictures, labels = tiny.pictures("red", "green", "blue", each=5)
    python.learn(pictures, labels)
    c.learn(pictures, labels)
    assert c.to_bytes() == statefile.to_bytes(python._content())
    probe, _ = tiny.pictures("red", "green", "blue", each=4, seed=8)
    assert c.predict(probe) == python.predict(probe).tolist()


@pytest.fixture(params=native.available_isas())
def path(request, record_property):
    record_property("path", request.param)
    before = native.isa()
    native.set_isa(request.param)
    yield request.param
    native.set_isa(before)


def test_a_prior_in_c_and_in_python_is_one(tmp_path, path):
    """State, answers, probabilities and what is unknown; also after merging, forgetting and unlearning."""
    model = model_with_prior(tmp_path, default_components=9)
    python = Learner.from_pretrained(model, unknown="1/10")
    assert python.settings.n_components == 9
    c = CLearner(image_of(python), classes=8)
    pictures, labels = tiny.pictures("red", "green", "blue", each=5)
    python.learn(pictures, labels)
    c.learn(pictures, labels)
    assert c.to_bytes() == statefile.to_bytes(python._content())
    probe = np.concatenate([tiny.pictures("red", "green", "blue", each=4, seed=8)[0],
                            np.random.default_rng(0).integers(0, 256, (30, 8, 8, 3), dtype=np.uint8)])  # fmt: skip
    same_answers(python, c, probe)
    other = Learner.from_pretrained(model, unknown="1/10")
    other.learn(probe[-9:], ["noise"] * 9)
    python.merge(other)
    c.merge(statefile.to_bytes(other._content()))
    python.forget("green")
    c.forget("green")
    python.unlearn(pictures[:1], labels[:1])
    c.unlearn(pictures[:1], labels[:1])
    assert c.state_hash() == python.state_hash()
    same_answers(python, c, probe)


def same_answers(python: Learner, c: CLearner, probe: np.ndarray) -> None:
    assert np.array_equal(c.extract(probe[0]), python.encode(probe[:1])[0])
    answers = [c.answer(picture) for picture in probe]
    assert [answer[0] for answer in answers] == python.predict(probe, unknown=0).tolist()
    assert np.array_equal([answer[2] for answer in answers], python.predict_proba(probe) * 2**30)
    share = as_share(python.settings.unknown)
    assert c.predict_features(python.encode(probe), share) == python.predict(probe).tolist()


def test_constants_that_are_none_are_refused(tmp_path):
    """With the checksum of their own bytes; a file of version 2 has no constants, whatever its sections say."""
    image = image_of(Learner.from_pretrained(model_with_prior(tmp_path), n_components=6))
    at = image.index(struct.pack("<4I", 4, 1, 1, 4))
    assert struct.unpack_from("<I", image, 8) == (3,)

    def changed(version: int, *terms: int) -> bytes:
        body = image[16:at] + struct.pack("<4I", *terms) + image[at + 16 :]
        return image[:8] + struct.pack("<II", version, zlib.crc32(body)) + body

    assert changed(3, 4, 1, 1, 4) == image
    for terms in ((0, 0, 0, 0), (9, 1, 1, 4), (4, 0, 1, 4), (4, 65, 1, 4), (4, 1, 0, 4), (4, 1, 65, 4), (4, 1, 1, 9),
                  (4, 1, 1, 0)):  # fmt: skip
        with pytest.raises(AssertionError, match="malformed"):
            CLearner(changed(3, *terms))
    for version in (1, 4):
        with pytest.raises(AssertionError, match="unsupported version of the model file, expected 2 or 3"):
            CLearner(changed(version, 4, 1, 1, 4))
    CLearner(changed(2, 9, 9, 9, 9))
