"""The classifier against scikit-learn itself: its own checks, its tools, and what a learner says."""

import pickle

import numpy as np
import pytest

from bitreplay import Learner
from tests import tiny

sklearn = pytest.importorskip("sklearn", minversion="1.6", reason="scikit-learn is an extra (sklearn)")

from sklearn.base import clone  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402
from sklearn.utils.validation import validate_data  # noqa: E402

from bitreplay.adapters.sklearn import BitreplayClassifier  # noqa: E402

IMAGES, LABELS = tiny.pictures("red", "green", "blue", each=6)
TEST, TRUTH = tiny.pictures("red", "green", "blue", each=4, seed=1)


@pytest.fixture
def classifier(tiny_model):
    return BitreplayClassifier(tiny_model)


def test_it_is_the_learner(classifier, tiny_model):
    learner = Learner.from_pretrained(tiny_model, strategy="exact")
    learner.learn(IMAGES, LABELS)
    assert classifier.fit(IMAGES, LABELS) is classifier
    assert classifier.learner_.state_hash() == learner.state_hash()
    assert classifier.classes_.tolist() == ["blue", "green", "red"]
    assert classifier.predict(TEST).tolist() == learner.predict(TEST).tolist()
    order = [learner.labels.index(name) for name in classifier.classes_]
    assert np.array_equal(classifier.predict_proba(TEST), learner.predict_proba(TEST)[:, order])
    assert classifier.score(TEST, TRUTH) == learner.evaluate(TEST, TRUTH).accuracy


def test_partial_fit_goes_on_and_fit_begins_anew(classifier):
    classifier.partial_fit(IMAGES[:6], LABELS[:6], classes=["red", "green", "blue"])
    assert classifier.predict_proba(TEST).shape == (12, 3) and set(classifier.predict(TEST)) == {"red"}
    classifier.partial_fit(IMAGES[6:], LABELS[6:])
    parts = classifier.learner_.state_hash()
    assert classifier.fit(IMAGES, LABELS).learner_.state_hash() == parts, "sums do not know experiences"
    assert classifier.partial_fit(*tiny.pictures("white")).classes_.tolist() == ["blue", "green", "red", "white"]
    with pytest.raises(ValueError, match="classes lacks"):
        classifier.partial_fit(IMAGES, LABELS, classes=["red"])


def test_the_tools_of_scikit_learn(classifier):
    assert cross_val_score(classifier, IMAGES, LABELS, cv=3).min() > 0.8
    search = GridSearchCV(classifier, {"strategy": ["exact", "cwr"]}, cv=2).fit(IMAGES, LABELS)
    assert search.best_params_["strategy"] in ("exact", "cwr")
    rows = clone(classifier).set_params(image_shape=IMAGES.shape[1:])
    flat = make_pipeline(FunctionTransformer(lambda X: X.reshape(len(X), -1)), rows).fit(IMAGES, LABELS)
    assert flat.predict(TEST).tolist() == classifier.fit(IMAGES, LABELS).predict(TEST).tolist()
    assert pickle.loads(pickle.dumps(classifier)).predict(TEST).tolist() == classifier.predict(TEST).tolist()


def test_labels_of_other_kinds_come_back_as_they_were(classifier):
    for labels in (np.array([0, 1] * 9, kind) for kind in (np.int16, bool, np.float64, str)):
        found = classifier.fit(IMAGES, labels).predict(IMAGES)
        assert found.dtype == np.unique(labels).dtype and set(found.tolist()) <= set(labels.tolist())


def test_what_is_wrong_is_refused(classifier, tiny_model):
    with pytest.raises(NotFittedError):
        classifier.predict(TEST)
    with pytest.raises(ValueError, match="image_shape"):
        classifier.fit(IMAGES.reshape(18, -1), LABELS)
    rows = BitreplayClassifier(tiny_model, image_shape=IMAGES.shape[1:])
    with pytest.raises(ValueError, match="integers from 0 to 255"):
        rows.fit(IMAGES.reshape(18, -1) / 2, LABELS)
    with pytest.raises(ValueError, match="per row"):
        rows.fit(IMAGES.reshape(18, -1)[:, :9], LABELS)


class OfNumbers(BitreplayClassifier):
    """Numbers of any range as grey pictures, so that scikit-learn's checks, which know tables alone, can run."""

    def _pictures(self, X, reset=False):
        rows = validate_data(self, X, reset=reset)
        grey = np.clip(rows * 16 + 128, 0, 255).astype(np.uint8)
        return [row[None, :].repeat(max(1, 8 // len(row) + 1), axis=1) for row in grey]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        tags.classifier_tags.poor_score = True
        return tags


NOT_FOR_PICTURES = {
    "check_sample_weight_equivalence": "pictures have no weights",
}


def test_the_checks_of_scikit_learn(tiny_model):
    found = check_estimator(OfNumbers(tiny_model), expected_failed_checks=NOT_FOR_PICTURES, on_fail=None, on_skip=None)
    failed = {row["check_name"]: str(row["exception"])[:300] for row in found if row["status"] == "failed"}
    assert failed == {}
    assert sum(row["status"] == "passed" for row in found) > 40
    assert {row["check_name"] for row in found if row["status"] == "xfail"} <= set(NOT_FOR_PICTURES)
