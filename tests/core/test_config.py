from __future__ import annotations

import json

import pytest

from foldline import Config, Limits, Session, compact
from foldline.core.budget import COMFORT, Room
from foldline.core.config import POLICY_NAMES, SCENARIOS
from foldline.engine.policies import POLICIES, configure
from foldline.errors import BudgetError
from foldline.stores.memory import MemoryStore

WINDOWS = (1_024, 4_096, 16_385, 128_000, 200_000, 1_000_000, 10_000_000)


@pytest.mark.requirement("C22")
def test_a_configuration_is_json_and_is_read_back():
    config = Config.scenario("research", enabled=False, limits={"usd": 0.5}, policy="default")
    assert Config.from_dict(json.loads(json.dumps(config.to_dict()))) == config
    assert Config.from_dict({}) == Config()
    assert Config.from_dict({"limits": {"attempts": 2}}).limits == Limits(attempts=2)


@pytest.mark.requirement("C2", "C22")
@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Config(enabled="no"), "enabled must be true or false"),
        (lambda: Config(policy="defalt"), "no policy 'defalt'.*Did you mean 'default'"),
        (lambda: Config(policy=["default"]), "no policy"),
        (lambda: Config(summarizer=""), "summarizer is a name"),
        (lambda: Config().replace(tresholds={}), "no setting 'tresholds'.*'thresholds'"),
        (lambda: Config().replace(thresholds={"actat": 1}), r"'thresholds\.actat'"),
        (lambda: Config(thresholds=0.7), "thresholds is Thresholds or a mapping, not 0.7"),
        (lambda: Config(limits=None), "limits is Limits or a mapping"),
        (lambda: Config.from_dict({"limits": {"usd": -1}}), "Impossible limits"),
        (lambda: Config.for_window(0), "whole number from 1"),
    ],
)
def test_an_impossible_configuration_is_an_error_at_once(make, words):
    with pytest.raises(BudgetError, match=words):
        make()


def test_part_of_a_section_can_be_changed():
    config = Config().replace(clearing={"keep": 7}).replace(clearing={"never": ["memory"]})
    assert (config.clearing.keep, config.clearing.never) == (7, ("memory",))
    assert Config(clearing={"keep": 7, "never": ["memory"]}) == config
    with pytest.raises(AttributeError):
        config.policy = "clear"  # type: ignore[misc]


def test_the_policy_names_are_those_that_exist():
    assert set(POLICY_NAMES) == set(POLICIES)


@pytest.mark.requirement("C2", "C4", "K10", "K13")
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("make", [Config, Config.for_window], ids=["default", "for_window"])
def test_in_every_window_warning_action_and_limit_come_in_this_order(make, window):
    config = make(window=window) if make is not Config else Config()
    levels = config.levels(window)
    assert 0 < levels.target < levels.act
    assert 0 < levels.clear <= levels.warn < levels.act < levels.hard <= window


@pytest.mark.requirement("C2")
def test_a_very_large_window_is_compacted_long_before_it_is_full():
    assert Config.for_window(10_000_000).levels(10_000_000).act == pytest.approx(COMFORT, abs=1)
    assert Config.for_window(200_000).thresholds == Config().thresholds


@pytest.mark.requirement("K10", "C3", "C23")
@pytest.mark.parametrize(
    ("window", "output", "margin", "limit"),
    [
        (200_000, 20_000, 13_000, 167_000),
        (128_000, 16_000, 10_000, 102_000),
        (50_000, 4_000, 5_000, 41_000),
        (100_000, 8_000, 0, 92_000),
        (100_000, 30_000, 10_000, 60_000),
    ],
)
def test_reserves_in_tokens_give_the_limits_that_others_publish(window, output, margin, limit):
    budget = Config(room=Room(window, output, margin)).budget()
    assert budget.limit == limit
    assert not budget.is_due(1.0, limit)
    assert budget.is_due(1.0, limit + 1)


@pytest.mark.requirement("C23")
@pytest.mark.parametrize(
    ("window", "output", "most", "used", "over"),
    [
        (400_000, 0, 272_000, 274_000, True),
        (400_000, 0, 272_000, 230_000, False),
        (200_000, 10_000, 120_000, 59_999, False),
        (200_000, 32_000, None, 110_000, False),
        (100_000, 32_000, None, 80_000, True),
        (200_000, 20_000, 200_000, 181_000, True),
    ],
)
def test_the_providers_input_limit_applies_if_it_is_less(window, output, most, used, over):
    budget = Config(room=Room(window, output, 0, most)).budget()
    assert budget.is_due(1.0, used) is over


@pytest.mark.requirement("C23")
def test_the_window_of_the_call_overrides_that_of_the_configuration():
    config = Config(room=Room(window=50_000))
    assert config.budget(20_000).scale < config.budget().scale < 50_000
    assert not Config().budget().resolved


def test_the_hard_limit_bounds_the_messages():
    config = Config().replace(thresholds={"hard_at": 0.9})
    budget = config.budget(100_000, output=0, overhead=10_000)
    assert budget.limit == int(0.9 * budget.scale) - 10_000
    assert budget.around(20_000).limit == budget.limit - 10_000


def filled(config: Config) -> Session:
    made = Session.open(None, "s", store=MemoryStore(), window=4_000, config=config)
    made.append({"role": "user", "content": "Read the log."})
    call = {"id": "c", "type": "function", "function": {"name": "Read", "arguments": "{}"}}
    made.append({"role": "assistant", "content": None, "tool_calls": [call]})
    made.append({"role": "tool", "tool_call_id": "c", "content": "line\n" * 40_000})
    made.append({"role": "assistant", "content": "It is full of lines."})
    made.append({"role": "user", "content": "And now?"})
    return made


@pytest.mark.requirement("C1")
def test_disabled_compaction_still_works_on_request():
    off = filled(Config(enabled=False))
    assert off.view() == [message.raw for message in off.messages]
    assert (off.receipts, off.pressure.level) == ((), "over")
    assert off.compact().status == "compacted"
    assert off.pressure.level != "over"
    on = filled(Config())
    assert on.view() != [message.raw for message in on.messages]


@pytest.mark.requirement("C7", "C22")
def test_a_single_call_uses_the_configuration():
    messages = [
        {"role": role, "content": f"{role} {number} " + "word " * 200}
        for number in range(30)
        for role in ("user", "assistant")
    ]
    tight = Config(policy="salient").replace(thresholds={"target": 0.15})
    wide = compact(messages, window=12_000, config=Config(policy="salient")).receipt
    small = compact(messages, window=12_000, config=tight).receipt
    assert small.tokens_after < wide.tokens_after
    assert (
        compact(messages, window=12_000, config=tight, policy="window").receipt.policy == "window"
    )
    room = Config().replace(room={"window": 12_000})
    assert compact(messages, config=room).receipt.status == "compacted"
    assert compact(messages, config=Config(enabled=False), window=12_000).receipt.edits


@pytest.mark.requirement("K40")
@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_is_valid_differs_from_the_defaults_and_makes_a_policy(name):
    config = Config.scenario(name)
    assert config != Config()
    assert configure(config).rungs
    for window in (4_096, 200_000, 1_000_000):
        levels = config.levels(window)
        assert 0 < levels.clear <= levels.warn < levels.act < levels.hard <= window


@pytest.mark.requirement("K40")
def test_scenarios_differ_in_the_way_that_their_work_does():
    coding, support, research, light = (
        Config.scenario(name) for name in ("coding", "support", "research", "lightweight")
    )
    assert coding.clearing.keep > support.clearing.keep == light.clearing.keep
    assert research.thresholds.target > coding.thresholds.target > light.thresholds.target
    assert research.files.count > coding.files.count > support.files.count == 0
    assert research.outputs.hard > coding.outputs.hard > support.outputs.hard


@pytest.mark.requirement("K40")
def test_a_scenario_can_be_changed_and_an_unknown_one_is_rejected():
    assert Config.scenario("coding", clearing={"keep": 9}).clearing.keep == 9
    with pytest.raises(BudgetError, match=r"no scenario 'codding'.*Did you mean 'coding'"):
        Config.scenario("codding")
