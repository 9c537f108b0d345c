"""Terminal attacks: every program on every path that leads outside, in every mode."""

from __future__ import annotations

import hashlib
import os
import random
import tempfile
from collections import Counter
from pathlib import Path
from typing import Final

from foldline.errors import FoldlineError
from foldline.tools.terminal import Terminal, TerminalLimits
from foldline.tools.terminal.sandbox import try_confinement

MARK: Final = "OUTSIDE-b61f09"
"""A secret in files outside the workspace only."""

PROGRAMS: Final = (
    *(
        "cat",
        "head -3",
        "tail -n 2",
        "tac",
        "nl",
        "rev",
        "less",
        "sort",
        "uniq",
        "wc",
        "cut -c1-9",
    ),
    *(
        "cut -c1-9",
        "strings",
        "strings -a --",
        "xxd",
        "od -c",
        "base64",
        "md5sum",
        "file",
        "stat",
        "ls -l",
    ),
    *("ls -lF", "ls", "du -a", "tree", "find", "grep -r O", "rg O", "awk 1", "sed p", "jq -R ."),
    *("diff README.md", "comm README.md", "paste README.md", "join README.md", "test -G"),
    *("test -N", "[ -e README.md -o -e", "git -C", "git diff --no-index README.md", "xargs -a"),
    *("sort --files0-from", "wc --files0-from", "grep -f", "date -f", "realpath", "readlink -f"),
)
PATHS: Final = (
    *("{out}/secret.txt", "../outside/secret.txt", "link", "linked/secret.txt", "linked/"),
    *(
        "src/../link",
        "inner/../../outside/secret.txt",
        "@list",
        "@link",
        "-x",
        "./-x",
        "/etc/passwd",
    ),
    *(
        "/etc/passwd",
        "/proc/self/environ",
        "*",
        "linked/*",
        "'{out}'/s*",
        "$HOME",
        "~",
        "< link",
        "> made",
    ),
    *("; cat link", "&& cat ../outside/secret.txt", "| tee made", "$(cat link)", "`cat link`"),
)


def build(folder: Path) -> tuple[Path, Path]:
    """Make a workspace with traps, and a folder outside with a secret."""
    inside, outside = folder / "ws", folder / "outside"
    (inside / "src").mkdir(parents=True)
    outside.mkdir()
    (outside / "secret.txt").write_text(MARK + "\n")
    (inside / "README.md").write_text("# Title\n\nwords\n")
    (inside / "list").write_text(f"{outside}/secret.txt\n")
    for name, target in (("link", "secret.txt"), ("linked", ""), ("-x", "secret.txt")):
        (inside / name).symlink_to(outside / target)
    (inside / "inner").symlink_to("src")
    return inside, outside


def fingerprint(folder: Path) -> str:
    """Return a digest of all names and contents below a folder."""
    seen = hashlib.blake2b()
    for here, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(here) / name
            seen.update(str(path).encode())
            seen.update(str(path.readlink()).encode() if path.is_symlink() else path.read_bytes())
    return seen.hexdigest()


def attacks(outside: Path) -> list[str]:
    """Return all commands."""
    paths = [path.replace("{out}", str(outside)) for path in PATHS]
    closed = [f"{program} {path}" for program in PROGRAMS for path in paths]
    return [f"{one} ]" if one.startswith("[") else one for one in closed]


def fuzz(count: int, seed: int = 1) -> tuple[Counter[str], list[str]]:
    """
    Run ``count`` attacks in every mode that works here, and in the parser alone.

    Returns:
        The number of attacks in each mode, and the harm.
    """
    modes, wrong = Counter[str](), []
    with tempfile.TemporaryDirectory() as folder:
        inside, outside = build(Path(folder).resolve())
        before = fingerprint(Path(folder))
        all_of_them = attacks(outside)
        chosen = random.Random(seed).sample(all_of_them, min(count, len(all_of_them)))  # noqa: S311
        for mode in ("bubblewrap", "landlock", "none"):
            if mode != "none" and try_confinement(mode).confinement is None:
                continue
            terminal = Terminal.open(
                inside,
                limits=TerminalLimits(seconds=4),
                sandbox=mode,
                allow_unconfined=mode == "none",
            )
            for line in chosen:
                modes[mode] += 1
                wrong += [f"{mode}: {line}: {one}" for one in _effects(terminal, line)]
            if fingerprint(Path(folder)) != before:
                wrong.append(f"{mode}: something was changed")
    return modes, wrong


def _effects(terminal: Terminal, line: str) -> list[str]:
    try:
        seen = terminal.run(line)
    except FoldlineError as error:
        return [f"raised {error}"]
    except Exception as error:  # noqa: BLE001  # this is what the attack searches for
        return [f"raised {type(error).__name__}: {error}"[:200]]
    return ["the secret was exposed"] if MARK in seen.text else []
