"""
The inspector: what a model saw, what it no longer sees, and what that cost.

Pure view-models say what there is to see: `breakdown`, `replay`, `timeline`, `fates`, `knowing`,
`costs`. Pages turn them into HTML; `web` and `report` are the two ways out.
"""
