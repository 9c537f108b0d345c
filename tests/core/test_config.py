from __future__ import annotations

from foldline import Config, Limits, Reply, Session


def test_the_limits_of_a_configuration_hold_in_a_session(tmp_path):
    asked = []

    def busy(ask):
        asked.append(ask)
        return Reply(error="busy")

    config = Config(limits=Limits(attempts=1))
    with Session.open(tmp_path / "a.db", "s", window=8_000, summarizer=busy, config=config) as s:
        s.extend(
            {"role": role, "content": f"{role} {number} " + "word " * 300}
            for number in range(30)
            for role in ("user", "assistant")
        )
        receipt = s.compact(force=True)
    assert len(asked) == receipt.spent.attempts == 1
