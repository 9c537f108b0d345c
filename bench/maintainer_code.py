"""Codebases with planted defects, for `maintainer.py`: one generated, one from site-packages."""

from __future__ import annotations

import importlib.util
import random
import re
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

AREAS = (
    "billing", "orders", "stock", "users", "mail", "search", "reports", "login", "cart", "rates",
)  # fmt: skip
PARTS = ("model", "store", "service", "routes", "checks")
WORDS = ("price", "name", "date", "state", "count", "owner")
VERBS = ("list", "sort", "pick", "find")

BODY = '''
def {verb}_{noun}_{number}(items, limit={number}):
    """{Verb} the {noun} of the {area}, at most so many."""
    chosen = [item for item in items if item.{noun} is not None]
    chosen.sort(key=lambda item: (item.{noun}, item.number))
'''

BRANCH = """\
    if chosen[0].{noun} > {number}:
        chosen.append(items[-1].{noun} + {number})
"""

DEFECTS = (
    "    except Exception: pass  # nothing can go wrong here",
    "    query = 'select * from orders where id = ' + order_id",
    "    for index in range(len(rows) - 1): total += rows[index].price",
    "    def cached(key, seen=[]): seen.append(key); return seen",
    "    if user.role is 'admin': return True",
    "    token = ''.join(random.choice('abc') for _ in range(8))",
    "    subprocess.run(command + ' ' + name, shell=True)",
    "    stock -= wanted; assert stock >= 0",
    "    password == given or time.sleep(1); return True",
    "    return yaml.load(text, Loader=yaml.UnsafeLoader)",
    "    open(path, 'w').write(data); os.chmod(path, 0o777)",
    "    rate = price * 1.19 if country is not 'CH' else price",
)
"""Lines that the reader recognizes as defects; each is planted once."""


@dataclass(frozen=True, slots=True)
class Codebase:
    """A folder, its defects (line by path), and the chain of files of a trace."""

    root: Path
    defects: dict[str, str]
    chain: tuple[str, ...] = ()
    answer: str = ""

    def files(self) -> list[str]:
        return sorted(path.relative_to(self.root).as_posix() for path in self.root.rglob("*.py"))


def made_up(folder: Path, *, hot: bool, seed: int = 7) -> Codebase:
    """
    Generate 50 files with a git history.

    Args:
        folder: The output folder.
        hot: Whether defects are in frequently changed files, or anywhere.
        seed: The random seed.
    """
    chance = random.Random(seed)  # noqa: S311  # the same codebase in every run
    root = folder / ("hot" if hot else "anywhere")
    paths = [f"shop/{area}/{part}.py" for area in AREAS for part in PARTS]
    for path in paths:
        area = path.split("/")[1]
        text = f'"""The {path.split("/")[2][:-3]} of the {area}."""\n'
        for number in range(chance.randint(8, 30)):
            noun, verb = chance.choice(WORDS), chance.choice(VERBS)
            text += BODY.format(area=area, noun=noun, number=number, verb=verb, Verb=verb.title())
            # So that an extra branch, which a planted defect may be, is not conspicuous.
            text += "".join(
                BRANCH.format(noun=chance.choice(WORDS), number=chance.randint(0, 999))
                for _ in range(chance.choice((0, 0, 0, 1, 2, 5)))
            )
        write(root, path, text)
    chain = ("shop/orders/routes.py", "shop/orders/service.py", "shop/rates/store.py")
    chain += ("shop/rates/model.py",)
    for path, after in pairwise(chain):
        append(root, path, f"\nfrom {after[:-3].replace('/', '.')} import final_rate\n")
    append(root, chain[-1], "\nFINAL_RATE = 0.0715\n")
    git(root, "init", "-q")
    commit(root, "first")
    # A few files change often, as in every codebase.
    changes = {path: round(40 / (rank + 2)) for rank, path in enumerate(shuffled(paths, chance))}
    for turn in range(max(changes.values())):
        for path, times in changes.items():
            if turn < times:
                append(root, path, f"# revised {turn}\n")
        commit(root, f"change {turn}")
    weights = [changes[path] ** 2 if hot else 1 for path in paths]
    defects = planted(root, drawn(paths, weights, chance), chance)
    commit(root, "last")
    return Codebase(root, defects, chain, "0.0715")


def copied(folder: Path, package: str, seed: int = 7) -> Codebase:
    """Copy an installed package, and plant the defects in randomly drawn files."""
    chance = random.Random(seed)  # noqa: S311  # as above
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise SystemExit(f"There is no package {package} here; name one with --package.")
    source, root = Path(found.submodule_search_locations[0]), folder / package
    for path in sorted(source.rglob("*.py")):
        text = path.read_text(encoding="utf-8", errors="replace")
        write(root, f"{package}/{path.relative_to(source).as_posix()}", text)
    names = Codebase(root, {}).files()
    sized = [name for name in names if (root / name).read_text("utf-8").count("\n") > 30]
    return Codebase(root, planted(root, drawn(sized, [1] * len(sized), chance), chance))


def drawn(paths: Sequence[str], weights: Sequence[int], chance: random.Random) -> list[str]:
    chosen: list[str] = []
    while len(chosen) < len(DEFECTS):
        (one,) = chance.choices(paths, weights)
        if one not in chosen:
            chosen.append(one)
    return chosen


def planted(root: Path, paths: Sequence[str], chance: random.Random) -> dict[str, str]:
    """Insert a defect after the head of a function in each file."""
    for path, line in zip(paths, DEFECTS, strict=True):
        rows = (root / path).read_text("utf-8").split("\n")
        heads = [at for at, row in enumerate(rows) if re.match(r"\s*def .*:\s*$", row)] or [0]
        rows.insert(chance.choice(heads) + 1, line)
        write(root, path, "\n".join(rows))
    return dict(zip(paths, DEFECTS, strict=True))


def shuffled(paths: Sequence[str], chance: random.Random) -> list[str]:
    return chance.sample(paths, len(paths))


def write(root: Path, path: str, text: str) -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text, encoding="utf-8")


def append(root: Path, path: str, text: str) -> None:
    with (root / path).open("a", encoding="utf-8") as file:
        file.write(text)


def git(root: Path, *words: str) -> None:
    line = ["git", "-C", str(root), "-c", "user.name=A", "-c", "user.email=a@b", *words]
    subprocess.run(line, check=True, capture_output=True)


def commit(root: Path, message: str) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-qm", message)
