"""Which language a file is in, by its name."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Final

_TABLE: Final = """
Python py pyi | JavaScript js jsx mjs cjs | TypeScript ts tsx | Java java | Kotlin kt kts | Go go
Rust rs | C c h | C++ cc cpp cxx hpp hh | C# cs | Ruby rb | PHP php | Swift swift | Scala scala
Lua lua | Perl pl pm | R r | Dart dart | Elixir ex exs | Erlang erl | Haskell hs | Objective-C m mm
Shell sh bash zsh | SQL sql | Vue vue | HTML html htm | CSS css scss less | Markdown md
reStructuredText rst | YAML yml yaml | TOML toml | JSON json | XML xml | Protobuf proto | Text txt
"""

LANGUAGES: Final = {
    ending: " ".join(word for word in row.split() if word[0].isupper())
    for row in _TABLE.replace("\n", "|").split("|")
    for ending in row.split()
    if not ending[0].isupper()
}
"""Languages by the ending of a file name."""

NAMES: Final = {"makefile": "Make", "dockerfile": "Docker", "cmakelists.txt": "CMake"}

PROSE: Final = frozenset(
    ("Markdown", "reStructuredText", "YAML", "TOML", "JSON", "XML", "Text", "HTML", "CSS")
)
"""Text and data: counted, but no code."""


def language(path: str) -> str:
    """Return the language of a file, "" where its name does not tell."""
    name = PurePosixPath(path).name.lower()
    return NAMES.get(name) or LANGUAGES.get(name.rpartition(".")[2] if "." in name else "", "")


def is_code(path: str) -> bool:
    """Tell whether a file is code, as far as its name tells."""
    found = language(path)
    return bool(found) and found not in PROSE
