"""
Every promise on real transcripts.

By default a fixed sample; with ``-m slow`` every conversation of every file, of the largest ones
the current conversation only.
"""

from hashlib import blake2b

import pytest
from tests.corpus import ROOT, corpus_files, requires_corpus

from foldline.api import compact_transcript
from foldline.core.budget import Budget
from foldline.engine.policies import POLICIES, policy
from foldline.errors import FoldlineError
from foldline.formats.files import read_file
from foldline.testing.checks import check_transcript
from foldline.testing.promises import check_accepted
from foldline.tokens.estimate import EstimatedCounter
from foldline.values.tokens import TokenCounter

pytestmark = [pytest.mark.corpus, requires_corpus]

COUNTER = EstimatedCounter("o200k")
SHARES = (0.05, 0.1, 0.2, 0.5)
BIG = 3_000_000
"""Bytes from which only the current conversation of a file is compacted."""

ONE_IN = 20
TARGETS = ("openai-chat", "anthropic")


def _drawn(path, one_in):
    name = str(path.relative_to(ROOT)).encode()
    return int.from_bytes(blake2b(name, digest_size=4).digest(), "big") % one_in == 0


REDACTED = {"codex-small.jsonl.gz"}
"""Files in which whoever published them replaced all ids by one placeholder."""

FILES = [path for path in corpus_files() if path.name not in REDACTED]
SAMPLE = [path for path in FILES if path.stat().st_size < 400_000 and _drawn(path, ONE_IN)]


def transcripts(path):
    """Return the conversations of a file; none where it is no transcript."""
    try:
        recording = read_file(path)
    except FoldlineError:
        return []
    big = path.stat().st_size > BIG
    told = [recording.current] if big else recording.conversations
    return [conversation.transcript for conversation in told]


def check(transcript, share, name):
    counter = TokenCounter(COUNTER)
    tokens = counter.messages(transcript.messages)
    budget = Budget.of_tokens(max(1, round(share * tokens)))
    result = compact_transcript(transcript, counter, budget, policy(name))
    check_transcript(result, counter)
    return result


def sweep(path, shares, names):
    broken = []
    for number, transcript in enumerate(transcripts(path)):
        for share in shares:
            for name in names:
                try:
                    result = check(transcript, share, name)
                    if result.receipt.status == "compacted":
                        for target in TARGETS:
                            check_accepted(result.shown, target)
                except AssertionError as error:
                    broken.append(f"conversation {number} at {share:.0%} by {name}: {error}")
    assert not broken, "\n".join(broken[:5])


@pytest.mark.parametrize("path", SAMPLE, ids=lambda path: f"{path.parent.name}/{path.name}"[:80])
def test_a_sample_of_real_transcripts_keeps_every_promise(path):
    sweep(path, SHARES, ["default"])


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}"[:80])
def test_every_real_transcript_keeps_every_promise(path):
    sweep(path, SHARES, ["default"])


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_every_policy_keeps_every_promise_on_real_transcripts(name):
    for path in SAMPLE[::4]:
        sweep(path, (0.1, 0.5), [name])
