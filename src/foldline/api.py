"""`compact` and `count`: the only place that wires concrete formats, counters and policies."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from foldline.core.asks import Ask, Model, Reply, drive
from foldline.core.budget import UNKNOWN_WINDOW, Amount, Budget
from foldline.core.config import EMBEDDED, Config
from foldline.core.strategy import CompactionContext, Policy, force_policy
from foldline.engine.compaction import compact_view
from foldline.engine.policies import configure
from foldline.engine.receipt import Receipt, build_receipt
from foldline.errors import BudgetError
from foldline.formats.dialect import Dialect
from foldline.formats.fields import bounded_nesting
from foldline.formats.registry import DIALECTS, detect_dialect, dialect
from foldline.formats.sdk_objects import to_json
from foldline.frozen import field, frozen, replace
from foldline.tokens.choose import choose_counter
from foldline.values.edits import Fold, Rewrite
from foldline.values.handles import handles
from foldline.values.tokens import TextCounter, TokenCounter
from foldline.values.transcript import Transcript
from foldline.values.view import View

if TYPE_CHECKING:
    from foldline.recall import Recalled


Wire = TypeVar("Wire")
"""The caller's messages, of any type: a list, or a request body."""


@frozen
class Compaction(Generic[Wire]):
    """
    The result of `compact`.

    ``messages`` has the shape of the input, and is the input object itself unless the receipt's
    status is "compacted". ``transcript`` is the decoded input, ``shown`` the resulting view.
    """

    messages: Wire
    receipt: Receipt
    transcript: Transcript = field(repr=False)
    shown: Transcript = field(repr=False)
    counter: TokenCounter | None = field(default=None, repr=False, compare=False)

    def recall(self, handle: str, **access: Any) -> Recalled:
        """
        Return removed content by its handle, whole, in part or by a question.

        Args:
            handle: A handle in a stub, a snapshot or the receipt.
            access: ``query``, ``grep``, ``lines``, ``max_tokens`` and further arguments of
                `foldline.recall.recall`.

        Raises:
            RecallError: The handle is unknown, or the slice does not exist.
        """
        from foldline.recall import Folded, Holdings, recall

        log = {message.id: message for message in self.transcript.messages}
        snapshots = {
            edit.snapshot.id: Folded(edit.messages, len(log))
            for edit in self.receipt.edits
            if isinstance(edit, Fold)
        }
        shortened = frozenset(e.message for e in self.receipt.edits if isinstance(e, Rewrite))
        if access.get("max_tokens") is not None and access.get("counter") is None:
            access["counter"] = self.counter or TokenCounter(choose_counter())
        holdings = Holdings(log, snapshots, (len(log),), shortened)
        return recall(holdings, handle, **access)


def compact(
    messages: Wire,
    *,
    budget: int | str | None = None,
    window: int | None = None,
    format: str = "auto",  # noqa: A002  # the word of the field
    policy: str | Policy | None = None,
    model: str = "",
    summarizer: Model | Callable[[Ask], Reply | str] | str | None = None,
    focus: str = "",
    force: bool = False,
    start: int | str | None = None,
    up_to: int | str | None = None,
    counter: TextCounter | None = None,
    pins: Sequence[int | str] = (),
    tools: Sequence[Any] | None = None,
    system: str | None = None,
    config: Config | None = None,
) -> Compaction[Wire]:
    """
    Compact a conversation to fit a budget.

    Args:
        messages: Messages, or a whole request body, in any wire format; or what an SDK returned.
        budget: Maximum tokens of the returned messages: 8_000, "8k", or "25%" of the current size.
        window: Instead of a budget, the model's window in tokens; then compact only if due.
        format: The wire format, or "auto" to detect it.
        policy: A policy or its name, instead of that of ``config``, which still tunes it.
        model: The model that will read the messages; decides token counting and the window.
        summarizer: A model, or a function that takes an `Ask` and returns a `Reply` or a text. Its
            summary heads the snapshot if it is usable; otherwise the snapshot has only quoted
            lines. Or a name: "same", "light", "openai:gpt-5-mini"; see `foldline.models.model`.
        focus: The content to remember above all, in your own words.
        force: Compact even if it is not due: a history that fits is reduced too.
        start: Position or id of the first message to fold, due or not; earlier messages are kept
            unchanged.
        up_to: Position or id of the last message to fold; later messages are kept.
        counter: Counts the tokens of a text; default the best available.
        pins: Positions or ids of messages that must stay.
        tools: Tool schemas that are sent with the messages.
        system: A system prompt that is sent with the messages.
        config: All other settings that apply to a single call.

    Returns:
        The messages in the shape of the input, with a receipt.

    Raises:
        InputError: The messages cannot be read; the error names the message and the field. Or
            nothing between ``start`` and ``up_to`` may be folded, or an argument has a wrong type.
        BudgetError: The numbers contradict each other.
    """
    _check_types(model=model, format=format, focus=focus, pins=pins, tools=tools, system=system)
    messages = to_json(messages)
    wire = _dialect(messages, format)
    transcript = wire.decode(messages).pin(pins).with_warning(_warning(model))
    counts = TokenCounter(counter or choose_counter(_known_name(model)), provider=wire.provider)
    overhead = _overhead(transcript, counts, system, tools)
    settings = _settings(config, model, window)
    limits = budget_for(_parse_budget(budget, transcript, counts), window, overhead, settings)
    ladder = configure(settings, policy)
    if start is not None or up_to is not None:
        ladder, limits = _partial(transcript, counts, (start, up_to), limits)
    elif force and not limits.fixed:
        tokens = counts.messages(transcript.messages)
        ladder, limits = force_policy(ladder), limits.below(tokens)
    with answering(summarizer, settings, model) as who:
        result = compact_transcript(transcript, counts, limits, ladder, who, focus, settings)
    sent = wire.encode(result.shown) if result.receipt.status == "compacted" else messages
    return Compaction(sent, result.receipt, transcript, result.shown, counts)


def count(
    messages: Any,
    *,
    model: str = "",
    format: str = "auto",  # noqa: A002  # the word of the field
    counter: TextCounter | None = None,
) -> int:
    """
    Count messages, in the tokens that budgets are given in.

    Args:
        messages: Messages, or a whole request body, in any supported wire format.
        model: The model that will read them, by any of its names; decides how tokens are counted.
        format: The wire format, or "auto" to detect it.
        counter: Counts the tokens of a text; default the best available for the model.
    """
    _check_types(model=model, format=format)
    messages = to_json(messages)
    wire = _dialect(messages, format)
    counts = TokenCounter(counter or choose_counter(_known_name(model)), provider=wire.provider)
    return counts.messages(wire.decode(messages).messages)


def counter_for(transcript: Transcript, model: str | None) -> TokenCounter:
    """Return the counter for a transcript: a model's vocabulary and its provider's media rules."""
    wire = DIALECTS.get(transcript.dialect)
    return TokenCounter(
        choose_counter(_known_name(model or "")), provider=wire.provider if wire else "openai"
    )


def compact_transcript(
    transcript: Transcript,
    counter: TokenCounter,
    budget: Budget,
    policy: Policy,
    summarizer: Model | Callable[[Ask], Reply | str] | None = None,
    focus: str = "",
    config: Config | None = None,
) -> Compaction[None]:
    """
    Compact a decoded conversation; see `compact`.

    Returns:
        The result, whose ``messages`` are None: nothing is encoded.
    """
    before = View.of(transcript.messages, counter, dialect=transcript.dialect)
    names = handles(transcript.messages)
    settings = config or Config()
    context = CompactionContext(
        budget.target,
        budget.limit,
        budget.scale,
        names,
        requests=settings.pace.requests,
        limits=settings.limits,
        focus=focus,
        summary=settings.summary,
    )
    answer: Callable[[Ask], Reply] = _no_summarizer
    if summarizer is not None:
        # Imported here: it uses threads, which nothing else here needs.
        from foldline.ask_runner import reader_of, run_ask

        # A budget in tokens implies nothing about the summarizer's window.
        is_window = budget.resolved and not budget.fixed
        context = replace(
            context, reader=reader_of(summarizer, budget.scale if is_window else UNKNOWN_WINDOW)
        )
        answer = functools.partial(run_ask, summarizer)
    sources = None
    if any(message.has_calls or message.is_attachment() for message in transcript.messages):
        # Imported here: without calls there is nothing to bring back.
        from foldline.reinjection.reinject import Sources

        sources = Sources()
    outcome = drive(compact_view(before, budget, policy, context, sources), answer)
    receipt = build_receipt(before, outcome, budget, policy.name, names, transcript.warnings)
    compacted = transcript.with_messages(outcome.view.messages)
    return Compaction(None, receipt, transcript, compacted, counter)


def _no_summarizer(_: Ask) -> Reply:
    return Reply(error="no summarizer was given", retry=False, attempts=0)


_TYPES: Final[Mapping[str, Any]] = {
    "pins": Collection,
    "tools": Iterable | None,
    "system": str | None,
}
"""The types of arguments that are not text."""


def _check_types(**given: Any) -> None:
    """Raise `InputError` for arguments of a wrong type, by name."""
    for name, value in given.items():
        hint = _TYPES.get(name, str)
        if not isinstance(value, hint):
            # Imported here: it is slow to load, and only its sentence is needed.
            from foldline.type_checks import check_type

            check_type(hint, value, name)


EMPTY: Final = {"contents": "gemini", "input": "openai-responses"}
"""The dialect of a request body without messages, by the field that would hold them."""


def _dialect(messages: Any, name: str) -> Dialect:
    if name != "auto":
        return dialect(name)
    if messages == []:
        return dialect("openai-chat")
    if isinstance(messages, dict) and [] in (messages.get(key) for key in ("messages", *EMPTY)):
        return dialect(next((EMPTY[key] for key in EMPTY if key in messages), "openai-chat"))
    return detect_dialect(messages)


def _known_name(model: str) -> str | None:
    if not model:
        return None
    # Imported here: the catalogue is read from a file, which nothing else here needs.
    from foldline.models.catalogue import known_name

    return known_name(model)


def _warning(model: str) -> str:
    if not model:
        return ""
    from foldline.models.catalogue import unknown_model

    return unknown_model(model)


@contextmanager
def answering(
    summarizer: Model | Callable[[Ask], Reply | str] | str | None, config: Config, model: str
) -> Iterator[Model | Callable[[Ask], Reply | str] | None]:
    """Create the client of a summarizer given by name, and close it afterwards."""
    if summarizer is None and config.summarizer != EMBEDDED:
        summarizer = config.summarizer
    if not isinstance(summarizer, str) or summarizer == EMBEDDED:
        yield None if isinstance(summarizer, str) else summarizer
        return
    # Imported here: it loads networking code, which nothing else here needs.
    from foldline.models.factory import summarizer as named

    with named(summarizer, of=model) as client:
        yield client


def _overhead(
    transcript: Transcript, counts: TokenCounter, system: str | None, tools: Sequence[Any] | None
) -> int:
    """Count what is sent beside the messages, in tokens."""
    system = transcript.system if system is None else system
    with bounded_nesting():
        return counts.overhead(system, transcript.tools if tools is None else tools)


def _parse_budget(
    budget: int | str | None, transcript: Transcript, counts: TokenCounter
) -> int | None:
    if not isinstance(budget, str):
        return budget
    return Amount.parse(budget).of(counts.messages(transcript.messages))


def _partial(
    transcript: Transcript, counts: TokenCounter, ends: Sequence[int | str | None], limits: Budget
) -> tuple[Policy, Budget]:
    from foldline.summary.span import Span, plan_span

    span = Span(*("" if end is None else transcript.resolve_id(end) for end in ends))
    view = View.of(transcript.messages, counts, dialect=transcript.dialect)
    return plan_span(view, span, limits if limits.fixed else None)


def _settings(config: Config | None, model: str, window: int | None) -> Config:
    """Return a configuration, with the window of a named model."""
    if config is not None and not isinstance(config, Config):
        raise BudgetError(f"config is a foldline.Config, not {config!r:.40}.")
    if not model:
        return config or Config()
    # Imported here: the catalogue is read from a file, which nothing else here needs.
    from foldline.session.model_choice import resolve_window

    return resolve_window(config or Config(), model, window=window, output=None)


def budget_for(budget: int | None, window: int | None, overhead: int, config: Config) -> Budget:
    """
    Return the budget of messages.

    Args:
        budget: The maximum number of tokens; or
        window: the model's window, in tokens.
        overhead: Tokens of system prompt and tool schemas.
        config: The thresholds.

    Raises:
        BudgetError: Both are given, or nothing is left for messages.
    """
    if budget is not None and window is not None:
        raise BudgetError("Give a budget or a window, not both.")
    if budget is not None:
        return Budget.of_tokens(budget)
    return config.budget(window, overhead=overhead)
