"""
Truncate: shorten single giant parts in place; a handle recalls the whole text.

Used two ways: `shorten_staying` by a summary, for messages that must stay although they are too
large; and the `Truncate` rung as the last resort.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import ClassVar, Final, Literal, TypeAlias

from foldline.core.asks import Steps
from foldline.core.strategy import CompactionContext, Plan
from foldline.frozen import frozen
from foldline.snapshot.plans import is_plan_tool, short_plan_call, short_plan_text
from foldline.snapshot.sources import is_report
from foldline.strategies.stubs import is_stub, short_arguments
from foldline.values.edits import Rewrite, rewrite_text
from foldline.values.frames import frame_edges, is_document, is_summary
from foldline.values.handles import part_handle
from foldline.values.messages import Message, Part, Text, ToolCall, ToolResult
from foldline.values.protect import Reason, is_snapshot
from foldline.values.provider_rules import ANY_ORDER
from foldline.values.snapshot_mark import first_line, seal_text
from foldline.values.view import View

SMALLEST = 120
"""Parts below this many tokens are not worth cutting."""

SMALLEST_AT_LAST = 60
"""Minimum tokens of a part that must stay, even if the target leaves no choice."""

SURELY_OUTPUT = 2_000
"""Tokens above which text in a user message that looks like an output is cut as one: no user
writes that much. The beginning of a shorter one stays."""

LEAST_SHARE = 1 / 8
"""Minimum size of a part that must stay, where there is a choice: a fraction of the target."""

SUMMARY_SHARE = 0.8
"""Fraction of the target for user messages if one of them is another compaction's summary."""

UNREAD_SHARE = 0.28
"""Fraction of the target up to which unread results together are left whole."""

FULL = 0.93
"""Fraction of the target that all messages together may take; a note or two comes on top."""

RESULT_SHARE, YIELD = 0.26, 3
"""
Results and rules make room for the rest: besides every token above their share, messages that must
stay free so many more, down to this fraction of the target.
"""

ATTEMPTS, LEAST_STEP = 4, 16
"""Maximum number of cuts until a part is above its minimum size, and tokens added at least."""

_WITH_FRAMES: Final = frozenset({"task", "latest", "rules", "system"})
"""Why a message stays in which frames of an agent are documents."""

LONGEST_LEAD = 600
"""Maximum characters of the line that marks a text as not the user's; Foldline's are shorter."""


Rank: TypeAlias = Literal["call", "document", "tool", "rules", "task", "pinned", "system"]

MATERIAL: Final[tuple[Rank, ...]] = ("call", "document", "tool")
"""What is cut before rules and words of the user."""


@frozen
class CutSite:
    """
    A part that may be cut.

    ``tokens`` is its size. ``rank`` is its place in the order of cutting: arguments of a "call"
    and a "document" that an agent added first, then "tool" outputs, "rules", the "task" (words of
    users), and "pinned" parts after everything else.
    """

    index: int
    part: int
    tokens: int
    rank: Rank


@frozen
class Truncate:
    """The last resort: cut the largest remaining parts to one size."""

    name: ClassVar[str] = "truncate"

    def propose(self, view: View, context: CompactionContext) -> Steps[Plan]:
        """Cut tool outputs and arguments first, and the task itself only if that is not enough."""
        yield from ()
        everything, target = range(len(view.messages)), context.target
        groups = _order(list(_sites(view, everything)), target)
        steps = [(group, target, SMALLEST) for group in groups]
        edits = _cut_down(view, context, everything, steps)
        return Plan(edits, "" if edits else "no part is large enough to cut")


def _cut_down(
    view: View,
    context: CompactionContext,
    staying: Iterable[int],
    steps: Iterable[tuple[Sequence[CutSite], float, int]],
) -> tuple[Rewrite, ...]:
    """
    Cut the largest sites of one group after another, until the remaining messages fit.

    Args:
        view: The view that holds the messages.
        context: Handles of messages.
        staying: Positions of the messages that must fit together.
        steps: For each group: its sites, the total size at which to stop, and the minimum size of
            a part, both in tokens.
    """
    total = sum(view.counts[index] for index in staying)
    found: dict[tuple[int, int], Rewrite] = {}
    saved: dict[tuple[int, int], int] = {}
    for group, goal, floor in steps:
        excess = round(total - sum(saved.values()) - goal)
        if excess <= 0 or not group:
            continue
        now = [site.tokens - saved.get((site.index, site.part), 0) for site in group]
        cap = level(now, excess, floor)
        for site, size in zip(group, now, strict=True):
            place = (site.index, site.part)
            if size > cap:
                edit, less = _cut_above(view, context, site, cap, floor)
                if less > saved.get(place, 0):
                    found[place], saved[place] = edit, less
    return tuple(found.values())


def _cut_above(
    view: View, context: CompactionContext, site: CutSite, cap: int, floor: int
) -> tuple[Rewrite, int]:
    """
    Cut a part to a size, but not below the floor unless that is as small as parts may get.

    Returns:
        The edit, and the tokens that it frees.
    """
    for _ in range(ATTEMPTS):
        edit = _cut(view, context, site, cap)
        freed = _count_saved(view, edit)
        missing = floor - (site.tokens - freed)
        if missing <= 0 or floor <= SMALLEST:
            break
        # An excerpt ends at whole lines and paragraphs, and may be smaller than it may be.
        cap += max(missing, LEAST_STEP)
    return edit, freed


def _cut(view: View, context: CompactionContext, site: CutSite, cap: int) -> Rewrite:
    message = view.messages[site.index]
    part = message.parts[site.part]
    handle = part_handle(context.handles.get(message.id, message.id), message, site.part)
    plan = _short_plan(view, part, cap, handle)
    if plan is not None:
        text = plan
    elif isinstance(part, ToolCall):
        text = short_arguments(part, cap / site.tokens, handle)
    else:
        from foldline.snapshot.excerpt import excerpt, paragraphs  # only giant parts need it
        from foldline.snapshot.query import Query

        whole, lead = _text_of(part), find_lead(message, site.part)
        start, end = _find_content(whole, lead, site)
        # A line before a text may cost a little more than by itself.
        edges = seal_text(lead) if lead else whole[:start] + whole[end:]
        front = view.counter.text(edges) + 2 if edges else 0
        inside = cap - (site.tokens - view.counter.text(whole)) - front
        text = whole[start:end].strip("\n") if edges else whole
        count, values = view.counter, view.names
        if _is_written(part, site, text):
            text = paragraphs(text, inside, count, values, handle=handle)
        else:
            query = Query.of(view.messages, context.focus)
            text = excerpt(text, inside, count, handle=handle, values=values, query=query)
        if lead:
            text = seal_text(lead + text)
        elif edges:
            text = f"{whole[:start]}\n{text}\n{whole[end:]}"
    return Rewrite(message.id, site.part, text, "truncate", handle, keep_media=True)


def _find_content(text: str, lead: str, site: CutSite) -> tuple[int, int]:
    """Return start and end of what may be shortened: without its edges a frame would be words."""
    if lead:
        return text.find("\n") + 1 or len(text), len(text)
    return frame_edges(text) if site.rank in ("document", "rules") else (0, len(text))


def _short_plan(view: View, part: Part, room: int, handle: str) -> str | None:
    """Shorten a part that sets or shows a plan, by whole items; return None for any other."""
    size = view.counter.text
    if isinstance(part, ToolCall) and is_plan_tool(part.name):
        return short_plan_call(part, room, size, handle)
    if isinstance(part, ToolResult):
        name = part.name or view.tool_names.get(part.call_id or "", "")
        if is_plan_tool(name):
            return short_plan_text(part.text, room, size, handle)
    return None


def _is_written(part: Part, site: CutSite, text: str) -> bool:
    """Return True if a text is prose: agents without tools receive outputs as text parts too."""
    is_output = site.rank == "tool" and site.tokens > SURELY_OUTPUT
    return (isinstance(part, Text) and not is_output) or is_report(text)


def find_lead(message: Message, part: int) -> str:
    """
    Return the first line of a part if it marks the text as not the user's, else "".

    It is never cut, and the shortened text is sealed again: without it a snapshot would be
    taken for the user's own words.
    """
    if part or not (is_snapshot(message) or message.is_attachment()):
        return ""
    return first_line(message.text)[:LONGEST_LEAD] + "\n"


def _order(sites: list[CutSite], room: int) -> list[list[CutSite]]:
    """Cut the task and similar parts late, unless they would leave no room for anything else."""
    system = [site for site in sites if site.rank == "system"]
    tools = [site for site in sites if site.rank in MATERIAL]
    rest = [site for site in sites if site.rank not in (*MATERIAL, "system")]
    if sum(site.tokens for site in rest) > room / 2:
        return [[*tools, *rest], system]
    return [tools, rest, system]


def level(sizes: Iterable[int], excess: int, least: int = SMALLEST) -> int:
    """
    Find the cap that frees a number of tokens when all larger parts are cut to it.

    Args:
        sizes: Sizes of the parts, in tokens.
        excess: How much to free, in tokens.
        least: The lowest cap, in tokens.
    """
    ordered = sorted(sizes, reverse=True)
    for count, size in enumerate(ordered, 1):
        following = ordered[count] if count < len(ordered) else 0
        # Cutting the `count` largest to `following` frees this much at most.
        freed = sum(ordered[:count]) - following * count
        if freed >= excess:
            return max(least, (sum(ordered[:count]) - excess) // count)
        if size <= least:
            break
    return least


def _sites(view: View, staying: Iterable[int], least: int = SMALLEST) -> Iterable[CutSite]:
    for index in staying:
        message = view.messages[index]
        reason = view.protected.get(index)
        for position, part in enumerate(message.parts):
            if _is_cuttable(part):
                tokens = view.counter.part(part)
                rank = "tool" if index in view.observed else _rank(part, reason)
                # In those dialects a system message defines the agent, with its tools.
                if tokens > least and not (rank == "system" and view.dialect in ANY_ORDER):
                    yield CutSite(index, position, tokens, rank)


def _rank(part: Part, reason: Reason | None) -> Rank:
    if reason in _WITH_FRAMES and isinstance(part, Text) and is_document(part.text):
        return "document"
    if reason in ("pinned", "rules", "system"):
        return reason
    if isinstance(part, ToolCall):
        return "call"
    return "tool" if isinstance(part, ToolResult) else "task"


def shorten_staying(
    view: View, context: CompactionContext, positions: Iterable[int], share: float, folded: int = 0
) -> tuple[Rewrite, ...]:
    """
    Shorten the largest messages that must stay, as far as they take too much of the target.

    Call arguments and frames of agents come first, then results, rules, user messages, and pins.
    Except for arguments and frames, none is cut below an eighth of the target unless there is no
    choice. Small unread results and short user messages are not cut before the system prompt is.

    Args:
        view: The view that holds the messages.
        context: The target, and handles of messages.
        positions: Positions of the messages that stay.
        share: Fraction of the target that they may take.
        folded: Size of all other messages, in tokens; the rest of the target is available, too.
    """
    staying, target = list(positions), context.target
    total = sum(view.counts[index] for index in staying)
    sites = list(_sites(view, staying, SMALLEST_AT_LAST))
    if any(is_summary(view.messages[site.index].text) for site in sites if site.rank == "task"):
        share = max(share, SUMMARY_SHARE)
    spared, room = _find_spared(view, sites, target), FULL * target - folded
    steps = [
        (group, max(goal, room), floor)
        for group, goal, floor in _cutting(sites, spared, share, target, total)
    ]
    return _cut_down(view, context, staying, steps)


def _cutting(
    sites: Sequence[CutSite], spared: Collection[CutSite], share: float, target: int, total: int
) -> Iterator[tuple[list[CutSite], float, int]]:
    """Yield the steps of `_cut_down`: sites, the size at which to stop, the minimum size."""
    floor, goal, full = round(target * LEAST_SHARE), share * target, FULL * target
    low = max(RESULT_SHARE * target, goal - YIELD * max(0, total - goal))
    rest = [site for site in sites if site.rank != "system"]
    system = [site for site in sites if site.rank == "system"]
    free = [site for site in rest if site not in spared]

    def by_rank(*ranks: Rank) -> list[CutSite]:
        return [site for site in free if site.rank in ranks]

    yield by_rank("call", "document"), low, max(SMALLEST, floor // 4)
    yield by_rank("tool"), low, floor
    yield by_rank("rules"), low, floor
    yield by_rank("task"), goal, floor
    yield by_rank("pinned"), goal, floor
    yield system, full, floor
    yield rest, full, floor
    # The target leaves no choice.
    yield by_rank("document"), full, 1
    yield free, full, SMALLEST
    yield rest, full, SMALLEST_AT_LAST
    yield system, full, SMALLEST_AT_LAST


def _find_spared(view: View, sites: Iterable[CutSite], target: int) -> frozenset[CutSite]:
    """Return the sites that are cut after the system prompt: short words, few unread results."""
    reasons = view.protected
    unread = [s for s in sites if s.rank == "tool" and reasons.get(s.index) == "unread"]
    if sum(site.tokens for site in unread) > UNREAD_SHARE * target:
        unread = []
    words = [
        site
        for site in sites
        if reasons.get(site.index) in ("task", "latest") and site.tokens <= LEAST_SHARE * target
    ]
    return frozenset((*unread, *words))


def _text_of(part: Part) -> str:
    return part.text if isinstance(part, (Text, ToolResult)) else ""


def _is_cuttable(part: Part) -> bool:
    if isinstance(part, ToolCall):
        return not part.signed
    if isinstance(part, ToolResult):
        return not is_stub(part.text)
    return isinstance(part, Text)


def _count_saved(view: View, edit: Rewrite) -> int:
    part = view.messages[view.positions[edit.message]].parts[edit.part]
    return view.counter.part(part) - view.counter.part(rewrite_text(part, edit))
