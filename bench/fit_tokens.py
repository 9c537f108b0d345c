"""Fit the weights of the token estimator: `python bench/fit_tokens.py --claude FILE ROOT...`.

Needs numpy and splintr-rs, which the project itself does not. Every ROOT is a folder of unpacked
software; `token_corpus` cuts it into pieces. Writes the table of foldline.core.estimate_weights to
stdout. Least sum of cubed relative errors, by reweighted least squares: the cube keeps the tails
short, and every kind of text weighs the same however much of it was found.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import splintr

import token_corpus
from foldline.core.estimate import features
from foldline.core.estimate_weights import FEATURES

VOCABULARIES = {
    "o200k": "o200k_base",
    "cl100k": "cl100k_base",
    "deepseek": "deepseek_v3",
    "qwen": "qwen3",
}
CLAUDE_FACTOR = 1.12
"""Reported usage of Claude 4.5 and 4.6 over Claude-2 counts: the median of 65 large tool results
in recorded sessions (5 % to 95 %: 1.01 to 1.22; o200k times 1.18 spreads from 1.08 to 1.38)."""

LIGHT = {"arabic", "hindi", "russian", "emoji", "tables", "terminal", "digits", "hashes"}
"""Kinds that a context holds little of: they weigh 0.4."""

SMALL = 12  # tokens: below this, an error counts as if the text had this many
RIDGE = 1e-3
ROUNDS = 12


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("roots", nargs="+", type=Path)
    parser.add_argument("--claude", type=Path, help="tokenizer.json of Claude 2")
    parser.add_argument("--per-kind", type=int, default=900, metavar="PIECES")
    options = parser.parse_args()
    tokenizers: dict[str, Any] = {
        family: splintr.Tokenizer.from_pretrained(name) for family, name in VOCABULARIES.items()
    }
    if options.claude:
        tokenizers["claude"] = splintr.from_json(str(options.claude))
    pieces = token_corpus.pieces(options.roots, "fit", options.per_kind)
    rows = [(kind, text) for kind, texts in pieces.items() for text in dict.fromkeys(texts)]
    kinds = [kind for kind, _ in rows]
    counts = np.zeros((len(rows), len(FEATURES)))
    for row, (_, text) in zip(counts, rows, strict=True):
        found = features(text)
        row[: len(found)] = found
    columns = []
    for family, tokenizer in tokenizers.items():
        truth = np.array([float(len(tokenizer.encode_ordinary(text))) for _, text in rows])
        factor = CLAUDE_FACTOR if family == "claude" else 1.0
        columns.append(fit(counts, truth, kinds) * factor)
    print(f"FAMILIES = {tuple(tokenizers)}")
    for name, *weights in zip(FEATURES, *columns, strict=True):
        print(f'    ("{name}", {", ".join(f"{weight:.3f}" for weight in weights)}),')
    print(f"{len(rows)} pieces of {len(pieces)} kinds", file=sys.stderr)


def fit(counts: Any, truth: Any, kinds: list[str]) -> Any:
    """Solve for the weights that minimise the summed cube of the relative error."""
    size = {kind: kinds.count(kind) for kind in set(kinds)}
    share = np.array([(0.4 if kind in LIGHT else 1.0) / size[kind] for kind in kinds])
    share *= len(kinds) / share.sum()
    scale = 1 / np.maximum(truth, SMALL)
    rows, goal = counts * scale[:, None], truth * scale
    unit = np.sqrt((rows**2).mean(axis=0)) + 1e-9
    rows /= unit
    emphasis = share
    for _ in range(ROUNDS):
        weighted = rows * emphasis[:, None]
        square = weighted.T @ rows / len(rows) + RIDGE * np.eye(rows.shape[1])
        weights = np.linalg.solve(square, weighted.T @ goal / len(rows))
        error = np.abs(rows @ weights - goal)
        emphasis = share * np.clip(error, 0.02, 0.5)
        emphasis *= len(rows) / emphasis.sum()
    return weights / unit


if __name__ == "__main__":
    main()
