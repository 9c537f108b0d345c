"""Read sections of measurements from the JSON that a part of the bench wrote."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from foldline.errors import InputError
from foldline.evaluation.sections import Goal, Plot, ReportSection, ReportTable, Series

AGAIN = "Run the measurement again."


def read_section(value: Any) -> ReportSection:
    """
    Read a section.

    Args:
        value: The result of `ReportSection.to_json`, after a round trip through JSON.

    Raises:
        InputError: A field is missing or malformed; the error names it.
    """
    parts = _fields(value, "section")
    try:
        return ReportSection(
            str(parts["name"]),
            str(parts["title"]),
            str(parts["text"]),
            tuple(_table(part) for part in parts.get("tables", ())),
            tuple(_plot(part) for part in parts.get("plots", ())),
            tuple(_goal(part) for part in parts.get("goals", ())),
        )
    except KeyError as error:
        raise InputError(f"the section has no field {error}", hint=AGAIN) from error
    except (TypeError, ValueError) as error:
        raise InputError(f"the section is malformed: {error}", hint=AGAIN) from error


def _fields(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"a {what} must be a JSON object, not {value!r:.40}")
    return value


def _table(value: Any) -> ReportTable:
    fields = _fields(value, "table")
    rows = tuple(tuple(row) for row in fields["rows"])
    return ReportTable(fields["title"], tuple(fields["columns"]), rows, fields.get("note", ""))


def _plot(value: Any) -> Plot:
    fields = _fields(value, "plot")
    rest = {
        "series": tuple(_series(part) for part in fields["series"]),
        "labels": tuple(fields.get("labels", ())),
    }
    return Plot(**{**fields, **rest})


def _series(value: Any) -> Series:
    fields = _fields(value, "series")
    ends = (tuple(map(_number, fields.get(end, ()))) for end in ("low", "high"))
    return Series(
        fields["name"], tuple((float(x), _number(y)) for x, y in fields["points"]), *ends
    )


def _goal(value: Any) -> Goal:
    fields = _fields(value, "goal")
    return Goal(**{**fields, "value": _number(fields["value"])})


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)
