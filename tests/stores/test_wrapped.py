from __future__ import annotations

from inspect import signature

import pytest

from foldline.stores.protocol import Store
from foldline.stores.wrapped import WrappedStore

CALLS = [name for name in vars(Store) if not name.startswith("_") and name != "commit"]


class Recording:
    """A store that notes what it is asked, and answers with it."""

    def __init__(self):
        self.calls = []

    def __getattr__(self, name):
        def answer(*given):
            self.calls.append((name, given))
            return name, given

        return answer


@pytest.mark.parametrize("name", CALLS)
def test_every_call_but_a_change_reaches_the_store_behind_as_it_is(name):
    behind = Recording()
    call = getattr(WrappedStore(behind), name)
    given = tuple(signature(call).parameters)
    answer = call(*given)
    assert answer == (None if name == "close" else (name, given))
    assert behind.calls == [(name, given)]


def test_a_change_is_left_to_those_that_know_what_to_do_with_its_contents():
    assert not hasattr(WrappedStore(Recording()), "commit")
