"""
The agent loop: call the model, record its answer, run its tool calls, record each result; repeat.

Read `run_events` from the top: a run begins or is resumed, then alternates between the model and
its tools until something ends it. Whether that is a limit, an error, a cancellation or a power
failure, the session holds every message so far.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, suppress
from typing import Any, Final

from foldline.agents.checkpoint import WorkspaceChanges, load_checkpoint, read_workspace
from foldline.agents.loop_detection import RepetitionDetector
from foldline.agents.run_state import (
    ENDS,
    AgentSetup,
    ContextCompacted,
    Event,
    ModelAnswered,
    ModelRetried,
    RunFinished,
    RunResumed,
    RunState,
    ToolCalled,
    ToolReturned,
)
from foldline.ask_runner import run_to_end
from foldline.errors import FoldlineError, InputError, ModelError
from foldline.frozen import replace
from foldline.models.completion import Completion, Delta
from foldline.models.errors import TIMEOUT
from foldline.models.overflow import overflow_in
from foldline.session import Session
from foldline.tools.description import read_tables
from foldline.tools.output import ErrorCode, ToolOutput
from foldline.values.groups import pair, pending_calls
from foldline.values.messages import Message, Text, ToolCall, ToolResult

Events = AsyncGenerator[Event, None]

RERUN: Final = frozenset({"read"})
"""Tools with no other label are run again if a run was interrupted during their call."""

NOTES: Final = read_tables("foldline.agents", "prompts.toml")["run"]
INTERRUPTED: Final = ToolOutput.error(ErrorCode.CANCELLED, NOTES["interrupted"])
CANCELLED: Final = ToolOutput.error(ErrorCode.CANCELLED, NOTES["cancelled"])
CUT: Final = ToolOutput.error(ErrorCode.INVALID_ARGUMENTS, NOTES["cut"])

FULL: Final = {"role": "assistant", "content": [], "stop_reason": "model_context_window_exceeded"}
"""The error reported to a session when an answer ended because the window was full."""


class UnusableAnswer(ModelError):
    """An answer that cannot be used although it was received and billed."""

    completion: Completion | None = None


async def run_events(setup: AgentSetup, task: str | None) -> Events:
    """
    Yield the events of a run, `RunFinished` last.

    Args:
        setup: The agent.
        task: The message of the user; None to resume a run that ended early.
    """
    run = RunState(setup)
    try:
        for stage in _stages(run, task):
            async with aclosing(stage) as events:
                async for event in events:
                    yield event
    finally:
        await run_to_end(_close(run))
    assert run.result is not None  # noqa: S101  # without one, the stages go on
    yield RunFinished(run.result)


def _stages(run: RunState, task: str | None) -> Iterator[Events]:
    """Yield the stages of a run in order, until something ends it."""
    yield _resume(run) if task is None else _begin(run, task)
    while run.result is None:
        yield _ask_model(run)
        if run.result is None:
            yield _act(run)


# --- how a run begins and ends -------------------------------------------------------------


async def _begin(run: RunState, task: str) -> Events:
    if not task.strip():
        raise InputError("The task is empty")
    await _update_overhead(run)
    await _close_calls(run, open_calls(run.session.messages), INTERRUPTED)
    await _add_user_message(run, task)
    run.started = True
    await run.save()
    for receipt in run.new_compactions():
        yield ContextCompacted(receipt)


async def _resume(run: RunState) -> Events:
    """Give every open call a result, report what changed meanwhile, and continue."""
    if not run.session.messages:
        raise InputError("There is nothing to resume", hint="Pass a task.")
    await _update_overhead(run)
    changes = await _restore(run)
    run.started = True
    waiting = open_calls(run.session.messages)
    again = [call for call in waiting if run.setup.tools.has_only(call.name, RERUN)]
    await _close_calls(run, [call for call in waiting if call not in again], INTERRUPTED)
    if again:
        async with aclosing(_run_calls(run, again)) as events:
            async for event in events:
                yield event
    if changes:
        await _add_user_message(run, NOTES["changed"].format(changes=changes))
    yield RunResumed(len(waiting) - len(again), len(again), changes)
    last = run.session.messages[-1]
    if last.role == "assistant" and not last.calls:
        run.text = last.text
        run.end("done")


async def _restore(run: RunState) -> WorkspaceChanges:
    """Load the checkpoint into the run, and return what changed since."""
    setup, found = run.setup, None
    if setup.checkpoint is not None:
        found = await asyncio.to_thread(load_checkpoint, setup.checkpoint, run.session.name)
    if found is not None:
        run.spending = found.spending
    if found is None or setup.root is None:
        return WorkspaceChanges()
    run.workspace = await asyncio.to_thread(read_workspace, setup.root, found.workspace.files)
    return found.workspace.changes(run.workspace)


async def _close(run: RunState) -> None:
    """Give open calls a result, however the run ended; if that fails, the next run does it."""
    with suppress(FoldlineError):
        await _close_calls(run, open_calls(run.session.messages), CANCELLED)
        await run.save()


# --- one step ------------------------------------------------------------------------------


async def _ask_model(run: RunState) -> Events:
    """
    Request the next message and record it; without one, the run has ended.

    A view that is too long is compacted and sent once more. An answer that broke off, is empty,
    repeats itself or uses one id for two calls is requested again.

    Raises:
        ContextOverflow: Nothing strictly smaller can be sent.
        ModelError: There is no answer, and retries do not help.
    """
    limits, retries = run.setup.limits, run.setup.limits.retries
    if reached := run.spent().limit_reached(limits):
        run.end(*reached)
        return
    tools = await _update_overhead(run)
    view = await run.session.aview()
    while True:
        for receipt in run.new_compactions():
            yield ContextCompacted(receipt)
        try:
            async with aclosing(_stream_answer(run, view, tools)) as pieces:
                async for piece in pieces:
                    yield piece
            break
        except ModelError as error:
            wasted = error.completion if isinstance(error, UnusableAnswer) else None
            full = isinstance(error, UnusableAnswer) and error.code == "overflow"
            # Requests that the client itself retried are not retried here.
            again = error.retry and error.status is None and error.code != TIMEOUT
            if full or overflow_in(error) is not None:
                view = await run.session.aoverflowed(FULL if full else error)
            elif retries > 0 and again:
                retries -= 1
                await asyncio.sleep(min(error.wait or 0.0, run.seconds_left))
            elif run.ends_with_error(error):
                return
            else:
                raise
            yield ModelRetried(error.message, wasted)
    answer = run.answer
    if answer.calls or answer.text.strip():
        await run.session.aextend(answer.messages, usage=answer.usage)
    yield ModelAnswered(answer)


async def _act(run: RunState) -> Events:
    """Run the calls of the answer; without any, the run has ended."""
    answer = run.answer
    if answer.calls:
        cut = answer.stop == "length"
        async with aclosing(_run_calls(run, answer.calls, cut=cut)) as events:
            async for event in events:
                yield event
    else:
        run.end(*ENDS.get(answer.stop, ("done", "")))
    await run.save()


async def _stream_answer(
    run: RunState, view: Sequence[Any], tools: list[dict[str, Any]]
) -> AsyncGenerator[Delta, None]:
    """Yield the pieces of an answer and store it; raise an error for one that cannot be used."""
    detector, whole = RepetitionDetector(), False
    setup = run.setup
    pieces = setup.model.astream(
        view,
        tools=tools or None,
        system=setup.system,
        max_tokens=setup.max_tokens,
        timeout=run.seconds_left,
    )
    async with aclosing(pieces):
        async for piece in pieces:
            if isinstance(piece, Completion):
                run.add_answer(piece)  # an unusable answer is billed, too
                _check_answer(piece)
                run.answer, whole = piece, True
                continue
            if piece.kind == "text" and detector.repeats(piece.text):
                raise UnusableAnswer("The answer repeats itself.", code="loop", retry=True)
            yield piece
    if not whole:
        raise UnusableAnswer("The answer broke off.", code="silent", retry=True)


def _check_answer(answer: Completion) -> None:
    says = answer.calls or answer.text.strip() or answer.stop in ("refusal", "length")
    if answer.stop == "overflow":
        code, why = "overflow", "The window was full before the answer was complete."
    elif len({call.id for call in answer.calls}) < len(answer.calls):
        # Recorded, it would make every later request invalid.
        code, why = "calls", "Two calls of the answer have the same id."
    elif not says:
        code, why = "silent", "The model gave an empty answer."
    else:
        return
    error = UnusableAnswer(why, code=code, retry=code != "overflow")
    error.completion = answer
    raise error


async def _run_calls(run: RunState, calls: Sequence[ToolCall], *, cut: bool = False) -> Events:
    """Run calls and record each result as it arrives; skip the last one if it was cut off."""
    whole, loops = calls[:-1] if cut else calls, list[str]()
    for call in whole:
        yield ToolCalled(call)
    named = [(call.name, call.arguments) for call in whole]
    async with aclosing(run.setup.tools.arun_each(named, seconds=run.seconds_left)) as outputs:
        async for index, output in outputs:
            call = calls[index]
            loop = run.detector.check(call.name, call.arguments, output.text)
            if loop:
                loops.append(loop)
                note = f"[{loop}. Do something else, or say what you need.]"
                output = replace(output, text=f"{output.text}\n\n{note}")
            run.spending = run.spending.with_call(output)
            await _record(run, call, output)
            yield ToolReturned(call, output)
    if cut:
        await _record(run, calls[-1], CUT)
        yield ToolReturned(calls[-1], CUT)
    run.note_loops(loops)
    await run.remember_files(whole)


# --- recording -----------------------------------------------------------------------------


async def _record(run: RunState, call: ToolCall, output: ToolOutput) -> None:
    content = (Text(output.text or NOTES["empty"]),)
    result = ToolResult(call.id, content, call.name, is_error=not output.ok)
    numbers = await run.session.aextend(run.to_wire(Message("tool", (result,))))
    if output.pinned:
        await run.session.apin(numbers[-1])


async def _close_calls(run: RunState, calls: Sequence[ToolCall], output: ToolOutput) -> None:
    for call in calls:
        await _record(run, call, output)


async def _add_user_message(run: RunState, text: str) -> None:
    await run.session.aextend(run.to_wire(Message("user", (Text(text),))))


async def _update_overhead(run: RunState) -> list[dict[str, Any]]:
    """Return the tools in wire format, and have the session count them."""
    tools = run.setup.tools.schemas(run.setup.model.dialect)
    if tools != run.counted_tools:
        system = run.setup.system or ""
        await asyncio.to_thread(run.session.surround, system=system, tools=tools)
        run.counted_tools = tools
    return tools


def open_calls(messages: Sequence[Message]) -> list[ToolCall]:
    """Return the calls without a result, in order."""
    found = pair(messages).open
    waiting = pending_calls(messages, found)
    parts = (messages[site.message].parts[site.part] for site in found if site in waiting)
    return [part for part in parts if isinstance(part, ToolCall)]


def pinned_in(session: Session) -> Callable[[str], bool]:
    """
    Return a predicate: does a pinned tool result of the session contain a text?

    For `foldline.tools.Skills`, so that a skill the model still sees is not loaded again.

    Args:
        session: A session, such as that of an agent.
    """

    def is_pinned(text: str) -> bool:
        pinned = (message for message in session.messages if message.pinned)
        return any(text in result.text for message in pinned for result in message.results)

    return is_pinned
