import numpy as np
import pytest

from bitreplay.learning.classes import Classes, names_of


def test_numbers_do_not_depend_on_the_order_of_samples():
    one, other = Classes(), Classes()
    one.add(["b", "a", 3, "b"])
    other.add([3, "a", "a", "b"])
    assert one.names == other.names == (3, "a", "b")


def test_a_number_and_its_text_are_two_classes():
    classes = Classes()
    classes.add([1, "1"])
    assert classes.indices([1, "1"]).tolist() == [0, 1]


def test_a_forgotten_number_is_taken_again():
    classes = Classes(["a", "b", "c"])
    classes.forget(1)
    assert classes.indices(["b"]).tolist() == [-1] and classes.known == ["a", "c"]
    classes.add(["e", "d"])
    assert classes.names == ("a", "d", "c", "e")


def test_rename_keeps_the_number_and_refuses_a_name_in_use():
    classes = Classes(["a", "b"])
    classes.rename("a", "c")
    assert classes.number("c") == 0
    with pytest.raises(ValueError, match="There is a class 'b' already"):
        classes.rename("c", "b")
    with pytest.raises(ValueError, match="There is no class 'a'; known: c, b"):
        classes.rename("a", "d")


@pytest.mark.parametrize(
    "labels",
    [["a", "b"], ("a", "b"), np.array(["a", "b"]), np.array(["a", "b"], object), [np.str_("a"), "b"]],
    ids=["list", "tuple", "array", "objects", "scalars"],
)
def test_text_of_any_kind_becomes_plain_text(labels):
    assert names_of(labels) == ["a", "b"]
    assert all(type(name) is str for name in names_of(labels))


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64])
def test_integers_of_any_kind_become_plain_integers(dtype):
    assert names_of(np.array([1, 2], dtype)) == [1, 2]
    assert all(type(name) is int for name in names_of(np.array([1, 2], dtype)))


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        ([1.5], "text or an integer"),
        ([float("nan")], "text or an integer"),
        (np.array([1.0, np.nan]), "text or an integer"),
        ([None], "text or an integer"),
        ([True], "text or an integer"),
        ([b"a"], "text or an integer"),
        ([["a"]], "text or an integer"),
        ([""], "1 to 200 characters"),
        (["a" * 201], "1 to 200 characters"),
        ([1 << 60], "within 2\\^53"),
        (np.array([["a"]]), "one dimension"),
        ({"a": 1}, "a list or an array"),
        (None, "a list or an array"),
    ],
)
def test_other_labels_are_refused(labels, sentence):
    with pytest.raises(ValueError, match=sentence):
        names_of(labels)


def test_answers_have_the_kind_of_the_names():
    assert Classes([7, 8]).named(np.array([1, 0])).dtype == np.int64
    assert Classes(["a", "b"]).named(np.array([1, 0])).tolist() == ["b", "a"]
    mixed = Classes(["a", 8]).named(np.array([1, 0, -1]))
    assert mixed.dtype == object and mixed.tolist() == [8, "a", None]
