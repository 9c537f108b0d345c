"""Every library answers the same request, and its failures are reported in the answer."""

import json
import re
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from extractive import ACCOUNTS, KINDS, Failed, Standin, extract

import environments
import foldline
import peer
from peer import Peer, peers

SESSION = json.loads(peer.SESSION.read_text(encoding="utf-8"))["messages"]

UGLY = """
    import os, time
    print("what a library prints at its import")

    def load(messages):
        return messages

    def compact(messages, task):
        print("what it prints while it works")
        match messages[-1]["content"]:
            case "raise":
                raise ValueError("no idea\\n  what this is")
            case "die":
                os._exit(3)
            case "hang":
                time.sleep(60)
            case "tuple":
                return [("user", "x")]
            case "change":
                messages[0]["content"] = "mine"
            case "ask":
                task.model.answer("user: hello")
        return messages[-1:]

    def dump(messages):
        return messages
"""


def adapter(tmp_path, code):
    file = tmp_path / "adapter.py"
    file.write_text(textwrap.dedent(code), encoding="utf-8")
    return Peer("fake", "fake", "1", "compact", file)


def say(*texts):
    return [{"role": "user", "content": text} for text in texts]


def test_foldline_runs_behind_the_same_pipe_as_its_peers():
    given = json.dumps(SESSION)
    (ours,) = peers("Foldline")
    with ours.running() as running:
        answer = running.compact(SESSION, 4_000, question="Where is saved_share?")
    assert answer.problem == ""
    assert answer.messages[-1] == {"role": "user", "content": "Where is saved_share?"}
    assert foldline.count(answer.messages) <= 4_000
    assert answer.seconds > 0
    assert answer.model_calls == 0
    assert not answer.mutated
    assert json.dumps(SESSION) == given


def test_foldline_with_a_summarizer_calls_the_stand_in():
    (ours,) = peers("Foldline, summarizer")
    with ours.running() as running:
        answer = running.compact(SESSION, 4_000)
    assert answer.model_calls > 0
    assert foldline.count(answer.messages) <= 4_000


def test_output_printed_by_a_library_is_not_an_answer(tmp_path):
    with adapter(tmp_path, UGLY).running() as running:
        answer = running.compact(say("a", "b"), 100)
    assert answer.messages == say("b")
    assert not answer.mutated


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("raise", "ValueError: no idea what this is"),
        ("die", "the process ended with status 3"),
        ("hang", "no answer within 0.5 s"),
        ("tuple", "it did not return a list of messages"),
    ],
)
def test_it_continues_after_a_failure(tmp_path, word, why):
    with adapter(tmp_path, UGLY).running(seconds=0.5) as running:
        failed = running.compact(say(word), 100)
        after = replace(running.compact(say("fine"), 100), seconds=0.0, peak_bytes=0)
    assert failed.messages is None
    assert why in failed.problem
    assert after == peer.Answer(say("fine"))


def test_a_library_that_mutates_its_input_is_caught(tmp_path):
    with adapter(tmp_path, UGLY).running() as running:
        assert running.compact(say("a", "change"), 100).mutated


def test_calls_of_the_summarizer_are_counted_for_each_request(tmp_path):
    with adapter(tmp_path, UGLY).running() as running:
        assert running.compact(say("ask"), 100).model_calls == 1
        assert running.compact(say("fine"), 100).model_calls == 0


def test_a_library_that_fails_to_import_reports_it_and_is_given_up(tmp_path):
    with adapter(tmp_path, "import no_such_library").running() as running:
        answers = [running.compact(say("a"), 100) for _ in range(peer.MOST_STARTS + 2)]
    assert {answer.problem for answer in answers} == {
        "ModuleNotFoundError: No module named 'no_such_library'"
    }


def test_a_peer_with_a_problem_is_not_started(tmp_path):
    broken = replace(adapter(tmp_path, UGLY), problem="no index")
    with broken.running() as running:
        assert running.compact(say("a"), 100) == peer.Answer(None, "no index")


def test_an_unknown_peer_is_named():
    with pytest.raises(ValueError, match="no such peers: Nobody"):
        peers("Foldline", "Nobody")


def test_every_peer_of_the_roster_has_an_adapter_a_call_and_a_pinned_version(monkeypatch):
    monkeypatch.setattr(environments, "prepare", lambda _: "")
    found = peers()
    assert found[0].name == "Foldline"
    assert len({each.name for each in found}) == len(found)
    for each in found:
        assert each.adapter.is_file()
        assert each.call
        assert re.fullmatch(r"[\d.]+\w*", each.version), each


@pytest.mark.parametrize("name", environments.names())
def test_the_lock_files_have_a_hash_for_each_package_and_no_address(name):
    text = (environments.REQUIREMENTS / f"{name}.lock").read_text(encoding="utf-8")
    packages = re.findall(r"(?m)^[\w.-]+==.*?(?=^[\w#]|\Z)", text, re.DOTALL)
    assert packages
    assert all("--hash=sha256:" in package for package in packages)
    assert not re.search(r"https?://|file:|--index|--find-links", text)


# --- the stand-in --------------------------------------------------------------------------


def test_the_stand_in_quotes_the_user_first_and_then_the_most_named_lines():
    chatter = "\n".join(f"line {n} of nothing much" for n in range(200))
    prompt = f"{chatter}\n[user] Keep port 8443.\n{chatter}\nread src/app.py\nchanged src/app.py"
    summary = extract(prompt, 120)
    assert "[user] Keep port 8443." in summary
    assert "read src/app.py\nchanged src/app.py" in summary
    assert len(summary) <= 120
    assert summary == extract(prompt, 120)


def test_a_mark_on_a_separate_line_applies_to_the_next_line():
    prompt = '<message role="user">\nBuild it.\n</message>\n' + "read src/app.py\n" * 9
    assert extract(prompt, 30) == "Build it.\nread src/app.py"


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_each_kind_of_failure_matches_its_name(kind):
    standin = Standin(kind, characters=60)
    prompt = "user: look at src/app.py\n" * 9
    if kind == "error":
        with pytest.raises(Failed):
            standin.answer(prompt)
        return
    answer = standin.answer(prompt)
    assert (len(answer) > len(prompt)) == (kind == "longer")
    assert bool(answer.strip()) == (kind not in ("empty", "blank"))
    assert standin.tally.calls == 1


def test_a_recorded_account_is_read_and_a_missing_one_is_requested(tmp_path):
    standin = Standin(f"{ACCOUNTS}{tmp_path}", characters=7)
    with pytest.raises(Failed, match="has to be written"):
        standin.answer("user: Build it.")
    (prompt,) = tmp_path.iterdir()
    assert prompt.read_text().startswith(f"(At most 7 characters; into {prompt.stem}.txt.)")
    assert prompt.read_text().endswith("user: Build it.")
    prompt.with_suffix(".txt").write_text("It was built.")
    assert standin.answer("user: Build it.") == "It was "


def test_no_adapter_is_left_out_of_the_roster(monkeypatch):
    monkeypatch.setattr(environments, "prepare", lambda _: "")
    used = {each.adapter for each in peers()}
    adapters = {
        file
        for file in Path(peer.ADAPTERS).glob("*.py")
        if "\ndef compact(" in file.read_text(encoding="utf-8")
    }
    assert adapters == used
