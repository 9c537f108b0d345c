"""
Tools that an agent may call, written once for every provider.

    tools = Toolbox(session_tools(session))
    client.messages.create(tools=tools.schemas("anthropic"), messages=session.view(), ...)
    output = tools.run(call.name, call.input)
"""

from foldline.lazy import attach_stub

__getattr__, __dir__ = attach_stub(__name__)
