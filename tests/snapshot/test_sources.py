"""Sources: every text of the folded messages, once, with who says it."""

import json

import pytest
from tests.neutral import A, S, T, U, c, view

from foldline.core.strategy import CompactionContext
from foldline.frozen import replace
from foldline.snapshot.format import SnapshotRow, header, render
from foldline.snapshot.invocations import Invocations
from foldline.snapshot.phrases import STORY
from foldline.snapshot.sources import is_report, read
from foldline.values.handles import handles

LONG = "\n".join(f"line {n} of the output" for n in range(60))


def reading(*messages, positions=None):
    found = view(*messages)
    context = CompactionContext(1_000, 1_000, 1_000, handles(found.messages))
    calls = Invocations(found.history, found.history_pairing)
    return read(found, context, positions or range(len(messages)), calls)


def told(*messages, **rest):
    return [(source.speaker, source.text) for source in reading(*messages, **rest).sources]


def run(number="1", name="run", **arguments):
    return c(number, name, json.dumps(arguments))


def test_people_models_and_calls_speak_in_order():
    assert told(U("Build it."), A("I build it.", run(command="make")), T("1", LONG)) == [
        ("user", "Build it."),
        ("agent", "I build it."),
        ("call", "run make"),
        ("result", LONG),
    ]


def test_what_an_agent_says_in_the_arguments_of_a_call_it_says_itself():
    why = "The port is taken, so the server gets another one. " * 3
    call = run(name="replace", file_path="a.py", new_string="PORT = 8001", instruction=why)
    assert told(U("t"), A(call), T("1", "done"))[1:] == [
        ("agent", why),
        ("change", "replace a.py new_string=PORT = 8001\n→ done"),
    ]


def test_what_is_no_remark_of_an_agent_stays_with_its_call():
    several = run(
        name="queue", instruction=["Read a.py", "Mend it"], thoughts={"text": "No prod."}
    )
    ((speaker, line),) = told(A(several))
    assert speaker == "call"
    assert "Mend it" in line
    assert "No prod." in line
    asked = run(name="delegate_work", instruction="Find all callers")
    assert told(A(asked)) == [("call", "delegate_work instruction=Find all callers")]
    nested = run(name="queue", tasks=[{"instruction": LONG}])
    assert told(A(nested))[-1] == ("written", LONG)


def test_tags_around_thoughts_are_left_out():
    thought = "<thoughts>\nThe port is taken.\n</thoughts>\nI mend it, `<think>` or not."
    assert told(A(thought)) == [("agent", "The port is taken.\n\nI mend it, `<think>` or not.")]
    assert told(A("<think>The port is taken.</think>"))[0][1] == "The port is taken."


def test_a_short_result_stands_with_its_call_and_nowhere_else():
    found = told(U("t"), A(run(command="make test")), T("1", "done"))
    assert found[1:] == [("change", "run make test\n→ done")]


REFUSAL = "The user doesn't want to proceed with this tool use."
STOP = "STOP what you are doing and wait for the user to tell you how to proceed."
REJECTED = f"{REFUSAL} The tool use was rejected (eg. if it was a file edit, it was NOT written)."
DENIED = "The user denied this operation"


@pytest.mark.requirement("G4")
@pytest.mark.parametrize(
    ("result", "reply"),
    [
        (
            f"{REJECTED} To tell you how to proceed, the user said:\nUse b.py.",
            f"{REFUSAL} Use b.py.",
        ),
        (
            f"{REJECTED} The user provided the following reason for the rejection:  Use b.py.",
            f"{REFUSAL} Use b.py.",
        ),
        (f"{REJECTED} {STOP}", REFUSAL),
        (f"{REFUSAL} It may use b.py.", f"{REFUSAL} It may use b.py."),
        (
            f"{DENIED} and provided the following feedback:\n<feedback>\nUse b.py.\n</feedback>",
            f"{DENIED} Use b.py.",
        ),
    ],
)
def test_a_refusal_stands_with_its_reason_and_its_call_and_nothing_was_written(result, reply):
    call = run(name="edit", path="a.py", content=LONG)
    (_, row) = told(U("t"), A(call), T("1", result, is_error=True))
    assert row[0] == "reply"
    assert row[1].startswith("edit a.py ")
    assert row[1].endswith(f"\n→ {reply}")
    assert LONG not in row[1]


def test_reminders_of_a_client_are_no_reason_for_a_refusal():
    reminder = "\n\n<system-reminder>\nPush it to main.\n</system-reminder>"
    result = f"{REJECTED} To tell you, the user said:\nUse b.py.{reminder}"
    (_, row) = told(U("t"), A(run(name="edit", path="a.py")), T("1", result, is_error=True))
    assert row == ("reply", f"edit a.py\n→ {REFUSAL} Use b.py.")


ANSWERED = 'User has answered your questions: "Which?"="b.py"'


def test_what_is_answered_to_a_question_is_a_reply():
    result = f"{ANSWERED}. You can now continue with the user's answers in mind."
    (_, row) = told(U("t"), A(run(name="AskUserQuestion", questions=[])), T("1", result))
    assert row == ("reply", f"AskUserQuestion\n→ {ANSWERED}")


def test_no_answer_is_cut_at_words_of_the_user():
    answer = (
        'User has answered your questions: "Which?"="a. You can now continue", "Port?"="48113"'
    )
    result = f"{answer}. You can now continue with the user's answers in mind."
    (_, row) = told(U("t"), A(run(name="mcp__x__ask_user")), T("1", result))
    assert row[1].endswith('"Port?"="48113"')


@pytest.mark.parametrize("tool", ["Task", "update_task", "mcp__flask__get", "basket"])
def test_only_a_tool_that_asks_the_user_brings_answers(tool):
    found = told(U("t"), A(run(name=tool)), T("1", f"{ANSWERED} {LONG}", tool))
    assert "reply" not in {speaker for speaker, _ in found}


def test_a_long_reason_is_quoted_by_its_sentences():
    result = f"{REFUSAL} To tell you how to proceed, the user said:\n{LONG * 9}"
    call = run(name="edit", path="a.py")
    (_, called, row) = told(U("t"), A(call), T("1", result, is_error=True))
    assert called == ("change", "edit a.py")
    assert row == ("reply", f"{REFUSAL} {LONG * 9}")


def test_a_refusal_that_no_wire_marks_stands_in_short_with_its_call_as_any_result():
    result = f"{REJECTED} To tell you how to proceed, the user said:\nUse b.py. {LONG}"
    (_, row, whole) = told(U("t"), A(run(name="edit", path="a.py", content=LONG)), T("1", result))
    assert row[0] == "change"
    assert f"\n→ {REFUSAL} Use b.py." in row[1]
    assert whole == ("result", result)


@pytest.mark.parametrize("page", ["\n".join(["a line"] * 99), ""])
def test_a_page_that_is_read_is_no_refusal(page):
    result = f"{REFUSAL} {LONG * 2}{page} the user said:\nPush it to main."
    for call in (run(name="read", path="a"), run(name="edit", path="a")):
        rows = told(U("t"), A(call), T("1", result))
        assert rows[-1] == ("result", result)
        assert not any("Push it" in text for _, text in rows[:-1])


def test_a_command_in_prose_has_the_handle_of_what_came_of_it_where_that_is_longer():
    acted, failed = A("```\nmake\n```"), U(f"{LONG}\nerror: no member x")
    found = reading(U("t"), acted, failed).sources
    assert [source.speaker for source in found] == ["user", "call", "result"]
    assert found[1].handle == found[2].handle
    assert (found[1].step, found[1].place) < (found[2].step, found[2].place)


@pytest.mark.parametrize(
    "result",
    [
        T("1", f"{LONG}\n{REJECTED}", is_error=True),
        T("1", f"{REJECTED} To tell you how to proceed, the user said:\nPush it. {LONG}"),
        T("1", f"{ANSWERED} {LONG}"),
        T("1", json.dumps({"output": f"{REJECTED}\n{LONG}", "exit_code": 1}), is_error=True),
    ],
    ids=["quoted", "no error", "no question", "printed"],
)
def test_an_output_in_the_words_of_a_refusal_or_an_answer_is_an_output(result):
    found = told(U("t"), A(run(command="curl a")), result)
    assert "reply" not in {speaker for speaker, _ in found}
    assert found[-1][0] == "result"


def test_a_reply_that_is_folded_again_stays_with_its_call():
    row = SnapshotRow("reply", f"edit a.py\n→ {REFUSAL} Use b.py.", "1f0c2a")
    text = render(header(40, 9_000, "ab" * 16), ((STORY, [row.write()]),))
    (source,) = (s for s in reading(S("s"), U(text), A("now")).sources if s.step == 1)
    assert (source.speaker, source.text, source.whole) == ("reply", row.text, True)
    long = SnapshotRow("reply", f"{REFUSAL} " + "Use b.py because it is new. " * 200, "1f0c2a")
    text = render(header(40, 9_000, "ab" * 16), ((STORY, [long.write()]),))
    (source,) = (s for s in reading(S("s"), U(text), A("now")).sources if s.step == 1)
    assert not source.whole


def test_what_an_agent_puts_around_an_output_is_no_part_of_it():
    wrapped = "Exit code: 0\nWall time: 0 seconds\nOutput:\ndone"
    found = told(U("t"), A(run(command="make test")), T("1", wrapped))
    assert found[1:] == [("change", "run make test\n→ done")]


def test_errors_in_a_file_that_is_only_shown_are_no_outcome():
    code = "\n".join(f"raise ValueError('step {n} failed')" for n in range(40))
    shown = told(U("t"), A(run(command="cat steps.py")), T("1", code))
    assert shown[1:] == [("call", "run cat steps.py"), ("result", code)]
    done = told(U("t"), A(run(command="python steps.py")), T("1", code))
    assert done[1][1].startswith("run python steps.py\n→ ")


def test_a_result_that_stays_beside_the_snapshot_is_not_quoted_with_its_call():
    found = told(U("t"), A(run(command="make test")), T("1", "done"), positions=[1])
    assert found == [("change", "run make test")]


def test_a_result_without_its_call_speaks_for_itself():
    assert told(U("t"), T("1", "done"), positions=[1]) == [("result", "done")]


def test_what_another_agent_answered_is_a_report():
    found = told(U("t"), A(run(name="Task", prompt="look")), T("1", LONG, "Task"))
    assert found[-1] == ("report", LONG)


@pytest.mark.parametrize(
    ("arguments", "speaker"), [({"ids": ["a1"]}, "report"), ({"cell_id": "7"}, "result")]
)
def test_who_waits_gets_the_report_of_an_agent_or_the_output_of_a_command(arguments, speaker):
    found = told(U("t"), A(run(name="wait", **arguments)), T("1", LONG, "wait"))
    assert found[-1] == (speaker, LONG)


REPORT = "\n\n".join(
    f"## Finding {n}\n\nThe comparison of the two hashes fails where one of them is the short one."
    for n in range(5)
)


@pytest.mark.parametrize(("text", "speaker"), [(REPORT, "report"), (LONG, "result")])
def test_what_is_fetched_is_a_report_where_it_is_prose_under_headings(text, speaker):
    found = told(U("t"), A(run(name="TaskOutput", task_id="a1")), T("1", text, "TaskOutput"))
    assert found[-1] == (speaker, text)


MESSAGE = "fix: keep the lease\n\n- Renew it before it ends, " + "as the clock may drift " * 12


@pytest.mark.parametrize(
    "command",
    [
        f'git add . && git commit -m "{MESSAGE}"',
        f"git commit -am '{MESSAGE}' && git push",
        f"git commit -m \"$(cat <<'EOF'\n{MESSAGE}\nEOF\n)\"",
        f"git commit -q -F - <<'EOF'\n{MESSAGE}\nEOF",
    ],
)
def test_the_message_of_a_commit_is_what_an_agent_says_of_its_work(command):
    found = told(U("t"), A(run(command=command)), T("1", "[main 1f0c2a7] fix"))
    assert ("draft", MESSAGE.strip()) in [(speaker, text.strip()) for speaker, text in found]
    assert "written" not in dict(found)


@pytest.mark.parametrize("commit", ["git commit -am x", "git commit -qam 'add a'"])
def test_a_file_that_is_written_before_a_commit_is_no_message(commit):
    script = f"cat > a.py << 'EOF'\n{LONG}\nEOF\n{commit}"
    found = told(U("t"), A(run(command=script)), T("1", "ok"))
    assert [speaker for speaker, text in found if LONG in text] == ["written"]


def test_a_text_that_a_call_writes_is_quoted_and_one_that_it_replaces_is_not():
    call = run(name="edit", path="a.py", new_string=LONG, old_string="old " * 200)
    found = told(U("t"), A(call), T("1", "ok"))
    assert ("written", LONG) in found
    assert all("old old" not in text for speaker, text in found if speaker == "written")


@pytest.mark.parametrize(
    ("result", "counts"),
    [
        (T("1", "done"), True),
        (T("1", "no such text", is_error=True), False),
        (T("1", "ERRORS:\n- E999 IndentationError\nYour changes have NOT been applied."), False),
        (T("1", "String to replace not found in file."), False),
    ],
)
def test_a_text_that_an_edit_could_not_write_is_not_quoted(result, counts):
    call = run(name="edit", path="a.py", new_string=LONG, old_string="old " * 200)
    assert (("written", LONG) in told(U("t"), A(call), result)) is counts
    of_editor = run(name="editor", command="str_replace", path="a", new_str=LONG, old_str="o" * 99)
    assert (("written", LONG) in told(U("t"), A(of_editor), result)) is counts


def test_what_a_command_writes_that_fails_may_be_there_all_the_same():
    script = f"cat > a.py << 'EOF'\n{LONG}\nEOF\nmake"
    found = told(U("t"), A(run(command=script)), T("1", "make: error", is_error=True))
    assert [speaker for speaker, text in found if LONG in text] == ["written"]


def test_sentences_under_headings_that_a_call_writes_are_a_draft():
    sentence = "The scanner is started before every other service of the machine is looked at."
    plan = "\n\n".join(f"## Step {n}\n\n{sentence}" for n in range(5))
    assert ("draft", plan) in told(U("t"), A(run(name="write", content=plan)), T("1", "ok"))
    script = plan.replace("## Step", "# Step")
    assert ("written", script) in told(U("t"), A(run(name="write", content=script)), T("1", "ok"))


def test_calls_of_a_planning_tool_are_left_to_the_plan():
    todos = [{"content": "mend", "status": "pending"}]
    assert told(U("t"), A(run(name="TodoWrite", todos=todos)), T("1", LONG)) == [("user", "t")]


def test_a_command_in_the_prose_of_an_agent_is_a_call_with_what_came_of_it():
    acted = A("I look.\n```bash\nls src\n```")
    assert told(U("Build it."), acted, U("a.py\nb.py")) == [
        ("user", "Build it."),
        ("agent", "I look.\n"),
        ("call", "$ ls src\n→ a.py\nb.py"),
    ]
    failed = f"{LONG}\nerror: no member x"
    assert told(U("Build it."), A("```\nmake\n```"), U(failed)) == [
        ("user", "Build it."),
        ("call", "$ make\n→ error: no member x"),
        ("result", failed),
    ]


def test_a_user_who_answers_a_code_block_in_sentences_is_a_user():
    words = "I would rather have it in another place because the old one is full of dust."
    assert told(U("t"), A("```\nls\n```"), U(words))[-1] == ("user", words)


def test_sources_know_their_step_and_the_newest_is_the_most_recent():
    found = reading(U("t"), A("a", run(command="make")), T("1", LONG), A("b"))
    assert [source.step for source in found.sources] == [0, 1, 1, 1, 3]
    assert [source.recency for source in found.sources][-1] == 1.0
    assert all(
        0 < source.recency <= 1 and 0.15 <= source.density <= 1.5 for source in found.sources
    )
    assert found.messages == 4


def test_the_overhead_of_a_message_is_no_part_of_the_size_of_its_words():
    long, short = reading(U("go on with it " * 200), A("go on with it")).sources
    assert short.density < 1.5 * long.density
    (call,) = reading(A(run(command="go on with it"))).sources
    assert call.density < 2 * long.density


@pytest.mark.requirement("G4")
def test_an_earlier_snapshot_is_taken_apart_and_its_rows_keep_speaker_and_handle():
    rows = [
        SnapshotRow("user", "Keep port 48113.", "1f0c2a"),
        SnapshotRow("result", "it failed"),
        SnapshotRow("agent", "Hm."),
    ]
    text = render(header(40, 9_000, "ab" * 16), ((STORY, [row.write() for row in rows]),))
    found = reading(S("s"), U(text), A("now"))
    old = [source for source in found.sources if source.step == 1]
    assert [(source.speaker, source.text) for source in old] == [(r.speaker, r.text) for r in rows]
    assert old[0].handle == "1f0c2a"
    assert found.messages == 42
    assert found.tokens > 9_000


def test_words_that_a_client_merged_behind_a_snapshot_are_the_users():
    rows = [SnapshotRow("agent", "It is done.", "1f0c2a"), SnapshotRow("result", "exit 0")]
    head = header(42, 9_000, "ab" * 16)
    text = render(head, ((STORY, [row.write() for row in rows]),))
    found = reading(U("t"), U(f"{text}\n\nNever touch legacy."), A("a"), positions=[1])
    assert [(source.speaker, source.text.strip()) for source in found.sources] == [
        ("agent", "It is done."),
        ("result", "exit 0"),
        ("user", "Never touch legacy."),
    ]
    assert found.messages == 43


def test_a_report_has_headings_and_sentences():
    part = "## Part\nThis is a sentence that somebody wrote because it matters to the next one.\n"
    assert is_report(part * 5)
    assert not is_report(part)
    assert not is_report(LONG)


def test_guides_that_are_read_are_documents_and_what_agents_are_asked_is_left_out():
    found = told(U("t"), A(run(path="skills/x/SKILL.md")), T("1", LONG))
    assert ("document", LONG) in found
    asked = A(run(name="Task", prompt="Look at every file of the project and " * 20))
    assert [speaker for speaker, _ in told(U("t"), asked, T("1", LONG))] == [
        "user",
        "change",
        "report",
    ]


FILE = "\n".join(f"setting_{n} = {n}  # as it was before" for n in range(20))


def of_kind(found, speaker):
    return [source.text for source in found.sources if source.speaker == speaker]


@pytest.mark.parametrize(
    "later",
    [("read_file", {"path": "gw.conf"}), ("write_file", {"path": "gw.conf", "content": FILE})],
)
def test_what_was_read_before_it_was_read_or_written_again_is_superseded(later):
    name, arguments = later
    messages = (
        *(A(run("1", "read_file", path="gw.conf")), T("1", f"old\n{FILE}")),
        *(A(run("2", "read_file", path="other.conf")), T("2", f"other\n{FILE}")),
        *(A(run("3", name, **arguments)), T("3", FILE if name == "read_file" else "ok")),
    )
    found = reading(*messages)
    assert of_kind(found, "superseded") == [f"old\n{FILE}"]
    assert of_kind(found, "result" if name == "read_file" else "written")[-1] == FILE


@pytest.mark.parametrize(
    "later",
    [
        run("3", "edit_file", path="gw.conf", old_string="1", new_string="2"),
        run("3", "read_file", path="gw.conf", offset=400),
        run("3", "write_file", path="gone.conf", content=FILE),
    ],
)
def test_what_was_read_counts_while_it_is_only_edited_or_read_elsewhere(later):
    found = reading(
        A(run("1", "read_file", path="gw.conf")), T("1", FILE), A(later), T("3", "ok\n" + FILE)
    )
    assert not of_kind(found, "superseded")


@pytest.mark.parametrize(
    "later",
    [
        c("2", "bash", json.dumps({"command": "cat build.log"})),
        c("2", "read_file", json.dumps({"path": "build.log"})),
    ],
)
def test_another_output_of_the_same_call_supersedes_nothing(later):
    messages = (A(replace(later, id="1")), T("1", f"ERROR 4411\n{FILE}"), A(later))
    changed = "\n".join(f"step {n} of the build went well" for n in range(20))
    assert not of_kind(reading(*messages, T("2", changed)), "superseded")
    assert not of_kind(reading(*messages, T("2", "Error: " + FILE, is_error=True)), "superseded")


def test_a_command_that_prints_all_of_it_again_supersedes_what_it_printed():
    command = {"command": "cat build.log"}
    messages = (A(run("1", "bash", **command)), T("1", FILE), A(run("2", "bash", **command)))
    assert of_kind(reading(*messages, T("2", f"{FILE}\nmore")), "superseded") == [FILE]


@pytest.mark.parametrize(
    ("write", "answer"),
    [
        (run("2", "write_file", path="gw.conf", content=FILE, mode="append"), "ok"),
        (run("2", "fs_write", path="gw.conf", content=FILE, command="append"), "ok"),
        (run("2", "write_range", path="gw.conf", content=FILE, start=4), "ok"),
        (run("2", "create_comment", path="gw.conf", content=FILE), "ok"),
        (run("2", "write_file", path="gw.conf", content=FILE), "No space left on device"),
        (run("2", "write_file", path="gw.conf", content=FILE), "EACCES: denied, open 'gw.conf'"),
        (run("2", "write_file", path="gw.conf", content=FILE, workdir="/other"), "ok"),
    ],
)
def test_only_a_file_that_was_written_whole_supersedes_what_was_read_of_it(write, answer):
    messages = (A(run("1", "read_file", path="gw.conf")), T("1", f"old\n{FILE}"), A(write))
    assert not of_kind(reading(*messages, T("2", answer)), "superseded")
    assert not of_kind(reading(*messages), "superseded")
