from foldline.core.strategy import Policy, Rung
from foldline.strategies.clear import Clear
from foldline.strategies.window import Window


def test_a_policy_is_due_when_its_first_rung_is():
    assert Policy("p", (Rung(Window(), 0.9), Rung(Clear(), 0.5))).trigger == 0.5


def test_a_policy_without_rungs_is_due_when_the_window_is_full():
    assert Policy("nothing", ()).trigger == 1.0
