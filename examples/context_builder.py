"""
Build the contexts of three questions in a row, without a model, and explain each choice.

    python examples/context_builder.py
"""

from __future__ import annotations

import sys

from foldline.context import Context, ContextBuilder, ContextConfig, ContextPacket

RULES = "You run the services of a small shop. Name the source of every claim."

HANDBOOK = "\n".join(
    [
        "The team met on Monday and went through the open points.",
        *(f"Point {n} was postponed until the next meeting." for n in range(60)),
        "The billing service listens on port 8443; its owner is Ann.",
        *(f"Point {n} was closed without a vote." for n in range(60)),
    ]
)


def notes(query: str) -> list[ContextPacket]:
    """Return notes for a query; a stand-in for `foldline.notes.Notes`."""
    kept = {
        "billing": "The certificate of billing runs out on Friday.",
        "mail": "Mail to customers is sent in batches of fifty.",
    }
    return [
        ContextPacket(text, metadata={"type": "note", "note_type": "blocker", "title": name})
        for name, text in kept.items()
        if name in query.lower()
    ]


def describe(context: Context) -> str:
    """Describe the cost of a context, the place of each packet, and possible improvements."""
    lines = [
        f"{context.tokens} tokens, {context.shared_tokens} as before, {context.report.score:.2f}",
    ]
    for row in context.explain():
        where = row["section"] or "out"
        lines.append(f"{where:<9}{row['method']:<9}{row['packet']}: {row['why']}")
    return "\n".join([*lines, *(f"advice: {sentence}" for sentence in context.report.advice)])


def main() -> None:
    """Build the contexts of three questions, and print them."""
    builder = ContextBuilder(
        config=ContextConfig(max_tokens=400, order="cache"),
        sources=[notes],
    )
    handbook = ContextPacket(HANDBOOK, metadata={"type": "document", "title": "handbook"})
    history: list[dict[str, str]] = []
    for question in (
        "Which port does billing listen on, and who owns it?",
        "Is there anything that stops billing this week?",
        "How are mails sent?",
    ):
        context = builder.build(question, history, RULES, [handbook])
        sys.stdout.write(f"{context}\n\n{'-' * 78}\n{describe(context)}\n{'=' * 78}\n\n")
        history += [
            {"role": "user", "content": question},
            {"role": "assistant", "content": "(the answer of the model)"},
        ]


if __name__ == "__main__":
    main()
