"""
The context builder: what one call of a model sees, chosen, ordered, shortened and judged.

    from foldline.context import ContextBuilder, ContextConfig
    builder = ContextBuilder(config=ContextConfig(max_tokens=3000))
    print(builder.build(user_query="Why is the build red?", system_instructions="Be brief."))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from foldline.lazy_names import lazily

if TYPE_CHECKING:
    from foldline.context.builder import ContextBuilder, Stages
    from foldline.context.built_context import Context
    from foldline.context.comparison import Case, ContextComparison, acompare, compare
    from foldline.context.model_judge import Verdict, judge
    from foldline.context.packets import ContextPacket, HistoryMessage
    from foldline.context.prompt_lint import Problem, lint
    from foldline.context.quality import QualityReport
    from foldline.context.settings import ContextConfig
    from foldline.context.sources import ContextSource, files, references, source

_HOMES = {
    "Case": "comparison",
    "ContextComparison": "comparison",
    "Context": "built_context",
    "ContextBuilder": "builder",
    "ContextConfig": "settings",
    "ContextPacket": "packets",
    "HistoryMessage": "packets",
    "Problem": "prompt_lint",
    "QualityReport": "quality",
    "ContextSource": "sources",
    "Stages": "builder",
    "Verdict": "model_judge",
    "acompare": "comparison",
    "compare": "comparison",
    "files": "sources",
    "judge": "model_judge",
    "lint": "prompt_lint",
    "references": "sources",
    "source": "sources",
}

__all__ = [
    "Case",
    "Context",
    "ContextBuilder",
    "ContextComparison",
    "ContextConfig",
    "ContextPacket",
    "ContextSource",
    "HistoryMessage",
    "Problem",
    "QualityReport",
    "Stages",
    "Verdict",
    "acompare",
    "compare",
    "files",
    "judge",
    "lint",
    "references",
    "source",
]


__getattr__, __dir__ = lazily(__name__, _HOMES)
