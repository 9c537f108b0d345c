from __future__ import annotations

from foldline.formats.opaque_text import opaque_text


def test_words_are_collected_in_order() -> None:
    block = {
        "type": "search_result",
        "title": "A page",
        "source": "https://e.org",
        "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}],
    }
    assert opaque_text(block) == "A page\nhttps://e.org\none\ntwo"


def test_ids_encrypted_values_and_base64_are_no_words() -> None:
    block = {
        "type": "x",
        "id": "x_1",
        "encrypted_content": "E" * 99,
        "signature": "S" * 99,
        "result": "iVBOR",
        "content": [{"source": {"type": "base64", "data": "iVBOR"}}],
    }
    assert opaque_text(block) == ""


def test_arguments_are_words_as_json() -> None:
    assert opaque_text({"name": "web", "input": {"q": "汉"}}) == 'web\n{"q": "汉"}'


def test_nesting_without_end_is_cut_off() -> None:
    deep: object = "end"
    for _ in range(100_000):
        deep = [deep]
    assert opaque_text({"content": deep, "input": deep, "title": "t"}) == "t"
