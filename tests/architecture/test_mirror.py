"""The tests mirror the tree: the test of a module is found by its path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from tests.architecture.sources import PACKAGE, ROOT, modules, relative

TESTS = ROOT / "tests"

PROVED_IN = {
    "agents/maintainer/refactor/test_assistant.py": "agents/maintainer/refactor/editing.py",
    "agents/maintainer/test_knowing.py": "agents/maintainer/conflicts.py",
    "agents/maintainer/test_maintainer.py": "agents/maintainer/answering.py "
    "agents/maintainer/checking.py agents/maintainer/gathering.py agents/maintainer/modes.py "
    "agents/maintainer/page.py agents/maintainer/place.py agents/maintainer/replaying.py "
    "agents/maintainer/reports.py agents/maintainer/tooling.py",
    "agents/test_loop.py": "agents/asking.py agents/events.py agents/tool_calls.py agents/work.py",
    "values/test_edit_json.py": "type_checks.py",
    "tokens/test_estimate.py": "tokens/estimate.py",
    "evaluation/test_markdown.py": "evaluation/cells.py evaluation/plain.py",
    "evaluation/test_methods.py": "evaluation/broken.py",
    "evaluation/test_recordings.py": "evaluation/findings.py evaluation/tallies.py",
    "formats/test_anthropic.py": "formats/media_blocks.py",
    "formats/test_detect.py": "formats/dialect.py formats/registry.py",
    "formats/test_files.py": "formats/recording.py",
    "formats/test_openai_chat.py": "formats/media_parts.py formats/nesting.py",
    "formats/test_openai_chat_rules.py": "formats/pairing_rules.py",
    "formats/test_weaving.py": "formats/foreign.py",
    "formats/transcripts/test_inspect_ai.py": "formats/transcripts/inspect_messages.py",
    "formats/transcripts/test_openhands.py": "formats/transcripts/devai.py",
    "formats/transcripts/test_tau_bench.py": "formats/transcripts/tau_few_shot.py",
    "cli/test_stats.py": "inspector/stats.py",
    "inspector/test_report.py": "inspector/chart.py inspector/links.py inspector/words.py",
    "inspector/test_site.py": "inspector/changing.py inspector/loading.py inspector/shelf.py "
    "inspector/surveying.py inspector/trace.py inspector/pages/compaction.py "
    "inspector/pages/cost.py inspector/pages/knows.py inspector/pages/layout.py "
    "inspector/pages/message.py inspector/pages/messages.py inspector/pages/overview.py "
    "inspector/pages/sessions.py inspector/pages/step.py inspector/pages/tokens.py "
    "inspector/pages/what_if.py",
    "cli/test_memory.py": "cli/memory_place.py cli/memory_reading.py cli/memory_writing.py",
    "cli/test_sessions.py": "cli/session_tables.py",
    "memory/test_documents.py": "memory/documents/css.py",
    "memory/test_changing.py": "memory/awaiting.py memory/forgetting.py memory/limits.py",
    "memory/test_memory.py": "memory/indexing.py memory/opening.py memory/rows.py "
    "memory/tables.py memory/telling.py memory/writing.py",
    "models/test_answering.py": "models/protocol.py models/retrying.py models/sending.py",
    "models/test_catalogue.py": "models/info.py models/naming.py models/reading.py",
    "postgres/test_database.py": "postgres/schema.py postgres/statements.py sql.py",
    "models/test_client.py": "models/completion.py",
    "models/test_place.py": "models/secret.py",
    "notes/test_catalog.py": "notes/sidecar.py notes/watching.py",
    "notes/test_front.py": "notes/drafting.py notes/note.py notes/searching.py notes/selecting.py",
    "notes/test_shelf.py": "notes/locking.py notes/problems.py",
    "proxy/test_deciding.py": "proxy/clients.py proxy/endpoints.py proxy/reading.py",
    "proxy/test_forwarding.py": "proxy/app.py",
    "proxy/test_holding.py": "proxy/overflowing.py",
    "retrieval/test_index.py": "retrieval/documents.py retrieval/embedding.py "
    "retrieval/lexical.py retrieval/weights.py",
    "relevance/test_terms.py": "relevance/stop_words.py",
    "sqlite/test_database.py": "sqlite/file.py sqlite/schema.py",
    "stores/test_sqlite.py": "stores/migrations.py",
    "stores/test_store.py": "stores/protocol.py stores/blobs.py stores/memory.py stores/opening.py "
    "stores/rows.py stores/sql.py",
    "testing/test_histories.py": "testing/texts.py testing/wires.py",
    "testing/test_promises.py": "testing/staying.py",
    "tools/files/test_workspace.py": "tools/files/backups.py",
    "tools/test_skills.py": "tools/skill_files.py",
    "tools/test_toolset.py": "tools/running.py",
    # The pure middle runs whole, under every policy, on generated histories of every wire.
    "properties/test_promises.py": "values/provider_rules.py repair/renumber.py",
    "properties/test_plain_versions.py": "repair/untangle.py repair/untangle.py",
    "summary/test_acceptance.py": "summary/cleanup.py",
    "summary/test_prompt.py": "summary/wording.py summary/wording.py",
    "reinjection/test_reinject.py": "reinjection/insertion_point.py reinjection/file_visibility.py reinjection/task_lists.py",
}
"""
Modules without a test of their own, and the test that proves them: protocols, tables of numbers,
pieces that several modules share.
"""


def test_every_module_has_its_test():
    names = [relative(path) for path in modules() if path.name != "__init__.py"]
    without = [
        name for name in names if not any((TESTS / test).is_file() for test in _candidates(name))
    ]
    assert without == []


def test_the_exceptions_are_still_exceptions():
    for test, names in PROVED_IN.items():
        assert (TESTS / test).is_file(), f"{test} is gone"
        for name in names.split():
            assert (PACKAGE / name).is_file(), f"{name} is gone"
            assert not (TESTS / _own(PurePosixPath(name))).is_file(), f"{name} has its own test"


def _candidates(name: str) -> Iterator[Path]:
    """List where the test of a module may be: its own, its subject's, its package's."""
    path = PurePosixPath(name)
    yield _own(path)
    words = path.stem.split("_")
    for length in range(len(words) - 1, 0, -1):
        yield Path(path.parent, f"test_{'_'.join(words[:length])}.py")
    for package in path.parents[:-1]:
        yield Path(package.parent, f"test_{package.name}.py")
    yield from (Path(test) for test, names in PROVED_IN.items() if name in names.split())


def _own(path: PurePosixPath) -> Path:
    return Path(path.parent, f"test_{path.name}")
