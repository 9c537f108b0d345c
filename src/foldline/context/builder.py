"""
The context builder: gather, select, structure, compress.

    builder = ContextBuilder(config=ContextConfig(max_tokens=3000))
    context = builder.build(user_query="…", conversation_history=[…], system_instructions="…")
    print(context, context.report.score, context.report.advice)
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NoReturn, Self

from foldline.ask_runner import ModelLike, arun_ask, drive_in_threads, reader_of
from foldline.concurrency import start_thread
from foldline.context.assembly import Assembled, AssemblyTask, Stages, assemble
from foldline.context.gathering import Gathered, SourceReport
from foldline.context.packets import ContextPacket
from foldline.context.quality import QualityReport, evaluate
from foldline.context.selection import LeftOut
from foldline.context.settings import ContextConfig
from foldline.context.sources import (
    ContextSource,
    history,
    knowledge_source,
    memory_source,
    source,
)
from foldline.context.structure import (
    ContextFrame,
    ContextItem,
    ContextSection,
    as_messages,
    shared_prefix,
)
from foldline.core.limits import Limits, within
from foldline.errors import InputError
from foldline.retrieval.embedding import Embedder
from foldline.tokens.choose import choose_counter
from foldline.values.tokens import TextCounter, TokenCounter

SUMMARIES = Limits(attempts=6, seconds=90.0)
"""Limits on all summaries of one build."""

UNKNOWN_WINDOW: Final = 32_000
"""Default window of a model, in tokens."""


class Context(str):
    """
    A built context. It is a string: print it, send it, put it into a message.

    ``sections`` are in the order of the text; ``left_out`` are the packets that
    are not included, with reasons; ``sources`` report on each source. ``report`` rates the
    quality, with evidence and advice. ``tokens`` is the size of the text, ``shared_tokens`` the
    size of the prefix shared with the previous build, which a prompt cache can hold.
    """

    __slots__ = (
        "frame", "left_out", "query", "report", "sections", "shared_tokens", "sources", "tokens",
    )  # fmt: skip
    query: str
    frame: ContextFrame
    sections: tuple[ContextSection, ...]
    left_out: tuple[LeftOut, ...]
    sources: tuple[SourceReport, ...]
    report: QualityReport
    tokens: int
    shared_tokens: int

    def __new__(
        cls,
        text: str,
        *,
        query: str,
        frame: ContextFrame,
        sections: tuple[ContextSection, ...],
        left_out: tuple[LeftOut, ...],
        sources: tuple[SourceReport, ...],
        report: QualityReport,
        tokens: int,
        shared_tokens: int,
    ) -> Self:
        """Make a context from its text and parts; see the class."""
        made = super().__new__(cls, text)
        parts = {
            "query": query,
            "frame": frame,
            "sections": sections,
            "left_out": left_out,
            "sources": sources,
            "report": report,
            "tokens": tokens,
            "shared_tokens": shared_tokens,
        }
        for name, part in parts.items():
            object.__setattr__(made, name, part)
        return made

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a context is immutable; {name!r} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a context is immutable; {name!r} cannot be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        parts = {name: getattr(self, name) for name in Context.__slots__}
        return (partial(type(self), str(self), **parts), ())

    @property
    def text(self) -> str:
        """The text as a plain string."""
        return str(self)

    @property
    def messages(self) -> list[dict[str, str]]:
        """The context as chat messages: a constant system message, and a user message."""
        return as_messages(self.sections, self.frame)

    @property
    def packets(self) -> tuple[ContextPacket, ...]:
        """The included packets, as given, in the order of the text."""
        return tuple(item.packet for section in self.sections for item in section.items)

    def explain(self) -> list[dict[str, Any]]:
        """Return the section of every packet, and why it is in or out."""
        inside = [
            _row(item, section.place, item.tokens, item.whole, item.method)
            | {"why": item.note or ("mandatory" if item.packet.mandatory else "chosen")}
            for section in self.sections
            for item in section.items
        ]
        outside = [
            _row(one, None, 0, one.tokens, "left out")
            | {"why": f"repeats {one.other}" if one.other else one.reason}
            for one in self.left_out
        ]
        return inside + outside


def _row(
    one: ContextItem | LeftOut, place: str | None, tokens: int, whole: int, method: str
) -> dict[str, Any]:
    return {
        "packet": one.packet.label,
        "section": place,
        "tokens": tokens,
        "whole": whole,
        "relevance": round(one.relevance, 4),
        "score": round(one.score, 4),
        "method": method,
    }


class ContextBuilder:
    """
    Builds the contexts of successive calls; use one builder per conversation.

    Args:
        memory_tool: A memory tool or store to search for the query.
        rag_tool: A knowledge tool or store to search for the query.
        config: The settings.
        sources: Further sources; `foldline.context.sources.source` lists what can be one.
        counter: Counts texts; default: the best available.
        model: Summarizes long prose: a model, or a function of an `Ask`. None disables summaries.
        embedder: Adds semantic relevance; None uses words only.
        clock: Returns the time, in seconds since 1970.
        stages: Replacements of the default stages.
    """

    def __init__(
        self,
        memory_tool: Any = None,
        rag_tool: Any = None,
        config: ContextConfig | None = None,
        *,
        sources: Iterable[Any] = (),
        counter: TextCounter | None = None,
        model: ModelLike | None = None,
        embedder: Embedder | None = None,
        clock: Callable[[], float] = time.time,
        stages: Stages | None = None,
    ) -> None:
        self.config = config or ContextConfig()
        self._sources: list[ContextSource] = []
        if memory_tool is not None:
            self._sources.append(memory_source(memory_tool))
        if rag_tool is not None:
            self._sources.append(knowledge_source(rag_tool))
        self._sources += map(source, sources)
        self._counter = TokenCounter(counter or choose_counter())
        self._model = model
        self._embedder = embedder
        self._clock = clock
        self._stages = stages or Stages()
        self._former_text = ""
        self._former_short: Mapping[str, str] = {}

    def build(
        self,
        user_query: str,
        conversation_history: Iterable[Any] | None = None,
        system_instructions: str | None = None,
        custom_packets: Iterable[ContextPacket] | None = None,
        *,
        output: str | None = None,
    ) -> Context:
        """
        Build a context.

        Args:
            user_query: The question.
            conversation_history: Earlier messages, oldest first; see
                `foldline.context.sources.history`.
            system_instructions: Role and rules; always included whole.
            custom_packets: Other pieces of information.
            output: The kind of answer; default: an accurate one.

        Returns:
            The text, with its packets, the packets left out, and a quality report.

        Raises:
            CannotFit: What is mandatory is larger than the budget; the error lists it.
            InputError: The query is empty, or a message or packet is invalid.
        """
        made = self.abuild(
            user_query, conversation_history, system_instructions, custom_packets, output=output
        )
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(made)
        # This thread already runs an event loop: the build gets its own in another thread.
        return start_thread(lambda: asyncio.run(made), "foldline-context").result()

    async def abuild(
        self,
        user_query: str,
        conversation_history: Iterable[Any] | None = None,
        system_instructions: str | None = None,
        custom_packets: Iterable[ContextPacket] | None = None,
        *,
        output: str | None = None,
    ) -> Context:
        """Build a context without blocking; see `build`. It can be cancelled."""
        query = _check_query(user_query)
        frame = ContextFrame.of(self.config, query)
        given = (*history(conversation_history or ()), *_packets(custom_packets or ()))
        gathered = await self._stages.gather(
            query, self._sources, seconds=self.config.source_seconds
        )
        task = AssemblyTask(
            query,
            _fixed_packets(query, system_instructions, output, frame),
            (*given, *gathered.packets),
            self.config,
            frame,
            self._counter,
            self._clock(),
            self._embedder,
            reader_of(self._model, UNKNOWN_WINDOW),
            self._former_short,
            self._stages,
        )
        steps = within(assemble(task), SUMMARIES, task.reader, self._counter.text)
        made, _ = await drive_in_threads(steps, lambda ask: arun_ask(self._model, ask))
        return await asyncio.to_thread(self._context, task, made, gathered)

    def _context(self, task: AssemblyTask, made: Assembled, gathered: Gathered) -> Context:
        shared = made.text[: shared_prefix(self._former_text, made.text)]
        self._former_text, self._former_short = made.text, made.short
        report = evaluate(
            task.query,
            made.sections,
            made.left_out,
            tokens=made.tokens,
            max_tokens=self.config.max_tokens,
            sources=gathered.sources,
            lang=task.frame.lang,
        )
        return Context(
            made.text,
            query=task.query,
            frame=task.frame,
            sections=made.sections,
            left_out=made.left_out,
            sources=gathered.sources,
            report=report,
            tokens=made.tokens,
            shared_tokens=self._counter.text(shared),
        )


def _check_query(query: Any) -> str:
    if not isinstance(query, str) or not query.strip():
        raise InputError(
            "there is no question", field="user_query", hint="Give the question to build for."
        )
    return query


def _packets(given: Iterable[Any]) -> Sequence[ContextPacket]:
    packets = list(given)
    for index, packet in enumerate(packets):
        if not isinstance(packet, ContextPacket):
            raise InputError(
                f"packet {index} is a {type(packet).__name__}",
                field="custom_packets",
                hint="Give ContextPacket values; other objects can be a source.",
            )
    return packets


def _fixed_packets(
    query: str, instructions: str | None, output: str | None, frame: ContextFrame
) -> tuple[ContextPacket, ...]:
    """Return the packets always included: rules, question, and the kind of answer."""
    output_rules = f"{frame.words.output if output is None else output}\n{frame.words.data}"
    texts = {
        "system_instruction": instructions or "",
        "task": query,
        "output": output_rules.strip(),
    }
    return tuple(
        ContextPacket(text, relevance_score=1.0, metadata={"type": kind}, mandatory=True)
        for kind, text in texts.items()
        if text.strip()
    )
