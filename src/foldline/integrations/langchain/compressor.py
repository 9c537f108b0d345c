"""A compressor of message lists: what came in comes out, or something smaller and a True."""

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
    """A whole history, and the shorter lists that stand for it: what came in, what went out."""

    history: list[Any]
    forms: tuple[list[Any], ...]

    def whole(self, messages: list[Any]) -> list[Any]:
        """Return the history that a list stands for, which may go on from any of them."""
        for form in self.forms:
            if len(messages) >= len(form) and all(map(_alike, form, messages)):
                return [*self.history, *messages[len(form) :]]
        return messages


class Compressor:
    """
    Compresses lists of LangChain messages that grow.

    A list that is not due comes back as the same object. It does not matter whether the caller
    goes on with the whole history or with what came back: both are known again, and what was
    compressed once is not compressed, nor paid for, a second time.

        messages, changed = await compressor.compress(messages)

    It is a node of LangGraph too, and a ``pre_model_hook``.

    Args:
        window: The model's window in tokens.
        threshold: Compress from this fraction of the effective window on.
        preserve: Fraction of the history, the newest, that stays verbatim.
        summarizer: A chat model, or anything else that `Session.open` takes; "same" needs a
            ``model`` by name, as no model object is held here.
        policy: Instead of one by ``threshold`` and ``preserve``.
        path: The archive, a SQLite file; None keeps everything in memory.
        conversations: How many are kept open.
        **options: Further ones of `Session.open`, such as ``model``, ``system`` and ``tools``.

    Raises:
        BudgetError: A fraction is impossible, or an option contradicts another.
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
        Compress messages if that is due.

        Args:
            messages: The conversation up to now, or what came back last and what was added.
            config: Of a run; its ``thread_id`` names the conversation, otherwise the first message
                does.

        Returns:
            The messages to send, and whether they are others than came in.

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
        """Compress messages in a program that does not await; see `compress`."""
        name, history = self._recognize(messages, config)
        with self._followers.following(name) as follower, hide_from_stream():
            view = follower.view(history)
        return self._present(name, messages, history, view)

    async def ahook(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the model is to see of a graph's state; the state itself stays whole."""
        compressed, _ = await self.compress(list(state["messages"]))
        return {"llm_input_messages": compressed}

    def hook(self, state: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the model is to see, in a graph that does not await; see `ahook`."""
        messages, _ = self.compress_blocking(list(state["messages"]))
        return {"llm_input_messages": messages}

    @property
    def tools(self) -> list[Any]:
        """The tool ``recall``, for the tools of an agent or a ``ToolNode`` of the graph."""
        # Imported here: it loads the whole of LangChain, which nothing else here needs.
        from foldline.integrations.langchain.middleware import session_tools

        return list(session_tools(self._running, ("recall",)))

    def _running(self, runtime: Any) -> Session:
        """Return the session of a graph that runs; `hook` names it by its first message."""
        messages = runtime.state["messages"]
        try:
            return self.session(messages, runtime.config)
        except StoreError:
            return self.session(messages)

    def session(self, messages: Sequence[Any], config: Mapping[str, Any] | None = None) -> Session:
        """
        Return the session of a conversation, for its receipts and to recall what was removed.

        Args:
            messages: What the conversation begins with.
            config: Of a run, where its thread names the conversation.

        Raises:
            StoreError: It is not open: nothing of it was compressed, or not for a long time.
        """
        return self._followers.session(conversation_name(messages, config))

    def close(self) -> None:
        """Close all conversations."""
        self._followers.close()

    def _recognize(
        self, messages: list[Any], config: Mapping[str, Any] | None
    ) -> tuple[str, list[Any]]:
        """Return the name of a conversation, and the history that its messages stand for."""
        name = conversation_name(messages, config)
        known = self._known.get(name)
        return name, messages if known is None else known.whole(messages)

    def _present(
        self, name: str, messages: list[Any], history: list[Any], view: Sequence[Any]
    ) -> tuple[list[Any], bool]:
        same = len(view) == len(messages) and all(map(_alike, view, messages))
        visible = messages if same else list(view)
        if history is not messages or visible is not messages:
            # A node that is run again comes with what it came with before.
            again = () if history is messages else (list(messages),)
            self._known[name] = _KnownHistory(list(history), (list(visible), *again))
            self._known.move_to_end(name)
            while len(self._known) > self._conversations:
                self._known.popitem(last=False)
        return visible, visible is not messages


def _alike(left: Any, right: Any) -> bool:
    """Return True if two messages say the same; a graph may have given one of them an id."""
    if left is right or left == right:
        return True
    if type(left) is not type(right) or left.content != right.content:
        return False
    wire = dialect("langchain")
    one, other = (wire.decode([message]).messages[0] for message in (left, right))
    return content_hash(one) == content_hash(other)
