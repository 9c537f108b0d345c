"""Text of many kinds, found on this machine, for fitting and judging the token estimator.

`pieces(roots, side)` walks folders of installed software (the standard library, documentation,
unpacked packages), sorts files into kinds by suffix and by script, and cuts pieces of 60 to 8,000
characters. A file belongs to the "fit" or to the "test" side by the hash of its path, so no file
serves both; of the few files in other scripts, the first half serves the fit, the second the test.
JSON is written twice (pretty and compact); logs and shell output come from files and harmless
commands, dense text (hex, base64, UUIDs, digits) and terminal drawings from a seeded generator.
"""

import base64
import hashlib
import json
import random
import re
import subprocess
import sys
import sysconfig
import uuid
from collections.abc import Iterator
from pathlib import Path

Piece = tuple[str, str]  # (kind, text)

SUFFIXES = {
    "prose": (".md", ".rst", ".txt", "METADATA", "README", "NEWS"),
    "python": (".py", ".pyi"),
    "web": (".js", ".ts", ".tsx", ".css", ".scss", ".html", ".mjs", ".vue"),
    "systems": (".c", ".h", ".cc", ".cpp", ".go", ".rs", ".java", ".sh", ".pl", ".pm", ".cu"),
    "config": (".yml", ".yaml", ".toml", ".ini", ".cfg", ".csv", ".conf", ".po", ".rb"),
    "json": (".json", ".ipynb"),
    "logs": (".log",),
}
KIND_OF = {suffix: kind for kind, suffixes in SUFFIXES.items() for suffix in suffixes}
SCRIPTS = {
    "japanese": (re.compile("[\u3040-\u30ff]"), 0.12),
    "korean": (re.compile("[\uac00-\ud7a3]"), 0.15),
    "chinese": (re.compile("[\u4e00-\u9fff]"), 0.15),
    "russian": (re.compile("[\u0400-\u04ff]"), 0.2),
    "arabic": (re.compile("[\u0590-\u06ff]"), 0.2),
    "hindi": (re.compile("[\u0900-\u0dff]"), 0.2),
    "code with chinese": (re.compile("[\u4e00-\u9fff]"), 0.02),
}
COMMANDS = (
    "ls -la /usr/lib /usr/bin",
    "ls -laR {lib}/json {lib}/asyncio {lib}/email",
    "ps aux",
    "df -h",
    "mount",
    "dpkg -l",
    "cat -n {lib}/argparse.py",
    "cat -n {lib}/json/decoder.py",
    "grep -rn return {lib}/asyncio",
    "grep -rn import {lib}/email",
    "find {lib} -name *.py -size +20k",
    "diff -u {lib}/json/decoder.py {lib}/json/encoder.py",
    "diff -ru {lib}/concurrent {lib}/asyncio",
    "wc -lc {lib}/os.py {lib}/ast.py {lib}/abc.py",
    "stat {lib}/os.py {lib}/ast.py {lib}/abc.py",
    "sha256sum {lib}/os.py {lib}/ast.py {lib}/abc.py",
    "od -A x -t x1z -N 20000 {lib}/os.py",
    "{python} -m pip list --format columns",
    "{python} -m pip --help",
    "{python} -X importtime -c 'import asyncio'",
    "{python} -m dis {lib}/abc.py",
    "{python} -m unittest -v test.test_bisect",
    "{python} -v -c 'import json'",
    "du -a {lib}/asyncio {lib}/email",
    "tar -cvf /dev/null {lib}/email",
    "ls --color=always -la /etc /usr/share",
    "grep --color=always -rn def {lib}/json {lib}/importlib",
    "git --help",
    "diff -u --color=always {lib}/json/encoder.py {lib}/json/scanner.py",
    "cat -n {lib}/ast.py",
    "sed -n 1,400p {lib}/asyncio/events.py",
    "find /etc -maxdepth 2 -ls",
    "grep -c . -r {lib}/unittest",
    "head -c 20000 {lib}/pydoc_data/topics.py",
    "{python} -m trace --trace {lib}/this.py",
    "{python} -m tokenize {lib}/abc.py",
    "{python} -m ast {lib}/abc.py",
    "{python} -m compileall -l -f -d x {lib}/json",
    "{python} -m pip list -v",
)
WORDS = """
name id status running failed 42 3.14 0x1f main.py src/app.ts created_at HTTP/1.1 ok None average
2025-01-31 total configuration id=7 [done] pending 100% users.csv a.b.c error deploy
""".split()  # noqa: SIM905  # words read better than quotes
COMMON_EMOJI = "✅❌⚠🚀🔧📁📝🎉🐛✨🔥👍💡🔍📊🧪🤖😀😂🙏❤🥳😅👀💻📦🔒⏳➡☑🟢🔴🌍🎯📈💰"
RARE_EMOJI = (*range(0x1F600, 0x1F640), *range(0x1F300, 0x1F5FF), *range(0x2600, 0x27BF))
READ_LIMIT = 400_000  # bytes of one file: no single file may dominate its kind


def side_of(path: Path) -> str:
    """Tell "fit" or "test" for a path, half of all paths each, the same on every machine."""
    name = "/".join(path.parts[-4:])
    return "fit" if hashlib.sha256(name.encode()).digest()[0] % 2 else "test"


def pieces(
    roots: list[Path], side: str, per_kind: int = 700, seed: int = 7
) -> dict[str, list[str]]:
    """Cut at most `per_kind` pieces of every kind from the files of one side.

    Pieces are drawn round-robin over the files: a large file counts as much as a small one.
    """
    rng = random.Random(f"{seed} {side}")  # noqa: S311  # draws pieces, not secrets
    files: dict[str, list[str]] = {}
    for kind, text in [*_walk(roots, side), *_output(side), *_dense(rng)]:
        files.setdefault(kind, []).append(text)
    cut: dict[str, list[str]] = {}
    for kind, texts in sorted(files.items()):
        rng.shuffle(texts)
        cut[kind] = [_slice(texts[i % len(texts)], rng) for i in range(per_kind)]
    return cut


def _slice(text: str, rng: random.Random) -> str:
    length = int(60 * (8_000 / 60) ** rng.random())
    start = rng.randrange(max(1, len(text) - length))
    return text[start : start + length]


def _walk(roots: list[Path], side: str) -> Iterator[Piece]:
    for root in roots:
        for path in sorted(root.rglob("*")):
            if path.is_symlink() or not path.is_file() or (text := _read(path)) is None:
                continue
            kind = KIND_OF.get(path.suffix, KIND_OF.get(path.name))
            script = _script(text)
            if script:
                text = _translations(kind, text) or text
                half = len(text) // 2
                yield script, text[:half] if side == "fit" else text[half:]
            elif kind and side_of(path) == side:
                yield from _sort(kind, text)


def _read(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            text = file.read(READ_LIMIT).decode("utf-8", errors="ignore")
    except OSError:
        return None
    return None if len(text) < 400 or "\0" in text else text


def _script(text: str) -> str | None:
    if text.isascii():
        return None
    head = text[:20_000]
    for kind, (pattern, share) in SCRIPTS.items():
        if len(pattern.findall(head)) >= share * len(head):
            return kind
    return None


def _sort(kind: str, text: str) -> Iterator[Piece]:
    if kind != "json":
        yield kind, text
        return
    try:
        value = json.loads(text)
    except ValueError:
        yield "json compact", text
        return
    yield "json pretty", json.dumps(value, indent=2, ensure_ascii=False)
    yield "json compact", json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _translations(kind: str | None, text: str) -> str:
    """Join the sentences of a message catalogue (gettext, JSON, JavaScript); "" if it is none."""
    if kind in ("json", "web"):
        quoted = re.findall(r'"((?:[^"\\\n]|\\.)+)"', text)
        return "\n".join(sentence for sentence in quoted if not sentence.isascii())
    if text.count("\nmsgstr ") < 4:
        return ""
    blocks = re.findall(r'^msgstr ((?:".*"\n?)+)', text, re.MULTILINE)
    return "\n".join("".join(re.findall(r'"(.*)"', block)) for block in blocks[1:])


def _output(side: str) -> Iterator[Piece]:
    lib = sysconfig.get_paths()["stdlib"]
    for index, template in enumerate(COMMANDS):
        if (index % 2 == 0) is not (side == "fit"):
            continue
        command = template.format(lib=lib, python=sys.executable)
        run = subprocess.run(  # noqa: S602  # a fixed list of read-only commands
            command, shell=True, capture_output=True, timeout=60, check=False
        )
        text = (run.stdout[:READ_LIMIT] + run.stderr[:READ_LIMIT]).decode(errors="replace")
        if len(text) > 400:
            yield "shell", text


def _dense(rng: random.Random) -> Iterator[Piece]:
    for _ in range(4):
        raw = rng.randbytes(9_000)
        yield "hex", raw.hex()
        yield "base64", base64.b64encode(raw).decode()
        yield "uuid", "\n".join(str(uuid.UUID(bytes=rng.randbytes(16))) for _ in range(250))
        rows = (
            [f"{rng.gauss(50, 40):.{rng.randrange(6)}f}" for _ in range(8)] for _ in range(200)
        )
        yield "digits", "\n".join(",".join(row) for row in rows)
        yield (
            "hashes",
            "\n".join(f"sha256:{rng.randbytes(32).hex()}  file-{i}.bin" for i in range(110)),
        )
        yield "tables", "\n".join(_table(rng) for _ in range(12))
        yield "terminal", "".join(_painted(rng) for _ in range(300))
        yield "emoji", " ".join(_decorated(rng) for _ in range(900))


def _measurements(rng: random.Random) -> str:
    return ",".join(f"{rng.gauss(50, 40):.{rng.randrange(6)}f}" for _ in range(8))


def _table(rng: random.Random) -> str:
    """Draw a table as terminals and documents show them."""
    across, down, corner = rng.choice(("─│┼", "-|+", "═║╬", "-||", "━┃╋", "- +"))
    widths = [rng.randrange(4, 24) for _ in range(rng.randrange(2, 7))]
    rule = corner + corner.join(across * (width + 2) for width in widths) + corner
    body = (
        down + down.join(f" {rng.choice(WORDS):<{width}} " for width in widths) + down
        for _ in range(rng.randrange(2, 9))
    )
    return "\n".join((rule, *body, rule))


def _painted(rng: random.Random) -> str:
    """Draw one coloured line, progress bar or box line of a terminal program."""
    colour = f"\x1b[{rng.choice((1, 2, 31, 32, 33, 36, 90, 96))}m"
    words = " ".join(rng.choices(WORDS, k=rng.randrange(1, 9)))
    done = rng.randrange(40)
    return rng.choice(
        (
            f"{colour}{words}\x1b[0m\r\n",
            f"\x1b[2K\x1b[1G{colour}{words}\x1b[22m\x1b[39m  {rng.random() * 99:.2f} kB\n",
            f"\r   {colour}{'━' * done}\x1b[0m{'╺' * (40 - done)} {done / 4:.1f}/10.0 MB",
            f"\r{words} {done * 2}% [{'#' * done}{' ' * (40 - done)}]",
            f"│ {colour}✓\x1b[0m {words} │\n",
        )
    )


def _decorated(rng: random.Random) -> str:
    if rng.random() < 0.5:
        return rng.choice(WORDS)
    if rng.random() < 0.7:
        return rng.choice(COMMON_EMOJI)
    return chr(rng.choice(RARE_EMOJI))
