"""
One run of an agent, event by event: it begins or is taken up, and then makes step after step.

A step asks the model, records the answer, runs the calls in it and records each result as it
comes. Whatever ends a run, be it a limit, an error, a cancellation or the power, the session holds
every message up to then.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from foldline.agents.account import AgentLimits
from foldline.agents.asking import Request, Talks, asked
from foldline.agents.checkpoint import loaded
from foldline.agents.events import (
    Answered,
    Called,
    Compacted,
    Event,
    Finished,
    Resumed,
    Retried,
    Returned,
)
from foldline.agents.repetition import Circles, LoopSettings
from foldline.agents.surroundings import Changes, seen
from foldline.agents.tool_calls import CANCELLED, CUT, INTERRUPTED, open_calls, result_wires
from foldline.agents.work import Work
from foldline.errors import FoldlineError, InputError, ModelError
from foldline.formats.registry import dialect
from foldline.models.completion import Completion
from foldline.session import Session
from foldline.session.answering import finished
from foldline.tools.files.root import Root
from foldline.tools.output import ToolOutput
from foldline.tools.toolset import Toolset
from foldline.values.messages import Message, Text, ToolCall

Events = AsyncGenerator[Event, None]

AGAIN: Final = frozenset({"read"})
"""Tools that have no other label are run again when a run was broken off during their call."""

CHANGED: Final = (
    "[Note by the program, not by the user: while you were stopped, this changed: {changes}. "
    "Read it again before you rely on it.]"
)


@dataclass(frozen=True, slots=True)
class Setup:
    """What an agent is made of; see `foldline.agents.Agent` for each."""

    session: Session
    model: Talks
    tools: Toolset
    system: str | None
    limits: AgentLimits
    loops: LoopSettings
    root: Root | None
    checkpoint: Path | None
    max_tokens: int | None


async def events(setup: Setup, task: str | None) -> Events:
    """
    Yield what happens until the run is over, `Finished` at last.

    Args:
        setup: The agent.
        task: What the user says; None to go on with a run that ended early.
    """
    receipts = len(setup.session.receipts)
    work = Work(setup.limits, Circles(setup.loops), receipts=receipts)
    try:
        begun = _resumed(setup, work) if task is None else _begun(setup, work, task)
        async with aclosing(begun) as first:
            async for event in first:
                yield event
        while work.result is None:
            async with aclosing(_step(setup, work)) as step:
                async for event in step:
                    yield event
    finally:
        await finished(_settled(setup, work))
    yield Finished(work.result)


async def _settled(setup: Setup, work: Work) -> None:
    """Close what is open, however the run ended; if even that fails, the next run does it."""
    with suppress(FoldlineError):
        for call in open_calls(setup.session.messages):
            await _record(setup, call, CANCELLED)
        await work.saved(setup.checkpoint, setup.session.name)


# --- how a run begins ----------------------------------------------------------------------


async def _begun(setup: Setup, work: Work, task: str) -> Events:
    if not task.strip():
        raise InputError("the task is empty")
    await _surround(setup, work)
    for call in open_calls(setup.session.messages):
        await _record(setup, call, INTERRUPTED)
    await _say(setup, task)
    work.begun = True
    await work.saved(setup.checkpoint, setup.session.name)
    for receipt in work.compacted(setup.session):
        yield Compacted(receipt)


async def _resumed(setup: Setup, work: Work) -> Events:
    session = setup.session
    if not session.messages:
        raise InputError("there is nothing to go on with", hint="Give a task.")
    await _surround(setup, work)
    changes = await _taken_up(setup, work)
    work.begun = True
    waiting = open_calls(session.messages)
    again = [call for call in waiting if setup.tools.has_only(call.name, AGAIN)]
    for call in waiting:
        if call not in again:
            await _record(setup, call, INTERRUPTED)
    if again:
        async with aclosing(_called(setup, work, again)) as called:
            async for event in called:
                yield event
    if changes:
        await _say(setup, CHANGED.format(changes=changes))
    yield Resumed(len(waiting) - len(again), len(again), changes)
    last = session.messages[-1]
    if last.role == "assistant" and not last.calls:
        work.text = last.text
        work.end("done")


async def _taken_up(setup: Setup, work: Work) -> Changes:
    """Take up what the checkpoint says, and return what changed since."""
    if setup.checkpoint is None:
        return Changes()
    found = await asyncio.to_thread(loaded, setup.checkpoint, setup.session.name)
    if found is None:
        return Changes()
    work.tally = found.tally
    if setup.root is None:
        return Changes()
    work.surroundings = await asyncio.to_thread(seen, setup.root, found.surroundings.files)
    return found.surroundings.changes(work.surroundings)


# --- one step ------------------------------------------------------------------------------


async def _step(setup: Setup, work: Work) -> Events:
    over = work.now().beyond(setup.limits)
    if over is not None:
        work.end(*over)
        return
    done: Completion | None = None
    async with aclosing(_answer(setup, work)) as answer:
        async for event in answer:
            if isinstance(event, Answered):
                done = event.completion
            yield event
    if done is None:
        return
    if done.calls:
        cut = done.stop == "length"
        async with aclosing(_called(setup, work, done.calls, cut=cut)) as called:
            async for event in called:
                yield event
    else:
        work.ended_by(done)
    await work.saved(setup.checkpoint, setup.session.name)


async def _answer(setup: Setup, work: Work) -> Events:
    """Ask the model, record its answer, and yield `Answered`; without one, the run has ended."""
    request = await _request(setup, work)
    try:
        async with aclosing(asked(setup.session, setup.model, request)) as pieces:
            async for piece in pieces:
                for receipt in work.compacted(setup.session):
                    yield Compacted(receipt)
                if isinstance(piece, Completion):
                    work.answered(piece)
                    if piece.calls or piece.text.strip():
                        await setup.session.aextend(piece.messages, usage=piece.usage)
                    yield Answered(piece)
                    continue
                if isinstance(piece, Retried) and piece.completion is not None:
                    work.answered(piece.completion)
                yield piece
    except ModelError as error:
        if not work.ended_with(error):
            raise


async def _request(setup: Setup, work: Work) -> Request:
    tools = await _surround(setup, work)
    return Request(tools, setup.system, setup.max_tokens, work.left, setup.limits.retries)


async def _called(
    setup: Setup, work: Work, calls: Sequence[ToolCall], *, cut: bool = False
) -> Events:
    """Run calls and record each result as it comes; the last one is not run if it was cut."""
    whole, reasons = calls[:-1] if cut else calls, list[str]()
    for call in whole:
        yield Called(call)
    named = [(call.name, call.arguments) for call in whole]
    async with aclosing(setup.tools.arun_each(named, seconds=work.left)) as outputs:
        async for index, output in outputs:
            call = calls[index]
            why = work.circles.after(call.name, call.arguments, output.text)
            if why:
                reasons.append(why)
                told = f"[{why}. Do something else, or say what you need.]"
                output = replace(output, text=f"{output.text}\n\n{told}")
            work.returned(output)
            await _record(setup, call, output)
            yield Returned(call, output)
    if cut:
        await _record(setup, calls[-1], CUT)
        yield Returned(calls[-1], CUT)
    work.circled(reasons)
    await work.touched(setup.root, whole)


# --- recording -----------------------------------------------------------------------------


async def _record(setup: Setup, call: ToolCall, output: ToolOutput) -> None:
    wires = result_wires(setup.model.dialect, call, output)
    numbers = await setup.session.aextend(wires)
    if output.pinned:
        await setup.session.apin(numbers[-1])


async def _say(setup: Setup, text: str) -> None:
    wires = dialect(setup.model.dialect).messages([Message("user", (Text(text),))])
    await setup.session.aextend(wires)


async def _surround(setup: Setup, work: Work) -> list[dict[str, Any]]:
    """Return the tools as they are sent, and have the session count them."""
    tools = setup.tools.schemas(setup.model.dialect)
    if tools != work.around:
        system = setup.system or ""
        await asyncio.to_thread(setup.session.surround, system=system, tools=tools)
        work.around = tools
    return tools
