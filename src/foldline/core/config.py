"""All settings of a session or a compaction, and scenarios that preset some of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Self

from foldline.core.budget import COMFORT, Budget, Levels, Pacing, Room, Thresholds
from foldline.core.economy import Economy
from foldline.core.limits import BreakerSettings, Limits
from foldline.core.prepared import MemorySettings
from foldline.core.retention_settings import Clearing, FileSettings, Outputs, Tail
from foldline.core.settings_codec import from_plain, unknown_key_error
from foldline.core.summary_settings import SummarySettings
from foldline.core.validation import check_name
from foldline.errors import BudgetError
from foldline.frozen import field, fields, frozen, replace, to_dict

POLICY_NAMES = ("default", "salient", "clear", "keep_recent", "rounds", "fraction", "window")
"""The bundled policies, which `foldline.engine.policies` creates."""

EMBEDDED: Final = "embedded"
"""The summarizer without a model."""


@frozen
class Config:
    """
    The settings of context management.

    ``enabled`` switches everything automatic; explicit calls still work.
    ``policy`` names the ladder and ``summarizer`` the writer of summaries: "embedded" (no model),
    "same" (the agent's model), "light" (the small model of the same family), or a model's name.
    ``limits`` bounds the model use of one compaction, ``files`` selects the files it reinjects:
    none unless a directory is named. The table in docs/configuration.md has every setting.

    Raises:
        BudgetError: A setting is invalid, or contradicts another one.
    """

    enabled: bool = True
    policy: str = "default"
    summarizer: str = EMBEDDED
    thresholds: Thresholds = field(default_factory=Thresholds)
    room: Room = field(default_factory=Room)
    pace: Pacing = field(default_factory=Pacing)
    economy: Economy = field(default_factory=Economy)
    tail: Tail = field(default_factory=Tail)
    clearing: Clearing = field(default_factory=Clearing)
    outputs: Outputs = field(default_factory=Outputs)
    limits: Limits = field(default_factory=Limits)
    summary: SummarySettings = field(default_factory=SummarySettings)
    breaker: BreakerSettings = field(default_factory=BreakerSettings)
    memory: MemorySettings = field(default_factory=MemorySettings)
    files: FileSettings = field(default_factory=FileSettings)

    def __post_init__(self) -> None:
        for name, kind in _SECTIONS.items():
            value = getattr(self, name)
            if isinstance(value, Mapping):
                object.__setattr__(self, name, from_plain(kind, value, f"{name}."))
            elif not isinstance(value, kind):
                raise BudgetError(
                    f"{name} is {kind.__name__} or a mapping, not {value!r:.40}.",
                    hint=f'Write {name}={{"…": …}}.',
                )
        if not isinstance(self.enabled, bool):
            raise BudgetError(f"enabled must be true or false, not {self.enabled!r:.40}.")
        check_name("policy", self.policy, POLICY_NAMES)
        if not isinstance(self.summarizer, str) or not 0 < len(self.summarizer) <= 200:
            raise BudgetError(
                "The summarizer is a name.",
                hint="Give embedded, same, light, or the name of a model.",
            )

    # --- construction ----------------------------------------------------------------------

    @classmethod
    def scenario(cls, name: str, **changes: Any) -> Self:
        """
        Return the settings for a kind of work.

        Args:
            name: "coding", "support", "research" or "lightweight".
            **changes: Settings that differ; see `replace`.

        Raises:
            BudgetError: There is no such scenario.
        """
        check_name("scenario", name, SCENARIOS)
        return cls.from_dict(SCENARIOS[name]).replace(**changes)

    @classmethod
    def for_window(cls, window: int, **changes: Any) -> Self:
        """
        Return the settings for a window; a very large one is not filled.

        Quality falls long before a window of ten million tokens is full, so a compaction starts at
        `COMFORT` tokens at the latest.

        Args:
            window: The model's window, in tokens.
            **changes: Settings that differ; see `replace`.
        """
        made = cls(room=Room(window=window)).replace(**changes)
        scale = made.budget().scale
        return replace(made, thresholds=made.thresholds.within(COMFORT, scale))

    @classmethod
    def from_dict(cls, value: Mapping[str, Any]) -> Self:
        """
        Read a result of `to_dict`, or a part of it; missing settings have their defaults.

        Raises:
            BudgetError: A key is unknown, or a value is invalid.
        """
        return from_plain(cls, value)

    def to_dict(self) -> dict[str, Any]:
        """Return all settings as JSON values."""
        return to_dict(self)

    def replace(self, **changes: Any) -> Self:
        """
        Return a copy with some settings changed.

        Args:
            **changes: Fields; a mapping changes some settings of a field and keeps the others.

        Raises:
            BudgetError: A key is unknown, or a value is invalid.
        """
        for name, value in changes.items():
            if name not in self.__match_args__:
                raise unknown_key_error(name, list(self.__match_args__))
            if isinstance(value, Mapping):
                old = getattr(self, name)
                changes[name] = from_plain(type(old), {**to_dict(old), **value}, f"{name}.")
        return replace(self, **changes)

    # --- in tokens -------------------------------------------------------------------------

    def budget(
        self, window: int | None = None, *, output: int | None = None, overhead: int = 0
    ) -> Budget:
        """
        Return the budget of messages.

        Args:
            window: The model's window in tokens; None for that of ``room``.
            output: Tokens reserved for the answer; None for the value of ``room``.
            overhead: Tokens of system prompt and tool schemas.

        Raises:
            BudgetError: Nothing is left for messages.
        """
        room, at = self.room, self.thresholds
        return Budget.of_window(
            room.window if window is None else window,
            output=room.output if output is None else output,
            margin=room.margin,
            overhead=overhead,
            target=at.target,
            act=at.act_at,
            hard=at.hard_at,
            max_input=room.max_input,
        )

    def levels(self, window: int | None = None, *, output: int | None = None) -> Levels:
        """Return the thresholds in tokens for a window; see `budget` for the arguments."""
        scale, at = self.budget(window, output=output).scale, self.thresholds
        parts = (at.target, at.clear_at, at.warn_at, at.act_at, at.hard_at)
        return Levels(*(max(1, int(part * scale)) for part in parts))


_SECTIONS: Final[dict[str, Any]] = {
    item.name: item.default_factory
    for item in fields(Config)
    if isinstance(item.default_factory, type)
}
"""The fields of a configuration that are settings classes."""


SCENARIOS: Final[dict[str, dict[str, Any]]] = {
    # Files are read, changed and read again: keep more results, and more of the newest work.
    "coding": {
        "clearing": {"keep": 5},
        "tail": {"fraction": 0.15},
        "summary": {"max_tokens": 10_000},
        "files": {"count": 8, "total_tokens": 80_000},
    },
    # Short exchanges: little of the old content is needed again.
    "support": {
        "thresholds": {"clear_at": 0.60, "warn_at": 0.75, "act_at": 0.85, "target": 0.35},
        "clearing": {"keep": 1},
        "outputs": {"soft": 4_000, "hard": 8_000},
        "summary": {"max_tokens": 5_000},
        "files": {"count": 0},
    },
    # Many sources whose text matters: act early, keep much, bound outputs late.
    "research": {
        "thresholds": {"target": 0.50},
        "economy": {"keep": 80_000},
        "tail": {"fraction": 0.15},
        "outputs": {"soft": 12_000, "hard": 30_000, "style": "salient"},
        "summary": {"max_tokens": 13_000},
        "files": {"count": 10, "file_tokens": 8_000, "total_tokens": 100_000},
    },
    # Minimum tokens: a short tail, short outputs, no reinjection.
    "lightweight": {
        "thresholds": {"target": 0.25},
        "tail": {"fraction": 0.05},
        "clearing": {"keep": 1},
        "outputs": {"soft": 2_000, "hard": 6_000},
        "summary": {"max_tokens": 3_000},
        "files": {"count": 0},
    },
}
"""For each scenario, the settings of `foldline.Config` that differ from the defaults."""
