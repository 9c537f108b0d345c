"""The pages of the inspector: view-models as HTML that works without scripts."""
