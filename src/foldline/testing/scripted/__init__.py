"""
A local model provider, for tests of programs that call models.

It is a real HTTP server that speaks OpenAI chat completions, OpenAI Responses and Anthropic
Messages, whole and streamed, so that nothing in the program under test is mocked: its SDK, its
retries and its timeouts run as in production. A script provides the answers:

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

from foldline.testing.scripted.request import ReceivedRequest as ReceivedRequest
from foldline.testing.scripted.server import ScriptedServer as ScriptedServer
from foldline.testing.scripted.steps import Answer as Answer
from foldline.testing.scripted.steps import CallTool as CallTool
from foldline.testing.scripted.steps import Capped as Capped
from foldline.testing.scripted.steps import CutOff as CutOff
from foldline.testing.scripted.steps import Echo as Echo
from foldline.testing.scripted.steps import Malformed as Malformed
from foldline.testing.scripted.steps import Nothing as Nothing
from foldline.testing.scripted.steps import Novel as Novel
from foldline.testing.scripted.steps import Overflow as Overflow
from foldline.testing.scripted.steps import RateLimit as RateLimit
from foldline.testing.scripted.steps import Raw as Raw
from foldline.testing.scripted.steps import Refuse as Refuse
from foldline.testing.scripted.steps import Stall as Stall
from foldline.testing.scripted.steps import Status as Status
from foldline.testing.scripted.steps import Step as Step
