"""Where the tokens are: a treemap by tool and message, and the tables of ``foldline stats``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

from foldline.evaluation.breakdown import WASTE, find_superseded, home_kind
from foldline.evaluation.figures import brief, share, shorten
from foldline.frozen import field, frozen
from foldline.inspector.html import Child, Html, h, join, rect
from foldline.inspector.pages.layout import Links, kind_name, link, note, opening, section, table
from foldline.inspector.pages.messages import excerpt
from foldline.inspector.timeline import BANDS
from foldline.inspector.trace import SessionTrace
from foldline.snapshot.file_changes import files
from foldline.values.groups import Pairing, pair
from foldline.values.messages import Message, ToolCall, ToolResult


@frozen
class Box:
    """A rectangle; all four in the units of the whole."""

    x: float
    y: float
    width: float
    height: float

    @property
    def sides(self) -> tuple[float, float, float, float]:
        """The four sides for drawing, none less than 0."""
        return self.x, self.y, max(0.0, self.width), max(0.0, self.height)

    @property
    def turned(self) -> Box:
        """The same box with swapped axes."""
        return Box(self.y, self.x, self.height, self.width)


def squarify(sizes: Sequence[float], within: Box) -> list[Box]:
    """
    Divide a rectangle in proportion to sizes, into nearly square pieces.

    Args:
        sizes: Positive numbers, the largest first.
        within: The rectangle.

    Returns:
        A rectangle for each number, in order.
    """
    made: list[Box] = []
    total, start = sum(sizes), 0
    while start < len(sizes) and total > 0:
        side = min(within.width, within.height)
        scale = within.width * within.height / total
        end, row = start + 1, sizes[start]
        worst = _worst(row, row, row, side, scale)
        while end < len(sizes):
            wider = _worst(sizes[start], sizes[end], row + sizes[end], side, scale)
            if wider > worst:
                break
            worst, row, end = wider, row + sizes[end], end + 1
        boxes, within = _cut(sizes[start:end], row, within, scale)
        made += boxes
        total -= row
        start = end
    return made


def _worst(largest: float, smallest: float, row: float, side: float, scale: float) -> float:
    """Return the worst aspect ratio in a row: that of its largest or smallest piece."""
    thick = row * scale / side if side else 0.0
    if not thick or not smallest:
        return float("inf")
    return max(largest * scale / thick / thick, thick / (smallest * scale / thick))


def _cut(sizes: Sequence[float], row: float, within: Box, scale: float) -> tuple[list[Box], Box]:
    """Return a row of pieces along the shorter side of a rectangle, and the rest."""
    if within.width < within.height:
        boxes, rest = _cut(sizes, row, within.turned, scale)
        return [box.turned for box in boxes], rest.turned
    thick = row * scale / within.height if within.height else 0.0
    boxes, place = [], within.y
    for size in sizes:
        length = size * scale / thick if thick else 0.0
        boxes.append(Box(within.x, place, thick, length))
        place += length
    width = max(0.0, within.width - thick)
    return boxes, Box(within.x + thick, within.y, width, within.height)


GROUPS, MEMBERS = 24, 60
"""Maximum groups of the treemap, and messages of each; smaller ones are merged."""

WIDE, TALL = 1_000.0, 560.0
ROWS: Final = 40
Rows: TypeAlias = list[list[Child]]
STALE: Final = "superseded by a later call"


@frozen
class Cell:
    """
    One message of the treemap, None for merged small ones.

    ``file`` is the file of the call; ``stale`` means that a later call superseded the result.
    """

    message: Message | None = field(repr=False)
    tokens: int
    stale: bool = False
    file: str = ""


def tokens(trace: SessionTrace, links: Links) -> Html:
    """Write where the tokens of the current view are."""
    stats = trace.stats
    return join(
        opening(
            "Where the tokens are",
            note(
                f"{stats.tokens:,} tokens in view now, counted by {trace.counter.name}; "
                "foldline stats prints the same figures for the same model."
            ),
            _treemap(trace, links),
            h("p", h("span", class_="swatch stale"), f" {STALE}", class_="legend"),
        ),
        _kinds(trace),
        _lists(trace, links),
    )


def _treemap(trace: SessionTrace, links: Links) -> Html:
    groups = trace.once("groups", group_messages)
    boxes = squarify([_sum(cells) for _, cells in groups], Box(0, 0, WIDE, TALL))
    pieces = [
        _group(name, cells, box, links, trace)
        for (name, cells), box in zip(groups, boxes, strict=True)
    ]
    return h(
        "svg",
        h("title", "Tokens by tool and message; the tables below have the figures"),
        pieces,
        viewBox=f"0 0 {WIDE:.0f} {TALL:.0f}",
        class_="treemap",
        role="group",
        aria_label="Tokens by tool and message",
    )


def group_messages(trace: SessionTrace) -> list[tuple[str, list[Cell]]]:
    """Group messages by origin: a tool name, else a role; largest first."""
    messages = trace.current.messages
    pairing = pair(messages)
    stale = {site.message for site in find_superseded(messages, pairing)}
    tools = {call.id: call.name for m in messages for call in m.calls}
    about = _file_of_messages(messages, pairing)
    found: dict[str, list[Cell]] = {}
    for index, message in enumerate(messages):
        size = trace.counter.message(message)
        found.setdefault(_origin(message, tools), []).append(
            Cell(message, size, index in stale, about.get(index, ""))
        )
    groups = sorted(found.items(), key=lambda pair: -_sum(pair[1]))
    if len(groups) > GROUPS:
        rest = [cell for _, cells in groups[GROUPS:] for cell in cells]
        groups = [*groups[:GROUPS], ("other tools", rest)]
    return [(name, _largest(cells)) for name, cells in groups]


def _file_of_messages(messages: Sequence[Message], pairing: Pairing) -> dict[int, str]:
    """Return the file of each message by its position, as named in its call."""
    found: dict[int, str] = {}
    for call, result in pairing.answers.items():
        part = messages[call.message].parts[call.part]
        if isinstance(part, ToolCall):
            path = next((fact.path for fact in files([Message("assistant", (part,))])), "")
            if path:
                found.setdefault(call.message, path)
                found.setdefault(result.message, path)
    return found


def _origin(message: Message, tools: dict[str | None, str]) -> str:
    for part in message.parts:
        if isinstance(part, ToolCall):
            return f"{part.name}: calls"
        if isinstance(part, ToolResult):
            name = part.name or tools.get(part.call_id, "")
            return f"{name}: results" if name else "tool results"
    return home_kind(message)


def _largest(cells: list[Cell]) -> list[Cell]:
    ordered = sorted(cells, key=lambda cell: -cell.tokens)
    rest = _sum(ordered[MEMBERS:])
    return [*ordered[:MEMBERS], *([Cell(None, rest)] if rest else [])]


def _sum(cells: Iterable[Cell]) -> int:
    return sum(cell.tokens for cell in cells)


def _group(name: str, cells: Sequence[Cell], box: Box, links: Links, trace: SessionTrace) -> Html:
    """Draw a tool or a role, with the messages of each file together."""
    total = _sum(cells)
    by_file: dict[str, list[Cell]] = {}
    for cell in sorted(cells, key=lambda cell: -cell.tokens):
        by_file.setdefault(cell.file or str(id(cell)), []).append(cell)
    order = sorted(by_file.values(), key=_sum, reverse=True)
    inner, title = _place_title(f"{name} {brief(total)}", box, 20.0, "title")
    places = zip(order, squarify(list(map(_sum, order)), inner), strict=True)
    drawn = [_file(held, place, links, trace, name) for held, place in places]
    return h(
        "g",
        h("title", f"{name}: {total:,} tokens"),
        rect(*box.sides, class_="group"),
        drawn,
        title,
        class_=f"of-{_band(name)}",
    )


def _band(group: str) -> int:
    """Return the kind whose colour a group uses."""
    kind = group.rpartition(": ")[2]
    kind = {"calls": "tool calls", "results": "tool results", "other tools": "tool results"}.get(
        kind, kind
    )
    return BANDS.index(kind) if kind in BANDS else 0


def _file(cells: Sequence[Cell], box: Box, links: Links, trace: SessionTrace, group: str) -> Html:
    """Draw the messages of one file, or one message without a file."""
    places = squarify([cell.tokens for cell in cells], box)
    drawn = [_cell(c, place, links, trace, group) for c, place in zip(cells, places, strict=True)]
    name = cells[0].file.rpartition("/")[2]
    _, title = _place_title(name, box, 16.0, "file") if name else (box, None)
    return h("g", drawn, title)


def _place_title(words: str, box: Box, tall: float, kind: str) -> tuple[Box, Html | None]:
    """Return the rest of a box under a title, and the title; None if it does not fit."""
    room = int((box.width - 8) / 7.6)
    if room < 5 or box.height < 2.2 * tall:
        return box, None
    rest = Box(box.x + 1, box.y + tall, max(0.0, box.width - 2), max(0.0, box.height - tall - 1))
    return rest, h("text", shorten(words, room), x=box.x + 5, y=box.y + 14, class_=kind)


def _cell(cell: Cell, place: Box, links: Links, trace: SessionTrace, group: str) -> Html:
    words = f"{group}: {cell.tokens:,} tokens"
    if cell.message is not None:
        words += f", #{trace.positions.get(cell.message.id, 0)}: {excerpt(cell.message, 80)}"
    if cell.stale:
        words += f" ({STALE})"
    box = rect(*place.sides, h("title", words), class_="cell stale" if cell.stale else "cell")
    where = links.message(cell.message.id) if cell.message is not None else None
    if where is None:
        return box
    # The largest are reachable with the keyboard; all of them are in the tables.
    large = place.width * place.height > WIDE * TALL / 400
    return h("a", box, href=where, aria_label=words, tabindex=None if large else "-1")


def _kinds(trace: SessionTrace) -> Html:
    stats = trace.stats
    rows: list[list[Child]] = [
        [kind_name(kind.name), kind.tokens, share(kind.tokens, stats.tokens), kind.count]
        for kind in stats.kinds
    ]
    prompt = "system prompt and tools" if trace.is_ours else "a system prompt"
    besides = zip((prompt, "tool schemas"), trace.overhead, strict=True)
    around = [f"{words} of {tokens:,} tokens" for words, tokens in besides if tokens]
    return section(
        "By kind",
        table("Tokens by kind", ("kind", ">tokens", ">share", ">parts"), rows),
        note(f"Also sent: {' and '.join(around)}.") if around else None,
    )


def _lists(trace: SessionTrace, links: Links) -> Html:
    stats = trace.stats

    def sized(name: Child, tokens: int) -> tuple[Child, int, str]:
        return name, tokens, share(tokens, stats.tokens)

    def place(index: int, what: str) -> Child:
        where = links.message(trace.current.messages[index].id)
        return link(f"#{index:,} {shorten(what, 40)}", where)

    tools: Rows = [
        [*sized(t.name, t.tokens), t.calls, t.errors, t.call_tokens, t.result_tokens]
        for t in stats.tools[:ROWS]
    ]
    paths: Rows = []
    for file in stats.files[:ROWS]:
        done = ", ".join(f"{name} {count}×" for name, count in file.operations.items())
        paths.append([*sized(shorten(file.path, 300), file.tokens), done])
    largest: Rows = []
    for one in stats.largest[:ROWS]:
        begins = h("span", shorten(one.text, 160), dir="auto")
        largest.append([*sized(place(one.index, one.what), one.tokens), begins])
    waste: Rows = [[*sized(w.name, w.tokens), w.count, WASTE[w.name]] for w in stats.waste]
    calls, kinds = (">calls", ">failed", ">in calls", ">in results"), (">count", "what it is")
    return join(
        _section("By tool", "Tokens by tool", "tool", calls, tools),
        _section("By file", "Tokens by file", "file", ("what was done",), paths),
        _section("Largest messages", "The largest messages", "message", ("begins",), largest),
        _section("Waste", "Content that the model hardly needs any more", "waste", kinds, waste),
    )


def _section(title: str, caption: str, what: str, heads: Sequence[str], rows: Rows) -> Html:
    """Write a table of sizes, or a note that it is empty."""
    heads = (what, ">tokens", ">share", *heads)
    content = table(caption, heads, rows) if rows else note("None.")
    return section(title, content)
