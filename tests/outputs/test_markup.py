"""HTML."""

import pytest
from tests.growth import grows_linearly, repeated

from foldline.outputs.markup import is_markup, markup_lines

PAGE = """<!DOCTYPE html><html><head><title>Stock</title><style>p { x: y }</style>
<script>if (a < b) { "<p>no</p>" }</script></head><body><!-- hidden <p>no</p> -->
<h1>Ware<b>house</b></h1><p>Call
us: <a href="tel:+4722">+47 22</a> &amp; ask.</p>
<table><tr><th>SKU</th><th>Price</th></tr>
<tr data-index="7"><td>SKU-1</td>
<td>&euro;3.50</td></tr></table><pre>a
b</pre></body></html>"""


def test_text_stays_a_line_a_block_and_a_row():
    found = markup_lines(PAGE)
    assert found[:3] == ["Stock", "Warehouse", "Call us: [tel:+4722] +47 22 & ask."]
    assert "SKU | Price" in found
    assert any(line.endswith("SKU-1 | €3.50") for line in found)
    assert found[-2:] == ["a", "b"]


def test_what_nobody_reads_is_left_out():
    assert "no" not in " ".join(markup_lines(PAGE)).split()
    assert is_markup(PAGE)
    assert not is_markup("a < b and c > d " * 50)


@pytest.mark.parametrize(
    "piece", ["<", "<a ", "<script", "<!--", "<pre", "<td", "&amp", "<a href='"]
)
def test_broken_markup_takes_time_in_proportion(piece):
    assert grows_linearly(
        lambda text: markup_lines("<html>" + text), repeated(piece), 50_000, 400_000
    )
