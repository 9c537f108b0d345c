from __future__ import annotations

import tomllib

import pytest
from tests.cli.sample import write_conversation
from tests.inspector.sample import from_our_file

from foldline.core.config import POLICY_NAMES, Config
from foldline.errors import BudgetError
from foldline.inspector.pages.what_if import SimulationSettings, as_toml, attempt, read_settings
from foldline.inspector.trace import SessionTrace


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> SessionTrace:
    return from_our_file(write_conversation(tmp_path_factory.mktemp("file") / "s.json", 30))


@pytest.mark.parametrize("policy", POLICY_NAMES)
def test_a_simulation_matches_the_library(trace: SessionTrace, policy: str) -> None:
    view = trace.segments[-1].messages
    trial = attempt(trace, view, SimulationSettings(policy=policy, budget=4_000))
    assert trial.receipt.status == "compacted"
    assert trial.comparison.after == trial.receipt.tokens_after <= 4_000
    said, before, after = trial.names
    assert said == before > after > 0
    assert trace.segments[-1].messages is view


def test_more_room_keeps_more_names(trace: SessionTrace) -> None:
    view = trace.segments[-1].messages
    small, large = (attempt(trace, view, SimulationSettings(budget=b)) for b in (2_000, 12_000))
    assert small.names[2] < large.names[2]


def test_the_prompt_of_a_summarizer_is_shown_without_calling_a_model(trace: SessionTrace) -> None:
    view = trace.segments[-1].messages
    prompts = {
        attempt(trace, view, SimulationSettings(budget=4_000, template=template)).prompt
        for template in ("account", "nine_sections")
    }
    assert len(prompts) == 2
    assert all("src/app.py" in prompt for prompt in prompts)


def test_a_window_that_is_not_full_changes_nothing(trace: SessionTrace) -> None:
    trial = attempt(trace, trace.segments[-1].messages, SimulationSettings(window=1_000_000))
    assert trial.receipt.status == "unchanged"
    assert trial.requests is None


def test_the_exported_configuration_is_read_back_as_it_was() -> None:
    wish = SimulationSettings(
        policy="salient", window=64_000, target=0.3, tail=0.25, template="nine_sections"
    )
    config = wish.config(Config())
    assert Config.from_dict(tomllib.loads(as_toml(config))) == config
    assert as_toml(Config()).strip() == ""


@pytest.mark.parametrize(
    "said", [{"budget": "many"}, {"budget": "-3"}, {"target": "7"}, {"tail": "nan"}]
)
def test_a_field_that_is_not_a_number_is_named(said: dict[str, str]) -> None:
    with pytest.raises(BudgetError, match=next(iter(said))):
        read_settings(said)
