"""
Every promise on real transcripts.

The current conversation of a file is compacted to every second share of its tokens, to all of them
at night; the others, if a file has more, to one share each, in turn.
"""

from hashlib import blake2b

import pytest
from tests.corpus import ROOT, corpus_files, requires_corpus
from tests.nightly import NIGHTLY

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
ONE_IN = 20
TARGETS = ("openai-chat", "anthropic")


def _drawn(path, one_in):
    name = str(path.relative_to(ROOT)).encode()
    return int.from_bytes(blake2b(name, digest_size=4).digest(), "big") % one_in == 0


REDACTED = {"codex-small.jsonl.gz"}
"""Files whose publisher replaced all ids by one placeholder."""

FILES = [path for path in corpus_files() if path.name not in REDACTED]
SAMPLE = [path for path in FILES if path.stat().st_size < 400_000 and _drawn(path, ONE_IN)][::4]


def check(transcript, counter, share, name):
    tokens = counter.messages(transcript.messages)
    budget = Budget.of_tokens(max(1, round(share * tokens)))
    result = compact_transcript(transcript, counter, budget, policy(name))
    check_transcript(result, counter)
    return result


def broken(path, name, current, others=SHARES):
    """Return the promises that a file breaks; none if it is not a transcript."""
    try:
        recording = read_file(path)
    except FoldlineError:
        return
    counter = TokenCounter(COUNTER)
    for number, conversation in enumerate(recording.conversations):
        last = conversation is recording.current
        for share in current if last else others[number % len(others) :][:1]:
            try:
                result = check(conversation.transcript, counter, share, name)
                if result.receipt.status == "compacted":
                    for target in TARGETS:
                        check_accepted(result.shown, target)
            except AssertionError as error:
                yield f"{path.name}, conversation {number} at {share:.0%} by {name}: {error}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}"[:80])
def test_every_real_transcript_keeps_every_promise(path):
    current = SHARES if NIGHTLY else SHARES[FILES.index(path) % 2 :: 2]
    assert list(broken(path, "default", current)) == []


@pytest.mark.parametrize("name", sorted(POLICIES.keys() - {"default"}))
def test_every_policy_keeps_every_promise_on_real_transcripts(name):
    found = [one for path in SAMPLE for one in broken(path, name, (0.1, 0.5), (0.1, 0.5))]
    assert found == []
