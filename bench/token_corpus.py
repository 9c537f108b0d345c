"""Text of many kinds, found on this machine, to fit and test the token estimator.

`pieces(roots, side)` walks folders of installed or unpacked software, sorts files into kinds by
suffix, script and content, and cuts pieces of 60 to 8,000 characters. Each direct child of a root
is one source: a package, a manual, a book. A hash assigns the sources of every kind to the "fit"
or the "test" side, so that fit and test never share a source.

JSON is written twice (pretty and compact); shell output comes from harmless commands; dense text
(hex, base64, UUIDs, digits), logs, tracebacks, tables and terminal drawings from a seeded
generator. Message catalogues (.po, .mo) and pages give their sentences without the markup.
"""

import base64
import hashlib
import html
import json
import random
import re
import struct
import subprocess
import sys
import sysconfig
import uuid
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

Piece = tuple[str, str]  # (kind, text)
Found = dict[str, dict[str, list[str]]]  # texts by kind and source

WIDE_KINDS = {
    *("arabic", "chinese", "chinese terse", "chinese traditional", "code with chinese"),
    *("hindi", "japanese", "korean", "other scripts", "russian"),
}

SUFFIXES = {
    "prose": (".md", ".rst", ".txt", "METADATA", "README", "NEWS"),
    "python": (".py", ".pyi"),
    "web": (".js", ".ts", ".tsx", ".css", ".scss", ".html", ".mjs", ".vue"),
    "pages": (".page", ".xhtml", ".xml", ".htm"),
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
    "hindi": (re.compile("[\u0900-\u097f]"), 0.2),
    "code with chinese": (re.compile("[\u4e00-\u9fff]"), 0.02),
}
TRADITIONAL = re.compile(
    "[這個們說為來時會對過還發現學實後開問點無關經長進將東樂書記語讀請設檔執]"
)
SIMPLIFIED = re.compile("[这个们说为来时会对过还发现学实后开问点无关经长进将东乐书记语读请设档执]")
MODERN = re.compile("[的是了们們这這]")
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
READ_LIMIT = 300_000  # bytes of one file: no single file may dominate its kind


NEIGHBOURS = {
    "russian": re.compile("[іїєўґђћљњџќѓјѕәөүұңғһқҳҷӣӯӑӗӳҫ]"),
    "arabic": re.compile("[پچگژکیےہھڪٻڀ]"),
    "hindi": re.compile("[ळॲऍॠऽ]"),
}
"""Letters that other languages in the script of a kind use."""
FILES_A_SOURCE = 40  # of one kind


def pieces(
    roots: list[Path], side: str, per_kind: int = 700, seed: int = 7
) -> dict[str, list[str]]:
    """Cut at most `per_kind` pieces of every kind from the sources of one side."""
    return cut(found(roots), side, per_kind, seed)


def found(roots: list[Path]) -> Found:
    """Read the texts of every kind under the roots, by kind and source."""
    texts: Found = defaultdict(lambda: defaultdict(list))
    for root in roots:
        for source in sorted(root.iterdir()):
            for kind, text in _read_source(source):
                texts[kind][source.name].append(text)
    return texts


def dealt(texts: Found, side: str) -> dict[str, list[list[str]]]:
    """Return the sources of one side, by a hash of kind and name: the same on every machine."""
    return {
        kind: [
            sources[name]
            for name in sorted(sources)
            if (_hash(f"{kind}/{name}")[0] % 2 == 0) is (side == "fit")
        ]
        for kind, sources in texts.items()
    }


def cut(texts: Found, side: str, per_kind: int, seed: int = 7) -> dict[str, list[str]]:
    """Cut pieces round-robin over the sources: a large one counts as much as a small one."""
    rng = random.Random(f"{seed} {side}")  # noqa: S311  # draws pieces, not secrets
    drawn = dealt(texts, side)
    for kind, text in [*_output(side), *_dense(rng)]:
        drawn.setdefault(kind, []).append([text])
    return {
        kind: [
            _draw(sources[turn % len(sources)], turn // len(sources), rng)
            for turn in range(per_kind)
        ]
        for kind, sources in sorted(drawn.items())
        if sources
    }


def _hash(name: str) -> bytes:
    return hashlib.sha256(name.encode(errors="replace")).digest()


def _draw(texts: list[str], turn: int, rng: random.Random) -> str:
    text = texts[turn % len(texts)]
    length = int(60 * (8_000 / 60) ** rng.random())
    start = rng.randrange(max(1, len(text) - length))
    return text[start : start + length]


def _read_source(source: Path) -> Iterator[Piece]:
    files = sorted(source.rglob("*"), key=lambda path: _hash(path.name))
    count: dict[str, int] = defaultdict(int)
    for path in [source] if source.is_file() else files:
        kind = KIND_OF.get(_suffix(path)) or KIND_OF.get(path.name)
        if count[f"only {kind}"] >= FILES_A_SOURCE or path.is_symlink() or not path.is_file():
            continue
        text = _read(path)
        if text is None:
            continue
        script = _script(text)
        if script:
            text = _sentences(path, text)
            sorted_out = [(_refined(script, text), text)] if len(text) >= 400 else []
        else:
            kind = "other scripts" if kind and _foreign(text) else kind
            sorted_out = list(_sort(kind, text)) if kind else []
        for kind_found, part in sorted_out:
            count[kind_found] += 1
            if count[kind_found] <= FILES_A_SOURCE:
                yield kind_found, part
        if not script and kind in ("python", "systems"):
            count[f"only {kind}"] += 1


def _suffix(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix


def _read(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            data = file.read(READ_LIMIT)
    except OSError:
        return None
    if path.suffix == ".gz":
        try:
            data = zlib.decompressobj(31).decompress(data, READ_LIMIT)
        except zlib.error:
            return None
    if _suffix(path) == ".mo":
        return _catalogue(data)
    text = data.decode("utf-8", errors="ignore")
    if len(text) < 400 or "\0" in text or len(text) < 0.3 * len(data):
        return None
    if _suffix(path) == ".json" and "\\u" in text[:3_000] and len(data) < READ_LIMIT:
        return _unescaped(text)
    return text


def _unescaped(text: str) -> str:
    try:
        return json.dumps(json.loads(text), ensure_ascii=False)
    except ValueError:
        return text


def _catalogue(data: bytes) -> str | None:
    """Join the translations of a compiled message catalogue."""
    if len(data) < 28 or data[:4] != b"\xde\x12\x04\x95":
        return None
    count, _, table = struct.unpack_from("<III", data, 8)
    sentences = []
    for number in range(1, min(count, (len(data) - table) // 8)):
        length, at = struct.unpack_from("<II", data, table + 8 * number)
        sentences.append(data[at : at + length].decode("utf-8", "ignore").replace("\0", "\n"))
    text = "\n".join(sentences)
    return text if len(text) >= 400 else None


def _script(text: str) -> str | None:
    if text.isascii():
        return None
    head = text[:20_000]
    for kind, (pattern, share) in SCRIPTS.items():
        if len(pattern.findall(head)) >= share * len(head):
            return kind
    return None


def _foreign(text: str) -> bool:
    head = text[:20_000]
    return not head.isascii() and len(head.encode(errors="ignore")) > 1.04 * len(head)


def _refined(script: str, text: str) -> str:
    """Distinguish simplified, traditional and terse Chinese, and languages that share a script."""
    neighbours = NEIGHBOURS.get(script)
    if neighbours and len(neighbours.findall(text)) > 0.01 * len(text):
        return "other scripts"
    if script != "chinese":
        return script
    if len(MODERN.findall(text)) < 0.012 * len(text):
        return "chinese terse"
    if len(TRADITIONAL.findall(text)) > len(SIMPLIFIED.findall(text)):
        return "chinese traditional"
    return script


def _sort(kind: str, text: str) -> Iterator[Piece]:
    if kind == "web" and len(text) > 300 * (text.count("\n") + 1):
        yield "minified", text
        return
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


def _sentences(path: Path, text: str) -> str:
    """Extract the sentences of catalogues, pages and tagged news; return other text unchanged."""
    suffix = _suffix(path)
    if suffix in (".json", ".js", ".ts"):
        quoted = re.findall(r'"((?:[^"\\\n]|\\.)+)"', text)
        return "\n".join(sentence for sentence in quoted if not sentence.isascii())
    if suffix in (".html", ".htm", ".page", ".xml", ".xhtml"):
        text = re.sub(r"(?s)<(script|style)\b.*?</\1>|<[^>]*>", "", text)
        return re.sub(r"\s*\n\s*", "\n", html.unescape(text))
    if text.count("\nmsgstr ") >= 4:
        blocks = re.findall(r'^msgstr(?:\[\d\])? ((?:".*"\n?)+)', text, re.MULTILINE)
        return "\n".join("".join(re.findall(r'"(.*)"', block)) for block in blocks[1:])
    if len(re.findall(r"/[a-zA-Z]{1,2}\s", text)) > len(text) / 12:
        return re.sub(r"/[a-zA-Z]{1,2}[ \t]+|/[a-zA-Z]{1,2}(?=\n)", "", text)
    return text


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
    for _ in range(12):
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
        yield "logs", "\n".join(_log_lines(rng))
        yield "emoji", " ".join(_decorated(rng) for _ in range(900))


def _log_lines(rng: random.Random) -> Iterator[str]:
    """Write a log in one of six formats."""
    style, second = rng.randrange(6), rng.randrange(10**6)
    for _ in range(300):
        second += rng.randrange(90)
        clock = f"{second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}"
        level = rng.choice(("INFO", "DEBUG", "WARN", "ERROR"))
        words = " ".join(rng.choices(WORDS, k=rng.randrange(2, 9)))
        name = f"{rng.choice(('api', 'worker', 'db.pool', 'kernel', 'auth'))}"
        number, address = rng.randrange(10**5), ".".join(str(rng.randrange(256)) for _ in "1234")
        day = second % 28 + 1
        yield (
            f"2025-03-{day:02} {clock},{number % 1000:03} {level} [{name}] {words}",
            f"2025-03-{day:02}T{clock}.{number:06}Z {level} {name}: {words} id={number}",
            f"Mar {day:2} {clock} host-{number % 9} {name}[{number}]: {words}",
            f'{address} - - [03/Mar/2025:{clock}] "GET /{name}/{number} HTTP/1.1" 200 {number}',
            f"[{clock}] {name}.{level}: {words} {{duration_ms={number / 7:.2f}}}",
            f"{level}:{name}:{words} (took {number / 1000:.3f}s) req={rng.getrandbits(64):016x}",
        )[style]


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
