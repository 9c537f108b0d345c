"""How far off the token estimate is, and how fast: `python bench/tokens.py [ROOT...]`.

Truth is the real vocabularies of splintr-rs. Every ROOT is a folder of text; without one, the
standard library and the documentation of this machine are used. Only files on the "test" side of
`token_corpus` are read, which no fit has seen. With `--transcripts DIR`, strings found in recorded
agent sessions are judged too.
"""

import argparse
import gzip
import json
import random
import statistics
import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import splintr

import token_corpus
from foldline.core.estimate import estimate

VOCABULARIES = {
    "o200k": "o200k_base",
    "cl100k": "cl100k_base",
    "deepseek": "deepseek_v3",
    "qwen": "qwen3",
}
CLAUDE_FACTOR = 1.12
FAR = {"arabic", "hindi", "russian", "emoji", "tables", "terminal"}
"""Kinds that are shown but not part of the promise."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("roots", nargs="*", type=Path, help="folders of text")
    parser.add_argument("--transcripts", type=Path, help="folder of recorded agent sessions")
    parser.add_argument("--claude", type=Path, help="tokenizer.json of Claude 2")
    parser.add_argument("--per-kind", type=int, default=150, metavar="PIECES")
    options = parser.parse_args()
    roots = options.roots or [Path(sysconfig.get_paths()["stdlib"]), Path("/usr/share/doc")]
    pieces = token_corpus.pieces(roots, "test", options.per_kind)
    if options.transcripts:
        pieces["transcripts"] = list(transcript_pieces(options.transcripts))
    truths = truth_counters(options.claude)
    print_errors(pieces, truths)
    print_speed(pieces, truths["o200k"])


def truth_counters(claude: Path | None) -> dict[str, Callable[[str], float]]:
    def counter(tokenizer: Any, factor: float = 1.0) -> Callable[[str], float]:
        return lambda text: len(tokenizer.encode_ordinary(text)) * factor

    loaded = splintr.Tokenizer.from_pretrained
    truths = {family: counter(loaded(name)) for family, name in VOCABULARIES.items()}
    if claude:
        truths["claude"] = counter(splintr.from_json(str(claude)), CLAUDE_FACTOR)
    return truths


def transcript_pieces(folder: Path, per_file: int = 15) -> Iterator[str]:
    rng = random.Random(3)  # noqa: S311  # draws pieces, not secrets
    for path in sorted(folder.glob("*/*.json*")):
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        found = sorted({text for line in values(data) for text in strings(line)})
        for text in rng.sample(found, min(per_file, len(found))):
            start = rng.randrange(max(1, len(text) - 8_000))
            yield text[start : start + 8_000].encode(errors="replace").decode()


def values(data: bytes) -> Iterator[Any]:
    """Read a JSON document, or else the lines of a JSON Lines file that can be read."""
    for part in [data, *data.splitlines()]:
        try:
            yield json.loads(part)
        except ValueError:
            continue
        if part is data:
            return


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str) and len(value) > 60:
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def print_errors(pieces: dict[str, list[str]], truths: dict[str, Callable[[str], float]]) -> None:
    print("kind, then per family: median error %, 95th percentile %, median bias %")
    print(f"{'':20}" + "".join(f"{family:>22}" for family in truths))
    pairs = {
        (family, kind): [(estimate(text, family), truth(text)) for text in texts]
        for family, truth in truths.items()
        for kind, texts in pieces.items()
    }
    for kind in pieces:
        print(f"{kind:20}" + "".join(f"{summary(pairs[family, kind]):>22}" for family in truths))
    for title, kinds in (("promised kinds", pieces.keys() - FAR), ("all kinds", pieces.keys())):
        together = {
            family: [pair for kind in sorted(kinds) for pair in pairs[family, kind]]
            for family in truths
        }
        print(f"{title:20}" + "".join(f"{summary(together[family]):>22}" for family in truths))
        sums = (f"{sum_error(together[family]):.1f}" for family in truths)
        print(f"{'  sum of 20, p95':20}" + "".join(f"{error:>22}" for error in sums))


def summary(pairs: list[tuple[int, float]]) -> str:
    errors = [(guess - truth) / truth * 100 for guess, truth in pairs if truth > 50]
    if not errors:
        return "-"
    median = statistics.median(map(abs, errors))
    return f"{median:.1f} {percentile(errors, 0.95):.1f} {statistics.median(errors):+.1f}"


def percentile(errors: list[float], share: float) -> float:
    ranked = sorted(map(abs, errors))
    return ranked[min(len(ranked) - 1, int(share * len(ranked)))]


def sum_error(pairs: list[tuple[int, float]], rounds: int = 2_000) -> float:
    """Take the 95th percentile of the error of 20 random texts together, in percent."""
    rng = random.Random(5)  # noqa: S311  # draws contexts, not secrets
    drawn = (rng.sample(pairs, 20) for _ in range(rounds))
    return percentile(
        [(sum(g for g, _ in draw) / sum(t for _, t in draw) - 1) * 100 for draw in drawn], 0.95
    )


def print_speed(pieces: dict[str, list[str]], truth: Callable[[str], float]) -> None:
    print("\nMB of UTF-8 per second, best of 5: estimate and splintr on 1 MB, estimate on pieces")
    for kind in ("prose", "python", "json compact", "shell", "chinese"):
        texts = pieces.get(kind, [])
        joined = "".join(texts)
        if not joined:
            continue
        long = (joined * (1_000_000 // len(joined) + 1))[:1_000_000]
        short = [text[i : i + 1_000] for text in texts for i in range(0, len(text), 1_000)]
        figures = (
            speed(estimate, [long]), speed(truth, [long]), speed(estimate, short)
        )  # fmt: skip
        print(f"{kind:20}" + "".join(f"{figure:12.1f}" for figure in figures))


def speed(count: Callable[[str], float], texts: list[str]) -> float:
    best = float("inf")
    for _ in range(5):
        start = time.perf_counter()
        for text in texts:
            count(text)
        best = min(best, time.perf_counter() - start)
    return sum(len(text.encode()) for text in texts) / best / 1e6


if __name__ == "__main__":
    main()
