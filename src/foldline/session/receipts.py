"""Receipts of a session, read again from the JSON values that they are kept as."""

from __future__ import annotations

from collections.abc import Mapping
from sys import intern
from typing import Any

from foldline.core.outcome import Evicted, RungReport
from foldline.core.spending import Spent
from foldline.engine.receipt import Receipt
from foldline.type_checks import check_fields
from foldline.values.edits import Edit


def receipt_from_dict(value: Mapping[str, Any], edits: tuple[Edit, ...]) -> Receipt:
    """
    Read what `Receipt.to_dict` wrote.

    Args:
        value: The JSON value.
        edits: The edits, which it only counts.
    """
    plain = {key: item for key, item in value.items() if key not in ("schema", "edits")}
    rungs = tuple(RungReport(**rung) for rung in plain.pop("rungs"))
    warnings = tuple(plain.pop("warnings"))
    spent = Spent(**plain.pop("spent", {}))
    out = plain.pop("evicted", {})
    evicted = Evicted(tuple(out.get("files", ())), out.get("unknown", 0))
    # A few words, thousands of times: each is kept once.
    plain["recall"] = {handle: intern(words) for handle, words in plain["recall"].items()}
    receipt = Receipt(
        **plain, edits=edits, rungs=rungs, warnings=warnings, spent=spent, evicted=evicted
    )
    for record in (*rungs, spent, evicted, receipt):
        check_fields(record)
    return receipt
