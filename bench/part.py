"""What every part of the bench shares on its command line: ``--quick``, ``--json FILE``."""

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
    parser.add_argument("--quick", action="store_true", help="small, in a minute")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the section there too")
    return parser


def finish(section: ReportSection, options: argparse.Namespace, *, quiet: bool = False) -> None:
    """Print a section as text, and write it where the options say."""
    if not quiet:
        print(as_text(section))
    if options.json is not None:
        text = json.dumps(section.to_json(), ensure_ascii=False, indent=1)
        options.json.write_text(text + "\n", encoding="utf-8")
