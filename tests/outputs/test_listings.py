"""Listings of files, and matches of a search."""

from hypothesis import given
from hypothesis import strategies as st
from tests.outputs.reading import unfactored, unfiled

from foldline.outputs.listings import (
    by_file,
    factor_paths,
    is_search,
    kind_of_listing,
    listing,
    search,
)

PATHS = [f"./src/app/module_{n // 9}/file_{n}.py" for n in range(60)]
LS = [
    "./src:",
    "total 8",
    *(f"-rw-r--r-- 1 me me {n} Mar  3 10:0{n % 9} f{n}.py" for n in range(9)),
]
LS += ["./docs:", *(f"-rw-r--r-- 1 me me {n} Mar  3 10:00 d{n}.md" for n in range(9))]
TREE = [".", "├── src", "│   ├── app.py", "│   └── core", "│       └── run.py", "└── README.md"]


@given(st.lists(st.text("ab/. é", min_size=1, max_size=9), min_size=1, max_size=20))
def test_folders_are_named_once_and_every_path_can_be_read_again(paths):
    made = factor_paths(paths)
    if made:
        assert unfactored(made) == paths


def test_a_listing_of_paths_has_a_shorter_form_without_loss():
    made = listing("\n".join(PATHS), PATHS, kind_of_listing(PATHS))
    assert made.lossless
    assert len(made.whole) < 0.7 * len("\n".join(PATHS))
    assert unfactored(made.whole) == PATHS


def test_files_belong_to_the_folder_that_is_named_above_them():
    assert kind_of_listing(LS) == "ls"
    made = listing("\n".join(LS), LS, "ls")
    assert made.lines[made.head(5)] == "./src:"
    assert made.lines[made.head(len(LS) - 1)] == "./docs:"
    assert made.apart


def test_a_tree_is_written_as_paths():
    made = listing("\n".join(TREE), TREE, "tree")
    assert made.lines == (".", "src", "src/app.py", "src/core", "src/core/run.py", "README.md")


def test_prose_is_no_listing():
    assert kind_of_listing([f"The {n}th sentence says little." for n in range(30)]) == ""


FOUND = [f"src/a_{n // 10}/b.py:{n * 3}:    value = call({n})" for n in range(60)]
CONTEXT = [
    "src/a.py-11-before",
    "src/a.py:12:match",
    "--",
    "src/b.py:3:x:4:y",
    "Binary file matches",
]


@given(st.lists(st.sampled_from(FOUND + CONTEXT) | st.text("a:/-1. ", min_size=1), max_size=30))
def test_files_are_named_once_and_every_match_can_be_read_again(lines):
    made = by_file(lines)
    if made:
        assert unfiled(made) == lines


def test_a_search_has_a_shorter_form_without_loss():
    made = search(FOUND)
    assert made.lossless
    assert len(made.whole) < 0.8 * len("\n".join(FOUND))
    assert unfiled(made.whole) == FOUND


def test_a_search_is_told_from_a_log_and_a_table():
    assert is_search(FOUND)
    assert not is_search([f"10:4{n % 10}:00 INFO all is well {n}" for n in range(30)])
    assert not is_search([f"{n}\tAnn Li\tOslo\t2025-01-02" for n in range(30)])
