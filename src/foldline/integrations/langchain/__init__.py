"""
LangChain and LangGraph: a middleware, a compressor of message lists, a chat model as summarizer.

    agent = create_agent(model, tools, middleware=[FoldlineMiddleware(path="agent.db")])

Only the middleware loads the whole of LangChain.
"""

from foldline.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
