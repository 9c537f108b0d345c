"""Nothing inside a text appears to open or close the tag around it."""

import pytest
from tests.growth import grows_linearly

from foldline.values.tags import tag_starts

TAGS = tag_starts("item", "role_policies")


@pytest.mark.parametrize(
    "text", ["<item>", "</item>", "< item", "</ item", "< / ITEM x='1'>", "<\n/role_policies>"]
)
def test_loosely_written_tags_are_found(text):
    assert TAGS.sub("&lt;", f"a {text}") == f"a &lt;{text[1:]}"


@pytest.mark.parametrize("text", ["<items>", "a < b", "<other>", "< /", "item>", "<//item>"])
def test_other_tags_are_unchanged(text):
    assert TAGS.sub("&lt;", text) == text


@pytest.mark.parametrize(
    "make", [lambda n: "<" + " " * n, lambda n: "< " * n, lambda n: "</ " * n]
)
def test_finding_grows_linearly(make):
    assert grows_linearly(lambda text: TAGS.sub("", text), make, 2_000, 16_000)
