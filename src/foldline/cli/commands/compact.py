"""``foldline compact``: compact a conversation to a budget."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import click

from foldline.api import Compaction, answering, compact_transcript
from foldline.cli import options, stores
from foldline.cli.commands.receipt import CompactionResult, keep_in_archive, show
from foldline.cli.options import BUDGET, WINDOW, IntegerType
from foldline.cli.output import Output, json_text, write_bytes, write_json, write_text
from foldline.cli.policy_options import (
    build_policy,
    configure_summarizer,
    pin_messages,
    split_settings,
    summarizer_options,
)
from foldline.cli.reading import Input, counter_for, open_input
from foldline.cli.writing import check_apart, check_output, write_whole
from foldline.core.budget import Amount, Budget
from foldline.core.config import Config
from foldline.core.strategy import Policy, force_policy
from foldline.engine.receipt import Receipt
from foldline.errors import CannotFit
from foldline.formats.files import file_format
from foldline.formats.registry import dialect
from foldline.frozen import frozen
from foldline.repair.repair import repair
from foldline.session.model_choice import resolve_window
from foldline.settings import load
from foldline.values.edits import apply
from foldline.values.tokens import TokenCounter
from foldline.values.transcript import Transcript

EPILOG = """\b
Examples:
  foldline compact session.jsonl --budget 25% -o smaller.jsonl
  foldline compact request.json --budget 8k > smaller.json
  foldline compact session.jsonl --budget 20k --to openai-chat | jq length
  foldline compact session.jsonl --window 200k -o next.jsonl
  foldline compact session.jsonl --budget 8k --summarizer anthropic:claude-haiku-4-5

\b
--budget is the maximum size of the messages: tokens (8000, 8k) or a share of
their current size (25%). --window is the window of the model; then nothing happens
before it fills up, unless --force says so. One of the three must be given.
"""


TRIES, GROWTH = 20, 1.1
"""Number of larger budgets to try if one is too small, and the factor between them."""

CLOSE: Final = 0.01
"""Fraction of the smallest sufficient budget within which no smaller one is searched."""


@frozen
class CompactRequest:
    """The parsed options of the command; ``out`` is None for stdout."""

    file: str
    source_format: str | None
    max_bytes: int | None
    conversation: str | None
    budget: Amount | None
    window: Amount | None
    config: Config
    model: str | None
    focus: str
    ladder: Policy
    pins: tuple[str, ...]
    keep: int
    force: bool
    target_format: str | None
    out: Path | None
    receipt: Path | None
    archive: Path | None


@click.command("compact", epilog=EPILOG)
@options.input_file
@options.from_format
@options.max_bytes
@click.option(
    "--to",
    "target_format",
    metavar="FMT",
    type=options.FORMAT,
    help="Write messages in this wire format (default: the format of FILE).",
)
@options.number("--budget", BUDGET, None, "Tokens: 8000, 8k, or 25% of FILE.")
@options.number("--window", WINDOW, None, "The window of the model: 200k.")
@options.policy
@click.option(
    "--set",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="A setting of the policy, or one that 'foldline config' prints.",
)
@options.number("--keep", IntegerType(0), 0, "Pin the newest N messages.")
@click.option(
    "--pin", "pins", metavar="N|HANDLE", multiple=True, help="Pin this message (from 0, or -1)."
)
@click.option("--force", is_flag=True, help="Compact even if it is not due.")
@summarizer_options
@options.conversation
@options.model
@options.output_file("Where to write; '-' or nothing is stdout.")
@click.option(
    "--receipt", metavar="FILE", type=click.Path(path_type=Path), help="Write the receipt as JSON."
)
@options.archive
@click.option("--no-archive", is_flag=True, help="Do not archive removed content for recall.")
@options.output
def command(output: Output, **given: Any) -> None:
    """
    Compact a conversation to a budget, and keep removed content for recall.

    FILE is an agent transcript, or provider messages as JSON; "-" is stdin. It is never
    changed. The smaller conversation goes to stdout or OUT, in the format of FILE; a readable
    receipt goes to stderr.
    """
    request = _read_options(**given)
    _check(request)
    opened = open_input(
        request.file, request.source_format, request.conversation, output, request.max_bytes
    )
    counter = counter_for(opened.transcript, request.model, output)
    with output.working("Compacting", long=opened.long):
        result = _compact(request, opened, counter)
    content = _encode(request, opened, result)
    done = keep_in_archive(CompactionResult(opened, result, counter), request.archive)
    _deliver(request, done, content, output)


def _read_options(
    *,
    settings: tuple[str, ...],
    policy: str | None,
    summarizer: str | None,
    template: str | None,
    usd: float | None,
    out: Path | None,
    archive_path: Path | None,
    no_archive: bool,
    **rest: Any,
) -> CompactRequest:
    if rest["budget"] and rest["window"]:
        options.refuse("Give --budget or --window, not both.")
    if not (rest["budget"] or rest["window"] or rest["force"]):
        options.refuse(
            "Give a target size: --budget 8k (tokens), --budget 25%, --window 200k, or --force."
        )
    changes, arguments = split_settings(settings)
    if changes and policy is not None:
        changes["policy"] = policy.replace("-", "_")
    config = configure_summarizer(load(changes).config, summarizer, template, usd)
    return CompactRequest(
        config=config,
        ladder=build_policy(policy, arguments, config),
        out=None if out == options.STDOUT else out,
        archive=None if no_archive else stores.archive_file(archive_path),
        **rest,
    )


def _check(request: CompactRequest) -> None:
    """Check the options before anything is read."""
    for path, what in ((request.out, "output"), (request.receipt, "receipt")):
        if path is not None:
            check_output(path, request.file, what)
    if request.out is not None and request.receipt is not None:
        check_apart(request.receipt, request.out, "The receipt", "the output")
    for path in (request.out, request.receipt):
        if path is not None and request.archive is not None:
            check_apart(path, request.archive, "The output", "the archive")


def _compact(request: CompactRequest, opened: Input, counter: TokenCounter) -> Compaction[None]:
    """
    Compact the conversation.

    Raises:
        CannotFit: The content that must stay exceeds the budget.
    """
    transcript = pin_messages(opened.transcript, request.pins, request.keep)
    budget, policy = _budget(request, transcript, counter), request.ladder
    if request.force and not budget.fixed:
        policy = force_policy(policy)
        budget = budget.below(counter.messages(transcript.messages))
    with answering(None, request.config, request.model or "") as summarizer:
        result = compact_transcript(
            transcript, counter, budget, policy, summarizer, request.focus, request.config
        )
    receipt = result.receipt
    if receipt.status == "failed":
        raise CannotFit(
            f"{opened.name} cannot be compacted to the budget: {receipt.reason}.",
            needed=_find_budget(transcript, counter, policy, receipt),
            budget=receipt.budget,
        )
    return result


def _find_budget(
    transcript: Transcript, counter: TokenCounter, policy: Policy, receipt: Receipt
) -> int:
    """
    Return a sufficient budget, about the smallest.

    What must stay may take more of a larger budget, so each is tried: larger ones until one is
    sufficient, then those between it and the last that was not.
    """

    def tried(budget: int) -> Receipt:
        return compact_transcript(transcript, counter, Budget.of_tokens(budget), policy).receipt

    failed, needed = receipt.budget, receipt.needed or receipt.budget + 1
    for _ in range(TRIES):
        again = tried(needed)
        if again.status != "failed":
            break
        failed, needed = needed, max(again.needed, needed + 1, round(needed * GROWTH))
    else:
        return receipt.tokens_before
    while needed - failed > max(1, needed * CLOSE):
        middle = (failed + needed) // 2
        if tried(middle).status == "failed":
            failed = middle
        else:
            needed = middle
    return needed


def _budget(request: CompactRequest, transcript: Transcript, counter: TokenCounter) -> Budget:
    if request.budget is not None:
        whole = counter.messages(transcript.messages) if request.budget.share else 0
        return Budget.of_tokens(request.budget.of(whole))
    window = None if request.window is None else request.window.tokens
    overhead = counter.overhead(transcript.system, transcript.tools)
    config = resolve_window(request.config, request.model or "", window=window, output=None)
    return config.budget(window, overhead=overhead)


def _encode(request: CompactRequest, opened: Input, result: Compaction[None]) -> bytes:
    """Encode the conversation in the requested format, or in that of the file."""
    changed = result.receipt.status == "compacted"
    if request.target_format is not None:
        # Damage that one provider tolerates may be rejected by another.
        messages = result.shown.messages
        repaired = apply(messages, repair(messages, request.target_format))
        wire = dialect(request.target_format).encode(result.shown.with_messages(repaired))
        return (json_text(wire) + "\n").encode()
    recording = opened.recording
    if changed:
        recording = recording.with_transcript(opened.index, result.shown)
    return file_format(recording.format).encode(recording)


def _deliver(
    request: CompactRequest, done: CompactionResult, content: bytes, output: Output
) -> None:
    """Write the result to its destination, and report it."""
    if request.receipt is not None:
        receipt = json_text(done.receipt.to_dict()) + "\n"
        write_whole(request.receipt, receipt.encode(), request.file)
    if request.out is not None:
        write_whole(request.out, content, request.file)
    if output.json:
        printed = None if request.out is not None else content
        write_json("compact/1", done.to_dict(request.target_format, request.out, printed))
    elif request.out is None and sys.stdout.isatty():
        write_text(content.decode("utf-8", "replace"))
    elif request.out is None:
        write_bytes(content)
    if not output.quiet:
        show(done, request.out)
