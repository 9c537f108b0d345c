import os

import pytest

from foldline.session import Session
from foldline.stores.memory import MemoryStore
from foldline.tools import ErrorCode, Skills
from foldline.tools.skills import LONGEST_BODY, MOST_RESOURCES, list_resources, parse_front_matter


def skill(folder, name, body="Do it for $ARGUMENTS.", description="How to do it.", **files):
    place = folder / name
    place.mkdir()
    told = f"---\nname: {name}\ndescription: {description}\nallowed-tools:\n  - x\n---\n{body}\n"
    (place / "SKILL.md").write_text(told, encoding="utf-8")
    for file, text in files.items():
        (place / f"{file}.md").write_text(text, encoding="utf-8")
    return place


@pytest.mark.requirement("H15")
def test_names_come_first_texts_on_demand_and_files_last(tmp_path):
    skill(tmp_path, "release", description="How a release is made.", checklist="1. Tag.")
    skill(tmp_path, "review")
    skills = Skills(tmp_path)
    assert [one.name for one in skills.skills] == ["release", "review"]
    assert "- release: How a release is made." in skills.tool.description
    assert "Do it" not in skills.tool.description
    loaded = skills.tool.run({"name": "release", "arguments": "1.2"})
    assert loaded.pinned
    assert loaded.text.startswith('<skill name="release" version="')
    assert "Do it for 1.2." in loaded.text
    assert "Files of this skill: checklist.md" in loaded.text
    file = skills.tool.run({"name": "release", "resource": "checklist.md"})
    assert (file.text, file.pinned) == ("1. Tag.", False)


@pytest.mark.requirement("H15")
@pytest.mark.parametrize("name", ["../release", "/etc", "release/..", "relase", "", "release\0"])
def test_a_name_is_never_used_as_a_path(tmp_path, name):
    skill(tmp_path, "release", checklist="x")
    (tmp_path / "secret.md").write_text("secret")
    skills = Skills(tmp_path)
    assert skills.load(name).code is ErrorCode.NOT_FOUND
    for resource in ("../secret.md", "/etc/passwd", "SKILL.md", "checklist.md/"):
        assert skills.load("release", resource=resource).code is ErrorCode.NOT_FOUND
    assert "Did you mean 'release'" in skills.load("relase").text
    assert skills.tool.run({}).code is ErrorCode.INVALID_ARGUMENTS


@pytest.mark.requirement("H15")
def test_invalid_skills_are_reported_and_others_load(tmp_path):
    skill(tmp_path, "good")
    skill(tmp_path, "large", body="x" * LONGEST_BODY)
    skill(tmp_path, "wordy", description="x" * 1_025)
    skill(tmp_path, "Shouting")
    skill(tmp_path, "blank", body=" ")
    (tmp_path / "empty").mkdir()
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "SKILL.md").write_text("no front matter")
    (tmp_path / "bytes").mkdir()
    (tmp_path / "bytes" / "SKILL.md").write_bytes(b"---\n\xff\xfe")
    skill(tmp_path, "twice").joinpath("SKILL.md").write_text(
        "---\nname: good\ndescription: d\n---\nx"
    )
    skills = Skills(tmp_path)
    assert [one.name for one in skills.skills] == ["good"]
    told = "\n".join(skills.problems)
    for name in ("large", "wordy", "Shouting", "blank", "empty", "plain", "bytes", "twice"):
        assert f"{name}: " in told
    assert Skills(tmp_path / "nowhere").problems


@pytest.mark.requirement("H15")
def test_links_are_not_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "SKILL.md").write_text("---\nname: evil\ndescription: d\n---\nx")
    folder = tmp_path / "skills"
    folder.mkdir()
    (folder / "evil").symlink_to(outside)
    place = skill(folder, "good", notes="fine")
    (place / "passwd.md").symlink_to("/etc/passwd")
    os.mkfifo(place / "pipe")
    skills = Skills(folder)
    (good,) = skills.skills
    assert good.resources == ("notes.md",)
    (place / "notes.md").unlink()
    (place / "notes.md").symlink_to("/etc/passwd")
    assert skills.load("good", resource="notes.md").code is ErrorCode.UNAVAILABLE


@pytest.mark.requirement("H15")
def test_a_reload_finds_new_skills_and_keeps_unchanged_ones(tmp_path):
    skill(tmp_path, "old")
    place = skill(tmp_path, "edited")
    skills = Skills(tmp_path)
    before = {one.name: one for one in skills.skills}
    skill(tmp_path, "new")
    (place / "SKILL.md").write_text("---\nname: edited\ndescription: Other.\n---\nOther words.")
    skills.reload()
    after = {one.name: one for one in skills.skills}
    assert set(after) == {"old", "edited", "new"}
    assert after["old"] is before["old"]
    assert after["edited"].body == "Other words."
    assert after["edited"].version != before["edited"].version


@pytest.mark.requirement("H15")
def test_a_skill_still_in_view_is_not_repeated(tmp_path):
    skill(tmp_path, "old")
    kept = set()
    skills = Skills(tmp_path, is_pinned=kept.__contains__)
    text = skills.load("old", "a").text
    kept.add(text.splitlines()[0])
    again = skills.load("old", "a")
    assert "already loaded above" in again.text
    assert not again.pinned
    assert skills.load("old", "b").pinned


@pytest.mark.requirement("H15")
def test_a_skill_survives_a_compaction_word_for_word(tmp_path):
    skill(tmp_path, "old", body="The port is 48113. " * 40)
    output = Skills(tmp_path).load("old")
    session = Session.open(None, "s", store=MemoryStore(), window=4_000, format="openai-chat")
    with session:
        session.append({"role": "user", "content": "Use the skill."})
        call = {"id": "c1", "type": "function", "function": {"name": "skill", "arguments": "{}"}}
        session.append({"role": "assistant", "content": None, "tool_calls": [call]})
        number = session.append({"role": "tool", "tool_call_id": "c1", "content": output.text})
        session.pin(number)
        for turn in range(40):
            session.append({"role": "assistant", "content": f"Step {turn}. " + "and so on " * 40})
            session.append({"role": "user", "content": f"Go on, {turn}."})
            shown = session.view()
    assert any(receipt.status == "compacted" for receipt in session.receipts)
    assert output.text in [message["content"] for message in shown]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("name: a b", "a b"),
        ('name: "a: # b"', "a: # b"),
        ("name: a # comment", "a"),
        ("name: >\n  one\n  two", "one two"),
        ("name: |\n  one\n  two", "one\ntwo"),
        ("name:\n  one\n  two", "one two"),
    ],
)
def test_front_matter_is_read_in_the_ways_in_which_it_is_written(line, value):
    assert parse_front_matter(["other: x", *line.split("\n"), "last: y"]) == {
        "other": "x",
        "name": value,
        "last": "y",
    }


def test_the_files_of_a_skill_are_bounded(tmp_path):
    deep = tmp_path
    for _ in range(8):
        deep = deep / "d"
        deep.mkdir()
        (deep / "f").write_text("")
    assert len(list_resources(tmp_path)) == 4
    for number in range(MOST_RESOURCES + 5):
        (tmp_path / f"f{number:03}").write_text("")
    assert len(list_resources(tmp_path)) == MOST_RESOURCES
