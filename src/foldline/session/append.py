"""Appending: messages are read, limited in size, recorded and added to the view, all or none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from itertools import islice
from typing import Any, Final

from foldline.engine.receipt import Receipt, recallable
from foldline.errors import FoldlineError, InputError
from foldline.formats.dialect import Dialect
from foldline.formats.sdk_objects import to_json
from foldline.frozen import frozen, replace
from foldline.session.batches import BOUND, Batch
from foldline.session.codec import encode_stored, read, reread
from foldline.session.hooks import apply_hooks
from foldline.session.notify import note_bound, note_pressure
from foldline.session.state import SessionState
from foldline.stores.protocol import Change
from foldline.values.edits import Rewrite, rewrite_part
from foldline.values.handles import Handles
from foldline.values.messages import Message, Usage
from foldline.values.plain_json import plain


@frozen
class NewMessage:
    """A message to append, and the shorter one in the view if its tool outputs were cut."""

    message: Message
    form: Any
    view_message: Message
    edits: tuple[Rewrite, ...] = ()


def append(
    state: SessionState, wires: list[Any], usage: Usage | None = None, first: int | None = None
) -> list[str]:
    """
    Append messages, durably.

    Args:
        state: The session.
        wires: Wire messages.
        usage: Usage that the provider reported with the last answer among them (else with the last
            message), where the message does not contain it.
        first: Position of the first of them in errors; default that in the session.

    Returns:
        Their ids.

    Raises:
        InputError: A message cannot be read or stored; ``index`` is its position.
        StoreError: Nothing was recorded.
        FoldlineError: A hook refused a message.
    """
    if not wires:
        return []
    first = len(state.current_view.log) if first is None else first
    with _reading(first):
        wires = [to_json(wire) for wire in wires]
    wires = [plain(apply_hooks(state.settings.hooks, "keep", wire)) for wire in wires]
    with _reading(first):
        dialect, final = state.codec.choose(wires, state.current_view.log)
        readings = read(dialect, wires, state.current_view.log)
    now = state.settings.clock()
    with _assign_ids(state, readings, usage) as messages:
        entries = [
            _entry(state, message, form, messages)
            for (_, form), message in zip(readings, messages, strict=True)
        ]
        batch = _batch_of_cuts(state, entries, now)
        change = Change(
            at=len(state.current_view.log),
            messages=tuple(encode_stored(entry.message, entry.form, now) for entry in entries),
            batches=() if batch is None else (batch.to_stored(),),
            dialect="" if dialect.name == state.known_dialect else dialect.name,
        )
        with state.record(change):
            _settle(state, dialect, final=final)
            for entry in entries:
                _show(state, entry)
            if batch is not None:
                state.history.add(batch)
    if any(entry.message.role == "assistant" for entry in entries):
        # The model has just read the prompt to answer; anything else lets its cache age.
        state.throttle.active = now
    if batch is not None:
        note_bound(state, batch.receipt)
    note_pressure(state)
    return [message.id for message in messages]


@contextmanager
def _reading(first: int) -> Iterator[None]:
    """
    Raise an `InputError` for a message that cannot be read, also by a framework's object.

    Args:
        first: The position of the first of the messages.
    """
    try:
        yield
    except InputError as error:
        if error.index is None or not first:
            raise
        raise _with_index(error, error.index + first) from None
    except FoldlineError:
        raise
    except Exception as error:
        raise InputError(
            f"The messages cannot be read: an object in them raised {type(error).__name__}",
            hint="Append the messages of an SDK or a framework, or JSON values.",
        ) from error


def _with_index(error: InputError, index: int) -> InputError:
    """Return the same error for a message at another position."""
    what = error.message.removeprefix(f"message {error.index}").removeprefix(", ")
    what = what.removeprefix(f"field {error.field}").removeprefix(": ")
    return type(error)(what, index=index, field=error.field, hint=error.hint)


@contextmanager
def _assign_ids(
    state: SessionState, readings: Sequence[tuple[Message, Any]], usage: Usage | None
) -> Iterator[list[Message]]:
    """Assign ids to messages, and release the ids if the messages cannot be recorded."""
    messages: list[Message] = []
    try:
        for message, _ in readings:
            messages.append(message.with_id(state.ids.give(message.id)))
        if usage is not None:
            answers = [at for at, message in enumerate(messages) if message.role == "assistant"]
            at = answers[-1] if answers else -1
            messages[at] = replace(messages[at], usage=usage)
        yield messages
    except BaseException:
        for named, (message, _) in zip(messages, readings, strict=False):
            state.ids.forget(named.id, message.id)
        raise


def _settle(state: SessionState, dialect: Dialect, *, final: bool) -> None:
    if state.codec.dialect not in (None, dialect):
        state.current_view.reread(reread(dialect, state.current_view.log), state.history.steps())
    state.codec.settle(dialect, final=final)
    state.known_dialect = dialect.name
    if state.settings.by_format:
        state.settings.counter.provider = dialect.provider


def _show(state: SessionState, entry: NewMessage) -> None:
    count = state.current_view.append(entry.message)
    state.ids.confirm(entry.message.id)
    if entry.edits:
        count += state.current_view.rewrite(entry.message.id, entry.view_message)
    state.throttle.grow(count)
    state.prepared_slot.appended += count
    state.observe(entry.message, state.current_view.tokens, count)


# --- giant tool outputs --------------------------------------------------------------------


def _entry(
    state: SessionState, message: Message, form: Any, together: Sequence[Message]
) -> NewMessage:
    counter, config = state.settings.counter, state.settings.config
    outputs = config.outputs
    if not config.enabled or not any(
        outputs.is_exceeded(result.text, counter.text(result.text)) for result in message.results
    ):
        return NewMessage(message, form, message)
    from foldline.strategies.bound import bound

    handle = Handles(state.current_view.log.register, together)[message.id]
    edits = bound(message, counter, handle=handle, outputs=outputs)
    return NewMessage(message, form, reduce(rewrite_part, edits, message), edits)


def _batch_of_cuts(state: SessionState, entries: Sequence[NewMessage], now: float) -> Batch | None:
    """Build the batch that records the cuts; None if nothing was cut."""
    edits = tuple(edit for entry in entries for edit in entry.edits)
    if not edits:
        return None
    counter, current = state.settings.counter, state.current_view
    whole = current.tokens + sum(counter.message(entry.message) for entry in entries)
    cut = current.tokens + sum(counter.message(entry.view_message) for entry in entries)
    size = len(current.messages) + len(entries)
    originals = {entry.message.id: entry.message for entry in entries}
    names = Handles(current.log.register, originals.values())
    receipt = Receipt(
        status="compacted",
        reason="a tool result was cut when it was recorded",
        tokens_before=whole,
        tokens_after=cut,
        messages_before=size,
        messages_after=size,
        counter=counter.name,
        policy=state.settings.policy.name,
        budget=state.settings.budget.limit,
        overhead=state.settings.budget.overhead,
        kept_prefix=len(current.messages),
        edits=edits,
        recall=recallable(edits, originals, names),
    )
    # It takes effect after the messages, so that their handles are known from then on.
    at = len(current.log) + len(entries)
    return Batch(len(state.history.batches), at, BOUND, receipt, now)


BATCH: Final = 1_000
"""Default number of messages that are recorded together."""

LARGEST: Final = 1_000_000
"""The largest batch, in messages."""


def batches(messages: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """
    Split messages into lists of a size; the last one may be shorter.

    Raises:
        InputError: The size is not a whole number of 1 or more.
    """
    if isinstance(size, bool) or not isinstance(size, int) or size < 1:
        raise InputError(f"A batch has at least 1 message, not {size!r:.40}")
    coming = iter(messages)
    while wires := list(islice(coming, min(size, LARGEST))):
        yield wires


def add_batch(state: SessionState, wires: list[Any], done: int) -> int:
    """
    Append the next batch of an import.

    Args:
        state: The session.
        wires: Wire messages.
        done: Number of messages imported before them.

    Returns:
        Number of messages imported so far.

    Raises:
        InputError: A message cannot be read; ``index`` is its position in the whole import.
    """
    append(state, wires, first=done)
    done += len(wires)
    state.current_view.note_import(done)
    return done
