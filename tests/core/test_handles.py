from dataclasses import replace

from tests.neutral import U, log

from foldline.core.handles import Handles, handles, part_handle
from foldline.core.messages import Message, Text


def test_a_handle_is_the_shortest_beginning_of_an_id_that_is_unique():
    messages = log(*(U(str(n)) for n in range(500)))
    found = handles(messages)
    assert len(set(found.values())) == 500
    assert all(number.startswith(handle) for number, handle in found.items())
    assert all(len(handle) >= 6 for handle in found.values())


def test_ids_that_begin_alike_get_longer_handles():
    alike = [replace(U("x"), id=prefix * 8) for prefix in ("abcd", "abce", "1234")]
    alike[1] = replace(alike[1], id="abcdabcdffff" + "0" * 20)
    found = handles(alike)
    assert found[alike[0].id] == "abcdabcda"
    assert found[alike[1].id] == "abcdabcdf"
    assert found[alike[2].id] == "123412"


def test_the_handle_of_a_part_has_its_position_where_there_are_several():
    two = Message("user", (Text("a"), Text("b")))
    assert part_handle("abc123", two, 1) == "abc123.1"
    assert part_handle("abc123", U("a"), 0) == "abc123"
    assert part_handle("abc123", replace(two, origin="repair"), 1) == "abc123"


def test_handles_that_nobody_asks_for_cost_nothing_and_are_the_same_ones():
    messages = log(*(U(str(n)) for n in range(50)))
    read = []

    def reading():
        for message in messages:
            read.append(message)
            yield message

    later = Handles(reading())
    assert read == []
    assert dict(later) == handles(messages)
    assert len(later) == len(read) == 50
