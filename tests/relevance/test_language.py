import pytest

from foldline.relevance.language import LANGUAGES, language


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("请修复 src/port_scanner.py 的错误，不要改 tests/ 目录。", "zh"),
        ("查一下", "zh"),
        ("テストを直してください。src/app.py は触らないで。", "ja"),
        ("빌드를 고쳐 주세요. src/app.py는 건드리지 마세요.", "ko"),
        ("Почини сборку и не трогай src/legacy.", "ru"),
        ("Полагодь збірку, будь ласка, і не чіпай її.", "uk"),
        ("أصلح البناء من فضلك", "ar"),
        ("तुम बिल्ड ठीक करो", "hi"),
    ],
)
@pytest.mark.requirement("F39", "K24")
def test_the_script_of_the_words_determines_the_language(said, code):
    assert language([said]).code == code
    assert LANGUAGES[code].code == code


@pytest.mark.parametrize(
    "said",
    [
        "Mend the build, please.",
        "Corrige la compilación, por favor.",
        "",
        "12345 !!!",
        "```\n错误\n```",
    ],
)
def test_latin_letters_and_empty_texts_do_not_determine_the_language(said):
    assert language([said]) is None


def test_code_and_paths_do_not_outvote_the_words():
    code = "请运行：\n```python\n" + "def scan_port(host, port): return host\n" * 50 + "```\n谢谢"
    assert language([code]).code == "zh"


def test_a_quoted_foreign_word_does_not_change_the_language():
    assert (
        language(["The log says 错误 on every line; find out why it says so, and mend it."])
        is None
    )


def test_a_giant_text_is_examined_in_part():
    assert language(["你好，请看日志。" * 100_000]).code == "zh"
