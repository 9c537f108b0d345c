from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from tests.cli.sample import conversation, foldline

from foldline.api import counter_for
from foldline.cli.output import Output
from foldline.cli.reading import open_input
from foldline.errors import InputError, UnknownFormat
from foldline.formats.registry import dialect


def test_a_file_is_opened_with_its_current_conversation(session: Path) -> None:
    opened = open_input(str(session), None, None, Output())
    assert (opened.name, opened.index, opened.place) == ("session.json", 0, "")
    assert len(opened.transcript.messages) == len(conversation())


@pytest.fixture
def several(tmp_path: Path) -> Path:
    file = tmp_path / "results.json"
    tasks = [{"task_id": n, "traj": conversation(n), "reward": 1.0} for n in (1, 2, 3)]
    file.write_text(json.dumps(tasks))
    return file


@pytest.mark.parametrize(
    ("wanted", "index"), [(None, 2), ("1", 0), ("2", 1), ("-1", 2), ("-3", 0)]
)
def test_a_conversation_is_chosen_by_number(several: Path, wanted: str | None, index: int) -> None:
    assert open_input(str(several), None, wanted, Output(quiet=True)).index == index


def test_a_conversation_is_chosen_by_name(several: Path) -> None:
    names = [c.name for c in open_input(str(several), None, "1", Output()).recording.conversations]
    assert open_input(str(several), None, names[1], Output()).index == 1


@pytest.mark.parametrize("wanted", ["0", "4", "-4", "none", "", "²", "9" * 30])
def test_a_missing_conversation_is_reported_with_the_existing_ones(
    several: Path, wanted: str
) -> None:
    with pytest.raises(InputError, match=r"1 .*2 .*3 "):
        open_input(str(several), None, wanted, Output())


def test_the_selected_conversation_is_noted_only_if_there_are_several(
    several: Path, session: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    open_input(str(session), None, None, Output())
    open_input(str(several), None, "2", Output())
    assert capsys.readouterr().err == ""
    open_input(str(several), None, None, Output())
    assert "conversation 3 of 3" in capsys.readouterr().err


def test_a_wire_format_that_is_named_decides(tmp_path: Path) -> None:
    file = tmp_path / "plain.json"
    file.write_text('[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}]')
    for name in ("openai-chat", "anthropic"):
        assert open_input(str(file), name, None, Output()).transcript.dialect == name
    file.write_text('{"role": "user", "content": "Hi"}\n{"role": "assistant", "content": "Ho"}\n')
    with pytest.raises(InputError, match="not one JSON value"):
        open_input(str(file), "anthropic", None, Output())


def test_an_unreadable_file_is_bad_input_and_not_a_usage_error(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def opened(path: str | Path, *rest: int, **named: int) -> int:
        if Path(path) == session:
            raise PermissionError(13, "Permission denied", str(session))
        return real(path, *rest, **named)

    real = os.open
    monkeypatch.setattr(os, "open", opened)
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    done = foldline("stats", session)
    assert done.exit_code == 3
    assert "Permission denied" in done.stderr


def test_a_wrong_kind_of_file_is_refused(session: Path) -> None:
    done = foldline("stats", session, "--from", "codex")
    assert done.exit_code == 3
    assert "not a Codex rollout" in done.stderr


def test_the_one_wrong_message_of_a_body_is_named(tmp_path: Path) -> None:
    file = tmp_path / "body.json"
    body = {"messages": [{"role": "user", "content": "x"}, {"role": "elf", "content": "x"}]}
    file.write_text(json.dumps(body))
    with pytest.raises(UnknownFormat, match="message 1, field role: unknown role 'elf'"):
        open_input(str(file), None, None, Output())


def test_tokens_are_counted_as_the_model_does() -> None:
    there = dialect("openai-chat").decode(conversation(1))
    assert counter_for(there, "gpt-5").texts.exact
    assert counter_for(there, "claude-sonnet-4-5").name.startswith("estimate")


@pytest.mark.parametrize("wanted", ["--5", "-", "9" * 30, "-" + "9" * 30])
def test_an_invalid_conversation_number_is_bad_input(several: Path, wanted: str) -> None:
    with pytest.raises(InputError, match="There is no conversation"):
        open_input(str(several), None, wanted, Output())


@pytest.mark.parametrize("command", [["stats"], ["compact", "--budget", "50%"]])
def test_an_unknown_model_is_named(session: Path, command: list[str]) -> None:
    done = foldline(*command, session, "--model", "gtp-5")
    assert done.exit_code == 0
    assert "The model 'gtp-5' is not known" in done.stderr
    assert "Did you mean 'gpt-5'?\n" in done.stderr


@pytest.mark.parametrize("model", ["gpt-4.1", "claude", "openai:gpt-5-mini", "gemini-2.5-pro"])
def test_a_known_model_gives_no_warning(session: Path, model: str) -> None:
    assert "known" not in foldline("stats", session, "--model", model).stderr
