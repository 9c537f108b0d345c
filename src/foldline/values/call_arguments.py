"""Call arguments: their JSON text as a value."""

from __future__ import annotations

import json
from typing import Any


def parse_arguments(text: str) -> Any:
    """Return call arguments as a value; None when they are not JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
