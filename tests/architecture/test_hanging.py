"""No test can hang: what it starts ends with it, and it has a limit of time."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.sources import ROOT, tree

TESTS = ROOT / "tests"


def calls(*names: str) -> Iterator[tuple[str, ast.Call]]:
    """Yield every call in the tests of what has one of these last words, with its place."""
    for path in sorted(TESTS.rglob("*.py")):
        text = path.read_text("utf-8")
        for node in ast.walk(tree(path)) if any(name in text for name in names) else ():
            if isinstance(node, ast.Call) and _called(node) in names:
                yield f"{_shown(path)}:{node.lineno}", node


def _shown(path: Path) -> str:
    return path.relative_to(TESTS).as_posix()


def _called(call: ast.Call) -> str:
    match call.func:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
    return ""


def test_every_program_that_is_not_waited_for_is_launched_so_that_it_ends_with_its_test():
    started = [place for place, _ in calls("Popen", "fork", "Process")]
    assert started == [], "start it with tests.children.launch"


def test_no_thread_keeps_the_tests_from_ending():
    staying = [
        place
        for place, call in calls("Thread")
        if not any(word.arg == "daemon" and _is_true(word.value) for word in call.keywords)
    ]
    assert staying == [], "say daemon=True"


def _is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is True
