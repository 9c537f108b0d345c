from foldline.tokens.pieces import without_lone_surrogates


def test_replaces_lone_surrogates_and_joins_pairs() -> None:
    assert without_lone_surrogates("a\ud800b\udc00") == "a\ufffdb\ufffd"
    assert without_lone_surrogates("\ud83d\ude42") == "🙂"


def test_other_text_is_unchanged() -> None:
    text = "plain, 漢字, 🙂, \0 and \ufffd\n"
    assert without_lone_surrogates(text) == text
