from __future__ import annotations

import pytest

from foldline.core.config import Config
from foldline.core.scenarios import SCENARIOS
from foldline.engine.policies import configure
from foldline.errors import BudgetError


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
def test_a_scenario_can_be_changed_and_an_unknown_one_is_refused():
    assert Config.scenario("coding", clearing={"keep": 9}).clearing.keep == 9
    with pytest.raises(BudgetError, match=r"no scenario 'codding'.*Did you mean 'coding'"):
        Config.scenario("codding")
