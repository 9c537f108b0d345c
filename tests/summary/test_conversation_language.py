"""The language of a compaction: that of the user, or the one that is set."""

import pytest
from tests.neutral import A, U, view

from foldline.summary.summarize import conversation_language


@pytest.mark.requirement("F39", "K24")
@pytest.mark.parametrize(
    ("setting", "said", "name"),
    [
        ("auto", "请修复构建。", "Chinese (中文)"),
        ("auto", "Mend it.", None),
        ("ja", "Mend it.", "Japanese (日本語)"),
        ("ZH", "Mend it.", "Chinese (中文)"),
        ("German", "请修复构建。", "German"),
    ],
)
def test_the_language_is_that_of_the_user_or_the_configured_one(setting, said, name):
    shown = view(U(said), A("The log is long. " * 50), U("ok"))
    language = conversation_language(shown, setting)
    assert (language.name if language else None) == name


@pytest.mark.parametrize("said", ["已修复，测试全部通过。", "The build is fixed."])
def test_the_answers_of_the_model_do_not_count(said):
    assert conversation_language(view(U("Mend the build."), A(said * 50))) is None
