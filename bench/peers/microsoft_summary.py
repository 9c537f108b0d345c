"""agent-framework: a summary, and truncation if that is not enough."""

from __future__ import annotations

from agent_framework import (
    Message,
    SummarizationStrategy,
    TokenBudgetComposedStrategy,
    TruncationStrategy,
)
from microsoft_messages import StandinClient, Tokenizer, dump, load, run
from task import Task, characters, fitting

__all__ = ["compact", "dump", "load"]


def compact(messages: list[Message], task: Task) -> list[Message]:
    tokenizer = Tokenizer(task)
    sizes = [task.tokens(sum(map(characters, dump([message])))) for message in messages]
    strategy = TokenBudgetComposedStrategy(
        token_budget=task.budget,
        tokenizer=tokenizer,
        strategies=[
            SummarizationStrategy(
                client=StandinClient(task.model),
                target_count=max(1, fitting(sizes, task.kept)),
                threshold=0,
                max_summary_input_tokens=None,
                tokenizer=tokenizer,
            ),
            TruncationStrategy(
                max_n=task.budget,
                compact_to=task.budget,
                tokenizer=tokenizer,
                preserve_first_user_group=True,
            ),
        ],
    )
    return run(strategy, messages, task)
