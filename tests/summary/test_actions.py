import pytest
from tests.growth import grows_linearly, repeated
from tests.neutral import A, U, c, log

from foldline.snapshot.phrases import ENGLISH
from foldline.summary.claims import mark_unproven_claims
from foldline.values.messages import Message, Text, ToolResult

UNSHOWN = ENGLISH.unshown
COMMITTED = "[main abc1234] Port to asyncio\n 3 files changed, 40 insertions(+)"


def ran(command, text, number="7", *, error=False):
    result = ToolResult(number, (Text(text),), "run", error)
    return A(c(number, "run", f'{{"command": "{command}"}}')), Message("tool", (result,))


READING = ran("cat src/a.py", "def port():\n    return 48113")
FAILING = ran("pytest", "1 failed, 4 passed", "9")


def marked(account, *messages):
    return mark_unproven_claims(account, log(U("Port it."), *READING, *messages))


@pytest.mark.requirement("F38")
@pytest.mark.parametrize("messages", [(), FAILING])
@pytest.mark.parametrize(
    "claim",
    [
        "The release v9.9.9 was deployed to production successfully.",
        "It is now deployed.",
        "The deployment is live.",
        "Version 2 was published to PyPI.",
        "The linter reports 0 errors.",
        "Ruff found no errors.",
        "There are no type errors.",
        "All changes were committed as abc1234 and pushed to origin/main.",
        "- Committed abc1234: port to asyncio.",
        "All changes are committed.",
        "I committed all the changes.",
        "Everything was committed and pushed.",
        "The branch was pushed.",
        "The agent pushed feature/x to the remote.",
        "代码已提交。",
        "更改已推送。",
        "部署成功。",
    ],
)
def test_an_action_that_never_happened_is_marked(claim, messages):
    assert marked(f"Goal: port it.\n{claim}", *messages) == (
        f"Goal: port it.\n{claim} {UNSHOWN}",
        1,
    )


@pytest.mark.parametrize("others", [(), FAILING])
@pytest.mark.parametrize(
    ("claim", "shown"),
    [
        ("All changes were committed as abc1234.", ran("git commit -am x", COMMITTED)),
        ("All changes were committed.", ran("git commit -qam x", "")),
        ("Committed abc1234: the port.", ran("git log --oneline", "abc1234 Port to asyncio")),
        ("The fix was committed as ABC1234.", [U("I committed it: abc1234def.")]),
        ("The work is committed.", [A("I committed the work.")]),
        ("The work is committed.", ran("git status", "nothing to commit, working tree clean")),
        ("The branch was pushed.", ran("git push", "  0a1b2c3..abc1234  main -> main")),
        ("The branch was pushed.", ran("git push -q && pytest", "5 passed")),
        ("The branch was pushed.", [U("I pushed it, make sure that CI is green.")]),
        ("v9.9.9 was deployed.", [U("We deployed v9.9.9 yesterday, it must not break.")]),
        ("v9.9.9 was deployed.", ran("kubectl apply -f x.yaml", "configured")),
        ("v9.9.9 was deployed.", ran("./ship.sh", "Deployed to eu-west-1")),
        ("v9.9.9 was deployed.", [A("v9.9.9 is live.")]),
    ],
)
def test_an_action_with_evidence_is_not_marked_whatever_else_fails(claim, shown, others):
    assert marked(claim, *others, *shown) == (claim, 0)


@pytest.mark.parametrize(
    "line",
    [
        "The work is not committed yet.",
        "Nothing was pushed to origin/main.",
        "Next: after the tests, the work must be committed.",
        "The user wants the changes committed and pushed.",
        "If v1.2 was deployed, roll it back.",
        "The item was pushed to the stack.",
        "The transaction is committed by the pool.",
        "The service is deployed with Terraform.",
        "The linter reports 3 errors.",
        "The bug came with commit abc1234.",
        "src/push.py and src/deploy.py hold the lock.",
    ],
)
def test_a_plan_a_denial_or_a_description_is_not_marked(line):
    assert marked(line, *ran("git log", "abc1234 Add the lock")) == (line, 0)


@pytest.mark.parametrize(
    ("claim", "shown"),
    [
        ("Committed as fedcba9.", ran("git commit -am x", COMMITTED)),
        ("The work is committed.", ran("git commit -am x", "error: gpg failed to sign")),
        ("The work is committed.", [U("Do not stop until it is committed.")]),
        ("The branch was pushed.", ran("git push", "! [rejected] main -> main")),
        ("The branch was pushed.", ran("git push", "", error=True)),
        ("The branch was pushed.", ran("git commit -am x", COMMITTED)),
        ("The branch was pushed.", ran("edit", "stack.push(port)")),
        ("v9 was deployed.", ran("pytest", "5 passed")),
        ("v9 was deployed.", ran("./deploy.sh", "FAILED: no access", error=True)),
        ("The work is committed.", [U(f"Summary:\nThe work is committed. {UNSHOWN}")]),
        ("Committed as fedcba9.", [U(f"Summary:\nCommitted as fedcba9. {UNSHOWN}")]),
    ],
)
def test_a_failed_or_another_action_is_not_evidence(claim, shown):
    assert marked(claim, *shown) == (f"{claim} {UNSHOWN}", 1)


def test_a_commit_may_be_cited_by_the_handle_of_its_step():
    messages = log(U("Port it."), *ran("git commit -qam x", ""))
    claim = f"The work was committed in {messages[1].id[:8]}."
    assert mark_unproven_claims(claim, messages) == (claim, 0)


def test_a_hostile_account_is_judged_in_linear_time():
    for piece in (
        "changes were all ",
        "committed ",
        "pushed x ",
        "lint",
        "was deployed ",
        "deployed",
    ):
        assert grows_linearly(marked, repeated(piece), 10_000, 80_000)
