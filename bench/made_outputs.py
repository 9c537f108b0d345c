"""Generated outputs of real tools, with questions about one line of each; fixed by a seed."""

from __future__ import annotations

import random
from collections.abc import Callable

from made_listings import find_paths, git_diff, git_log, grep, ls_recursive, tree
from made_reports import (
    app_log,
    build_log,
    cargo_test,
    chinese_log,
    jest_run,
    package_log,
    pytest_run,
)
from made_tables import (
    csv_table,
    html_page,
    json_flat,
    json_lines,
    json_nested,
    json_pretty,
    processes,
    sql_rows,
)
from made_words import Output, Question

__all__ = ["MAKERS", "Output", "Question", "made_outputs"]

MAKERS: tuple[Callable[[random.Random], Output], ...] = (
    json_flat, json_pretty, json_nested, json_lines, app_log, package_log, chinese_log, pytest_run,
    jest_run, cargo_test, build_log, git_diff, git_log, ls_recursive, find_paths, tree, grep,
    csv_table, html_page, processes, sql_rows,
)  # fmt: skip


def made_outputs(count: int, seed: int) -> list[Output]:
    """Return outputs, of all kinds about equally often."""
    rng = random.Random(seed)  # noqa: S311  # reproducible, no secret
    return [MAKERS[number % len(MAKERS)](rng) for number in range(count)]
