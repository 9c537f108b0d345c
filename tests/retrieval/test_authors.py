"""Authors named in a query."""

import pytest

from foldline.retrieval.query_mentions import AuthorNames


def known(*authors):
    names = AuthorNames()
    for author in authors:
        names.add(author)
    return names


@pytest.mark.parametrize(
    ("query", "authors", "rest"),
    [
        ("What did Caroline paint?", {"Caroline Smith"}, "What did paint?"),
        ("caroline's dog", {"Caroline Smith"}, "dog"),
        ("Caroline Smith and Will", {"Caroline Smith", "Will"}, "and"),
        ("will it rain?", set(), "will it rain?"),
        ("What did Will say?", {"Will"}, "What did say?"),
        ("the Carolines", set(), "the Carolines"),
        ("小明的生日", {"小明"}, "的生日"),
    ],
)
def test_a_name_is_found_and_taken_out(query, authors, rest):
    found = known("Caroline Smith", "Will", "小明").named(query)
    assert found.authors == authors
    assert found.rest == rest


def test_a_removed_author_is_no_longer_known():
    names = known("Ann", "Ann")
    names.remove("Ann")
    assert names.named("Ann?").authors == {"Ann"}
    names.remove("Ann")
    assert names.named("Ann?").authors == frozenset()


def test_names_made_of_signs_are_taken_as_they_are():
    assert known("a.*(b", "[x]").named("what about a.*(b here").authors == {"a.*(b"}
