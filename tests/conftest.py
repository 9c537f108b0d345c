"""Test modules share `tests.corpus`: the checkout is on the path however pytest is started."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
