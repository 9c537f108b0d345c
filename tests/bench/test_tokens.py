"""Text is split so that fit and test never share a source, and the section is complete."""

import struct
from argparse import Namespace

import pytest

import token_corpus

pytest.importorskip("splintr", reason="the extra 'tokens' is not installed")

SENTENCE = "설정을 변경하려면 설정 파일을 수정한 다음 서버를 다시 시작하십시오.\n"
CHINESE = "系统会先清理旧的工具输出，然后根据需要生成摘要，这些内容必须原样保留。\n"


@pytest.fixture
def root(tmp_path):
    for number in range(12):
        source = tmp_path / f"package-{number}"
        source.mkdir()
        (source / "guide.ko.md").write_text(SENTENCE * 40, encoding="utf-8")
        (source / "guide.zh.md").write_text(f"{number} " + CHINESE * 40, encoding="utf-8")
        (source / "code.py").write_text("def add(a, b):\n    return a + b\n\n\n" * 40)
    return tmp_path


def catalogue(sentences):
    """Write a compiled message catalogue as gettext does; the first entry is its header."""
    texts = [b"Content-Type: text/plain", *(sentence.encode() for sentence in sentences)]
    table, at = b"", 28 + 8 * len(texts)
    for text in texts:
        table += struct.pack("<II", len(text), at)
        at += len(text) + 1
    head = struct.pack("<IIIIIII", 0x950412DE, 0, len(texts), 28, 28, 0, 0)
    return head + table + b"".join(text + b"\0" for text in texts)


def test_sources_are_sorted_by_kind(root):
    kinds = token_corpus.found([root])
    assert set(kinds) == {"korean", "chinese", "python"}
    assert len(kinds["korean"]) == 12


def test_no_source_serves_both_sides(root):
    texts = token_corpus.found([root])
    fit, test = (token_corpus.dealt(texts, side)["chinese"] for side in ("fit", "test"))
    assert fit
    assert test
    assert len(fit) + len(test) == 12
    assert not {text for source in fit for text in source} & {t for s in test for t in s}


def test_translations_are_read_from_a_compiled_catalogue(tmp_path):
    (tmp_path / "ko").mkdir()
    (tmp_path / "ko" / "app.mo").write_bytes(catalogue([SENTENCE.strip()] * 20))
    texts = token_corpus.found([tmp_path])
    assert texts["korean"]["ko"][0].splitlines()[0] == SENTENCE.strip()


@pytest.mark.parametrize("cut", [0, 3, 20, 28, 60, 500])
def test_a_broken_catalogue_is_skipped(tmp_path, cut):
    (tmp_path / "ko").mkdir()
    (tmp_path / "ko" / "app.mo").write_bytes(catalogue([SENTENCE] * 20)[:cut])
    assert not token_corpus.found([tmp_path])


@pytest.fixture
def quiet(monkeypatch):
    monkeypatch.setattr(token_corpus, "COMMANDS", ())


def test_the_section_has_a_row_for_every_kind_and_a_goal_for_every_family(root, quiet):
    import tokens

    options = Namespace(roots=[root], quick=True, transcripts=None, claude=None, per_kind=40)
    section = tokens.section(options)
    assert {row[0] for row in section.tables[0].rows} >= {"korean", "chinese", "base64", "hex"}
    assert section.tables[0].columns[1:] == tokens.QUICK
    told = " ".join(goal.what for goal in section.goals)
    assert all(family in told for family in tokens.QUICK)
    assert section.plots[0].goal == tokens.MOST_ONE
