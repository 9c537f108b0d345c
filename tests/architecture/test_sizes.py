"""A file can be read in one sitting, and a function on one screen."""

from __future__ import annotations

import ast
import statistics

from tests.architecture.sources import modules, relative, tree

LONGEST_FILE, MEDIAN_FILE = 400, 200
LONGEST_FUNCTION = 70


def test_no_file_is_longer_than_a_sitting_and_most_are_far_shorter():
    lines = sorted(
        (
            (len(path.read_text(encoding="utf-8").splitlines()), relative(path))
            for path in modules()
        ),
        reverse=True,
    )
    sizes = [size for size, _ in lines]
    five = "\n".join(f"  {size:4} {name}" for size, name in lines[:5])
    print(  # noqa: T201  # shown with -rP, and on failure
        f"median {statistics.median(sizes):.0f} lines; the five largest files:\n{five}"
    )
    assert sizes[0] <= LONGEST_FILE, f"a file this long holds two ideas:\n{five}"
    assert statistics.median(sizes) <= MEDIAN_FILE


def test_no_function_is_longer_than_a_screen():
    long = [
        f"{relative(path)}:{node.lineno} {node.name} has {_lines(node)} lines"
        for path in modules()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and _lines(node) > LONGEST_FUNCTION
    ]
    assert long == []


def _lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1
