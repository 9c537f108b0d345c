"""Command line options shared by all parts of the bench: ``--quick``, ``--json FILE``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from foldline.evaluation.sections import ReportSection, as_text


def options_of(description: str | None) -> argparse.ArgumentParser:
    """Return a parser with the options of every part."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="a small run of a minute")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the section there")
    return parser


def finish(section: ReportSection, options: argparse.Namespace, *, quiet: bool = False) -> None:
    """Print a section as text, and write it to the file in the options."""
    if not quiet:
        print(as_text(section))
    if options.json is not None:
        text = json.dumps(section.to_json(), ensure_ascii=False, indent=1)
        options.json.write_text(text + "\n", encoding="utf-8")
