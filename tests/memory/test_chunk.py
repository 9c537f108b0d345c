"""Splitting documents: terminates, loses nothing, and never splits a character."""

from __future__ import annotations

from itertools import pairwise

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from foldline.errors import BudgetError
from foldline.memory.chunk import Chunk, ChunkSettings, split
from foldline.tokens.estimate import estimate

KINDS = ("text", "markdown", "code")
SMALL = ChunkSettings(target=64, overlap=16)
LETTERS = (
    "aZ09 .!?,;:#`-*_(){}\t\n\r\u00a0。！？；，上下文工程压缩カナ한글\u1112\u1161\u11ab"
    "e\u0301\u0308\u200d\ufe0f👨👩👧🏽🇩🇪🇨🇳क\u094dषि\u0e33ก\ud83d\ude00"
)
texts = st.text(alphabet=st.sampled_from(LETTERS), max_size=1_500)
lines = st.lists(
    st.sampled_from(
        (
            "# Title", "## Part", "text of a paragraph. And more of it.", "", "```", "def f(a):",
            "    return a", "class A:", "        deep = 1", "}", "上下文工程是一门学问。很重要！",
            "- item", "x" * 400, "@decorated", "function go() {", "# comment",
        )
    ),
    max_size=120,
).map("\n".join)  # fmt: skip


def whole(text: str, chunks: tuple[Chunk, ...]) -> bool:
    """Return True if the fresh parts of the chunks are the text, each at its offsets."""
    return "".join(text[c.fresh : c.end] for c in chunks) == text and all(
        c.text == text[c.start : c.end] and c.start <= c.fresh < c.end for c in chunks
    )


@pytest.mark.requirement("T14")
@pytest.mark.parametrize("kind", KINDS)
@given(text=st.one_of(texts, lines))
def test_every_character_is_in_exactly_one_chunk_and_none_is_too_large(
    kind: str, text: str
) -> None:
    chunks = split(text, kind, SMALL)
    assert bool(chunks) == bool(text.strip())
    assert not chunks or whole(text, chunks)
    assert all(c.tokens == estimate(c.text) <= SMALL.target for c in chunks)


@pytest.mark.requirement("T14", "K26")
@pytest.mark.parametrize("kind", KINDS)
@given(text=texts)
def test_no_character_is_split(kind: str, text: str) -> None:
    ends = {0, len(text)} | {found.end() for found in regex.finditer(r"\X", text)}
    for chunk in split(text, kind, SMALL):
        assert {chunk.start, chunk.fresh, chunk.end} <= ends
        halves = "\ud83d" <= chunk.text[-1] <= "\udbff"
        assert not halves or chunk.end == len(text) or not "\udc00" <= text[chunk.end] <= "\udfff"


@given(text=st.one_of(texts, lines))
def test_lines_exclude_blank_ends(text: str) -> None:
    rows = text.split("\n")
    for chunk in split(text, "text", SMALL):
        if not chunk.text.strip():
            continue
        said = [row.strip() for row in chunk.text.strip().split("\n")]
        assert said[0] in rows[chunk.first_line - 1]
        assert said[-1] in rows[chunk.last_line - 1]
        assert chunk.last_line - chunk.first_line == len(said) - 1


def paragraph(tokens: int) -> str:
    return " ".join(["word"] * tokens)


@pytest.mark.requirement("T14")
def test_paragraphs_of_700_50_and_790_tokens_come_to_an_end() -> None:
    count = lambda text: len(text.split())  # noqa: E731  # a word is a token
    text = "\n\n".join(map(paragraph, (700, 50, 790)))
    chunks = split(text, "text", ChunkSettings(800, 100), count=count)
    assert [chunk.tokens for chunk in chunks] == [750, 790]
    assert whole(text, chunks)


@pytest.mark.requirement("T14")
@pytest.mark.parametrize(
    "text", ["x" * 200_000, "上下文工程" * 20_000, "." * 200_000, "a \n" * 50_000, "🇩🇪" * 5_000]
)
@pytest.mark.parametrize("kind", KINDS)
def test_a_giant_paragraph_is_cut(kind: str, text: str) -> None:
    chunks = split(text, kind)
    assert whole(text, chunks)
    assert max(chunk.tokens for chunk in chunks) <= 800
    assert sum(chunk.tokens > 300 for chunk in chunks) >= len(chunks) - 2, "the chunks are crumbs"


def test_a_text_that_fits_is_one_chunk_and_a_blank_one_is_none() -> None:
    (only,) = split("# A\n\nhello\n", "markdown")
    assert (only.text, only.start, only.fresh, only.end) == ("# A\n\nhello\n", 0, 0, 11)
    assert (only.first_line, only.last_line, only.heading) == (1, 3, ("A",))
    assert split(" \n\t") == split("") == ()


def test_an_overlap_repeats_complete_sentences() -> None:
    text = " ".join(f"Sentence number {n} says something of interest." for n in range(60))
    chunks = split(text, "text", ChunkSettings(200, 40))
    assert len(chunks) > 2
    for before, chunk in pairwise(chunks):
        repeated = text[chunk.start : chunk.fresh]
        assert repeated.startswith("Sentence number")
        assert before.text.endswith(repeated)
        assert 0 < estimate(repeated) <= 40


def test_markdown_is_cut_at_headings_and_knows_its_path() -> None:
    body = "\n\n".join(paragraph(40) for _ in range(3))
    text = f"# Guide\n\nintro\n\n## Install\n\n{body}\n\n## Use\n\n{body}\n\n### Fast\n\n{body}\n"
    chunks = split(text, "markdown", ChunkSettings(200, 50))
    assert [chunk.heading for chunk in chunks] == [
        ("Guide",), ("Guide", "Use"), ("Guide", "Use", "Fast"),
    ]  # fmt: skip
    assert "## Install" in chunks[0].text, "a section that is small is not a chunk of its own"
    assert all(chunk.text.lstrip().startswith("#") for chunk in chunks)
    assert all(chunk.start == chunk.fresh for chunk in chunks), "a new section repeats nothing"


def test_a_heading_is_never_separated_from_its_text() -> None:
    text = "\n".join(f"## Part {n}\n\n{paragraph(50)}\n" for n in range(20))
    for chunk in split(text, "markdown", ChunkSettings(120, 0)):
        assert not chunk.text.rstrip().split("\n")[-1].startswith("#")


def test_fenced_code_has_no_headings() -> None:
    code = "```sh\n" + "\n".join(f"# comment {n}" for n in range(6)) + "\n```\n"
    text = f"# Real\n\n{paragraph(60)}\n\n{code}\n{paragraph(60)}\n"
    chunks = split(text, "markdown", ChunkSettings(90, 0))
    assert {chunk.heading for chunk in chunks} == {("Real",)}
    assert any(code.strip() in chunk.text for chunk in chunks), "the block of code stays whole"


CODE = '''"""A module."""

import os


@decorator
def first(a):
    """Say something."""
{body}
    return a


class Thing:
    """A thing."""

    def second(self):
{inner}

    def third(self):
{inner}
'''


def test_code_is_cut_before_definitions_and_names_its_scopes() -> None:
    body = "\n".join(f"    value_{n} = compute({n}, other={n})" for n in range(7))
    inner = "\n".join(f"        self.value_{n} = compute({n})" for n in range(9))
    text = CODE.format(body=body, inner=inner)
    chunks = split(text, "code", ChunkSettings(150, 0))
    starts = {chunk.text.strip("\n").split("\n")[0].strip() for chunk in chunks}
    assert {"class Thing:", "def third(self):"} <= starts
    assert any("@decorator\ndef first" in chunk.text for chunk in chunks)
    (third,) = (chunk for chunk in chunks if chunk.text.lstrip().startswith("def third"))
    assert third.heading == ("class Thing",)


def test_chinese_is_cut_after_its_sentences() -> None:
    text = "上下文工程关注的是如何为模型选择信息。" * 40
    for chunk in split(text, "text", ChunkSettings(100, 0)):
        assert chunk.text.endswith("。")


@pytest.mark.parametrize("numbers", [{"target": 63}, {"overlap": -1}, {"overlap": 401}])
def test_invalid_sizes_are_an_error(numbers: dict[str, int]) -> None:
    with pytest.raises(BudgetError):
        ChunkSettings(**numbers)


def test_an_unknown_kind_is_an_error() -> None:
    with pytest.raises(BudgetError, match="text"):
        split("hello", "prose")  # type: ignore[arg-type]
