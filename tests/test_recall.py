import json
import time

import pytest

from foldline.errors import InputError, RecallError
from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.recall import Folded, Holdings, recall
from foldline.recall.holdings import resolve
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.identity import HANDLE_LENGTH
from foldline.values.messages import Message, Text, ToolCall, ToolResult
from foldline.values.tokens import TokenCounter
from foldline.values.transcript import Transcript

LOG = "\n".join(
    f"line {number}: {'error' if number % 10 == 0 else 'ok'}" for number in range(1, 101)
)
WIRES = [
    {"role": "user", "content": "Look at the log."},
    {
        "role": "assistant",
        "content": "I will.",
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": "read", "arguments": '{"path": "a.log", "limit": 100}'},
            }
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": LOG},
]


def holdings(*wires):
    messages = OpenAIChatDialect().decode(list(wires or WIRES)).messages
    handles = [message.id[:HANDLE_LENGTH] for message in messages]
    return Holdings({message.id: message for message in messages}), handles


def says(text):
    """Return holdings of one user message, and its handle."""
    held, handles = holdings({"role": "user", "content": text})
    return held, handles[0]


def test_a_whole_message_is_recalled_with_its_exact_wire_original():
    held, handles = holdings()

    found = recall(held, handles[2])

    assert found.text == LOG
    assert found.raw is WIRES[2]
    assert found.role == "tool"
    assert found.note == ""
    assert found.message_id.startswith(found.handle)


def test_a_part_is_recalled_with_its_own_original():
    held, handles = holdings()

    found = recall(held, f"{handles[1]}.1")

    assert json.loads(found.text) == {"path": "a.log", "limit": 100}
    assert found.raw == WIRES[1]["tool_calls"][0]


def test_the_handle_of_a_step_returns_its_text_its_calls_and_their_results():
    held, handles = holdings()

    found = recall(held, handles[1])

    assert found.text == (
        f'[{handles[1]} assistant]\nI will.\n[call read]\n{{"path": "a.log", "limit": 100}}\n\n'
        f"[{handles[2]} tool]\n{LOG}"
    )
    assert found.raw is WIRES[1]


def test_a_step_ends_with_its_own_results():
    second = json.loads(json.dumps(WIRES[1:]).replace("c1", "c2").replace("I will", "Again"))
    held, handles = holdings(*WIRES, *second)

    assert handles[3] not in recall(held, handles[1]).text
    assert handles[1] not in recall(held, handles[3]).text
    assert handles[4] in recall(held, handles[3]).text


@pytest.mark.parametrize(
    ("lines", "first", "last"),
    [
        ("3:5", 3, 5),
        ("98:", 98, 100),
        (":2", 1, 2),
        ("-3:", 98, 100),
        ("-100:-99", 1, 2),
        ("7", 7, 7),
        ("-1", 100, 100),
        ("99:5000", 99, 100),
        (" 4:4 ", 4, 4),
        (":", 1, 100),
    ],
)
def test_lines_are_counted_from_one_with_both_ends(lines, first, last):
    held, handles = holdings()

    found = recall(held, handles[2], lines=lines)

    got = found.text.split("\n")
    assert got[0].startswith(f"line {first}:")
    assert got[-1].startswith(f"line {last}:")
    assert len(got) == last - first + 1
    assert f"Lines {first} to {last} of 100." in found.note


@pytest.mark.parametrize("lines", ["", "a:b", "5:3", "200:300", "1:2:3", "1-5", "0"])
def test_a_range_without_lines_is_an_error(lines):
    held, handles = holdings()

    with pytest.raises(RecallError):
        recall(held, handles[2], lines=lines)


def test_search_shows_numbers_context_and_places():
    held, handles = holdings()

    found = recall(held, handles[2], grep=r"line (10|12|50):", context=1)

    assert found.text.split("\n") == [
        "9- line 9: ok",
        "10: line 10: error",
        "11- line 11: ok",
        "12: line 12: ok",
        "13- line 13: ok",
        "--",
        "49- line 49: ok",
        "50: line 50: error",
        "51- line 51: ok",
    ]
    assert found.note == "3 matching lines."


def test_search_in_a_range_keeps_the_numbers_of_the_whole():
    held, handles = holdings()

    found = recall(held, handles[2], lines="45:65", grep="error", context=0)

    assert found.text == "50: line 50: error\n60: line 60: error"


def test_a_search_without_hits_reports_it():
    held, handles = holdings()

    found = recall(held, handles[2], grep="nowhere")

    assert found.text == "[0 matches. Nor anywhere else.]"


def test_a_search_without_hits_names_other_handles_with_hits():
    held, handles = holdings()

    assert recall(held, handles[0], grep="line 50").text == (
        f"[0 matches. It matches in {handles[2]}.]"
    )
    assert recall(held, handles[2], query="look").text == (
        f"[0 matches. It matches in {handles[0]}.]"
    )


def test_a_search_shows_a_hundred_hits_and_names_the_next_page():
    held, handle = says("hit\n" * 250)

    first = recall(held, handle, grep="hit", context=0)
    last = recall(held, handle, grep="hit", context=0, start=200)

    assert first.text.count("hit") == 100
    assert first.text.endswith("\n[150 more matches: start=100]")
    assert last.text.count("hit") == 50
    assert last.text.endswith("250: hit")
    with pytest.raises(RecallError, match="past the end"):
        recall(held, handle, grep="hit", start=250)


def test_a_hit_in_a_giant_line_is_shown_with_its_surroundings_only():
    held, handle = says("x" * 100_000 + "NEEDLE" + "y" * 100_000)

    found = recall(held, handle, grep="NEEDLE")

    assert "NEEDLE" in found.text
    assert len(found.text) < 800


@pytest.mark.parametrize("pattern", ["(", "[a", "a" * 501])
def test_a_wrong_pattern_is_an_error(pattern):
    held, handles = holdings()

    with pytest.raises(RecallError, match=r"pattern|expression"):
        recall(held, handles[2], grep=pattern)


def test_a_pattern_that_backtracks_forever_is_stopped():
    held, handle = says("a" * 40 + "!")
    start = time.monotonic()

    with pytest.raises(RecallError, match="longer than 1 second"):
        recall(held, handle, grep=r"^((a|a)*b?)*$")

    assert time.monotonic() - start < 20


def test_a_json_path_chooses_values():
    value = {"items": [{"id": 1, "$ref": "x"}, {"id": 5, "name": "Grüße"}]}
    held, handle = says(json.dumps(value))

    assert recall(held, handle, path="$.items[?@.id == 5].name").text == "Grüße"
    assert recall(held, handle, path="items[0]['$ref']").text == "x"
    assert json.loads(recall(held, handle, path="$..id").text) == [1, 5]
    assert json.loads(recall(held, handle, path="$.items[0]").text) == value["items"][0]


def test_a_path_that_matches_nothing_names_the_keys():
    held, handle = says('{"alpha": 1, "beta": 2}')

    with pytest.raises(RecallError, match="alpha, beta"):
        recall(held, handle, path="gamma")


@pytest.mark.parametrize(
    "path", ["$.[", "$..a..b..c", "$[?$.a == 1]", "$[?search(@.a, '(a+)+$')]", "a" * 501]
)
def test_an_invalid_or_costly_path_is_an_error(path):
    held, handle = says('{"a": [1, 2]}')

    with pytest.raises(RecallError):
        recall(held, handle, path=path)


@pytest.mark.parametrize("text", ["no json", "[" * 5_000 + "]" * 5_000])
def test_a_path_into_text_that_is_not_json_is_an_error(text):
    held, handle = says(text)

    with pytest.raises(RecallError, match=r"lines or grep|cannot be followed"):
        recall(held, handle, path="$.a")


def pages(held, handle, **limit):
    start, out = 0, []
    while True:
        found = recall(held, handle, start=start, **limit)
        out.append(found.text)
        if "Go on with start=" not in found.note:
            return out
        start = int(found.note.rpartition("=")[2].rstrip("."))


def test_pages_by_characters_make_up_the_whole():
    held, handles = holdings()

    got = pages(held, handles[2], max_chars=300)

    assert "".join(got) == LOG
    assert max(map(len, got)) <= 300
    assert all(page.endswith("\n") for page in got[:-1])


def test_pages_by_tokens_make_up_the_whole_of_a_text_without_lines():
    counter = TokenCounter(EstimatedCounter("o200k"))
    text = "".join(f"key{number}=value{number};" for number in range(2_000))
    held, handle = says(text)

    got = pages(held, handle, max_tokens=1_000, counter=counter)

    assert "".join(got) == text
    assert max(counter.text(page) for page in got) <= 1_000
    assert len(got) < 3 * counter.text(text) / 1_000


@pytest.mark.parametrize("limits", [{"max_tokens": 5}, {"max_chars": 0}, {"start": -1}])
def test_impossible_pages_are_errors(limits):
    held, handles = holdings()

    with pytest.raises(RecallError):
        recall(held, handles[2], **limits)


def test_a_page_past_the_end_is_an_error():
    held, handles = holdings()

    with pytest.raises(RecallError, match="past the end"):
        recall(held, handles[0], start=1_000)


def test_a_snapshot_recalls_everything_it_folds_nested_snapshots_included():
    held, handles = holdings()
    ids = list(held.messages)
    inner, outer = "a" * 32, "b" * 32
    snapshots = {inner: Folded((ids[0], ids[1]), 2), outer: Folded((inner, ids[2]), 3)}
    nested = Holdings(held.messages, snapshots)

    found = recall(nested, outer[:8])

    assert found.raw == WIRES
    assert found.role == "snapshot"
    assert all(handle in found.text for handle in handles)
    assert LOG in found.text


def test_snapshots_that_refer_to_each_other_terminate():
    left, right = "a" * 32, "b" * 32

    found = recall(Holdings({}, {left: Folded((right,), 0), right: Folded((left,), 0)}), left)

    assert found.raw == []


def test_an_unknown_handle_lists_similar_ones():
    held, handles = holdings()
    wrong = handles[2][:-1] + ("0" if handles[2][-1] != "0" else "1")

    with pytest.raises(RecallError, match=handles[2]):
        recall(held, wrong)


@pytest.mark.parametrize("handle", ["", "abcde", "zzzzzzzz", "a" * 33, "../../etc", "12345678.x"])
def test_an_invalid_handle_is_an_error(handle):
    held, _ = holdings()

    with pytest.raises(RecallError, match="is not a handle"):
        recall(held, handle)


def test_a_part_that_does_not_exist_is_an_error():
    held, handles = holdings()

    with pytest.raises(RecallError, match=r"no part 7"):
        recall(held, f"{handles[1]}.7")


def test_handles_may_be_written_in_capitals_and_be_longer_than_needed():
    held, _ = holdings()
    number = next(iter(held.messages))

    assert recall(held, number.upper()).message_id == number
    assert recall(held, f" {number[:20]}\n").message_id == number


def test_an_ambiguous_handle_asks_for_more_digits():
    born = {"12345678" + "a" * 24: 1, "12345678" + "b" * 24: 2}

    with pytest.raises(RecallError, match="12345678aaaaaaaa, 12345678bbbbbbbb"):
        resolve("12345678", born)

    assert resolve("12345678b", born).id == "12345678" + "b" * 24


def test_a_handle_that_was_unique_when_issued_keeps_its_meaning():
    born = {"12345678" + "b" * 24: 4, "0" * 32: 1, "12345678" + "a" * 24: 2, "f" * 32: 3}

    assert resolve("12345678", born, moments=[2]).id == "12345678" + "a" * 24
    assert resolve("12345678", born, moments=[3]).id == "12345678" + "a" * 24
    with pytest.raises(RecallError, match="ambiguous"):
        resolve("12345678", born, moments=[1, 4])


def test_media_and_unknown_parts_are_described():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    strange = {"type": "hologram", "x": 1}
    held, handles = holdings({"role": "user", "content": [image, strange]})

    text = recall(held, handles[0]).text

    assert "[image image/png" in text
    assert recall(held, f"{handles[0]}.0").raw == image
    assert recall(held, f"{handles[0]}.1").text == '{"type":"hologram","x":1}'


def test_a_message_without_a_wire_original_is_recalled():
    call = Message("assistant", (ToolCall("c", "run", "{}"),))
    result = Message("tool", (ToolResult("c", (Text("out"), Text("more"))),))
    log = Transcript.of([call, result], "openai-chat").messages
    held = Holdings({message.id: message for message in log})

    assert recall(held, log[1].id).text == "out\nmore"
    assert recall(held, f"{log[0].id}.0").text == "{}"
    assert recall(held, log[0].id).text.endswith("tool]\nout\nmore")


def test_a_context_beyond_all_lines_costs_no_more_than_the_lines():
    held, handle = says("hit\n" * 50)

    found = recall(held, handle, grep="hit", context=10**12)

    assert len(found.text.splitlines()) == 51
    assert found.note.startswith("50 matching lines")


def test_a_path_whose_unions_multiply_is_refused():
    held, handle = says(json.dumps({"a": {"a": 1}}))

    with pytest.raises(RecallError, match="may take too long"):
        recall(held, handle, path="$" + "['a','a']" * 40 + ".b")
    assert recall(held, handle, path="$['a','b','c','d']['a','b']").text == "1"


def test_a_pattern_with_endless_recursion_is_an_error():
    held, handle = says("aaaa")

    with pytest.raises(RecallError, match="more memory"):
        recall(held, handle, grep="(?R)")


def test_a_number_is_one_line():
    kept, (_, _, handle) = holdings()
    assert recall(kept, handle, lines=3).text == recall(kept, handle, lines="3").text
    assert recall(kept, handle, lines=-1).text == LOG.split("\n")[-1]


@pytest.mark.parametrize(
    ("access", "sentence"),
    [
        ({"lines": slice(1, 2)}, "field lines: a text or a whole number is expected here"),
        ({"lines": (1, 2)}, "not a tuple"),
        ({"lines": True}, "not a bool"),
        ({"grep": 5}, "field grep: a text is expected here, not an int"),
        ({"query": 5}, "field query"),
        ({"path": 3}, "field path"),
        ({"handle": None}, "field handle"),
        ({"start": "x"}, "field start: a whole number is expected here, not a str"),
        ({"max_chars": "200"}, "field max_chars"),
    ],
)
def test_an_argument_of_a_wrong_type_is_refused_by_name(access, sentence):
    kept, (_, _, handle) = holdings()
    with pytest.raises(InputError, match=sentence):
        recall(kept, **{"handle": handle, **access})
