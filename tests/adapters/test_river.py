"""The classifier in river's own hands."""

from collections.abc import Hashable
from typing import Any

import pytest

from bitreplay import Learner
from tests import tiny

pytest.importorskip("river", reason="river is an extra (river)")

from river import evaluate, metrics, stream  # noqa: E402

from bitreplay.adapters.river import BitreplayClassifier  # noqa: E402

IMAGES, LABELS = tiny.pictures("red", "green", "blue", each=6)


@pytest.fixture
def classifier(tiny_model):
    return BitreplayClassifier(tiny_model)


def test_one_by_one_is_all_at_once(classifier, tiny_model):
    for image, label in zip(IMAGES, LABELS, strict=True):
        classifier.learn_one({"image": image}, label)
    learner = Learner.from_pretrained(tiny_model, strategy="exact")
    learner.learn(IMAGES, LABELS)
    assert [classifier.predict_one({"x": image}) for image in IMAGES] == learner.predict(IMAGES).tolist()
    shares = classifier.predict_proba_one({"image": IMAGES[0], "weight": 3})
    assert shares == dict(zip(learner.labels, learner.predict_proba(IMAGES[:1])[0].tolist(), strict=True))
    many = classifier.clone()
    many.learn_many(IMAGES, LABELS)
    assert many.learner.state_hash() == learner.state_hash()


def test_river_judges_it_while_it_learns(classifier):
    order = [k for start in range(6) for k in range(start, 18, 6)]
    samples: list[tuple[dict[Hashable, Any], str]] = [({"image": IMAGES[k]}, LABELS[k]) for k in order]
    found = evaluate.progressive_val_score(iter(samples), classifier, metrics.Accuracy())
    right, other = 0, classifier.clone()
    for x, label in samples:
        right += other.predict_one(x) == label
        other.learn_one(x, label)
    assert found.get() == right / (len(samples) - 1) > 0.5, "river does not count the first, which has no answer"


def test_before_anything_was_learned_it_has_no_answer(classifier):
    assert classifier.predict_one({"image": IMAGES[0]}) is None and classifier.predict_proba_one(IMAGES[0]) == {}


def test_a_stream_of_rivers(classifier, tmp_path):
    from PIL import Image

    for k, image in enumerate(IMAGES):
        Image.fromarray(image).save(tmp_path / f"{k}.png")
    rows = "".join(f"{tmp_path}/{k}.png,{label}\n" for k, label in enumerate(LABELS))
    (tmp_path / "table.csv").write_text("image,fruit\n" + rows)
    for x, y in stream.iter_csv(str(tmp_path / "table.csv"), target="fruit"):
        classifier.learn_one(x, y)
    other = classifier.clone()
    other.learn_many(IMAGES, LABELS)
    assert classifier.predict_proba_one(IMAGES[5]) == other.predict_proba_one(IMAGES[5])


def test_a_sample_without_a_picture_is_refused(classifier):
    with pytest.raises(ValueError, match="must have the key 'image' or a single value"):
        classifier.learn_one({"a": 1, "b": 2}, "red")
    classifier.learn_one(IMAGES[0], True)
    assert classifier.predict_one(IMAGES[0]) == 1
