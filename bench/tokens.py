"""
Measure the error of the token estimate, by kind of text and vocabulary, and its speed.

    python bench/tokens.py [ROOT...] [--quick] [--json FILE]

Truth is the real vocabularies of splintr-rs. Every ROOT is a folder whose children are sources of
text; without one, the standard library, the packages, the documentation and the translations
installed on this machine are used. Only sources on the "test" side of `token_corpus` are read,
which no fit has seen. With `--transcripts DIR`, strings found in recorded agent sessions are
judged too; with `--claude FILE`, Claude, by its last public vocabulary times what newer models
report (see `fit_tokens.py`).
"""

import argparse
import gzip
import json
import random
import statistics
import sysconfig
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import splintr

import token_corpus
from foldline.evaluation.sections import Goal, Plot, ReportSection, ReportTable, Series
from foldline.tokens.estimate import estimate
from foldline.tokens.splintr import VOCABULARIES as COUNTED
from part import finish, options_of

VOCABULARIES = {**COUNTED, "modernbert": "modernbert", "whisper": "whisper"}
QUICK = ("o200k", "cl100k", "deepseek", "qwen")
SHOWN = ("o200k", "cl100k", "llama", "deepseek", "qwen", "gemma")
"""The families of the plot."""

CLAUDE_FACTOR = 1.12
FREE = {"other scripts", "transcripts"}
"""Kinds that are reported without a goal."""

ALL, P95 = "all kinds", "95th percentile of the error, %"
LEAST_TOKENS, LEAST_PIECES, TOGETHER = 50, 12, 20
MOST_ONE, MOST_TOGETHER = 20.0, 6.0  # percent
MEGABYTE = 1_000_000

Pairs = list[tuple[int, float]]  # estimate and truth, in tokens
Truth = Callable[[str], float]


def main() -> None:
    parser = options_of(__doc__)
    parser.add_argument("roots", nargs="*", type=Path, help="folders with sources of text")
    parser.add_argument("--transcripts", type=Path, help="folder of recorded agent sessions")
    parser.add_argument("--claude", type=Path, help="tokenizer.json of Claude 2")
    parser.add_argument("--per-kind", type=int, default=150, metavar="PIECES")
    options = parser.parse_args()
    finish(section(options), options)


def section(options: argparse.Namespace) -> ReportSection:
    """Measure the estimate against every vocabulary, on every kind of text found."""
    pieces = token_corpus.pieces(
        options.roots or _installed(), "test", 40 if options.quick else options.per_kind
    )
    if options.transcripts:
        pieces["transcripts"] = list(transcript_pieces(options.transcripts))
    truths = truth_counters(QUICK if options.quick else tuple(VOCABULARIES), options.claude)
    judged = {
        family: {
            kind: [(estimate(text, family), truth(text)) for text in texts]
            for kind, texts in pieces.items()
            if len(texts) >= LEAST_PIECES
        }
        for family, truth in truths.items()
    }
    kinds = [kind for kind in pieces if len(pieces[kind]) >= LEAST_PIECES]
    with_all = {family: {**found, ALL: _all(found)} for family, found in judged.items()}
    return ReportSection(
        name="tokens",
        title="Token counts without a vocabulary",
        text=(
            "Where no vocabulary is installed, or none is public, tokens are estimated. This is "
            "how far the estimate is from the real vocabularies, on text found on this machine "
            f"that the fit has not read: pieces of 60 to 8,000 characters above {LEAST_TOKENS} "
            "tokens. An error is a share of the true count."
        ),
        tables=(
            _table(f"One text, {P95}", [*kinds, ALL], with_all, one_error),
            _table("One text, median of the error, %", [*kinds, ALL], with_all, usual_error),
            _table("One text, median of the signed error, %", [*kinds, ALL], with_all, bias),
            _table(f"{TOGETHER} texts together, {P95}", [*kinds, ALL], with_all, sum_error),
            _speeds(pieces, truths),
        ),
        plots=(_plot(kinds, judged),),
        goals=tuple(_goals(kinds, judged)),
    )


def _installed() -> list[Path]:
    paths = sysconfig.get_paths()
    places = (paths["stdlib"], paths["purelib"], "/usr/share/doc", "/usr/share/locale")
    return [Path(place) for place in places if Path(place).is_dir()]


def truth_counters(families: Sequence[str], claude: Path | None = None) -> dict[str, Truth]:
    """Load the real vocabularies."""

    def counter(tokenizer: Any, factor: float = 1.0) -> Truth:
        return lambda text: len(tokenizer.encode_ordinary(text)) * factor

    loaded = splintr.Tokenizer.from_pretrained
    truths = {family: counter(loaded(VOCABULARIES[family])) for family in families}
    if claude:
        truths["claude"] = counter(splintr.from_json(str(claude)), CLAUDE_FACTOR)
    return truths


# --- recorded sessions ----------------------------------------------------------------------


def transcript_pieces(folder: Path, per_file: int = 15) -> Iterator[str]:
    """Draw pieces of the strings in recorded agent sessions."""
    rng = random.Random(3)  # noqa: S311  # draws pieces, not secrets
    for path in sorted(folder.glob("*/*.json*")):
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        found = sorted({text for line in _values(data) for text in _strings(line)})
        for text in rng.sample(found, min(per_file, len(found))):
            start = rng.randrange(max(1, len(text) - 8_000))
            yield text[start : start + 8_000].encode(errors="replace").decode()


def _values(data: bytes) -> Iterator[Any]:
    """Read a JSON document, or else the valid lines of a JSON Lines file."""
    for part in [data, *data.splitlines()]:
        try:
            yield json.loads(part)
        except ValueError:
            continue
        if part is data:
            return


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str) and len(value) > 60:
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner)


# --- errors ---------------------------------------------------------------------------------


def one_error(pairs: Pairs) -> float | None:
    """Return the 95th percentile of the error of one text, in percent."""
    errors = _errors(pairs)
    return round(percentile(errors, 0.95), 1) if errors else None


def usual_error(pairs: Pairs) -> float | None:
    """Return the median error of one text, in percent."""
    errors = _errors(pairs)
    return round(percentile(errors, 0.5), 1) if errors else None


def bias(pairs: Pairs) -> float | None:
    """Return the median signed error of one text, in percent."""
    errors = _errors(pairs)
    return round(statistics.median(errors), 1) if errors else None


def sum_error(pairs: Pairs, rounds: int = 1_000) -> float:
    """Return the 95th percentile of the error of several random texts, in percent."""
    rng = random.Random(5)  # noqa: S311  # draws contexts, not secrets
    drawn = (rng.choices(pairs, k=TOGETHER) for _ in range(rounds))
    sums = [(sum(g for g, _ in draw) / sum(t for _, t in draw) - 1) * 100 for draw in drawn]
    return round(percentile(sums, 0.95), 1)


def _errors(pairs: Pairs) -> list[float]:
    return [(guess - truth) / truth * 100 for guess, truth in pairs if truth > LEAST_TOKENS]


def percentile(errors: Sequence[float], share: float) -> float:
    """Return a percentile of the absolute errors."""
    ranked = sorted(map(abs, errors))
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))]


def _all(found: Mapping[str, Pairs]) -> Pairs:
    return [pair for kind, pairs in found.items() if kind not in FREE for pair in pairs]


# --- report ---------------------------------------------------------------------------------


def _table(
    title: str,
    kinds: Sequence[str],
    judged: Mapping[str, Mapping[str, Pairs]],
    figure: Callable[[Pairs], float | None],
) -> ReportTable:
    rows = tuple((kind, *(figure(found[kind]) for found in judged.values())) for kind in kinds)
    return ReportTable(title, ("kind of text", *judged), rows)


def _plot(kinds: Sequence[str], judged: Mapping[str, Mapping[str, Pairs]]) -> Plot:
    series = tuple(
        Series(
            family,
            tuple((float(at), one_error(judged[family][kind]) or 0.0) for at, kind in places),
        )
        for family in SHOWN
        if family in judged
        for places in [list(enumerate(kinds))]
    )
    return Plot(
        name="token-estimate",
        title="Error of the token estimate on one text",
        kind="bars",
        x="kind of text",
        y="95th percentile of the error, %",
        series=series,
        labels=tuple(kinds),
        goal=MOST_ONE,
    )


def _goals(kinds: Sequence[str], judged: Mapping[str, Mapping[str, Pairs]]) -> Iterator[Goal]:
    for kind in kinds:
        errors = [error for found in judged.values() if (error := one_error(found[kind]))]
        if errors and kind not in FREE:
            what = f"{kind}: error of one text, 95th percentile, worst vocabulary"
            yield Goal(what, max(errors), "%", most=MOST_ONE)
    for family, found in judged.items():
        what = f"{family}: error of {TOGETHER} texts together, 95th percentile"
        yield Goal(what, sum_error(_all(found)), "%", most=MOST_TOGETHER)


# --- speed ----------------------------------------------------------------------------------


def _speeds(pieces: Mapping[str, list[str]], truths: Mapping[str, Truth]) -> ReportTable:
    rows = []
    for kind in ("prose", "python", "json compact", "shell", "chinese", "korean", "russian"):
        joined = "".join(pieces.get(kind, ())).encode(errors="replace")
        if not joined:
            continue
        data = (joined * (MEGABYTE // len(joined) + 1))[:MEGABYTE]
        long = data.decode(errors="ignore")
        short = [long[at : at + 1_000] for at in range(0, len(long), 1_000)]
        counts = (estimate, truths["o200k"])
        rows.append(
            (kind, *(_milliseconds(count, texts) for count in counts for texts in ([long], short)))
        )
    columns = (
        *("kind of text", "estimate, whole", "estimate, pieces of 1,000"),
        *("o200k, whole", "o200k, pieces of 1,000"),
    )
    note = "Milliseconds of processor time for a megabyte of UTF-8, best of 5."
    return ReportTable("Speed of counting, ms per MB", columns, tuple(rows), note)


def _milliseconds(count: Callable[[str], float], texts: list[str]) -> float:
    best = float("inf")
    for _ in range(5):
        start = time.process_time()
        for text in texts:
            count(text)
        best = min(best, time.process_time() - start)
    return round(best * 1_000, 1)


if __name__ == "__main__":
    main()
