"""What must stay, of any sizes and for any target: how much of it is shortened, and what."""

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.neutral import A, S, T, U, c, view

from foldline.core.strategy import CompactionContext
from foldline.strategies.truncate import (
    FULL,
    LEAST_SHARE,
    SMALLEST_AT_LAST,
    YIELD,
    shorten_staying,
)
from foldline.values.handles import handles

SHARE = 0.6
ROUGH = 0.85
"""An excerpt ends at whole lines: it may be this much smaller than it may be."""

LINE = 20
"""Maximum tokens of a line or paragraph of these texts."""

SIZES = st.integers(0, 6_000)


def prose(tokens, name):
    rows = (
        f"In part {n} of the {name} port {n} stays open for the scanner." for n in range(tokens)
    )
    return "\n\n".join(rows)[: 4 * tokens] or name


def rows(tokens, name):
    return (
        "\n".join(f"{n} record_{name}_{n} status=ok host=h{n % 7}" for n in range(tokens))[
            : 4 * tokens
        ]
        or "ok"
    )


@st.composite
def conversations(draw):
    rules = prose(draw(SIZES), "rules")
    results = draw(st.lists(SIZES, min_size=1, max_size=4))
    calls = [c(str(number)) for number in range(len(results))]
    return view(
        S(prose(draw(st.integers(0, 300)), "agent")),
        U(f"# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\n{rules}\n</INSTRUCTIONS>"),
        U(prose(draw(SIZES), "task")),
        A("I begin."),
        U(prose(draw(SIZES), "request")),
        A(*calls),
        *(T(str(number), rows(size, f"r{number}")) for number, size in enumerate(results)),
    )


def shorten(found, target):
    context = CompactionContext(target, target, found.tokens, handles(found.messages))
    return found.after(shorten_staying(found, context, range(len(found.messages)), SHARE, target))


@settings(max_examples=60, deadline=None)
@given(conversations(), st.integers(1_500, 20_000))
def test_what_must_stay_is_shortened_evenly_and_not_much_more_than_needed(found, target):
    after = shorten(found, target)
    excess = found.tokens - SHARE * target
    if excess <= 0:
        assert after is found
        return
    least = LEAST_SHARE * target
    cut = [
        i for i, (old, new) in enumerate(zip(found.counts, after.counts, strict=True)) if new < old
    ]
    freed = found.tokens - after.tokens
    rough = sum((1 - ROUGH) * after.counts[i] + 3 * LINE for i in cut)
    assert freed <= (1 + YIELD) * excess + rough
    if any(after.counts[i] < least - LINE for i in cut):
        # The target leaves no choice: then none keeps more than that, except the system prompt.
        assert found.tokens > FULL * target
        assert all(
            after.counts[i] <= least / ROUGH + 3 * LINE for i in range(1, len(after.counts))
        )
    assert after.tokens <= target + SMALLEST_AT_LAST


@settings(max_examples=30, deadline=None)
@given(st.integers(1_200, 20_000), st.floats(0.61, 0.7))
def test_a_result_a_little_too_large_is_shortened_only_a_little(target, share):
    found = view(U("Go."), A(c("1")), T("1", rows(round(share * target), "r")))
    after = shorten(found, target)
    excess = found.tokens - SHARE * target
    assert found.tokens - after.tokens <= (1 + YIELD) * excess + (1 - ROUGH) * found.tokens + LINE
