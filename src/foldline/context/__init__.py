"""
The context builder: select, order, shorten and evaluate the input of one model call.

    from foldline.context import ContextBuilder, ContextConfig
    builder = ContextBuilder(config=ContextConfig(max_tokens=3000))
    print(builder.build(user_query="Why is the build red?", system_instructions="Be brief."))
"""

from foldline.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
