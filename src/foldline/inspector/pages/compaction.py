"""A compaction: before and after, the fate of every message, and actions on it."""

from __future__ import annotations

from foldline.core.economy import pays_after
from foldline.engine.receipt import Receipt
from foldline.evaluation.figures import local_time, money, share
from foldline.inspector.comparison import (
    FATES,
    Fate,
    MessageFate,
    ViewComparison,
    around,
    compare,
    describe,
)
from foldline.inspector.html import Child, Html, h, join
from foldline.inspector.pages.layout import (
    Links,
    ListPage,
    button,
    details,
    link,
    note,
    opening,
    section,
    table,
    walk,
)
from foldline.inspector.pages.messages import article, excerpt, role_badge
from foldline.inspector.timeline import Revision
from foldline.inspector.trace import SessionTrace
from foldline.session.early_fold import proportions

PAGE = 120
"""Rows on one page."""

SIGNS: dict[Fate, str] = {
    "kept": "=",
    "cut": "✂",
    "cleared": "○",
    "quoted": "❝",
    "summarized": "✎",
    "folded": "≈",
    "handle": "#",
    "file": "×",
    "added": "+",
}
"""The symbol of each fate, in addition to its colour."""


def compaction(
    trace: SessionTrace, links: Links, index: int, fate: str = "", page: int = 0, rows: int = PAGE
) -> Html:
    """
    Write one change of the view.

    Args:
        trace: The session.
        links: The addresses of its pages.
        index: Index of the segment that begins with it.
        fate: Show only messages with this fate; "" for all.
        page: Page of rows, from 0.
        rows: Rows per page.
    """
    revision = trace.segments[index].revision
    if revision is None:
        return note("Nothing was changed here.")
    made = compare(*around(trace.segments, index), revision, trace.counter)
    number = trace.timeline.marks[index]
    less = share(made.before - made.after, made.before)
    sizes = f"{made.before:,} → {made.after:,} tokens, {less} less. Before "
    time = f", {local_time(revision.time)}" if revision.time else None
    return join(
        opening(
            f"{revision.name.capitalize()} {index}",
            h("p", sizes, link(f"request {number:,}", links.request(number)), time, "."),
            _walk(trace, links, index),
            receipt(trace, revision, made, links.live),
            actions(trace, links, index, revision),
        ),
        section(
            "The fate of every message",
            side_by_side(trace, links, f"compactions/{index}", made, fate, page, rows),
        ),
    )


def render_forgotten(trace: SessionTrace, links: Links, fate: str = "", page: int = 0) -> Html:
    """Compare the whole log with the current view; a report has only the counts."""
    made = trace.once("forgotten", against_log)
    words = "Every message of the session, and what the model sees of it now."
    if links.live:
        content = side_by_side(trace, links, "forgotten", made, fate, page)
    else:
        content = fates(links, "forgotten", made, fate)
    return opening("What it forgot", note(words), content)


def against_log(trace: SessionTrace) -> ViewComparison:
    """Compare the whole log with the current view."""
    in_effect = list(trace.in_effect.values())
    last = in_effect[-1] if in_effect else Revision("compaction" if trace.is_ours else "recorded")
    edits = tuple(edit for revision in in_effect for edit in revision.edits)
    whole = Revision(last.cause, last.receipt, edits, last.time)
    return compare(trace.log, trace.segments[-1].messages, whole, trace.counter)


def fates(links: Links, path: str, made: ViewComparison, chosen: str) -> Html:
    """List the fates with their number of messages; each links to those messages."""
    items = []
    if links.live:
        current = None if chosen else "true"
        items.append(h("li", link("all", links.page(path), aria_current=current)))
    for fate, (count, tokens) in made.tokens().items():
        size = h("small", f" ({tokens:,} tokens)")
        words = join(sign(fate), f" {FATES[fate]}: ", h("b", count), size)
        where = links.page(path, fate=fate) if links.live else None
        items.append(h("li", link(words, where, aria_current="true" if fate == chosen else None)))
    return h("ul", items, class_="fates", aria_label="Fates")


def sign(fate: Fate) -> Html:
    """Return the mark of a fate, in its colour."""
    return h("span", SIGNS[fate], class_=f"fate {fate}", aria_hidden="true")


def side_by_side(
    trace: SessionTrace,
    links: Links,
    path: str,
    made: ViewComparison,
    fate: str = "",
    page: int = 0,
    size: int = PAGE,
) -> Html:
    """Write rows: the message before on the left, its fate, and the message after on the right."""
    chosen = [row for row in made.rows if not fate or row.fate == fate]
    part = ListPage.of(len(chosen), size, page)
    head = h("tr", *(h("th", name, scope="col") for name in ("before", "fate", "after")))
    body = h("tbody", [_line(trace, links, row) for row in chosen[part.held]])
    caption = h("caption", "Before and after, message by message")
    extra = {"fate": fate} if fate else {}
    return join(
        fates(links, path, made, fate),
        part.nav(links, path, part.words("Messages"), **extra),
        h("table", caption, h("thead", head), body, class_="sides"),
    )


def _line(trace: SessionTrace, links: Links, row: MessageFate) -> Html:
    lines = f", {row.quoted} of its lines" if row.quoted else ""
    fate = join(sign(row.fate), " ", h("span", f"{FATES[row.fate]}{lines}"))
    left = _side(trace, links, row, new=False)
    right: Child = h("span", "the same", class_="same")
    if row.fate != "kept":
        right = _side(trace, links, row, new=True)
    cells = h("td", left), h("td", fate, class_="middle"), h("td", right)
    return h("tr", cells, class_=f"fate-{row.fate}")


def _side(trace: SessionTrace, links: Links, row: MessageFate, *, new: bool) -> Child:
    message, tokens = (row.new, row.after) if new else (row.old, row.before)
    if message is None:
        return None
    handle = trace.handles.get(message.id, "") if message.id in trace.positions else ""
    head = join(
        role_badge(message),
        h("small", f" {tokens:,} tokens "),
        h("code", handle) if handle and not new else None,
        h("span", excerpt(message), class_="excerpt", dir="auto"),
    )
    if not links.live:
        return h("div", head)
    return details(head, article(trace, links, message), open=row.fate == "added")


def _walk(trace: SessionTrace, links: Links, index: int) -> Html:
    before = links.compaction(index - 1) if index > 1 else None
    after = links.compaction(index + 1) if index + 1 < len(trace.segments) else None
    return walk("change", before, after)


def receipt(trace: SessionTrace, revision: Revision, made: ViewComparison, live: bool) -> Child:
    """Write the receipt of a compaction, its plan, its price and its payback."""
    if revision.receipt is None:
        return note(
            "The agent compacted by itself: its file records the views before and after, "
            "not why or how. The fate of each message comes from comparing the two."
        )
    held = revision.receipt
    return details(
        ["Receipt: ", str(held)],
        rungs(held),
        h("dl", list(_facts(trace, held, revision, made)), class_="facts"),
        [note(f"warning: {words}", "note warning") for words in held.warnings],
        open=not live,
    )


def rungs(held: Receipt) -> Html:
    """Write what each rung of a compaction did."""
    rows = [[rung.name, rung.outcome, rung.freed or "", rung.reason] for rung in held.rungs]
    return table("The plan, rung by rung", ("rung", "outcome", ">freed", "why"), rows)


def _facts(
    trace: SessionTrace, held: Receipt, revision: Revision, made: ViewComparison
) -> list[Html]:
    spent, prices = held.spent, trace.model.prices
    view_rows = [row for row in made.rows if row.new is not None]
    price = "no model was called"
    if spent.attempts:
        price = (
            f"{spent.model or 'a model'}, {spent.input_tokens:,} tokens in, "
            f"{spent.output_tokens:,} out, {spent.seconds:.1f} s, {money(spent.usd)}"
        )
    fresh = prices.input / 1e6 if prices else 0.0
    pays = pays_after(
        made.before - made.after,
        behind=sum(row.after for row in view_rows[held.kept_prefix :] if row.fate != "added"),
        added=sum(row.after for row in made.rows if row.fate == "added"),
        summary_cost=spent.usd / fresh if fresh else 0.0,
        factors=proportions(prices) if prices else None,
    )
    pairs: list[tuple[str, Child]] = [
        ("policy", held.policy),
        ("budget of the messages", f"{held.budget:,} tokens"),
        ("edits", describe(revision) or "none"),
        ("kept at the beginning", f"{held.kept_prefix:,} messages, for the cache"),
        ("price", price),
        ("paid back", "never" if pays is None else f"after {pays:.1f} requests, by cache prices"),
        ("handles", f"{len(held.recall):,}"),
    ]
    if held.evicted.files:
        pairs.append(("files out of view", ", ".join(held.evicted.files[:40])))
    return [join(h("dt", name), h("dd", value)) for name, value in pairs]


def actions(trace: SessionTrace, links: Links, index: int, revision: Revision) -> Child:
    """Write the button that undoes the last compaction, for archives of Foldline."""
    if not links.live or not trace.is_ours or revision.cause == "undo" or revision.undone:
        return None
    if index != max(trace.in_effect):
        return note("Only the newest compaction in effect can be undone.")
    return button("Undo this compaction…", links.page("undo"))


# --- undo, or compact from a message on: each with a confirmation first --------------------


def confirm_undo(trace: SessionTrace, links: Links, token: str) -> Child:
    """Write the confirmation page for undoing the last compaction."""
    last = next(reversed(trace.in_effect.values()), None)
    if not trace.is_ours or last is None:
        return opening("Undo", note("There is no compaction that can be undone."))
    return _confirm(
        "Undo the last compaction?",
        [
            note(f"It will be undone: {last.receipt}."),
            note(
                "The model sees again what it removed from the view. No program may have the "
                "session open; one that does gets an error at its next change."
            ),
        ],
        "Undo it",
        links.page("undo"),
        links.page(),
        token,
    )


def confirm_fold(trace: SessionTrace, links: Links, number: str, token: str) -> Child:
    """Write the confirmation page for folding everything from a message on."""
    if not trace.can_fold(number):
        words = "This message is not in view, or its session is not in a wire format."
        return opening("Compact from here", note(words))
    message = trace.find(number)
    begins = excerpt(message) if message else ""
    return _confirm(
        "Compact from here?",
        [
            h("blockquote", begins, dir="auto"),
            note(
                "This message and all after it are folded into a snapshot, made without a model; "
                "earlier messages stay unchanged. Everything can be recalled, and undone."
            ),
            h("p", h("label", "Focus of the snapshot ", h("input", name="focus", size="40"))),
        ],
        "Compact",
        links.page(f"fold/{number}"),
        links.message(number) or links.page(),
        token,
    )


def _confirm(title: str, words: Child, yes: str, action: str, back: str, token: str) -> Html:
    return h(
        "form",
        h("h1", title),
        words,
        h("input", type="hidden", name="token", value=token),
        h("p", h("button", yes, class_="strong"), " ", h("a", "No, go back", href=back)),
        method="post",
        action=action,
        class_="confirm",
    )
