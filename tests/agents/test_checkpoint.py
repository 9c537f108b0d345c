import json

import pytest

from foldline.agents.checkpoint import Checkpoint, WorkspaceState, load_checkpoint, save_checkpoint
from foldline.agents.limits import AgentSpending
from foldline.errors import StoreError


def test_a_checkpoint_is_written_atomically_and_read_again(tmp_path):
    path = tmp_path / "c.json"
    assert load_checkpoint(path, "s") is None
    kept = Checkpoint("s", "steps", AgentSpending(3, usd=0.5), WorkspaceState({"a": "f00"}, "abc"))
    save_checkpoint(path, Checkpoint("s"))
    save_checkpoint(path, kept)
    assert load_checkpoint(path, "s") == kept
    assert [one.name for one in tmp_path.iterdir()] == ["c.json"]


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", "[" * 10_000, '{"schema": "foldline.checkpoint/9"}', "x" * (1 << 21)],
)
def test_an_invalid_checkpoint_file_is_left_unchanged(tmp_path, text):
    path = tmp_path / "c.json"
    path.write_text(text)
    with pytest.raises(StoreError, match="is not a checkpoint of 's'"):
        load_checkpoint(path, "s")
    assert path.read_text() == text


def test_the_checkpoint_of_another_session_and_broken_figures_are_refused(tmp_path):
    path = tmp_path / "c.json"
    save_checkpoint(path, Checkpoint("other"))
    with pytest.raises(StoreError, match="belongs to the session 'other'"):
        load_checkpoint(path, "s")
    save_checkpoint(path, Checkpoint("s"))
    value = json.loads(path.read_text())
    path.write_text(json.dumps(value | {"spending": {"steps": -3}}))
    with pytest.raises(StoreError):
        load_checkpoint(path, "s")
    with pytest.raises(StoreError, match="cannot be written"):
        save_checkpoint(tmp_path / "none" / "c.json", Checkpoint("s"))
    with pytest.raises(StoreError, match="cannot be read"):
        load_checkpoint(tmp_path, "s")
