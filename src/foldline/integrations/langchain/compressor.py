"""A compressor of message lists: returns the input, or a smaller list and True."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from foldline.core.strategy import Policy
from foldline.engine.policies import fraction
from foldline.errors import BudgetError, StoreError
from foldline.formats.registry import dialect
from foldline.frozen import frozen
from foldline.integrations.following import MOST, FollowerPool
from foldline.integrations.langchain.chat_model import as_summarizer
from foldline.integrations.langchain.runs import conversation_name, hide_from_stream
from foldline.integrations.model_calls import is_same_model, no_model
from foldline.session import Session
from foldline.values.identity import content_hash

THRESHOLD: Final = 0.7
PRESERVE: Final = 0.3


@frozen
class _KnownHistory:
    """A whole history, and the shorter lists that represent it: past inputs and outputs."""

    history: list[Any]
    forms: tuple[list[Any], ...]

    def whole(self, messages: list[Any]) -> list[Any]:
        """Return the history that a list represents; it may continue any known list."""
        for form in self.forms:
            if len(messages) >= len(form) and all(map(_alike, form, messages)):
                return [*self.history, *messages[len(form) :]]
        return messages


class Compressor:
    """
    Compresses growing lists of LangChain messages.

    A list below the threshold is returned as the same object. The caller may continue with the
    whole history or with the compressed list: both are recognised, and nothing is compressed, or
    paid for, twice.

        messages, changed = await compressor.compress(messages)

    It also serves as a LangGraph node and as a ``pre_model_hook``.

    Args:
        window: The model's window in tokens.
        threshold: Compress from this fraction of the effective window on.
        preserve: Newest fraction of the history, kept verbatim.
        summarizer: A chat model, or any summarizer of `Session.open`; "same" needs a ``model`` by
            name, as the compressor has no model object.
        policy: A policy instead of ``threshold`` and ``preserve``.
        path: The archive, a SQLite file; None keeps everything in memory.
        conversations: Maximum number of open conversations.
        **options: Further options of `Session.open`, such as ``model``, ``system`` and ``tools``.

    Raises:
        BudgetError: A fraction is out of range, or an option contradicts another.
        InputError: ``summarizer`` is "same", and no model is named.
    """

    def __init__(
        self,
        window: int | None = None,
        *,
        threshold: float = THRESHOLD,
        preserve: float = PRESERVE,
        summarizer: Any = None,
        policy: str | Policy | None = None,
        path: Any = None,
        conversations: int = MOST,
        **options: Any,
    ) -> None:
        if not (0 < threshold <= 1 and 0 <= preserve < 1):
            raise BudgetError(
                f"Impossible fractions: threshold {threshold!r}, preserve {preserve!r}.",
                hint="Give a threshold above 0 and up to 1, and preserve less than 1.",
            )
        if is_same_model(summarizer, options.get("config")) and not options.get("model"):
            raise no_model("A compressor", "Give the chat model itself: summarizer=model.")
        self._followers = FollowerPool(
            path,
            most=conversations,
            window=window,
            policy=fraction(preserve, threshold) if policy is None else policy,
            summarizer=as_summarizer(summarizer),
            format="langchain",
            **options,
        )
        self._conversations = conversations
        self._known: OrderedDict[str, _KnownHistory] = OrderedDict()

    async def compress(
        self, messages: list[Any], config: Mapping[str, Any] | None = None
    ) -> tuple[list[Any], bool]:
        """
        Compress messages if they are above the threshold.

        Args:
            messages: The conversation so far, or the last result and the messages added to it.
            config: The config of a run; its ``thread_id`` names the conversation, otherwise the
                first message does.

        Returns:
            The messages to send, and whether they differ from the input.

        Raises:
            InputError: A message cannot be read.
        """
        name, history = self._recognize(messages, config)
        async with self._followers.afollowing(name) as follower:
            with hide_from_stream():
                view = await follower.aview(history)
        return self._present(name, messages, history, view)

    def compress_blocking(
        self, messages: list[Any], config: Mapping[str, Any] | None = None
    ) -> tuple[list[Any], bool]:
        """Compress messages in a blocking program; see `compress`."""
        name, history = self._recognize(messages, config)
        with self._followers.following(name) as follower, hide_from_stream():
            view = follower.view(history)
        return self._present(name, messages, history, view)

    async def ahook(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return the model's view of a graph's state; the state itself is not changed."""
        compressed, _ = await self.compress(list(state["messages"]))
        return {"llm_input_messages": compressed}

    def hook(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return the model's view in a blocking graph; see `ahook`."""
        messages, _ = self.compress_blocking(list(state["messages"]))
        return {"llm_input_messages": messages}

    @property
    def tools(self) -> list[Any]:
        """The tool ``recall``, for the tools of an agent or a ``ToolNode`` of the graph."""
        # Imported here: it loads all of LangChain, which nothing else here needs.
        from foldline.integrations.langchain.middleware import session_tools

        return list(session_tools(self._running, ("recall",)))

    def _running(self, runtime: Any) -> Session:
        """Return the session of a running graph, which `hook` names by its first message."""
        messages = runtime.state["messages"]
        try:
            return self.session(messages, runtime.config)
        except StoreError:
            return self.session(messages)

    def session(self, messages: Sequence[Any], config: Mapping[str, Any] | None = None) -> Session:
        """
        Return the session of a conversation, for its receipts and to recall what was removed.

        Args:
            messages: The first messages of the conversation.
            config: The config of a run, if its thread names the conversation.

        Raises:
            StoreError: It is not open: it was never compressed, or not recently.
        """
        return self._followers.session(conversation_name(messages, config))

    def close(self) -> None:
        """Close all conversations."""
        self._followers.close()

    def _recognize(
        self, messages: list[Any], config: Mapping[str, Any] | None
    ) -> tuple[str, list[Any]]:
        """Return the name of a conversation, and the history that its messages represent."""
        name = conversation_name(messages, config)
        known = self._known.get(name)
        return name, messages if known is None else known.whole(messages)

    def _present(
        self, name: str, messages: list[Any], history: list[Any], view: Sequence[Any]
    ) -> tuple[list[Any], bool]:
        same = len(view) == len(messages) and all(map(_alike, view, messages))
        visible = messages if same else list(view)
        if history is not messages or visible is not messages:
            # A node that is run again passes the same input.
            again = () if history is messages else (list(messages),)
            self._known[name] = _KnownHistory(list(history), (list(visible), *again))
            self._known.move_to_end(name)
            while len(self._known) > self._conversations:
                self._known.popitem(last=False)
        return visible, visible is not messages


def _alike(left: Any, right: Any) -> bool:
    """Return True if two messages have equal content; a graph may have added an id to one."""
    if left is right or left == right:
        return True
    if type(left) is not type(right) or left.content != right.content:
        return False
    wire = dialect("langchain")
    one, other = (wire.decode([message]).messages[0] for message in (left, right))
    return content_hash(one) == content_hash(other)
