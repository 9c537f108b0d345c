"""A small codebase under git, and a maintainer of it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.agents.world import talking
from tests.confinement import requires_confinement

from foldline.agents.maintainer import CodebaseMaintainer

ORDERS = """\
def total(orders):
    # TODO: cents are lost here
    out = 0
    for order in orders:
        if order.open:
            if order.price:
                if order.count > 1:
                    out += order.price * order.count
                else:
                    out += order.price
    return out
"""

CHECK = """\
import sys
text = open("app/orders.py").read()
print("looked at", len(text))
sys.exit("BROKEN" in text)
"""


def git(root: Path, *words: str) -> str:
    line = ["git", "-C", str(root), "-c", "user.name=Ann", "-c", "user.email=a@b", *words]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout


def codebase(folder: Path) -> Path:
    """Create the codebase, for a test that reads it with commands."""
    requires_confinement()
    root = folder / "shop"
    for path, text in {
        "app/orders.py": ORDERS,
        "app/users.py": "class User:\n    pass\n" * 5,
        "tests/test_users.py": "def test_it():\n    assert True\n",
        "check.py": CHECK,
        "README.md": "# Shop\n",
        ".gitignore": "secret.txt\n__pycache__/\n",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    (root / "app/orders.py").write_text(f"{ORDERS}\n", encoding="utf-8")
    git(root, "commit", "-qam", "second")
    return root


@contextmanager
def maintaining(
    folder: Path, script: Any = (), wire: str = "openai-chat", **options: Any
) -> Iterator[tuple[CodebaseMaintainer, Any]]:
    """Yield a maintainer whose model plays a script, and its server."""
    root = folder / "shop" if (folder / "shop").exists() else codebase(folder)
    options = {"window": 32_000, "home": folder / "home"} | options
    with (
        talking(list(script) if not callable(script) else script, wire) as (server, client),
        CodebaseMaintainer("shop", root, client, **options) as one,
    ):
        yield one, server
