from foldline.tokens.estimate import EstimatedCounter, estimate


def test_counts_with_the_weights_of_its_family() -> None:
    counter = EstimatedCounter("qwen")
    assert counter.count("year 2025, 12345678 rows") == estimate(
        "year 2025, 12345678 rows", "qwen"
    )
    assert counter.name == "estimate:qwen"
    assert not counter.exact


def test_names_the_weights_it_really_uses() -> None:
    assert EstimatedCounter("no such family").name == "estimate:o200k"


def test_any_text_gets_a_number() -> None:
    assert EstimatedCounter().count("") == 0
    assert EstimatedCounter().count("\ud800 <|endoftext|> \0") > 0
