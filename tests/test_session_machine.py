"""Any sequence of steps on a session: the view is always the log with the edits in effect."""

import json
import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.folders import in_memory

from foldline.formats.openai_chat import OpenAIChatDialect
from foldline.session import Session
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.edits import apply

texts = st.sampled_from(["ok", "the same again", "a question about the build"])
sizes = st.integers(1, 60)


class SessionMachine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(dir=in_memory())
        self.path = Path(self.folder.name, "a.db")
        self.log = []
        self.calls = 0
        self.views = []
        self.open()

    def open(self):
        self.session = Session.open(
            self.path,
            "s",
            window=5_000,
            policy="default",
            format="openai-chat",
            counter=EstimatedCounter("o200k"),
        )

    def teardown(self):
        self.session.close()
        self.folder.cleanup()

    def append(self, *wires):
        self.session.extend(wires)
        self.log += wires

    @rule(text=texts, size=sizes)
    def a_user_speaks(self, text, size):
        self.append({"role": "user", "content": f"{text} " * size})

    @rule(text=texts, size=sizes)
    def the_model_answers(self, text, size):
        self.append({"role": "assistant", "content": f"{text} " * size})

    @rule(text=texts, size=sizes, count=st.integers(1, 3))
    def the_model_uses_tools(self, text, size, count):
        numbers = range(self.calls, self.calls + count)
        self.calls += count
        calls = [
            {
                "id": f"c{number}",
                "type": "function",
                "function": {"name": "read", "arguments": json.dumps({"path": f"{number}.py"})},
            }
            for number in numbers
        ]
        self.append(
            {"role": "assistant", "content": None, "tool_calls": calls},
            *(
                {"role": "tool", "tool_call_id": f"c{n}", "content": f"{text}\n" * size * 4}
                for n in numbers
            ),
        )

    @rule()
    def it_is_viewed_twice(self):
        first = self.session.view()

        assert self.session.view() == first
        assert not first or OpenAIChatDialect().validate(first) == []

    @rule(budget=st.integers(300, 5_000))
    def it_is_compacted(self, budget):
        before = self.session.view()
        receipt = self.session.compact(budget)

        assert receipt.tokens_after == self.session.tokens
        if receipt.status == "compacted":
            assert receipt.tokens_after < receipt.tokens_before
            assert receipt.tokens_after <= budget
        else:
            assert self.session.view() == before

    @precondition(lambda self: self.log)
    @rule(data=st.data())
    def a_message_is_pinned(self, data):
        message = data.draw(st.sampled_from(self.session.messages))

        assert self.session.pin(message.id) == message.id

    @rule()
    def the_last_compaction_is_undone(self):
        last = self.session._state.history.last()
        receipt = self.session.undo()

        assert receipt == (last and last.receipt)

    @rule()
    def it_is_opened_again(self):
        before = (self.session._state.current_view.wires(OpenAIChatDialect()), self.session.tokens)
        pins = [message.pinned for message in self.session.messages]
        self.session.close()
        self.open()

        assert (
            self.session._state.current_view.wires(OpenAIChatDialect()),
            self.session.tokens,
        ) == before
        assert [message.pinned for message in self.session.messages] == pins

    @invariant()
    def the_view_is_the_log_with_its_edits(self):
        state = self.session._state
        replayed = apply(self.session.messages, state.history.edits())
        counter = state.settings.counter

        assert [message.raw for message in self.session.messages] == self.log
        assert state.current_view.wires(OpenAIChatDialect()) == OpenAIChatDialect().messages(
            replayed
        )
        assert self.session.tokens == sum(counter.message(message) for message in replayed)

    @invariant()
    def everything_that_was_removed_is_recalled(self):
        originals = {message.id: message.raw for message in self.session.messages}
        gone = originals.keys() - self.session._state.current_view.messages.keys()

        for number in sorted(gone)[:3]:
            assert self.session.recall(number).raw == originals[number]


SessionMachine.TestCase.settings = settings(max_examples=30, stateful_step_count=40, deadline=None)
TestSession = SessionMachine.TestCase
