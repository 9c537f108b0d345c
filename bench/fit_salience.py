"""
Fit the weights of `foldline.core.score`: which items will an assistant write again?

For cuts through real sessions, an item counts as needed when the assistant wrote it in the next
thirty steps although no tool result or user message had brought it back. A logistic regression,
every cut weighing the same, cross-validated by source folder. Needs numpy and scikit-learn:

    python bench/fit_salience.py ../shared > src/foldline/core/salience/weights.py
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import numpy as np
from foldline.core.salience.index import SalienceIndex
from foldline.core.salience.score import Surroundings, features
from sklearn.linear_model import LogisticRegression

from foldline.core.messages import Message
from foldline.core.names import KINDS, items
from foldline.formats.openai_chat import OpenAIChat

FRACTIONS = (
    0.15,
    0.2,
    0.25,
    0.3,
    0.35,
    0.4,
    0.45,
    0.5,
    0.55,
    0.6,
    0.65,
    0.7,
    0.75,
    0.8,
    0.85,
    0.9,
)
HORIZON = 30


def needed(steps: list[dict], cut: int, steptext) -> set[str]:
    back: set[str] = set()
    used: set[str] = set()
    count = 0
    for step in steps[cut:]:
        found = set(items(steptext(step)))
        if step["role"] == "assistant":
            used |= found - back
            count += 1
            if count >= HORIZON:
                break
        else:
            back |= found
    return used


def samples(shared: Path):
    sys.path.insert(0, str(shared / "tools"))
    corpus, retention = importlib.import_module("corpus"), importlib.import_module("retention")
    for name, steps in corpus.sessions(shared / "data" / "transcripts"):
        for _, cut in retention.cuts(steps, FRACTIONS):
            prefix: tuple[Message, ...] = (
                OpenAIChat().decode(retention.openai(steps[:cut])).messages
            )
            index = SalienceIndex.of(prefix)
            known = set(items("\n".join(m.text for m in prefix if m.role == "system")))
            wanted = needed(steps, cut, retention.steptext) - known
            names = [item for item in (*index.repeated, *index.single) if item not in known]
            labels = np.array([name in wanted for name in names], float)
            if labels.sum() < 3:
                continue
            around = Surroundings.of(index)
            uses = [index.use(name) for name in names]
            rows = np.array(
                [
                    [*features(item, use, around), *(use.kind == kind for kind in KINDS)]
                    for item, use in zip(names, uses, strict=True)
                ],
                float,
            )
            spoken = np.array([use.spoken > 0 for use in uses])
            weights = np.full(len(labels), 1 / labels.sum())
            yield name.split("/")[0], rows, labels, weights, spoken


def fit(parts, spoken: bool) -> LogisticRegression:
    picked = [(rows[s == spoken], y[s == spoken], w[s == spoken]) for _, rows, y, w, s in parts]
    rows = np.vstack([rows for rows, _, _ in picked])
    labels = np.concatenate([y for _, y, _ in picked])
    weights = np.concatenate([w for _, _, w in picked])
    # One scale for both models keeps their probabilities comparable.
    scale = sum(len(y) for _, _, y, _, _ in parts) / sum(w.sum() for *_, w, _ in parts)
    return LogisticRegression(max_iter=5000, C=1.0).fit(
        rows, labels, sample_weight=weights * scale
    )


def recall_at(models, parts, share: float) -> float:
    out = []
    for _, rows, labels, _, spoken in parts:
        scores = np.where(
            spoken, models[1].decision_function(rows), models[0].decision_function(rows)
        )
        best = np.argsort(-scores)[: max(5, int(share * len(labels)))]
        out.append(labels[best].sum() / labels.sum())
    return float(np.mean(out))


def written(name: str, model: LogisticRegression) -> str:
    weights = [f"{weight:.4f}" for weight in model.coef_[0]]
    kinds = ", ".join(
        f'"{kind}": {weight}' for kind, weight in zip(KINDS, weights[-len(KINDS) :], strict=True)
    )
    numbers = ", ".join(weights[: -len(KINDS)])
    return f"{name} = Model({model.intercept_[0]:.4f}, ({numbers}), {{{kinds}}})"


def main() -> None:
    parts = list(samples(Path(sys.argv[1])))
    folders = sorted({part[0] for part in parts})
    for held in (folders[i::4] for i in range(4)):
        models = [fit([p for p in parts if p[0] not in held], spoken) for spoken in (False, True)]
        found = recall_at(models, [p for p in parts if p[0] in held], 0.06)
        print(f"held out {', '.join(held)}: {found:.3f} in the best 6 %", file=sys.stderr)
    print('"""The fitted weights of `score`; written by ``bench/fit_salience.py``."""\n')
    print("from foldline.core.salience.model import Model\n")
    print(written("NEW", fit(parts, False)))
    print(written("SPOKEN", fit(parts, True)))


if __name__ == "__main__":
    main()
