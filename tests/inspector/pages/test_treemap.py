from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from foldline.inspector.pages.tokens import Box, squarify

SIZES = st.lists(st.integers(1, 10**6), min_size=1, max_size=60)


@given(SIZES, st.floats(1, 1000), st.floats(1, 1000))
def test_areas_are_in_proportion_and_fill_the_whole(
    sizes: list[int], width: float, height: float
) -> None:
    ordered = sorted(sizes, reverse=True)
    boxes = squarify(ordered, Box(0, 0, width, height))
    whole = width * height
    for size, box in zip(ordered, boxes, strict=True):
        assert abs(box.width * box.height - whole * size / sum(sizes)) <= 1e-6 * whole
        assert box.x >= -1e-6
        assert box.y >= -1e-6
        assert box.x + box.width <= width * (1 + 1e-6)
        assert box.y + box.height <= height * (1 + 1e-6)


def test_equal_sizes_in_a_square_are_squares() -> None:
    assert {(b.width, b.height) for b in squarify([1] * 4, Box(0, 0, 2, 2))} == {(1, 1)}


def test_nothing_divides_into_nothing() -> None:
    assert squarify([], Box(0, 0, 1, 1)) == []
