from __future__ import annotations

import io
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from foldline.errors import InputError
from foldline.formats import zip_archive
from foldline.formats.zip_archive import ZipEntry, entry_names, pack, unpack


def archive(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return out.getvalue()


def test_a_changed_member_is_the_only_thing_that_changes() -> None:
    members = unpack(archive({"a": b"1", "b/c": b"2", "d": b"3"}), "x.eval")
    again = unpack(pack(members, {"b/c": b"new"}), "x.eval")
    assert [(m.info.filename, m.data) for m in again] == [
        ("a", b"1"),
        ("b/c", b"new"),
        ("d", b"3"),
    ]
    assert [m.info.date_time for m in again] == [m.info.date_time for m in members]
    assert all(m.info.compress_type == zipfile.ZIP_DEFLATED for m in again)


def test_a_member_that_unpacks_to_too_much_is_refused() -> None:
    bomb = archive({"bomb": b"\0" * (9 * 2**20)})
    with pytest.raises(InputError, match=r"x\.eval is larger than 8,388,608 bytes"):
        unpack(bomb, "x.eval")
    assert len(unpack(bomb, "x.eval", 9 * 2**20)[0].data) == 9 * 2**20


def test_many_members_that_together_are_too_much_are_refused() -> None:
    bomb = archive({str(number): b"\0" * 400_000 for number in range(4)})
    with pytest.raises(InputError, match="larger than 1,048,576 bytes"):
        unpack(bomb, "x.eval", 2**20)


def test_too_many_members_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_archive, "MAX_MEMBERS", 3)
    with pytest.raises(InputError, match="more than 3 members"):
        unpack(archive({str(number): b"" for number in range(4)}), "x.eval")


@pytest.mark.parametrize("cut", [10, 40, 90])
def test_a_damaged_archive_is_an_error_of_ours(cut: int) -> None:
    data = archive({"samples/1.json": b"{}" * 100})
    with pytest.raises(InputError, match="not a readable zip file"):
        unpack(data[:cut], "x.eval")
    assert entry_names(data[:cut]) == []


def test_a_wrong_checksum_is_an_error_of_ours() -> None:
    data = archive({"a": b"hello world" * 20})
    broken = bytearray(data)
    broken[35] ^= 0xFF
    with pytest.raises(InputError):
        unpack(bytes(broken), "x.eval")


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), min_size=1, max_size=5))
def test_what_is_overwritten_is_read_within_the_bounds_or_is_one_error_that_names_the_file(
    changes: list[tuple[int, int]],
) -> None:
    data = bytearray(archive({"samples/1.json": b'{"a": 1}' * 30, "header.json": b"{}"}))
    for position, value in changes:
        data[position % len(data)] = value
    names, found = entry_names(bytes(data)), outcome(bytes(data))
    if isinstance(found, InputError):
        assert "x.eval" in str(found)
    else:
        assert [member.info.filename for member in found] == names
        assert sum(len(member.data) for member in found) <= 1_000


def outcome(data: bytes) -> tuple[ZipEntry, ...] | InputError:
    try:
        return unpack(data, "x.eval", 1_000)
    except InputError as error:
        return error
