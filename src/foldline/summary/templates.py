"""Templates: what a model is told to write, by name, in English and in Chinese."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from foldline.relevance.language import CHINESE, Language
from foldline.summary import templates_zh


@dataclass(frozen=True, slots=True)
class Template:
    """
    What a model is told to write.

    ``prompt`` goes to the model as it is: braces in it mean nothing. ``sections`` are texts that
    an answer must have to be accepted, in any case of letters. ``scratch`` names tags of a block
    to think in, which is taken off, ``wrapper`` tags of the block that holds the account.
    ``tokens`` is the longest account, None for what there is room for. ``parse`` takes the account
    out of an answer instead, and raises ValueError with what is wrong. ``chinese`` is the same for
    conversations in Chinese.
    """

    name: str
    prompt: str
    sections: tuple[str, ...] = ()
    scratch: tuple[str, ...] = ()
    wrapper: tuple[str, ...] = ()
    tokens: int | None = None
    parse: Callable[[str], str] | None = None
    chinese: Template | None = None


SNAPSHOT_TAGS = (
    "overall_goal",
    "constraints",
    "key_knowledge",
    "file_system_state",
    "recent_actions",
    "current_plan",
)

ACCOUNT = Template(
    "account",
    """\
Write the account from which a successor goes on with this work. The successor has nothing of these
steps but your text, and will be asked detailed questions about them: which constraint holds, what
was the cause, what was decided and why, what state something is in, what is open, what an exact
value is, what was tried in vain, what an error said. What you leave out cannot be answered.

Write statements in whole sentences, each clear without the others, in this order of importance:
- What the user asked for, ruled out, insisted on or corrected: in the user's own words where they
  are short. For every request, what became of it.
- Causes that were found, with the evidence for each.
- Decisions, with the reason, and which alternatives were rejected and why.
- What was tried and did not work, and what was seen then.
- The state: which files were created, changed or deleted and what in each; the results of the last
  tests, builds and commands, with their error messages word for word.
- What is open, unverified or blocked, and the next step.

Put the exact values into these sentences: paths, line numbers, names and signatures of functions,
versions, commands, environment variables, identifiers, ports, amounts. Write one statement a line,
and name its subject: nobody will know what "it" or "the file" was. Write densely: no introduction,
no closing words, nothing said twice, no title under which nothing stands. Answer with the account
alone.""",
    chinese=Template("account", templates_zh.ACCOUNT),
)

_STATE_SNAPSHOT = Template(
    "state_snapshot",
    """\
Think first in one block <scratchpad>…</scratchpad>: go through the steps in order and note what
the agent still needs. Then write the state of the work as dense XML in exactly this form. Write
"none" where there is nothing to say. The answer ends with </state_snapshot>.

<state_snapshot>
<overall_goal>
What the user wants in the end, in one or two sentences.
</overall_goal>
<constraints>
What the user ruled out, insisted on or approved, each in the user's own words, with its step.
</constraints>
<key_knowledge>
Facts, conventions, commands, addresses and identifiers that the work depends on.
</key_knowledge>
<file_system_state>
Files and other artefacts: created, changed, read or deleted, with why each matters.
</file_system_state>
<recent_actions>
What was done last, in order, with its result: what succeeded, what failed, with the exact error.
</recent_actions>
<current_plan>
The steps of the plan, each marked [done], [in progress] or [todo].
</current_plan>
</state_snapshot>""",
    sections=tuple(f"<{tag}>" for tag in SNAPSHOT_TAGS),
    scratch=("scratchpad",),
    wrapper=("state_snapshot",),
)

STATE_SNAPSHOT = replace(
    _STATE_SNAPSHOT, chinese=replace(_STATE_SNAPSHOT, prompt=templates_zh.STATE_SNAPSHOT)
)

NINE_SECTIONS = Template(
    "nine_sections",
    """\
Think first in one block <analysis>…</analysis>: go through the steps in order; mind what the user
asked for, what they corrected, and whether every detail is right. Then write one block
<summary>…</summary> with these nine sections, each under its number and title. Write "none" where
there is nothing to say. The answer ends with </summary>.

1. Primary request and intent: everything the user asked for.
2. Key technical concepts: technologies, conventions, decisions.
3. Files and code: every file that matters, why, and the lines that were changed or looked at.
4. Errors and fixes: what went wrong, how it was mended, what the user said about it.
5. Problem solving: what was found out, and what is still being looked into.
6. User messages: every message of the user that is no tool result, in order.
7. Pending tasks: what was asked for and is not done.
8. Current work: what was being done last, with file names and code.
9. Next step: what follows from the last request, quoting it; nothing that nobody asked for.""",
    sections=tuple(f"{number}." for number in range(1, 10)),
    scratch=("analysis",),
    wrapper=("summary",),
    chinese=Template(
        "nine_sections",
        templates_zh.NINE_SECTIONS,
        sections=tuple(f"{number}." for number in range(1, 10)),
        scratch=("分析", "analysis"),
        wrapper=("摘要", "summary"),
    ),
)

FIVE_SECTIONS = Template(
    "five_sections",
    """\
Write five sections, each under its number and title. Write "none" where there is nothing to say.

1. Task goal: what does the user want to achieve?
2. Key decisions: what was decided, and why?
3. Work done: what was finished, as a list, with its result?
4. Open items: what is not finished, and what was ruled out?
5. Important findings: which facts, problems, paths and identifiers matter?""",
    sections=("Task goal", "Key decisions", "Work done", "Open items", "Important findings"),
    chinese=Template(
        "five_sections",
        templates_zh.FIVE_SECTIONS,
        sections=("任务目标", "关键决策", "已完成工作", "待处理事项", "重要发现"),
    ),
)

TEMPLATES = {
    template.name: template for template in (ACCOUNT, STATE_SNAPSHOT, NINE_SECTIONS, FIVE_SECTIONS)
}
"""The templates by name."""

OWN = "own"
"""What a template is called that is given as a text."""


def template(chosen: Template | str, language: Language | None) -> Template:
    """
    Return a template in the language of the user.

    Args:
        chosen: A template, the name of one, or the text of one's own.
        language: Of the user, None when it is not known.
    """
    if isinstance(chosen, str):
        chosen = TEMPLATES[chosen] if chosen in TEMPLATES else Template(OWN, chosen)
    return chosen.chinese if language == CHINESE and chosen.chinese is not None else chosen
