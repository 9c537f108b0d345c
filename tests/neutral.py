"""Short constructors of neutral messages by role (S, U, A, T), and of calls by id (c)."""

from foldline.values.identity import identify
from foldline.values.messages import Message, Text, ToolCall, ToolResult
from foldline.values.tokens import TokenCounter
from foldline.values.view import View


class Quarters:
    """Counts a token for every four bytes, so that tests can do sums."""

    name = "quarters"
    exact = False

    def count(self, text):
        return -(-len(text.encode("utf-8", "surrogatepass")) // 4)


COUNTER = TokenCounter(Quarters())


def S(text):  # noqa: N802  # the notation
    return Message("system", (Text(text),))


def U(text):  # noqa: N802  # the notation
    return Message("user", (Text(text),))


def A(*parts):  # noqa: N802  # the notation
    """An assistant message: text as strings, calls as parts."""
    return Message("assistant", tuple(Text(s) if isinstance(s, str) else s for s in parts))


def c(number, name="run", arguments="{}"):
    return ToolCall(number, name, arguments)


def T(number, text="ok", name="run", **rest):  # noqa: N802  # the notation
    return Message("tool", (ToolResult(number, (Text(text),), name, **rest),))


def log(*messages):
    return identify(messages)


def view(*messages, dialect="openai-chat"):
    return View.of(identify(messages), COUNTER, dialect=dialect)


def words(messages):
    """Write messages as short words: U:task, A{c1}, T(c1)."""
    return [_word(message) for message in messages]


def _word(message):
    if message.results:
        return "+".join(f"T({result.call_id})" for result in message.results)
    if message.calls:
        return "A{" + ",".join(str(call.id) for call in message.calls) + "}"
    return f"{message.role[0].upper()}:{message.text[:12]}"
