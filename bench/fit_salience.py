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
from sklearn.linear_model import LogisticRegression

from foldline.core.messages import Message
from foldline.core.salience.index import SalienceIndex
from foldline.core.salience.items import KINDS, items
from foldline.core.salience.score import features
from foldline.formats.openai_chat import OpenAIChat

FRACTIONS = (0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9)
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
            prefix: tuple[Message, ...] = OpenAIChat().decode(retention.openai(steps[:cut])).messages
            index = SalienceIndex.of(prefix)
            known = set(items("\n".join(m.text for m in prefix if m.role == "system")))
            wanted = needed(steps, cut, retention.steptext) - known
            names = [item for item in index.uses if item not in known]
            labels = np.array([name in wanted for name in names], float)
            if labels.sum() < 3:
                continue
            rows = np.array(
                [
                    [*features(index.uses[n], index.steps), *(index.uses[n].kind == k for k in KINDS)]
                    for n in names
                ],
                float,
            )
            yield name.split("/")[0], rows, labels


def fit(parts) -> LogisticRegression:
    rows = np.vstack([r for _, r, _ in parts])
    labels = np.concatenate([y for _, _, y in parts])
    weights = np.concatenate([np.full(len(y), 1 / y.sum()) for _, _, y in parts])
    model = LogisticRegression(max_iter=2000, C=1.0)
    return model.fit(rows, labels, sample_weight=weights * len(labels) / weights.sum())


def recall_at(model: LogisticRegression, parts, share: float) -> float:
    out = []
    for _, rows, labels in parts:
        best = np.argsort(-model.decision_function(rows))[: max(5, int(share * len(labels)))]
        out.append(labels[best].sum() / labels.sum())
    return float(np.mean(out))


def main() -> None:
    parts = list(samples(Path(sys.argv[1])))
    folders = sorted({folder for folder, _, _ in parts})
    for held in (folders[i::4] for i in range(4)):
        model = fit([p for p in parts if p[0] not in held])
        found = recall_at(model, [p for p in parts if p[0] in held], 0.06)
        print(f"held out {', '.join(held)}: {found:.3f} in the best 6 %", file=sys.stderr)
    model = fit(parts)
    weights = model.coef_[0]
    print('"""The fitted weights of `score`; written by ``bench/fit_salience.py``."""\n')
    print(f"BIAS = {model.intercept_[0]:.4f}")
    print(f"WEIGHTS = ({', '.join(f'{w:.4f}' for w in weights[: -len(KINDS)])})")
    print("KIND = {")
    for kind, weight in zip(KINDS, weights[-len(KINDS) :], strict=True):
        print(f'    "{kind}": {weight:.4f},')
    print("}")


if __name__ == "__main__":
    main()
