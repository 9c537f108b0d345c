from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.context.assembly import Assembled, AssemblyTask, assemble
from foldline.context.packets import ContextPacket
from foldline.context.settings import ContextConfig
from foldline.context.structure import ContextFrame
from foldline.core.asks import Ask, Reply, drive
from foldline.errors import CannotFit
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.tokens import TokenCounter

COUNTER = TokenCounter(EstimatedCounter())
QUERY = "Which port has billing?"


def assembled(*offered: ContextPacket, rules: str = "Be brief.", **settings: object) -> Assembled:
    config = ContextConfig(**settings)  # type: ignore[arg-type]
    fixed = tuple(
        ContextPacket(text, relevance_score=1.0, metadata={"type": kind}, mandatory=True)
        for kind, text in (("system_instruction", rules), ("task", QUERY), ("output", "Answer."))
    )
    task = AssemblyTask(
        QUERY, fixed, offered, config, ContextFrame.of(config, QUERY), COUNTER, 0.0
    )

    def nobody(_: Ask) -> Reply:
        raise AssertionError("no model is at hand")

    return drive(assemble(task), nobody)


@pytest.mark.requirement("T4")
def test_a_mandatory_packet_is_included_whole_or_named_in_the_error():
    rules = "Never write secrets. " * 100
    with pytest.raises(CannotFit, match=r"role 'Never write secrets.*task 'Which port") as caught:
        assembled(rules=rules, max_tokens=200)
    assert caught.value.needed > 200
    assert rules.strip() in assembled(rules=rules, max_tokens=caught.value.needed).text


@pytest.mark.requirement("T4", "T5")
def test_a_mandatory_packet_is_never_cut_and_pushes_others_out():
    must = ContextPacket("the audit rules " * 60, metadata={"type": "policy"}, mandatory=True)
    more = ContextPacket("billing port 8443 " * 200)
    made = assembled(must, more, max_tokens=400)
    assert must.content in made.text
    assert made.tokens <= 400


@pytest.mark.requirement("T5")
def test_the_last_sections_are_not_the_ones_cut():
    made = assembled(ContextPacket("billing port " * 5_000), max_tokens=500)
    assert made.text.endswith("[Output]\nAnswer.")
    assert made.tokens <= 500


@pytest.mark.requirement("T1")
def test_room_is_reserved_for_mandatory_packets():
    packets = [ContextPacket(f"billing port number {n} is {n * 37}") for n in range(300)]
    made = assembled(*packets, max_tokens=1_000, reserve_ratio=0.5, diversity=1.0)
    assert 350 < made.tokens < 600


def test_the_budget_is_kept_even_if_the_caller_counts_wrongly():
    packets = [
        ContextPacket("计费服务的端口" * 40 + str(n), token_count=1, relevance_score=0.9)
        for n in range(50)
    ]
    made = assembled(*packets, max_tokens=1_000)
    assert COUNTER.text(made.text) == made.tokens <= 1_000


@given(
    st.lists(
        st.tuples(
            st.text(max_size=400),
            st.floats(0, 1) | st.none(),
            st.sampled_from(["memory", "knowledge", "task_state", "odd", "log"]),
        ),
        max_size=12,
    ),
    st.integers(60, 800),
    st.sampled_from(["brackets", "xml"]),
    st.sampled_from(["standard", "cache"]),
    st.booleans(),
)
def test_any_text_fits_and_every_packet_is_accounted_for(
    offered: list[tuple[str, float | None, str]],
    budget: int,
    form: str,
    order: str,
    compressing: bool,
):
    packets = [
        ContextPacket(text, relevance_score=score, metadata={"type": kind, "number": n})  # type: ignore[arg-type]
        for n, (text, score, kind) in enumerate(offered)
    ]
    made = assembled(
        *packets, max_tokens=budget, form=form, order=order, enable_compression=compressing
    )
    assert COUNTER.text(made.text) == made.tokens <= budget
    inside = [i.packet for section in made.sections for i in section.items]
    gone = [left.packet for left in made.left_out]
    numbers = sorted(p.metadata["number"] for p in (*inside, *gone) if "number" in p.metadata)
    assert numbers == list(range(len(packets)))
