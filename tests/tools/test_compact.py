"""The model requests a compaction itself, in conversations in both kinds of wire format."""

import json
from dataclasses import replace

import pytest
from anthropic import Anthropic
from openai import OpenAI

from foldline.core.asks import Reply
from foldline.core.strategy import Policy, Rung
from foldline.engine.policies import policy
from foldline.formats.registry import DIALECTS
from foldline.session import Session
from foldline.session.compaction_answer import REQUESTED
from foldline.stores.memory import MemoryStore
from foldline.testing import ScriptedServer
from foldline.testing.scripted import Answer, CallTool
from foldline.tools import Tool as Made
from foldline.tools import Toolbox, ToolOutput, session_tools
from foldline.tools.recall import COMPACT

WINDOW = 12_000
FILLER = "several words that a tool said about the matter\n" * 60


def opened(dialect, **changes):
    settings = {"window": WINDOW, "format": dialect, "store": MemoryStore()}
    return Session.open(None, "s", **{**settings, **changes})


def toolbox(session):
    parameters = {"type": "object", "properties": {"path": {"type": "string"}}}
    read = Made("look", "Looks.", parameters, lambda given: ToolOutput(f"{given}\n{FILLER}"))
    return Toolbox([read, *session_tools(session)])


class Chat:
    """An agent loop in the OpenAI format."""

    dialect = "openai-chat"

    def __init__(self, server, session, tools):
        self.client = OpenAI(base_url=server.openai_url, api_key="any", max_retries=0)
        self.session, self.tools, self.views = session, tools, []

    def say(self, text):
        self.session.append({"role": "user", "content": text})

    def step(self):
        """Send one request, run its calls, and return True if the model continues."""
        self.views.append(self.session.view())
        answer = self.client.chat.completions.create(
            model="gpt-5", messages=self.views[-1], tools=self.tools.schemas(self.dialect)
        )
        message = answer.choices[0].message
        self.session.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls or ():
            output = self.tools.run(call.function.name, call.function.arguments)
            result = {"role": "tool", "tool_call_id": call.id, "content": output.text}
            self.session.append(result)
        return bool(message.tool_calls)


class Claude(Chat):
    """The same in the Anthropic format."""

    dialect = "anthropic"

    def __init__(self, server, session, tools):
        super().__init__(server, session, tools)
        self.client = Anthropic(base_url=server.url, api_key="any", max_retries=0)

    def step(self):
        self.views.append(self.session.view())
        answer = self.client.messages.create(
            model="claude-scripted",
            max_tokens=500,
            messages=self.views[-1],
            tools=self.tools.schemas(self.dialect),
        )
        content = [block.model_dump(exclude_none=True) for block in answer.content]
        self.session.append({"role": "assistant", "content": content})
        results = [
            {
                "type": "tool_result",
                "tool_use_id": block.id,
                "content": self.tools.run(block.name, block.input).text,
            }
            for block in answer.content
            if block.type == "tool_use"
        ]
        if results:
            self.session.append({"role": "user", "content": results})
        return bool(results)


def talk(agent, *words):
    for text in words:
        agent.say(text)
        while agent.step():
            pass
    for view in agent.views:
        assert DIALECTS[agent.dialect].validate(view) == []


LOOKS = [CallTool("look", {"path": f"part {n}"}) for n in range(9)]


@pytest.mark.requirement("J6")
@pytest.mark.parametrize("kind", [Chat, Claude])
@pytest.mark.parametrize("parallel", [False, True])
def test_the_result_reports_the_compaction_and_the_pair_stays(kind, parallel):
    asked = CallTool("compact", {"focus": "the port is 8123"})
    together = Answer("", calls=(asked, CallTool("look", {"path": "beside"})))
    script = [*LOOKS, together if parallel else asked, Answer("I go on."), Answer("All done.")]
    with ScriptedServer(script) as server, opened(kind.dialect) as session:
        agent = kind(server, session, toolbox(session))
        talk(agent, "Look at all parts.", "And then?")
        assert (server.violations, server.errors) == ((), ())
        before, after = server.requests[9], server.requests[10]
        assert after.tokens < before.tokens / 1.5
        told = json.dumps(agent.views[10][-3 if parallel else -2 :], ensure_ascii=False)
        assert "Compacted before you read this: " in told
        assert REQUESTED not in told
        assert "the port is 8123" in told
        assert parallel == ("beside" in told)
        assert "Look at all parts." in json.dumps(agent.views[10])
        # The next request begins with the same messages: the answer stays what it was.
        assert agent.views[11][: len(agent.views[10])] == agent.views[10]
        (receipt,) = [r for r in session.receipts if r.status == "compacted"]
        figures = f"{receipt.tokens_before:,} → {receipt.tokens_after:,} tokens"
        assert figures in told
        # The recorded output of the tool can be recalled.
        results = [r for m in session.messages for r in m.results if REQUESTED in r.text]
        assert len(results) == 1


@pytest.mark.requirement("J6", "K19")
def test_the_focus_reaches_the_summarizer():
    asks = []

    def summarizer(ask):
        asks.append(ask)
        return Reply("The agent looked at parts. The port is 8123.")

    script = [
        *LOOKS,
        CallTool("compact", {"focus": "  the colour of the door  "}),
        Answer("Done."),
    ]
    session = opened("openai-chat", summarizer=summarizer, policy=policy("default"))
    with ScriptedServer(script) as server, session:
        talk(Chat(server, session, toolbox(session)), "Look at all parts.")
    assert any("the colour of the door" in ask.prompt + ask.system for ask in asks)


@pytest.mark.requirement("J6")
def test_with_nothing_to_compact_nothing_changes():
    with opened("openai-chat") as session:
        session.append({"role": "user", "content": "Hello."})
        output = toolbox(session).run("compact")
        assert output.text == REQUESTED
        assert output.data["requested"] is True
        view = session.view()
        assert [receipt.status for receipt in session.receipts] == ["unchanged"]
        assert len(view) == 1


def test_a_request_is_carried_out_once_and_survives_an_interruption():
    with opened("openai-chat") as session:
        agent = Filling(session)
        agent.fill()
        session.request_compaction()
        session._state.settings = _interrupting(session._state.settings)
        with pytest.raises(KeyboardInterrupt):
            session.view()
        session._state.settings = agent.setting
        session.view()
        assert [r.status for r in session.receipts] == ["compacted"]
        session.view()
        assert len(session.receipts) == 1


class Filling:
    def __init__(self, session):
        self.session, self.setting = session, session._state.settings

    def fill(self):
        self.session.append({"role": "user", "content": "Look."})
        for number in range(9):
            function = {"name": "look", "arguments": "{}"}
            call = {"id": f"c{number}", "type": "function", "function": function}
            self.session.append({"role": "assistant", "content": None, "tool_calls": [call]})
            result = {
                "role": "tool",
                "tool_call_id": f"c{number}",
                "content": f"{number} {FILLER}",
            }
            self.session.append(result)
        self.session.append({"role": "assistant", "content": "Done."})
        self.session.append({"role": "user", "content": "Go on."})


class Interrupting:
    name = "interrupting"

    def propose(self, _view, _need):
        yield from ()
        raise KeyboardInterrupt


def _interrupting(setting):
    return replace(setting, policy=Policy("interrupting", (Rung(Interrupting(), 0.0),)))


def test_a_compaction_that_frees_nothing_leaves_a_result_that_is_still_true():
    with opened("openai-chat") as session:
        text = "one message of the user that nobody may remove\n" * 500
        session.append({"role": "user", "content": text})
        session._state.settings = _useless(session._state.settings)
        call = {"id": "c", "type": "function", "function": {"name": "compact", "arguments": "{}"}}
        session.append({"role": "assistant", "content": None, "tool_calls": [call]})
        output = toolbox(session).run("compact", "{}")
        session.append({"role": "tool", "tool_call_id": "c", "content": output.text})
        view = session.view()
        assert view[-1]["content"] == REQUESTED
        assert "otherwise nothing has changed" in REQUESTED
        assert view[0]["content"] == text


def _useless(setting):
    return replace(setting, policy=Policy("none", ()))


def test_a_focus_that_is_too_long_is_refused():
    with opened("openai-chat") as session:
        longest = COMPACT.arguments["focus"]["maxLength"]
        output = toolbox(session).run("compact", {"focus": "x" * (longest + 1)})
        assert "at most" in output.text
