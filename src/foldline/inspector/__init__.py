"""
The inspector: what a model saw, what it no longer sees, and the cost.

`timeline` replays the view, `comparison` follows messages through a compaction, and `trace`
holds one session. `pages` turn it into HTML; `web` serves the pages, `report` writes one file.
"""
