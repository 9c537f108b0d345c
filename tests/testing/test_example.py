import doctest

import foldline.testing


def test_the_example_in_the_documentation_runs():
    found = doctest.testmod(foldline.testing)
    assert found.attempted >= 5
    assert found.failed == 0
