"""Rows of files: short, and read again as they were written."""

from hypothesis import given
from hypothesis import strategies as st

from foldline.snapshot.file_rows import file_rows, listed_files

ROOT = "/srv/worktrees/150b/shop"
NAMES = st.text("abc", min_size=1, max_size=4)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map("/".join)


@given(st.dictionaries(PATHS | PATHS.map(lambda path: f"/{path}"), st.just("edited ×2")))
def test_files_are_read_again_as_they_were_written(done):
    assert dict(listed_files(file_rows(done))) == done


def test_files_of_several_folders_have_their_common_one_but_once():
    done = {f"{ROOT}/{name}": "edited" for name in ("Cross.toml", "ci/check.sh", "ci/build.sh")}
    assert file_rows(done) == [
        f"- {ROOT}: Cross.toml (edited), ci/check.sh (edited), ci/build.sh (edited)"
    ]


def test_many_files_of_deep_folders_are_listed_by_folder():
    folders = [f"{ROOT}/{n}/a/very/deep/folder/of/the/source" for n in range(2)]
    done = {f"{folder}/{n}.py": "" for folder in folders for n in range(6)}
    assert [row.partition(":")[0] for row in file_rows(done)] == [f"- {one}" for one in folders]
