"""The statistics of a log are bounded, and the same whenever they are built."""

import pytest
from tests.neutral import A, T, U, c
from tests.neutral import log as numbered
from tests.session.logs import log_of, make_messages

from foldline.core.retention_settings import FileSettings
from foldline.reinjection.working_set import WorkingSet
from foldline.session import statistics as module
from foldline.session.statistics import BackgroundStatistics, SessionStatistics
from foldline.values.vocabulary import Vocabulary

FILES = FileSettings()


@pytest.fixture
def worked():
    messages = [U("mend src/app.py")]
    for number in range(30):
        call = c(f"c{number}", "read_file", f'{{"path": "src/file{number % 7}.py"}}')
        messages += [A(f"I look at file{number}", call), T(f"c{number}", f"line_{number} = 1")]
    log = log_of()
    for message in numbered(*messages):
        log.append(message)
    return log


def test_statistics_equal_those_of_the_whole_log(worked):
    found = SessionStatistics.of(worked, (), FILES)

    assert found.vocabulary == Vocabulary.of(worked)
    assert found.working.accesses == WorkingSet.of(worked, FILES).accesses
    assert found.known == len(worked)


def test_messages_neither_new_nor_in_view_do_not_count(worked, monkeypatch):
    monkeypatch.setattr(module, "HORIZON", 4)
    first = worked[0]

    found = SessionStatistics.of(worked, [first.id], FILES)

    assert found.vocabulary == Vocabulary.of([first, *worked[-4:]])
    assert [touch.path for touch in found.working.accesses] == ["src/file0.py", "src/file1.py"]


def test_statistics_are_rebuilt_at_twice_the_horizon(monkeypatch):
    monkeypatch.setattr(module, "HORIZON", 4)
    log = log_of(make_messages(20))
    everything = [message.id for message in log]

    little, much = (
        SessionStatistics.of(log, (), FILES),
        SessionStatistics.of(log, everything, FILES),
    )
    for message in make_messages(10, 100):
        little.add(len(log), message)
        much.add(len(log), message)

    assert little.is_stale
    assert not much.is_stale


def test_the_worker_adds_messages_appended_since(worked):
    trailing = BackgroundStatistics()
    first = trailing.vocabulary(worked, ())
    for message in numbered(U("and src/other.py"), A("yes")):
        worked.append(message)

    assert trailing.vocabulary(worked, ()) is first
    assert first == Vocabulary.of(worked)


def test_the_worker_rebuilds_for_another_log_and_after_an_error(worked, monkeypatch):
    trailing = BackgroundStatistics()
    first = trailing.vocabulary(worked, ())
    worked.append(make_messages(1)[0])
    with monkeypatch.context() as patch:
        patch.setattr(Vocabulary, "add", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            trailing.vocabulary(worked, ())

    again = trailing.vocabulary(worked, ())

    assert again is not first
    assert again == Vocabulary.of(worked)
    assert trailing.vocabulary(log_of(make_messages(3)), ()) == Vocabulary.of(make_messages(3))
