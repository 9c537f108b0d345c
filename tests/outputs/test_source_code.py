"""Source code as an output."""

from foldline.outputs.condensing import condense
from foldline.outputs.source_code import is_code, source_code

FILE = """\
package cart

// Total returns what all items cost, without tax.
func Total(items []Item) int {
    sum := 0
    for _, item := range items {
        sum += item.Price
    }
    return sum
}

// Pay charges the card once, so that a second click does no harm.
func Pay(card Card, amount int) error {
    if amount <= 0 {
        return errors.New("payment failed: nothing to pay")
    }
    if err := card.Charge(amount); err != nil {
        return fmt.Errorf("error: card declined: %w", err)
    }
    return nil
}

func (c Card) Valid() bool {
    return c.Number != ""
}
"""
LINES = [line.strip() for line in FILE.split("\n") if line.strip()]


def test_code_is_told_from_prose_logs_and_lists():
    assert is_code(LINES)
    assert not is_code([f"We changed number {n} because it was wrong." for n in range(40)])
    assert not is_code([f"10:4{n % 10}:00 INFO all is well {n}" for n in range(40)])
    assert not is_code([f"src/module_{n}/file.py" for n in range(40)])


def test_definitions_and_comments_that_are_sentences_are_worth_most():
    made = source_code(LINES)
    told = [made.lines[place] for place in sorted(made.worth)]
    assert "// Pay charges the card once, so that a second click does no harm." in told
    assert "func Pay(card Card, amount int) error {" in told
    assert not any("sum" in line for line in told)


def test_what_a_program_would_say_is_no_failure():
    made = condense(FILE * 2)
    assert made.kind == "code"
    failing = [place for place, line in enumerate(made.lines) if "payment failed" in line]
    assert not any(place in made.worth for place in failing)


def test_a_line_of_a_function_belongs_to_its_definition():
    made = source_code(LINES)
    place = made.lines.index("sum := 0")
    head = made.head(place)
    assert head is not None
    assert made.lines[head] == "func Total(items []Item) int {"
