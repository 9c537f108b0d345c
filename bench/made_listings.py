"""Generated listings, searches, diffs and histories."""

# ruff: noqa: E501  # tools write long lines

from __future__ import annotations

import random

from made_words import WORDS, Output, Question, digits, person, source_path


def git_diff(rng: random.Random) -> Output:
    lines, files, needle = list[str](), list[str](), f"RETRY_LIMIT_{rng.randrange(100, 999)}"
    count = rng.randrange(18, 40)
    chosen = rng.randrange(2, count - 2)
    for number in range(count):
        path = source_path(rng)
        files.append(path)
        lines += [
            f"diff --git a/{path} b/{path}",
            f"index {digits(rng, 7)}..{digits(rng, 7)} 100644",
            f"--- a/{path}",
            f"+++ b/{path}",
        ]
        for _ in range(rng.randrange(1, 4)):
            start = rng.randrange(1, 900)
            lines.append(
                f"@@ -{start},9 +{start},10 @@ def {rng.choice(WORDS)}_{rng.choice(WORDS)}(self):"
            )
            lines += [
                f"     {rng.choice(WORDS)} = self.{rng.choice(WORDS)}.{rng.choice(WORDS)}({rng.randrange(99)})"
                for _ in range(4)
            ]
            lines += [
                f"-    return {rng.choice(WORDS)}({rng.choice(WORDS)})",
                f"+    return {rng.choice(WORDS)}({rng.choice(WORDS)}, {rng.choice(WORDS)}={rng.randrange(99)})",
            ]
            lines += [
                f"     if {rng.choice(WORDS)} is None:  # {rng.choice(WORDS)}" for _ in range(3)
            ]
        if number == chosen:
            lines.append(f"+    {needle} = {rng.randrange(3, 30)}")
    added = next(line for line in lines if needle in line)
    return Output("git diff", "git diff main", "\n".join(lines), (
        Question("row by id", f"What is {needle} set to, and in which file?", (added.strip(), files[chosen])),
        Question("row by value", f"Is {files[-3]} changed?", (files[-3],)),
        Question("last", "What is the last file of the diff?", (files[-1],)),
        Question("first", "Which file is changed first?", (files[0],)),
    ))  # fmt: skip


def git_log(rng: random.Random) -> Output:
    lines, hashes, titles = list[str](), list[str](), list[str]()
    for number in range(rng.randrange(120, 260)):
        hashes.append(digits(rng, 40))
        titles.append(
            f"{rng.choice(('Fix', 'Add', 'Rename', 'Drop', 'Test'))} {rng.choice(WORDS)} {rng.choice(WORDS)} in {rng.choice(WORDS)} {number}"
        )
        lines += [
            f"commit {hashes[-1]}",
            f"Author: {person(rng)} <dev{rng.randrange(9)}@example.org>",
            f"Date:   Mon Mar {rng.randrange(1, 29)} {rng.randrange(10, 24)}:{rng.randrange(10, 60)}:00 2026 +0100",
            "",
            f"    {titles[-1]}",
            "",
        ]
    at = rng.randrange(10, len(titles) - 10)
    title = f"Revert the zeppelin migration of shard {rng.randrange(100)}"
    lines[lines.index(f"    {titles[at]}")] = f"    {title}"
    return Output("git log", "git log", "\n".join(lines), (
        Question("row by value", "Which commit reverts the zeppelin migration?", (title, hashes[at])),
        Question("row by id", f"What did commit {hashes[at + 3][:10]} do?", (hashes[at + 3], titles[at + 3])),
        Question("last", "What is the oldest commit, at the end of the list?", (titles[-1],)),
        Question("first", "What is the first commit shown?", (hashes[0],)),
    ))  # fmt: skip


def ls_recursive(rng: random.Random) -> Output:
    lines, folders = list[str](), list[tuple[str, list[str]]]()
    for number in range(rng.randrange(20, 45)):
        folder = "./" + "/".join(rng.choices(WORDS, k=rng.randrange(1, 4))) + str(number)
        names = [
            f"{rng.choice(WORDS)}_{rng.choice(WORDS)}_{n}{rng.choice(('.py', '.md', '.json'))}"
            for n in range(rng.randrange(6, 20))
        ]
        folders.append((folder, names))
        lines += [f"{folder}:", f"total {rng.randrange(4, 400)}"]
        lines += [
            f"-rw-r--r-- 1 root root {rng.randrange(100, 90_000):>6} Mar {rng.randrange(1, 29):>2} {rng.randrange(10, 24)}:{rng.randrange(10, 60)} {name}"
            for name in names
        ]
        lines.append("")
    folder, names = rng.choice(folders[3:-3])
    odd = f"core.{rng.randrange(10**4, 10**5)}"
    at = lines.index(f"{folder}:") + 3
    lines.insert(at, f"-rw------- 1 www  www  {rng.randrange(10**7, 10**8):>8} Mar  3 04:11 {odd}")
    name = names[-1]
    entry = next(line for line in lines[at:] if line.endswith(f" {name}"))
    return Output("ls -lR", "ls -lR", "\n".join(lines), (
        Question("row by id", f"How big is {name} in {folder}?", (entry, folder)),
        Question("row by value", f"Where does the file {odd} lie?", (odd, folder)),
        Question("last", "What is the last file of the listing?", (folders[-1][1][-1],)),
    ))  # fmt: skip


def find_paths(rng: random.Random) -> Output:
    paths = sorted(
        {
            f"./{source_path(rng, rng.choice(('.py', '.ts', '.css')))}"
            for _ in range(rng.randrange(400, 900))
        }
    )
    odd = f"./src/{rng.choice(WORDS)}/{rng.choice(WORDS)}/wharf_{rng.randrange(100)}.sqlite3"
    paths.insert(rng.randrange(30, len(paths) - 30), odd)
    some = rng.choice(paths[10:-10])
    return Output("find", "find . -type f", "\n".join(paths), (
        Question("row by value", "Is there an sqlite3 database among the files?", (odd.rpartition("/")[2],)),
        Question("row by id", f"Does {some} exist?", (some.rpartition("/")[2],)),
        Question("last", "What is the last path?", (paths[-1].rpartition("/")[2],)),
    ))  # fmt: skip


def tree(rng: random.Random) -> Output:
    lines, names = ["."], list[tuple[str, str]]()
    folders = rng.randrange(25, 50)
    for number in range(folders):
        folder = f"{rng.choice(WORDS)}_{number}"
        lines.append(f"├── {folder}")
        for inner in range(rng.randrange(6, 18)):
            names.append(
                (
                    folder,
                    f"{rng.choice(WORDS)}_{rng.choice(WORDS)}{inner}.{rng.choice(('py', 'md'))}",
                )
            )
            lines.append(f"│   ├── {names[-1][1]}")
    lines += ["", f"{folders} directories, {len(names)} files"]
    at = rng.randrange(20, len(names) - 20)
    odd = f"passwords_{rng.randrange(99)}.kdbx"
    folder = names[at][0]
    lines[lines.index(f"├── {folder}") + 2] = f"│   ├── {odd}"
    return Output("tree", "tree", "\n".join(lines), (
        Question("row by id", f"In which folder is {odd}?", (odd, folder)),
        Question("count", "How many files are there?", (lines[-1],)),
        Question("last", "What does the last line say?", (lines[-1],)),
    ))  # fmt: skip


def grep(rng: random.Random) -> Output:
    lines = []
    for path in sorted({source_path(rng) for _ in range(rng.randrange(40, 90))}):
        number = 0
        for _ in range(rng.randrange(2, 12)):
            number += rng.randrange(1, 90)
            lines.append(
                f"{path}:{number}:    {rng.choice(WORDS)} = get_{rng.choice(WORDS)}({rng.choice(WORDS)}, timeout={rng.randrange(99)})"
            )
    at = rng.randrange(20, len(lines) - 20)
    path, number = lines[at].split(":")[:2]
    lines[at] = (
        f"{path}:{number}:    raise QuotaExhausted{rng.randrange(99)}(user, limit=HARD_LIMIT)"
    )
    return Output("grep", "grep -rn timeout src", "\n".join(lines), (
        Question("row by value", "Where is QuotaExhausted raised?", (lines[at],)),
        Question("row by id", f"What stands in {path} at line {number}?", (lines[at].partition(":")[2],)),
        Question("last", "What is the last match?", (lines[-1].rpartition(":")[2].strip(),)),
        Question("first", "What is the first match?", (lines[0].rpartition(":")[2].strip(),)),
    ))  # fmt: skip
