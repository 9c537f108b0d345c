"""``foldline compact``: bring a conversation within a budget."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from foldline.api import Compaction, answering, compact_transcript
from foldline.cli import options
from foldline.cli.amounts import BUDGET, WINDOW
from foldline.cli.asking import Asking, asking
from foldline.cli.compacted import Compacted, kept_in_archive
from foldline.cli.numbers import Whole
from foldline.cli.output import Voice, json_text, write_bytes, write_json, write_text
from foldline.cli.reading import Opened, counter_for, open_input
from foldline.cli.tuning import parted, pinned, tuned_policy
from foldline.cli.writing import check_apart, check_output, write_whole
from foldline.core.budget import Amount, Budget
from foldline.core.config import Config
from foldline.core.strategy import Policy, forced
from foldline.engine.receipt import Receipt
from foldline.errors import CannotFit
from foldline.formats.files import file_format
from foldline.formats.registry import DIALECTS, dialect
from foldline.repair.repair import repair
from foldline.session.model_choice import sized
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
--budget is the most that the messages may take: tokens (8000, 8k) or a share of
what they take now (25%). --window is the window of the model; then nothing happens
before it fills up, unless --force says so. One of the three must be given.
"""


TRIES, GROWTH = 20, 1.1
"""How often a larger budget is tried where one is too small, and by which factor it grows."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the options of the command ask for."""

    file: str
    budget: Amount | None
    window: Amount | None
    config: Config
    model: str | None
    asking: Asking
    policy: str | None
    settings: tuple[str, ...]
    pins: tuple[str, ...]
    keep: int
    force: bool
    target_format: str | None
    out: Path | None
    receipt: Path | None
    archive: Path | None


@click.command("compact", epilog=EPILOG, short_help="Bring a conversation within a budget.")
@options.input_file
@options.from_format
@options.max_bytes
@click.option(
    "--to",
    "target_format",
    metavar="FMT",
    type=click.Choice(tuple(DIALECTS)),
    help="Write messages in this wire format; unless given, the kind of file that FILE is.",
)
@click.option("--budget", metavar="N", type=BUDGET, help="Tokens: 8000, 8k, or 25% of FILE.")
@click.option("--window", metavar="N", type=WINDOW, help="The window of the model: 200k.")
@options.policy
@click.option(
    "--set",
    "settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="A setting of the policy, or one that 'foldline config' prints.",
)
@click.option(
    "--keep",
    metavar="N",
    type=Whole(0),
    default=0,
    help="Pin the newest N messages.",
)
@click.option(
    "--pin", "pins", metavar="N|HANDLE", multiple=True, help="Pin this message (from 0, or -1)."
)
@click.option("--force", is_flag=True, help="Compact although it is not due.")
@asking
@options.conversation
@options.model
@click.option(
    "-o",
    "--output",
    "out",
    metavar="OUT",
    shell_complete=options.any_file,
    help="Where to write; '-' or nothing is stdout.",
)
@click.option(
    "--receipt", metavar="FILE", type=click.Path(path_type=Path), help="Write the receipt as JSON."
)
@options.archive
@click.option("--no-archive", is_flag=True, help="Do not keep what is removed for recall.")
@options.voice
def command(
    file: str,
    source_format: str | None,
    max_bytes: int | None,
    conversation: str | None,
    model: str | None,
    archive_path: Path | None,
    no_archive: bool,
    out: str | None,
    **rest: Any,
) -> None:
    """
    Bring a conversation within a budget, and keep what is removed for recall.

    FILE is a transcript of an agent or provider messages as JSON; "-" is stdin. It is never
    changed. The smaller conversation goes to stdout or OUT, in the format of FILE, and a receipt
    for people to stderr.
    """
    voice = options.voiced(rest)
    who = Asking.taken(rest)
    changes, rest["settings"] = parted(rest["settings"])
    if changes and rest["policy"] is not None:
        changes["policy"] = rest["policy"].replace("-", "_")
    wanted = Wanted(
        file=file,
        config=who.configured(load(changes).config),
        model=model,
        asking=who,
        out=None if out in (None, "-") else Path(str(out)),
        archive=None if no_archive else options.archive_file(archive_path),
        **rest,
    )
    _check(wanted)
    opened = open_input(file, source_format, conversation, voice, max_bytes)
    counter = counter_for(opened.transcript, model, voice)
    with voice.working("Compacting", long=opened.long):
        result = _compact(wanted, opened, counter)
    content = _written(wanted, opened, result)
    done = kept_in_archive(Compacted(opened, result, counter), wanted.archive)
    _deliver(wanted, done, content, voice)


def _check(wanted: Wanted) -> None:
    """Refuse what cannot work before anything is read."""
    if wanted.budget is not None and wanted.window is not None:
        words = "Give --budget or --window, not both."
        raise click.UsageError(words, click.get_current_context())
    if wanted.budget is None and wanted.window is None and not wanted.force:
        words = "Say how small: --budget 8k (tokens), --budget 25%, --window 200k, or --force."
        raise click.UsageError(words, click.get_current_context())
    tuned_policy(wanted.policy, wanted.settings, wanted.config)
    for path, what in ((wanted.out, "output"), (wanted.receipt, "receipt")):
        if path is not None:
            check_output(path, wanted.file, what)
    if wanted.out is not None and wanted.receipt is not None:
        check_apart(wanted.receipt, wanted.out, "The receipt", "the output")
    for path in (wanted.out, wanted.receipt):
        if path is not None and wanted.archive is not None:
            check_apart(path, wanted.archive, "The output", "the archive")


def _compact(wanted: Wanted, opened: Opened, counter: TokenCounter) -> Compaction[None]:
    """
    Compact the conversation.

    Raises:
        CannotFit: What must stay takes more than the budget.
    """
    transcript = pinned(opened.transcript, wanted.pins, wanted.keep)
    budget = _budget(wanted, transcript.system, transcript.tools, opened, counter)
    policy = tuned_policy(wanted.policy, wanted.settings, wanted.config)
    if wanted.force and not budget.fixed:
        policy = forced(policy)
        budget = budget.below(counter.messages(transcript.messages))
    with answering(None, wanted.config, wanted.model or "") as who:
        result = compact_transcript(
            transcript, counter, budget, policy, who, wanted.asking.focus, wanted.config
        )
    receipt = result.receipt
    if receipt.status == "failed":
        raise CannotFit(
            f"{opened.name} cannot be brought within the budget: {receipt.reason}.",
            needed=_enough(transcript, counter, policy, receipt),
            budget=receipt.budget,
        )
    return result


def _enough(
    transcript: Transcript, counter: TokenCounter, policy: Policy, receipt: Receipt
) -> int:
    """Return a budget that does; what must stay may take more of a larger one, so it is tried."""
    needed = _needed(receipt.reason, receipt.budget)
    for _ in range(TRIES):
        again = compact_transcript(transcript, counter, Budget.of_tokens(needed), policy).receipt
        if again.status != "failed":
            return needed
        needed = max(_needed(again.reason, needed), round(needed * GROWTH))
    return receipt.tokens_before


def _needed(reason: str, budget: int) -> int:
    """Return how many tokens would do; a receipt says so in its reason only."""
    found = re.search(r"takes ([\d,]+) tokens", reason)
    return int(found[1].replace(",", "")) if found else budget + 1


def _budget(
    wanted: Wanted, system: str, tools: tuple[Any, ...], opened: Opened, counter: TokenCounter
) -> Budget:
    if wanted.budget is not None:
        return Budget.of_tokens(wanted.budget.of(counter.messages(opened.transcript.messages)))
    overhead = counter.overhead(system, tools)
    window = None if wanted.window is None else wanted.window.tokens
    config = sized(wanted.config, wanted.model or "", window=window, output=None)
    return config.budget(window, overhead=overhead)


def _written(wanted: Wanted, opened: Opened, result: Compaction[None]) -> bytes:
    """Write the conversation, in the format of the file or in the one that was asked for."""
    changed = result.receipt.status == "compacted"
    if wanted.target_format is not None:
        # Damage that one provider forgives another one rejects.
        shown = result.shown.messages
        mended = apply(shown, repair(shown, wanted.target_format))
        wire = dialect(wanted.target_format).encode(result.shown.with_messages(mended))
        return (json_text(wire) + "\n").encode()
    recording = opened.recording
    if changed:
        recording = recording.with_transcript(opened.index, result.shown)
    return file_format(recording.format).encode(recording)


def _deliver(wanted: Wanted, done: Compacted, content: bytes, voice: Voice) -> None:
    """Put the result where it was asked for, and tell about it."""
    if wanted.receipt is not None:
        receipt = json_text(done.receipt.to_dict()) + "\n"
        write_whole(wanted.receipt, receipt.encode(), wanted.file)
    if wanted.out is not None:
        write_whole(wanted.out, content, wanted.file)
    if voice.json:
        shown = None if wanted.out is not None else content
        write_json("compact/1", done.to_dict(wanted.target_format, wanted.out, shown))
    elif wanted.out is None and sys.stdout.isatty():
        write_text(content.decode("utf-8", "replace"))
    elif wanted.out is None:
        write_bytes(content)
    if voice.talks:
        from foldline.cli.receipt_panel import show

        show(done, wanted.out)
