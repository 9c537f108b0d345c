"""A conversation in Chinese gets the words of its snapshot in Chinese, fold after fold."""

import json
import re

import pytest
from tests.neutral import A, T, U, c, view

from foldline.core.asks import drive
from foldline.core.strategy import CompactionContext
from foldline.snapshot.format import parse
from foldline.snapshot.phrases import FILES, PLAN, REQUESTS
from foldline.summary.summarize import Summarize
from foldline.values.handles import handles
from foldline.values.snapshot_mark import CHINESE_HEADER, SNAPSHOT_HEADER

HAN = re.compile("[\u4e00-\u9fff]")
TODOS = {"todos": [{"content": "load", "status": "completed"}, {"content": "save"}]}
WORDS = {
    "zh": ("请修复构建，不要改动端口 48113。", "测试也要通过。", "然后发布新版本。", "继续。"),
    "en": (
        "Mend the build; port 48113 stays.",
        "The tests pass too.",
        "Then release it.",
        "Go on.",
    ),
}


def steps(start):
    """Return work without a word in any language: names, commands and numbers."""
    for n in range(start, start + 12):
        yield A(c(f"e{n}", "edit_file", json.dumps({"path": f"src/{n}.py", "old": "a = 1" * 9})))
        yield T(f"e{n}", f"{n} " * 60)
        yield A(c(f"r{n}", "bash", json.dumps({"command": "make x && " + f"echo {n} && " * 60})))
        yield T(f"r{n}", f"x{n}.o " * 90 + f"\n{n} passed in 0.1s")


def folded(messages, target=3_000):
    """Return the messages after a fold, and the snapshot among them."""
    shown = view(*messages)
    context = CompactionContext(target, 4 * target, 4 * target, handles(shown.messages))
    plan = drive(Summarize().propose(shown, context), None)
    after = shown.after(plan.edits)
    (snapshot,) = (m.text for m in after.messages if m.origin == "snapshot")
    return after.messages, snapshot


def session(language):
    first, second, third, _ = WORDS[language]
    plan = [A(c("p", "todo_write", json.dumps(TODOS))), T("p", "ok")]
    return [U(first), *plan, *steps(0), U(second), *steps(20), U(third), *steps(40)]


@pytest.mark.requirement("F39")
def test_a_snapshot_speaks_the_language_of_the_user():
    _, chinese = folded(session("zh"))
    _, english = folded(session("en"))
    assert chinese.startswith(CHINESE_HEADER)
    assert english.startswith(SNAPSHOT_HEADER)
    assert not HAN.search(english)
    body = chinese.partition("\n")[2]
    assert not re.search(
        r"^## .*[A-Za-z]|\b(?:steps done|edited|more\]|lines|in work)\b", body, re.M
    )
    assert "已完成 1 步，共 2 步" in body
    assert "（修改" not in body
    assert re.search(r"\(修改\)|调用：|操作：", body)


@pytest.mark.requirement("F39")
@pytest.mark.parametrize("then", ["zh", "en"])
@pytest.mark.parametrize("first", ["zh", "en"])
def test_a_snapshot_of_one_language_is_folded_in_the_other(first, then):
    messages, earlier = folded(session(first))
    kept = [m for m in messages if m.origin == "snapshot"]
    said = WORDS[then]
    again, later = folded([U(said[0]), *kept, *steps(60), U(said[3] * 3), *steps(80), U(said[1])])
    assert len([m for m in again if m.origin == "snapshot"]) == 1
    before, after = parse(earlier), parse(later)
    assert later.startswith(CHINESE_HEADER if then == "zh" else SNAPSHOT_HEADER)
    assert after.messages > before.messages
    assert set(before.state[REQUESTS][0].split()[:1]) <= {
        r.split()[0] for r in after.state[REQUESTS]
    }
    rows = "\n".join((*after.state[REQUESTS], *after.state[FILES], *after.state.get(PLAN, ())))
    own = re.sub("“[^”]*”", "", rows)
    assert bool(HAN.search(own)) == (then == "zh")
    assert not (then == "zh" and re.search(r"edited|no outcome|steps done|in work", own))
    assert len(re.findall("in work|进行中", own)) <= 1
