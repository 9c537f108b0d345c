"""Need after a cut is what was known before it, used after it, and not repeated."""

from __future__ import annotations

import time

import pytest
from tests.corpus import ROOT as TRANSCRIPTS
from tests.corpus import requires_corpus
from tests.evaluation.sample import transcript

from foldline.evaluation.future_use import cuts, identifiers, render_history, without_system
from foldline.evaluation.retention import measure_retention
from foldline.formats.openai_chat import OpenAIChatDialect

LATE = (
    "user|Look at src/app/main.py, please",
    *(f"assistant|step {n} of NAME_{n}" for n in range(3)),
    *(f"user|filler word {n} " + "x " * 200 for n in range(20)),
)


def chat(*turns: str) -> list:
    wire = [dict(zip(("role", "content"), turn.split("|", 1), strict=True)) for turn in turns]
    return list(OpenAIChatDialect().decode(wire).messages)


def needed(*after: str, horizon: int = 30) -> set[str]:
    messages = chat(*LATE, *after)
    share = sum(len(m.text) for m in messages[: len(LATE)]) / sum(len(m.text) for m in messages)
    found = list(cuts(messages, [share], horizon))
    return set(found[0].need) if found else set()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see ./src/a_b/c.py.", {"/src/a_b/c.py"}),
        (
            "os.path.join and getUserName, HttpClient",
            {"os.path.join", "getUserName", "HttpClient"},
        ),
        ("--dry-run at 4f3c2a1b on port 48113", {"--dry-run", "4f3c2a1b", "48113"}),
        ("plain words, 12 and a-b say nothing", set()),
    ],
)
def test_identifiers_are_names_that_can_be_reused_exactly(text, found):
    assert identifiers(text) == found


def test_identifiers_of_the_old_history_used_by_the_assistant_are_needed():
    said = "assistant|NAME_0 NAME_1 NAME_2 src/app/main.py NEW_NAME"
    assert needed(said) == {"NAME_0", "NAME_1", "NAME_2", "src/app/main.py"}


def test_identifiers_repeated_before_their_use_are_not_needed():
    turns = ("assistant|NAME_0 NAME_2 src/app/main.py", "user|NAME_1", "assistant|NAME_1")
    assert needed(*turns) == {"NAME_0", "NAME_2", "src/app/main.py"}


def test_identifiers_after_the_horizon_are_not_needed():
    turns = ("assistant|NAME_0 NAME_1 src/app/main.py", "assistant|NAME_2")
    assert needed(*turns, horizon=1) == {"NAME_0", "NAME_1", "src/app/main.py"}


def test_a_cut_precedes_the_assistant_and_deep_need_excludes_the_last_tenth():
    messages = transcript().messages
    found = list(cuts(messages))
    assert [cut.fraction for cut in found] == [0.4, 0.6, 0.8]
    for cut in found:
        assert messages[cut.at].role == "assistant"
        assert messages[cut.at - 1].role != "assistant"
        assert cut.deep <= cut.need
        end = render_history(messages[cut.at - 3 : cut.at])
        assert not cut.deep & identifiers(end)


def test_a_session_that_needs_nothing_has_no_cut():
    assert list(cuts(chat("user|hello there", "assistant|hi", "user|bye", "assistant|bye"))) == []
    assert list(cuts([])) == []


def test_an_endless_line_takes_bounded_time():
    hostile = ["a" * 40_000, "/" * 40_000, "a." * 20_000, "-" * 40_000, "aB" * 20_000]
    start = time.process_time()
    for text in hostile:
        identifiers(text)
    assert time.process_time() - start < 15


@pytest.mark.corpus
@requires_corpus
@pytest.mark.filterwarnings("ignore::ResourceWarning")  # of the tools beside the sessions
def test_the_measure_equals_the_one_next_to_the_recorded_sessions():
    tools = TRANSCRIPTS.parents[1] / "tools"
    reference = loaded(tools)
    names = (
        "langchain-deer-flow/thread-3823e443",
        "codex-jdx-mise/rollout-019f2016-8a7a.jsonl.gz#3",
    )
    compared = 0
    for name, steps in reference.corpus.sessions(TRANSCRIPTS):
        if not name.startswith(names):
            continue
        messages = OpenAIChatDialect().decode(reference.openai(steps)).messages
        mine = list(cuts(messages))
        wanted = [reference.need(steps, cut) for _, cut in reference.cuts(steps)]
        assert [(cut.need, cut.deep) for cut in mine] == [w for w in wanted if len(w[1]) >= 3]
        for cut in mine:
            source = render_history(without_system(messages[: cut.at]))
            text = source[-len(source) // 8 :]
            lines = reference.line_hits(text, source, set(cut.need))
            found = measure_retention(text, source, cut)
            assert found.need == len(cut.need & reference.items(text)) / len(cut.need)
            assert found.line == len(lines) / len(cut.need)
            assert found.line_deep == len(lines & cut.deep) / len(cut.deep)
            compared += 1
    assert compared >= 3


def loaded(tools):
    """Load the measure by its path, as the bench does."""
    import importlib.util
    import sys

    for name in ("corpus", "retention"):
        spec = importlib.util.spec_from_file_location(name, tools / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault("corpus", module)
        spec.loader.exec_module(module)
    del sys.modules["corpus"]
    return module
