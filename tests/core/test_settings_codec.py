from __future__ import annotations

from typing import Literal

import pytest

from foldline.core.settings_codec import from_plain, leaves
from foldline.errors import BudgetError
from foldline.frozen import field, frozen, to_dict


@frozen
class Inner:
    share: float = 0.5
    names: tuple[str, ...] = ()
    most: int | None = None


@frozen
class Outer:
    on: bool = True
    style: Literal["head", "tail"] = "head"
    inner: Inner = field(default_factory=Inner)


def test_every_setting_is_listed_with_its_dotted_key_and_default():
    assert {leaf.key: leaf.default for leaf in leaves(Outer)} == {
        "on": True,
        "style": "head",
        "inner.share": 0.5,
        "inner.names": (),
        "inner.most": None,
    }


def test_a_record_round_trips():
    record = Outer(False, "tail", Inner(1, ("read",), 3))
    plain = to_dict(record)
    assert plain["inner"] == {"share": 1, "names": ["read"], "most": 3}
    assert from_plain(Outer, plain) == record
    assert from_plain(Outer, {}) == Outer()


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"onn": True}, "no setting 'onn'.*Did you mean 'on'"),
        ({"inner": {"shar": 1}}, r"no setting 'inner\.shar'.*'inner\.share'"),
        ({"on": 1}, "on must be true or false"),
        ({"inner": {"share": "x"}}, r"inner\.share must be a number"),
        ({"inner": {"share": True}}, r"inner\.share must be a number"),
        ({"inner": {"most": 1.5}}, r"inner\.most must be a whole number"),
        ({"inner": {"most": True}}, r"inner\.most must be a whole number"),
        ({"inner": {"names": "read"}}, r"inner\.names must be a list"),
        ({"inner": {"names": [1]}}, r"inner\.names must be a text"),
        ({"inner": 3}, "inner: expected a table"),
        ({"style": "middle"}, "style must be 'head' or 'tail'"),
        ({"style": ["head"]}, "style must be 'head' or 'tail'"),
        ([], "a table"),
    ],
)
def test_unknown_keys_and_wrong_types_are_rejected_by_name(value, words):
    with pytest.raises(BudgetError, match=words):
        from_plain(Outer, value)
