"""What is compacted: messages, groups, edits and views, as immutable values."""
