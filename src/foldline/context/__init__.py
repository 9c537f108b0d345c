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
    from foldline.context.built import Context
    from foldline.context.comparing import Case, Comparison, acompare, compare
    from foldline.context.judging import Verdict, judge
    from foldline.context.packets import ContextPacket, Message
    from foldline.context.prompts import Problem, lint
    from foldline.context.quality import Report
    from foldline.context.settings import ContextConfig
    from foldline.context.sources import Source, files, references, source

_HOMES = {
    "Case": "comparing",
    "Comparison": "comparing",
    "Context": "built",
    "ContextBuilder": "builder",
    "ContextConfig": "settings",
    "ContextPacket": "packets",
    "Message": "packets",
    "Problem": "prompts",
    "Report": "quality",
    "Source": "sources",
    "Stages": "builder",
    "Verdict": "judging",
    "acompare": "comparing",
    "compare": "comparing",
    "files": "sources",
    "judge": "judging",
    "lint": "prompts",
    "references": "sources",
    "source": "sources",
}

__all__ = [
    "Case",
    "Comparison",
    "Context",
    "ContextBuilder",
    "ContextConfig",
    "ContextPacket",
    "Message",
    "Problem",
    "Report",
    "Source",
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
