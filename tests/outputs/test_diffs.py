"""Diffs."""

from foldline.outputs.diffs import diff, is_diff

DIFF = """\
diff --git a/src/a.py b/src/a.py
index 12ab..34cd 100644
--- a/src/a.py
+++ b/src/a.py
@@ -1,3 +1,3 @@ def run():
 same
-old = 1
+new = 2
diff --git a/src/b.py b/src/b.py
--- a/src/b.py
+++ b/src/b.py
@@ -9,2 +9,3 @@
+added"""
LINES = [line.strip() for line in DIFF.split("\n")]


def test_a_hunk_names_its_file():
    made = diff(LINES)
    assert "src/a.py @@ -1,3 +1,3 @@ def run():" in made.lines
    assert made.lines[made.head(12)] == "src/b.py @@ -9,2 +9,3 @@"


def test_changed_lines_come_before_their_surroundings():
    worth = diff(LINES).worth
    assert worth[0] > worth[4] > worth[6] == worth[7] > worth.get(5, 0.0)


def test_a_diff_is_recognised_anywhere():
    assert is_diff("commit abc\n\n" + DIFF)
    assert is_diff("--- old.txt\t2025\n+++ new.txt\t2025\n")
    assert not is_diff("- one\n+ two\n--- \n")
