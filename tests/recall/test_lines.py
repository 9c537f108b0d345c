"""Folders and files that lines share stand once, and every line can be told from the rest."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.recall.test_searching import COUNTER, SNAPSHOT, call, folded, result

from foldline.recall import recall
from foldline.recall.lines import json_values, merge_prefixes

ACME = "/home/user/project/services/billing/src/main/java/com/acme/"
SEARCH = "\n".join(f"{ACME}Client{n}.java:{n + 10}: int timeout = {n * 100};" for n in range(40))


@pytest.mark.parametrize("way", ["query", "grep"])
def test_the_folder_of_the_files_that_a_search_printed_comes_once_in_an_answer(way):
    held, _ = folded(call("c1", "bash", command="grep -rn int"), result("c1", SEARCH))

    found = recall(held, SNAPSHOT, **{way: "timeout"}, max_tokens=250, counter=COUNTER)

    assert found.text.count(ACME) == 1
    assert found.text.count("…/Client") >= 10
    assert found.text.endswith("]")


def test_files_stand_under_their_folder_and_lines_under_their_file():
    lines = [
        "/srv/project/app/a.py:1:x",
        "/srv/project/app/a.py:2:y",
        "/srv/project/app/sub/b.py:3:z",
        "/opt/c.py:4:w",
    ]

    assert merge_prefixes(lines) == [
        "/srv/project/app/",
        "…/a.py:",
        "1:x",
        "2:y",
        "…/sub/b.py:3:z",
        "/opt/c.py:4:w",
    ]


def test_lists_of_paths_share_their_folder_too():
    lines = ["./services/billing/a.py", "./services/billing/b.py", "README.md"]

    assert merge_prefixes(lines) == ["./services/billing/", "…/a.py", "…/b.py", "README.md"]


@pytest.mark.parametrize(
    "lines",
    [
        ["// a comment about this", "// a comment about that"],
        ["2026/11/27/12/00 started", "2026/11/27/12/01 ended"],
        ["src/a/x.py:1:x", "src/b/y.py:1:x"],
        ["and/or one", "and/or two", "", "text"],
    ],
)
def test_lines_that_share_no_folder_or_a_short_one_stay_as_they_are(lines):
    assert merge_prefixes(lines) == lines


def test_a_long_name_around_many_values_takes_no_more_memory_than_the_line():
    line = json.dumps({"k" * 1_000_000: list(range(15_000)), "zebra": 1})

    assert json_values(line) is None


FOLDERS = ("/home/user/project/", "/home/user/project/src/app/", "lib/", "/home/user/other/x/", "")
PATHS = st.builds(
    "{}{}{}".format,
    st.sampled_from(FOLDERS),
    st.sampled_from(["a.py", "b.py"]),
    st.sampled_from([":7:x", ":8:y", "-9-z", "", " text"]),
)


@given(st.lists(PATHS | st.sampled_from(["text", "", "--", "12:30 o'clock"]), max_size=30))
def test_every_line_is_read_back_from_what_stands_above_it(lines):
    back, folder, file = [], "", ""
    for line in merge_prefixes(lines):
        if line in FOLDERS and line:
            folder = line
        elif line.endswith((".py:", ".py-")):
            file = line.replace("…/", folder)
        elif line.startswith(("7:", "8:", "9-")):
            back.append(file + line)
        else:
            back.append(line.replace("…/", folder))
    assert back == lines
