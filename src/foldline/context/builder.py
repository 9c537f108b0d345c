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
"""What the summaries of one build may take together."""

UNKNOWN_WINDOW: Final = 32_000
"""The window of a model that does not name its own, in tokens."""


class Context(str):
    """
    A built context. It is its own text: print it, send it, put it into a message.

    ``sections`` stand in the order in which they are written; ``left_out`` are the packets that
    are not in, each with the reason, and ``sources`` say how each source did. ``report`` says how
    good it is, with evidence and advice. ``tokens`` is what the text takes, ``shared_tokens`` how
    many at the beginning are those of the build before: what a prompt cache can hold.
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
        """Make a context of its text and of what it is made of; see the class."""
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
        raise AttributeError(f"a context does not change; {name!r} cannot be set")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a context does not change; {name!r} cannot be deleted")

    def __reduce__(self) -> tuple[Any, ...]:
        parts = {name: getattr(self, name) for name in Context.__slots__}
        return (partial(type(self), str(self), **parts), ())

    @property
    def text(self) -> str:
        """The text as a plain string."""
        return str(self)

    @property
    def messages(self) -> list[dict[str, str]]:
        """The same as chat messages: a system message that never changes, and the user's."""
        return as_messages(self.sections, self.frame)

    @property
    def packets(self) -> tuple[ContextPacket, ...]:
        """The packets that are in, as they were given, in the order in which they stand."""
        return tuple(item.packet for section in self.sections for item in section.items)

    def explain(self) -> list[dict[str, Any]]:
        """Return for every packet where it went, and why."""
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
    Builds the context of one call after the other; one builder for each conversation.

    Args:
        memory_tool: A memory tool or store that is searched for the query.
        rag_tool: A knowledge tool or store that is searched for the query.
        config: The numbers.
        sources: Further sources: see `foldline.context.sources.source` for what can be one.
        counter: What counts a text; default the best at hand.
        model: Summarizes long prose: a model, or a function of an `Ask`. None goes without.
        embedder: Judges meaning besides words; None goes by words.
        clock: Returns the time, in seconds since 1970.
        stages: Other stages than the usual ones.
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
            user_query: What is asked.
            conversation_history: The messages before, the oldest first; see
                `foldline.context.sources.history`.
            system_instructions: Role and rules; always in, whole.
            custom_packets: Other pieces of information.
            output: What kind of answer is wanted; default an accurate one.

        Returns:
            The text, which also knows its packets, what was left out, and how good it is.

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
        # A loop runs in this thread already: the build gets one of its own, beside it.
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
        """Build a context without blocking; see `build`. A cancellation ends it."""
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
            "there is no question", field="user_query", hint="Say what the context is for."
        )
    return query


def _packets(given: Iterable[Any]) -> Sequence[ContextPacket]:
    packets = list(given)
    for index, packet in enumerate(packets):
        if not isinstance(packet, ContextPacket):
            raise InputError(
                f"packet {index} is a {type(packet).__name__}",
                field="custom_packets",
                hint="Give ContextPacket values; other things can be a source.",
            )
    return packets


def _fixed_packets(
    query: str, instructions: str | None, output: str | None, frame: ContextFrame
) -> tuple[ContextPacket, ...]:
    """Return what is always in: rules, question, and what is wanted."""
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
