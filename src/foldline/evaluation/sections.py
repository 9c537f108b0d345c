"""
What a measurement reports: tables, plots as numbers, and goals, which travel as JSON.

A section knows nothing of Markdown or pictures; `foldline.evaluation.rendering` and
`foldline.evaluation.report` turn it into what people look at.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias, TypeVar

from foldline.errors import InputError

Cell: TypeAlias = str | float | int | None
Kind: TypeAlias = Literal["bars", "lines"]

_Part = TypeVar("_Part")


@dataclass(frozen=True, slots=True)
class ReportTable:
    """
    Rows of figures under their headings; None is a figure that could not be taken.

    ``note`` stands below: what the columns mean, and in what units.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def __post_init__(self) -> None:
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise InputError(
                    f"row {number} of the table {self.title!r} has {len(row)} cells "
                    f"for {len(self.columns)} columns"
                )


@dataclass(frozen=True, slots=True)
class Series:
    """
    One line or one colour of bars: points as (x, y).

    ``low`` and ``high`` are the ends of an interval around every y, or empty. Where bars have
    labels, x is the position of the label.
    """

    name: str
    points: tuple[tuple[float, float], ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if len(self.low) != len(self.high) or len(self.low) not in (0, len(self.points)):
            raise InputError(
                f"the series {self.name!r} has {len(self.points)} points, but intervals of "
                f"{len(self.low)} low and {len(self.high)} high ends"
            )


@dataclass(frozen=True, slots=True)
class Plot:
    """
    A picture as numbers.

    ``name`` is the stem of its file. ``x`` and ``y`` are what the axes show, with units.
    ``labels`` name the groups of bars; ``goal`` is a level of y to reach.
    """

    name: str
    title: str
    kind: Kind
    x: str
    y: str
    series: tuple[Series, ...]
    labels: tuple[str, ...] = ()
    log_x: bool = False
    log_y: bool = False
    goal: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in ("bars", "lines"):
            raise InputError(f"a plot has bars or lines, not {self.kind!r:.40}")


@dataclass(frozen=True, slots=True)
class Goal:
    """A measured value beside what it is to be: at most ``most``, at least ``least``."""

    what: str
    value: float
    unit: str
    most: float | None = None
    least: float | None = None

    @property
    def held(self) -> bool:
        """Whether the value is what it is to be; one that is no number never is."""
        if math.isnan(self.value):
            return False
        above = self.least is None or self.value >= self.least
        return above and (self.most is None or self.value <= self.most)


@dataclass(frozen=True, slots=True)
class ReportSection:
    """What one measurement has to say."""

    name: str
    title: str
    text: str
    tables: tuple[ReportTable, ...] = ()
    plots: tuple[Plot, ...] = ()
    goals: tuple[Goal, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the section as JSON values; a figure that is no number becomes None."""
        found: dict[str, Any] = _plain(asdict(self))
        return found

    @classmethod
    def from_json(cls, value: Any) -> ReportSection:
        """
        Read a section.

        Args:
            value: What `to_json` returned, after a way through JSON.

        Raises:
            InputError: Something is missing or of another shape; the error names it.
        """
        parts = _fields(value, "section")
        try:
            return cls(
                str(parts["name"]),
                str(parts["title"]),
                str(parts["text"]),
                tuple(_table(part) for part in parts.get("tables", ())),
                tuple(_plot(part) for part in parts.get("plots", ())),
                tuple(_goal(part) for part in parts.get("goals", ())),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise _malformed("section", error) from error


def _plain(value: Any) -> Any:
    """Return a value without tuples, and without numbers that JSON does not have."""
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _fields(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InputError(f"a {what} is a JSON object, not {value!r:.40}")
    return value


def _malformed(what: str, error: Exception) -> InputError:
    missing = f"has no field {error}" if isinstance(error, KeyError) else f"is malformed: {error}"
    return InputError(f"the {what} {missing}", hint="Run the measurement again.")


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
