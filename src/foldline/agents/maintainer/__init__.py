"""
The codebase maintainer: an agent that explores, analyzes and plans across days.

    with CodebaseMaintainer("shop", "./shop", llm=model("anthropic:claude-sonnet-4-5")) as one:
        print(one.explore())
        print(one.plan_next_steps())
"""

from foldline.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
