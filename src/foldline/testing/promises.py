"""
The eleven promises of a compaction, each as a check.

Every check raises an AssertionError with a sentence that names the promise, the message and the
problem; it returns None if the promise holds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Any

from foldline.api import Compaction, count
from foldline.core.asks import Ask, Reply
from foldline.errors import RecallError
from foldline.formats.registry import DIALECTS
from foldline.recall import Recalled
from foldline.recall.holdings import parse
from foldline.recall.sections import message_text, part_of, part_text
from foldline.repair.repair import repair
from foldline.testing.retention import check_task as check_task
from foldline.testing.retention import check_unread as check_unread
from foldline.testing.retention import visible_messages
from foldline.values.edits import apply
from foldline.values.groups import pair, pending_calls
from foldline.values.identity import canonical_json
from foldline.values.messages import Message, Omitted, Text, Thinking, ToolCall, ToolResult
from foldline.values.tokens import TextCounter
from foldline.values.transcript import Transcript

MOST_ASKS = 8
"""Maximum model calls of one compaction."""

MOST_SECONDS = 30.0


def check_valid(result: Compaction[Any], given: Any) -> None:
    """VALID: the provider accepts the messages; signed content is untouched or left out whole."""
    if result.receipt.status != "compacted":
        came = f"the status is {result.receipt.status!r}, but the returned messages are not"
        assert result.messages is given, f"VALID: {came} the input object."
        return
    if result.transcript.dialect in DIALECTS:
        check_accepted(result.shown, result.transcript.dialect)
    for before, after in _both(result):
        for old, new in zip(before.parts, after.parts, strict=True):
            if isinstance(old, (Thinking, ToolCall)) and old.signed:
                assert new is old or isinstance(new, Omitted), (
                    f"VALID: the signed {type(old).__name__} of message {before.id[:8]} is "
                    "neither untouched nor left out."
                )


def check_accepted(transcript: Transcript, dialect: str) -> None:
    """
    Check that a provider accepts a conversation, once its pending calls have results.

    Args:
        transcript: A compacted conversation of any dialect.
        dialect: The dialect in which it is sent.
    """
    wire = DIALECTS[dialect]
    found = wire.validate(wire.encode(transcript))
    if found and pair(transcript.messages).open:
        found = wire.validate(wire.encode(_answer_pending(transcript)))
    assert not found, f"VALID: {wire.title} would reject the messages: {found[0]}"


def _answer_pending(transcript: Transcript) -> Transcript:
    """Return the conversation with results added for its pending calls."""
    messages = list(transcript.messages)
    for number, site in enumerate(pair(messages).open):
        call = messages[site.message].parts[site.part]
        if isinstance(call, ToolCall):
            result = ToolResult(call.id, (Text("done"),), call.name)
            messages.append(Message("tool", (result,), id=f"answer {number}"))
    return transcript.with_messages(apply(messages, repair(messages, transcript.dialect)))


def check_pair(result: Compaction[Any]) -> None:
    """PAIR: a call and its results stay or go together; a pending call stays pending."""
    if result.receipt.status != "compacted":
        return
    before, after = result.transcript.messages, result.shown.messages
    # If ids repeat or results come early, the repair decides which belong together.
    repairs = tuple(takewhile(lambda edit: edit.kind == "repair", result.receipt.edits))
    after_repair, since = apply(before, repairs), len(repairs)
    for call, answer in pair(after_repair).answers.items():
        calling, answering = after_repair[call.message], after_repair[answer.message]
        called = any(now.calls for now in visible_messages(result, calling, since))
        answered = any(now.results for now in visible_messages(result, answering, since))
        assert called == answered, (
            f"PAIR: of the call in message {calling.id[:8]} and its result in {answering.id[:8]}, "
            f"only the {'call' if called else 'result'} is in view."
        )
    _check_running(before, after)


def _check_running(before: Sequence[Message], after: Sequence[Message]) -> None:
    old, new = pair(before), pair(after)
    assert not new.orphans, (
        f"PAIR: a result without its call is in view: {after[new.orphans[0].message].id[:8]}."
    )
    early = {before[s.message].parts[s.part] for s in old.orphans}
    numbers = {part.call_id for part in early if isinstance(part, ToolResult)}
    waiting = [after[s.message].parts[s.part] for s in new.open]
    running = pending_calls(before, old.open)
    for site in old.open:
        call = before[site.message].parts[site.part]
        if isinstance(call, ToolCall) and site in running:
            named = [part.name for part in waiting if isinstance(part, ToolCall)]
            assert call.name in named or call.id in numbers, (
                f"PAIR: the call in message {site.message} is still pending, but is no longer "
                "in view as such."
            )


def check_shrink(result: Compaction[Any], given: Any) -> None:
    """SHRINK: fewer tokens and within the budget, or the identical input with a reason."""
    receipt = result.receipt
    assert receipt.reason, "SHRINK: the receipt gives no reason."
    if receipt.status != "compacted":
        assert result.messages is given, "SHRINK: nothing shrank, yet another object was returned."
        assert not receipt.edits, "SHRINK: nothing shrank, yet there are edits."
        return
    before, after = receipt.tokens_before, receipt.tokens_after
    assert after < before, f"SHRINK: {before} tokens became {after}."
    allowed = f"{receipt.budget} allowed"
    assert after <= receipt.budget, f"SHRINK: {after} tokens are left, more than {allowed}."


def check_prefix(result: Compaction[Any], given: Any) -> None:
    """PREFIX: messages before the first edit are unchanged, and the edits can be repeated."""
    again = apply(result.transcript.messages, result.receipt.edits)
    assert again == result.shown.messages, "PREFIX: repeating the edits gives another view."
    if result.receipt.status != "compacted":
        return
    before, after = _items(given), _items(result.messages)
    if before is None or after is None:
        return
    kept = result.receipt.kept_prefix
    for index in range(kept):
        untouched = index < min(len(before), len(after)) and after[index] is before[index]
        assert untouched, (
            f"PREFIX: the receipt reports the first {kept} messages as untouched, but message "
            f"{index} is another object."
        )


def _items(wire: Any) -> list[Any] | None:
    """Return the list of messages in a wire value; None if nothing was encoded."""
    if isinstance(wire, dict):
        if isinstance(wire.get("values"), dict):
            wire = wire["values"]
        wire = next((wire[k] for k in ("messages", "contents", "input") if k in wire), None)
    return wire if isinstance(wire, list) else None


def check_idemp(result: Compaction[Any], again: Callable[[Any], Compaction[Any]]) -> None:
    """
    IDEMP: a compaction with nothing new changes nothing.

    Args:
        result: A compaction.
        again: Compacts messages in the same way as before.
    """
    if result.receipt.status != "compacted":
        return
    second = again(result.messages)
    assert second.receipt.status == "unchanged", (
        f"IDEMP: the second compaction was {second.receipt.status}: {second.receipt.reason} "
        f"({second.receipt.tokens_before} tokens became {second.receipt.tokens_after})."
    )
    assert second.messages is result.messages, "IDEMP: the second compaction made a new object."


def check_atomic(
    state: Callable[[], Any], act: Callable[[], object], *, may_change: bool = False
) -> None:
    """
    ATOMIC: a failing action leaves the state unchanged, for any exception.

    Args:
        state: Returns the state as a JSON value, such as the messages, or a reopened session.
        act: The action; its exceptions are caught.
        may_change: Whether a successful action may change the state; the input must never change.
    """
    before = canonical_json(state())
    try:
        act()
    except BaseException as error:  # noqa: BLE001  # a cancellation is one of the exceptions
        reason = f"raised {type(error).__name__}"
    else:
        if may_change:
            return
        reason = "succeeded"
    assert canonical_json(state()) == before, f"ATOMIC: the action {reason} and changed the state."


def check_lossless(
    result: Compaction[Any], recall: Callable[[str], Recalled] | None = None
) -> None:
    """
    LOSSLESS: everything out of view is recalled exactly by a handle of the receipt.

    Args:
        result: A compaction.
        recall: Recalls a handle elsewhere, such as in a reopened session; default: from the
            result.
    """
    recall = recall or result.recall
    kept = _recall_all(result, recall)
    visible = {message.id: message for message in result.shown.messages}
    for message in result.transcript.messages:
        after = visible.get(message.id)
        for index, part in enumerate(message.parts):
            if after is not None and after.parts[index] is part:
                continue
            handles = {None, index} & kept.get(message.id, {}).keys()
            assert handles, (
                f"LOSSLESS: part {index} of message {message.id[:8]} ({message.role}) is not in "
                "view and no handle of the receipt recalls it."
            )
            for handle in handles:
                found = kept[message.id][handle]
                _check_exact(found, message, handle)
                if handle is None and message.role == "assistant":
                    # It covers the whole step; each part of the message is also found by itself.
                    _check_exact(recall(f"{found.handle}.{index}"), message, index)


def _recall_all(
    result: Compaction[Any], recall: Callable[[str], Recalled]
) -> dict[str, dict[int | None, Recalled]]:
    """Recall every handle; results are by message and part, None for a whole message."""
    out: dict[str, dict[int | None, Recalled]] = {}
    for handle in result.receipt.recall:
        try:
            found = recall(handle)
        except RecallError as error:
            raise AssertionError(f"LOSSLESS: {handle} is not recalled: {error}") from error
        out.setdefault(found.message_id, {})[parse(handle)[1]] = found
    return out


def _check_exact(found: Recalled, message: Message, index: int | None) -> None:
    part = None if index is None else part_of(message, index)
    text = message_text(message) if part is None else part_text(part)
    raw = message.raw if part is None or isinstance(part, Omitted) else part.raw
    raw = message.raw if raw is None else raw
    same = found.raw is raw or canonical_json(found.raw) == canonical_json(raw)
    is_step = part is None and message.role == "assistant"
    exact = same and (text in found.text if is_step else found.text == text)
    what = f"what {found.handle} recalls"
    assert exact, f"LOSSLESS: {what} differs from message {message.id[:8]}."


def check_term(
    run: Callable[[Callable[[Ask], Reply]], object],
    *,
    asks: int = MOST_ASKS,
    seconds: float = MOST_SECONDS,
) -> None:
    """
    TERM: one compaction makes a bounded number of model calls and takes bounded time.

    Args:
        run: Compacts with a given summarizer, whose replies are useless.
        asks: Maximum number of model calls.
        seconds: Time limit.
    """
    requests: list[Ask] = []

    def useless(ask: Ask) -> Reply:
        requests.append(ask)
        assert len(requests) <= asks, f"TERM: more than {asks} model calls."
        return (Reply(""), Reply(error="it timed out"), Reply("No."))[len(requests) % 3]

    start = time.monotonic()
    run(useless)
    took = time.monotonic() - start
    assert took <= seconds, f"TERM: it took {took:.1f} seconds, {seconds:g} are allowed."


def check_honest(
    result: Compaction[Any], given: Any, *, counter: TextCounter | None = None
) -> None:
    """
    HONEST: the receipt matches measurements.

    Args:
        result: A compaction.
        given: The input of the compaction.
        counter: Its counter.
    """
    receipt, name = result.receipt, result.transcript.dialect
    assert receipt.messages_before == len(result.transcript.messages), "HONEST: messages before."
    assert receipt.messages_after == len(result.shown.messages), "HONEST: messages after."
    status = f"the status is {receipt.status!r} with {len(receipt.edits)} edits"
    assert (receipt.status == "compacted") == bool(receipt.edits), f"HONEST: {status}."
    if result.messages is None or name not in DIALECTS:
        return
    before, after = (given, receipt.tokens_before), (result.messages, receipt.tokens_after)
    for moment, (wire, reported) in {"before": before, "after": after}.items():
        real = count(wire, format=name, counter=counter)
        assert real == reported, f"HONEST: {real} tokens {moment}, the receipt says {reported}."


def _both(result: Compaction[Any]) -> Iterator[tuple[Message, Message]]:
    """Yield messages that are still in view, as they were and as they are."""
    visible = {message.id: message for message in result.shown.messages}
    for message in result.transcript.messages:
        if message.id in visible and len(visible[message.id].parts) == len(message.parts):
            yield message, visible[message.id]
