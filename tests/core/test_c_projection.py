"""The learner in C with a projection: its program has the two records more, and the states are the same bytes."""

from __future__ import annotations

from bitreplay import Learner, statefile, zoo
from bitreplay.export import image_of
from bitreplay.modelfile.projection_file import KIND, save
from tests import tiny
from tests.core.c_learner import CLearner
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
