"""Observations: outputs in the user's name are known, and words of the user are not taken so."""

import pytest
from tests.growth import grows_linearly
from tests.neutral import A, T, U, c

from foldline.values.observations import is_prose, observations, without_action


def test_sentences_are_prose_and_code_is_not():
    assert is_prose("This is a sentence that somebody wrote because it matters to the next one.")
    assert not is_prose("import os\nimport sys\n" * 9)
    assert not is_prose("")


def test_no_observations_are_looked_for_where_there_are_tool_calls():
    plain = (U("t"), A("```\nls\n```"), U("a.py"))
    assert observations(plain) == {2}
    assert observations((*plain, A(c("1")), T("1"))) == frozenset()


def test_what_a_shell_prompts_is_output_and_another_task_is_the_users():
    task = "We solve the following issue within our repository.\nISSUE: it fails\nbash-$"
    ran = "The command that you gave ran successfully and it did not produce any output.\nbash-$"
    messages = [U(task)]
    for _ in range(3):
        messages += [A("I run it.\n```\nmake\n```"), U(ran)]
    messages += [A("It is done.\n```\nsubmit\n```"), U(task.replace("fails", "hangs"))]
    assert observations(tuple(messages)) == {2, 4, 6}


@pytest.mark.parametrize("text", ["<command>\n", "```bash\n", "letters"])
def test_hostile_text_is_looked_through_in_linear_time(text):
    def look(made):
        return without_action(made), is_prose(made)

    assert grows_linearly(look, text.__mul__, 400, 3_200)


def test_a_command_at_the_end_is_split_off():
    assert without_action("I look.\n<command>\nls -l\n</command>\n") == ("I look.\n", "ls -l")
    before = "```sh\nls\n```\nThen:\n"
    assert without_action(before + "```sh\npwd\n```") == (before, "pwd")


@pytest.mark.parametrize("words", ["go on", "Use port 48113 instead.", "yes, do it!", "继续"])
def test_short_words_behind_a_command_are_the_users(words):
    assert observations((U("t"), A("```\nls\n```"), U(words))) == frozenset()


def test_who_talks_with_a_person_and_shows_code_runs_no_commands():
    talk = [U("t"), A("It is here:\n```\nx = 1\n```"), U("x = 2"), A("I see."), U("and?")]
    assert observations(tuple(talk)) == frozenset()
