"""The pages of the inspector: what the view-models say, as HTML that works without a script."""
