from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.growth import grows_linearly
from tests.neutral import U, log

from foldline.values.handles import Handles, Register, handles, part_handle
from foldline.values.messages import Message, Text


def test_a_handle_is_the_shortest_unique_prefix_of_an_id():
    messages = log(*(U(str(n)) for n in range(500)))
    found = handles(messages)
    assert len(set(found.values())) == 500
    assert all(number.startswith(handle) for number, handle in found.items())
    assert all(len(handle) >= 6 for handle in found.values())


def test_ids_with_a_common_prefix_get_longer_handles():
    alike = [replace(U("x"), id=prefix * 8) for prefix in ("abcd", "abce", "1234")]
    alike[1] = replace(alike[1], id="abcdabcdffff" + "0" * 20)
    found = handles(alike)
    assert found[alike[0].id] == "abcdabcda"
    assert found[alike[1].id] == "abcdabcdf"
    assert found[alike[2].id] == "123412"


def test_the_handle_of_a_part_has_its_position_if_there_are_several():
    two = Message("user", (Text("a"), Text("b")))
    assert part_handle("abc123", two, 1) == "abc123.1"
    assert part_handle("abc123", U("a"), 0) == "abc123"
    assert part_handle("abc123", replace(two, origin="repair"), 1) == "abc123"


@given(st.lists(st.text("0123", min_size=9, max_size=9), unique=True, max_size=40), st.data())
def test_a_handle_is_as_long_as_no_other_id_begins_with_it(ids, data):
    numbers = [f"aaaa{number}" for number in ids]
    cut = data.draw(st.integers(0, len(numbers)))
    beside = [Message("user", (), id=number) for number in numbers[cut // 2 :]]
    register = Register(numbers[: cut // 2])
    for number in numbers[cut // 2 : cut]:
        register.add(number)

    found = Handles(register, beside)

    for number, handle in found.items():
        lengths = range(6, len(number) + 1)
        unique = (n for n in lengths if sum(o.startswith(number[:n]) for o in numbers) == 1)
        assert handle == number[: next(unique)]
    assert dict(found) == handles([Message("user", (), id=number) for number in numbers])
    assert len(found) == len(numbers)
    assert "ffff" not in found
    assert None not in found


def test_ids_that_begin_alike_do_not_slow_each_other_down():
    def alike(count):
        return Handles(Register(f"aaaaaa{number:06d}" for number in range(count)))

    assert grows_linearly(lambda found: set(found.values()), alike, 1_000, 8_000)


def test_a_large_register_finds_every_id(monkeypatch):
    monkeypatch.setattr("foldline.values.handles.LATE", 7)
    numbers = [f"{number * 7919 % 1_000:06d}" for number in range(500)]
    register = Register(numbers[:50])
    for number in numbers[50:]:
        register.add(number)

    assert list(register) == sorted(numbers)
    assert all(number in register for number in numbers)
    assert register.near("0001") == [n for n in sorted(numbers) if n.startswith("0001")]
    assert "x" not in register
