import pytest

from foldline.core.config import POLICY_NAMES, Config
from foldline.core.errors import BudgetError
from foldline.core.strategy import Policy
from foldline.strategies.presets import POLICIES, configured, policy


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_has_rungs_and_its_own_name(name):
    found = policy(name)
    assert isinstance(found, Policy)
    assert found.name == name
    assert found.rungs
    assert 0 < found.trigger <= 1


def test_a_policy_of_ones_own_is_taken_as_it_is():
    mine = Policy("mine", ())
    assert policy(mine) is mine


def test_policies_can_be_tuned():
    assert policy("clear", trigger=0.3).trigger == 0.3
    assert policy("keep_recent", n=3) != policy("keep_recent", n=4)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(BudgetError, match=r"no policy 'magic'.*default"):
        policy("magic")


def test_an_unknown_argument_names_the_policy():
    with pytest.raises(BudgetError, match="Policy window"):
        policy("window", keep=3)


@pytest.mark.parametrize("name", POLICIES)
def test_cheaper_rungs_are_due_before_dearer_ones(name):
    triggers = [rung.trigger for rung in policy(name).rungs]
    assert triggers == sorted(triggers)


@pytest.mark.parametrize("name", [name for name in POLICY_NAMES if name != "fraction"])
def test_the_default_configuration_describes_the_policies_as_they_are(name):
    assert configured(Config(policy=name)) == policy(name)


def test_thresholds_and_what_stays_reach_the_rungs():
    config = Config().replace(
        thresholds={"clear_at": 0.3, "act_at": 0.75, "warn_at": 0.5},
        clearing={"keep": 0, "only": ["read"], "never": ["memory"], "gain_tokens": 5},
        tail={"fraction": 0.4},
    )
    assert configured(config) == policy(
        "default",
        keep=0,
        tail=0.4,
        clear_at=0.3,
        act_at=0.75,
        only=("read",),
        never=("memory",),
        gain_tokens=5,
    )
    recent = Config(policy="keep_recent").replace(tail={"newest": 3})
    assert configured(recent) == policy("keep_recent", n=3)
    assert configured(Config(policy="fraction")) == policy("fraction", trigger=0.8)
