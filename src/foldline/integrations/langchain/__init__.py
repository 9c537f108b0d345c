"""
LangChain and LangGraph: a middleware, a message list compressor, a chat model as summarizer.

    agent = create_agent(model, tools, middleware=[FoldlineMiddleware(path="agent.db")])

Only the middleware imports all of LangChain.
"""

from foldline.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
