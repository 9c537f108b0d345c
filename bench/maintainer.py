"""
Review a codebase: everything at once, or just in time.

    python bench/maintainer.py [--package rich] [--window N] [--json]

What is real: the files, the survey, the probes, the agent with its tools and session, each request
What is real: the files, the survey, the probes, the agent, its tools and session, all requests
by the catalogue (gpt-5). The reader is simulated: it recognizes a planted defect whenever the
line is in its input, opens what `next_probe` proposes, and follows imports. So recall here
measures what was *read*, not what a model would notice; a model notices less in a long text, which
this does not measure (see docs/learning/context-rot.md).
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from foldline.agents.limits import AgentLimits
from foldline.agents.maintainer import CodebaseMaintainer, ExplorationBudget
from foldline.agents.maintainer.survey import SurveySettings
from foldline.models import Catalogue, model, price
from foldline.testing import ScriptedServer
from foldline.testing.scripted import Answer, ReceivedRequest, Step
from foldline.testing.scripted import CallTool as Call
from foldline.tokens.estimate import estimate
from maintainer_code import Codebase, copied, made_up

PRICED = "gpt-5"
WINDOW = 128_000


@dataclass(frozen=True, slots=True)
class Row:
    """The cost of one method on a task; ``tokens`` in all requests, ``most`` in one of them."""

    codebase: str
    task: str
    way: str
    requests: int
    tokens: int
    most: int
    usd: float
    recall: float
    files: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Task:
    """A question, the lines needed to answer it, and the order in which the reader opens files."""

    name: str
    question: str
    wanted: tuple[str, ...]
    next: Callable[[ReceivedRequest, frozenset[str]], str | None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("--package", default="rich", help="a package of this environment, or none")
    parser.add_argument("--window", type=int, default=WINDOW, help="window in tokens")
    parser.add_argument("--json", action="store_true", help="one JSON object per line")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        codebases = [made_up(folder, hot=True), made_up(folder, hot=False)]
        if options.package:
            codebases.append(copied(folder, options.package))
        for codebase in codebases:
            rows += measured(codebase, folder, options.window)
    for row in rows:
        print(json.dumps(asdict(row)) if options.json else line(row), flush=True)


def measured(codebase: Codebase, folder: Path, window: int) -> list[Row]:
    """Run every task with every method on a codebase."""
    rows = []
    for task in tasks(codebase):
        rows.append(at_once(codebase, task, window))
        budgets = {"just in time": ExplorationBudget()}
        if task.name == "review":
            budgets = {
                "just in time, 20,000": ExplorationBudget(tokens=20_000),
                "just in time, 40,000": ExplorationBudget(tokens=40_000),
                "just in time, no limit": ExplorationBudget(tokens=10_000_000, novelty=0.0),
            }
        rows += [
            just_in_time(codebase, task, folder, way, limit, window)
            for way, limit in budgets.items()
        ]
    return rows


def tasks(codebase: Codebase) -> list[Task]:
    """Return the tasks: review it all, find one thing, follow a chain, count over all."""
    out = [Task("review", "Review all.", tuple(codebase.defects.values()), probed)]
    path, defect = sorted(codebase.defects.items())[0]
    named = " ".join(path.removesuffix(".py").split("/"))
    out.append(Task("one question", f"What is wrong in {named}?", (defect,), once(probed, defect)))
    if codebase.chain:
        wanted = ("FINAL_RATE = 0.0715",)
        out.append(
            Task("trace", f"Which rate does {codebase.chain[0]} use?", wanted, along(codebase))
        )
    names = codebase.files()
    heads = tuple((codebase.root / name).read_text("utf-8").split("\n")[0] for name in names)
    out.append(Task("count over all", "Which files have no docstring?", heads, in_order(names)))
    return out


# --- methods ------------------------------------------------------------------------------------


def at_once(codebase: Codebase, task: Task, window: int) -> Row:
    """Send all files in one request, in the order of their names, as many as the window holds."""
    text, left = "", window - 9_000
    for name in codebase.files():
        file = f"\n# {name}\n{(codebase.root / name).read_text('utf-8')}\n"
        left -= round(estimate(file) * 1.02)
        if left < 0:
            break
        text += file
    with ScriptedServer([], default=Answer("Seen."), window=window) as server:
        with model("openai:scripted", base_url=server.openai_url, api_key="any") as client:
            begun = time.monotonic()
            client.complete(
                [{"role": "user", "content": f"{task.question}\n{text}"}], max_tokens=4_000
            )
            elapsed = time.monotonic() - begun
        return row(codebase, task, "all at once", server, server.requests[0].text, elapsed)


def just_in_time(
    codebase: Codebase, task: Task, folder: Path, way: str, budget: ExplorationBudget, window: int
) -> Row:
    """Let the maintainer read, a file at a time, until it must conclude."""
    read_texts: list[str] = []

    def reader(request: ReceivedRequest) -> Step:
        results = [one for message in request.transcript.messages for one in message.results]
        result = results[-1].text if results else ""
        read_texts.append(result)
        if "Conclude" in result:
            return Answer("Concluded.")
        read = frozenset(reader_files)
        path = task.next(request, read)
        if path is None:
            return Answer("Done.")
        if path == "?":
            return Call("next_probe", {"question": task.question})
        reader_files.append(path)
        return Call("read_file", {"path": path})

    reader_files: list[str] = []
    home = folder / f"home-{codebase.root.name}-{task.name}-{way}".replace(" ", "-")
    with ScriptedServer(reader, window=window) as server:
        with (
            model("openai:scripted", base_url=server.openai_url, api_key="any") as client,
            CodebaseMaintainer(
                codebase.root.name,
                codebase.root,
                client,
                home=home,
                window=window,
                budget=budget,
                limits=AgentLimits(steps=400),
                looks=SurveySettings(seconds=20.0),
            ) as one,
        ):
            begun = time.monotonic()
            one.run(task.question, "auto")
            elapsed = time.monotonic() - begun
        assert server.violations == () == server.errors
        return row(
            codebase, task, way, server, "\n".join(read_texts), elapsed, len(set(reader_files))
        )


def row(
    codebase: Codebase,
    task: Task,
    way: str,
    server: ScriptedServer,
    read_texts: str,
    seconds: float,
    files: int | None = None,
) -> Row:
    used = [one.usage for one in server.requests if one.usage is not None]
    info = Catalogue.load().find(PRICED)
    found = sum(line in read_texts for line in task.wanted) / len(task.wanted)
    return Row(
        codebase.root.name,
        task.name,
        way,
        len(used),
        sum(one.total - one.output for one in used),
        max(one.total - one.output for one in used),
        round(sum(price(info, one) or 0.0 for one in used), 4),
        round(found, 2),
        len(re.findall(r"^# \S+\.py$", read_texts, re.M)) if files is None else files,
        round(seconds, 1),
    )


# --- reading orders -----------------------------------------------------------------------------


def probed(request: ReceivedRequest, read: frozenset[str]) -> str | None:
    """Request probes, read the proposed files, and request again."""
    results = [one for message in request.transcript.messages for one in message.results]
    calls = [one for message in request.transcript.messages for one in message.calls]
    probe_ids = {call.id for call in calls if call.name == "next_probe"}
    probes = [result.text for result in results if result.call_id in probe_ids]
    proposed = re.findall(r"^- (\S+) \(about", probes[-1], re.M) if probes else []
    left = [path for path in proposed if path not in read]
    if left:
        return left[0]
    return None if probes and "No promising file is left" in probes[-1] else "?"


def once(
    go: Callable[[ReceivedRequest, frozenset[str]], str | None], wanted: str
) -> Callable[..., object]:
    """Stop as soon as the needed line was read."""

    def next_one(request: ReceivedRequest, read: frozenset[str]) -> str | None:
        results = [one.text for message in request.transcript.messages for one in message.results]
        return None if any(wanted in text for text in results) else go(request, read)

    return next_one


def along(codebase: Codebase) -> Callable[[ReceivedRequest, frozenset[str]], str | None]:
    """Start at the named file, and follow the import in the last file read."""

    def next_one(request: ReceivedRequest, _: frozenset[str]) -> str | None:
        results = [one for message in request.transcript.messages for one in message.results]
        if not results:
            return codebase.chain[0]
        found = re.findall(r"^from (\S+) import final_rate", results[-1].text, re.M)
        return f"{found[-1].replace('.', '/')}.py" if found else None

    return next_one


def in_order(names: list[str]) -> Callable[[ReceivedRequest, frozenset[str]], str | None]:
    """Read every file, because the question is about every file."""
    return lambda _, read: next((name for name in names if name not in read), None)


def line(row: Row) -> str:
    return (
        f"{row.codebase:9} {row.task:15} {row.way:23} {row.requests:4} requests {row.tokens:10,} "
        f"tokens (most {row.most:7,})  ${row.usd:7.4f}  recall {row.recall:4.2f}  "
        f"{row.files:3} files {row.seconds:6.1f} s"
    )


if __name__ == "__main__":
    main()
