"""Where the pages of a session are: addresses of the server, or places in a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlencode


@dataclass(frozen=True, slots=True)
class Links:
    """
    The addresses of one session.

    ``base`` is where it begins, such as ``/s/1f0c2a9b``; "" in a report, which has places instead.
    ``around`` are parameters that every address keeps, such as the chosen conversation.
    """

    base: str
    around: tuple[tuple[str, str], ...] = ()

    @property
    def live(self) -> bool:
        """Whether there is a server that answers."""
        return bool(self.base)

    def page(self, name: str = "", **parameters: str | int) -> str:
        """Return the address of a page of the session; ``_`` at the end of a name is dropped."""
        if not self.base:
            return f"#{name or 'overview'}"
        return f"{self.base}{'/' if name else ''}{name}{self._query(parameters)}"

    def request(self, number: int) -> str | None:
        """Return the address of what the model saw at a request; None in a report."""
        return self.page(f"requests/{number}") if self.base else None

    def compaction(self, index: int, **parameters: str | int) -> str:
        """Return the address of the compaction that a segment begins with."""
        return (
            self.page(f"compactions/{index}", **parameters)
            if self.base
            else f"#compaction-{index}"
        )

    def message(self, number: str, **parameters: str | int) -> str | None:
        """Return the address of a message, whole; None in a report."""
        return self.page(f"messages/{quote(number)}", **parameters) if self.base else None

    def _query(self, parameters: Mapping[str, str | int]) -> str:
        pairs = [*self.around, *((name.rstrip("_"), str(v)) for name, v in parameters.items())]
        return f"?{urlencode(pairs)}" if pairs else ""
