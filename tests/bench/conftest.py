"""The modules of the bench are imported by their own names, as its scripts import each other."""

import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parents[2] / "bench"
for folder in (BENCH, BENCH / "peers"):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
