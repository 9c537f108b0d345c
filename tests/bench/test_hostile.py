"""A small version of every attack; `make hostile` has the large ones."""

import pytest

import hostile_archives
import hostile_inputs
import hostile_kills
import hostile_terminal


def test_changed_inputs_raise_only_errors_of_foldline():
    kinds, wrong = hostile_inputs.fuzz(240, seed=7)
    assert sum(kinds.values()) == 240
    assert wrong == []


def test_damaged_archives_raise_only_errors_of_foldline_and_harm_no_other_session():
    kinds, wrong = hostile_archives.fuzz(60, seed=7)
    assert set(kinds) == {"bytes", "page", "cell", "json", "row"}
    assert wrong == []


def test_a_kill_loses_nothing_that_was_acknowledged():
    acknowledged, wrong = hostile_kills.fuzz(4, seed=7)
    assert acknowledged >= 4
    assert wrong == []


def test_no_attack_on_the_terminal_reaches_outside():
    modes, wrong = hostile_terminal.fuzz(60, seed=7)
    assert modes["none"] == 60
    assert wrong == []


@pytest.mark.parametrize("raised", [KeyError, TypeError])
def test_an_error_that_is_not_foldlines_own_is_found(raised, monkeypatch):
    def fails(*_):
        raise raised("x")

    monkeypatch.setattr(hostile_inputs, "read_file", fails)
    assert len(hostile_inputs.fuzz(20, seed=7)[1]) == 10
