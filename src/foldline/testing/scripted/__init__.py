"""
A model provider on this machine, for tests of programs that call models.

It is a real HTTP server that speaks OpenAI chat completions, OpenAI Responses and Anthropic
Messages, whole and streamed, so that nothing of the program under test is replaced: its SDK, its
retries and its time limits run as they do in earnest. What the model "says" is a script:

>>> from urllib.request import Request, urlopen
>>> from foldline.testing import ScriptedServer
>>> with ScriptedServer(["Hello.", "Bye."]) as server:
...     ask = b'{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}'
...     url = f"{server.openai_url}/chat/completions"
...     answer = urlopen(Request(url, ask, {"Content-Type": "application/json"})).read()
...     print(b'"Hello."' in answer, server.requests[0].last, server.violations)
True Hi ()

With an SDK: ``OpenAI(base_url=server.openai_url, api_key="any")``,
``Anthropic(base_url=server.url, api_key="any")``. The other steps, from tool calls to overflows
and broken connections, are in `foldline.testing.scripted.steps`; a script may also be a function
of the request. Every request is recorded in ``server.requests``, checked against the rules of its
provider, and rejected with status 400 when it breaks them, as the provider would.
"""

from foldline.testing.scripted.request import ReceivedRequest
from foldline.testing.scripted.server import ScriptedServer
from foldline.testing.scripted.steps import (
    Answer,
    CallTool,
    Capped,
    CutOff,
    Echo,
    Malformed,
    Nothing,
    Novel,
    Overflow,
    RateLimit,
    Raw,
    Refuse,
    Stall,
    Status,
    Step,
)

__all__ = [
    "Answer",
    "CallTool",
    "Capped",
    "CutOff",
    "Echo",
    "Malformed",
    "Nothing",
    "Novel",
    "Overflow",
    "RateLimit",
    "Raw",
    "ReceivedRequest",
    "Refuse",
    "ScriptedServer",
    "Stall",
    "Status",
    "Step",
]
