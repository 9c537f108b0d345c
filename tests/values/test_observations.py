"""Observations: command outputs in the user's role are recognised, user words are not."""

import json

import pytest
from tests.growth import grows_linearly
from tests.neutral import A, T, U, c

from foldline.values.messages import Text, ToolCall, ToolResult
from foldline.values.observations import is_prose, observations, with_calls
from foldline.values.snapshot_mark import SNAPSHOT_HEADER, seal_text


def test_sentences_are_prose_and_code_is_not():
    assert is_prose("This is a sentence that somebody wrote because it matters to the next one.")
    assert not is_prose("import os\nimport sys\n" * 9)
    assert not is_prose("")


def test_with_tool_calls_there_are_no_observations():
    plain = (U("t"), A("```\nls\n```"), U("a.py"))
    assert observations(plain) == {2: False}
    assert observations((*plain, A(c("1")), T("1"))) == {}


def test_shell_output_is_an_observation_and_another_task_is_not():
    task = "We solve the following issue within our repository.\nISSUE: it fails\nbash-$"
    ran = "The command that you gave ran successfully and it did not produce any output.\nbash-$"
    messages = [U(task)]
    for _ in range(3):
        messages += [A("I run it.\n```\nmake\n```"), U(ran)]
    messages += [A("It is done.\n```\nsubmit\n```"), U(task.replace("fails", "hangs"))]
    assert observations(tuple(messages)) == {2: True, 4: True, 6: True}


@pytest.mark.parametrize("text", ["<command>\n", "```bash\n", "letters", "\u3000", " \n"])
def test_hostile_text_is_searched_in_linear_time(text):
    def look(made):
        shell = (U("t"), A(f"I look.\n```\n{made}\n```"), U(made), A("```\nls\n```"), U(made))
        return with_calls(shell, {2: True, 4: True}), is_prose(made), observations(shell)

    assert grows_linearly(look, text.__mul__, 400, 3_200)


@pytest.mark.parametrize(
    ("acted", "words", "command"),
    [
        ("I look.\n<command>\nls -l\n</command>\n", "I look.\n", "ls -l"),
        ("```sh\nls\n```\nThen:\n```sh\npwd\ndate\n```", "```sh\nls\n```\nThen:\n", "pwd\ndate"),
    ],
)
def test_a_command_at_the_end_is_a_call_and_its_output_the_result(acted, words, command):
    task, call, result = with_calls((U("t"), A(acted), U("out\nput")), {2: False})
    assert task == U("t")
    text, made = call.parts
    assert (text, call.role) == (Text(words), "assistant")
    assert isinstance(made, ToolCall)
    assert json.loads(made.arguments) == {"command": command}
    assert result.role == "tool"
    assert result.parts == (ToolResult(made.id, (Text("out\nput"),), made.name),)


def test_a_persons_answer_to_a_command_is_not_its_result():
    answered = (U("t"), A("```\nls\n```"), U("no, use find instead"))
    assert with_calls(answered, {})[2] == answered[2]


def test_shell_state_is_not_part_of_the_output():
    at = "(Open file: n/a)\n(Current directory: /src)\nbash-$"
    acted = A("```\nls\n```")
    for text, output in ((f"a.py (1)\n{at}", "a.py (1)"), (at, ""), ("(a)\nb", "(a)\nb")):
        result = with_calls((U("t"), acted, U(text)), {2: True})[2]
        assert result.results[0].text == output


def test_another_line_in_parentheses_before_a_prompt_is_kept():
    messages = [U("t")]
    for number in range(4):
        messages += [A("```\nmake\n```"), U(f"{number}\n(Error: disk is full)\nbash-$")]
    result = with_calls(messages, observations(messages))[2].results[0].text
    assert result.rstrip() == "0\n(Error: disk is full)"
    percent = [U("t"), *((A("```\nmake\n```"), U("(Disk quota exceeded)\n100%")) * 4)]
    assert not any(observations(percent).values())


@pytest.mark.parametrize(
    "text", ["linking\n(Error: disk is full)", "x = 1\n(Build FAILED)", "(No matches)", "93%"]
)
def test_without_a_shell_prompt_an_output_is_whole(text):
    task, acted = U("t"), A("```\nls\n```")
    messages = (task, acted, U(text))
    assert with_calls(messages, observations(messages))[2].results[0].text == text


@pytest.mark.parametrize(
    "words",
    ["go on", "Now mend src/lock.py.", "Raise it to 50%", "in C#", "ok 👍", "Permission denied"],
)
def test_words_without_a_sentence_are_never_a_certain_output(words):
    acted = A("```\nls\n```")
    assert not any(observations((U("t"), *((acted, U(words)) * 4))).values())
    snapshot = U(seal_text(f"{SNAPSHOT_HEADER}: quotes]"))
    assert 1 not in observations((snapshot, U(words), acted))


def test_a_closing_tag_is_not_a_prompt():
    acted, said = A("```\nls\n```"), U("<feedback>\nNever touch b.py.\n</feedback>")
    assert not any(observations((U("t"), *((acted, said) * 4))).values())


def test_the_output_of_a_folded_command_is_an_uncertain_observation():
    snapshot, acted = U(seal_text(f"{SNAPSHOT_HEADER}: quotes]")), A("```\nls\n```")
    assert observations((snapshot, U("a.py\nbash-$"), acted, U("b.py"))) == {1: False, 3: False}
    assert observations((snapshot, U("x = 1\n" * 500), acted)) == {1: False}
    assert observations((snapshot, U("Now mend b.py."), acted)) == {}


def test_an_agent_that_quotes_code_to_a_person_runs_no_commands():
    talk = [U("t"), A("It is here:\n```\nx = 1\n```"), U("x = 2"), A("I see."), U("and?")]
    assert observations(tuple(talk)) == {}
