import pytest

import foldline
from foldline import Session
from foldline.core.config import POLICY_NAMES, Config
from foldline.core.strategy import Policy
from foldline.engine.policies import POLICIES, configure, policy
from foldline.errors import BudgetError
from foldline.stores.memory import MemoryStore
from foldline.strategies.clear import Clear


@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_has_rungs_and_its_own_name(name):
    found = policy(name)
    assert isinstance(found, Policy)
    assert found.name == name
    assert found.rungs
    assert 0 < found.trigger <= 1


def test_a_policy_object_is_returned_unchanged():
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
def test_cheaper_rungs_are_due_before_more_expensive_ones(name):
    triggers = [rung.trigger for rung in policy(name).rungs]
    assert triggers == sorted(triggers)


@pytest.mark.parametrize("name", [name for name in POLICY_NAMES if name != "fraction"])
def test_the_default_configuration_describes_the_policies_as_they_are(name):
    assert configure(Config(policy=name)) == policy(name)


def test_thresholds_and_retention_settings_reach_the_rungs():
    config = Config().replace(
        thresholds={"clear_at": 0.3, "act_at": 0.75, "warn_at": 0.5},
        clearing={"keep": 0, "only": ["read"], "never": ["memory"], "gain_tokens": 5},
        tail={"fraction": 0.4},
    )
    assert configure(config) == policy(
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
    assert configure(recent) == policy("keep_recent", n=3)
    assert configure(Config(policy="fraction")) == policy("fraction")
    late = Config(policy="fraction").replace(thresholds={"act_at": 0.9})
    assert configure(late) == policy("fraction", trigger=0.9)


# --- name, configuration and arguments -----------------------------------------------------


def clearing(made):
    return next(rung.strategy for rung in made.rungs if isinstance(rung.strategy, Clear))


def test_a_name_overrides_the_configured_policy_and_keeps_its_settings():
    config = Config(
        policy="salient", clearing={"never": ["memory"], "keep": 9}, thresholds={"clear_at": 0.4}
    )
    made = configure(config, "clear")
    assert made.name == "clear"
    assert (clearing(made).never, clearing(made).keep) == (("memory",), 9)
    assert made.rungs[0].trigger == 0.4
    assert configure(config).name == "salient"
    tuned = configure(Config(tail={"newest": 3}), "rounds")
    assert tuned.rungs[0].strategy.keep.amount == 3


def test_a_policy_object_takes_only_protected_tools_from_the_configuration():
    finished = policy("clear", keep=2, never=("ask",))
    config = Config(clearing={"never": ["memory"], "keep": 9})
    made = configure(config, finished)
    assert clearing(made).keep == 2
    assert set(clearing(made).never) == {"ask", "memory"}
    assert configure(Config(), finished) is finished


def test_a_setting_that_the_policy_does_not_read_is_an_error():
    with pytest.raises(BudgetError, match=r"clear does not read tail\.newest"):
        configure(Config(tail={"newest": 3}), "clear")
    with pytest.raises(BudgetError, match="There is no policy"):
        configure(Config(), "no_such")


@pytest.mark.parametrize("opens", ["call", "session"])
def test_protected_tools_hold_for_policy_names_and_objects(opens):
    steps = [
        message
        for n in range(12)
        for message in (
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": f"c{n}",
                        "type": "function",
                        "function": {"name": "memory" if n < 3 else "read", "arguments": "{}"},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": f"c{n}", "content": f"found {n} " * 300},
        )
    ]
    messages = [{"role": "user", "content": "go"}, *steps, {"role": "user", "content": "on"}]
    config = Config(clearing={"never": ["memory"]})
    for named in ("clear", policy("clear")):
        if opens == "call":
            sent = foldline.compact(messages, window=14_000, policy=named, config=config).messages
        else:
            settings = {"window": 14_000, "policy": named, "config": config}
            now = [0.0]
            settings["clock"] = lambda now=now: now[-1]
            with Session.open(None, "s", store=MemoryStore(), **settings) as session:
                session.extend(messages)
                now.append(10_000.0)  # the cache is cold: clearing costs nothing
                sent = session.view()
        assert sent != messages
        assert sent[2] is messages[2]
        assert sent[10]["content"].startswith("[Cleared")
