import pytest

from foldline.core.summary_settings import TEMPLATE_NAMES
from foldline.relevance.language import CHINESE, LANGUAGES
from foldline.summary.templates import TEMPLATES, template


def test_every_name_of_the_settings_has_a_template():
    assert tuple(TEMPLATES) == TEMPLATE_NAMES


@pytest.mark.parametrize("name", TEMPLATE_NAMES)
def test_a_template_names_every_section_that_it_requires(name):
    for found in (TEMPLATES[name], TEMPLATES[name].chinese):
        assert all(section in found.prompt for section in found.sections)
        for tag in (*found.scratch[:1], *found.wrapper[:1]):
            assert f"<{tag}>" in found.prompt
            assert f"</{tag}>" in found.prompt


@pytest.mark.requirement("K24", "F39")
@pytest.mark.parametrize("name", TEMPLATE_NAMES)
def test_a_chinese_conversation_gets_the_chinese_text(name):
    assert template(name, CHINESE) is TEMPLATES[name].chinese
    assert any("\u4e00" <= sign <= "\u9fff" for sign in template(name, CHINESE).prompt)
    assert template(name, LANGUAGES["ja"]) is TEMPLATES[name]
    assert template(name, None) is TEMPLATES[name]


@pytest.mark.requirement("G4")
def test_the_state_snapshot_has_constraints_beside_the_five_known_parts():
    known = {
        "overall_goal",
        "key_knowledge",
        "file_system_state",
        "recent_actions",
        "current_plan",
    }
    sections = {f"<{tag}>" for tag in (*known, "constraints")}
    assert set(TEMPLATES["state_snapshot"].sections) == sections


@pytest.mark.requirement("K25")
def test_nine_sections_are_nine():
    assert len(TEMPLATES["nine_sections"].sections) == 9


@pytest.mark.requirement("H4")
def test_five_sections_are_five():
    assert len(TEMPLATES["five_sections"].sections) == 5


@pytest.mark.requirement("F45")
@pytest.mark.parametrize("language", [None, CHINESE])
def test_a_text_can_be_a_template(language):
    assert template("List {what} is open.", language).prompt == "List {what} is open."


@pytest.mark.parametrize("language", [None, CHINESE])
def test_the_account_template_requests_what_a_successor_must_know(language):
    text = template("account", language).prompt
    kinds = {
        None: ("constraint", "cause", "decided", "state", "open", "value", "in vain", "error"),
        CHINESE: ("约束", "原因", "决定", "状态", "没有完成", "数值", "无效", "错"),
    }
    assert all(kind in text for kind in kinds[language])
