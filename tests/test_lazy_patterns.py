from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys

import pytest

from foldline.lazy_patterns import lazy_pattern


def test_it_finds_what_the_compiled_pattern_finds():
    source, text = r"(?P<word>[a-z]+)-(\d)", "Ab-1 cd-2"
    lazy, compiled = lazy_pattern(source, re.IGNORECASE), re.compile(source, re.IGNORECASE)
    for _ in range(2):
        assert lazy.findall(text) == compiled.findall(text)
        assert [m.groupdict() for m in lazy.finditer(text)] == [
            m.groupdict() for m in compiled.finditer(text)
        ]
    assert (lazy.pattern, lazy.flags) == (compiled.pattern, compiled.flags)


def test_it_is_compiled_at_the_first_use():
    broken = lazy_pattern("(")
    with pytest.raises(re.error):
        broken.search("")


def test_it_is_copied_and_pickled_before_its_first_use():
    lazy = lazy_pattern("b+")
    for made in (copy.copy(lazy), pickle.loads(pickle.dumps(lazy))):  # noqa: S301  # our own
        assert made.findall("abba") == ["bb"]


def test_a_first_compaction_is_loaded_without_compiling_a_pattern():
    ran = subprocess.run(
        [sys.executable, "-I", "-c", LOADING], capture_output=True, text=True, check=True
    )
    assert ran.stdout.split() == []


LOADING = """
import re, sys
compile = re.compile

def noted(*arguments, **flags):
    module = sys._getframe(1).f_globals["__name__"]
    if module.startswith("foldline."):
        print(module)
    return compile(*arguments, **flags)

re.compile = noted
import foldline.api
"""
