"""Vectors as bytes, and the nearest of them."""

from __future__ import annotations

import sys

import pytest

from foldline.errors import InputError, MissingExtra
from foldline.retrieval import Document, Index, embedding, pack, unpack

numpy = pytest.importorskip("numpy")


class Letters:
    """Vectors by the first letter of a text; enough to be near or far."""

    name, dimensions = "letters", 26

    def understands(self, text):
        return text.isascii()

    def embed(self, texts):
        out = numpy.zeros((len(texts), 26))
        for row, text in zip(out, texts, strict=True):
            row[(ord(text.lower()[0]) - 97) % 26] = 1
        return out


def test_a_vector_survives_as_bytes_and_gets_length_one():
    read = unpack(pack([3.0, 0.0, 4.0]))
    assert read == pytest.approx([0.6, 0.0, 0.8], abs=1e-3)
    assert len(pack([1.0] * 384)) == 768


@pytest.mark.parametrize("bad", [[0.0, 0.0], [float("nan"), 1.0], [float("inf"), 0.0]])
def test_zero_and_non_finite_vectors_are_refused(bad):
    with pytest.raises(InputError):
        pack(bad)


def test_invalid_vector_bytes_are_refused():
    with pytest.raises(InputError):
        unpack(b"abc")


def test_meaning_finds_documents_without_shared_words():
    index = Index([Document("1", "zebra"), Document("2", "apple")], embedder=Letters())
    found = index.search("zoo", 1)
    assert found[0].id == "1"
    assert found[0].parts["meaning"] > 0
    assert found[0].strength == pytest.approx(1)


def test_a_text_in_an_unknown_language_is_found_by_words():
    index = Index([Document("1", "咖啡"), Document("2", "zebra")], embedder=Letters())
    found = index.search("咖啡")
    assert [hit.id for hit in found] == ["1"]
    assert "meaning" not in found[0].parts


def test_vectors_of_another_model_are_refused():
    index = Index([Document("1", "x", vector=[1.0, 0.0])])
    with pytest.raises(InputError, match="dimensions"):
        index.add([Document("2", "y", vector=[1.0, 0.0, 0.0])])
    with pytest.raises(InputError, match="dimensions"):
        index.search("x", vector=[1.0, 0.0, 0.0])


def test_removed_vectors_are_not_found_and_the_rest_is():
    index = Index(embedder=Letters())
    index.add(Document(letter, f"{letter}x") for letter in "abcdefghijklmnopqrstuvwxyz")
    index.remove(["a", "m", "z"])
    assert index.search("my", 1)[0].id != "m"
    for letter in "bky":
        assert index.search(letter + "q", 1)[0].id == letter
    allowed = index.search("kq", 3, only=lambda name: name in "xy")
    assert {hit.id for hit in allowed} == {"x", "y"}


def test_an_embedding_that_fails_is_an_error_and_not_a_zero():
    class Broken(Letters):
        def embed(self, texts):
            raise ConnectionError(f"the model is away: {len(texts)} not embedded")

    with pytest.raises(ConnectionError):
        Index([Document("1", "x")], embedder=Broken())


def test_without_numpy_the_error_names_the_extra(monkeypatch):
    embedding.arrays.cache_clear()
    monkeypatch.setitem(sys.modules, "numpy", None)
    with pytest.raises(MissingExtra, match=r"foldline\[memory\]"):
        pack([1.0])
    embedding.arrays.cache_clear()
