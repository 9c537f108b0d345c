"""Public methods accept any argument, or raise an error of Foldline."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from foldline import Session
from foldline.errors import FoldlineError, InputError
from foldline.memory import Memory
from foldline.memory.knowledge import Knowledge
from foldline.notes import Notes


class Raising(str):
    """A string whose methods all raise."""

    __slots__ = ()

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __len__(self) -> int:
        raise RuntimeError("length")

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("items")


STRANGE = [
    *(None, 5, -1, True, 1.5, float("nan"), 2**70, b"x", [], [1], {}, {"a": object()}, object()),
    *("", "x" * 300, "a/b", "\0", "\ud800", ["x" * 300], Raising("abc")),
]
PASSED_ON = {("append", "message"), ("overflowed", "said"), ("ask", "model"), ("aask", "model")}
"""Parameters of any type: errors of such objects are those of the caller."""

KINDS = {
    "session": lambda folder: Session.open(folder / "s.db", "s", window=5_000),
    "notes": lambda folder: Notes.open(folder / "notes"),
    "memory": lambda folder: Memory.open(folder / "m.db"),
    "knowledge": lambda folder: Knowledge.open(folder / "k.db"),
}


def methods(thing: Any) -> Iterator[tuple[str, list[inspect.Parameter]]]:
    for name in dir(type(thing)):
        member = getattr(type(thing), name)
        if name.startswith("_") or name in {"open", "close", "aclose"} or not callable(member):
            continue
        parameters = inspect.signature(member).parameters.values()
        yield name, [one for one in list(parameters)[1:] if one.kind not in (2, 4)]


@pytest.mark.parametrize("kind", KINDS)
def test_arguments_of_any_type_are_accepted_or_rejected_by_name(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answered, refused = 0, set[str]()
    with KINDS[kind](tmp_path) as thing:
        for name, parameters in methods(thing):
            for one in parameters:
                for value in STRANGE:
                    if (name, one.name) in PASSED_ON and isinstance(value, Raising):
                        continue
                    given = {p.name: "x" for p in parameters if p.default is p.empty}
                    try:
                        result = getattr(thing, name)(**{**given, one.name: value})
                    except FoldlineError:
                        refused.add(name)
                        continue
                    answered += 1
                    if inspect.iscoroutine(result):
                        result.close()
    assert answered
    assert len(refused) > 5


@pytest.mark.parametrize("value", [None, 5, b"x", [], "x" * 300, "\0"], ids=repr)
def test_places_of_any_type_are_rejected(value: Any, tmp_path: Path) -> None:
    for kind in (Notes, Memory, Knowledge):
        with pytest.raises(FoldlineError):
            kind.open(tmp_path / value if isinstance(value, str) else value)
    with pytest.raises(FoldlineError):
        Session.open(tmp_path / value if isinstance(value, str) else value, "s", window=5_000)
    if not isinstance(value, str):
        with pytest.raises(InputError, match="field name"):
            Session.open(tmp_path / "s.db", value, window=5_000)


def test_a_string_subclass_whose_methods_raise_becomes_a_plain_one(tmp_path: Path) -> None:
    with Memory.open(tmp_path / "m.db") as memory:
        memory.add(Raising("the build fails"))
        assert memory.search(Raising("build"))
