"""
The requirements: features of four other designs, and failures reported for other libraries.

Each row is an id, its source, and one sentence that a test proves. A test names the rows
that it proves with ``@pytest.mark.requirement("C2", "F25")``; ``tests/test_requirements.py`` checks
that no row is without a test and no test without its row.
"""

# ruff: noqa: E501  # a row is one line, as in a table

from __future__ import annotations

from typing import NamedTuple


class Requirement(NamedTuple):
    """One requirement, with its source."""

    id: str
    source: str
    sentence: str


SOURCES = {
    "C": "KnowCompact, configuration",
    "K": "KnowCompact, functions and types",
    "H": "HelloAgents, core context",
    "G": "GoogleStyleCompressor",
    "J": "three-layer ContextCompactSystem",
    "F": "reported failures of other libraries",
    "T": "HelloAgents, tools of its chapter on context engineering",
    "E": "HelloAgents, exercises of that chapter",
    "V": "people who want to see what a long session still knows",
}

_ROWS = """
C1 Compaction that is disabled changes nothing by itself, and can still be requested.
C2 No threshold is zero or negative for any window, and an impossible configuration is an error.
C3 The output limit of a summary is sent to the model, clamped to its window, and a truncated answer is not used.
C4 The warning comes before the automatic compaction, and that before the hard limit.
C5 The breaker lets one attempt through after its pause, or after a new message of the user.
C6 No retries means one attempt; permanent errors are not retried, a cancellation ends it.
C7 Retention is measured in tokens, and a receipt states what really happened.
C8 The last resort ends within the target or fails explicitly, however large single messages are.
C9 Session memory has its own setting to enable it.
C10 Session memory keeps messages that it does not cover verbatim.
C11 Tool results are cleared only from a trigger on, for a smallest gain, and with regard to the cache.
C12 Clearing may keep no recent result at all.
C13 The tools to clear are chosen by name, to include or to exclude.
C14 The name of a model determines its window, its counter, and its price.
C15 The newest versions of the files that were touched last come back, within a count and two budgets.
C16 Reads, edits and writes count as accesses to a file, and their tools can be configured.
C17 Every compaction that starts has exactly one end.
C18 Hooks run before and after on every path, with a timeout, and can cancel a compaction.
C19 Own detectors of an overflow add to the known ones.
C20 The library uses standard logging, and logs nothing by default.
C21 System prompt, first and latest user message and pins stay on every path.
C22 Every number can be set in one documented configuration.
C23 One place determines which window applies.
K1 A message is returned as it was received, including unknown fields.
K2 Clearing changes no input, repeats nothing, never grows a result, and leaves a handle.
K3 A cold cache is detected by a clock, which can be set.
K4 Tokens before minus tokens after is what was freed, by one counter.
K5 The tools whose results are cleared are those in the setting.
K6 An estimate supports all scripts, and its error is measured.
K7 A request is counted with its system prompt and tools, and images by their size.
K8 Reported usage counts for the messages it covered; later ones are added, and stale usage is ignored.
K9 Counts are cached by content, and the cache is bounded.
K10 A preset provides window, reserve and threshold for a model.
K11 A compaction is due by tokens, waits after the last attempt, and has to pay.
K12 The outcome says compacted, unchanged or failed, with the reason.
K13 The pressure on the window can be read at any time, and the breaker shows its state.
K14 A session that is compacting cannot be used from inside.
K15 A compaction keeps system prompt, pins, the user's words and the newest messages.
K16 A summarizer that has too little room gets strictly less, a bounded number of times.
K17 Either side of a message can be folded alone, pairs stay together, and ranges are checked.
K18 The fallback works by tokens and its result is valid.
K19 The focus of a manual compaction reaches the summary.
K20 Compacting is safe from several threads and tasks, and compacting again changes nothing.
K21 A receipt says what was removed and kept, can be written as JSON, and is read back.
K22 An ordinary text that mentions snapshots is not taken for one.
K23 A scratch block that is never closed is a failure, and tags that are quoted stay.
K24 A snapshot is written in the language of the conversation and marked as data.
K25 The user's messages are quoted by rule, not by a model.
K26 A text is never cut inside a character.
K27 Session memory is written in the background and refused when it does not fit the conversation.
K28 The text of a session memory and the messages it covers are written together.
K29 A file is put back in its newest version, never as a stub.
K30 Files are taken newest first, one that does not fit is skipped, and no limit is exceeded.
K31 The attachment precedes the newest messages, as user content, plan included.
K32 Pins hold in every rung.
K33 An overflow is detected by provider, status and stop reason, and a rate limit is not one.
K34 Only a result that precedes its call is moved.
K35 The request for a summary has model, output limit and deadline, and its usage is reported.
K36 A summary is written by the same, a light or another model, and its window is respected.
K37 The cost of a summary is known before it is paid.
K38 The same engine serves several frameworks, and no error is swallowed.
K39 Logging and events are standard.
K40 Scenarios are named, documented and validated.
K41 An adapter loses nothing, and returns the same objects when nothing changed.
K42 Failures can be tested: a server that misbehaves on demand is part of the library.
H1 Rounds are kept by number, but size counts, and a second summary includes the first.
H2 The check comes before every model call, and a compaction is not repeated at once.
H3 Without a model a summary still holds the user's words, files, commands and errors.
H4 A summarizer sees the beginning and the end of every message.
H5 A summary has a role that the provider knows.
H6 A counter can be given, survives any text, and caches within limits.
H7 A tool output is limited in lines, bytes and tokens, and says how to read the rest.
H8 Messages of a run are recorded as they are produced.
H9 A session is saved step by step, is restored unchanged, and its name is not a path.
H10 A tool that keeps failing is paused on every way of calling it, and tried once after a while.
H11 Every tool returns one type of result, errors included.
H12 A registry of tools can be used from several threads.
H13 A sub-agent sees a restricted set of tools, with nothing that was not allowed.
H14 A sub-agent has its own history and budget, and returns a bounded report.
H15 Skills are found by name, loaded when needed, limited in size, and kept in view.
H16 A todo list has one item in progress, is saved and reloaded, and survives a compaction.
H17 A journal keeps entries by category and tag, newest first.
H18 Files are read and changed inside one folder, and a concurrent change is a conflict.
H19 Events of the context can be traced as JSON Lines and as a page, without secrets.
H20 Tools run concurrently, with timeouts, and a cancellation leaves nothing half done.
G1 Thresholds are fractions of the real window, with room for the answer.
G2 An assistant message that only calls tools stays with its results.
G3 A conversation of one turn can be split.
G4 A snapshot has sections for constraints and files, and includes the one before.
G5 A snapshot is marked as made by the library.
G6 A summary that is not smaller is not used, and is not tried again at once.
J1 Clearing is done in batches and leaves a handle.
J2 The trigger depends on the window, and escaped text is not counted by its escapes.
J3 The transcript is kept from the start, before anything is cleared.
J4 The newest part always reaches the summarizer.
J5 Task, newest messages and open calls survive a summary.
J6 An agent can request a compaction with a focus, and gets the result of its call.
J7 An error of a provider ends in a retry or a typed error, not in a lost run.
F01 A cut never separates interleaved calls from their results.
F02 No number of kept messages leaves a result without its call.
F03 Parallel results stay on the same side of a cut, each exactly once.
F05 A call and a distant result move together.
F06 A short history never becomes results without a user, and never nothing without a reason.
F07 A history that lost one side of a pair is repaired, and both repairs are reported.
F09 A dead call blocks no compaction.
F10 A pending confirmation stays until it is given.
F11 A late result is kept and never appears without its call.
F13 An orphan at the beginning leaves the conversation usable.
F14 A running call does not become one without a result.
F15 The first message after a snapshot is never a result.
F17 The messages after a snapshot are accepted by every provider.
F18 A signature stays on the first of parallel calls, all or nothing.
F19 Signed reasoning stays with its loop or is removed whole.
F21 An item keeps no id whose reasoning was removed.
F22 Both representations of a call change together.
F23 Ids stay unique after another compaction.
F25 An error text never becomes the summary.
F26 A placeholder never replaces history.
F27 An empty summary is retried once and then not used.
F29 A refusal is not a summary.
F30 Every message that is removed was read by the summarizer.
F31 The task is still there after five compactions.
F33 The newest user message is not summarised.
F34 A running exchange is not summarised away.
F35 A summary is not an instruction, and instructions inside tool outputs stay data.
F37 A summary that quotes tags is kept whole.
F38 A summary that claims success without evidence is detected.
F39 A summary keeps the language and the names of the tools.
F41 The summarizer reads originals, not stubs.
F42 The summarizer gets plain text and no tools.
F43 A summary that stopped at its output limit is not used.
F45 Braces in templates and contents have no effect.
F46 A temporary fact does not become a rule.
F47 A summary does not appear in the stream of the user.
F49 Every request to the summarizer fits its window, and there is a bounded number of them.
F50 A single message larger than the window is cut with a handle.
F51 A giant result in the newest messages is cut with a handle.
F53 The trigger leaves room for the largest answer.
F54 After an overflow the next request is strictly smaller, there is no third, and the error is typed.
F55 An overflow is recognised, with its limit, and other errors are not.
F57 A compaction that makes no progress is not repeated until something was appended.
F58 Usage from before a compaction does not trigger another one.
F59 Output of a model counts towards the window only once.
F61 A window that is always nearly full is not compacted at every request.
F62 A fallback summary is marked as one.
F63 Clearing happens in batches, and the prefix stays in between.
F65 A stub is never longer than the result it replaces.
F66 Results of one step that are still unread all stay.
F67 An interleaved result can be cleared.
F69 Many tiny messages alone trigger nothing.
F70 One pass reaches the target however many results there are.
F71 After a compaction a file counts as out of view, so that reading it again returns its content.
F73 Every message is either in view or covered by the snapshot.
F74 System prompt and tools count towards the window.
F75 Media count by what they show, not by their bytes, and never as zero.
F77 Dense text is never far underestimated.
F78 Signatures count nothing, visible reasoning does.
F79 A call that is on the wire twice counts once.
F81 An unknown part has a count and raises nothing.
F82 The text of a special token is counted like any other.
F83 A given window takes precedence, and the default for an unknown one is conservative.
F85 Messages appended during a compaction stay, and cleared results stay cleared.
F86 A partial view never deletes the rest.
F87 Items that the provider did not store are sent whole.
F89 A half-saved state never hides a message.
F90 A failed compaction counts nothing as done.
F91 After a crash the history is the old one or the new one.
F93 Every handle that is named can be recalled.
F94 A thousand compactions leave a bounded state.
F95 Cutting an output keeps the content beside it.
F97 Sessions in one store never see each other.
F99 Recalled content comes in pages and is not removed at once.
T1 A packet and a configuration are made as the book makes them, with its defaults.
T2 History is gathered message by message, and a source that fails is reported.
T3 Selection works for Chinese, keeps what the caller said of relevance, and can be explained.
T4 Every packet is rendered, and one that must be there is there or an error names it.
T5 Compression keeps every section, and never cuts one that must stay whole.
T6 Notes are files that people edit, kept safe from titles, crashes and each other.
T7 A terminal runs what it understands inside its folder, and nothing else.
T8 A memory is searched by all its filters.
T9 Working memory counts Chinese right, forgets in time, and finds what was said.
T10 Episodes give the same answers after a restart.
T11 Facts have stable ids, and clearing one user leaves the others.
T13 Consolidating and forgetting happen whole or not at all.
T14 Documents are cut without end or loss, and replaced as a whole.
T15 A maintainer explores, analyzes and plans, and writes notes only when it is told to.
E1.1 What a longer context costs in recall is measured on generated data.
E1.2 Loading everything is measured against reading on demand.
E1.3 A system prompt can be checked for rules that are too rigid, too vague, or repeated.
E2.1 The drop in quality is measured for a failure at every stage.
E2.2 A context is judged by density, relevance, completeness and redundancy, with advice.
E2.3 How a section is shortened is decided by one documented rule.
E3.1 Notes rise from temporary to task to project, with their origin, and back again.
E3.2 A person is asked before anything beyond reading, once, and silence is a no.
E3.3 A refactoring is planned, checked step by step, and rolled back.
E4.1 One rule says what lives in files, notes and memory, and conflicts are found.
E4.2 Interrupted work goes on after its world was checked.
E4.3 Tasks in notes wait for each other, run within a limit, and fail without being lost.
E5.1 An exploration goes from the outline to the detail, and can be traced.
E5.2 An exploration looks for what is new, and knows when to stop.
E5.3 Reading on demand is compared with loading everything, for several kinds of tasks.
V1 Three clicks lead from the list of sessions to what one of them forgot, and why.
V2 A click on a request shows exactly what the model saw there.
V3 Every transcript opens without an error in the browser, with the totals that the statistics have.
V4 Every message of a compaction has one fate, and both sides add up to what was counted.
V5 A question is answered by where its answer stands: in view, in the snapshot, behind a handle, or nowhere.
V6 Settings are tried before anything is applied, and exported.
V7 Undoing and compacting from a message on ask first, and never change an agent's own file.
V8 Nothing that a transcript says acts in the page, or asks another host for anything.
V9 Only who has the first link is let in, and only a form with the token changes something.
V10 A session that grows is followed without a reload, and only what was appended is read.
V11 Every view is used with the keyboard alone, in a narrow window, in dark and light, and has no serious finding of axe-core.
V12 A report is one file that loads nothing and is read without a server.
"""


def _row(line: str) -> Requirement:
    number, sentence = line.split(" ", 1)
    return Requirement(number, SOURCES[number[0]], sentence)


REQUIREMENTS: dict[str, Requirement] = {
    row.id: row for row in map(_row, _ROWS.strip().splitlines())
}
"""The rows by id."""
