"""Requirements and tests belong together: no row without a test, no such test without its row."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.requirements import REQUIREMENTS

TESTS = Path(__file__).parent


def test_every_requirement_is_proved_by_a_test():
    proofs = _proofs()
    assert [
        f"{row.id}: {row.sentence}" for row in REQUIREMENTS.values() if not proofs[row.id]
    ] == []


def test_every_test_that_names_a_requirement_names_one_that_exists():
    assert {
        number: where for number, where in _proofs().items() if number not in REQUIREMENTS
    } == {}


def test_every_sentence_occurs_once_and_ends():
    sentences = [row.sentence for row in REQUIREMENTS.values()]
    assert len(set(sentences)) == len(sentences) > 100
    assert [sentence for sentence in sentences if not sentence.endswith(".")] == []


@cache
def _proofs() -> dict[str, list[str]]:
    """List by requirement the tests that name it."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _is_mark(node.func):
                for number in _texts(node):
                    found[number].append(f"{path.relative_to(TESTS)}:{node.lineno}")
    return found


def _is_mark(node: ast.expr) -> bool:
    named = isinstance(node, ast.Attribute) and node.attr == "requirement"
    return named and ast.unparse(node) == "pytest.mark.requirement"


def _texts(call: ast.Call) -> Iterator[str]:
    for argument in call.args:
        if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
            raise AssertionError(f"a requirement is named by a plain text: {ast.unparse(call)}")
        yield argument.value
