"""Folding with a model that is a plain function: its requests, and the result."""

from dataclasses import dataclass, field

from tests.neutral import A, T, U, c, view

from foldline.core.asks import Ask, ModelLimits, Reply, drive
from foldline.core.limits import within
from foldline.core.strategy import CompactionContext, Plan
from foldline.snapshot.phrases import ACCOUNT
from foldline.summary.summarize import Summarize
from foldline.values.handles import handles
from foldline.values.protect import is_snapshot
from foldline.values.view import View

WINDOW = 100_000


@dataclass
class Folded:
    """The plan, the requests to the model, and the view after the plan."""

    plan: Plan
    after: View
    asks: list[Ask] = field(default_factory=list)

    @property
    def snapshot(self):
        return next((m.text for m in self.after.messages if is_snapshot(m)), "")

    @property
    def account(self):
        return self.section(ACCOUNT)

    def section(self, title):
        """Return the text of a section of the snapshot, "" where it has none."""
        return self.snapshot.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def fold(found, model, target=2_000, strategy=None, reader=None, **context):
    """Fold a view; ``model`` is a function, or a list of answers in turn."""
    asks = []

    def answer(ask):
        asks.append(ask)
        reply = model[min(len(asks), len(model)) - 1] if isinstance(model, list) else model(ask)
        return Reply(reply) if isinstance(reply, str) else reply

    wanted = CompactionContext(
        target,
        target,
        found.tokens,
        handles([*found.originals.values(), *found.messages]),
        reader=reader or ModelLimits(WINDOW),
        **context,
    )
    steps = (strategy or Summarize()).propose(found, wanted)
    counted = within(steps, wanted.limits, wanted.reader, found.counter.text)
    plan, _ = drive(counted, answer)
    return Folded(plan, found.after(plan.edits), asks)


def history(steps=30, inside="", user="Build the project."):
    """A user's task, many long steps, and a last request."""
    work = []
    for n in range(steps):
        text = "\n".join(f"{n}.{line} wrote build/part_{n}_{line}.o" for line in range(40))
        call = c(f"c{n}", "compile", f'{{"path": "src/module_{n}.c"}}')
        work += [A(f"Compiling module_{n}.", call), T(f"c{n}", f"{text}\n{inside}", "compile")]
    return view(U(user), *work, A("All compiled."), U("Now link it."))
