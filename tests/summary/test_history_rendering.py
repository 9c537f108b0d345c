import pytest
from tests.neutral import COUNTER, A, T, U, c, log

from foldline.core.strategy import CompactionContext
from foldline.summary.history_rendering import HistoryPiece, chunk, fit_pieces, pieces
from foldline.values.edits import Rewrite
from foldline.values.handles import handles
from foldline.values.messages import Media, Message, Text, Thinking, ToolResult
from foldline.values.view import View

STUB = "[Cleared: 900 tokens of run, old; recall abc123]"


def read(*messages, edits=(), originals=None):
    messages = log(*messages)
    found = View.of(messages, COUNTER, originals=messages if originals is None else originals)
    found = found.after(edits(messages) if callable(edits) else edits)
    context = CompactionContext(1, 1, 1, handles(messages))
    return [piece.read() for piece in pieces(found, context, range(len(messages)))]


def piece(number, text, role="tool"):
    made = HistoryPiece(f"{number:06x}", role, text, 0)
    return HistoryPiece(made.handle, role, text, COUNTER.text(made.read()) + 1)


def size(found):
    return sum(p.tokens for p in found)


@pytest.mark.requirement("F42", "F30")
def test_every_part_is_plain_text_after_its_handle():
    picture = Message("tool", (ToolResult("1", (Text("done"), Media("image")), "run", True),))
    user, assistant, tool = read(
        U("Mend it."), A("I run it.", c("1", "run", '{"command": "make -j2"}')), picture
    )
    assert user.endswith(" user] Mend it.")
    assert assistant.endswith(" assistant] I run it.\ncalls run command=make -j2")
    assert tool.endswith(" tool] result of run, an error: done [image]")


@pytest.mark.requirement("F30")
def test_a_message_without_visible_text_is_still_named():
    (line,) = read(Message("assistant", (Thinking("hidden"),)))
    assert line.endswith(" assistant] (nothing visible)")


@pytest.mark.requirement("F41")
def test_originals_are_read_in_place_of_stubs():
    lines = read(
        A(c("1")),
        T("1", "the real output"),
        edits=lambda messages: (Rewrite(messages[1].id, 0, STUB, "clear"),),
    )
    assert lines[1].endswith("result of run: the real output")


@pytest.mark.requirement("F41")
def test_lost_results_are_marked_as_cleared_with_their_handle():
    (_, line) = read(A(c("1")), T("1", STUB))
    handle = line[1:].split(" ")[0]
    assert f"[content cleared, handle {handle}: it had 900 tokens of run, old]" in line


def test_pieces_that_fit_are_whole():
    found = [piece(n, f"step {n}") for n in range(10)]
    assert fit_pieces(found, COUNTER, {}, 1_000, 1_000) == found


@pytest.mark.requirement("H4", "J4", "F26")
def test_a_long_text_keeps_beginning_end_and_important_lines():
    middle = [f"line {n}" for n in range(2_000)]
    middle[1_000] = "ERROR: src/pool.py:88 is broken"
    long = piece(7, "\n".join(["first line", *middle, "last line"]))
    (short,) = fit_pieces([long], COUNTER, {}, 400, 1_000)
    assert short.tokens <= 400
    assert "first line" in short.text
    assert short.text.endswith("last line")
    assert "ERROR: src/pool.py:88 is broken" in short.text
    assert "recall 000007" in short.text


@pytest.mark.requirement("F30", "F73")
@pytest.mark.parametrize("room", [60, 200, 1_000, 5_000])
def test_no_step_goes_unnamed_however_little_room_there_is(room):
    found = [
        piece(n, f"step {n}\n" * (1 + 80 * (n % 7)), "user" if n == 3 else "tool")
        for n in range(200)
    ]
    short = fit_pieces(found, COUNTER, {}, room, 500)
    assert size(short) <= room + 60
    steps = 0
    for one in short:
        if one.role == "…":
            steps += int(one.text.split(": ")[1].split(" ")[0].replace(",", ""))
        elif "continued" not in one.role:
            steps += 1
    assert steps == 200
    assert short[-1].handle == found[-1].handle or short[-1].text.startswith(
        f"to {found[-1].handle}"
    )


def test_if_steps_share_a_note_user_steps_and_the_newest_stay():
    found = [piece(n, f"step {n}", "user" if n == 3 else "tool") for n in range(1_000)]
    kept = {one.handle for one in fit_pieces(found, COUNTER, {}, 600, 500) if one.role != "…"}
    assert {found[3].handle, found[-1].handle, found[-2].handle} <= kept
    assert found[100].handle not in kept


def test_a_long_text_is_divided_and_loses_nothing():
    text = "\n".join(f"line {n}" for n in range(1_000))
    found = fit_pieces([piece(1, text)], COUNTER, {}, 100_000, 300)
    assert "".join(one.text for one in found) == text
    assert all(one.tokens <= 300 for one in found)
    assert [one.role for one in found][:2] == ["tool", "tool, continued"]


def test_a_request_contains_the_pieces_that_fit():
    found = [piece(n, "x" * 40) for n in range(5)]
    now, later = chunk(found, 2 * found[0].tokens)
    assert (now, later) == (found[:2], found[2:])
    assert chunk(found, 1) == (found[:1], found[1:])
    assert chunk(found, 10_000) == (found, [])
