"""Reinjection in a session after a compaction: files from disk and the plan, and nothing else."""

import asyncio
import json
import os

import pytest

from foldline.core.config import Config
from foldline.formats.registry import DIALECTS
from foldline.session import Session
from foldline.session.file_reading import LARGEST, decode
from foldline.stores.memory import MemoryStore
from foldline.tokens.estimate import EstimatedCounter
from foldline.tools import TodoTool
from foldline.values.snapshot_mark import ATTACHMENT_HEADER

FILLER = "several words of filler\n" * 60


class Agent:
    """Talks to a session as an agent does, in the words of one provider."""

    def __init__(self, session, dialect):
        self.session, self.dialect, self.number = session, dialect, 0

    def say(self, text):
        self.session.append(self._message("user", text))

    def answer(self, text):
        self.session.append(self._message("assistant", text))

    def _message(self, role, text):
        if self.dialect == "gemini":
            role = "model" if role == "assistant" else role
            return {"role": role, "parts": [{"text": text}]}
        return {"role": role, "content": text}

    def run(self, tool, arguments, result):
        self.number += 1
        call = f"call_{self.number}"
        write = getattr(self, f"_{self.dialect.replace('-', '_')}")
        self.session.extend(write(call, tool, arguments, result))

    def _openai_chat(self, call, tool, arguments, result):
        function = {"name": tool, "arguments": json.dumps(arguments)}
        calls = [{"id": call, "type": "function", "function": function}]
        yield {"role": "assistant", "content": None, "tool_calls": calls}
        yield {"role": "tool", "tool_call_id": call, "content": result}

    def _openai_responses(self, call, tool, arguments, result):
        text = json.dumps(arguments)
        yield {"type": "function_call", "call_id": call, "name": tool, "arguments": text}
        yield {"type": "function_call_output", "call_id": call, "output": result}

    def _anthropic(self, call, tool, arguments, result):
        use = {"type": "tool_use", "id": call, "name": tool, "input": arguments}
        answer = {"type": "tool_result", "tool_use_id": call, "content": result}
        yield {"role": "assistant", "content": [use]}
        yield {"role": "user", "content": [answer]}

    def _gemini(self, call, tool, arguments, result):
        asked = {"functionCall": {"id": call, "name": tool, "args": arguments}}
        response = {"id": call, "name": tool, "response": {"output": result}}
        yield {"role": "model", "parts": [asked]}
        yield {"role": "user", "parts": [{"functionResponse": response}]}

    def read(self, root, *names):
        for name in names:
            self.run("read_file", {"path": name}, (root / name).read_text(errors="replace"))


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "repo"
    folder.mkdir()
    for letter in "abcdefgh":
        (folder / f"{letter}.py").write_text(f"# {letter}\n" + f"{letter} = 1  # words\n" * 40)
    return folder


@pytest.fixture
def opened(root):
    made = []

    def open_(dialect="openai-chat", store=None, **changes):
        settings = {
            "window": 9_000,
            "format": dialect,
            "counter": EstimatedCounter("o200k"),
            "config": Config().replace(files={"root": str(root)}),
        }
        session = Session.open(None, "s", store=store or MemoryStore(), **{**settings, **changes})
        made.append(session)
        return session

    yield open_
    for session in made:
        session.close()


def attachments(session):
    shown = session._state.current_view.messages.values()
    return [message.text for message in shown if message.is_attachment()]


def valid(session, view):
    assert DIALECTS[session.format].validate(view) == []
    return view


DIALECT_NAMES = ["openai-chat", "openai-responses", "anthropic", "gemini"]


@pytest.mark.requirement("C15", "K29", "K31", "F71")
@pytest.mark.parametrize("dialect", DIALECT_NAMES)
def test_over_many_turns_every_view_is_valid_within_its_limit_and_has_one_attachment(
    dialect, opened, root
):
    session = opened(dialect)
    agent = Agent(session, dialect)
    agent.say("Mend the build, please.")
    plan = [{"content": f"Do part {n}", "status": "pending"} for n in range(6)]
    agent.run("todo_write", {"todos": plan}, "ok")
    seen = 0
    for turn in range(40):
        agent.read(root, f"{'abcdefgh'[turn % 8]}.py")
        agent.run("bash", {"command": f"make {turn}"}, FILLER)
        if turn % 9 == 5:
            agent.answer("That part is done.")
            agent.say(f"Go on with part {turn}.")
        view = valid(session, session.view())
        assert session.tokens <= session.budget.limit
        texts = attachments(session)
        assert len(texts) <= 1
        seen += bool(texts)
        spoken = [m for m in session._state.current_view.messages.values() if m.is_from_user()]
        assert all(ATTACHMENT_HEADER not in message.text for message in spoken)
        assert "Mend the build" in json.dumps(view)
    assert seen > 20
    assert sum(receipt.status == "compacted" for receipt in session.receipts) > 3
    assert any(receipt.evicted.files for receipt in session.receipts)
    assert "Do part 5" in json.dumps(session.view())


def started(session, root, *names):
    """Return an agent that has read some files."""
    agent = Agent(session, session.format)
    agent.say("Mend the build.")
    agent.read(root, *names)
    return agent


def full(session, root, *names):
    """Fill a session so that all file reads are folded."""
    agent = started(session, root, *names)
    fill(agent)
    return agent


def fill(agent):
    """Do so much more that a compaction folds everything before the newest words."""
    session = agent.session
    while session.tokens < 1.5 * session.budget.target:
        agent.run("bash", {"command": f"make {agent.number}"}, FILLER)
    agent.answer("Done.")
    agent.say("Go on.")


def compacted(session):
    receipt = session.compact(force=True)
    assert receipt.status == "compacted"
    valid(session, session.view())
    return "".join(attachments(session))


@pytest.mark.requirement("K29")
def test_the_version_on_disk_is_put_back_and_marked_as_changed_or_not(opened, root):
    session = opened()
    full(session, root, "a.py", "b.py", "c.py")
    (root / "b.py").write_text("# b\nb = 2\n")
    (root / "c.py").unlink()
    text = compacted(session)
    assert 'File "a.py" (whole' in text
    assert "unchanged since you last saw it" in text
    assert "CHANGED on disk since you last saw it):\n````\n# b\nb = 2\n````" in text
    assert 'File "c.py": it is no longer on disk.' in text


@pytest.mark.requirement("C16")
def test_edited_and_written_files_are_put_back(opened, root):
    session = opened()
    agent = full(session, root, "a.py")
    changed(agent, root)
    # Prose, which only folding removes. Whether clearing results makes enough room would depend on
    # how many tokens the path of the root takes, and a cleared history still shows the writing.
    agent.answer(FILLER * 4)
    agent.say("Go on.")
    text = compacted(session)
    assert "d = 4" in text
    assert "a = 3" in text
    assert "CHANGED" not in text


def changed(agent, root):
    """Edit one file and write another, by a path from the root and by a whole one."""
    agent.answer("I see.")
    (root / "a.py").write_text("a = 3\n")
    agent.run("edit_file", {"path": "a.py", "old_string": "a = 1", "new_string": "a = 3"}, "done")
    agent.run("write_file", {"path": str(root / "d.py"), "content": "d = 4\n"}, "done")
    (root / "d.py").write_text("d = 4\n")
    agent.run("bash", {"command": "make"}, FILLER * 4)


@pytest.mark.requirement("C16")
def test_a_file_whose_write_is_in_view_is_not_put_back(opened, root):
    session = opened(policy="clear")
    changed(full(session, root, "a.py"), root)
    text = compacted(session)
    assert "d = 4" in json.dumps(session.view())
    assert session.is_in_view("d.py")
    assert "d = 4" not in text


def test_a_file_is_in_view_until_folded_and_again_when_put_back(opened, root):
    session = opened(config=Config())
    full(session, root, "a.py", "b.py")
    assert session.is_in_view("a.py")
    assert not session.is_in_view("c.py")
    assert [touch.path for touch in session.touched] == ["b.py", "a.py"]
    assert compacted(session) == ""
    assert not session.is_in_view("a.py")
    assert session.receipts[-1].evicted.files == ("b.py", "a.py")
    assert session.undo() is not None
    assert session.is_in_view("./a.py")

    back = opened()
    full(back, root, "a.py", "b.py")
    compacted(back)
    assert back.is_in_view("a.py")
    assert back.is_in_view(str(root / "a.py"))
    assert back.receipts[-1].evicted.files == ()


@pytest.mark.requirement("F71")
def test_reading_a_file_again_after_a_compaction_brings_it_into_view(opened, root):
    session = opened(config=Config())
    agent = full(session, root, "a.py")
    compacted(session)
    assert not session.is_in_view("a.py")
    agent.answer("I read it again.")
    agent.read(root, "a.py")
    assert session.is_in_view("a.py")
    assert "a = 1  # words" in json.dumps(session.view())


# --- the edge ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["../secret.txt", "link.txt", "folder/inner.txt", ".", "", "pipe", ".env", "key.PEM", "loop"],
)
def test_only_files_inside_the_root_that_are_not_secret_are_read(opened, root, name):
    outside = root.parent / "secret.txt"
    outside.write_text("the secret words")
    (root / "link.txt").symlink_to(outside)
    (root.parent / "outer").mkdir()
    (root.parent / "outer" / "inner.txt").write_text("the secret words")
    (root / "folder").symlink_to(root.parent / "outer")
    (root / "loop").symlink_to(root / "loop")
    (root / ".env").write_text("the secret words")
    (root / "key.PEM").write_text("the secret words")
    os.mkfifo(root / "pipe")
    session = opened()
    agent = started(session, root, "a.py")
    agent.run("read_file", {"path": name}, "looked at")
    agent.run("read_file", {"path": str(outside)}, "looked at")
    fill(agent)
    text = compacted(session)
    assert "secret" not in text
    assert 'File "a.py"' in text


def test_a_file_that_a_tool_was_refused_is_not_read(opened, root):
    (root / "private.txt").write_text("the private words")
    session = opened()
    agent = started(session, root, "a.py")
    agent.run("read_file", {"path": "private.txt"}, "Permission denied: the user said no.")
    fill(agent)
    assert "private" not in compacted(session)


@pytest.mark.requirement("C15")
def test_binary_or_far_too_large_files_are_only_named(opened, root):
    (root / "image.png").write_bytes(bytes(range(256)) * 40)
    (root / "giant.log").write_bytes(b"x" * (LARGEST + 1))
    (root / "broken.txt").write_bytes(b"caf\xe9 and more words\n" * 3)
    (root / "wide.txt").write_bytes("wide words\n".encode("utf-16"))
    session = opened()
    agent = started(session, root, "a.py")
    for name in ("image.png", "giant.log", "broken.txt", "wide.txt"):
        agent.run("read_file", {"path": name}, "something")
    fill(agent)
    text = compacted(session)
    assert 'File "image.png": 10,240 bytes, not text.' in text
    assert f'File "giant.log": {LARGEST + 1:,} bytes' in text
    assert "caf\N{REPLACEMENT CHARACTER} and more words" in text
    assert "wide words" in text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        ("汉字\n".encode() * 2_000, "汉字\n" * 2_000),
        (b"\xef\xbb\xbfwords", "words"),
        (b"\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"),
        (b"a\0b", None),
        (b"\x01\x02\x03\x04 text", None),
        (b"\xff\xd8\xff\xe0\x10JFIF", None),
        ("汉字".encode("gb18030") * 9, None),
    ],
)
def test_text_is_distinguished_from_binary(data, text):
    assert decode(data) == text


# --- kept ----------------------------------------------------------------------------------


def test_an_attachment_is_part_of_one_batch_that_is_replayed_and_undone_whole(opened, root):
    store = MemoryStore()
    session = opened(store=store)
    full(session, root, "a.py")
    before = session.view()
    session.compact(force=True)
    view = session.view()
    assert ATTACHMENT_HEADER in json.dumps(view)
    (root / "a.py").write_text("changed since\n")
    again = opened(store=store)
    assert again.view() == view
    assert again.receipts == session.receipts
    assert again.undo() is not None
    assert again.view() == before


def test_without_new_messages_nothing_is_done_again(opened, root):
    session = opened()
    full(session, root, "a.py")
    session.compact(force=True)
    view = session.view()
    (root / "a.py").write_text("changed since\n")
    assert session.compact(force=True).status == "unchanged"
    assert session.view() == view


def test_the_async_twin_puts_back_the_same_files(opened, root):
    session = opened()
    full(session, root, "a.py")
    assert asyncio.run(session.acompact(force=True)).status == "compacted"
    assert 'File "a.py" (whole' in attachments(session)[0]


@pytest.mark.requirement("H16")
def test_the_to_do_list_of_the_tool_survives_five_compactions(opened, root):
    session = opened(config=Config())
    agent = Agent(session, session.format)
    agent.say("Mend the build.")
    todos = TodoTool()
    for turn in range(5):
        status = ["completed"] * turn + ["in_progress"] + ["pending"] * (6 - turn)
        items = [{"content": f"Do part {n}", "status": now} for n, now in enumerate(status)]
        output = todos.tool.run({"todos": items})
        agent.run("todo_write", {"todos": items}, output.text)
        fill(agent)
        assert session.compact(force=True).status == "compacted"
        text = json.dumps(valid(session, session.view()))
        # The newest plan is in view once: in the call, or in the snapshot.
        given = f'"Do part {turn}\\", \\"status\\": \\"in_progress'
        assert f"[in_progress] Do part {turn}" in text or given in text
        assert text.count("[in_progress]") + text.count('\\"in_progress') == 1
        assert "[pending] Do part 6" in text or '"Do part 6\\", \\"status\\": \\"pending' in text


@pytest.mark.requirement("K17")
def test_messages_outside_a_span_are_not_shortened_for_files(tmp_path):
    for number in range(3):
        (tmp_path / f"f{number}.py").write_text(f"value_{number} = 1\n" * 200)
    config = Config(files={"root": str(tmp_path)})
    session = Session.open(
        None, "s", store=MemoryStore(), window=60_000, config=config, format="openai-chat"
    )
    agent = Agent(session, "openai-chat")
    agent.say("Mend the build.")
    for number in range(12):
        text = (tmp_path / f"f{number % 3}.py").read_text()
        agent.run("read_file", {"path": f"f{number % 3}.py"}, text)
    agent.say("Go on.")
    before, ids = session.view(), [message.id for message in session.messages]
    receipt = session.compact(start=ids[1], up_to=ids[8])
    assert receipt.status == "compacted"
    assert session.view()[-len(before) + 9 :] == before[9:]
