from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.cli.sample import PLANTED, conversation, foldline, start, write_conversation

from foldline import count
from foldline.archive import Archive
from foldline.formats.registry import DIALECTS
from foldline.values.messages import Message
from foldline.values.tokens import TokenCounter

HEADER = "[Snapshot by Foldline"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_result_goes_to_stdout_fits_and_is_valid(session: Path) -> None:
    before = digest(session)
    done = foldline("compact", session, "--budget", "1500")
    messages = json.loads(done.stdout)
    assert done.exit_code == 0
    assert count(messages) <= 1_500
    assert DIALECTS["openai-chat"].validate(messages) == []
    assert messages[:2] == conversation()[:2]
    assert "compacted: " in done.stderr
    assert digest(session) == before


def test_a_share_is_relative_to_the_size_of_the_input(session: Path) -> None:
    done = foldline("compact", session, "--budget", "25%", "-q")
    assert count(json.loads(done.stdout)) <= count(conversation()) * 0.25
    assert done.stderr == ""


def test_a_budget_above_the_input_gives_back_the_same_bytes(tmp_path: Path) -> None:
    odd = b'[ {"content":"\\u00fc", "role" : "user"}\n ]\n\n'
    file = tmp_path / "odd.json"
    file.write_bytes(odd)
    done = foldline("compact", file, "--budget", "1M")
    assert (done.exit_code, done.stdout_bytes) == (0, odd)
    assert "unchanged: within budget" in done.stderr
    assert not (tmp_path / "kept").exists()


def test_a_window_that_is_not_full_changes_nothing(session: Path) -> None:
    done = foldline("compact", session, "--window", "200k")
    assert done.stdout_bytes == session.read_bytes()
    assert "below the trigger" in done.stderr


def test_force_compacts_even_if_not_due(session: Path) -> None:
    for words in (["--force"], ["--force", "--window", "200k"]):
        done = foldline("compact", session, *words)
        messages = json.loads(done.stdout)
        assert count(messages) < count(conversation())
        assert messages[:2] == conversation()[:2]
        assert "compacted: " in done.stderr


def test_force_leaves_an_explicit_budget_as_it_is(session: Path) -> None:
    done = foldline("compact", session, "--force", "--budget", "200k")
    assert done.stdout_bytes == session.read_bytes()


def test_too_small_a_budget_suggests_a_larger_one(session: Path, tmp_path: Path) -> None:
    out, receipt = tmp_path / "out.json", tmp_path / "receipt.json"
    words = ("compact", session, "-o", out, "--receipt", receipt, "--budget")
    done = foldline(*words, 5)
    assert (done.exit_code, done.stdout) == (4, "")
    assert not out.exists()
    assert not receipt.exists()
    assert not (tmp_path / "kept").exists()
    needed = done.stderr.split("at least ")[1].split(" tokens")[0]
    assert foldline(*words, needed).exit_code == 0
    assert count(json.loads(out.read_text())) <= int(needed.replace(",", ""))


def test_the_suggested_budget_suffices_even_if_more_room_lets_more_stay(tmp_path: Path) -> None:
    text = "\n".join(f"line {n} value_{n * 7} of module_{n}" for n in range(120))
    call = {"name": "write", "arguments": json.dumps({"path": "a.py", "content": text})}
    running = {
        "role": "assistant",
        "tool_calls": [{"id": "1", "type": "function", "function": call}],
    }
    result = {"role": "tool", "tool_call_id": "1", "content": text}
    path = tmp_path / "waiting.json"
    path.write_text(json.dumps([{"role": "user", "content": text}, running, result]))
    needed = foldline("compact", path, "--budget", 5).stderr.split("at least ")[1].split(" ")[0]
    assert foldline("compact", path, "--budget", needed).exit_code == 0


@pytest.mark.parametrize("budget", [5, 100, 181])
def test_the_budget_that_is_named_is_about_the_smallest_that_does(budget: int) -> None:
    example = Path(__file__).parents[3] / "examples" / "session.json"
    done = foldline("compact", example, "--budget", budget)
    needed = int(done.stderr.split("at least ")[1].split(" ")[0])
    assert foldline("compact", example, "--budget", needed).exit_code == 0
    assert foldline("compact", example, "--budget", needed * 98 // 100).exit_code == 4


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "Give a target size"),
        (["--policy", "magic"], "Give a target size"),
        (["--budget", "9", "--window", "9"], "not both"),
        (["--budget", "0"], "leaves no room"),
        (["--budget", "-3"], "leaves no room"),
        (["--budget", "lots"], "is not an amount"),
        (["--budget", "9k", "--policy", "magic"], "no policy 'magic'"),
        (["--budget", "9k", "--set", "keep"], "key=value"),
        (["--budget", "9k", "--set", "color=red"], "no setting 'color'"),
        (["--budget", "9k", "--set", "keep=few"], "whole number"),
        (["--budget", "9k", "--to", "telex"], "'telex' is not one of"),
        (["--budget", "9k", "--from", "telex"], "'telex' is not one of"),
    ],
)
def test_a_wrong_option_is_a_usage_error(session: Path, words: list[str], told: str) -> None:
    done = foldline("compact", session, *words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_file_passes_through_pipes(session: Path) -> None:
    with session.open("rb") as content:
        process = start("compact", "-", "--budget", "1500", "-o", "-", stdin=content)
        out, told = process.communicate(timeout=60)
    assert process.returncode == 0
    assert HEADER in out.decode()
    assert b"\x1b" not in out + told


@pytest.mark.parametrize("wire", DIALECTS)
def test_messages_are_converted_to_any_wire_format(session: Path, wire: str) -> None:
    done = foldline("compact", session, "--budget", "1500", "--to", wire, "-q")
    converted = json.loads(done.stdout)
    assert DIALECTS[wire].validate(converted) == []
    assert HEADER in done.stdout


def test_messages_are_converted_even_if_nothing_is_removed(session: Path) -> None:
    done = foldline("compact", session, "--budget", "1M", "--to", "anthropic", "-q")
    assert json.loads(done.stdout)["system"] == "You are a careful agent."


def test_a_wire_format_can_be_named(session: Path) -> None:
    done = foldline("compact", session, "--budget", "1500", "--from", "openai-chat", "-q")
    assert count(json.loads(done.stdout)) <= 1_500


def test_the_newest_and_the_pinned_messages_stay(session: Path) -> None:
    whole = conversation()
    words = ("compact", session, "--budget", "6k", "-q")
    loose = json.loads(foldline(*words, "--no-archive").stdout)
    pinned = json.loads(foldline(*words, "--keep", 5, "--pin", 5).stdout)
    assert whole[5] not in loose
    assert whole[4] in pinned  # the call stays with its result
    assert [m.get("tool_call_id") for m in pinned[-5:]] == [
        m.get("tool_call_id") for m in whole[-5:]
    ]
    assert "call_1" in {m.get("tool_call_id") for m in pinned}


def test_a_policy_can_be_tuned(session: Path) -> None:
    words = ("compact", session, "--window", "8k", "--policy", "clear", "--json")
    kept = json.loads(foldline(*words, "--set", "keep=1", "--no-archive").stdout)["receipt"]
    many = json.loads(foldline(*words, "--set", "keep=9", "--no-archive").stdout)["receipt"]
    assert kept["policy"] == "clear"
    assert kept["tokens_after"] < many["tokens_after"]


def test_json_is_one_object_with_the_receipt_and_the_result(session: Path, tmp_path: Path) -> None:
    done = foldline("compact", session, "--budget", "1500", "--json", "--model", "gpt-5")
    told = json.loads(done.stdout)
    assert told["schema"] == "foldline.compact/1"
    assert told["receipt"]["schema"] == "foldline.receipt/1"
    assert told["receipt"]["status"] == "compacted"
    assert count(told["result"]) <= 1_500
    assert told["archive"] == str(tmp_path / "kept" / "archive.db")
    out = tmp_path / "out.json"
    told = json.loads(foldline("compact", session, "--budget", "1500", "--json", "-o", out).stdout)
    assert (told["result"], told["output"]) == (None, str(out))


def test_the_receipt_is_written_as_json(session: Path, tmp_path: Path) -> None:
    out, receipt = tmp_path / "out.json", tmp_path / "receipt.json"
    done = foldline("compact", session, "--budget", "1500", "-o", out, "--receipt", receipt)
    told = json.loads(receipt.read_text())
    assert done.stdout == ""
    assert told["tokens_after"] == count(json.loads(out.read_text()))
    assert told["recall"]


def test_removed_content_is_archived_for_recall(session: Path, tmp_path: Path) -> None:
    told = json.loads(foldline("compact", session, "--budget", "1500", "--json").stdout)
    with Archive.open(tmp_path / "kept" / "archive.db") as archive:
        texts = [archive.recall(handle).text for handle in told["receipt"]["recall"]]
    assert any(PLANTED in text for text in texts)


def test_nothing_is_kept_without_an_archive(session: Path, tmp_path: Path) -> None:
    done = foldline("compact", session, "--budget", "1500", "--no-archive", "-q")
    assert done.exit_code == 0
    assert not (tmp_path / "kept").exists()


def test_an_archive_that_cannot_be_made_ends_before_anything_is_written(
    session: Path, tmp_path: Path
) -> None:
    (tmp_path / "kept").write_text("a file where the folder should be")
    out = tmp_path / "out.json"
    done = foldline("compact", session, "--budget", "1500", "-o", out)
    assert (done.exit_code, done.stdout) == (5, "")
    assert "--no-archive" in done.stderr
    assert not out.exists()


def test_compacting_the_result_again_changes_nothing(session: Path, tmp_path: Path) -> None:
    once = tmp_path / "once.json"
    foldline("compact", session, "--budget", "1500", "-o", once)
    again = foldline("compact", once, "--budget", "1500", "-q")
    assert again.stdout_bytes == once.read_bytes()


def tau_tasks(count: int) -> list[dict[str, Any]]:
    return [{"task_id": n, "traj": conversation(6), "reward": 1.0} for n in range(count)]


def test_the_current_one_of_several_conversations_is_taken_and_named(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    file.write_text(json.dumps(tau_tasks(3)))
    last = foldline("compact", file, "--budget", "600")
    first = foldline("compact", file, "--budget", "600", "--conversation", "1", "-q")
    assert "conversation 3 of 3" in last.stderr
    tasks = tau_tasks(3)
    assert [task["traj"] == tasks[0]["traj"] for task in json.loads(last.stdout)] == [
        True,
        True,
        False,
    ]
    assert [task["traj"] == tasks[0]["traj"] for task in json.loads(first.stdout)] == [
        False,
        True,
        True,
    ]
    wrong = foldline("compact", file, "--budget", "600", "--conversation", "9")
    assert wrong.exit_code == 3
    assert "There is no conversation '9'" in wrong.stderr


def test_gzip_is_read_and_written_by_its_name(tmp_path: Path) -> None:
    plain = write_conversation(tmp_path / "plain.json")
    packed, out = tmp_path / "packed.json.gz", tmp_path / "out.json.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert foldline("compact", packed, "--budget", "1500", "-o", out, "-q").exit_code == 0
    assert count(json.loads(gzip.decompress(out.read_bytes()))) <= 1_500


def test_half_a_surrogate_pair_survives(tmp_path: Path) -> None:
    file = tmp_path / "odd.json"
    file.write_text('[{"role": "user", "content": "a\\ud800b"}]')
    for extra in ([], ["--to", "anthropic"], ["--json"]):
        done = foldline("compact", file, "--budget", "1M", *extra)
        assert done.exit_code == 0
        assert "\\ud800" in done.stdout


@pytest.mark.parametrize("option", ["-o", "--receipt"])
def test_a_result_never_goes_over_the_archive(session: Path, tmp_path: Path, option: str) -> None:
    place = tmp_path / "x.db"
    done = foldline("compact", session, "--budget", "25%", "--archive", place, option, place)
    assert (done.exit_code, place.exists()) == (2, False)
    assert "is also the archive" in done.stderr


def test_output_and_receipt_are_two_files(session: Path, tmp_path: Path) -> None:
    out = tmp_path / "new.json"
    done = foldline("compact", session, "--budget", "25%", "-o", out, "--receipt", out)
    assert (done.exit_code, out.exists()) == (2, False)
    assert "is also the output" in done.stderr


def test_a_file_name_that_is_not_valid_text_is_archived(session: Path, tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/odd\xff.json"))
    odd.write_bytes(session.read_bytes())
    done = foldline("compact", odd, "--budget", "25%", "-o", tmp_path / "new.json")
    assert done.exit_code == 0
    with Archive.open(tmp_path / "kept" / "archive.db") as archive:
        assert [info.head.name for info in archive.sessions()] == ["odd?.json"]


@pytest.mark.parametrize("wire", list(DIALECTS))
def test_a_damaged_conversation_that_needs_no_compaction_is_valid_after_conversion(
    tmp_path: Path, wire: str
) -> None:
    file = tmp_path / "damaged.json"
    messages = conversation()
    del messages[5]  # the result of a call in the middle
    file.write_text(json.dumps([*messages, {"role": "user", "content": "Go on."}]))
    done = foldline("compact", file, "--budget", "1M", "--to", wire, "-q")
    assert DIALECTS[wire].validate(json.loads(done.stdout)) == []


def test_a_conversation_is_counted_for_a_share_of_it_only(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []
    real = TokenCounter.messages

    def messages(self: TokenCounter, messages: Iterable[Message]) -> int:
        counted.append(1)
        return real(self, messages)

    monkeypatch.setattr(TokenCounter, "messages", messages)
    assert foldline("compact", session, "--budget", "100%").exit_code == 0
    of_share = len(counted)
    assert foldline("compact", session, "--budget", "1m").exit_code == 0
    assert len(counted) - of_share < of_share
